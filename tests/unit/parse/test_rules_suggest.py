"""Proposing rules: URLs fall into the templates that made them, and common skeletons give selectors."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import NOW

from gossamer.errors import UsageError
from gossamer.model.url import Canonicalizer
from gossamer.parse.html import Tree
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.cutting import cut
from gossamer.parse.rules.selectors import Sample, find_selectors
from gossamer.site.patterns import compile_patterns, path_and_query
from gossamer.site.url_groups import Group, Page, group_urls, template_of

HOST = "https://a.org"
WORDS = "owl barn night river stone lamp field cloud road winter mouse hill bridge garden letter harbour".split()


def pages(*paths: str, chars: int = 2000) -> list[Page]:
    return [Page(HOST + path, f"Title {path}", chars) for path in paths]


def proposed(found: list[Group]) -> dict[str, int]:
    return {group.template: len(group.pages) for group in found if not group.verdict}


# -- templates of URLs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/2024/05/17/owls-return-to-the-barn/", "/{year}/{month}/{day}/{slug}/"),
        ("/news/2024-05-17/4711", "/news/{year}-{month}-{day}/{id}"),
        ("/politics/20200527/248588669/Gruziya.html", "/politics/{year}{month}{day}/{id}/Gruziya.html"),
        ("/news/189122", "/news/{id}"),
        ("/news/n357027647-metro-closed", "/news/n{id}-{slug}"),
        ("/rus/54197-strahovanie-ot-bezraboticy.html", "/rus/{id}-{slug}.html"),
        ("/sport/owls-win-again-4711.html", "/sport/{slug}-{id}.html"),
        ("/doc.html?id=3268582", "/doc.html?id={id}"),
        ("/about/", "/about/"),
        ("/page28/", "/page{id}/"),
        ("/%D1%81%D0%BE%D0%B2%D1%8B-%D0%B2%D0%B5%D1%80%D0%BD%D1%83%D0%BB%D0%B8%D1%81%D1%8C", "/{slug}"),
        ("/", "/"),
    ],
)
def test_a_url_shows_the_template_that_made_it(path: str, template: str) -> None:
    assert template_of(HOST + path) == template


some_parts = st.text("abcxyz0123456789-_.%&=?é", max_size=12) | st.sampled_from(["2024", "05", "17", "tag", "a-b-c"])


@given(st.lists(some_parts, max_size=5))
def test_the_template_of_a_url_fits_it_or_is_refused(parts: list[str]) -> None:
    url = Canonicalizer().parse(f"{HOST}/{'/'.join(parts)}")
    assert isinstance(url, str)
    template = template_of(url)
    try:
        pattern = compile_patterns([template])
    except UsageError:
        assert group_urls([Page(url, str(n), 900) for n in range(3)])[0].verdict
    else:
        assert pattern.match(path_and_query(url)), (template, url)


def test_dated_articles_are_proposed_and_archives_and_listings_are_not() -> None:
    dated = [f"/2024/05/{day:02}/the-{word}-story-{word}/" for day, word in enumerate(WORDS, 1)]
    archives = [f"/2024/05/{day:02}/" for day in range(1, 10)]
    lists = [f"/tag/{word}/" for word in WORDS] + [f"/page/{n}/" for n in range(2, 9)] + ["/about/"]
    found = group_urls(pages(*dated, *archives, *lists))
    assert proposed(found) == {"/{year}/{month}/{day}/{slug}/": len(dated)}
    verdicts = {group.template: group.verdict for group in found}
    assert verdicts["/{year}/{month}/{day}/"] == "ends with a date: an archive"
    assert verdicts["/tag/{slug}/"] == "'tag' in the path names no documents"


def test_many_words_in_one_place_are_joined_and_few_are_kept() -> None:
    many = [f"/{section}/{n}" for section in WORDS[:8] for n in (1001, 1002)]
    few = [f"/en/{section}/{n}.html" for section in ("news", "blog") for n in range(2001, 2005)]
    assert proposed(group_urls(pages(*many, *few))) == {
        "/{slug}/{id}": 16, "/en/news/{id}.html": 4, "/en/blog/{id}.html": 4,
    }  # fmt: skip


def test_pages_without_text_or_titles_of_their_own_are_not_proposed() -> None:
    empty = pages(*(f"/video/{n}" for n in range(1000, 1010)), chars=20)
    same = [Page(f"{HOST}/item/{n}", "Shop", 900) for n in range(1000, 1010)]
    found = group_urls([*empty, *same])
    assert proposed(found) == {}
    assert {group.verdict for group in found} == {"half of the pages have hardly any text", "pages share their titles"}


def test_what_a_proposed_pattern_covers_although_it_is_no_document_becomes_an_exception() -> None:
    articles = [f"/{word}-at-the-{word}/" for word in WORDS]
    found = group_urls([*pages(*articles), *pages("/search/", chars=100)])
    (group,) = [group for group in found if not group.verdict]
    assert (group.template, group.excluded) == ("/{slug}/", ["/search/"])


# -- selectors ----------------------------------------------------------------------------------------


def sample(number: int) -> Sample:
    word = WORDS[number]
    day = date(2024, 1, 1) + timedelta(days=number)
    text = [f"The {word} of day {number} was seen near the {w}; nobody could say why it came so far." for w in WORDS]
    more = " ".join(f"<a href=/{other}>The {other} again</a>" for other in WORDS)
    html = (
        f"<html><head><title>Story of the {word} | Daily</title></head><body><div id='top'>Menu {' '.join(WORDS)}</div>"
        f"<div id='page'><h1>Story of the {word}</h1><span class='pub-date'>{day:%d.%m.%Y}</span>"
        f"<div class='box'><p class='author'>Ann Lee</p><div class='entry'><p>{'</p><p>'.join(text)}</p>"
        f"<div class='share'>Tell others on networks</div></div></div>"
        f"<div class='box'>Read also: {more}</div></div></body></html>"
    )
    return Sample(Tree(html, 10_000), "\n".join(text), f"Story of the {word} | Daily")


def test_the_common_skeleton_of_pages_gives_selectors_that_cut_them() -> None:
    found = find_selectors([sample(n) for n in range(12)], NOW)
    assert (found.title, found.text, found.remove) == ("h1", "div.entry", ("div.share",))
    assert (found.date, found.date_format, found.author) == ("span.pub-date", "%d.%m.%Y", ".author")
    rule = DocumentRule(
        "a.org", ("/{slug}",), title=(found.title,), text=(found.text,), date=(found.date,),
        date_format=found.date_format, author=(found.author,), remove=found.remove,
    )  # fmt: skip
    page = sample(13)
    cut_out = cut(page.tree, rule, 100_000, NOW)
    assert cut_out.text == page.text
    assert (cut_out.title, cut_out.date, cut_out.author) == ("Story of the garden", "2024-01-14", "Ann Lee")


def test_what_is_not_there_on_nearly_all_pages_is_not_proposed() -> None:
    bare = [Sample(Tree(f"<title>x</title><p>Some text about {w}", 100), f"Some text about {w}", "x") for w in WORDS]
    found = find_selectors(bare, NOW)
    assert (found.title, found.text, found.date, found.author) == ("", "", "", "")
    assert found.evidence == ["text: no container stands once on nearly all pages"]
