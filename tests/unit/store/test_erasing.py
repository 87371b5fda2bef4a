"""A segment without some of its visits: those are gone with all they brought, and all others lie where they lay."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.model.records import PageRow
from gossamer.store.erasing import ERASED, SUPERSEDED, erase, of_urls, superseded, visits_of
from gossamer.store.layout import RESPONSES, new_segment_id
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import check_segment, open_links, read_page, read_response

NOW = 1_794_713_465.0
NEW = new_segment_id("erase", NOW + 99, 0)


def links_of(segments: LocalSegments, segment: str) -> list[tuple[str, float]]:
    rows = (row for table in open_links(segments, segment).groups() for row in table.to_pylist())
    return [(row["source"], row["fetched_at"].timestamp()) for row in rows]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30), st.booleans())
def test_what_goes_is_gone_and_what_stays_is_as_it_was(
    page: Callable[..., PageRow], segment: Callable[..., str], visits: list[tuple[int, bool]], archive: bool
) -> None:
    """Some visits to four pages; which of them are in use is drawn."""
    with tempfile.TemporaryDirectory() as folder:
        segments = LocalSegments(Path(folder))
        pages = [page(f"https://a.example/{number}", fetched_at=NOW + n) for n, (number, _) in enumerate(visits)]
        old = segment(segments, 0, pages, archive=archive)
        current = np.array([row for row, (_, used) in enumerate(visits) if used], np.int64)
        gone = superseded(current, NOW + len(visits) - 3)  # the last three are too young
        going = {row for row, (_, used) in enumerate(visits) if not used and row < len(visits) - 3}
        assert visits_of(segments, old, gone) == (len(going), len(visits))

        done = erase(segments, old, NEW, gone, SUPERSEDED)
        assert (done.pages, done.first_rows) == (len(visits), {old: 0})
        for row in range(len(visits)):
            before, after = read_page(segments, old, row), read_page(segments, NEW, row)
            if row in going:
                assert (after.url, after.fetched_at, after.status) == (before.url, before.fetched_at, before.status)
                assert (after.reason, after.outcome) == (SUPERSEDED, "refused")
                assert after.text is after.title is after.warc_offset is after.content_hash is None
                continue
            if archive:
                assert after.warc_offset is not None and after.warc_length is not None
                stored = read_response(segments, NEW, after.warc_offset, after.warc_length)
                assert stored.wire_body.startswith(f"body 0 of {after.url}".encode())
            after.warc_offset = before.warc_offset
            assert after == before
        staying = [(pages[row].url, pages[row].fetched_at) for row in range(len(visits)) if row not in going]
        assert links_of(segments, NEW) == [visit for visit in staying for _ in range(2)]
        assert check_segment(segments, NEW).records == (len(visits) - len(going) if archive else 0)
        # What is blank does not count: else a segment of many blank rows would never be thinned out again.
        assert visits_of(segments, NEW, gone) == (0, len(visits) - len(going))


def test_all_visits_to_a_url_that_may_not_be_kept_go_whether_in_use_or_not(
    page: Callable[..., PageRow], segment: Callable[..., str], tmp_path: Path
) -> None:
    segments = LocalSegments(tmp_path)
    urls = ["https://a.example/secret", "https://a.example/", "https://a.example/secret"]
    old = segment(segments, 0, [page(url, fetched_at=NOW + n) for n, url in enumerate(urls)])
    gone = of_urls(lambda url: url.endswith("secret"))
    assert visits_of(segments, old, gone) == (2, 3)
    erase(segments, old, NEW, gone, ERASED)
    assert [read_page(segments, NEW, row).reason for row in range(3)] == [ERASED, "", ERASED]
    assert b"secret" not in b"".join(_bodies(segments))
    assert {source for source, _ in links_of(segments, NEW)} == {"https://a.example/"}


def _bodies(segments: LocalSegments) -> list[bytes]:
    page = read_page(segments, NEW, 1)
    assert page.warc_offset is not None and page.warc_length is not None
    assert segments.size(NEW, RESPONSES) == page.warc_offset + page.warc_length
    return [read_response(segments, NEW, page.warc_offset, page.warc_length).wire_body]
