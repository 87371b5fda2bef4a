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
    """Copy database, settings, models and segments to PLACE, also while a crawl runs; what PLACE has is not copied
    again.

    Parameters
    ----------
    place
        A folder, best on another disk: empty, or with an earlier backup of this crawl.
    index
        Copy the index, too; without it, it is built again after a restore.
    link
        Do not copy segments on the same file system but link to them: no room, but no help against a broken disk.
    check
        Make no backup: read the one at PLACE and compare all checksums.
    """
    if check:
        manifest = verify(place)
        if json:
            print_json(_summary(manifest))
        else:
            out.print(f"{place} is whole: {_words(manifest)}.", markup=False)
        return
    folder = DataFolder(data)
    require_crawl(folder.database)
    copied = back_up(folder, place, SystemClock(), index, link)
    for name in copied.manifest.missing:
        err.print(f"[yellow]warning:[/yellow] segment {name} is not in the backup: it is missing in {data}")
    if json:
        print_json({**_summary(copied.manifest), "copied_segments": copied.new_segments, "copied": copied.new_bytes})
        return
    out.print(
        f"{place} holds {_words(copied.manifest)}; "
        f"{counted(copied.new_segments, 'segment')}, {size(copied.new_bytes)} of it "
        "were copied now.", markup=False,
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
