"""The links of a page: where to, with which words, and may they be followed.

Two passes would cost twice, so there is one, and it does as little as possible for
links that are not wanted: page-internal and `javascript:`-like references are
dropped by their first characters, and each distinct reference is resolved once.

Nested anchors let a page make us read the same text again for every link, so the
characters read for anchor texts are budgeted; links beyond the budget have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gossamer.model.records import Link
from gossamer.model.url import Base, Canonicalizer
from gossamer.parse.clean import clean_line
from gossamer.parse.html import Element, Tree

ANCHOR_CHARS = 200
"""Longest anchor text kept."""
MAX_REFERENCE = 4096
"""Longest reference resolved; what is longer is data or a trap."""
_ANCHOR_BUDGET = 1_000_000
"""Characters read for all anchor texts of a page."""
_WRITTEN = re.compile(r"\bhttps?://[^\s<>\"'`{}|\\^\[\]]{3,2000}", re.IGNORECASE)
_AFTER = ".,;:!?*_~…，。；：！？、）」》"
"""Signs that end a sentence or emphasis, and no URL."""
_TEMPLATE = ("{", "[", "\\", "^", "|")
"""What follows the beginning of a URL that is a pattern: `https://a.example/{id}`."""
_OTHER_SCHEMES = ("javascript:", "mailto:", "tel:", "data:", "about:", "blob:", "sms:", "callto:", "skype:")


class ReferenceMemory:
    """What references meant on other pages of the same folder, for as long as there is room.

    Nine of ten links of a page stood on the page before, and relative to the same
    folder they lead to the same place. 800 pages of a blog with 250 links each take as long with room for 40,000
    references as with room for 200,000, and a third less memory.
    """

    def __init__(self, capacity: int = 40_000) -> None:
        self._capacity = capacity
        self._folders: dict[str, dict[str, str]] = {}
        self._size = 0
        self._last: dict[str, str] = {}
        self._last_size = 0

    def of(self, base: Base) -> dict[str, str]:
        """Reference → canonical URL, for a base's folder."""
        self._size += len(self._last) - self._last_size
        if self._size > self._capacity:
            self._folders, self._size = {}, 0
        folder = f"{base.scheme}://{base.host_str}:{base.port}{base.path.rpartition('/')[0]}"
        self._last = self._folders.setdefault(folder, {})
        self._last_size = len(self._last)
        return self._last


class Resolver:
    """Canonical URLs for the references of one page, each worked out once."""

    def __init__(self, canonicalizer: Canonicalizer, base: Base, memory: ReferenceMemory | None = None) -> None:
        self._canonicalizer = canonicalizer
        self._base = base
        self._known = memory.of(base) if memory is not None else {}

    def __call__(self, reference: str | None) -> str:
        """The canonical URL, or `""` where the reference leads to no http(s) page."""
        if not reference or len(reference) > MAX_REFERENCE:
            return ""
        url = self._known.get(reference)
        if url is None:
            url = self._resolve(reference)
            if reference[0] not in "?#":  # these are relative to the page, not to its folder
                self._known[reference] = url
        return url

    def _resolve(self, reference: str) -> str:
        if reference[0] == "#" or reference[:11].lower().startswith(_OTHER_SCHEMES):
            return ""
        found = self._canonicalizer.resolve(self._base, reference)
        return found if isinstance(found, str) else ""


def collect_links(tree: Tree, resolve: Resolver, max_links: int) -> list[Link]:
    """The links of a page in document order, at most `max_links`."""
    links: list[Link] = []
    budget = _ANCHOR_BUDGET
    for element in tree.all("a", "area", "iframe", "frame"):
        tag = element.tag
        url = resolve(element.attr("href" if tag in ("a", "area") else "src"))
        if not url:
            continue
        anchor = ""
        if tag == "a" and budget > 0:
            text = element.text
            budget -= len(text)
            anchor = clean_line(text, ANCHOR_CHARS) or _image_text(element)
        elif tag == "area":
            anchor = clean_line(element.attr("alt") or "", ANCHOR_CHARS)
        links.append(Link(url, anchor, rel_words(element), tag))
        if len(links) >= max_links:
            break
    return links


def written_links(text: str, most: int) -> list[Link]:
    """The URLs that a text without markup writes out, as they are written, each once."""
    found: dict[str, Link] = {}
    for match in _WRITTEN.finditer(text):
        if len(found) >= most:
            break
        url = match[0].rstrip(_AFTER)
        while url.endswith(")") and url.count("(") < url.count(")"):
            url = url[:-1].rstrip(_AFTER)
        if text[match.end() : match.end() + 1] not in _TEMPLATE:
            found.setdefault(url, Link(url))
    return list(found.values())


def followable(links: Iterable[Link], own_url: str) -> list[str]:
    """The targets that may be followed, each once, in order, without the page itself."""
    targets = dict.fromkeys(link.url for link in links if not link.rel or "nofollow" not in link.rel.split())
    targets.pop(own_url, None)
    return list(targets)


def rel_words(element: Element) -> str:
    """The words of `rel`, lower case, one space between."""
    rel = element.attr("rel")
    return clean_line(rel, 100).lower() if rel else ""


def _image_text(element: Element) -> str:
    image = element.select_one("img[alt]")
    return clean_line(image.attr("alt") or "", ANCHOR_CHARS) if image is not None else ""
