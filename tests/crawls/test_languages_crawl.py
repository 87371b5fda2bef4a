"""A site in three languages whose every page names the English one as canonical: all three can be found, and each
result links to the others. A template that names the start page on every page takes none of them away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from crawl_kit import crawl, exported
from inside import gossamer

from gossamer.search.searcher import Searcher
from gossamer.settings import ServeSettings
from gossamer.testing import FakeWeb, Reply
from gossamer.web.app import create_app

pytestmark = pytest.mark.long

TEXTS = {
    "en": "The orb weaver hangs its round web between two branches in the evening and waits in the middle until a fly "
    "touches one of the sticky threads, which tells the spider at once where its dinner is.",
    "de": "Die Radnetzspinne spannt abends ihr rundes Netz zwischen zwei Zweigen auf und wartet in der Mitte, bis eine "
    "Fliege einen der klebrigen Fäden berührt und der Spinne damit verrät, wo ihr Abendessen hängt.",
    "fr": "L'épeire tend le soir sa toile ronde entre deux branches et attend au milieu qu'une mouche touche un des "
    "fils collants, ce qui indique aussitôt à l'araignée où se trouve son dîner du soir.",
}
TITLES = {"en": "Orb weavers", "de": "Radnetzspinnen", "fr": "Épeires"}
BLOG = {
    "/knots": "A bowline makes a loop that holds any load and still opens easily once the rope is slack, which is why "
    "sailors tie it first of all knots and teach it to everybody who comes on board.",
    "/kites": "On a windy hill a kite needs a long tail made of ribbons, otherwise it turns on its head, dives into "
    "the grass and breaks the thin wooden cross that carries its paper.",
}


def head(title: str, more: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title>{more}</head>"


class Languages(NamedTuple):
    data: Path
    host: str
    blog: str
    listed: str

    def hits(self, *query: str) -> list[dict[str, Any]]:
        return list(gossamer("search", *query, "--json", data=self.data).json["hits"])


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Languages]:
    data = tmp_path_factory.mktemp("languages") / "data"
    web = FakeWeb("127.0.43")
    site, blog = web.site("spiders.test"), web.site("template.test")
    alternates = "".join(f'<link rel=alternate hreflang={lang} href="/{lang}">' for lang in TEXTS)
    menu = "".join(f'<a href="/{lang}">{lang}</a> ' for lang in TEXTS)
    site.page("/", head("Spiders", "") + f"<body><nav>{menu}</nav></body>")
    for lang, text in TEXTS.items():
        hreflang = "" if lang == "fr" else alternates  # the French page forgot to list itself and the others
        top = head(TITLES[lang], f'<link rel=canonical href="/en">{hreflang}').replace("<html>", f"<html lang={lang}>")
        site.page(f"/{lang}", f"{top}<body><nav>{menu}</nav><main><h1>{TITLES[lang]}</h1><p>{text}</main></body>")
    listed = web.site("listed.test")
    others = "".join(
        f'<xhtml:link rel="alternate" hreflang="{lang}" href="{listed.url("/" + lang)}"/>' for lang in TEXTS
    )
    listed.page("/", head("Listed", "") + "<body>")
    listed.robots(f"User-agent: *\nSitemap: {listed.url('/map.xml')}\n")
    listed.reply(
        "/map.xml",
        Reply(f"<urlset><url><loc>{listed.url('/en')}</loc>{others}</url></urlset>", content_type="application/xml"),
    )
    for lang, text in TEXTS.items():
        listed.page(f"/{lang}", head(TITLES[lang], "") + f"<body><h1>{TITLES[lang]}</h1><p>{text[::-1]}")
    start = '<link rel=canonical href="/">'
    blog.page("/", head("Blog", start) + "<body>" + "".join(f'<a href="{path}">{path}</a>' for path in BLOG))
    for path, text in BLOG.items():
        paragraphs = f"<p>{text}" + "".join(f"<p>{n}. {text[::-1]}" for n in range(4))
        blog.page(path, head(path, start) + f"<body><main><h1>{path}</h1>{paragraphs}</main></body>")
    with web:
        crawl(web, data, [site.url("/"), blog.url("/"), listed.url("/")], crawl={"index": True})
        yield Languages(data, *(one.url("/")[:-1] for one in (site, blog, listed)))


def test_all_languages_are_documents_though_they_name_the_english_page(languages: Languages) -> None:
    pages = {page["url"] for page in exported("pages", languages.data)}
    assert {f"{languages.host}/{lang}" for lang in TEXTS} <= pages


def test_languages_that_only_a_sitemap_names_are_documents(languages: Languages) -> None:
    pages = {page["url"] for page in exported("pages", languages.data)}
    assert {f"{languages.listed}/{lang}" for lang in TEXTS} <= pages


@pytest.mark.parametrize(("query", "lang"), [("spider", "en"), ("Spinne", "de"), ("mouche", "fr")])
def test_each_language_is_found_in_its_own_words(languages: Languages, query: str, lang: str) -> None:
    assert f"{languages.host}/{lang}" in [hit["url"] for hit in languages.hits(query)]


def test_a_result_names_the_other_languages(languages: Languages) -> None:
    [hit] = [hit for hit in languages.hits("Spinne") if hit["url"].endswith("/de")]
    assert [one["lang"] for one in hit["alternates"]] == ["en", "fr"]


async def test_the_search_page_links_to_them(languages: Languages) -> None:
    app = create_app(Searcher.open(languages.data / "index"), ServeSettings(rate=0))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        html = (await client.get("/search", params={"q": "Spinne"})).text
    assert "Also in:" in html
    assert (
        f'<a href="{languages.host}/en" hreflang="en" lang="en" dir="auto" rel="noopener noreferrer">English</a>'
        in html
    )


def test_pages_whose_template_names_the_start_page_stay(languages: Languages) -> None:
    pages = {page["url"] for page in exported("pages", languages.data)}
    assert {f"{languages.blog}{path}" for path in BLOG} <= pages
    assert [hit["url"] for hit in languages.hits("bowline")] == [f"{languages.blog}/knots"]


def test_explain_says_why_a_canonical_link_does_not_count(languages: Languages) -> None:
    told = gossamer("explain", f"{languages.blog}/knots", data=languages.data).out
    assert "its canonical link names a page with another text" in " ".join(told.split())
