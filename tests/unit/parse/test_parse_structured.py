"""Structured data: read however badly it is written, and believed only about the page itself."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import URL, parse

from gossamer.parse.html import Tree
from gossamer.parse.json_ld import MAX_OBJECTS
from gossamer.parse.structured import NOTHING, Structured, read_structured, trusted_body, visible_text


def _read(*scripts: str, url: str = URL) -> Structured:
    html = "".join(f'<script type="application/ld+json">{script}</script>' for script in scripts)
    return read_structured(Tree(html, 10_000), url)


ARTICLE = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "A bridge &amp; a river",
    "datePublished": "2024-05-03",
    "dateModified": "2024-05-04",
    "author": [{"@type": "Person", "name": "Jane Doe"}, "John Roe"],
    "publisher": {"@type": "Organization", "name": "The Gazette"},
    "image": {"@type": "ImageObject", "url": "/bridge.jpg"},
}


def test_everything_an_article_says_of_itself():
    assert _read(json.dumps(ARTICLE)) == Structured(
        types=("newsarticle",),
        about="newsarticle",
        rank=3,
        published="2024-05-03",
        modified="2024-05-04",
        authors=("Jane Doe", "John Roe"),
        site_name="The Gazette",
        image="/bridge.jpg",
        headline="A bridge & a river",
    )


@pytest.mark.parametrize(
    "dirt",
    [
        "<!--\n%s\n-->",
        "//<![CDATA[\n%s\n//]]>",
        "/*<![CDATA[*/ %s /*]]>*/",
        "// generated\n%s",
        "/* generated */ %s",
        "%s;",
        "[%s]",
        "[[%s,],]",
        '{"@graph": [%s]}',
        '{"@context": "https://schema.org", "@graph": [{"@type": "Organization", "name": "X"}, %s]}',
        '{"@type": "Organization", "name": "X"} %s',
        '{"@type": "WebPage", "mainEntity": %s}',
    ],
)
def test_dirt_and_wrapping_make_no_difference(dirt):
    assert _read(dirt % json.dumps(ARTICLE)).published == "2024-05-03"


@pytest.mark.parametrize(
    "script",
    [
        '{"@type":"Article","datePublished":"2024-05-03",}',
        '{"@type":"Article","keywords":["a","b",],"datePublished":"2024-05-03"}',
        '{"@type":"Article","description":"two\nlines\tand \x01","datePublished":"2024-05-03"}',
        "{&quot;@type&quot;:&quot;Article&quot;,&quot;datePublished&quot;:&quot;2024-05-03&quot;}",
        '{"@type":["Thing","http://schema.org/Article"],"datePublished":"2024-05-03"}',
        '{"@type":"schema:Article","datePublished":["2024-05-03"]}',
        '{"@type":"Article","datePublished":{"@value":"2024-05-03"}}',
    ],
)
def test_common_mistakes_are_forgiven(script):
    assert _read(script).published == "2024-05-03"


@pytest.mark.parametrize(
    "script",
    [
        *("", "null", "3", '"x"', "[]", "{", "{]", "[[[[[[", '{"@type":', "\ud83d"),
        *("[" * 100_000, '{"a":' * 100_000, "/*" * 10_000, "\n" * 200_000, ("\n" * 100 + "/*") * 1000),
        '{"@type":"Article","author":{"@type":[1,null]},"image":[[]],"datePublished":5}',
    ],
)
def test_what_cannot_be_read_says_nothing(script):
    found = _read(script)
    assert (found.published, found.authors, found.body) == ("", (), "")


def test_a_broken_script_does_not_hide_the_next():
    assert _read("{broken", json.dumps(ARTICLE)).published == "2024-05-03"


def test_an_article_comes_before_the_web_page_it_is_on_and_that_fills_what_is_missing():
    found = _read(
        '[{"@type":"WebPage","datePublished":"2020-01-01","dateModified":"2024-06-01"},'
        '{"@type":"BlogPosting","datePublished":"2024-05-03"},{"@type":"Organization","name":"X"}]'
    )
    assert (found.about, found.published, found.modified) == ("blogposting", "2024-05-03", "2024-06-01")
    assert found.types == ("webpage", "blogposting", "organization")


def test_references_inside_a_graph_are_followed():
    found = _read(
        '{"@graph":[{"@type":"Article","author":{"@id":"#jane"},"publisher":{"@id":"#org"},"image":{"@id":"#img"}},'
        '{"@type":"Person","@id":"#jane","name":"Jane Doe"},{"@type":"Organization","@id":"#org","name":"Gazette"},'
        '{"@type":"ImageObject","@id":"#img","contentUrl":"/i.png"},{"@type":"WebSite","name":"Gazette online"}]}'
    )
    assert (found.authors, found.site_name, found.image) == (("Jane Doe",), "Gazette", "/i.png")


def test_a_reference_to_itself_ends():
    assert _read('{"@type":"Article","@id":"#a","author":{"@id":"#a"}}').authors == ()


def test_the_web_site_names_the_site_where_no_publisher_does():
    assert _read('[{"@type":"WebSite","name":"Gazette"},{"@type":"WebPage"}]').site_name == "Gazette"


def test_related_articles_are_not_the_page():
    related = [{"@type": "Article", "url": f"/{n}", "datePublished": f"2020-01-0{n}"} for n in (1, 2, 3)]
    assert _read(json.dumps(related)).published == ""
    assert _read(json.dumps({"@type": "ItemList", "itemListElement": related[:1]})).published == ""
    own = {"@type": "Article", "mainEntityOfPage": {"@id": f"{URL}#main"}, "datePublished": "2024-05-03"}
    assert _read(json.dumps([*related, own])).published == "2024-05-03"


def test_microdata_adds_its_types():
    tree = Tree('<body itemscope itemtype="https://schema.org/QAPage"><div itemtype="http://schema.org/Product">', 100)
    assert read_structured(tree, URL).types == ("qapage", "product")
    assert read_structured(Tree("<p>x", 100), URL) == NOTHING


WORDS = " ".join(f"word{n}" for n in range(200))


def _body(text: str, kind: str = "Article") -> Structured:
    return _read(json.dumps({"@type": kind, "articleBody": text}))


def test_a_body_that_stands_on_the_page_and_was_not_found_there_is_believed_and_loses_its_markup():
    structured = _body(f"<p>{WORDS}</p><p>Tom &amp; Jerry&#39;s<br>end</p>")
    assert trusted_body(structured, f"{WORDS} Tom & Jerry's end", "a line") == f"{WORDS}\nTom & Jerry's\nend"


def test_a_body_is_the_text_of_a_page_that_a_script_is_to_draw():
    assert trusted_body(_body(WORDS), "Please switch on JavaScript to read this page.", "Please switch on") == WORDS


@pytest.mark.parametrize(
    ("text", "kind", "page", "extracted"),
    [
        ("Short text.", "Article", "Short text.", ""),
        (f"{WORDS}…", "Article", WORDS, ""),
        (f"{WORDS} [...]", "Article", WORDS, ""),
        (WORDS, "DiscussionForumPosting", WORDS, ""),
        (WORDS, "Product", WORDS, ""),
        (WORDS, "Article", "Quite another text. " * 20, ""),
        (WORDS, "Article", WORDS, WORDS[: 2 * len(WORDS) // 3]),
    ],
)
def test_a_body_that_may_not_be_the_text_is_not_believed(text, kind, page, extracted):
    assert trusted_body(_body(text, kind), page, extracted) == ""


def test_visible_text_leaves_scripts_out():
    assert visible_text(Tree("<p>One <b>two</b><script>three</script><style>four</style>", 100)).split() == [
        "One",
        "two",
    ]


def test_a_believed_body_is_the_text_of_the_document():
    data = json.dumps({"@type": "Article", "articleBody": WORDS})
    script = f'<script type="application/ld+json">{data}</script>'
    page = parse(f"{script}<div id=app>Loading</div>")
    assert (page.method, page.text) == ("json-ld", WORDS)
    assert parse(f"{script}<article><p>{WORDS}</p></article>").method != "json-ld"


_NAMES = "@type @id @graph mainEntity mainEntityOfPage author publisher image name datePublished articleBody".split()
_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.sampled_from(["Article", "#a", "2024-05-03"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=6),
    max_leaves=20,
)


@given(_VALUES, st.text(max_size=10))
def test_any_json_is_read_without_failing_and_the_result_is_bounded(value, tail):
    found = _read(json.dumps(value).replace("</", "<\\/") + tail.replace("<", ""))
    lines = (found.published, found.modified, found.site_name, found.headline, *found.authors, *found.types)
    assert all(isinstance(line, str) and len(line) <= 300 for line in lines)
    assert len(found.types) <= 50 and len(found.authors) <= 20 and len(found.image) <= 4096


def test_the_number_of_objects_is_bounded():
    many = [{"@type": f"T{n}"} for n in range(3 * MAX_OBJECTS)]
    assert len(_read(json.dumps(many)).types) <= 50
