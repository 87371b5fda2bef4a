"""Histories of visits: written as real segments, and the link graph and anchor texts they mean by the book."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gossamer.model.outcome import Outcome
from gossamer.model.records import Link, PageRow
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.store.layout import new_segment_id
from gossamer.store.remote_segments import open_segments
from gossamer.store.segments import SegmentWriter


class Seen(NamedTuple):
    """One visit."""

    url: str
    time: float
    outcome: str = "document"
    target: str | None = None
    links: Sequence[Link] = ()


def write_history(root: Path, segments: Sequence[Sequence[Seen]]) -> list[str]:
    """Write visits as segments; the names in order."""
    stored = open_segments(str(root))
    stored.create()
    names = []
    for number, visits in enumerate(segments):
        writer = SegmentWriter(stored, new_segment_id("w1", 1_700_000_000, number), archive=False)
        writer.write_links([(one.url, one.time, one.links) for one in visits if one.links])
        writer.write_pages([_row(one) for one in visits])
        writer.sync()
        names.append(writer.segment_id)
    return names


def _row(visit: Seen) -> PageRow:
    site = site_of(visit.url)
    domain = registrable_domain(host_of(site))
    return PageRow(visit.url, site, domain, visit.time, visit.outcome, 200, target=visit.target)


class Expected:
    """The graph by the book: dictionaries, and no thought of size."""

    def __init__(self, segments: Sequence[Sequence[Seen]], removed: Sequence[str] = ()) -> None:
        newest: dict[str, tuple[float, int, int]] = {}
        for number, visits in enumerate(segments):
            for row, one in enumerate(visits):
                passed = one.outcome == "not_modified" or Outcome(one.outcome).meaning.retry
                if not passed and not one.url.startswith(tuple(removed)):
                    newest[one.url] = max(newest.get(one.url, (0.0, 0, 0)), (one.time, number, row))
        now = {url: segments[number][row] for url, (_, number, row) in newest.items()}
        self.documents = {url for url, one in now.items() if one.outcome == "document"}
        self._leads = {url: one.target for url, one in now.items() if one.outcome != "document" and one.target}
        self.links: set[tuple[str, str]] = set()
        self.texts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for source in self.documents:
            time, number, _ = newest[source]
            for one in segments[number]:
                if one.url == source and one.time == time:
                    self._add(source, one.links)

    def _add(self, source: str, links: Sequence[Link]) -> None:
        for link in links:
            end = self.end_of(link.url)
            if end is None or end == source or link.url == source or "nofollow" in link.rel.split():
                continue
            self.links.add((source, end))
            if link.anchor and link.tag in ("a", "area"):
                self.texts[end][link.anchor].add(source)

    def end_of(self, url: str | None) -> str | None:
        """The document that stands for a URL."""
        for _ in range(6):
            if url in self.documents or url is None:
                return url
            url = self._leads.get(url)
        return None
