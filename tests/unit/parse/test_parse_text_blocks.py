"""A page as blocks: what is one block, what lies in which element, what a tag says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html import Tree
from gossamer.parse.text import tags as tags_module
from gossamer.parse.text.blocks import read_blocks
from gossamer.parse.text.measures import Measures
from gossamer.parse.text.tags import FACTS, TagReader

LIMIT = 1000


def blocks(html, scores=None, limit=LIMIT):
    return read_blocks(Tree(html, 100_000).silenced_body(), TagReader(scores or {}), limit)


def has(page, block, fact):
    return bool(int(Measures(page).facts[page.holders[block]]) >> FACTS.index(fact) & 1)


def test_borders_of_block_elements_cut_and_inline_elements_do_not():
    page = blocks("a<b>b</b> c<p>d<span>e</span><div>f</div>g<hr>h<li>i<table><tr><td>j<td>k</table><x-box>l</x-box>m")
    assert page.texts == ["ab c", "de", "f", "g", "h", "i", "j", "k", "l", "m"]


def test_line_breaks_and_lines_of_code_stay_and_other_white_space_collapses():
    page = blocks("<p>a\n  b<br>c&nbsp; d<br><br></p><pre>x = 1\n\n  y</pre>")
    assert page.texts == ["a b\nc d", "x = 1\ny"]


def test_code_keeps_its_indentation_beside_the_collapsed_text_that_is_judged():
    page = blocks("<p>a  b</p><pre>def f():\n\tif x:\n\n        return  1   \n</pre><pre>  y<br>    z</pre>")
    assert page.texts == ["a b", "def f():\nif x:\nreturn 1", "y\nz"]
    assert page.code == {1: "def f():\n    if x:\n        return  1", 2: "  y\n    z"}


def test_the_sign_of_a_link_to_a_heading_is_no_text():
    page = blocks(
        '<h2>Install<a class=headerlink href="#install">¶</a></h2><h3><a href="/x#y"> <span>#</span> </a>Use</h3>'
        '<p>Issue <a href="/issues/4">#</a>4, C<a href="#c">#c</a></p><p><a href="#top">§</a></p>'
    )
    assert page.texts == ["Install", "Use", "Issue #4, C#c"]
    assert (page.links, page.linked) == ([0, 0, 2], [0, 0, 3])


def test_references_are_resolved_once():
    assert blocks("<p>1 &lt; 2 &amp;&amp; 3 &gt; 2, written &amp;lt;</p>").texts == ["1 < 2 && 3 > 2, written &lt;"]


def test_links_side_by_side_are_separate_words_and_counted():
    page = blocks("<p>See <a href=x>one</a><a href=y>two</a></p>")
    assert page.texts == ["See one two"]
    assert (page.links, page.linked) == ([2], [6])


def test_what_is_never_text_is_no_block():
    html = (
        "<script>a<b</script><style>p>a</style><!-- c > d --><xmp>e<f</xmp><iframe><p>g</iframe><svg><text>h</svg><p>i"
    )
    assert blocks(html).texts == ["i"]


def test_an_element_holds_the_range_of_its_blocks():
    page = blocks("<p>0</p><article><h1>1</h1><div><p>2</p><p>3</p></div></article><p>4</p>")
    ranges = {tag.name: (first, end) for tag, first, end in zip(page.tags, page.first, page.end, strict=True)}
    assert (ranges["body"], ranges["article"], ranges["div"]) == ((0, 5), (1, 4), (2, 4))


def test_blocks_know_the_facts_of_all_elements_around_them():
    page = blocks('<nav><ul><li>0</ul></nav><div style="display: none"><p>1</div><section role=main><p>2</section>')
    assert [has(page, n, "nav") for n in range(3)] == [True, False, False]
    assert [has(page, n, "hidden") for n in range(3)] == [False, True, False]
    assert [has(page, n, "role=main") for n in range(3)] == [False, False, True]


def test_words_of_class_and_id_are_weighed():
    scores = {"entry-content": 0.5, "sidebar": -0.4, "menu": -0.2}
    page = blocks('<div class="entry-content x"><p>0</div><div id=leftSidebar class=menu><p>1</div>', scores)
    measures = Measures(page)
    assert measures.lows[page.holders].tolist() == [0, -0.4]
    assert np.allclose(measures.sums[page.holders], [0.5, -0.6])


def test_blocks_beyond_the_limit_are_left_out():
    page = blocks("<p>x" * 50, limit=20)
    assert len(page.texts) == 20
    assert max(page.end) == 20


@given(
    st.lists(st.sampled_from(["<div>", "</div>", "<p>", "</p>", "<a href=x>", "</a>", "<br>", "w ", "<li>", "&lt;"]))
)
def test_every_page_gives_consistent_ranges_and_loses_no_word(parts):
    html = "".join(parts)
    page = blocks(html)
    assert "".join(page.texts).count("w") == html.count("w ")
    assert all(0 <= first <= end <= len(page.texts) for first, end in zip(page.first, page.end, strict=True))
    for block, holder in enumerate(page.holders):
        assert page.first[holder] <= block < page.end[holder]
    for node in range(1, len(page.tags)):
        parent = page.parents[node]
        assert parent < node
        assert page.first[parent] <= page.first[node] <= page.end[node] <= page.end[parent]


def test_words_are_counted_about_as_a_reader_would():
    latin, chinese = blocks("<p>five words in this block"), blocks("<p>这是一个很短的句子。")
    assert Measures(latin).words[0] == 5
    assert 4 <= Measures(chinese).words[0] <= 8
    thai, korean = blocks("<p>แม่น้ำไหลผ่านเมืองเล็กๆ"), blocks("<p>강은 작은 마을을 지나 바다로 흐른다")
    assert 4 <= Measures(thai).words[0] <= 8
    assert Measures(korean).words[0] == 6


def test_sizes_are_what_a_text_says_whatever_its_script():
    said = {
        "en": "The river rises in the hills above the town and turns the wheels of four mills.",
        "zh": "河流发源于小镇上方的山丘，推动四座磨坊的水轮。",
        "ja": "川は町の上の丘から流れ出し、四つの水車を回している。",
        "ko": "강은 마을 위 언덕에서 시작되어 네 개의 물레방아를 돌린다.",
    }
    sizes = {language: Measures(blocks(f"<p>{text}")).total for language, text in said.items()}
    assert all(0.6 * sizes["en"] < size < 1.4 * sizes["en"] for size in sizes.values()), sizes


def test_the_share_of_links_is_the_same_in_every_script():
    assert Measures(blocks("<p>川は町<a href=x>の上の</a>")).density[0] == 0.5


NESTED = [
    "<div class=menu>",
    "<section>",
    "<article hidden>",
    "</div>",
    "</section>",
    "</article>",
    "<p>w",
    "<x-y id=box>",
]


@given(st.lists(st.sampled_from(NESTED), max_size=80))
def test_what_elements_say_together_is_what_a_walk_up_to_the_body_finds(parts):
    page = blocks("".join(parts) + "<p>w", {"menu": -0.25, "box": 0.5, "<section>": 0.125, "<body>": -0.0625})
    measures, tags = Measures(page), list(page.tags)
    paths = []
    for node in range(len(tags)):
        path = [node]
        while path[-1]:
            path.append(page.parents[path[-1]])
        paths.append(path)
    holding = [node for node in range(len(tags)) if page.end[node] > page.first[node]]
    for node in holding:
        around = [tags[above] for above in paths[node]]
        assert measures.depths[node] == len(around) - 1
        assert measures.sums[node] == sum(tag.score for tag in around)
        assert measures.lows[node] == min(tag.low for tag in around)
        assert int(measures.facts[node]) == np.bitwise_or.reduce([tag.bits for tag in around])
    looks = [tuple(tags[above].look for above in path[:-1]) for path in paths]
    assert len(set(measures.looks.tolist())) == len(set(looks))
    pairs = [(page.parents[node], tags[node].look) for node in range(len(tags))]
    assert measures.twins.tolist() == [pairs.count(pair) for pair in pairs]


def test_deep_nesting_is_followed_to_the_body():
    page = blocks("<div>" * 300 + "x", {"<div>": 0.5})
    measures = Measures(page)
    assert (measures.depths[300], measures.sums[300]) == (300, 150)


def test_forgetting_names_does_not_change_what_they_say(monkeypatch):
    html = "".join(f'<div class="menu n{n}"><p>{n}</p></div>' for n in range(30))
    scores = {"menu": -0.5, "n3": 0.25}
    expected = blocks(html, scores).tags.scores
    monkeypatch.setattr(tags_module, "_REMEMBERED", 10)
    reader = TagReader(scores)
    for _ in range(3):
        page = read_blocks(Tree(html, 1000).silenced_body(), reader, LIMIT)
        assert np.array_equal(page.tags.scores, expected)
    assert len(reader) <= len(page.tags)
