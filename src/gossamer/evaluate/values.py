"""What a collection with judgements consists of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gossamer.parse.language import detect_language


class Doc(msgspec.Struct, frozen=True):
    """One document of a collection."""

    id: str
    title: str
    text: str
    lang: str = ""
    """ISO 639-1; empty where it is not known."""


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """Documents, queries, and which document answers which query how well."""

    name: str
    documents: Sequence[Doc] = ()
    """Each id once; none where the judgements are about URLs of the web."""
    queries: dict[str, str]
    """Id → text, in the order of the source."""
    judgements: dict[str, dict[str, int]]
    """Query → document → grade; above 0 is relevant, more is better."""


def document(ident: str, title: str, text: str, lang: str = "") -> Doc:
    """A document whose language is told from its text where the source does not say it, as for a crawled page."""
    return Doc(ident, title, text, lang or detect_language(text or title))


def each_once(documents: Iterable[Doc]) -> list[Doc]:
    """The documents without those whose id was there before."""
    known: dict[str, Doc] = {}
    for one in documents:
        known.setdefault(one.id, one)
    return list(known.values())


def one_line(text: str) -> str:
    """Text whose lines were broken for a punched card."""
    return " ".join(text.split())
