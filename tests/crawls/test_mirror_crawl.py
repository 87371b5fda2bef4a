"""Crawls of hosts that serve the same pages: one is enough, nothing is lost, and the operator has the last word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import PATIENCE, crawl, exported, settings_of, start, wait_until, write_settings
from inside import fails, gossamer

from gossamer.dedup.mirrors import MIN_SAME
from gossamer.testing import FakeWeb

PAGES = 39
"""Beside the start page."""
TOO_FEW = MIN_SAME - 1
"""Pages after which a copy cannot have been told yet."""
ENOUGH = MIN_SAME + 1
"""Pages after which it is told: the start page may not count, since a third host has the same one."""
LATE = "/only-linked-on-the-copy"


def text(number: object) -> str:
    return f"Page {number} of many. " + " ".join(f"word{number}x{place}" for place in range(120))


def add_site(web: FakeWeb, host: str, pages: int = PAGES, latency: float = 0.0, late: str = "") -> None:
    """A start page and a chain of pages, each of which links to the next two; all links are relative."""
    site = web.site(host, latency=latency)
    for number in range(pages):
        links = [f"{n}.html" for n in (number + 1, number + 2) if n < pages]
        site.page(f"/p/{number}.html", text(number), links=[*links, late] if late and number == TOO_FEW - 2 else links)
    site.page(LATE, text("late"))
    site.page("/", text("start"), links=["p/0.html", "p/1.html"])


def asked(web: FakeWeb, host: str) -> list[str]:
    """Paths asked of a host, robots.txt included."""
    return [request.path for request in web.log() if request.site.startswith(f"{host}:")]


def read(web: FakeWeb, data: Path, host: str) -> set[str]:
    """Paths of a host that are documents."""
    return {
        page["url"].removeprefix(web.url(host, "")) for page in exported("pages", data) if f"/{host}:" in page["url"]
    }


class Mirrored(NamedTuple):
    data: Path
    web: FakeWeb
    mirrors: list[dict[str, Any]]
    explained: dict[str, Any]
    asked_before: list[str]
    asked_after: list[str]
    main: set[str]
    asked_rejected: list[str]
    copy: set[str]
    mirrors_rejected: list[dict[str, Any]]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """The main site whole, a part of its copy; the rest with what was learnt; then the rest after a rejection."""
    data = tmp_path_factory.mktemp("mirrored") / "data"
    web = FakeWeb("127.0.61")
    add_site(web, "main.test")
    add_site(web, "copy.test", late=f"..{LATE}")
    other = web.site("other.test")
    other.page("/", text("start"), links=[f"p/{number}.html" for number in range(5)])
    for number in range(5):
        other.page(f"/p/{number}.html", text(f"other {number}"))
    with web:
        crawl(web, data, [web.url("main.test"), web.url("other.test")])
        # Its pages are read in the order of their numbers; the one that is linked late is known and not yet read.
        crawl(web, data, [web.url("copy.test")], "--pages", str(TOO_FEW))
        crawl(web, data, [], "--pages", str(ENOUGH - TOO_FEW))
        mirrors = gossamer("mirrors", "--json", data=data).json
        before = asked(web, "copy.test")
        crawl(web, data, [web.url("copy.test", "/p/new.html")])
        after = asked(web, "copy.test")
        explained = gossamer("explain", web.url("copy.test", LATE), "--json", data=data).json
        main = read(web, data, "main.test")
        site = f"copy.test:{web.port}"
        assert gossamer("mirrors", "reject", site, web.url("main.test"), data=data).code == 0
        crawl(web, data, [])
        yield Mirrored(
            data, web, mirrors, explained, before, after, main, asked(web, "copy.test"), read(web, data, "copy.test"),
            gossamer("mirrors", "--json", data=data).json,
        )  # fmt: skip


def paths() -> set[str]:
    return {"/", *(f"/p/{number}.html" for number in range(PAGES))}


def test_a_copy_is_found_and_a_host_that_shares_its_start_page_is_not(mirrored: Mirrored) -> None:
    (row,) = mirrored.mirrors
    port = mirrored.web.port
    assert (row["site"], row["main"], row["state"]) == (f"copy.test:{port}", f"main.test:{port}", "found")
    assert row["equal"] == row["compared"] >= 20
    assert "pages compared are the same" in row["reason"]


def test_a_mirror_is_asked_for_nothing_more_not_even_its_robots_txt(mirrored: Mirrored) -> None:
    assert mirrored.asked_before == mirrored.asked_after
    assert MIN_SAME <= len(set(mirrored.asked_after) - {"/robots.txt"}) <= ENOUGH


def test_nothing_is_lost_what_only_the_mirror_named_is_read_on_the_main_site(mirrored: Mirrored) -> None:
    assert mirrored.main == {*paths(), LATE}


def test_explain_says_where_a_url_of_a_mirror_leads(mirrored: Mirrored) -> None:
    main = mirrored.web.url("main.test", LATE)
    assert mirrored.explained["state"] == "refused"
    assert mirrored.explained["reason"].startswith(f"mirror: mirror of main.test:{mirrored.web.port}")
    assert main in mirrored.explained["reason"] and mirrored.explained["factors"]["maps_to"] == main


def test_a_rejected_mirror_is_crawled_to_its_end_and_not_found_again(mirrored: Mirrored) -> None:
    assert set(mirrored.asked_rejected) == {"/robots.txt", "/p/new.html", *paths(), LATE}
    assert mirrored.copy == {*paths(), LATE}
    (row,) = mirrored.mirrors_rejected
    assert row["state"] == "rejected" and row["same"] > mirrored.mirrors[0]["same"]


def test_the_list_is_for_people_too(mirrored: Mirrored) -> None:
    assert gossamer("mirrors", data=mirrored.data).out.startswith("rejected  copy.test:")


def test_a_site_that_is_set_to_be_a_mirror_is_never_asked_and_mistakes_are_one_line(tmp_path: Path) -> None:
    web = FakeWeb("127.0.62")
    add_site(web, "main.test", 3)
    add_site(web, "copy.test", 3)
    with web:
        data = tmp_path / "data"
        write_settings(data, settings_of(web))
        fails(gossamer("mirrors", data=data), 2, "no crawl in")
        main, copy = web.url("main.test"), web.url("copy.test")
        crawl(web, data, [main], "--pages", "1")
        assert gossamer("mirrors", data=data).out == "There are no mirrors.\n"
        fails(gossamer("mirrors", "accept", main, copy, data=data), 2, "is not a site of this crawl")
        fails(gossamer("mirrors", "forget", copy, data=data), 2, "there is no decision about")
        fails(gossamer("mirrors", "reject", copy, copy, data=data), 2, "name two")
        done = gossamer("mirrors", "accept", copy, main, "--json", data=data).json
        assert (done["state"], done["scheme"]) == ("set", "http")
        crawl(web, data, [web.url("copy.test", "/p/2.html")])
        assert asked(web, "copy.test") == []
        assert read(web, data, "main.test") == {"/", "/p/0.html", "/p/1.html", "/p/2.html"}
        forgot = gossamer("mirrors", "forget", copy, "--json", data=data).json
        assert (forgot["forgotten"], forgot["queued"]) == (1, 1)
        crawl(web, data, [])
        assert asked(web, "copy.test") == ["/robots.txt", "/p/2.html"]


def test_a_running_crawl_stops_fetching_a_mirror_when_it_is_found(tmp_path: Path) -> None:
    pages = 140
    web = FakeWeb("127.0.63")
    for host in ("main.test", "copy.test"):
        add_site(web, host, pages, latency=0.05)
    with web:
        crawl(web, tmp_path, [web.url("main.test"), web.url("copy.test")], "--workers", "1")
        (row,) = gossamer("mirrors", "--json", data=tmp_path).json
        mirror, main = (row[name].partition(":")[0] for name in ("site", "main"))
        assert len(asked(web, mirror)) < pages
        assert len(read(web, tmp_path, main)) == pages + 1


def test_a_mirror_rejected_while_the_crawl_runs_is_fetched_again(tmp_path: Path) -> None:
    web = FakeWeb("127.0.64")
    add_site(web, "main.test", 2)
    add_site(web, "copy.test", 2)
    web.site("busy.test", pages=2000, latency=0.1)  # keeps the crawl going
    with web:
        copy, main = web.url("copy.test"), web.url("main.test")
        crawl(web, tmp_path, [main])
        assert gossamer("mirrors", "accept", copy, main, data=tmp_path).code == 0
        process = start("crawl", copy, web.url("busy.test"), "--workers", "1", data=tmp_path)
        try:
            wait_until(lambda: gossamer("explain", copy, "--json", data=tmp_path).json["state"] == "refused")
            assert asked(web, "copy.test") == []
            assert gossamer("mirrors", "reject", copy, main, data=tmp_path).code == 0
            wait_until(lambda: len(asked(web, "copy.test")) == 4)
            assert process.poll() is None
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
