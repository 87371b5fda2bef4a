"""A query's terms cut into units: what a page should have, and how the index spells it.

A unit is a word, or a dictionary word of a run written without spaces. It lists the
clauses that find it — (field, index term, weight) — and how an excerpt finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from gossamer.index import analysis, schema, spaceless
from gossamer.index.analysis import Languages
from gossamer.index.spelling import respelled_in_place, script_of, syllables
from gossamer.search.matching import Needle

_RUNS = re.compile(f"{analysis.PAIRED_RUN.pattern}|[^{analysis.PAIRED_RUN.pattern[1:-2]}]+")
_NASAL = re.compile("[\u0901\u0902]|[ङञणनम]\u094d")
"""A nasal before a consonant in Devanagari: `analysis` makes one spelling of them, texts have all."""
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


def units(text: str, languages: Languages, weights: Mapping[str, float]) -> Iterator[Unit]:
    """The units of a term of a query."""
    for run in _RUNS.findall(text.lower()):
        if analysis.is_spaceless(run):
            yield from _spaceless_units(run, languages, weights)
        else:
            of_fields = tuple(weights.items())
            for word in analysis.words(run):
                yield from _word_units(word, languages, of_fields)


@lru_cache(maxsize=5_000)
def _word_units(typed: str, languages: Languages, of_fields: tuple[tuple[str, float], ...]) -> tuple[Unit, ...]:
    """The units of a word; kept, since a search looks at its words several times. `of_fields`: their weights."""
    weights = dict(of_fields)
    found: list[Unit] = []
    for written in analysis.surface_words(typed):
        found += [_word_unit(typed, written, languages, weights), *_part_units(typed, languages, weights)]
    return tuple(found)


def _word_unit(typed: str, written: str, languages: Languages, weights: Mapping[str, float]) -> Unit:
    """`written`: the word as the index has it in texts, `typed`: with the accents, which stemmers need."""
    stems = analysis.query_stems(typed, languages)
    clauses = [Clause(field, written, weights.get(field, 0.0)) for field in _SURFACE_FIELDS]
    clauses += [Clause(field, stem, weights.get(field, 0.0)) for field in _STEM_FIELDS for stem in stems]
    return Unit(written, tuple(clause for clause in clauses if clause.weight), needle_of(typed, stems, languages))


def _part_units(typed: str, languages: Languages, weights: Mapping[str, float]) -> Iterator[Unit]:
    """The parts of a compound, which only help the order: `Weltkrieg` is about neither every world nor every war."""
    for stem in analysis.part_stems(typed, languages):
        clauses = (Clause(field, stem, weights.get(field, 0.0)) for field in _STEM_FIELDS)
        needle = Needle(prefix=stem, word=stem, forms=analysis.forms(stem, languages))
        yield Unit(stem, tuple(clause for clause in clauses if clause.weight), needle, optional=True)


def needle_of(typed: str, stems: Sequence[str], languages: Languages) -> Needle:
    """How an excerpt finds a word in all its forms."""
    word = analysis.fold(typed)
    shared = before_nasals(_shared_start([word, *map(analysis.fold, stems)]))
    if len(shared) > 2 and shared[-1] in "iy":  # `cities` and `city` share `cit`
        shared = shared[:-1]
    led = script_of(typed) in ("arabic", "hebrew")
    if led:  # the article is written together with the word, and the stemmer takes it away
        shared = next((stem for stem in sorted(stems, key=len) if stem in respelled_in_place(word)), shared)
    return Needle(prefix=shared or word, word=typed, forms=analysis.forms(typed, languages), led=led)


def _shared_start(words: Sequence[str]) -> str:
    """The longest start that words share."""
    first, last = min(words), max(words)
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[:size]


def before_nasals(start: str) -> str:
    """The start of a word up to where texts may spell it in another way."""
    return _NASAL.split(start, maxsplit=1)[0]


def _spaceless_units(text: str, languages: Languages, weights: Mapping[str, float]) -> Iterator[Unit]:
    for run, in_syllables in spaceless.parts(text):
        held = analysis.in_index(run, languages)
        if in_syllables:
            yield from _pair_units(syllables(run), weights)
        elif len(run) <= 2:
            yield _spaceless_unit(run, held, [held], weights)
        else:
            start = 0
            for piece, cutter in analysis.cuts(held, languages):
                end = start + len(piece)
                if cutter is spaceless.chinese:
                    yield from _chinese_units(run[start:end], piece, weights)
                else:
                    found = list(_known_units(piece, cutter, weights)) if cutter else []
                    yield from found or _pair_units(piece, weights)
                start = end


def _pair_units(neighbours: Sequence[str], weights: Mapping[str, float]) -> Iterator[Unit]:
    for pair in spaceless.pairs(neighbours):
        yield _spaceless_unit(pair, pair, [pair], weights)


def _known_units(piece: str, cutter: spaceless.Cutter, weights: Mapping[str, float]) -> Iterator[Unit]:
    """Words that an analyser knows, without particles and endings."""
    for shown, word in cutter(piece):
        if word and (spaceless.is_term(shown, word) or len(word) == 2):
            yield _spaceless_unit(shown, shown, [word], weights)


def _chinese_units(run: str, held: str, weights: Mapping[str, float]) -> Iterator[Unit]:
    start = 0
    for word, _ in spaceless.chinese(held):
        end = start + len(word)
        typed = run[start:end]
        if len(word) == 1:
            around = [held[at : at + 2] for at in (start - 1, start) if 0 <= at < len(run) - 1]
            yield _spaceless_unit(typed, word, around, weights, optional=True)
        else:
            terms = [word] if len(word) > 2 else []
            yield _spaceless_unit(typed, word, [*terms, *spaceless.pairs(word)], weights)
            if end < len(run):
                across = slice(end - 1, end + 1)
                yield _spaceless_unit(run[across], held[across], [held[across]], weights, optional=True)
        start = end


def _spaceless_unit(
    typed: str, held: str, terms: Sequence[str], weights: Mapping[str, float], optional: bool = False
) -> Unit:
    """`held`: the word as the index has it."""
    clauses = [Clause(field, term, weights.get(field, 0.0)) for field in _STEM_FIELDS for term in dict.fromkeys(terms)]
    if len(held) == 1:
        clauses += [Clause(field, typed, weights.get(field, 0.0)) for field in (schema.TITLE, schema.BODY)]
    needle = Needle(prefix=typed, word=typed, forms=lambda _: True, inside=True)
    return Unit(typed, tuple(clause for clause in clauses if clause.weight), needle, optional)
