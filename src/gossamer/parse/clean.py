"""Text without characters that break records, logs or searches.

Removed: control characters (C0 but newline and tab, C1), zero-width characters,
direction controls, byte-order marks, soft hyphens, non-characters. U+2028 and
U+2029 become newlines; every other white space becomes a plain space. Lone
surrogates become U+FFFD, so that each string can be written as UTF-8.
Joiners (U+200C, U+200D) stay between letters of scripts that need them (Persian,
the languages of India) and inside emoji.

Nearly all text needs nothing of this, so the rule is: ask `str.isprintable`,
which is a quick C loop, and do the work only where it says no.
"""

from __future__ import annotations

import re

_SPACES = re.compile("[\t\x1f\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_BREAKS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_REMOVED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile("(?<![\u0600-\U0010ffff])[\u200c\u200d]|[\u200c\u200d](?![\u0600-\U0010ffff])")


def clean_text(text: str) -> str:
    """Several lines: each without outer and double spaces, none empty."""
    text = _printable(text)
    while "  " in text:
        text = text.replace("  ", " ")
    if "\n" not in text:
        return text.strip()
    return "\n".join([line for line in map(str.strip, text.split("\n")) if line])


def clean_code(text: str) -> str:
    """Several lines: each with the spaces it has but those at its end, none empty."""
    return "\n".join([line for line in map(str.rstrip, _printable(text).split("\n")) if line])


def clean_line(text: str, limit: int) -> str:
    """One line of at most `limit` characters, white space collapsed."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip(" ")  # nearly all texts of links
    if len(text) > 8 * limit:  # a megabyte in a title is not worth a megabyte of work
        text = text[: 8 * limit]
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(_printable(text).split())
    return text if len(text) <= limit else text[:limit].rstrip()


def _printable(text: str) -> str:
    if text.replace("\n", "").isprintable():
        return text
    # the usual suspects one by one: a search for one character is 20 times faster than for a class
    text = text.replace("\xa0", " ").replace("\t", " ").replace("\u3000", " ").replace("\u200b", "").replace("\xad", "")
    if text.replace("\n", "").isprintable():
        return text
    text = _REMOVED.sub("", _BREAKS.sub("\n", _SPACES.sub(" ", text)))
    if "\u200c" in text or "\u200d" in text:
        text = _JOINERS.sub("", text)
    return _SURROGATES.sub("\ufffd", text)
