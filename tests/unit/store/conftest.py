"""Small segments with real files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gossamer.model.outcome import Outcome
from gossamer.model.records import Link, PageRow, Response
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import LocalSegments, Segments
from gossamer.store.segments import SegmentWriter

NOW = 1_794_713_465.123456


def make_page(url: str = "https://a.example/", **fields: object) -> PageRow:
    values: dict[str, object] = {
        "site": "a.example", "domain": "a.example", "fetched_at": NOW, "outcome": "document", "status": 200,
        "title": "A title", "text": "Some text.", "headings": ["One", "Two"], "lang": "en",
        "content_hash": "c0ffee", "simhash": -5, "date": "2026-11-15", "worker": "w1",
    }  # fmt: skip
    return PageRow(url=url, **(values | fields))


def make_response(url: str = "https://a.example/", body: bytes = b"<p>hello", **fields: object) -> Response:
    values: dict[str, object] = {
        "outcome": Outcome.DOCUMENT, "started_at": NOW, "answered_at": NOW, "finished_at": NOW, "status": 200,
        "headers": [("Content-Type", "text/html"), ("Content-Length", str(len(body)))],
        "wire_body": body, "body": body, "address": "192.0.2.1",
    }  # fmt: skip
    return Response(url=url, **(values | fields))


def write_segment(
    segments: Segments, n: int, rows: Sequence[PageRow], *, worker: str = "w1", archive: bool = True, links: int = 2
) -> str:
    """A segment with a response and some links for each row."""
    segment_id = new_segment_id(worker, NOW + n, n)
    writer = SegmentWriter(segments, segment_id, archive=archive)
    bodies = [f"body {n} of {row.url}".encode() * 20 for row in rows]
    places = writer.write_archive([make_response(row.url, body) for row, body in zip(rows, bodies, strict=True)], NOW)
    for row, place in zip(rows, places, strict=True):
        row.warc_offset, row.warc_length = place or (None, None)
    writer.write_links(
        [(row.url, row.fetched_at, [Link(f"{row.url}{i}", f"to {i}") for i in range(links)]) for row in rows]
    )
    writer.write_pages(rows)
    writer.sync()
    return segment_id


@pytest.fixture
def page() -> Callable[..., PageRow]:
    return make_page


@pytest.fixture
def response() -> Callable[..., Response]:
    return make_response


@pytest.fixture
def segment() -> Callable[..., str]:
    return write_segment


@pytest.fixture
def now() -> float:
    return NOW


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "segments"


@pytest.fixture
def segments(root: Path) -> LocalSegments:
    return LocalSegments(root)
