"""Links come out canonical, with their words; what may be followed is decided once per target."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import URL, ParseLimits, parse

from gossamer.parse.links import written_links


def _urls(html, **more):
    return [link.url for link in parse(html, **more).links]


def test_links_of_all_kinds_with_text_rel_and_tag():
    page = parse(
        '<a href="a.html" rel="NoFollow  ugc"> one\n <b>two</b> </a>'
        '<map><area href=/b alt="B"></map><iframe src=//c.example/></iframe>'
    )
    assert [(x.url, x.anchor, x.rel, x.tag) for x in page.links] == [
        ("https://site.example/dir/a.html", "one two", "nofollow ugc", "a"),
        ("https://site.example/b", "B", "", "area"),
        ("https://c.example/", "", "", "iframe"),
    ]


def test_frames_of_a_frameset_are_links():
    assert _urls("<frameset><frame src=menu.html><frame src=main.html></frameset>") == [
        "https://site.example/dir/menu.html",
        "https://site.example/dir/main.html",
    ]


def test_an_image_gives_the_words_where_there_are_none():
    page = parse('<a href=/x><img src=i alt=" A picture "></a><a href=/y>Text<img alt=no></a>')
    assert [x.anchor for x in page.links] == ["A picture", "Text"]


def test_references_that_lead_to_no_page_are_dropped():
    assert _urls(
        '<a href="#top"><a href=""><a href="JavaScript:void(0)"><a href="mailto:a@b.c"><a href="tel:1">'
        "<a name=x>"
        '<a href="data:text/html,x"><a href="ftp://f/x"><a href="http://"><a href="http://[bad"><a href=/ok>'
    ) == ["https://site.example/ok"]


def test_the_base_element_counts_unless_it_is_nonsense():
    assert _urls("<base href=/other/><a href=x>") == ["https://site.example/other/x"]
    assert _urls('<base href="javascript:alert(1)"><a href=x>') == ["https://site.example/dir/x"]
    assert _urls('<base href="http://["><a href=x>') == ["https://site.example/dir/x"]


def test_follow_holds_each_allowed_target_once_in_order_without_the_page_itself():
    page = parse(
        f'<a href=/b><a href=/a><a href=/b#part><a href="{URL}"><a href=/n rel=nofollow><a href=//far.example/>'
    )
    assert page.follow == ["https://site.example/b", "https://site.example/a"]


def test_nofollow_on_one_link_does_not_hide_another_to_the_same_page():
    assert parse("<a href=/a rel=nofollow>x</a><a href=/a>y</a>").follow == ["https://site.example/a"]


def test_a_nofollow_page_has_links_but_follows_none():
    page = parse("<meta name=robots content=nofollow><a href=/a>x</a>")
    assert (len(page.links), page.follow, page.refused) == (1, [], [])


def test_refusals_inside_the_scope_are_remembered_and_those_outside_are_not():
    page = parse("<a href=/trap/1><a href=//far.example/><a href=/ok>")
    assert page.refused == [("https://site.example/trap/1", "trap.depth", "too deep")]


def test_the_number_of_links_and_refusals_is_limited():
    html = "".join(f"<a href=/{n}>x</a><a href=/trap/{n}>x</a>" for n in range(200))
    page = parse(html, limits=ParseLimits(max_links=300, max_refused=7))
    assert (len(page.links), len(page.refused)) == (300, 7)


def test_next_and_previous_pages_named_in_the_head_are_links():
    page = parse('<head><link rel=next href="?page=2"></head><p>x')
    assert [(x.url, x.rel, x.tag) for x in page.links] == [(URL + "?page=2", "next", "link")]
    assert page.follow == [URL + "?page=2"]


def test_text_read_for_anchors_has_a_budget():
    page = parse("<a href=/1>" + "x" * 1_000_001 + "</a><a href=/2>y</a>")
    assert [(len(x.anchor), x.url[-2:]) for x in page.links] == [(200, "/1"), (0, "/2")]


@given(st.text())
def test_any_reference_can_be_met(reference):
    page = parse(f'<a href="{reference}">x</a><a href=/sure>y</a>'.encode("utf-8", "surrogatepass"))
    assert page.ok, page.problem


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("See http://b.test/x, or (https://c.test/y_(z)) and <http://d.test/?q=1#f>.", [
            "http://b.test/x", "https://c.test/y_(z)", "http://d.test/?q=1#f"]),
        ("HTTP://B.test/a\nHTTP://B.test/a 见 http://e.test/文。", ["HTTP://B.test/a", "http://e.test/文"]),
        ("curl https://api.test/{id} and http://x.test/[a-z]+ and https://", []),
    ],
)  # fmt: skip
def test_urls_that_a_plain_text_writes_out_are_links(text: str, urls: list[str]) -> None:
    assert [link.url for link in written_links(text, 10)] == urls
    assert [link.url for link in written_links(text, 1)] == urls[:1]
