"""Links that were seen and not followed: who points at a URL that the table does not know.

A link with `rel="nofollow"`, or on a page that asks for that, makes its target no part of the crawl; but the segments
hold every link. They are not kept by target, so the newest are read until the time is over: a person who asks about a
URL is not kept waiting by a large crawl.
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
"""Pages that are named."""
_COLUMNS = ["source", "target", "rel"]


class ShyLinks(NamedTuple):
    """Pages with a link to a URL that was not followed."""

    nofollow: list[str]
    """Those whose link says `nofollow`."""
    others: list[str]
    """Those whose link does not say so itself: mostly the page as a whole asks for it."""


def shy_links(folder: DataFolder, segments: Sequence[str], url: str, most_seconds: float = MOST_SECONDS) -> ShyLinks:
    """The newest pages with a link to a URL; `segments` in the order in which they were made."""
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
        except GossamerError:  # merged into another meanwhile, or damaged: `doctor` tells of that
            continue
    return ShyLinks(list(nofollow)[:_MOST], list(others)[:_MOST])
