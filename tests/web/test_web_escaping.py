"""Titles, texts, addresses and queries are other people's: none of them becomes markup, a script or a link to one."""

from __future__ import annotations

import re
from urllib.parse import quote

import httpx
import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st
from web_kit import HOSTILE

from gossamer.web.rendering import plain

INJECTIONS = [
    "<script>window.owned=1</script>", '"><img src=x onerror=alert(1)>', "'><svg/onload=alert(1)>", "</title><script>",
    "{{7*7}}", "${7*7}", "<!--", "]]>", "&lt;script&gt;", "</textarea><script>", '" autofocus onfocus=alert(1) x="',
    "javascript:alert(1)", "%3Cscript%3E", "\u202e\u2066<b>", "--></script>", "' or 1=1 --", "..//..//etc/passwd",
]  # fmt: skip


def harmless(text: str) -> turbohtml.Document:
    """The page, after a look at everything that could run or leave."""
    tree = turbohtml.parse(text)
    assert not tree.errors
    assert [s.attr("src").partition("?")[0] for s in tree.select("script")] == ["/static/search.js"]
    assert not tree.select("style, iframe, object, embed, img, base, meta[http-equiv]")
    for element in tree.select("*"):
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
    for a in tree.select("[href], [src], [action]"):
        target = a.attr("href") or a.attr("src") or a.attr("action")
        assert re.match(r"https?://|/(?!/)|#", target), target
    for a in tree.select("a[href^=http]"):
        assert a.attr("rel") == "noopener noreferrer"
    return tree


@pytest.mark.parametrize("path", ["/search?q=silk", "/search?q=silk&sort=date", "/search?q=silk&similar=1"])
def test_hostile_pages_are_listed_as_text(site: httpx.Client, path: str) -> None:
    tree = harmless(site.get(path).text)
    shown = [" ".join(h.text.split()) for h in tree.select(".hits h2")]
    assert len(shown) == len(HOSTILE)
    assert "<script>document.title='owned'</script> silk" in shown
    assert "{{ 7*7 }} {% raw %} silk ${7*7}" in shown
    assert not any("\u202e" in text or "\x07" in text for text in shown)


def test_addresses_that_are_not_http_are_text(site: httpx.Client) -> None:
    tree = harmless(site.get("/search?q=silk").text)
    headings = {h.text: h for h in tree.select(".hits h2")}
    for title in ("A link that is a script: silk", "A link that is data: silk"):
        assert not headings[title].select("a")


@pytest.mark.parametrize("doc", HOSTILE, ids=range(len(HOSTILE)))
def test_all_pages_about_hostile_pages_are_text(site: httpx.Client, doc: object) -> None:
    url = quote(doc.url, safe="")
    harmless(site.get(f"/cached?url={url}&q=silk").text)
    harmless(site.get(f"/explain?q=silk&url={url}").text)
    harmless(site.get(f"/story?url={url}").text)
    harmless(site.get(f"/history?url={url}").text)


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_hostile_query_comes_back_as_text(site: httpx.Client, text: str) -> None:
    tree = harmless(site.get("/search", params={"q": text}).text)
    assert tree.select("input[name=q]")[0].attr("value") == text
    assert tree.select("h1 q")[0].text == plain(text)


@pytest.mark.parametrize(
    "name", ["site", "lang", "page_type", "category", "since", "sort", "page", "size", "similar", "url", "from", "v"]
)
@pytest.mark.parametrize("path", ["/search", "/cached", "/explain", "/story", "/history", "/nothing", "/static/x"])
def test_hostile_parameters_never_become_markup(site: httpx.Client, path: str, name: str) -> None:
    for text in INJECTIONS:
        harmless(site.get(path, params={"q": "silk", name: text}).text)


def test_a_hostile_path_never_becomes_markup(site: httpx.Client) -> None:
    for text in INJECTIONS:
        harmless(site.get(f"/{quote(text)}").text)


@settings(max_examples=60)
@given(text=st.text(max_size=60))
def test_any_query_gets_a_harmless_page(text: str, site: httpx.Client) -> None:
    response = site.get("/search", params={"q": text.encode("utf-8", "replace")})
    assert response.status_code == 200
    harmless(response.text)
