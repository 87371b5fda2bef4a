"""Markdown of a page: its stored text with the page's structure, as a CommonMark parser reads it back."""

from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from parse_kit import URL, ParseLimits, parse

from gossamer.model.url import Canonicalizer
from gossamer.parse.html import Tree
from gossamer.parse.markdown import Markdown, page_markdown, paragraphs
from gossamer.parse.markdown.alignment import aligned, found_in
from gossamer.parse.markdown.layout import line_key, read_layout
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.parse.text.furniture import text_without_furniture
from gossamer.parse.text.measures import Measures
from gossamer.parse.text.model import PageFacts, chosen, text_model

PARSER = MarkdownIt("commonmark").enable("table")
LIMITS = ParseLimits()


def made(html: str, text: str | None = None) -> Markdown:
    """The Markdown of a page whose whole text is its main text, unless another one is given."""
    if text is None:
        text = text_without_furniture(Tree(html, LIMITS.max_tags))
    return page_markdown(html, text, URL, Canonicalizer(), LIMITS)


def markdown(html: str, text: str | None = None) -> str:
    found = made(html, text)
    assert found.is_structured
    return found.text


def tokens(html: str, kind: str) -> list[Token]:
    return [token for token in read(markdown(html)) if token.type == kind]


def read(text: str) -> list[Token]:
    """Every token of a Markdown text, those within a line included; none of them is HTML."""
    found = [part for token in PARSER.parse(text) for part in (token, *(token.children or ()))]
    assert not [token for token in found if token.type.startswith("html")]
    return found


def table(html: str) -> list[list[str]]:
    """The cells of the only table, row by row, the header first."""
    rows: list[list[str]] = []
    for token in PARSER.parse(markdown(html)):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and token.level > 2:
            rows[-1].append(token.content)
    assert tokens(html, "table_open")
    return rows


def test_headings_keep_their_level_and_lose_the_signs_behind_them() -> None:
    html = """<h1>Title<a class="headerlink" href="#t">¶</a></h1><p>Text.</p>
        <h3><a class="anchor" href="#x">#</a>Part</h3><p>More.</p>
        <h2><a class="heading-link" id="own">Named</a></h2><p>End.</p><h4>Last <a href="#l">§</a></h4>
        <p>Words.</p><h2>Wiki<span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2><p>Done.</p>"""
    headings = [line for line in markdown(html).split("\n") if line.startswith("#")]
    assert headings == ["# Title", "### Part", "## Named", "#### Last", "## Wiki"]


def test_lists_are_nested_and_numbered_as_on_the_page() -> None:
    html = "<ol start=3><li>three<li>four<ul><li>inner<li>other</ul><li>five</ol><p>end</p>"
    found = read(markdown(html))
    assert [token.attrs.get("start") for token in found if token.type == "ordered_list_open"] == [3]
    assert [t.info for t in found if t.type == "list_item_open" and t.markup == "."] == ["3", "4", "5"]
    assert len([t for t in found if t.type == "bullet_list_open"]) == 1
    assert len([t for t in found if t.type == "list_item_open"]) == 5


def test_an_item_holds_paragraphs_and_code() -> None:
    html = "<ul><li><p>one</p><p>two</p><pre>x\n  y</pre></li><li>three</li></ul>"
    found = read(markdown(html))
    assert [t.content for t in found if t.type == "fence"] == ["x\n  y\n"]
    assert [t.content for t in found if t.type == "inline"] == ["one", "two", "three"]
    assert len([t for t in found if t.type == "list_item_open"]) == 2


def test_a_table_keeps_its_header_its_empty_cells_and_its_pipes() -> None:
    html = """<table><thead><tr><th>name<th>value<th>note</thead>
        <tr><td>a|b<td><code>x | y</code><td><tr><td><td>2<td>two<br>lines</table>"""
    rows = table(html)
    assert rows[0] == ["name", "value", "note"]
    assert rows[1][0] == "a|b"
    assert rows[1][2] == ""
    assert rows[2][:2] == ["", "2"]
    assert "`x | y`" in rows[1][1]
    assert len(rows) == 3


def test_a_table_without_a_header_row_gets_an_empty_one() -> None:
    assert table("<table><tr><td>1<td>2<tr><td>3<td>4</table>") == [["", ""], ["1", "2"], ["3", "4"]]
    assert table("<table><tr><th>a<td>2<tr><th>b<td>4</table>") == [["", ""], ["a", "2"], ["b", "4"]]


def test_a_first_row_in_bold_is_a_header() -> None:
    html = "<table><tr><td><b>Name</b><td><p><strong>Size </strong></p><tr><td>a<td>1</table>"
    assert table(html) == [["Name", "Size"], ["a", "1"]]


def test_cells_that_span_others_are_followed_by_empty_ones() -> None:
    html = """<table><tr><th colspan=2>wide<th>c<tr><td rowspan=2>high<td>1<td>2<tr><td>3<td>4
        <tr><td>short</table>"""
    assert table(html) == [["wide", "", "c"], ["high", "1", "2"], ["", "3", "4"], ["short", "", ""]]


def test_blocks_in_a_cell_become_one_line_and_a_caption_a_paragraph() -> None:
    html = "<table><caption>Sizes</caption><tr><th>a<th>b<tr><td><p>one<p>two<td><ul><li>x<li>y</ul></table>"
    assert table(html)[1][0] == "one two"
    assert markdown(html).startswith("Sizes\n\n|")


def test_a_table_that_arranges_a_page_is_none() -> None:
    html = "<table><tr><td><h2>Left</h2><p>words</p></td><td><p>right</p></td></tr><tr><td>a<td>b</table>"
    text = markdown(html)
    assert "|" not in text
    assert text.startswith("## Left\n\nwords\n\nright")
    assert "|" not in markdown("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>")


def test_code_keeps_its_indentation_and_its_empty_lines() -> None:
    code = "def f():\n\n    if x:\n\treturn `y`  \n\n\n# end\n```\n"
    blocks = tokens(f"<p>Look:</p><pre>\n{code}</pre>", "fence")
    assert [block.content for block in blocks] == [code]


def test_empty_elements_leave_no_empty_paragraphs() -> None:
    html = "<content>\n <content>\n <p>one</p></content></content><pre>a\n\n\n\nb</pre><content> <p>two</p></content>"
    assert markdown(html) == "one\n\n```\na\n\n\n\nb\n```\n\ntwo"


def test_the_language_of_code_is_found_where_highlighters_name_it() -> None:
    forms = {
        '<pre><code class="language-python">x</code></pre>': "python",
        '<pre class="lang-c++"><code>x</code></pre>': "c++",
        '<div class="highlight-cmake notranslate"><div class="highlight"><pre>x</pre></div></div>': "cmake",
        '<div class="highlight highlight-source-rust"><pre>x</pre></div>': "rust",
        '<pre><code data-lang="go">x</code></pre>': "go",
        '<pre class="brush: java; gutter: false">x</pre>': "java",
        '<pre class="sourceCode haskell"><code class="sourceCode haskell">x</code></pre>': "haskell",
        '<div class="highlight-default notranslate"><div class="highlight"><pre>x</pre></div></div>': "",
        '<div class="highlight"><pre class="chroma"><code>x</code></pre></div>': "",
        '<pre class="hljs language-lua">x</pre>': "lua",
        '<pre class="hljs ruby">x</pre>': "ruby",
        "<pre>x</pre>": "",
    }
    found = {html: tokens(f"<p>Code:</p>{html}", "fence")[0].info for html in forms}
    assert found == forms


def test_line_numbers_and_copy_buttons_are_no_code() -> None:
    sphinx = """<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>
        <td class="code"><div class="highlight"><pre>a\n  b\n</pre></div></td></tr></table>"""
    inline = '<pre><button>Copy</button><span class="linenos">1</span>a\n<span class="linenos">2</span>  b\n</pre>'
    chroma = """<table class="lntable"><tr><td class="lntd"><pre><code><span class="lnt">1\n</span><span class="lnt">2
</span></code></pre></td><td class="lntd"><pre><code>a\n  b\n</code></pre></td></tr></table>"""
    rows = """<table><tr><td class="blob-num" data-line-number=1></td><td class="blob-code">a</td></tr>
        <tr><td class="blob-num" data-line-number=2></td><td class="blob-code">  b</td></tr></table>"""
    for html in (sphinx, inline, chroma, rows):
        assert [block.content for block in tokens(f"<p>Code:</p>{html}", "fence")] == ["a\n  b\n"], html
        assert "|" not in markdown(f"<p>Code:</p>{html}")


def test_quotations_are_nested() -> None:
    html = "<blockquote><p>outer</p><blockquote>inner</blockquote></blockquote><p>end</p>"
    assert markdown(html) == "> outer\n>\n> > inner\n\nend"


def test_links_and_pictures_have_canonical_urls() -> None:
    html = """<base href="https://site.example/base/"><p>See <a href="../a?utm_source=x#part">this</a>,
        <a href="#below">below</a>, <a href="mailto:a@b.example">us</a> and <a href="/empty"></a>
        <img src="data:image/png;base64,x" data-src="/p.png" alt="A [picture]"> here.</p>"""
    text = markdown(html)
    assert "[this](https://site.example/a)" in text
    assert "below, us and" in text
    assert "empty" not in text
    assert "![A \\[picture\\]](https://site.example/p.png)" in text


def test_pictures_that_count_visits_or_repeat_are_left_out() -> None:
    html = """<p>one</p><img src="/pixel.gif" width=1 height=1><img src="/a.png"><noscript><img src="/a.png"></noscript>
        <p>two</p>"""
    assert markdown(html) == "one\n\n![](https://site.example/a.png)\n\ntwo"


def test_a_link_around_boxes_moves_into_its_heading() -> None:
    html = '<a href="/x"><div><h3>Head</h3><p>Words of it.</p></div></a><p>end</p>'
    assert markdown(html) == "### [Head](https://site.example/x)\n\nWords of it.\n\nend"


def test_emphasis_is_read_back_as_such_or_left_out() -> None:
    html = """<p><b>bold</b> and <i>light</i>, <b><i>both</i></b>, <b>Note:</b>text, in<em>side</em>word,
        <b>“quoted”</b> <strong> spaced </strong>end, a<b>(b)</b>c, <i>a</i><b>b</b> 2 * 3 * 4 **no**</p>
        <h2><b>Head</b></h2><p>end</p>"""
    text = markdown(html)
    found = read(text)
    emphasised = [b.content for a, b in pairwise(found) if a.type in ("strong_open", "em_open")]
    assert [one for one in emphasised if one] == ["bold", "light", "both", "side", "“quoted”", "spaced", "a"]
    assert "Note:text" in text
    assert "a(b)c" in text
    assert "## Head" in text
    assert PARSER.render(text).count("*") == 6


def test_empty_lines_part_paragraphs_and_nothing_in_them_becomes_a_mark() -> None:
    html = "<p><br>one<br>two<br><br>- three<br> <br><br>4. four<br><br># five</p><ul><li>a<br><br>b</ul>"
    found = PARSER.parse(markdown(html))
    paragraphs = [token.content for token in found if token.type == "inline"]
    assert paragraphs == ["one  \ntwo", "\\- three", "4\\. four", "\\# five", "a", "b"]
    assert len([token for token in found if token.type == "list_item_open"]) == 1


def test_what_looks_like_markdown_stays_text() -> None:
    html = "<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p><p>[e](f) `g` &lt;h&gt; &amp;amp; \\ i</p><p>===</p>"
    assert PARSER.render(markdown(html)).replace("\n", "") == html


def test_only_the_stored_text_is_shown() -> None:
    html = """<div>Menu</div><h2>Head</h2><p>The first words.</p><aside>Advertising</aside><p>The last <b>words</b>.</p>
        <div><h2>Related</h2><p>Other things</p></div>"""
    assert markdown(html, "The first words.\nThe last words.") == ("## Head\n\nThe first words.\n\nThe last **words**.")


def test_a_line_that_stands_twice_is_shown_where_its_text_is() -> None:
    html = "<div>Home</div><div>News</div><p>Text one.</p><p>News</p><p>Text two.</p><div>News</div>"
    assert markdown(html, "Text one.\nNews\nText two.") == "Text one.\n\nNews\n\nText two."


def test_rows_and_code_whose_text_is_kept_once_are_complete() -> None:
    repeated = "a text that is longer than twenty"
    html = f"""<p>Before the table.</p><table><tr><th>k<th>v<tr><td>1<td>{repeated}<tr><td>2<td>{repeated}</table>
        <p>And the code:</p><div><pre>{repeated}</pre></div>"""
    text = f"Before the table.\nk\nv\n1\n{repeated}\n2\nAnd the code:"
    found = markdown(html, text)
    assert found.count(f"| {repeated} |") == 2
    assert f"```\n{repeated}\n```" in found


def test_a_text_that_is_not_on_the_page_becomes_paragraphs() -> None:
    found = made("<div id=app>Please enable scripts</div>", "# The *text*\n1. that a script drew")
    assert found == Markdown("\\# The \\*text\\*\n\n1\\. that a script drew", is_structured=False)
    assert [t.content for t in read(found.text) if t.type == "text"] == ["# The *text*", "1. that a script drew"]
    assert paragraphs("") == ""


def test_a_page_without_structure_or_text_gives_what_it_has() -> None:
    assert made("", "").text == ""
    assert made("<frameset><frame src=x></frameset>", "words").text == "words"
    assert made("<p>" + "<div>" * 5_000 + "deep words", "deep words").text == "deep words"


def test_signs_of_ours_on_a_page_mean_nothing() -> None:
    assert markdown("<p>a\ufdd0b\ufdd1c\ufdd4d</p>") == "abcd"


def test_runs_are_the_blocks_of_the_model() -> None:
    html = """<main><h1>Title</h1><p>One <a href=/x>link</a><br>two</p><ul><li>a<p>b</p>c<li>d</ul><hr>tail
        <table><tr><td>x<td>y</table><pre>p\nq</pre><span>s<div>t</div>u</span><my-box>v</my-box><button>w</button></main>"""
    blocks = text_model().read(Tree(html, LIMITS.max_tags).silenced_body()).texts
    layout = read_layout(Tree(html, LIMITS.max_tags).silenced_body())
    assert [run.lines for run in layout.runs if run.lines] == [[line_key(x) for x in b.split("\n")] for b in blocks]


def test_the_runs_found_are_those_that_the_model_chose() -> None:
    story = "".join(
        f"<p>Paragraph {n} of a story with enough words, and a comma, to be believed. Reply.</p>" for n in range(30)
    )
    html = f"""<ul><li><a href=/>Home</a><li><a href=/a>About</a></ul>
        <article><h1>A story</h1>{story}<p>Home</p></article>
        <div class=sidebar><a href=/b>Home</a><a href=/c>Related stories that nobody asked for</a></div>"""
    model = text_model()
    page = model.read(Tree(html, LIMITS.max_tags).silenced_body())
    measures = Measures(page)
    probabilities, _ = model.probabilities(measures, PageFacts(url=URL))
    numbers = chosen(page, measures.words, probabilities)
    layout = read_layout(Tree(html, LIMITS.max_tags).silenced_body())
    wanted = [line_key(line) for number in numbers for line in page.texts[number].split("\n")]
    taken, share = found_in(layout, wanted)
    assert [number for number, is_taken in enumerate(taken) if is_taken] == numbers
    assert share == 1


def test_lines_joined_or_divided_by_another_reading_are_found() -> None:
    html = "<p>menu</p><p>one two <my-note>three four</my-note> five six seven</p><p>other</p>"
    layout = read_layout(Tree(html, LIMITS.max_tags).silenced_body())
    taken, _ = found_in(layout, [line_key("one two three four five six seven")])
    assert taken == [False, True, True, True, False]


def test_lines_are_aligned_in_order() -> None:
    assert aligned(["a", "x", "b"], ["x", "a", "x", "y", "b", "x"]) == [1, 2, 4]
    assert aligned(["x", "a"], ["x", "y", "x", "a"]) == [2, 3]
    assert aligned(["a", "gone", "b"], ["a", "b"]) == [0, -1, 1]
    assert aligned([], ["a"]) == []


def test_a_parsed_page_gives_the_markdown_of_its_text() -> None:
    story = "".join(f"<p>Paragraph {n} has <b>words</b> that people read, and more.</p>" for n in range(20))
    code = "<h2>Code</h2><pre>a\n  b</pre>"
    html = f"<nav><a href=/>Home</a></nav><article><h1>Story</h1>{story}{code}</article><footer>Us</footer>"
    found = markdown(html, parse(html).text)
    assert found.count("**words**") == 20
    assert found.endswith("## Code\n\n```\na\n  b\n```")
    assert "Home" not in found
    assert "Us" not in found


def test_a_document_rule_decides_what_is_shown() -> None:
    rule = DocumentRule("site.example", ("/dir/{any}",), "stories", text=("#story",), remove=(".note",))
    html = """<p>Words before that nobody wants.</p><div id=story><h2>Head</h2><p>The <i>story</i>.</p>
        <p class=note>A note.</p><ul><li>one<li>two</ul></div><p>Words behind.</p>"""
    page = parse(html, rules=RuleBook([rule]))
    assert page.method == "rule stories"
    assert markdown(html, page.text) == "## Head\n\nThe *story*.\n\n- one\n- two"


def test_a_table_of_data_inside_one_that_arranges_the_page_stays_a_table() -> None:
    """Sites of the years before style sheets stand in a table as a whole."""
    inside = "<table><tr><th>Name</th><th>Ending</th></tr><tr><td>Text</td><td>odt</td></tr></table>"
    html = f"<table><tr><td><h2>Types</h2>{inside}</td></tr><tr><td>After the table.</td></tr></table>"
    assert table(html) == [["Name", "Ending"], ["Text", "odt"]]
    assert markdown(html).startswith("## Types\n") and markdown(html).endswith("After the table.")


PHOTOS = "".join(
    f'<li><img src="/{n}.jpg" alt="photo {n}"><p>The kite number {n} flies high.</p><p>Rate it</p></li>'
    for n in range(3)
)


def test_each_picture_in_a_list_stays_in_its_item_though_text_between_two_items_is_left_out() -> None:
    text = "\n".join(f"The kite number {n} flies high." for n in range(3))
    html = f'<p>Menu</p><img src="/logo.jpg"><p>Search</p><ul>{PHOTOS}</ul>'
    found = [token.attrs["src"] for token in read(markdown(html, text)) if token.type == "image"]
    assert [source.rpartition("/")[2] for source in found] == ["0.jpg", "1.jpg", "2.jpg"]


BELOW = "<p>By Ann</p><p>15 September 2015</p><p>The kite flies high above the hill.</p><h2>Terms</h2><p>Buy it.</p>"


def headings(html: str, title: str, text: str = "The kite flies high above the hill.") -> list[str]:
    lines = page_markdown(html, text, URL, Canonicalizer(), LIMITS, title).text.split("\n")
    return [line for line in lines if line.startswith("#")]


def test_the_heading_that_says_the_title_stands_above_the_text_and_no_other_does() -> None:
    assert headings(f"<h1>Kite weekly</h1><h1>A kite!</h1>{BELOW}", "A kite") == ["# A kite!"]
    assert headings(f"<h1>Kite weekly</h1><h2>A kite</h2>{BELOW}", "A kite") == ["## A kite"]
    assert headings(f"<h1>Review: a large kite</h1>{BELOW}", "A large kite") == ["# Review: a large kite"]
    assert headings(f"<h1>Kite weekly</h1>{BELOW}", "A large kite") == []
    assert headings(f"<h1>A kite</h1>{BELOW}", "") == []
    assert headings(f"{BELOW}<h1>A kite</h1>", "A kite") == [], "below the text"


def test_a_title_that_the_text_has_already_is_not_repeated() -> None:
    html = "<h1>A large kite</h1><p>Menu</p><h1>A large kite</h1><p>The kite flies high above the hill.</p>"
    assert headings(html, "A large kite") == ["# A large kite"]


def test_a_term_stands_above_its_description() -> None:
    html = "<dl><dt>fly(height)</dt><dd><p>Let the kite fly as high as that.</p></dd><dt>land()</dt><dd>Stop.</dd></dl>"
    found = markdown(f"<p>Menu</p>{html}", "Let the kite fly as high as that.")
    assert found == "fly(height)\n\nLet the kite fly as high as that."


def test_gatsby_names_the_language_of_code() -> None:
    assert "```jsx\n" in markdown('<p>Text.</p><pre class="gatsby-code-jsx"><code>let a = 1</code></pre>')
