"""Sentences on pages: everything comes out as it was written, and what stands between `backquotes` as code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`]+)`")
_SPECIAL = re.compile(r"[\\`*_\[\]<|~$]|&(?=#?\w+;)")
_BEGINNING = re.compile(r"(?:\d+(?=[.)](?:\s|$))|(?=[-+=](?:[-=\s]|$))|(?=[#>]))")
"""Where a line would begin as a list, a rule, a heading or a quotation: before the mark that says so."""
_PERCENT = re.compile(r"(?<=\d) ?%(?!\w)")
"""Written with a space before it, however a sentence came by it."""


def in_markdown(text: str) -> str:
    """One line of Markdown, also within a table."""
    line = "".join(
        f"`{piece}`".replace("|", r"\|") if code else _SPECIAL.sub(r"\\\g<0>", _PERCENT.sub(" %", piece))
        for piece, code in _pieces(" ".join(text.split()))
    )
    begun = _BEGINNING.match(line)
    return line if begun is None else f"{begun[0]}\\{line[begun.end() :]}"


def in_html(text: str) -> Markup:
    """The same for a browser; a figure stays on one line with its percent sign."""
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if code else escape(_PERCENT.sub("\u00a0%", piece))
        for piece, code in _pieces(text)
    )


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Stretches of a text, each with whether it is code."""
    for place, piece in enumerate(_CODE.split(text)):
        if piece:
            yield piece, place % 2 == 1
