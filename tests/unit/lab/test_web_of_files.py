"""Sites on the disk: served as a plain server would, found as a crawl would, kept once they were read."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
import zstandard

from gossamer.errors import UsageError
from gossamer.lab.webs.files import web_of_files
from gossamer.lab.webs.web import NO_RULES, NOWHERE, RecordedWeb, save_web
from gossamer.parse.rules import DocumentRule
from studies.study import Options
from studies.webs import catalogue
from studies.webs.catalogue import SITES, SiteSource, folder_of, site_webs
from studies.webs.first_pages import first_pages

ORIGIN = "http://site.test"
ROBOTS = f"User-agent: *\nDisallow: /secret/\nSitemap: {ORIGIN}/map.xml\n"


def page(title: str, *links: str, head: str = "", text: str = "") -> str:
    anchors = "".join(f'<p><a href="{link}">on</a>' for link in links)
    prose = text or " ".join(f"The {n} thing about {title}." for n in ("first", "second", "third"))
    return f"<html><head><title>{title}</title>{head}</head><body><p>{prose}</p>{anchors}</body></html>"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


FEED = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
FILES = {
    "robots.txt": ROBOTS,
    "map.xml": f"<urlset><url><loc>{ORIGIN}/mapped.html</loc></url></urlset>",
    "index.html": page(
        "start", "b/", "a.html", "a.html", "docs", "packed.html", "https://old.test/moved.html", "http://else.test/",
        "/missing.html", "/secret/x.html", "/empty/", "a.html?print=1", "refresh.html", "/%D0%B0.html", head=FEED,
    ),
    "a.html": page("a", "/b/index.html", head=f'<link rel="canonical" href="{ORIGIN}/b/">'),
    "b/index.html": page("b", "../a.html", "deep/one.html"),
    "b/deep/one.html": page("one", head='<meta name="robots" content="noindex">'),
    "docs/index.html": page("docs", "../index.html"),
    "packed.html.gz": page("packed", "b/"),
    "moved.html": page("moved"),
    "secret/x.html": page("x", "/behind.html"),
    "behind.html": page("behind"),
    "empty/readme.bin": "\0\1\2",
    "refresh.html": page("refresh", head='<meta http-equiv="refresh" content="0; url=/b/">'),
    "mapped.html": page("mapped"),
    "а.html": page("Cyrillic"),
    "feed.xml": '<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>'
    f"<item><link>{ORIGIN}/fed.html</link><pubDate>Mon, 03 Feb 2025 10:00:00 GMT</pubDate></item>"
    f"<item><link>{ORIGIN}/b/</link><pubDate>Tue, 04 Feb 2025 10:00:00 GMT</pubDate></item></channel></rss>",
    "fed.html": page("fed"),
    "unlinked.html": page("unlinked"),
}  # fmt: skip
RULES = (DocumentRule("site.test", ("/{slug}.html",)),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("site"), FILES)


@pytest.fixture(scope="module")
def web(folder: Path) -> RecordedWeb:
    return web_of_files(folder, ORIGIN, name="site", own=["https://old.test"], rules=RULES, processes=1)


def answers(web: RecordedWeb) -> dict[str, str]:
    return {url.removeprefix(ORIGIN): answer for url, answer in zip(web.urls, web.answer, strict=True)}


def targets(web: RecordedWeb, path: str) -> list[str]:
    return [web.urls[row].removeprefix(ORIGIN) for row in web.links.of(web.number[ORIGIN + path])]


def test_a_crawl_of_the_whole_site_finds_what_is_linked_listed_or_named(web: RecordedWeb) -> None:
    assert answers(web) == {
        "/": "document", "/map.xml": "resource", "/feed.xml": "resource", "/b/": "document", "/a.html": "document",
        "/docs": "redirect", "/docs/": "document", "/packed.html": "document", "/moved.html": "document",
        "/missing.html": "gone", "/secret/x.html": "", "/empty/": "forbidden", "/a.html?print=1": "document",
        "/refresh.html": "redirect", "/%D0%B0.html": "document", "/b/index.html": "document",
        "/b/deep/one.html": "document", "/mapped.html": "document", "/fed.html": "document",
        "/index.html": "document",
    }  # fmt: skip
    assert web.facts.seeds == [web.number[f"{ORIGIN}/"]]
    assert web.facts.robots == {ORIGIN: ROBOTS.encode()}


def test_links_are_the_sites_own_each_once_in_the_order_of_the_page(web: RecordedWeb) -> None:
    assert targets(web, "/") == [
        "/b/", "/a.html", "/docs", "/packed.html", "/moved.html", "/missing.html", "/secret/x.html", "/empty/",
        "/a.html?print=1", "/refresh.html", "/%D0%B0.html",
    ]  # fmt: skip
    assert targets(web, "/packed.html") == ["/b/"]
    assert targets(web, "/feed.xml") == ["/b/", "/fed.html"]  # the newest first
    assert targets(web, "/map.xml") == ["/mapped.html"]
    assert targets(web, "/secret/x.html") == []


def test_pages_are_what_the_parser_says(web: RecordedWeb) -> None:
    row = {path: web.number[ORIGIN + path] for path in answers(web)}
    assert np.flatnonzero(web.noindex).tolist() == [row["/b/deep/one.html"]]
    assert web.canonical[row["/a.html"]] == row["/b/"]
    assert web.redirect[row["/docs"]] == row["/docs/"]
    assert web.redirect[row["/refresh.html"]] == row["/b/"]
    assert web.redirect[row["/a.html"]] == NOWHERE
    assert web.text_hash[row["/a.html"]] == web.text_hash[row["/a.html?print=1"]] != web.text_hash[row["/b/"]]
    assert web.size[row["/packed.html"]] == len(FILES["packed.html.gz"])
    assert web.feeds.of(row["/"]).tolist() == [row["/feed.xml"]]
    assert [int(web.kind[row[path]]) for path in ("/", "/map.xml", "/feed.xml")] == [0, 1, 2]
    assert [int(web.status[row[path]]) for path in ("/", "/docs", "/missing.html", "/empty/")] == [200, 301, 404, 403]


def test_fit_goes_by_the_rules_and_without_rules_nothing_is_said(web: RecordedWeb, folder: Path) -> None:
    fits = {path: int(web.fit[web.number[ORIGIN + path]]) for path in ("/a.html", "/", "/b/deep/one.html")}
    assert fits == {"/a.html": 1, "/": 0, "/b/deep/one.html": 0}
    assert web.facts.rules == list(RULES)
    unruled = web_of_files(folder, ORIGIN, name="site", pages=2, processes=1)
    assert set(unruled.fit.tolist()) == {NO_RULES}


def same(one: RecordedWeb, other: RecordedWeb) -> bool:
    return (
        one.urls == other.urls
        and one.answer == other.answer
        and one.text_hash == other.text_hash
        and one.links.is_same_as(other.links)
        and one.feeds.is_same_as(other.feeds)
        and np.array_equal(one.redirect, other.redirect)
        and np.array_equal(one.canonical, other.canonical)
        and one.facts.seeds == other.facts.seeds
    )


@pytest.mark.parametrize("pages", range(1, 20))
def test_fewer_pages_are_the_closed_set_of_those_found_first(web: RecordedWeb, folder: Path, pages: int) -> None:
    small = web_of_files(folder, ORIGIN, name="site", own=["https://old.test"], pages=pages, rules=RULES, processes=1)
    assert sum(answer not in ("", "gone") for answer in small.answer) == min(pages, 18)
    assert same(first_pages(web, pages), small)


def test_a_robots_txt_of_another_place_can_be_passed_over(folder: Path) -> None:
    web = web_of_files(folder, ORIGIN, name="site", robots=False, processes=1)
    assert web.facts.robots == {}
    assert answers(web)["/secret/x.html"] == answers(web)["/behind.html"] == "document"
    assert "/mapped.html" not in answers(web)


def test_several_processes_find_the_same_in_the_same_order(web: RecordedWeb, folder: Path) -> None:
    both = web_of_files(folder, ORIGIN, name="site", own=["https://old.test"], rules=RULES, processes=2)
    assert same(web, both)


def test_a_folder_without_its_start_page_is_an_error_in_words(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"has no page /start\.html"):
        web_of_files(folder, ORIGIN, name="site", start="/start.html", processes=1)


def test_nothing_outside_the_folder_is_served(tmp_path: Path) -> None:
    write(
        tmp_path, {"site/index.html": page("start", "/%2e%2e/outside.html", "/..%2foutside.html"), "outside.html": "x"}
    )
    web = web_of_files(tmp_path / "site", ORIGIN, name="site", processes=1)
    assert [answer for answer in web.answer if answer != "gone"] == ["document"]


@pytest.fixture
def one_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    """A machine with one archive, and without the package of another site."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in (("./index.html", page("start", "/a.html")), ("./a.html", page("a"))):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    archives = tmp_path / "webs" / "sites"
    archives.mkdir(parents=True)
    (archives / "tiny.tar.zst").write_bytes(zstandard.compress(packed.getvalue()))
    sites = (
        SiteSource("tiny", "two pages", archive="tiny"),
        SiteSource("far", "", package="far-doc", folder="/nowhere"),
    )
    monkeypatch.setattr(catalogue, "SITES", sites)
    return Options(webs=tmp_path / "webs", cache=tmp_path / "cache")


def test_a_site_is_read_once_and_one_that_is_not_here_is_left_out_with_advice(one_site: Options) -> None:
    told: list[str] = []
    options = Options(webs=one_site.webs, cache=one_site.cache, tell=told.append)
    (web,) = site_webs(options)
    assert [url.partition("tiny.test")[2] for url in web.urls] == ["/", "/a.html"]
    assert any("apt-get install far-doc" in line for line in told)
    told.clear()
    (again,) = site_webs(Options(webs=None, cache=one_site.cache, tell=told.append), ["tiny"])
    assert same(web, again)
    assert told == []


def test_a_smaller_web_comes_from_the_larger_one_that_was_read(one_site: Options) -> None:
    list(site_webs(one_site, ["tiny"]))
    (small,) = site_webs(one_site, ["tiny"], most_pages=1)
    assert len(small) == 1
    assert len(list(one_site.cache.glob("*.web.parquet"))) == 1


def test_recordings_of_the_webs_folder_come_along(one_site: Options, web: RecordedWeb) -> None:
    assert one_site.webs
    save_web(web, one_site.webs / "recorded" / "mine.web.parquet")
    assert [one.name for one in site_webs(one_site)] == ["tiny", "site"]
    (mine,) = site_webs(one_site, ["mine"])
    assert same(mine, web)


def test_an_unknown_site_is_an_error_that_names_the_known_ones(one_site: Options) -> None:
    with pytest.raises(UsageError, match="tiny"):
        list(site_webs(one_site, ["nothing"]))


def test_the_catalogue_names_each_site_once_and_says_where_it_comes_from() -> None:
    names = [site.name for site in SITES]
    assert len(names) == len(set(names)) >= 40
    assert all(bool(site.package) != bool(site.archive) for site in SITES)
    assert all(Path(site.folder).is_absolute() for site in SITES if site.package)


def test_a_package_whose_folder_holds_something_else_is_left_out(tmp_path: Path) -> None:
    """The changelog of a program, say, whose documentation is not installed."""
    (tmp_path / "changelog.gz").write_bytes(b"")
    source = SiteSource("x", "manual", start="/index.html", package="x-doc", folder=str(tmp_path))
    told: list[str] = []
    options = Options(cache=tmp_path, tell=told.append)
    assert folder_of(source, options) is None and "apt-get install x-doc" in told[0]
    (tmp_path / "index.html").write_text("<title>X</title>")
    assert folder_of(source, options) == tmp_path
