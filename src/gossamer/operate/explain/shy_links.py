"""Finds links that were seen and not followed: the pages that point to a URL that the table does not know.

The target of a link with `rel="nofollow"`, or on a page that asks for that, is no part of the crawl, but the segments
hold every link. They are not sorted by target, so this reads the newest until its time is over, and a large crawl keeps
nobody waiting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.store.segments import open_links

MOST_SECONDS = 0.5
_MOST = 3
"""Pages to name."""
_COLUMNS = ["source", "target", "rel"]


class ShyLinks(NamedTuple):
    """Pages with a link to a URL that was not followed."""

    nofollow: list[str]
    """Those whose link says `nofollow`."""
    others: list[str]
    """Those whose link does not: mostly the page as a whole says `nofollow`."""


def shy_links(folder: DataFolder, segments: Sequence[str], url: str, most_seconds: float = MOST_SECONDS) -> ShyLinks:
    """The newest pages with a link to a URL; `segments` in order of creation."""
    until = time.monotonic() + most_seconds
    nofollow: dict[str, None] = {}
    others: dict[str, None] = {}
    for segment in reversed(segments):
        try:
            for table in open_links(folder.segments, segment).groups(_COLUMNS):
                hits = table.filter(pc.equal(table.column("target"), url))
                for source, rel in zip(hits["source"].to_pylist(), hits["rel"].to_pylist(), strict=True):
                    (nofollow if "nofollow" in rel.split() else others)[source] = None
                if time.monotonic() > until or len(nofollow) >= _MOST:
                    return ShyLinks(list(nofollow)[:_MOST], list(others)[:_MOST])
        except GossamerError:  # merged into another meanwhile, or damaged: `doctor` reports that
            continue
    return ShyLinks(list(nofollow)[:_MOST], list(others)[:_MOST])
