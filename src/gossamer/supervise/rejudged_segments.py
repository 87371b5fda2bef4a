"""What changed settings look for in the stored pages (`rejudging`): links that the new rules allow, pages to render.

Apart, because only this needs Arrow, and most crawls begin with the settings of the last one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.crawl.render.choice import LITTLE_TEXT, RENDERED, Modes
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.views.inspect import segment_ids
from gossamer.frontier.views.site_urls import depths_of
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.scope.chain import Chain
from gossamer.store.segments import TableFile, open_links, open_pages_once

log = logging.getLogger(__name__)

_LINKS = ["source", "target", "rel"]
_PAGES = ["url", "site", "outcome", "media_type", "text", "method"]


def links_let_in(folder: DataFolder, db: Database, old: Chain, new: Chain, now: float) -> Iterator[list[Discovered]]:
    """Links of stored pages that the old rules refused and the new ones allow, a row group at a time."""
    for table in _groups(folder, db, open_links, _LINKS):
        targets = pc.unique(table.column("target")).to_pylist()
        refused = [url for url, _ in old.split(targets, now)[1]]
        wanted = new.split(refused, now)[0]
        if not wanted:
            continue
        followed = pc.invert(pc.match_substring(table.column("rel"), "nofollow"))
        rows = table.filter(pc.and_(followed, pc.is_in(table.column("target"), pa.array(wanted, pa.string()))))
        yield _discovered(db, dict(zip(*(rows.column(name).to_pylist() for name in ("target", "source")), strict=True)))


def _discovered(db: Database, sources: dict[str, str]) -> list[Discovered]:
    """Targets with a page that links to each, where the table still knows that page."""
    depths = depths_of(db, sources.values())
    return [
        Discovered(target, depth=depths[source] + 1, referrer=source)
        for target, source in sources.items()
        if source in depths
    ]


def pages_to_render(folder: DataFolder, db: Database, old: Modes, new: Modes) -> Iterator[list[str]]:
    """URLs of pages with little text whose sites are rendered only by the new settings, a row group at a time."""
    for table in _groups(folder, db, open_pages_once, _PAGES):
        sites = {site for site in pc.unique(table.column("site")).to_pylist() if old.of(site) == "off" != new.of(site)}
        if sites:
            yield _empty_pages(table, sites)


def _empty_pages(table: pa.Table, sites: set[str]) -> list[str]:
    rows = zip(*(table.column(name).to_pylist() for name in _PAGES), strict=True)
    return [
        url
        for url, site, outcome, media_type, text, method in rows
        if site in sites and outcome == Outcome.DOCUMENT.value and "html" in (media_type or "")
        and len(text or "") < LITTLE_TEXT and not (method or "").startswith(RENDERED)
    ]  # fmt: skip


def _groups(
    folder: DataFolder, db: Database, opened: Callable[[Any, str], TableFile], columns: list[str]
) -> Iterator[pa.Table]:
    """The row groups of all segments; one that cannot be read is left out, with a word."""
    for segment in segment_ids(db):
        try:
            yield from opened(folder.segments, segment).groups(columns)
        except GossamerError as error:
            log.warning("leaving out segment %s: %s", segment, error, extra={"segment": segment})
