"""What a crawl has stored, as a program reads it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import polars as pl
import pytest
from api_kit import quick

import gossamer
from gossamer.errors import UsageError
from gossamer.testing import FakeWeb

pytestmark = pytest.mark.long

GERMAN = "Der Leuchtturm steht seit vielen Jahren am Hafen und niemand weiß mehr, wer ihn gebaut hat. " * 6
ENGLISH = "The lighthouse has been standing at the harbour for many years and nobody knows who built it. " * 6


class Crawled:
    """A small web and the folder of its crawl."""

    def __init__(self, web: FakeWeb, folder: gossamer.Folder) -> None:
        self.web, self.folder = web, folder
        self.news, self.other = web.sites["news.test"], web.sites["other.test"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    web = FakeWeb("127.0.131")
    news, other = web.site("news.test"), web.site("other.test")
    day = '<meta property="article:published_time" content="{}">'
    news.page(
        "/",
        f'<html lang="en"><head><title>Harbour news</title></head><body><main><p>{ENGLISH}</p></main>'
        '<a href="/new">The new one</a> <a href="/old" rel="nofollow">Old</a> <a href="/old">Old</a></body></html>',
    )
    news.page(
        "/new",
        f'<html lang="en"><head><title>New rockets</title>{day.format("2026-05-06T07:08:09Z")}</head><body><article>'
        f"<h1>New rockets</h1><p>{ENGLISH.replace('lighthouse', 'rocket')}</p><ul><li>A first thing to say about "
        "rockets</li></ul></article></body></html>",
    )
    news.page(
        "/old",
        f'<html lang="en"><head><title>Old ships</title>{day.format("2019-01-02")}</head>'
        f"<body><article><p>{ENGLISH.replace('lighthouse', 'ship')}</p></article></body></html>",
    )
    other.page("/", f'<html lang="de"><title>Der Leuchtturm</title><body><main><p>{GERMAN}</p></main></body></html>')
    data = tmp_path_factory.mktemp("folder") / "data"
    with web:
        folder = gossamer.crawl(news.url(), other.url(), folder=data, settings=quick(web)).run()
        yield Crawled(web, folder)


def urls(pages: Iterator[gossamer.Page]) -> set[str]:
    return {page.url for page in pages}


def test_pages_by_site_language_date_and_time(crawled: Crawled) -> None:
    folder, news, other = crawled.folder, crawled.news, crawled.other
    everything = urls(folder.pages())
    assert everything == {news.url(), news.url("/new"), news.url("/old"), other.url()}
    assert urls(folder.pages(site=news.name)) == everything - {other.url()} == urls(folder.pages(site="news.test"))
    assert urls(folder.pages(language="de")) == {other.url()}
    assert urls(folder.pages(published_since="2026-01-01")) == {news.url("/new")}
    assert urls(folder.pages(published_before=datetime(2026, 1, 1, tzinfo=UTC))) == {news.url("/old")}
    now = datetime.now(UTC)
    assert urls(folder.pages(since=now - timedelta(hours=1))) == everything
    assert urls(folder.pages(since=now + timedelta(hours=1))) == set()
    assert sorted(folder.sites()) == sorted([news.name, other.name])


def test_a_page_has_its_text_markdown_links_and_html(crawled: Crawled) -> None:
    page = crawled.folder.page(crawled.news.url("/new"))
    assert page is not None and page.fetched_at is not None
    assert (page.title, page.language, page.date[:10], page.status, page.depth) == (
        "New rockets",
        "en",
        "2026-05-06",
        200,
        1,
    )
    assert "- A first thing to say about rockets" in page.markdown
    assert page.html is not None and page.html.startswith("<html lang=")
    start = crawled.folder.page(crawled.news.url())
    assert start is not None
    assert [(link.target, link.text, link.rel) for link in start.links] == [
        (crawled.news.url("/new"), "The new one", ""),
        (crawled.news.url("/old"), "Old", "nofollow"),
        (crawled.news.url("/old"), "Old", ""),
    ]
    again = pickle.loads(pickle.dumps(page))
    assert again == page and again.markdown == page.markdown


def test_links_of_all_pages(crawled: Crawled) -> None:
    links = list(crawled.folder.links())
    assert {(link.source, link.target) for link in links} == {
        (crawled.news.url(), crawled.news.url("/new")),
        (crawled.news.url(), crawled.news.url("/old")),
    }
    assert len(list(crawled.folder.links(target=crawled.news.url("/old")))) == 2
    assert list(crawled.folder.links(site="other.test")) == []
    assert list(crawled.folder.links(since=datetime.now(UTC) + timedelta(hours=1))) == []


def test_a_search_says_what_where_and_why(crawled: Crawled) -> None:
    results = crawled.folder.search("rockets", limit=5)
    assert results[0].url == crawled.news.url("/new") and results.total == len(results) >= 1
    first = results[0]
    start, end = first.marks[0]
    assert first.excerpt[start:end].lower().startswith("rocket")
    assert sum(factor.value for factor in first.why) == pytest.approx(first.score, rel=0.01)
    assert [result.url for result in crawled.folder.search("Leuchtturm", language="de")] == [crawled.other.url()]
    nothing = crawled.folder.search("xylophone")
    assert list(nothing) == [] and nothing.notices
    with pytest.raises(UsageError, match="limit=500"):
        crawled.folder.search("rockets", limit=500)


def test_what_happened_to_a_url(crawled: Crawled) -> None:
    kept, unknown = (crawled.folder.explain(crawled.news.url(path)) for path in ("/new", "/nowhere"))
    assert (kept.state, kept.found) == ("fetched", True)
    assert (unknown.state, unknown.found) == ("unknown", False)
    assert "never seen" in str(unknown) and unknown.details["state"] == "unknown"
    assert crawled.folder.page(crawled.news.url("/nowhere")) is None


def test_tables_for_polars_and_duckdb(crawled: Crawled) -> None:
    frame = pl.from_arrow(crawled.folder.arrow(markdown=True).read_all())
    assert isinstance(frame, pl.DataFrame)
    assert frame.height == 4 and {"url", "text", "markdown"} <= set(frame.columns)
    links = crawled.folder.arrow("links")
    found = duckdb.sql("SELECT target, count(*) FROM links GROUP BY 1 ORDER BY 2 DESC").fetchall()
    assert links is not None and found[0] == (crawled.news.url("/old"), 2)
    assert {"state", "outcome"} <= set(crawled.folder.arrow("urls").read_all().column_names)
    rows = pl.DataFrame([page.as_dict() for page in crawled.folder.pages()])
    assert set(rows["url"]) == set(frame["url"])


def test_wrong_questions_are_errors_with_a_way_out(crawled: Crawled, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no crawl in"):
        gossamer.open(tmp_path / "nothing")
    with pytest.raises(UsageError, match="is no site of this crawl"):
        list(crawled.folder.pages(site="nobody.test"))
    with pytest.raises(UsageError, match="since='soon' is no time"):
        list(crawled.folder.pages(since="soon"))
    with pytest.raises(UsageError, match="choose pages, links or urls"):
        crawled.folder.arrow("texts")  # type: ignore[arg-type]  # what is wrong is asked for
