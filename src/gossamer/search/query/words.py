"""A query's terms cut into units: what a page should have, and how the index spells it.

A unit is a word, or a dictionary word of a run written without spaces. It lists the
clauses that find it — (field, index term, weight) — and how an excerpt finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gossamer.index import analysis, schema
from gossamer.search.matching import Needle

_RUNS = re.compile(f"{analysis.PAIRED_RUN.pattern}|[^{analysis.PAIRED_RUN.pattern[1:-2]}]+")
_STEM_FIELDS = (schema.TITLE_STEMS, schema.BODY_STEMS, schema.HEADINGS, schema.ANCHORS)
_SURFACE_FIELDS = (schema.TITLE, schema.BODY, schema.ADDRESS)


class Clause(msgspec.Struct, frozen=True):
    """An index term in a field, and what it weighs."""

    field: str
    term: str
    weight: float

    @property
    def place(self) -> tuple[str, str]:
        """Field and term."""
        return self.field, self.term


class Unit(msgspec.Struct, frozen=True):
    """One word of a query."""

    text: str
    """As typed, lower case."""
    clauses: tuple[Clause, ...]
    needle: Needle
    optional: bool = False
    """It only helps the order: a single character, or a pair across two words."""


def units(text: str, languages: Sequence[str], weights: Mapping[str, float]) -> Iterator[Unit]:
    """The units of a term of a query."""
    for run in _RUNS.findall(text.lower()):
        if analysis.is_spaceless(run):
            yield from _spaceless_units(run, weights)
        else:
            for word in analysis.surface_words(run):
                yield _word_unit(word, languages, weights)


def _word_unit(word: str, languages: Sequence[str], weights: Mapping[str, float]) -> Unit:
    stems = analysis.query_stems(word, languages)
    clauses = [Clause(field, word, weights.get(field, 0.0)) for field in _SURFACE_FIELDS]
    clauses += [Clause(field, stem, weights.get(field, 0.0)) for field in _STEM_FIELDS for stem in stems]
    return Unit(word, tuple(clause for clause in clauses if clause.weight), needle_of(word, stems, languages))


def needle_of(word: str, stems: Sequence[str], languages: Sequence[str]) -> Needle:
    """How an excerpt finds a word in all its forms."""
    shared = shared_start(word, stems)
    known = frozenset(stems)

    def is_form(other: str) -> bool:
        plain = analysis.fold(other)
        return plain == word or any(analysis.stem_of(other, lang) in known for lang in languages or ("en",))

    if len(shared) > 2 and shared[-1] in "iy":  # `cities` and `city` share `cit`
        shared = shared[:-1]
    return Needle(prefix=shared or word, word=word, forms=is_form)


def shared_start(word: str, stems: Sequence[str]) -> str:
    """The longest start that a word shares with all of its stems."""
    size = min(len(word), *map(len, stems)) if stems else len(word)
    while not all(stem[:size] == word[:size] for stem in stems):
        size -= 1
    return word[:size]


def _spaceless_units(run: str, weights: Mapping[str, float]) -> Iterator[Unit]:
    if len(run) <= 2:
        yield _spaceless_unit(run, [run], weights)
        return
    start = 0
    for word in analysis.dictionary_words(run):
        end = start + len(word)
        if len(word) == 1:
            around = [run[at : at + 2] for at in (start - 1, start) if 0 <= at < len(run) - 1]
            yield _spaceless_unit(word, around, weights, optional=True)
        else:
            yield _spaceless_unit(word, [word] if len(word) > 2 else [], weights, pairs=True)
            if end < len(run):
                yield _spaceless_unit(run[end - 1 : end + 1], [run[end - 1 : end + 1]], weights, optional=True)
        start = end


def _spaceless_unit(
    word: str, terms: Sequence[str], weights: Mapping[str, float], pairs: bool = False, optional: bool = False
) -> Unit:
    if pairs:
        terms = [*terms, *(word[at : at + 2] for at in range(len(word) - 1))]
    clauses = [Clause(field, term, weights.get(field, 0.0)) for field in _STEM_FIELDS for term in dict.fromkeys(terms)]
    if len(word) == 1:
        clauses += [Clause(field, word, weights.get(field, 0.0)) for field in (schema.TITLE, schema.BODY)]
    needle = Needle(prefix=word, word=word, forms=lambda _: True, inside=True)
    return Unit(word, tuple(clause for clause in clauses if clause.weight), needle, optional)
