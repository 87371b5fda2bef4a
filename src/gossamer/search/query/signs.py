"""Units of a query for signs that are names: `c++`, `operator<<`, `:=` (`gossamer.index.signs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from gossamer.index import analysis, schema
from gossamer.index.signs import signs
from gossamer.search.matching import Needle
from gossamer.search.query.words import Clause, Unit

_FIELDS = {
    schema.TITLE_STEMS: (schema.TITLE, schema.TITLE_STEMS), schema.BODY_STEMS: (schema.BODY, schema.BODY_STEMS),
    schema.HEADINGS: (schema.HEADINGS,), schema.ANCHORS: (schema.ANCHORS,),
}  # fmt: skip
"""Where signs are, and whose weights together are theirs."""


def sign_units(text: str, weights: Mapping[str, float]) -> Iterator[Unit]:
    """The signs in a term of a query."""
    for sign in signs(text):
        clauses = tuple(Clause(name, sign, sum(weights.get(one, 0.0) for one in of)) for name, of in _FIELDS.items())
        needle = Needle(prefix=sign, word=sign, forms=lambda _: False, inside=True)
        yield Unit(sign, tuple(clause for clause in clauses if clause.weight), needle)


def with_signs(
    text: str, words: Sequence[Unit], weights: Mapping[str, float], pages: Callable[[str, str], int]
) -> list[Unit]:
    """The units of a term with those of its signs that pages have. The words that a sign consists of only help the
    order then: `c++` finds no page for its `c`."""
    found = [unit for unit in sign_units(text, weights) if any(pages(*clause.place) for clause in unit.clauses)]
    parts = {word for unit in found for word in analysis.surface_words(unit.text)}
    return found + [msgspec.structs.replace(one, optional=one.optional or one.text in parts) for one in words]
