"""The names of a page: what somebody types who wants exactly this page.

Its title and its heading are its names. So is, less surely, a part of them (`list.append` in `list.append — Built-in
types`), what is left without a number or a word for its kind (`QString Class`, `3.2. Sorting`), and the last part of
its address (`struct.Vec.html`). A name is kept as a number made from its words, so that a query is compared with the
names of all pages by looking up one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from gossamer.index.analysis import encodable, surface_words
from gossamer.model.site import key64
from gossamer.parse.document_types import endings

_MOST = 40
"""Words of a name; a longer title is no name that anybody types."""
_KINDS = frozenset(
    "class struct structure function method module package enum enumeration interface trait type typedef header macro "
    "union namespace property constant variable command program utility library unit template reference page manual "
    "documentation docs api klasse funktion modul paket handbuch класс функция модуль пакет метод команда".split()
)
_NUMBER = re.compile(r"\s*(?:(?:chapter|section|appendix|part|annex|глава|раздел|kapitel)\s+)?(?:\d+|[A-Z](?=[.\d]))"
                     r"(?:\.\d+)*[.:)]*\s+", re.IGNORECASE)  # fmt: skip
_SEPARATOR = re.compile(r"\s+[-–—|·:»/<>]+\s+|[:–—|]\s+|\s+(?:in|of|for)\s+(?=\S+::)|\s*[(\[<{]")
_BREAK = re.compile(r"\s+[-–—|·»:]+\s+|:\s+")
_ENDING = re.compile(rf"\.(?:{'|'.join(endings())}|php\d?|aspx?|jsp)$", re.IGNORECASE)
_INDEX = frozenset(("index", "default", "readme", "home"))


def number_of(name: str) -> int:
    """The number of a name; 0 for what is none."""
    words = surface_words(encodable(name))
    return key64("\n".join(words)) if 0 < len(words) <= _MOST else 0


@lru_cache(maxsize=2_000)
def numbers_asked(text: str) -> tuple[int, ...]:
    """The numbers of the names that a query may be; kept, since a search asks several times."""
    return tuple(_numbers((text, _without_kind(text), *titles_in(text))))


def titles_in(text: str) -> list[str]:
    """What a query may name that was copied with the name of its site: `Sorting - Manual`, `Manual | Sorting`."""
    breaks = [found.span() for found in _BREAK.finditer(text)]
    return [text[: breaks[-1][0]], text[breaks[0][1] :]] if breaks else []


def names(title: str, headings: Sequence[str], url: str) -> tuple[list[int], list[int]]:
    """The numbers of the names of a page, and of what is a name of it less surely."""
    own = _numbers((title, *headings[:1]))
    parts = [part for text in (title, *headings[:1]) for part in _parts(text)]
    return own, [number for number in _numbers([*parts, *_of_address(url)]) if number not in own]


def _numbers(texts: Sequence[str]) -> list[int]:
    return [number for number in dict.fromkeys(number_of(text) for text in dict.fromkeys(texts)) if number]


def _parts(text: str) -> Iterator[str]:
    plain = _NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text
    yield plain
    first, *_ = pieces = _SEPARATOR.split(plain)
    for piece in {plain: None, first: None, pieces[-1]: None}:
        yield piece
        yield _without_kind(piece)


def _without_kind(text: str) -> str:
    """A text without the words for a kind of thing at its start and end; the whole text if there is nothing else."""
    words = text.split()
    start, end = 0, len(words)
    while start < end and words[start].lower().strip(".,:") in _KINDS:
        start += 1
    while end > start and words[end - 1].lower().strip(".,:") in _KINDS:
        end -= 1
    return " ".join(words[start:end])


def _of_address(url: str) -> Iterator[str]:
    path = unquote(urlsplit(url).path).rstrip("/")
    name = _ENDING.sub("", path.rpartition("/")[2])
    if name.lower() in _INDEX:
        name = path.rpartition("/")[0].rpartition("/")[2]
    yield name
    kind, dot, rest = name.partition(".")
    if dot and (kind.lower() in _KINDS or kind.lower() == "fn"):
        yield rest
