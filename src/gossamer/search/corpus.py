"""The numbers of all documents that scores rest on, whoever holds the documents.

How rare a word is, which languages pages are written in, how long a page is on the average: a query is built and
scored by such numbers. On one machine they are those of its index. A shard has a part of the documents only, and
its own numbers would make its scores incomparable with those of the others; so each shard tells its numbers
(`Summary`, `Frequencies`), the front end adds them up (`Whole`), and shards build and score by the sums:

- the library weighs a word by its frequency *here*; `boost` corrects that to its frequency everywhere, exactly;
- it compares a page's length with the average *here*; `lengths.py` corrects that for the best hits.

With one shard the sums are its own numbers, and nothing is corrected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from gossamer.index.analysis import Languages
from gossamer.index.stemmers import script_of_language
from gossamer.model.fields import CustomFields

_LANGUAGES = 6
"""Languages of one script that a query's words are stemmed in."""
_MIN_SHARE = 0.01
"""Share of the pages in this script that a language must have for that."""

Place = tuple[str, str]
"""A field and a term of it."""
Frequencies = dict[str, dict[str, int]]
"""Field → term → pages that have it."""


class Corpus(Protocol):
    """All documents, as numbers."""

    @property
    def documents(self) -> int:
        """Pages."""
        ...

    @property
    def languages(self) -> Languages:
        """The languages that words of a query may be in, and how their words were analysed."""
        ...

    def pages(self, field: str, term: str) -> int:
        """How many pages have a term."""
        ...

    def boost(self, field: str, terms: Sequence[str]) -> float:
        """What the library's weight of a term, or of a phrase of several, is to be multiplied by."""
        ...


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a shard says of all its documents."""

    documents: int
    written: int
    """Documents with those that are deleted and still counted by the library."""
    languages: dict[str, int]
    tokens: dict[str, float]
    """Field → how many words it has in all documents together."""
    has_copies: bool
    """Whether any page is a near copy of another."""
    extras: tuple[str, ...] = ()
    """The analysers that its words went through and that it has now."""
    segments: int = 0
    position: int = 0
    committed_at: float = 0.0
    generation: str = ""
    fields: CustomFields = ()
    """The operator's own fields."""


class Whole(msgspec.Struct, frozen=True):
    """The numbers of all shards together."""

    documents: int
    written: int
    languages: Languages
    lengths: dict[str, float]
    """Field → words in it on the average."""
    has_copies: bool
    frequencies: Frequencies
    fields: CustomFields = ()
    """The operator's own, by what any shard says; their slots are each shard's own."""

    def pages(self, field: str, term: str) -> int:
        """How many pages have a term that was asked for."""
        return self.frequencies.get(field, {}).get(term, 0)


def whole_of(summaries: Sequence[Summary], frequencies: Iterable[Frequencies]) -> Whole:
    """The sums of what shards tell."""
    written = sum(one.written for one in summaries)
    tokens: Any = Counter()  # its type knows whole numbers only, but fractions add up as well
    languages: Counter[str] = Counter()
    for one in summaries:
        tokens.update(one.tokens)
        languages.update(one.languages)
    documents = sum(one.documents for one in summaries)
    return Whole(
        documents=documents,
        written=written,
        languages=usual_languages(languages, documents, {name for one in summaries for name in one.extras}),
        lengths={field: count / max(written, 1) for field, count in tokens.items()},
        has_copies=any(one.has_copies for one in summaries),
        frequencies=added(frequencies),
        fields=fields_of(summaries),
    )


def fields_of(summaries: Iterable[Summary]) -> CustomFields:
    """The operator's own fields that any shard has."""
    return tuple({field.name: field for one in summaries for field in reversed(one.fields)}.values())[::-1]


def added(several: Iterable[Frequencies]) -> Frequencies:
    """Frequencies of the same terms in several places, added up."""
    total: Frequencies = {}
    for frequencies in several:
        for field, counts in frequencies.items():
            sums = total.setdefault(field, {})
            for term, count in counts.items():
                sums[term] = sums.get(term, 0) + count
    return total


def usual_languages(counted: Mapping[str, int], documents: int, extras: Iterable[str] = ()) -> Languages:
    """The languages that a part of the pages in their script has, most frequent first, and an empty one for pages
    whose language nobody knows; English where there is none."""
    scripts: Counter[str] = Counter()
    for lang, count in counted.items():
        scripts[script_of_language(lang)] += count
    taken: Counter[str] = Counter()
    codes = []
    for lang, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
        script = script_of_language(lang)
        if count >= _MIN_SHARE * scripts[script] and taken[script] < _LANGUAGES:
            taken[script] += 1
            codes.append(lang)
    if codes and documents > sum(counted.values()):
        codes.append("")
    return Languages(tuple(codes) or ("en",), tuple(sorted(extras)))


def narrowed(languages: Languages, chosen: Iterable[str]) -> Languages:
    """Of the languages of all pages those that a query chose, if it chose any."""
    codes = tuple(chosen)
    return msgspec.structs.replace(languages, codes=codes) if codes else languages


def rarity(pages: int, written: int) -> float:
    """The weight that BM25, as the library has it, gives to a term that so many of all documents have."""
    return math.log(1 + (written - pages + 0.5) / (pages + 0.5))


class SharedCorpus:
    """The numbers of all shards, and how those of one of them compare."""

    def __init__(self, own: Corpus, written: int, whole: Whole) -> None:
        self._own, self._written, self._whole = own, written, whole

    @property
    def documents(self) -> int:
        """Pages of all shards."""
        return self._whole.documents

    @property
    def languages(self) -> Languages:
        """The languages of all shards."""
        return self._whole.languages

    def pages(self, field: str, term: str) -> int:
        """How many pages of all shards have a term; what nobody counted is taken to be spread evenly."""
        counted = self._whole.frequencies.get(field, {}).get(term)
        if counted is None:
            counted = round(self._own.pages(field, term) * self._whole.written / max(self._written, 1))
        return counted

    def boost(self, field: str, terms: Sequence[str]) -> float:
        """The weight of the terms among all documents, divided by their weight here."""
        here = sum(rarity(self._own.pages(field, term), self._written) for term in terms)
        everywhere = sum(rarity(self.pages(field, term), self._whole.written) for term in terms)
        return everywhere / here if here > 0 else 1.0
