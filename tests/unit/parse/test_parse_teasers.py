"""Which blocks of a page look like teasers of other pages of its site."""

from __future__ import annotations

import pytest

from gossamer.parse.html import Tree
from gossamer.parse.text.measures import Measures
from gossamer.parse.text.model import text_model
from gossamer.parse.text.teasers import teasers

URL = "https://www.a.org/news/one.html"


def found(html: str) -> list[str]:
    body = Tree(f"<html><body>{html}</body></html>", 1000).lean_body()
    assert body is not None
    measures = Measures(text_model().read(body))
    return [text for text, is_teaser in zip(measures.texts, teasers(measures, URL).tolist(), strict=True) if is_teaser]


def entry(target: str, headline: str = "The bridge was closed again", rest: str = "") -> str:
    return f'<li><a href="{target}">{headline}</a>{rest}</li>'


@pytest.mark.parametrize("target", ["/news/two.html", "two.html", "http://a.org/2", "//www.a.org/2", "?page=2"])
def test_links_to_other_pages_of_the_site_side_by_side_are_teasers(target: str) -> None:
    assert len(found(f"<ul>{entry(target)}{entry(target)}</ul>")) == 2


@pytest.mark.parametrize(
    "target",
    [
        "https://b.org/2",
        "#two",
        "/news/one.html#comment-2",
        "one.html",
        "https://a.org/news/one.html",
        "mailto:a@a.org",
    ],
)
def test_links_to_other_sites_and_within_the_page_are_none(target: str) -> None:
    assert found(f"<ul>{entry(target)}{entry(target)}</ul>") == []


def test_what_stands_below_the_headline_belongs_to_the_teaser() -> None:
    one = '<div class=t><p>1 May</p><h3><a href="/2">The bridge was closed again</a></h3><p>Nobody knows why.</p></div>'
    assert found(f"<p>A text of its own.</p><div>{one}{one}</div>") == 2 * [
        "1 May", "The bridge was closed again", "Nobody knows why.",
    ]  # fmt: skip


def test_a_picture_that_leads_to_the_same_page_is_no_second_link() -> None:
    picture = '<a href="/2"><img src="/2.png"></a><a href="/2">Bridge closed again</a> Nobody knows why.'
    assert len(found(f"<ul><li>{picture}</li><li>{picture}</li></ul>")) == 2


def test_a_single_entry_names_and_paragraphs_without_links_are_none() -> None:
    assert found(f"<ul>{entry('/2')}</ul>") == []
    assert found(f"<ul>{entry('/2', 'Ann Lee')}{entry('/3', 'Bob Roe')}</ul>") == []
    assert found("<p>One paragraph of the text.</p><p>And another one.</p>") == []


def test_a_line_of_links_is_a_list_by_itself() -> None:
    links = " ".join(f'<a href="/tag/{name}">{name}</a>' for name in ("bridges", "rivers", "towns", "walks"))
    assert len(found(f"<p>A text of its own.</p><div>{links}</div>")) == 1
