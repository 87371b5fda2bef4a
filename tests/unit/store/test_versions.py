from __future__ import annotations

from gossamer.store import schema
from gossamer.store.versions import versions


def test_all_visits_of_a_url_newest_first(segments, page, segment):
    url = "https://a.example/news"
    ids = [
        segment(segments, 1, [page("https://a.example/"), page(url, fetched_at=100.0, title="old")]),
        segment(segments, 2, [page(url, fetched_at=300.0, outcome="gone"), page(url, fetched_at=200.0)]),
        segment(segments, 3, [page("https://z.example/")]),
    ]
    found = versions(segments, ids, url)
    assert [(v.page.fetched_at, v.segment, v.row) for v in found] == [
        (300.0, ids[1], 0),
        (200.0, ids[1], 1),
        (100.0, ids[0], 1),
    ]
    assert found[2].page.title == "old"
    assert found[0].page.outcome == "gone"


def test_a_url_never_seen_has_no_versions(segments, page, segment):
    ids = [segment(segments, 1, [page("https://a.example/a"), page("https://a.example/c")])]
    assert versions(segments, ids, "https://a.example/b") == []
    assert versions(segments, ids, "https://zz.example/") == []
    assert versions(segments, [], "https://a.example/a") == []


def test_the_bounds_of_row_groups_hide_nothing(segments, page, segment):
    """URLs around every border of every group, also beyond ASCII and very long ones."""
    urls = [f"https://a.example/{i:05d}" for i in range(2 * schema.PAGE_GROUP + 3)]
    urls += ["https://a.example/é", "https://a.example/🙂", "https://a.example/" + "x" * 9000]
    segment_id = segment(segments, 1, [page(url) for url in urls], links=0)
    for i in (0, schema.PAGE_GROUP - 1, schema.PAGE_GROUP, *range(2 * schema.PAGE_GROUP - 1, len(urls))):
        assert [(v.row, v.page.url) for v in versions(segments, [segment_id], urls[i])] == [(i, urls[i])]
