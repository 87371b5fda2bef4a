"""Scores of a shard's best hits by the average length of *all* documents.

BM25 compares a page's length with the average. The library knows the average of its own index only, and no boost can
correct that, since it stands inside the formula:

    idf · (k1 + 1) · f / (f + k1 · (1 - b + b · length / average))

A shard that has its ballast (`ballast.py`) needs no correction. Until then, for the few hits that a page of results can
show, the formula is calculated again from the library's own explanation of the score, which takes a tenth of a
millisecond a hit.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Mapping, Sequence

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.search.ordering import Candidate
from gossamer.search.view import View

ALIKE = 1e-4
"""Share by which averages may differ without a correction."""
MOST = 100
"""Hits whose scores are calculated anew; further down, nobody sees the difference."""
_BM25 = "TermQuery, product of"
_SUM = "BooleanClause. sum"
_BOOST = re.compile(r"Boost x([0-9.e+-]+) of")
_FIELD = re.compile(r"field=(\d+)")
_WITH_PHRASES = (schema.TITLE, schema.BODY, schema.ADDRESS)


class Told(msgspec.Struct):
    """A node of the library's explanation."""

    value: float
    description: str
    details: list[Told] = []
    context: list[str] = []


_decode = msgspec.json.Decoder(Told).decode


class Lengths:
    """Average lengths here and everywhere, by field."""

    def __init__(self, here: Mapping[str, float], everywhere: Mapping[str, float]) -> None:
        self._here = here
        self._everywhere = {field: everywhere.get(field, 0.0) or length for field, length in here.items()}

    @property
    def are_alike(self) -> bool:
        """Whether no score would change by more than nobody sees."""
        return all(abs(self._everywhere[field] - here) <= ALIKE * max(here, 1.0) for field, here in self._here.items())

    def corrected(
        self, view: View, query: tantivy.Query, hits: Sequence[Candidate], priors: Sequence[float], needed: int
    ) -> list[float]:
        """The scores of the hits, without priors: calculated anew for all that may be among the `needed` best.

        A hit that keeps its old score must not stand above one that has its new one. So it goes on below the best until
        no hit left could reach the last of them, even if its score grew like the one that grew most."""
        scores = [score for score, _ in hits]
        best_first = sorted(range(len(hits)), key=lambda place: -scores[place] - priors[place])
        found: list[float] = []
        growth = 1.0
        for place in best_first[:MOST]:
            old = scores[place]
            if len(found) >= needed and growth * old + priors[place] < found[-needed]:
                break
            scores[place] = self.value(_decode(query.explain(view.searcher, hits[place][1]).to_json()))
            growth = max(growth, scores[place] / old) if old else growth
            insort(found, scores[place] + priors[place])
        return scores

    def value(self, told: Told) -> float:
        """What an explained score would be with the averages of all documents."""
        if told.description.startswith(_BM25):
            return self._bm25(told)
        boost = _BOOST.match(told.description)
        if boost:
            inner = told.details[0]
            # The printed boost is rounded: what it did to the value is exact.
            factor = told.value / inner.value if inner.value else float(boost[1])
            return factor * self.value(inner)
        if told.details and (told.description.startswith(_SUM) or len(told.details) == 1):
            return sum(map(self.value, told.details))
        return told.value

    def _bm25(self, told: Told) -> float:
        within = told.details[2]
        frequency, k1, b, length, average = (part.value for part in within.details)
        everywhere = self._everywhere[self._field(told, average)]
        norm = k1 * (1 - b + b * length / everywhere) if everywhere else k1
        return told.value / within.value * frequency / (frequency + norm) if within.value else told.value

    def _field(self, told: Told, average: float) -> str:
        """The field of a term as the library numbers it; of a phrase, it has to be told by its average."""
        for line in told.context:
            if found := _FIELD.search(line):
                return schema.SCORED[int(found[1])]
        return min(_WITH_PHRASES, key=lambda field: abs(self._here[field] - average))
