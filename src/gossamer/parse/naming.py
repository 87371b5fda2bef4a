"""A title for documents that have none of their own: plain text, most PDFs."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from gossamer.parse.clean import clean_line
from gossamer.parse.document_types import endings

TITLE_CHARS = 300
_LONGEST = 120
"""Characters of a first line that may be a title; what is longer is a paragraph."""
_MARKUP = re.compile(r"^(?:[#=*>~_/;-]+\s+)+|\s+[#=*~_-]+$")
"""The signs of plain text formats around a heading."""
_LOOKED_AT = 5
"""Lines."""
_MADE_UP = re.compile(
    r"(?:untitled|document|title|microsoft word|powerpoint presentation|presentation|slide)?[\s\d._-]*"
    rf"|.*\.(?:{'|'.join(endings())}|doc|dvi|tex|indd|qxd|ppt|xls|ps|eps|fm|pub)",
    re.I,
)
"""Titles that a program wrote into a file: its own name, a number, the name of the file."""


def is_made_up(title: str) -> bool:
    """Whether nobody gave a document this title."""
    return _MADE_UP.fullmatch(title) is not None


def title_of(text: str, url: str) -> str:
    """The first line that reads like a title, else the name of the file."""
    for line in text[:4_000].split("\n", _LOOKED_AT)[:_LOOKED_AT]:
        title = _MARKUP.sub("", clean_line(line, TITLE_CHARS)).strip()
        if not any(map(str.isalpha, title)):
            continue  # a rule of dashes, a date, a page number
        if len(title) > _LONGEST:
            break
        return title
    return file_name(url)


def file_name(url: str) -> str:
    """The last part of a URL's path as a person would write it; the host where there is none."""
    parts = urlsplit(url)
    return clean_line(unquote(parts.path.rstrip("/").rpartition("/")[2]), TITLE_CHARS) or parts.netloc
