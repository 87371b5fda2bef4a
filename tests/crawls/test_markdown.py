"""Stored pages as Markdown, as a person and a program get them: `page`, `export pages --markdown`, the API."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pyarrow.parquet as pq
import pytest
from crawl_kit import crawl, exported
from inside import fails, gossamer

sys.path.append(str(Path(__file__).parent.parent / "web"))
from web_kit import serving

from gossamer.compose.serve import crawl_services
from gossamer.settings import load
from gossamer.store import layout
from gossamer.testing import FakeWeb, Site

PROSE = "".join(
    f"<p>Paragraph {n} tells readers what they want to know, and a <b>little</b> more.</p>" for n in range(12)
)
TABLE = "<table><tr><th>size<th>price</tr><tr><td>small<td></tr><tr><td>large<td>7|8</tr></table>"
CODE = '<div class="highlight-python"><pre>def f():\n    return 1\n</pre></div>'


def html(title: str, head: str = "") -> str:
    body = f'<h1>{title}</h1>{PROSE}<p>Of {title}: <a href="/other?utm_source=x#y">other</a></p>{TABLE}{CODE}'
    return f"<html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"


def exported_with_markdown(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gossamer("export", "pages", "--markdown", data=data).out.splitlines()]


class Crawled(NamedTuple):
    data: Path
    site: Site


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("markdown") / "data"
    web = FakeWeb("127.0.61")
    site = web.site("pages.test")
    links = '<a href="/kept">kept</a> <a href="/quiet">quiet</a> <a href="/gone">gone</a> <a href="/plain">plain</a>'
    site.page("/", f"<html><body><main><p>Start.</p>{links}</main></body></html>")
    site.page("/kept", html("Kept"))
    site.page("/quiet", html("Quiet", '<meta name="robots" content="noarchive">'))
    site.page("/gone", html("Gone"))
    site.page("/plain", b"# A heading\n\n* no * list\n", headers={"Content-Type": "text/plain"})
    with web:
        crawl(web, data, [site.url("/")], crawl={"index": True})
        assert gossamer("remove", site.url("/gone"), "--reason", "a court said so", data=data).code == 0
        yield Crawled(data, site)


def test_a_page_is_printed_with_its_structure(crawled: Crawled) -> None:
    done = gossamer("page", crawled.site.url("/kept"), data=crawled.data)
    assert done.code == 0, done.err
    assert done.out.startswith("# Kept\n\nParagraph 0 tells readers what they want to know, and a **little** more.\n")
    assert f"Of Kept: [other]({crawled.site.url('/other')})\n" in done.out
    assert "| size | price |\n| --- | --- |\n| small |  |\n| large | 7\\|8 |\n" in done.out
    assert done.out.endswith("```python\ndef f():\n    return 1\n```\n")


def test_a_page_is_printed_as_it_is_in_the_index(crawled: Crawled) -> None:
    url = crawled.site.url("/kept")
    text = gossamer("page", url, "--format", "text", data=crawled.data).out
    told = gossamer("page", url, "--format", "text", "--json", data=crawled.data).json
    assert text == f"{told['text']}\n"
    assert told["title"] == "Kept" and told["is_structured"]
    assert "a little more.\n" in text and "**" not in text


def test_a_page_that_asks_not_to_be_archived_has_paragraphs_only(crawled: Crawled) -> None:
    told = gossamer("page", crawled.site.url("/quiet"), "--json", data=crawled.data).json
    assert not told["is_structured"]
    assert "and a little more.\n\nParagraph 1" in told["text"]
    assert "|" not in told["text"].replace("7|8", "").replace("7\\|8", "")


def test_a_text_file_has_paragraphs_only(crawled: Crawled) -> None:
    told = gossamer("page", crawled.site.url("/plain"), "--json", data=crawled.data).json
    assert told["text"] == "\\# A heading\n\n\\* no \\* list" and not told["is_structured"]


def test_what_was_taken_down_or_is_unknown_is_not_shown(crawled: Crawled) -> None:
    gone = crawled.site.url("/gone")
    fails(gossamer("page", gone, data=crawled.data), 2, "a court said so")
    fails(gossamer("page", crawled.site.url("/never"), data=crawled.data), 2, "not a document", "gossamer explain")
    rows = exported_with_markdown(crawled.data)
    assert gone not in {row["url"] for row in rows}


def test_exports_have_a_column_of_markdown(crawled: Crawled, tmp_path: Path) -> None:
    rows = {row["url"]: row for row in exported_with_markdown(crawled.data)}
    page = gossamer("page", crawled.site.url("/kept"), data=crawled.data).out
    assert rows[crawled.site.url("/kept")]["markdown"] == page.removesuffix("\n")
    assert "**little**" not in rows[crawled.site.url("/kept")]["text"]
    file = tmp_path / "pages.parquet"
    assert gossamer("export", "pages", "--markdown", "-o", str(file), data=crawled.data).code == 0
    table = pq.read_table(file)
    assert dict(zip(table["url"].to_pylist(), table["markdown"].to_pylist(), strict=True)) == {
        url: row["markdown"] for url, row in rows.items()
    }
    assert "markdown" not in exported("pages", crawled.data)[0]
    fails(gossamer("export", "links", "--markdown", data=crawled.data), 2, "--markdown is for pages")


def test_the_api_gives_markdown(crawled: Crawled) -> None:
    services = crawl_services(crawled.data, load(crawled.data))
    url = crawled.site.url("/kept")
    with serving(services.search, stories=services.stories) as server:
        asked = httpx.get(f"{server}/api/v1/page", params={"url": url, "format": "markdown"})
        assert asked.json()["text"] == gossamer("page", url, data=crawled.data).out.removesuffix("\n")
        plain = httpx.get(f"{server}/api/v1/page", params={"url": url})
        assert "**" not in plain.json()["text"] and plain.json()["title"] == "Kept"
        gone = httpx.get(f"{server}/api/v1/page", params={"url": crawled.site.url("/gone"), "format": "markdown"})
        assert gone.status_code == 404
        wrong = httpx.get(f"{server}/api/v1/page", params={"url": url, "format": "pdf"})
        assert wrong.status_code == 400 and "format" in wrong.json()["error"]
    with serving(services.search) as server:
        alone = httpx.get(f"{server}/api/v1/page", params={"url": url, "format": "markdown"})
        assert alone.status_code == 404 and "no crawl" in alone.json()["error"]


def test_a_damaged_archive_costs_the_markdown_and_is_reported(crawled: Crawled, tmp_path: Path) -> None:
    archives = {path: path.read_bytes() for path in (crawled.data / "segments").rglob(layout.RESPONSES)}
    assert archives
    try:
        for archive in archives:
            archive.write_bytes(archive.read_bytes()[:100])
        done = gossamer("export", "pages", "--markdown", "-o", str(tmp_path / "p.jsonl"), data=crawled.data)
        fails(done, 1, "incomplete", "p.jsonl.incomplete", "recrawl --segment")
        rows = {row["url"]: row for row in map(json.loads, (tmp_path / "p.jsonl.incomplete").open())}
        assert rows[crawled.site.url("/kept")]["text"] and rows[crawled.site.url("/kept")]["markdown"] is None
        assert rows[crawled.site.url("/quiet")]["markdown"]  # it needs no archive
    finally:
        for archive, whole in archives.items():
            archive.write_bytes(whole)
