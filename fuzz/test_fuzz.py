"""The same targets with hypothesis: inputs of a known build, which no mutation of bytes would hit on."""

from __future__ import annotations

import os

import pytest
import targets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1500"))
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(
    "html head body main article section div p span a b table tr td th ul ol li dl dt dd pre code h1 h2 time form "
    "input select option textarea script style template noscript svg math iframe nav footer aside header br hr img "
    "blockquote figure figcaption details summary video button meta link base title frameset frame plaintext".split()
)
ATTRIBUTES = st.sampled_from(
    "class id href src rel lang role hidden aria-hidden itemprop itemtype itemscope datetime content name property "
    "style title alt onclick http-equiv charset type".split()
)
VALUES = st.one_of(
    st.sampled_from(
        "content main nav footer date author article menu sidebar share datePublished articleBody refresh 0;url=/x "
        "https://site.example/a javascript:alert(1) application/ld+json 2024-05-03 canonical next alternate".split()
    ),
    st.text(max_size=30),
)
TEXTS = st.one_of(
    st.text(max_size=200), st.sampled_from(["word " * 40, "3 May 2024", "слово " * 30, "汉字" * 60, "<", "&#0;"])
)


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Tags that open, close and nest as they like."""
    pieces = []
    for _ in range(draw(st.integers(0, 60))):
        name = draw(NAMES)
        if draw(st.booleans()):
            given_ = draw(st.lists(st.tuples(ATTRIBUTES, VALUES), max_size=4))
            attributes = "".join(f' {key}="{value}"' for key, value in given_)
            pieces.append(f"<{name}{attributes}>" * draw(st.sampled_from([1, 1, 1, 1, 5, 300])))
        else:
            pieces.append(f"</{name}>")
        pieces.append(draw(TEXTS))
    return "".join(pieces)


JSON_LD = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=60), st.sampled_from(["2024-05-03", "Article"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["@type", "@graph", "@id", "articleBody", "author", "name", "datePublished", "image", "url"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)


@many
@given(markup(), st.integers(0, 255))
def test_pages_of_any_build(html: str, kind: int) -> None:
    targets.run(targets.pages, bytes([kind]) + html.encode("utf-8", "replace"))


@many
@given(JSON_LD, TEXTS)
def test_structured_data_of_any_build(value: object, text: str) -> None:
    import json

    html = f'<script type="application/ld+json">{json.dumps(value)}</script><p>{text}</p>'
    targets.run(targets.pages, b"\x10" + html.encode("utf-8", "replace"))


@many
@given(
    st.lists(
        st.one_of(st.integers(0, 99_999).map(str), st.sampled_from([*"-/.:T, 年月日", "May", "мая", "Mai"])),
        max_size=14,
    )
)
def test_dates_of_any_build(parts: list[str]) -> None:
    targets.run(targets.dates, "".join(parts).encode())


PATTERN = st.lists(
    st.sampled_from(["a", "\\d", ".", "*", "+", "?", "(", ")", "|", "[a-z]", "{2,}", "{id}", "^", "$", "/"]),
    max_size=12,
)
SELECTOR = st.lists(
    st.sampled_from(["div", ".a", "#b", "[c]", ">", " ", "+", "~", ":not(p)", ":has(a)", ",", "@datetime", "*"]),
    max_size=8,
)


@many
@given(st.lists(PATTERN, min_size=1, max_size=3), st.lists(SELECTOR, max_size=3), st.text(max_size=12))
def test_rules_of_any_build(patterns: list[list[str]], selectors: list[list[str]], form: str) -> None:
    def quoted(values: list[list[str]]) -> str:
        return "[" + ", ".join("'" + "".join(value) + "'" for value in values) + "]"

    text = f"[[rule]]\ndomain = 'site.example'\nurls = {quoted(patterns)}\ntext = {quoted(selectors)}\n"
    text += f"date = {quoted(selectors)}\ndate_format = {form!r}\n"
    targets.run(targets.rules, text.encode("utf-8", "replace"))


FEED_NAMES = st.sampled_from(
    "rss channel item feed entry rdf:RDF title link guid id pubDate published updated dc:date ttl atom:link image "
    "sy:updatePeriod sy:updateFrequency feedburner:origLink description content:encoded".split()
)
FEED_ATTRIBUTES = st.sampled_from(
    ["", ' href="/a"', ' rel="hub" href="https://hub.example/"', ' rel="self" href="/f"', ' isPermaLink="false"',
     ' xml:base="/b/"', ' xmlns="http://www.w3.org/2005/Atom"', ' rdf:about=" /a "', " broken=", ' type="text/html"']
)  # fmt: skip
FEED_TEXTS = st.one_of(
    st.sampled_from(
        ["/a", " https://site.example/b ", "Fri, 03 May 2024 10:00:00 GMT", "2024-05-03", "99999-01-01T00:00:00Z",
         "0", "1e400", "-1", "daily", "hourly", "&nbsp;", "&bad;", "&", "<![CDATA[x & y]]>", "]]>", "\x00", "inf"]
    ),
    st.text(max_size=40),
)  # fmt: skip


@st.composite
def feed_markup(draw: st.DrawFn) -> str:
    """The elements of feeds, in any order, most of them closed."""
    root = draw(st.sampled_from(["rss", "feed", "rdf:RDF", "channel"]))
    pieces = [draw(st.sampled_from(["", "<?xml version='1.0'?>", "\ufeff", "<b>Warning</b>: x\n"]))]
    pieces.append(f"<{root}{draw(FEED_ATTRIBUTES)}>")
    for _ in range(draw(st.integers(0, 30))):
        name = draw(FEED_NAMES)
        pieces.append(f"<{name}{draw(FEED_ATTRIBUTES)}>{draw(FEED_TEXTS)}")
        if draw(st.integers(0, 9)):
            pieces.append(f"</{name}>")
    return "".join(pieces) + draw(st.sampled_from(["", f"</{root}>"]))


@many
@given(feed_markup(), st.integers(0, 255))
def test_feeds_of_any_build(markup: str, kind: int) -> None:
    targets.run(targets.feeds, bytes([kind]) + markup.encode("utf-8", "replace"))


JSON_FEED = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30),
        st.sampled_from(["https://jsonfeed.org/version/1", "/a", " ", "2024-05-03T10:00:00Z"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["version", "items", "hubs", "url", "id", "title", "date_published", "feed_url", "external_url"]
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=25,
)  # fmt: skip


@many
@given(st.dictionaries(st.sampled_from(["version", "items", "hubs", "feed_url", "title"]), JSON_FEED))
def test_json_feeds_of_any_build(value: object) -> None:
    import json

    text = json.dumps(value)
    targets.run(targets.feeds, b"\x02" + text.encode("utf-8", "replace"))
    targets.run(targets.feeds, b"\x02" + text.encode().replace(b"2", b"\xb3").replace(b"a", b"\xff"))


@many
@given(
    st.dictionaries(
        st.sampled_from(["hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds", "hub.reason"]),
        st.one_of(
            st.sampled_from(
                ["subscribe", "denied", "unsubscribe", targets.TOPIC, "900", "-1", "1e9", "٣٠٠", "9" * 400]
            ),
            st.text(max_size=30),
        ),
    )
)
def test_verifications_of_any_build(query: dict[str, str]) -> None:
    from urllib.parse import urlencode

    targets.run(targets.push, urlencode(query, errors="replace").encode())


@many
@given(
    st.lists(
        st.sampled_from(
            ["<", ">", ";", ",", "rel", "=", '"', "hub", "self", "\\", " ", "https://hub.example/", "/f", "anchor",
             "http://[", "sha256", "sha1=", "\n", "a"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_link_headers_of_any_build(pieces: list[str]) -> None:
    targets.run(targets.push, "".join(pieces).encode())


@many
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["/", "//", "?", "&", ";", "=", "#", ".", "..", "-", ":", "@", "http://", "https://site.example",
                 "index.html", ".php", "2024", "05", "news", "tag", "%2F", "%", "<n>", "*", "\n", "A", "é", "\x00"]
            ),
            st.text(max_size=8),
            st.integers(0, 10**12).map(str),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_addresses_of_any_build(pieces: list[str]) -> None:
    targets.run(targets.addresses, "".join(pieces).encode("utf-8", "replace"))


@pytest.mark.parametrize(
    "piece",
    [
        "<rss><channel>",
        "<item>",
        "<item><link>/a</link></item>",
        "<a:item ",
        "&amp;",
        "&x;",
        "<![CDATA[",
        "<!--",
        "{",
        "[",
    ],
)
def test_a_megabyte_of_a_feed(piece: str) -> None:
    for start in ("", "<rss><channel>", '{"version": "https://jsonfeed.org/version/1", "items": '):
        targets.run(targets.feeds, b"\x00" + (start + piece * (1_000_000 // len(piece))).encode())


@pytest.mark.parametrize("piece", ["/a", "?a", "&a=", "-", "a", "1", "/1", "%2F", "é", "\n", "//", "<"])
def test_a_long_address(piece: str) -> None:
    targets.run(targets.addresses, (piece * (20_000 // len(piece))).encode())
    targets.run(targets.push, (piece * (100_000 // len(piece))).encode())


@pytest.mark.parametrize(
    "piece",
    ["<div>", "<div class='content'>x", "<table><tr><td>", "<a href=/x>", "<p>word ", "&amp;", "<!--", "<b x=1 "],
)
def test_a_megabyte_of_one_thing(piece: str) -> None:
    targets.run(targets.pages, b"\x10" + (piece * (1_000_000 // len(piece))).encode())
