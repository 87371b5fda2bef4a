"""`gossamer audit`: what operators did."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.data.folder import DataFolder
from gossamer.model.moments import timestamp
from gossamer.tables.audit import Filter, entries


def command(
    *,
    limit: Annotated[int, Parameter(help="Show this many lines, the newest.")] = 50,
    action: Annotated[str, Parameter(help="Only this action, such as `remove`.")] = "",
    who: Annotated[str, Parameter(help="Only actions of this account, or `cli:NAME` for the command line.")] = "",
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List what operators did in the console and on the command line, newest last."""
    with closing(DataFolder(data).read()) as db:
        found = entries(db, Filter(who=who, action=action), max(0, limit))[::-1]
    if json:
        print_json(found)
        return
    for line in found:
        detail = f" ({line.detail})" if line.detail else ""
        out.print(f"{timestamp(line.at)} {line.who}: {line.action} {line.subject}{detail}", markup=False)
    if not found:
        out.print("The audit log is empty." if not (who or action) else "The audit log has no such line.")
