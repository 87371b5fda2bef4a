"""Markdown files: CommonMark with tables, and what stands before the text (front matter).

markdown-it-py makes HTML of it, which `rich` brings anyway. It takes longer than anything else that is read here, so
only the first 500,000 characters of a file are read as Markdown, and the rest as plain text.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from typing import Any

from markdown_it import MarkdownIt

from gossamer.model.records import ParseJob
from gossamer.model.site import host_of, site_of
from gossamer.parse.charset import decode
from gossamer.parse.documents.html_part import add_html
from gossamer.parse.documents.limits import Budget
from gossamer.parse.documents.properties import day
from gossamer.parse.documents.writer import Properties, Writer

_READ = 500_000
"""Characters that are read as Markdown."""
_FRONT = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_ATTRIBUTES = re.compile(r"^(#{1,6} [^\n{]{0,500})\{[#.:][^{}\n]{0,200}\}[ \t]{0,20}$", re.M)
"""What some dialects write behind a heading."""
_NOTE = re.compile(r"^( {0,3}\[\^[^\]\n]{1,100}\]):", re.M)
_FIELD = re.compile(r"^([A-Za-z][\w-]{0,40})[ \t]*:[ \t]*(.*?)[ \t]*$", re.M)
_NAMES = {
    "title": ("title",),
    "author": ("author", "authors"),
    "description": ("description", "summary", "abstract"),
    "language": ("lang", "language"),
    "published": ("date", "published"),
    "updated": ("updated", "lastmod", "modified", "last_modified"),
}
_DAYS = ("published", "updated")
_LONGEST = 1_000
_COMMONMARK = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a Markdown file."""
    limits = writer.limits
    decoded = decode(job.body[: limits.max_bytes], job.content_type, host_of(site_of(job.url)).rpartition(".")[2])
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    writer.charset = decoded.charset
    front = _FRONT.match(text)
    if front is not None:
        _take_front(front[1], front[2], writer.properties)
        text = text[front.end() :]
    end = len(text) if len(text) <= _READ else text.rfind("\n", 0, _READ) + 1 or _READ
    add_html(_COMMONMARK.render(_plain(text[:end])), writer, limits, is_beside=True)
    if rest := text[end:]:
        writer.add_page(f"<pre>{escape(rest, quote=False)}</pre>", rest)
    if not writer.properties.title and writer.headings:
        writer.title = writer.headings[0]


def _plain(text: str) -> str:
    """Without what CommonMark would misread: attributes of headings, and notes, which it takes for places of links."""
    return _NOTE.sub(r"\1\\:", _ATTRIBUTES.sub(r"\1", text))


def _take_front(fence: str, front: str, properties: Properties) -> None:
    fields = _toml(front) if fence == "+++" else {name.lower(): value for name, value in _FIELD.findall(front)}
    for field, names in _NAMES.items():
        value = next((_said(fields[name]) for name in names if name in fields), "")
        setattr(properties, field, day(value) if field in _DAYS else value)
    properties.is_dated = True


def _toml(front: str) -> dict[str, Any]:
    try:
        return {name.lower(): value for name, value in tomllib.loads(front).items()}
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _said(value: Any) -> str:
    """A value as text: without quotes, the first of a list."""
    text = str(value[0] if isinstance(value, list) and value else value)[:_LONGEST].strip()
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1].partition(",")[0].strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return "" if text in ("|", ">", "{}", "[]", "null", "~") else text
