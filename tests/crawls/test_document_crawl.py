"""Office documents, books and mails on a crawl: found, read, followed, searched and explained like pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, exported
from inside import gossamer

sys.path.append(str(Path(__file__).parents[1] / "unit" / "parse" / "documents"))
from documents_kit import FILES, docx, paragraph, type_named
from make_documents import TEXTS

from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.parse.document_types import of_ending
from gossamer.serving import stories
from gossamer.serving.stories import StoredStories
from gossamer.testing import FakeWeb, Site
from gossamer.testing.web import Reply

SERVED = {
    "docx": "libreoffice-en.docx", "odt": "libreoffice-ru.odt", "epub": "pandoc-zh.epub", "rtf": "libreoffice-ar.rtf",
    "xlsx": "libreoffice-en.xlsx", "ods": "libreoffice-ru.ods", "pptx": "libreoffice-zh.pptx",
    "odp": "libreoffice-ar.odp",
}  # fmt: skip
README = "---\ntitle: How to prune\n---\n\nRead [the rest](deeper/more.md) before you climb, and hold the ladder.\n"
MAIL = (
    "From: Edith <edith@garden.test>\nTo: all@garden.test\nSubject: Ladders are missing\n"
    "Date: Fri, 17 May 2024 12:00:00 +0200\n\nTwo of our ladders are missing since Tuesday. Who has seen them?\n"
)
ENTITIES = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]>'
BEES = (
    "<w:p><w:fldSimple w:instr='HYPERLINK \"/only-there\"'><w:r><w:t>Beehives are behind the wall of the orchard"
    "</w:t></w:r></w:fldSimple></w:p>"
)


class Crawled(NamedTuple):
    data: Path
    site: Site
    status: dict[str, Any]


def serve(site: Site) -> list[str]:
    paths = []
    for number, (ending, name) in enumerate(SERVED.items()):
        kind = of_ending(ending)
        assert kind is not None
        # every other server does not know the type
        declared = kind.media[0] if number % 2 else "application/octet-stream"
        site.reply(f"/files/{name}", Reply((FILES / name).read_bytes(), content_type=declared))
        paths.append(f"/files/{name}")
    for path, text, declared in (
        ("/README.md", README, "text/plain; charset=utf-8"),
        ("/deeper/more.md", "# More\n\nOf ladders.", "text/markdown"),
        ("/lists/17.eml", MAIL, "message/rfc822"),
    ):  # fmt: skip
        site.reply(path, Reply(text, content_type=declared))
    office = type_named("x.docx")
    for path, body in (
        ("/bees.docx", docx(BEES)),
        ("/laughs.docx", docx(paragraph("pear"), start=ENTITIES)),
        ("/bomb.docx", docx("<!-- a leaf -->" * 200_000)),
        ("/torn.docx", docx(paragraph("pear"))[:-40]),
        ("/old.doc", b"\xd0\xcf\x11\xe0" + bytes(100)),
    ):
        site.reply(path, Reply(body, content_type="application/msword" if path.endswith("doc") else office))
    site.page("/only-there", "Found in a document, by a link that no page has.", title="Hidden")
    return [*paths, "/README.md", "/lists/17.eml", "/bees.docx", "/laughs.docx", "/bomb.docx", "/torn.docx", "/old.doc"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("documents") / "data"
    web = FakeWeb("127.0.62")
    site = web.site("garden.test")
    site.page("/", "A list of files about an orchard.", title="Files", links=serve(site))
    with web:
        limits = {"max_unpacked": 2_000_000}
        status = crawl(web, data, [site.url("/")], crawl={"index": True}, parse=limits)
        yield Crawled(data, site, status)


def test_every_file_is_stored_with_what_it_says(crawled: Crawled) -> None:
    pages = {row["url"]: row for row in exported("pages", crawled.data)}
    for ending, name in SERVED.items():
        row, text = pages[crawled.site.url(f"/files/{name}")], TEXTS[name.partition("-")[2][:2]]
        kind = of_ending(ending)
        assert kind is not None
        assert (row["title"], row["media_type"], row["method"]) == (text.title, kind.media[0], ending)
        assert text.paragraph in row["text"] and row["author"] == text.author
    assert pages[crawled.site.url("/README.md")]["title"] == "How to prune"
    assert pages[crawled.site.url("/lists/17.eml")]["title"] == "Ladders are missing"


def test_links_of_documents_are_followed(crawled: Crawled) -> None:
    pages = {row["url"] for row in exported("pages", crawled.data)}
    assert {crawled.site.url("/only-there"), crawled.site.url("/deeper/more.md")} <= pages


def test_bombs_are_refused_and_named_and_the_rest_is_read(crawled: Crawled) -> None:
    urls = {row["url"]: row for row in exported("urls", crawled.data)}
    for path, outcome, said in (
        ("/laughs.docx", "bomb", "refused as a bomb: its XML declares entities"),
        ("/bomb.docx", "bomb", "unpacks to more than 2000000 bytes (parse.max_unpacked)"),
        ("/torn.docx", "unsupported_type", "no archive"),
        ("/old.doc", "unsupported_type", "application/msword"),
    ):
        row = urls[crawled.site.url(path)]
        assert row["outcome"] == outcome and said in row["reason"], row
    assert {row["state"] for row in urls.values()} == {"done"}


@pytest.mark.parametrize("ending", [*SERVED, "md", "eml"])
def test_a_search_finds_the_files_of_a_type(crawled: Crawled, ending: str) -> None:
    found = json.loads(gossamer("search", f"filetype:{ending}", "--json", data=crawled.data).out)
    urls = {hit["url"] for hit in found["hits"]}
    assert urls and all(url.endswith(f".{ending}") for url in urls)


def test_an_explanation_says_what_was_read(crawled: Crawled) -> None:
    url = crawled.site.url(f"/files/{SERVED['docx']}")
    out = gossamer("explain", url, data=crawled.data).out
    assert "docx (application/vnd.openxmlformats-officedocument.wordprocessingml.document)" in out
    assert "characters of text, 1 link" in out
    assert "refused as a bomb" in gossamer("explain", crawled.site.url("/bomb.docx"), data=crawled.data).out


def test_markdown_of_a_document_has_its_structure(crawled: Crawled) -> None:
    told = gossamer("page", crawled.site.url(f"/files/{SERVED['odt']}"), "--json", data=crawled.data).json
    text = TEXTS["ru"]
    assert told["is_structured"]
    assert f"# {text.heading}\n" in told["text"] and f"  - {text.items[2]}" in told["text"]
    assert f"| {' | '.join(text.rows[1])} |" in told["text"]


def test_readers_of_the_server_get_the_text_of_a_large_document_without_its_structure(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, text = crawled.site.url(f"/files/{SERVED['odt']}"), TEXTS["ru"]
    folder, settings = DataFolder(crawled.data), settings_of_crawl(crawled.data)
    assert f"# {text.heading}\n" in (StoredStories(folder, settings=settings).markdown(url) or "")
    monkeypatch.setattr(stories, "UNPACKED", 1_000)
    plain = StoredStories(folder, settings=settings).markdown(url) or ""
    assert text.paragraph in plain and f"# {text.heading}\n" not in plain


def test_types_can_be_left_out(tmp_path: Path) -> None:
    web = FakeWeb("127.0.63")
    site = web.site("garden.test")
    site.page("/", "A list of files about an orchard.", title="Files", links=serve(site))
    with web:
        crawl(web, tmp_path / "data", [site.url("/")], parse={"skip_types": ["docx", "rtf"]})
    urls = {row["url"]: row for row in exported("urls", tmp_path / "data")}
    assert urls[site.url(f"/files/{SERVED['docx']}")]["outcome"] == "unsupported_type"
    assert urls[site.url(f"/files/{SERVED['rtf']}")]["outcome"] == "unsupported_type"
    assert urls[site.url(f"/files/{SERVED['odt']}")]["outcome"] == "document"
