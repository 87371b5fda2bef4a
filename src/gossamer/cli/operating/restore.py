"""`gossamer restore`: a data folder from a backup."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Json, Segments, out, print_json, size
from gossamer.clock import SystemClock
from gossamer.model.counts import counted
from gossamer.operate.backup.restoring import restore


def command(
    place: Path,
    *,
    data: Data = DEFAULT_DATA,
    database: Database = None,
    segments: Segments = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Create a new data folder from the backup at PLACE, and check every file.

    Parameters
    ----------
    place
        A folder that `gossamer backup` wrote.
    """
    manifest = restore(place, data, SystemClock(), database or "", segments or "")
    if json:
        print_json({"crawl": manifest.crawl, "segments": len(manifest.segments), "bytes": manifest.bytes})
        return
    out.print(
        f"Restored the crawl into {data}: {counted(manifest.segments, 'segment')}, {size(manifest.bytes)}. "
        f"Continue it with `gossamer crawl --data {data}`, or run `gossamer index --data {data}` to search it.",
        markup=False,
    )  # fmt: skip
