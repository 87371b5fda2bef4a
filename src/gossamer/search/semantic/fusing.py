"""Scores by words and by meaning as one: the same law for one index and for the shards of many.

Words: the score divided by the best. Meaning: how near the vector is, from the farthest candidate, or what is too far,
to the nearest. A page without a vector counts by its words alone. Both are multiplied by the best score by words, so
that a mixed score is worth what a score by words is.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.search.results import Factor, ScoreExplanation

CANDIDATES = 100
"""Pages by words and pages by meaning that are mixed."""
FLOOR = 0.3
"""How near a page without the words must be, at least: what is farther has nothing to do with the query."""
FIRST = 50_000.0
"""Scores that only somebody's wish gives a page, who wants it to come first: there it stays."""
_JUDGES = 20
"""Best pages by words of which half must have vectors."""

Near = float | None
"""How near a page is to the query; None if it has no vector."""


class Meaning(msgspec.Struct, frozen=True):
    """What meaning adds to the score of a page."""

    value: float
    near: Near
    kept: float
    """What the score by words is multiplied by."""

    @property
    def factor(self) -> Factor:
        """The same for an explanation."""
        vector = "no vector yet" if self.near is None else f"similarity {self.near:.4g}"
        return Factor("meaning", self.value, f"{vector}, all else counts {self.kept:.4g}")


def can_tell(near: Sequence[Near]) -> bool:
    """Whether enough of the best pages by words have vectors: else they are in another language, or the vectors are
    not made yet."""
    judges = near[:_JUDGES]
    return 2 * sum(one is None for one in judges) <= len(judges)


def fused(scores: Sequence[float], near: Sequence[Near], weight: float) -> list[Meaning]:
    """What meaning adds to the score of each candidate."""
    best = max((score for score in scores), default=0.0)
    best = best if best > 0 else 1.0
    known = [one for one in near if one is not None]
    low, high = min([*known, FLOOR]), max(known, default=1.0)
    return [
        Meaning(weight * (score if one is None else best * (one - low) / max(high - low, 1e-6)), one, 1 - weight)
        for score, one in zip(scores, near, strict=True)
    ]


def explained(why: ScoreExplanation, meaning: Meaning | None, kept: float) -> ScoreExplanation:
    """The factors of a mixed score, given those by words alone."""
    if not why.matches or why.score >= FIRST:
        return why
    factors = [Factor(one.name, kept * one.value, one.detail) for one in why.factors]
    factors += [meaning.factor] if meaning is not None else []
    return ScoreExplanation(why.url, True, sum(one.value for one in factors), tuple(factors))
