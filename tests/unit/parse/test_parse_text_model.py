"""The main text of pages as the web has them, by each method; never a page lost, never an exception."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.html import Tree
from gossamer.parse.text import METHODS, main_text
from gossamer.parse.text.blocks import read_blocks
from gossamer.parse.text.features import FIRST, SECOND, write_first, write_second
from gossamer.parse.text.forest import Forest
from gossamer.parse.text.measures import Measures
from gossamer.parse.text.model import Rows, chosen
from gossamer.parse.text.page_type import PAGE_TYPES, page_shape
from gossamer.parse.text.tags import TagReader

SENTENCES = (
    "The river rises in the hills above the town and turns the wheels of four mills before it reaches the sea. ",
    "In spring, when the snow melts, the lower road is closed for a week, and the children go to school by boat. ",
    "Nobody remembers who built the first bridge; the second, of stone, was paid for by a merchant in 1732. ",
)
PARAGRAPHS = [SENTENCES[n % 3] + SENTENCES[(n + 1) % 3] + f"This is paragraph {n}." for n in range(12)]
MENU = "".join(f'<li><a href="/section/{n}">Section {n}</a></li>' for n in range(15))
PAGE = f"""<!doctype html><html><head><title>The river and its mills</title>
<meta property="og:type" content="article"></head><body>
<header class="site-header"><a href="/">The Gazette</a><nav class="main-nav"><ul>{MENU}</ul></nav></header>
<main><article class="post"><h1>The river and its mills</h1><div class="entry-content">
{"".join(f"<p>{text}</p>" for text in PARAGRAPHS)}
<pre>mill = 4
bridge = 2</pre></div></article>
<aside class="sidebar"><h3>Related posts</h3><ul>{MENU}</ul></aside></main>
<div class="cookie-consent">We use cookies to improve your experience. <button>Accept all</button></div>
<footer class="site-footer"><ul>{MENU}</ul><p>© 2024 The Gazette. All rights reserved.</p></footer></body></html>"""
TAGS = ["<div class=nav>", "</div>", "<p>", "</p>", "<a href=/x>", "</a>", "<h1>", "<table><tr><td>", "<li>", "<br>"]
TEXTS = ["some words here. ", "中文网页的正文。", "$9.99 ", "\U0001f600", "&lt;b&gt;", "\ud800", "x" * 700]
URL = "https://gazette.example/2024/05/the-river-and-its-mills"


def text_of(html, method="model", limit=1_000_000):
    return main_text(Tree(html, 300_000), URL, limit, ("newsarticle",), method)


def test_the_model_finds_the_article_and_nothing_around_it():
    found = text_of(PAGE)
    assert found.method == "model"
    lines = found.text.split("\n")
    assert [line for line in lines if "paragraph" in line] == PARAGRAPHS
    assert "mill = 4" in lines
    for furniture in ("Section 3", "cookies", "rights reserved", "Related", "Gazette"):
        assert furniture not in found.text


def test_code_in_the_text_keeps_its_indentation():
    found = text_of(PAGE.replace("mill = 4\nbridge = 2", "for mill in mills:\n    turn(mill)"))
    assert "\nfor mill in mills:\n    turn(mill)" in found.text


def test_a_short_text_of_a_dense_script_is_judged_by_the_model():
    japanese = (
        "気象庁は十三日夜、宮崎県で最大震度五弱を観測した地震について、臨時の評価検討会を開いた。",
        "検討会は、巨大地震が起きる可能性が平常時より高まったとは言えないと結論づけた。",
        "同庁の担当者は記者会見で、今後一週間ほどは同じ程度の揺れに注意してほしいと話した。",
        "県によると、二人が転んで軽いけがをした。鉄道は始発から平常通り動いている。",
    )
    menu = "".join(f'<li><a href="/s/{n}">{name}</a></li>' for n, name in enumerate(("政治", "経済", "社会", "国際")))
    html = (
        f"<html><head><title>臨時の検討会</title></head><body><header><ul class=menu>{menu}</ul></header><article>"
        f"<h1>臨時の検討会</h1>{''.join(f'<p>{text}</p>' for text in japanese)}</article></body></html>"
    )
    found = text_of(html)
    assert found.method == "model"
    assert all(text in found.text for text in japanese)
    assert "経済" not in found.text


def test_the_model_tells_the_type_of_the_page():
    found = text_of(PAGE)
    assert found.page_type == "article"
    assert found.page_type in PAGE_TYPES and 0.5 < found.type_confidence <= 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_article(method):
    found = text_of(PAGE, method)
    assert found.method == method
    assert all(text in found.text for text in PARAGRAPHS)


def test_a_text_that_the_page_repeats_is_taken_once():
    found = text_of(PAGE.replace("</article>", f"<p>{PARAGRAPHS[4]}</p></article>"))
    assert found.text.count("paragraph 4") == 1


def expected_f1(probabilities, words, count):
    """Of the first so many blocks."""
    gained = [p * size for p, size in zip(probabilities, words, strict=True)]
    return 2 * sum(gained[:count]) / (sum(words[:count]) + sum(gained))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 60)), min_size=1, max_size=30))
def test_as_many_blocks_are_taken_as_make_the_expected_f1_the_highest(blocks):
    blocks.sort(reverse=True)
    probabilities, words = zip(*blocks, strict=True)
    html = "".join(f"<p>Paragraph {number}</p>" for number in range(len(blocks)))
    page = read_blocks(Tree(f"<body>{html}</body>", 1_000).body, TagReader({}), 1_000)
    kept = chosen(page, np.array(words, np.float32), np.array(probabilities, np.float32))
    assert kept == list(range(len(kept)))
    best = max(expected_f1(probabilities, words, count) for count in range(1, len(blocks) + 1))
    assert expected_f1(probabilities, words, len(kept)) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_page_that_is_nothing_but_furniture_is_not_lost(method):
    found = text_of("<nav>Only a menu here</nav>", method)
    assert "menu" in found.text


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("html", ["", "<p>&nbsp;</p>", "<frameset><frame src=x></frameset>", "<script>x</script>"])
def test_a_page_without_text_is_empty(method, html):
    found = text_of(html, method)
    assert (found.text, found.method) == ("", "empty")


def test_the_text_is_no_longer_than_allowed():
    assert len(text_of(PAGE, limit=100).text) <= 100


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="token-range"):
        text_of(PAGE, "magic")


def test_the_verdict_does_not_depend_on_pages_read_before():
    before = text_of(PAGE)
    for number in range(30):
        text_of(PAGE.replace("post", f"other-{number}").replace("river", "road"))
    assert text_of(PAGE) == before


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([*TAGS, *TEXTS]),
        max_size=60,
    ),
    st.text(max_size=20),
)
def test_any_page_gives_a_text_and_no_exception(parts, url):
    for method in METHODS:
        found = main_text(Tree("".join(parts), 300_000), url, 10_000, ("a",), method)
        assert found.method in (*METHODS, "body", "empty")
        assert "\n\n" not in found.text


def test_a_row_has_a_value_for_every_block_and_every_value_is_a_number():
    page = read_blocks(Tree(PAGE, 1000).silenced_body(), TagReader({}), 1000)
    measures = Measures(page)
    rows = Rows(measures.count)
    rows.all.fill(np.nan)
    write_first(rows.first, measures, "The river", {"the": 0.5})
    write_second(rows.second, measures, np.linspace(0, 1, measures.count, dtype=np.float32))
    rows.write_page(np.ones(len(PAGE_TYPES), np.float32), page_shape(measures))
    assert len({*FIRST, *SECOND}) == len(FIRST) + len(SECOND)
    unwritten = [name for name, row in zip((*FIRST, *SECOND), rows.all, strict=False) if not np.isfinite(row).all()]
    assert not unwritten
    assert np.isfinite(rows.all).all()


def walked(features, borders, leaves, bias, sample):
    """One sample down each tree, question by question."""
    total = np.array(bias, float)
    for tree in range(len(features)):
        number = 0
        for level in range(features.shape[1]):
            number += int(sample[features[tree, level]] > borders[tree, level]) << level
        total += leaves[tree, number]
    return total


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_forest_gives_what_a_walk_down_each_tree_gives(outputs):
    random = np.random.default_rng(5)
    arrays = {
        "f.features": random.integers(0, 8, (20, 4)).astype(np.uint16),
        "f.borders": random.normal(size=(20, 4)).astype(np.float32),
        "f.leaves": random.normal(size=(20, 16, outputs)).astype(np.float16),
        "f.bias": random.normal(size=outputs).astype(np.float32),
    }
    samples = random.normal(size=(8, 1100)).astype(np.float32)
    scores = Forest(arrays, "f").scores(samples)
    for index in (0, 1, 511, 512, 1099):
        expected = walked(*arrays.values(), samples[:, index])
        assert np.allclose(np.atleast_1d(scores[index]), expected, atol=1e-4)
