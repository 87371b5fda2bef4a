"""Redirects that a page leaves to a script, as far as they can be told without running it.

A wrong redirect loses a page, a missed one costs a nearly empty document, so this is
conservative: the page shows next to no text, the statement stands at the top of a script,
under no condition and in no function, and the target is one literal string. Statements that
name different targets, wherever they stand, mean that something is decided: then there is no
redirect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Text

from gossamer.parse.html import Element, Tree

MAX_TEXT = 250
"""Visible characters up to which a page is empty: a sentence and a link, should the script not run."""
MAX_LINKS = 10
MAX_DELAY = 10_000
"""Longest `setTimeout` in milliseconds with which it is a redirect; as for a meta refresh."""
_MAX_SCRIPTS = 12
_MAX_CHARS = 8_000
"""Longest script read; what is longer does more than to redirect."""
_MAX_NODES = 3_000
_SCRIPT_TYPES = frozenset(("", "text/javascript", "application/javascript", "module", "text/ecmascript"))
_UNSEEN = frozenset(("script", "style", "noscript", "template", "title"))

_STRING = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
_PLACE = r"(?:(?:window|self|top|parent|document|globalThis|this)\s{0,9}\.\s{0,9}){0,3}location"
_GO = (
    rf"{_PLACE}(?:(?:\s{{0,9}}\.\s{{0,9}}href)?\s{{0,9}}=\s{{0,9}}{_STRING}"
    rf"|\s{{0,9}}\.\s{{0,9}}(?:replace|assign)\s{{0,9}}\(\s{{0,99}}{_STRING}\s{{0,99}}\))"
)
_REDIRECT = re.compile(_GO)
_TIMER = re.compile(
    r"(?:window\s{0,9}\.\s{0,9})?setTimeout\s{0,9}\(\s{0,99}"
    rf"(?:function\s{{0,9}}\w{{0,40}}\s{{0,9}}\(\s{{0,9}}\)\s{{0,99}}\{{\s{{0,99}}(?P<body>{_GO})\s{{0,99}};?\s{{0,99}}\}}"
    rf"|\(\s{{0,9}}\)\s{{0,9}}=>\s{{0,99}}\{{?\s{{0,99}}(?P<arrow>{_GO})\s{{0,99}};?\s{{0,99}}\}}?"
    rf"|(?P<code>{_STRING}))\s{{0,99}}(?:,\s{{0,99}}(?P<delay>\d{{1,6}})\s{{0,99}})?\)"
)
_QUOTED = re.compile(_STRING)
_ANY_GO = re.compile(
    rf"\blocation(?:\s{{0,9}}\.\s{{0,9}}(?:href|replace|assign))?\s{{0,9}}[=(]\s{{0,99}}(?!=)({_STRING})?"
)
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/|<!--[^\n]*|^\s{{0,99}}-->[^\n]*", re.S | re.M)
_TOKEN = re.compile(rf"{_STRING}|[^\"'(){{}}\[\];\n]+|.", re.S)
_COMPOUND = re.compile(r"(?:if|else|for|while|do|switch|function|async|try|catch|finally|with|class|return|case)\b")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))", re.S)


def script_target(tree: Tree) -> str:
    """The reference to which a script of a nearly empty page redirects; `""` where none surely does."""
    scripts = tree.select("script")
    if not scripts or len(scripts) > _MAX_SCRIPTS or len(tree.select("a")) > MAX_LINKS or not _is_empty(tree):
        return ""
    found: set[str] = set()
    said: set[str] = set()
    for script in scripts:
        if (script.attr("type") or "").strip().lower() not in _SCRIPT_TYPES or script.attr("src") is not None:
            continue
        code = script.text
        if "location" not in code:
            continue
        if len(code) > _MAX_CHARS:
            return ""
        code = _COMMENT.sub(lambda match: match[1] or " ", code)
        found.update(_targets(code))
        said.update(_literal(match[1] or "") for match in _ANY_GO.finditer(code))
    return found.pop() if len(found) == 1 and said == found else ""


def _is_empty(tree: Tree) -> bool:
    """Whether the page shows next to no text; stops reading as soon as it is clear that it does."""
    body = tree.body
    if body is None:
        return False
    seen = 0
    for count, node in enumerate(body.descendants):
        if isinstance(node, Text):
            parent = node.parent
            if not (isinstance(parent, Element) and parent.tag in _UNSEEN):
                seen += len(node.data.strip())
        if seen > MAX_TEXT or count > _MAX_NODES:
            return False
    return True


def _targets(code: str) -> Iterator[str]:
    for statement in _statements(code):
        if _REDIRECT.fullmatch(statement):
            yield _last_string(statement)
        elif (timer := _TIMER.fullmatch(statement)) and int(timer["delay"] or 0) <= MAX_DELAY:
            inner = timer["body"] or timer["arrow"] or _literal(timer["code"]).strip().rstrip(";").strip()
            if _REDIRECT.fullmatch(inner):
                yield _last_string(inner)


def _statements(code: str) -> Iterator[str]:
    """The statements at the top of a script, without the semicolon; blocks and calls stay whole."""
    depth = 0
    parts: list[str] = []
    for match in _TOKEN.finditer(code):
        token = match[0]
        depth += (token in ("{", "(", "[")) - (token in ("}", ")", "]"))
        if depth < 0:
            return
        if depth == 0 and token in (";", "\n", "}"):
            parts.append(token if token == "}" else "")
            statement = "".join(parts).strip()
            # without a semicolon a line may go on: a condition's does
            if token == "\n" and _COMPOUND.match(statement):
                parts.append("\n")
                continue
            yield statement
            parts = []
        else:
            parts.append(token)
    yield "".join(parts).strip()


def _last_string(statement: str) -> str:
    return _literal(_QUOTED.findall(statement)[-1])


def _literal(text: str) -> str:
    """What a string literal stands for."""
    return _ESCAPE.sub(_unescaped, text[1:-1]) if len(text) > 1 and text[0] in "\"'" else ""


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else match[3]
