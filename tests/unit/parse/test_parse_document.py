"""A body of any kind becomes a document, or says why not; main text without the furniture."""

import pytest
from parse_kit import parse

PARAGRAPH = "Gossamer crawls the sites somebody cares about, politely, and forgets nothing when it is killed. "
ARTICLE = f"<h1>Head</h1><p>{PARAGRAPH}</p><p>{PARAGRAPH * 2}</p>"


def test_a_page_is_read():
    page = parse(f"<title>T</title>{ARTICLE}<a href=/x>go</a>", content_hash=lambda t: "h", simhash=lambda t: 7)
    assert (page.ok, page.problem, page.unsupported) == (True, "", False)
    assert (page.media_type, page.charset, page.language) == ("text/html", "utf-8", "en")
    assert page.text == f"Head\n{PARAGRAPH.strip()}\n{(PARAGRAPH * 2).strip()}\ngo"
    assert (page.content_hash, page.simhash) == ("h", 7)


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav>OUT</nav>",
        "<footer>OUT</footer>",
        "<aside>OUT</aside>",
        "<script>OUT</script>",
        "<style>OUT</style>",
        "<template>OUT</template>",
        "<button>OUT</button>",
        "<select><option>OUT</select>",
        "<textarea>OUT</textarea>",
        "<svg><text>OUT</text></svg>",
        '<div class="page-sidebar left">OUT</div>',
        '<ul id="mainMenu"><li>OUT</ul>',
        '<div class="cookie_consent">OUT</div>',
        '<div role="navigation">OUT</div>',
        '<p aria-hidden="true">OUT</p>',
        "<div hidden>OUT</div>",
        '<a class="headerlink" href="#x">OUT</a>',
        "<!-- OUT -->",
    ],
)
def test_furniture_is_not_text(furniture):
    assert "OUT" not in parse(furniture + ARTICLE + furniture).text


@pytest.mark.parametrize(
    "wrapper",
    [
        '<form id="aspnetForm" class="search">{}</form>',
        '<div class="has-sidebar menu">{}</div>',
        '<div role="dialog">{}</div>',
        '<article class="comments">{}</article>',
    ],
)
def test_what_holds_the_text_is_no_furniture_whatever_its_name(wrapper):
    assert PARAGRAPH.strip() in parse(wrapper.format(ARTICLE)).text


def test_a_single_main_element_is_the_text():
    page = parse(f"<div>Around the text</div><main>{ARTICLE}</main>")
    assert page.method == "furniture"
    assert "Around" not in page.text


def test_an_empty_main_element_is_not_believed():
    page = parse(f"<main></main>{ARTICLE}")
    assert page.method == "furniture"
    assert PARAGRAPH.strip() in page.text


def test_blocks_and_cells_are_lines_and_inline_elements_are_not():
    page = parse(
        "<p>a<b>b</b>c<br>d<table><tr><td>e<td>f<tr><td>g</table><ul><li>h</ul><ol><li>i</ol><pre>j\n  k</pre>"
    )
    assert page.text.split("\n") == ["abc", "d", "e", "f", "g", "h", "i", "j", "k"]


def test_plain_text_is_a_document():
    page = parse("First  line\r\n\r\nsecond <b>line</b>", content_type="text/plain; charset=utf-8", robots=("noindex",))
    assert (page.text, page.method, page.noindex) == ("First line\nsecond <b>line</b>", "plain", True)
    assert page.links == []


@pytest.mark.parametrize("content_type", ["", "application/octet-stream", "text/plain", "text/xml", "application/xml"])
def test_html_under_a_wrong_type_is_html(content_type):
    page = parse("\n<!-- x --><!DOCTYPE html><title>T</title><p>x", content_type=content_type)
    assert (page.ok, page.title) == (True, "T")


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7 ...",
        b"PK\x03\x04....",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a...",
        b"\x7fELF\0\0",
        b"ab\0\0cd\0",
    ],
)
def test_a_binary_file_is_unsupported_whatever_its_type_says(body):
    for content_type in ("text/html", "text/plain", ""):
        page = parse(body, content_type=content_type)
        assert (page.ok, page.unsupported) == (False, True), content_type


@pytest.mark.parametrize(
    "content_type", ["application/pdf", "image/png", "application/json", "text/css", "application/rss+xml"]
)
def test_other_types_are_unsupported_and_named(content_type):
    page = parse("<rss><channel></channel></rss>", content_type=content_type)
    assert (page.ok, page.unsupported) == (False, True)
    assert content_type in page.problem


@pytest.mark.parametrize("content_type", ["", "text/xml", "application/xml"])
def test_a_feed_is_not_a_page(content_type):
    assert parse('<?xml version="1.0"?><rss version="2.0"><channel/></rss>', content_type=content_type).unsupported


def test_utf16_pages_are_not_taken_for_binary_files():
    for codec in ("utf-16", "utf-16-le", "utf-16-be"):
        page = parse(f"<html><title>Я</title>{ARTICLE}".encode(codec))
        assert (page.ok, page.title) == (True, "Я"), codec


def test_a_crash_anywhere_is_a_problem_and_not_an_exception():
    def crash(text):
        raise RecursionError("deep\x00er")

    page = parse(ARTICLE, simhash=crash)
    assert (page.ok, page.problem) == (False, "parser failed: RecursionError: deeper")


def test_an_empty_body_is_an_empty_document():
    page = parse(b"")
    assert (page.ok, page.text, page.title, page.links) == (True, "", "", [])
