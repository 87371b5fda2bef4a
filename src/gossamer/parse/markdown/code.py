"""Code: its lines as they are, without numbers and buttons, and its language.

Highlighters put code into a `<pre>`, and some each line of it into the row of a table. They name the language in a
class or an attribute of the `<pre>`, of the `<code>` inside, or of a box around.
"""

from __future__ import annotations

import re

from gossamer.parse.html import Element, Text, detach

_NUMBERS = (
    "td.linenos,td.lineno,td.gutter,td.hljs-ln-numbers,td.blob-num,td.line-numbers,td.rouge-gutter,.linenodiv,"
    "pre .linenos,pre .lineno,pre .linenumber,pre .line-number,pre .line-numbers,pre .line-numbers-rows,pre .ln,"
    "pre .lnt,pre .gutter,pre button,pre .copy,pre .copybtn,pre .copy-button,pre .clipboard-copy"
)
"""Columns of line numbers, and buttons to copy the code."""
_LINES = "td.blob-code,td.hljs-ln-code,td.react-code-cell,.syntaxhighlighter td.code div.line"
"""Lines of code, each in an element of its own."""
_NAMED = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight|gatsby-code)-|(?:brush:|sourceCode|hljs)\s+(?!lang))([\w+#.-]+)"
)
_NO_LANGUAGES = frozenset("default none text plain plaintext notranslate nohighlight linenos line numbers".split())
_ATTRIBUTES = ("data-lang", "data-language", "data-enlighter-language")
_NAME = re.compile(r"[a-z0-9][a-z0-9+#.-]{0,30}")
_LEVELS = 3
"""Boxes around a `<pre>` that may name its language."""
_CLASS_CHARS = 300


def tidy_code(body: Element) -> None:
    """Leave nothing but code in code blocks, and name its language in a way that Markdown's writer knows."""
    for table in {table for line in body.select(_LINES) if (table := line.closest("table")) is not None}:
        lines = "\n".join([line.text.strip("\n") for line in table.select(_LINES)])
        table.replace_with(Element("pre", {"class": table.attr("class") or ""}, [Text(lines)]))
    detach(body.select(_NUMBERS))
    for block in body.select("pre"):
        if not block.text.strip():
            block.extract()
            continue
        language = _language(block)
        for element in (block, *block.select("code")):
            element.attrs.pop("class", None)
        if language:
            block.attrs["class"] = f"language-{language}"
    for code in body.select("code + code"):
        if isinstance(code.previous_sibling, Element):  # their marks would touch
            code.insert_before(Text(" "))


def _language(block: Element) -> str:
    inside, around = block.select_one("code"), block
    elements = [block] if inside is None else [inside, block]
    while len(elements) < _LEVELS + 1 and isinstance(around.parent, Element):
        around = around.parent
        elements.append(around)
    for element in elements:
        names: list[str | None] = [element.attr(name) for name in _ATTRIBUTES] + _NAMED.findall(
            (element.attr("class") or "")[:_CLASS_CHARS]
        )
        for name in names:
            if name and (known := name.strip().lower()) not in _NO_LANGUAGES and _NAME.fullmatch(known):
                return known
    return ""
