"""A crawl as it lies on the disk, made by hand: the tables that jobs read, and real segments."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gossamer.database.database import Where, open_database
from gossamer.database.schema import DONE, QUEUED
from gossamer.engine.contract import Engine, InlineEngine
from gossamer.jobs.context import JobContext, Tell
from gossamer.model.records import PageRow
from gossamer.model.site import host_of, key64, registrable_domain, site_of
from gossamer.store.layout import new_segment_id
from gossamer.store.remote_segments import open_segments
from gossamer.store.segments import SegmentWriter
from kit.postgres import PostgresServer


def row(url: str, text: str = "", at: float = 100.0, outcome: str = "document", **more: object) -> PageRow:
    site = site_of(url)
    return PageRow(
        url, site, registrable_domain(host_of(site)), at, outcome, 200, text=text, media_type="text/html", **more
    )


KINDS = ["sqlite", "postgres"]


@cache
def _server() -> PostgresServer:
    """One server for all tests of a process."""
    server = PostgresServer()
    atexit.register(server.stop)
    return server


class Stored:
    """Tables and segments; each page's newest row is what the table calls it."""

    def __init__(self, root: Path, kind: str = "sqlite", segments: str = "") -> None:
        self.root = root
        self.where: Where = root / "frontier.db" if kind == "sqlite" else _server().database()
        self.db = open_database(self.where)
        if kind == "sqlite":
            self.db.execute("PRAGMA synchronous = OFF")  # no power is cut here
        self.segments = open_segments(segments or str(root / "segments"))
        self.segments.create()
        self._runs = 0
        self._written = 0

    def write(self, rows: Sequence[PageRow]) -> str:
        """One segment, and what its visits made of the URLs."""
        self._written += 1
        writer = SegmentWriter(self.segments, new_segment_id("w1", 1_700_000_000, self._written), archive=False)
        writer.write_links([])
        writer.write_pages(rows)
        writer.sync()
        with self.db.transaction():
            self.db.execute(
                "INSERT INTO segments (id, worker, created_at, pages, bytes, seq) VALUES (?, 'w1', ?, ?, ?, ?)",
                (writer.segment_id, float(self._written), len(rows), writer.bytes, self._written),
            )
            for number, one in enumerate(rows):
                self.know(one.url, one.outcome, one.fetched_at, writer.segment_id, number,
                          one.content_hash, one.cluster)  # fmt: skip
        return writer.segment_id

    def know(
        self, url: str, outcome: str | None = None, at: float = 0.0, segment: str | None = None,
        number: int | None = None, content_hash: str | None = None, cluster: int | None = None,
    ) -> None:  # fmt: skip
        """A URL of the table."""
        site = site_of(url)
        self.db.execute(
            "INSERT INTO sites (id, name, domain, added_at) VALUES (?, ?, ?, 1.0) ON CONFLICT DO NOTHING",
            (key64(site), site, registrable_domain(host_of(site))),
        )
        place = (key64(site), key64(url))
        old = self.db.execute("DELETE FROM urls WHERE site_id = ? AND key = ? RETURNING outcome", place)
        for name, change in [(old[0][0] if old else None, -1), (outcome, 1)]:
            if name is not None:
                self.db.execute(
                    "INSERT INTO outcomes (site_id, outcome, urls) VALUES (?, ?, ?) "
                    "ON CONFLICT (site_id, outcome) DO UPDATE SET urls = outcomes.urls + excluded.urls",
                    (key64(site), name, change),
                )
        self.db.execute(
            "INSERT INTO urls (site_id, key, url, part, state, kind, via, level, depth, hops, found_at, outcome, "
            "fetched_at, segment, segment_row, content_hash, cluster) "
            "VALUES (?, ?, ?, 0, ?, 'page', 'link', 0, 1, 0, 1.0, ?, ?, ?, ?, ?, ?)",
            (key64(site), key64(url), url, DONE if outcome else QUEUED, outcome, at, segment, number, content_hash,
             cluster),
        )  # fmt: skip

    def context(self, parts: int = 3, engine: Engine | None = None, tell: Tell | None = None) -> JobContext:
        """For one run of a job."""
        self._runs += 1
        work = str(self.root / "work" / str(self._runs))
        if tell is None:
            return JobContext(engine or InlineEngine(), self.db, self.segments.url, work, parts)
        return JobContext(engine or InlineEngine(), self.db, self.segments.url, work, parts, tell)
