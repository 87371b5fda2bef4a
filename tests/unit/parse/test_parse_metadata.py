"""What a page says about itself is read as browsers and other crawlers read it."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import URL, parse


def _head(head: str, **more):
    return parse(f"<!doctype html><head>{head}</head><body><p>Text.", **more)


def test_title_description_headings_and_language():
    page = parse(
        '<html lang="en-GB"><title> A\n title </title><meta name=Description content="What it &amp; is">'
        "<h1>One</h1><h2>Two <b>bold</b></h2><h3></h3><h4>Four</h4>"
    )
    assert (page.title, page.description, page.claimed_language) == ("A title", "What it & is", "en-gb")
    assert page.headings == ["One", "Two bold"]


def test_text_read_for_headings_has_a_budget():
    assert len(parse("<h1>" + "x" * 200_001 + "</h1><h2>y</h2>").headings) == 1


def test_the_first_title_counts_and_a_picture_has_none():
    assert parse("<body><svg><title>Icon</title></svg><title>First</title><title>Second</title>").title == "First"


def test_canonical_is_resolved_against_the_base():
    assert _head('<base href="/other/"><link rel=canonical href="x?utm_source=a">').canonical == (
        "https://site.example/other/x"
    )


def test_canonicals_that_disagree_are_ignored_and_equal_ones_are_one():
    assert _head('<link rel=canonical href="/a"><link rel=canonical href="/b">').canonical == ""
    assert _head('<link rel=canonical href="/a"><link rel=canonical href="/a#x">').canonical.endswith("/a")


def test_a_canonical_in_the_body_is_ignored():
    assert parse('<body><p>x<link rel="canonical" href="/spam">').canonical == ""


def test_canonical_from_the_link_header():
    header = '<https://site.example/next>; rel="next", </c>; title="a, b"; rel="canonical"'
    assert _head("", link=(header,)).canonical == "https://site.example/c"
    assert _head('<link rel=canonical href="/a">', link=("</c>; rel=canonical",)).canonical == ""


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow", "noarchive"),
    [
        ("noindex", True, False, False),
        ("NOINDEX, NoFollow", True, True, False),
        ("none", True, True, False),
        ("noarchive", False, False, True),
        ("index,follow", False, False, False),
        ("noindexed", False, False, False),
    ],
)
def test_meta_robots(content, noindex, nofollow, noarchive):
    for name in ("robots", "Gossamer"):
        page = _head(f'<meta name="{name}" content="{content}">')
        assert (page.noindex, page.nofollow, page.noarchive) == (noindex, nofollow, noarchive)
    assert not _head(f'<meta name="googlebot" content="{content}">').noindex


def test_header_and_meta_add_up_to_the_stricter():
    page = _head('<meta name=robots content="noindex">', robots=("nofollow", "otherbot: noarchive"))
    assert (page.noindex, page.nofollow, page.noarchive) == (True, True, False)


def test_wishes_about_ai_use_are_recorded():
    page = _head('<meta name=robots content="noai"><meta name="tdm-reservation" content="1">', robots=("noimageai",))
    assert page.ai_signals == ["noai", "noimageai", "tdm-reservation=1"]
    assert not page.noindex


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/new", "https://site.example/new"),
        ("0;URL='/new'", "https://site.example/new"),
        ("10, /new", "https://site.example/new"),
        ("11; url=/new", ""),
        ("5", ""),
        ("0; url=#part", ""),
        (f"0; url={URL}", ""),
        ("0; url=javascript:alert(1)", ""),
        ("soon; url=/new", ""),
    ],
)
def test_a_quick_refresh_to_elsewhere_is_a_redirect(content, target):
    assert _head(f'<meta http-equiv="refresh" content="{content}">').refresh == target


def test_a_refresh_for_browsers_without_scripts_is_none():
    assert _head('<noscript><meta http-equiv=refresh content="0; url=/nojs"></noscript>').refresh == ""


def test_alternates_and_feeds():
    page = _head(
        '<link rel=alternate hreflang="de-AT" href="/de"><link rel="alternate" hreflang=x href="mailto:a@b">'
        '<link rel=alternate type="application/rss+xml" href="/rss">'
        '<link rel=alternate type="application/atom+xml; a=b" href="/atom">'
        '<link rel=stylesheet href="/style.css">'
    )
    assert page.alternates == [("de-at", "https://site.example/de")]
    assert page.feeds == ["https://site.example/rss", "https://site.example/atom"]


def test_languages_stand_in_the_link_header_too():
    page = _head("", link=('</de>; rel="alternate"; hreflang="de", </fr>; hreflang=fr; rel=alternate, </x>; rel=next',))
    assert page.alternates == [("de", "https://site.example/de"), ("fr", "https://site.example/fr")]


def test_languages_of_a_file_stand_in_its_link_header():
    page = parse(
        "Just text.", content_type="text/plain", link=("<https://site.example/de>; rel=alternate; hreflang=de",)
    )
    assert page.alternates == [("de", "https://site.example/de")]


@pytest.mark.parametrize("code", ["en us", "all languages", "x", "", "-de", '"><b>'])
def test_a_language_that_is_no_code_is_none(code):
    assert _head(f"<link rel=alternate hreflang='{code}' href='/other'>").alternates == []


def test_a_language_may_have_a_region_or_script_in_any_spelling():
    page = _head("<link rel=alternate hreflang=zh-Hant href=/t><link rel=alternate hreflang=en_GB href=/g>")
    assert page.alternates == [("zh-hant", "https://site.example/t"), ("en-gb", "https://site.example/g")]


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ('<script type="application/ld+json">{"@type":"Article","author":{"name":"Jane Doe"}}</script>', "Jane Doe"),
        ('<meta name=author content="By Jane Doe">', "Jane Doe"),
        ('<meta name=author content="Jane Doe and John Roe">', "Jane Doe, John Roe"),
        ('<meta name=author content="Jane Doe; jane doe; John Roe">', "Jane Doe, John Roe"),
        ('<meta name=author content="https://site.example/jane"><a rel=author href=/j>Jane Doe</a>', "Jane Doe"),
        ('<meta name=author content="jane@site.example"><a rel=author href=/j>Jane Doe</a>', "Jane Doe"),
        ("<meta name=author content=admin><span itemprop=author><b itemprop=name>Jane Doe</b> x</span>", "Jane Doe"),
        ("<p><a rel=author href=/j>Jane Doe</a> <a rel=author href=/r>John Roe</a></p>", "Jane Doe, John Roe"),
        ("<p><a rel=author href=/j>Jane Doe</a></p><p><a rel=author href=/r>Commenter</a></p>", "Jane Doe"),
        ('<span class="post-author">Posted by Jane Doe on May 3, 2024</span>', "Jane Doe"),
        ('<p class="byline">Von Jörg Müller-Lüdenscheidt</p>', "Jörg Müller-Lüdenscheidt"),
        ('<p class="byline">Автор: Анна Петрова</p>', "Анна Петрова"),
        ('<p class="byline">作者：王小明</p>', "王小明"),
        ('<p class="byline">May 3, 2024, 12 comments</p>', ""),
        ("<meta name=author content=' '>", ""),
        ("<meta name=author content='{{author}}'>", ""),
        ("<h1>News</h1><p>May 3, 2024</p><p>By <a href=/j>Jane Doe</a></p>", "Jane Doe"),
        ("<h1>News</h1><p>Written by Jane Doe | May 3, 2024</p>", "Jane Doe"),
        ("<h1>News</h1><p>By now the river has risen by three more feet, and nobody knows why.</p>", ""),
        ("<p>By Nobody in the text</p>", ""),
    ],
)
def test_the_author_is_a_name(html, author):
    assert parse(f"<p>Text.</p>{html}").author == author


def test_the_site_names_itself():
    assert _head('<meta property="og:site_name" content=" The\nGazette ">').site_name == "The Gazette"
    website = '<script type="application/ld+json">{"@type":"WebSite","name":"Gazette"}</script>'
    assert _head(website).site_name == "Gazette"
    assert _head("").site_name == ""


def test_the_image_is_resolved_and_no_data():
    assert _head('<meta property="og:image" content="../i.png#x">').image == "https://site.example/i.png"
    article = '<script type="application/ld+json">{"@type":"Article","image":["/a.png","/b.png"]}</script>'
    assert _head(f'<meta property="og:image" content="data:image/png;base64,AA">{article}').image == (
        "https://site.example/a.png"
    )


@given(st.text(max_size=300), st.sampled_from(["author", "og:site_name", "og:image", "og:title"]))
def test_any_content_gives_bounded_lines(content, name):
    page = _head(f'<meta property="{name}" content="{escape(content)}">')
    assert page.ok
    assert len(page.author) <= 200 and len(page.site_name) <= 150 and "\n" not in page.author + page.site_name
