"""The hash of a page whose text is too short to compare: by title, links and all that it shows.

"Please log in" and nothing at all are the same everywhere, so a short text alone says nothing about whether two *pages*
are the same (`dedup.exact`). But of a thousand stubs or framesets of one site with the same bytes, one is enough.

The hash has three parts, `page-TEXT-MARKUP`:

- The mark keeps it apart from hashes of texts. It counts within one site only, because any two hosts may have the same
  stub, and it is no sign that two sites are mirrors.
- TEXT is the hash of title and text. It alone tells whether the page has changed (`has_changed`): a token in the
  markup, new at every request, is no change.
- MARKUP is the hash of the page's visible lines and of all addresses and descriptions in its tags, as they are written.
  Two pages with equal bytes always have equal hashes, even if relative links lead to different places: those are
  followed from both. Comments, passing lines (`dedup.passing`), white space, looks (`class`, `style`) and tokens
  do not count.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from gossamer.dedup.passing import steady
from gossamer.model.url import SESSIONS

MARK = "page-"
_LOOKED_AT = 64 * 1024
"""Characters of a page that are taken apart; what follows counts as it stands."""

# Every repetition ends at a character that it cannot take: these run on strangers' text.
_SESSION = "|".join(re.escape(name).replace(r"\*", r"\w*") for name in (*SESSIONS, "sid", "rnd", "rand", "nocache"))
_TOKENS = re.compile(
    r"<input\b[^<>]*\btype\s*=\s*[\"']?hidden[^<>]*>|<meta\b[^<>]*\b(?:csrf|token|nonce|expires)[^<>]*>"
    rf"|[?&;](?:{_SESSION})=[^&\"'\s<>#;]*",
    re.IGNORECASE,
)
"""What is new at every request: hidden fields, session ids, numbers against caches."""
_REFERENCE = re.compile(
    r"[\s\"'](?:href|src|srcset|data|action|background|poster|code|alt|title|content|value)\s*=\s*"
    r"(\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+)",
    re.IGNORECASE,
)
_INLINE = re.compile(r"</?(?:a|b|big|code|em|font|i|small|span|strong|sub|sup|time|tt|u|var)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.IGNORECASE)
_NUMBERS = re.compile(r"\b(?:[0-9a-f]{16,}|\d{10,})\b", re.IGNORECASE)
"""Times and random numbers in scripts."""


def page_hash(title: str, text: str, body: bytes, charset: str = "", is_html: bool = True) -> str:
    """The hash of a page with a short text, or none. A body that is no HTML counts byte by byte, without the title that
    its URL may have given it."""
    said = f"{' '.join(title.split()) if is_html else ''}\n{' '.join(steady(text).split())}"
    shown = _shown(body, charset) if is_html else body
    return f"{MARK}{_digest(said.encode('utf-8', 'replace'), 8)}-{_digest(shown, 16)}"


def is_page_hash(content_hash: str) -> bool:
    """Whether a hash is of a page with hardly any text, not of a text."""
    return content_hash.startswith(MARK)


def has_changed(before: str, now: str) -> bool:
    """Whether a document's text changed, by its hashes; `before` is `""` where nothing is known."""
    if is_page_hash(now):
        return bool(before) and _said(before) != _said(now)
    return before != now


def _said(content_hash: str) -> str:
    return content_hash.rpartition("-")[0] or content_hash


def _shown(body: bytes, charset: str) -> bytes:
    """What counts of a page, in a form that does not change by itself."""
    try:
        html = body[:_LOOKED_AT].decode(charset or "utf-8", "replace")
    except LookupError:
        html = body[:_LOOKED_AT].decode("utf-8", "replace")
    html = _TOKENS.sub("", _without_comments(html))
    references = _REFERENCE.findall(html)
    text = _NUMBERS.sub("", _TAG.sub("\n", _INLINE.sub("", html)))
    lines = (" ".join(line.split()) for line in steady(text).split("\n"))
    parts = ["\n".join(filter(None, lines)), *(reference.strip("\"'") for reference in references)]
    return "\0".join(parts).encode("utf-8", "replace") + body[_LOOKED_AT:]


def _without_comments(html: str) -> str:
    """No pattern: one would look for the end of each of a million comments that have none."""
    kept, at = [], 0
    while (start := html.find("<!--", at)) >= 0 and (end := html.find("-->", start + 4)) >= 0:
        kept.append(html[at:start])
        at = end + 3
    return "".join((*kept, html[at:]))


def _digest(data: bytes, size: int) -> str:
    return blake2b(data, digest_size=size).hexdigest()
