"""Sites that say the same at the same paths are found among many, and the evidence is judged as in a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stored_kit import KINDS, Stored, row

from gossamer.frontier.copies.mirror_compare import compare
from gossamer.frontier.copies.mirror_table import Mirror, write
from gossamer.jobs.mirror_search import MirrorPair, MirrorReport, mirror_search


@pytest.fixture(params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stored]:
    stored = Stored(tmp_path, request.param)
    yield stored
    stored.db.close()


def add(stored: Stored, site: str, texts: dict[str, str], **more: object) -> None:
    stored.write(
        [row(f"http://{site}{path}", text, content_hash=text.ljust(32), **more) for path, text in texts.items()]
    )


def paths(count: int, text: str = "text") -> dict[str, str]:
    return {f"/p/{number}.html": f"{text} {number}" for number in range(count)}


def search(stored: Stored, parts: int = 3) -> MirrorReport:
    return mirror_search(stored.context(parts))[0]


def only(report: MirrorReport) -> MirrorPair:
    assert len(report.pairs) == 1, report.pairs
    return report.pairs[0]


def test_two_sites_with_the_same_pages_are_mirrors(stored: Stored) -> None:
    add(stored, "a.test", paths(30))
    add(stored, "b.test", paths(28))
    add(stored, "c.test", paths(30, "other"))
    found = only(search(stored))
    assert (found.site, found.main, found.verdict, found.live) == ("b.test", "a.test", "mirror", "")
    assert "a.test has more documents" in found.reason
    assert (found.compared, found.equal, found.exact) == compare(stored.db, "a.test", "b.test") == (28, 28, 28)


def test_sites_that_share_little_are_not_mentioned(stored: Stored) -> None:
    add(stored, "a.test", paths(19))
    add(stored, "b.test", paths(19))
    assert search(stored).pairs == []


def test_start_pages_and_other_paths_are_no_signs(stored: Stored) -> None:
    add(stored, "a.test", {"/": "parked", **{f"/a/{number}": f"text {number}" for number in range(40)}})
    add(stored, "b.test", {"/": "parked", **{f"/b/{number}": f"text {number}" for number in range(40)}})
    assert search(stored).pairs == []


def test_sites_that_differ_at_many_paths_are_undecided(stored: Stored) -> None:
    add(stored, "a.test", paths(40))
    add(stored, "b.test", {**paths(40, "differs"), **paths(30)})
    found = only(search(stored))
    assert (found.verdict, found.same, found.compared) == ("undecided", 30, 40)
    assert (found.compared, found.equal, found.exact) == compare(stored.db, "a.test", "b.test")


def test_pages_alike_by_cluster_count_and_a_text_at_many_paths_counts_once(stored: Stored) -> None:
    for site in ("a.test", "b.test"):
        stored.write([
            row(f"http://{site}/p/{number}", site, content_hash=f"{site}{number}".ljust(32), cluster=1 + number // 2)
            for number in range(60)
        ])  # fmt: skip
    found = only(search(stored))
    assert (found.same, found.compared, found.exact) == (30, 30, 0)
    assert found.verdict == "undecided", "nothing is equal to the letter: two versions of a manual"
    assert (found.compared, found.equal, found.exact) == compare(stored.db, "a.test", "b.test")


def test_the_site_that_the_other_names_as_canonical_is_main(stored: Stored) -> None:
    add(stored, "a.test", paths(30))
    add(stored, "b.test", paths(30))
    stored.db.execute(
        "UPDATE urls SET outcome = 'alias', cluster = NULL, target = REPLACE(url, 'a.test', 'b.test') "
        "WHERE url LIKE 'http://a.test/%'"
    )
    found = only(search(stored))
    assert (found.main, found.verdict) == ("b.test", "mirror")
    assert "named as canonical" in found.reason


def test_a_page_that_hundreds_of_sites_share_does_not_hide_a_mirror(stored: Stored) -> None:
    shared = ("legal", "help")
    hosts = [f"s{number:03}.test" for number in range(300)]
    stored.write(
        [row(f"http://{one}/{text}.html", text, content_hash=text.ljust(32)) for one in hosts for text in shared]
    )
    add(stored, "s100.mirror.test", paths(25) | {"/legal.html": "legal"})
    add(stored, "zzz.test", paths(25) | {"/legal.html": "legal"})
    found = only(search(stored))
    assert {found.site, found.main} == {"s100.mirror.test", "zzz.test"}
    assert found.same >= 25


def test_what_the_crawl_and_the_operator_said_is_told(stored: Stored) -> None:
    for site in ("a.test", "b.test", "c.test"):
        add(stored, site, paths(30))
    write(stored.db, Mirror("b.test", "a.test", "http", "found", "", 1.0))
    write(stored.db, Mirror("c.test", "a.test", "", "rejected", "", 1.0))
    write(stored.db, Mirror("gone.test", "a.test", "http", "found", "", 1.0))
    report = search(stored)
    said = {frozenset((one.site, one.main)): one.live for one in report.pairs}
    assert said == {
        frozenset(("a.test", "b.test")): "mirror",
        frozenset(("a.test", "c.test")): "rejected",
        frozenset(("b.test", "c.test")): "",
    }
    assert report.only_live == [("gone.test", "a.test")]
