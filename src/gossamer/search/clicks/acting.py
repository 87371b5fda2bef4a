"""The factor at work: clicks move the best hits of a search, and add none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gossamer.index import schema
from gossamer.search.clicks.drafting import Team, drafted
from gossamer.search.clicks.evidence import Choices, Chosen, gain
from gossamer.search.desk.asking import is_first
from gossamer.search.limits import WINDOW
from gossamer.search.ordering import Candidate
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Factor, Hit, Request, ScoreExplanation
from gossamer.search.view import View

NAME = "clicks of readers"
"""The factor in an explanation."""


class Moved(NamedTuple):
    """Hits in the order that clicks give them."""

    hits: list[Candidate]
    teams: dict[int, Team]
    """Which of two orders brought a page to its place, by key; only in a trial, and only where they differ."""


def moved(
    view: View, request: Request, hits: Sequence[Candidate], choices: Choices, config: RankingConfig
) -> Moved | None:
    """The best hits, moved by clicks; None where nothing moves."""
    best = hits[:WINDOW]
    keys = view.numbers(schema.KEY, [address for _, address in best])
    found = choices.of(request.query, keys) if keys else {}
    gains = [_gain(score, found.get(key), config) for (score, _), key in zip(best, keys, strict=True)]
    if not any(gains):
        return None
    scored = {key: (hit[0] + more, hit[1]) for hit, key, more in zip(best, keys, gains, strict=True)}
    order = [key for key, _ in sorted(scored.items(), key=lambda one: one[1][0], reverse=True)]
    teams: dict[int, Team] = {}
    if request.trial:
        order, teams = drafted(order, keys, request.trial)
    return Moved([*(scored[key] for key in order), *hits[WINDOW:]], teams)


def told(why: ScoreExplanation, known: Chosen | None, config: RankingConfig) -> ScoreExplanation:
    """An explanation with what clicks add."""
    more = _gain(why.score, known, config) if why.matches else 0.0
    if not more or known is None:
        return why
    factors = (*why.factors, Factor(NAME, more, known.detail))
    return msgspec.structs.replace(why, score=why.score + more, factors=factors)


def in_teams(hits: Sequence[Hit], keys: Sequence[int], teams: dict[int, Team]) -> list[Hit]:
    """Results with the order that brought each to its place."""
    named = zip(hits, keys, strict=True)
    return [msgspec.structs.replace(hit, team=teams[key]) if key in teams else hit for hit, key in named]


def _gain(score: float, known: Chosen | None, config: RankingConfig) -> float:
    """A page that the desk put first is first, whatever readers open."""
    return gain(score, known.lift, config) if known is not None and not is_first(score) else 0.0
