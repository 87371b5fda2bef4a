"""Types of pages: shown only where they are nearly always right; a list is known by its address or by its teasers."""

from __future__ import annotations

import pytest
from parse_kit import parse

from gossamer.model.records import Link, Parsed
from gossamer.parse.kind import SURE, find_teasers, is_list_address, page_kind

SITE = "https://site.example"
TEASER = "A few words on what stands in the article, so that a reader can choose."
LONG = "This sentence belongs to a long text that nobody would take for the teaser of another page. " * 20


def kind(guess: str = "", confidence: float = 0.0, *, generator: str = "", states: str = "", **facts) -> str:
    parsed = Parsed(**{"url": f"{SITE}/some/page.html", "title": "The page", "text": LONG, **facts})
    return page_kind(parsed, {"generator": generator, "og:type": states}, (), guess, confidence)


def teasers(count: int, text: str = TEASER) -> dict:
    """A text of headings that link to other pages, each with a text under it."""
    headings = [f"Heading number {n} of them" for n in range(count)]
    return {
        "text": "\n".join(f"{heading}\n{text}" for heading in headings),
        "links": [Link(f"{SITE}/p/{n}.html", heading) for n, heading in enumerate(headings)],
    }


@pytest.mark.parametrize("guess", SURE)
def test_a_guess_counts_from_the_confidence_on_at_which_nine_of_ten_are_right(guess):
    assert kind(guess, SURE[guess]) == guess
    assert kind(guess, SURE[guess] - 0.01) == ""


def test_an_address_that_cannot_be_read_is_no_error():
    assert kind("article", 0.9, url="http://[") == "article"


def test_without_any_guess_a_page_has_no_type():
    assert kind() == ""


def test_a_shown_date_and_a_stated_article_make_up_for_confidence():
    assert kind("article", 0.3, states="article") == ""
    assert kind("article", 0.3, date_confidence=0.98) == ""
    assert kind("article", 0.3, states="article", date_confidence=0.98) == "article"
    assert kind("article", 0.7, date_confidence=0.78) == "article"
    assert kind("service", 0.3, states="article", date_confidence=0.98) == ""


def test_headings_that_link_to_other_pages_make_a_list_whatever_the_model_says():
    assert kind("article", 0.6, **teasers(5)) == "listing"
    assert kind("collection", 0.3, **teasers(5)) == "collection"
    assert kind("service", 0.3, **teasers(5)) == "listing"


def test_whole_posts_under_headings_are_no_teasers():
    assert not find_teasers(f"{SITE}/", "", "Blog", **teasers(4, LONG)).is_list


def test_an_article_with_teasers_of_others_under_it_is_no_list():
    found = teasers(4)
    found["text"] = f"{LONG}\n{found['text']}"
    assert kind("article", 0.85, **found) == "article"
    assert kind("article", 0.4, **found) == ""


def test_what_links_to_the_page_itself_or_leaves_the_site_is_no_teaser():
    found = teasers(5)
    shared = [Link(f"{SITE}/some/page.html?share={n}", link.anchor) for n, link in enumerate(found["links"])]
    abroad = [Link(f"https://other.example/{n}", link.anchor) for n, link in enumerate(found["links"])]
    for links in (shared, abroad):
        assert find_teasers(f"{SITE}/some/page.html", "", "The page", found["text"], links).headings == 0


def test_the_own_title_is_no_teaser_even_if_another_page_has_it_too():
    text, links = f"The page of that day\n{TEASER}", [Link(f"{SITE}/other", "The page of that day")]
    assert find_teasers(f"{SITE}/x", "", "The page of that day", text, links).headings == 0
    assert find_teasers(f"{SITE}/x", "", "The page of…", text, links).headings == 0
    assert find_teasers(f"{SITE}/x", "", "Another title", text, links).leads


def test_an_entry_of_a_list_may_have_a_date_beside_its_link():
    lines = [f"A title of {n} words 17/04/2011" for n in range(4)]
    links = [Link(f"{SITE}/{n}", f"A title of {n} words") for n in range(4)]
    assert find_teasers(f"{SITE}/tags/x/", "", "x", "\n".join(lines), links).is_list


@pytest.mark.parametrize(
    "path",
    [
        "/tag/rust/", "/tags/%D1%80%D0%B0%D0%BA%D0%B5%D1%82%D0%B0/", "/en/category/news", "/blog/author/ada/",
        "/page/2/", "/page24/", "/blog/page/3", "/category/news/page/9/", "/2019/04/", "/2019/04/05/", "/blog/2019/04/",
        "/archives/", "/?s=rocket", "/search?q=rocket", "/?cat=7", "/wiki/Category:Rockets",
    ],
)  # fmt: skip
def test_addresses_that_only_lists_have(path):
    assert is_list_address(SITE + path)
    assert kind("article", 0.99, url=SITE + path) == "listing"


@pytest.mark.parametrize(
    "path",
    [
        "/", "/2019/04/05/a-title/", "/archives/1234", "/2019/", "/category/news/a-title-of-an-article.html/comments",
        "/reviews/a-long-test/page/2/", "/tag", "/blog/a-title/", "/pages/about", "/article?id=2019", "/p2p-lending/",
    ],
)  # fmt: skip
def test_addresses_that_may_be_anything(path):
    assert not is_list_address(SITE + path)


@pytest.mark.parametrize("generator", ["Docusaurus v3.5", "DocBook XSL Stylesheets V1.79", "Doxygen 1.9", "mkdocs-1.5"])
def test_what_a_generator_of_manuals_made_is_documentation(generator):
    assert kind("article", 0.9, generator=generator) == "documentation"
    assert kind(generator=generator, **teasers(6)) == "documentation"
    assert kind("article", 0.9, generator=generator, url=f"{SITE}/blog/post") == "article"
    assert kind("product", 0.9, generator=generator) == "product"


def test_manuals_are_known_by_where_they_are_kept_and_by_their_index():
    assert kind("article", 0.9, url="https://docs.site.example/a/b") == "documentation"
    assert kind("service", 0.3, url=f"{SITE}/en/docs/install") == "documentation"
    assert kind(links=[Link(f"{SITE}/genindex.html", "index")]) == "documentation"
    assert kind("service", 0.7, url="https://docs.site.example/") == "service"


def test_a_thread_of_a_known_forum_program_is_a_forum():
    assert kind("article", 0.9, generator="Discourse 3.2", url=f"{SITE}/t/a-question/123") == "forum"
    assert kind("article", 0.9, generator="Discourse 3.2", url=f"{SITE}/about") == "article"


def test_a_list_has_no_date_of_publication_though_its_entries_show_theirs():
    entries = "".join(
        f'<article><h2><a href="/p/{n}">Heading number {n} of them</a></h2><time datetime="2024-05-0{n}">'
        f"</time><p>{TEASER}</p></article>"
        for n in range(1, 9)
    )
    meta = '<meta property="article:published_time" content="2024-05-08">'
    page = f"<html><head><title>Rockets</title>{meta}</head><body><main><h1>Rockets</h1>{entries}</main></body></html>"
    listed = parse(page, url=f"{SITE}/tag/rockets/")
    assert (listed.page_type, listed.date, listed.date_confidence) == ("listing", "", 0.0)
    by_text = parse(page, url=f"{SITE}/rockets")
    assert (by_text.page_type, by_text.date) == ("listing", "")
