"""Compiled modules and their twins in Python give the same, to the last bit; without them everything runs."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import compiled
from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.dedup import passing, words
from gossamer.dedup.near import minhash, runs
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.text import blocks, features, forest, measures
from gossamer.parse.text.model import Rows, text_model
from gossamer.parse.text.page_type import page_shape
from gossamer.parse.text.tags import TagReader
from gossamer.scope.chain import ScopeConfig

TWINS = (blocks, measures, features, forest, words, passing, minhash, runs)
"""The modules with a compiled twin."""
built = pytest.mark.skipif(bool(compiled.refused()), reason="the compiled modules are not built, or switched off")

TAGS = """
    <div class=nav>|<div id=main class='post entry'>|</div>|<p>|</p>|<a href='#x'>|<a href=/y>|</a>|<h1>|</h1>|
    <h3 role=heading>|</h3>|<table><tr><td>|</table>|<ul><li>|<li>|</ul>|<br>|<hr>|<pre>|</pre>|<my-box hidden>|
    </my-box>|<b>|</b>|<svg><title>|</svg>|<!-- note -->|<template>|</template>|<span style='display: none'>|</span>|
    <select><option>""".replace("\n    ", "").split("|")
TEXTS = (
    *"some words here. |The river rises in the hills above the town, and turns mills. |¶|#|  |...|more…".split("|"),
    *"中文网页的正文，第一段。|한국어 문장입니다. |ภาษาไทยไม่มีช่องว่าง|$9.99 |\U0001f600 |\ud800 |e\u0301 |\ufeff٣ ".split(
        "|"
    ),
    *"1 May 2024\n|Views: 12,345\n|a\u00a0b\u200b|Ünïcödé ÇAPS ".split("|"),
    "x" * 700,
)
pieces = st.lists(st.sampled_from(TAGS) | st.sampled_from(TEXTS) | st.text(max_size=30), max_size=120)
text = st.lists(st.sampled_from([*TEXTS, "\n", " "]) | st.text(max_size=40), max_size=40).map("".join)


def both(action):
    """What an action gives with the compiled modules, and with the twins."""
    first = action()
    with pytest.MonkeyPatch.context() as patch:
        for module in TWINS:
            patch.setattr(module, "_COMPILED", None)
        words._PIECE_HASHES.clear()
        patch.setattr(passing, "_last", ("", []))
        second = action()
    words._PIECE_HASHES.clear()
    passing._last = ("", [])
    return first, second


def judged(html):
    """Everything that is known of the blocks of a page, as bytes."""
    body = Tree(html, 10_000).lean_body()
    page = blocks.read_blocks(body, TagReader({"nav": -1.5, "post": 0.7, "<p>": 0.25}), 50)
    lists = (
        page.texts, page.code, page.linked, page.links, page.targets, page.holders, page.parents, page.first, page.end,
    )  # fmt: skip
    if not page.texts:
        return lists
    counted = measures.Measures(page)
    rows = Rows(counted.count)
    scores = {"the": 0.3, "some": -0.1, "views": -0.7}
    with np.errstate(divide="ignore", invalid="ignore"):
        features.write_first(rows.first, counted, "The river rises", scores, "The river")
        verdicts = forest.sigmoid(text_model()._first.scores(rows.first))
        features.write_second(rows.second, counted, verdicts)
    named = ("chars", "words", "density", "linked", "links", "shown", "heading_levels", "facts", "looks", "look_groups")
    arrays = [np.ascontiguousarray(getattr(counted, name)).tobytes() for name in named]
    return lists, arrays, rows.first.tobytes(), rows.second.tobytes(), page_shape(counted), counted.total


@built
@settings(max_examples=150, deadline=None)
@given(pieces)
def test_any_page_has_the_same_blocks_and_the_same_numbers(parts):
    compiled_, python = both(lambda: judged(f"<body>{''.join(parts)}"))
    assert compiled_ == python


@built
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 1200), st.integers(0, 9))
def test_forests_give_the_same_for_any_number_of_blocks(count, seed):
    model = text_model()
    rows = np.random.default_rng(seed).normal(0, 3, (400, count)).astype(np.float32)
    for trees in (model._first, model._second):
        compiled_, python = both(lambda trees=trees: trees.scores(rows).tobytes())
        assert compiled_ == python
    one = rows[:, :1].copy()
    assert np.array_equal(*both(lambda: model._type.scores(one)))


@built
@settings(max_examples=200, deadline=None)
@given(text)
def test_any_text_has_the_same_words_numbered_lines_and_fingerprint(said):
    def action():
        return (
            words.word_hashes(said), passing.numbered_lines(said), passing.steady(said), passing.undated(said),
            minhash.MinHash().fingerprint(said * 3),
        )  # fmt: skip

    compiled_, python = both(action)
    assert compiled_ == python


@built
def test_a_read_page_is_the_same_in_every_field():
    menu = "".join(f'<li><a href="/section/{n}">Section {n}</a></li>' for n in range(15))
    story = "".join(f"<p>{' '.join(TEXTS)} This is paragraph {n}, and it says something new.</p>" for n in range(20))
    html = (
        f"<html lang=en><title>The river</title><body class=single><nav><ul>{menu}</ul></nav><article>"
        f"<h1>The river</h1><time datetime=2024-05-01>1 May 2024</time>{story}</article>"
        f"<aside><ul>{menu}</ul></aside></body></html>"
    )
    job = ParseJob("https://gazette.example/river", Kind.PAGE, "text/html", html.encode("utf-8", "replace"))
    config = ParserConfig(CanonicalRules(), ScopeConfig(), (), ParseLimits())
    compiled_, python = both(lambda: PageParser(config).read(job))
    assert compiled_.text.count("This is paragraph") == 20
    assert compiled_ == python


@built
def test_trees_that_ask_for_rows_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="rows"):
        text_model()._first.scores(np.zeros((3, 2), np.float32))


@built
def test_a_page_that_does_not_fit_together_is_refused():
    page = blocks.read_blocks(Tree("<p>One<p>Two", 100).lean_body(), TagReader({}), 50)
    page.holders[0] = 1_000_000
    with pytest.raises(ValueError, match="no element"):
        measures.Measures(page)


def test_a_module_built_for_other_features_does_not_run():
    names = dict(compiled._refused)
    try:
        assert compiled.twin("features", ("other", "features")) is None
        assert "features" in compiled.refused()
    finally:
        compiled._refused.clear()
        compiled._refused.update(names)


def test_the_switch_turns_all_of_them_off():
    asks = (
        "import gossamer.crawl.reading as r, gossamer.search.excerpt as e, gossamer.compiled as c;"
        "print(c.running(), sorted(c.refused()) == sorted(c.MODULES), set(c.refused().values()))"
    )
    said = subprocess.run(
        [sys.executable, "-c", asks],
        env={**os.environ, compiled.SWITCH: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[] True {'GOSSAMER_PURE is set'}"
