"""`gossamer backup`: a copy of a data folder that a restore makes whole again, while it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json, size
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.database.database import require_crawl
from gossamer.model.counts import counted
from gossamer.operate.backup.files import Manifest
from gossamer.operate.backup.making import back_up, verify


def command(
    place: Path,
    *,
    data: Data = DEFAULT_DATA,
    index: Annotated[bool, Parameter(negative="")] = False,
    link: Annotated[bool, Parameter(negative="")] = False,
    check: Annotated[bool, Parameter(name="--verify", negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Back up database, settings, models and segments to PLACE. A crawl may run at the same time.

    A backup into the same place again copies only new segments.

    Parameters
    ----------
    place
        A folder, preferably on another disk: empty, or with an earlier backup of this crawl.
    index
        Copy the index, too. Otherwise Gossamer builds it again after a restore.
    link
        Link to segments on the same file system instead of copying them: takes no space, but does not protect against
        a broken disk.
    check
        Make no backup: check the backup at PLACE against its checksums.
    """
    if check:
        manifest = verify(place)
        if json:
            print_json(_summary(manifest))
        else:
            out.print(f"The backup at {place} is complete and undamaged: {_words(manifest)}.", markup=False)
        return
    folder = DataFolder(data)
    require_crawl(folder.database)
    copied = back_up(folder, place, SystemClock(), index, link)
    for name in copied.manifest.missing:
        err.print(f"[yellow]warning:[/yellow] segment {name} is missing in {data}, so it is not in the backup")
    if json:
        print_json({**_summary(copied.manifest), "copied_segments": copied.new_segments, "copied": copied.new_bytes})
        return
    out.print(
        f"The backup at {place} has {_words(copied.manifest)}. "
        f"This run copied {counted(copied.new_segments, 'segment')}, {size(copied.new_bytes)}.", markup=False,
    )  # fmt: skip


def _summary(manifest: Manifest) -> dict[str, object]:
    return {
        "crawl": manifest.crawl,
        "made_at": manifest.made_at,
        "schema": manifest.schema,
        "segments": len(manifest.segments),
        "missing": list(manifest.missing),
        "bytes": manifest.bytes,
    }


def _words(manifest: Manifest) -> str:
    return f"{counted(manifest.segments, 'segment')} and the database, {size(manifest.bytes)}"
