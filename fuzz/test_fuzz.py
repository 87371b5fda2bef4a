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


@pytest.mark.parametrize(
    "piece",
    ["<div>", "<div class='content'>x", "<table><tr><td>", "<a href=/x>", "<p>word ", "&amp;", "<!--", "<b x=1 "],
)
def test_a_megabyte_of_one_thing(piece: str) -> None:
    targets.run(targets.pages, b"\x10" + (piece * (1_000_000 // len(piece))).encode())
