"""S0.4: the index ends where the table stands: new pages come, changed ones are replaced, gone ones leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, exported, run, settings_of, write_settings
from index_kit import contents
from inside import fails, gossamer

from gossamer.data.folder import DataFolder
from gossamer.data.locks import indexer_lock
from gossamer.testing import FakeWeb, Site


def prose(name: str) -> str:
    return " ".join(f"This page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def html(head: str, text: str) -> str:
    return f"<html><head><title>{text[:30]}</title>{head}</head><body><main><p>{text}</main></body></html>"


NOINDEX = '<meta name="robots" content="noindex">'
PATHS = ("/steady", "/changing", "/vanishing", "/hiding", "/copying", "/removed", "/joining")


class Followed(NamedTuple):
    data: Path
    site: Site
    first: dict[str, Any]
    """The index after the first crawl."""
    second: dict[str, Any]

    def hits(self, *query: str) -> list[str]:
        answer = gossamer("search", *query, "--json", data=self.data).json
        return [hit["url"].removeprefix(self.site.url("")) for hit in answer["hits"]]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    data = tmp_path_factory.mktemp("follow") / "data"
    web = FakeWeb("127.0.41")
    site = web.site("follow.test")
    site.page("/", html("", prose("home")) + "".join(f'<a href="{path}">anchorword{path[1:]}</a>' for path in PATHS))
    for path in PATHS:
        site.page(path, html("", prose(f"{path[1:]}word")))
    with web:
        crawl(web, data, [site.url("/")], crawl={"index": True})
        first = contents(data).pages
        site.page("/changing", html("", prose("freshword")))
        site.remove("/vanishing")
        site.page("/hiding", html(NOINDEX, prose("hidingword")))
        site.page("/copying", html("", prose("steadyword")))
        site.page("/joining", html(f'<link rel="canonical" href="{site.url("/steady")}">', prose("joiningword")))
        assert gossamer("recrawl", site.url("/"), data=data).code == 0
        again = run("crawl", "--quiet", data=data)
        assert again.returncode == 0, again.stderr
        assert gossamer("remove", site.url("/removed"), data=data).code == 0
        yield Followed(data, site, first, contents(data).pages)


def test_everything_crawled_can_be_searched_when_the_crawl_ends(followed: Followed) -> None:
    assert {url.removeprefix(followed.site.url("")) for url in followed.first} == {"/", *PATHS}


def test_a_changed_page_replaces_its_old_version(followed: Followed) -> None:
    assert followed.hits("freshword") == ["/changing"]
    assert followed.hits("changingword") == []


@pytest.mark.parametrize("path", ["/vanishing", "/hiding", "/copying", "/removed", "/joining"])
def test_a_page_that_is_gone_noindex_a_copy_joined_or_removed_leaves(followed: Followed, path: str) -> None:
    assert followed.site.url(path) in followed.first
    assert followed.site.url(path) not in followed.second


def test_the_index_holds_exactly_what_export_prints(followed: Followed) -> None:
    pages = {page["url"]: page["text"] for page in exported("pages", followed.data)}
    assert {url: page["text"] for url, page in followed.second.items()} == pages


def test_a_page_is_found_by_the_text_of_a_link_to_it(followed: Followed) -> None:
    assert followed.hits("anchorwordsteady")[:1] == ["/steady"]


def test_a_rebuild_gives_the_same_index(followed: Followed) -> None:
    before = contents(followed.data)
    done = gossamer("index", "--rebuild", "--json", data=followed.data)
    assert done.code == 0, done.err
    after = contents(followed.data)
    assert after == before and not after.copies
    assert done.json["documents"] == len(after.pages)
    assert len(list((followed.data / "index").glob("g*"))) == 1


def test_an_index_of_another_crawl_or_version_is_never_misread(followed: Followed) -> None:
    before = contents(followed.data)
    current = (followed.data / "index" / "current").read_text().strip()
    meta = followed.data / "index" / current / "tantivy" / "meta.json"
    written = json.loads(meta.read_text())
    payload = json.loads(written["payload"])
    for change in ({"version": payload["version"] + 1}, {"crawl": "another"}, {"position": 10**9}):
        meta.write_text(json.dumps(written | {"payload": json.dumps(payload | change)}))
        if "version" in change:
            fails(gossamer("search", "steady", data=followed.data), 1, "another version", "gossamer index")
        assert gossamer("index", data=followed.data).code == 0
        assert contents(followed.data) == before
        current = (followed.data / "index" / "current").read_text().strip()
        meta = followed.data / "index" / current / "tantivy" / "meta.json"
        written = json.loads(meta.read_text())


def test_a_damaged_index_is_named_and_a_rebuild_mends_it(followed: Followed) -> None:
    before = contents(followed.data)
    current = (followed.data / "index" / "current").read_text().strip()
    (followed.data / "index" / current / "tantivy" / "meta.json").write_text("{")
    fails(gossamer("search", "steady", data=followed.data), 1, "damaged", "gossamer index --rebuild")
    fails(gossamer("index", data=followed.data), 1, "damaged", "gossamer index --rebuild")
    assert gossamer("index", "--rebuild", data=followed.data).code == 0
    assert contents(followed.data) == before


def test_searching_before_anything_is_indexed_says_what_to_do(tmp_path: Path) -> None:
    fails(gossamer("search", "word", data=tmp_path), 1, "there is no index", "gossamer crawl")


def test_a_crawl_ends_although_another_indexer_has_the_index(tmp_path: Path) -> None:
    """`gossamer index --follow` in another window, or one that was stopped there: it is not waited for without end."""
    data = tmp_path / "data"
    web = FakeWeb("127.0.42")
    site = web.site("busy.test", pages=3)
    with web:
        write_settings(data, settings_of(web, crawl={"index": True}))
        with indexer_lock(DataFolder(data)):
            done = run("crawl", site.url("/"), "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        assert "an indexer is already running on" in done.stderr
        assert len(exported("pages", data)) == 3
        assert run("index", data=data).returncode == 0
        assert len(contents(data).pages) == 3
