"""Why a URL has its place in the queue, and why its next visit is when it is: each factor with its value."""

from __future__ import annotations

import msgspec
import numpy as np

from gossamer.database.database import Database
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.revisits import Revisits, estimator_of, weight_of
from gossamer.frontier.standing import link_values
from gossamer.frontier.views.inspect import UrlRecord
from gossamer.model.counts import counted
from gossamer.model.records import LEVELS, Discovered, Kind, Via
from gossamer.model.site import key64
from gossamer.priority.levels import levels_of
from gossamer.revisit.config import DAY
from gossamer.revisit.freshness import age, freshness


class Factor(msgspec.Struct, frozen=True):
    """A factor and its value."""

    name: str
    value: float
    sentence: str
    unit: str = ""
    """`s` for seconds; empty for a plain number."""


def priority_factors(db: Database, guidance: Guidance, record: UrlRecord) -> list[Factor]:
    """The factors of a URL's level: the scores of the strategies, their product cut into levels, and later changes."""
    if record.kind != Kind.PAGE.value or record.via == Via.SEED.value:
        what = "a seed" if record.kind == Kind.PAGE.value else f"a {record.kind}"
        return [Factor("level", 0, f"{what} is fetched first")]
    found = Discovered(record.url, Via(record.via), depth=record.depth)
    factors = [Factor(name, score, "by its URL") for name, score in guidance.strategy.factors(found)]
    links = guidance.strategy.links
    if links is not None:
        value = float(link_values(db, links, [(key64(record.site), key64(record.url))])[0])
        factors.append(Factor(guidance.strategy.links_name, value, "by the links to it"))
    score = float(np.prod([factor.value for factor in factors]))
    level = int(levels_of(np.array([score]))[0])
    factors.append(Factor("score", score, f"their product: level {level} of {LEVELS}"))
    if record.lowered:
        factors.append(Factor("lowered", record.lowered, "levels, because pages of its shape were copies of others"))
    return factors


def revisit_factors(db: Database, guidance: Guidance, record: UrlRecord, now: float) -> list[Factor]:
    """The factors of the next visit's time; empty if the page has no rate of change."""
    if record.checked_at is None or record.change_a is None or record.change_b is None:
        return []
    config = guidance.revisit
    a, b = np.array([record.change_a]), np.array([record.change_b])
    rates = estimator_of(config).rates(a, b)
    since = max(now - record.checked_at, 0.0)
    fresh = float(freshness(rates, since)[0])
    factors = [
        Factor("period", 1.0 / float(rates[0]), "between two changes of its text", "s"),
        Factor("checked", since, "since it was last checked", "s"),
        Factor("need", 1.0 - fresh, "chance that it has changed since: RVRank"),
        Factor("age", float(age(rates, since)[0]), "for which the stored copy is expected to be out of date", "s"),
        Factor("clicks", weight_of(record.clicks), f"weight by {counted(record.clicks, 'click')} of readers"),
    ]
    if config.policy != "none":
        interval = float(Revisits(db, config).current_plan(now).intervals(rates, np.array([factors[-1].value]))[0])
        budget = f"(revisit.policy {config.policy}, each page every {config.every / DAY:g} days on average)"
        factors.append(Factor("interval", interval, f"between two visits, with the present budget {budget}", "s"))
    if record.hub:
        factors.append(Factor("source", 1.0, "it is polled for new links, too: see `gossamer feeds`"))
    return factors
