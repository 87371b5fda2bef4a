"""Freshness and age of copies against the budget of visits, for all revisit policies (docs/decisions/0012-revisit.md).

`revisiting` has the crawler, `trials` what is compared, `tables` the tables and figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gossamer.revisit.config import RevisitConfig
from studies.freshness.revisiting import Outcome
from studies.freshness.tables import GOAL, INFORMED, figures, tables
from studies.freshness.trials import (
    LEARNED,
    TRUE,
    Collection,
    Findings,
    check_closed_form,
    compare,
    poisson_collection,
    recorded_collection,
    unvisited,
)
from studies.reports.report import Goal, Report
from studies.study import Options

PERIODS = (2.0, 7.0, 14.0, 30.0, 60.0, 120.0)
QUICK_PERIODS = (7.0, 30.0, 120.0)
CHECKED = (2.0, 7.0, 30.0, 120.0)
_DEFAULT = (RevisitConfig().policy, RevisitConfig().estimator)
_ERRORS = 3.0


def run(options: Options) -> Report:
    """Measure on made-up pages, and on the histories of `options.webs`."""
    return report(measure(options))


def measure(options: Options) -> Findings:
    """All crawls; quick ones have fewer budgets, and of real histories each fourth page and ten years."""
    quick, periods = options.quick, QUICK_PERIODS if options.quick else PERIODS
    files = sorted((options.webs / "history").glob("*.tsv.gz")) if options.webs else []
    less = {"every": 4, "learn": 5, "count": 5} if quick else {}
    collections = [recorded_collection(file, **less) for file in files]
    made_up = poisson_collection(500 if quick else 2000, 4, 2, options.seed)
    collections.append(made_up)
    results = compare(collections, periods, quick, options.seed, options.tell)
    options.tell("the closed forms")
    checks = [check_closed_form(made_up.history, interval) for interval in CHECKED]
    return Findings(collections, periods, results, unvisited(collections), checks)


def report(findings: Findings) -> Report:
    """What was measured, in tables, figures and sentences."""
    return Report(
        name="freshness",
        title="Freshness and age against the budget",
        question=(
            "How fresh and how old are the copies for a given number of visits, under each revisit policy, and what is "
            "lost because rates of change have to be learned from the visits?"
        ),
        seed=(
            "A lecture on crawlers asks for the expected age of a page t days after its last visit, "
            "Age(λ, t) = ∫₀ᵗ λe^(−λx)(t − x)dx for pages that change at random moments, in the place of a yes or no to "
            "freshness. It measures nothing."
        ),
        ours=_ours(findings),
        data=_data(findings),
        differs=_differs(findings),
        tables=list(tables(findings)),
        figures=figures(findings),
        goals=_goals(findings),
    )


def _ours(findings: Findings) -> str:
    parts = [_share_of_known(findings), *(_fewest_visits(findings, one) for one in findings.collections)]
    worst = max(measure.errors for check in findings.checks for measure in check.measures)
    parts.append(
        f"Pages of known rates visited every {_listed(check.interval for check in findings.checks)} days have the "
        f"freshness and the age that the closed forms say, within {worst:.1f} standard errors."
    )
    return " ".join(parts)


def _share_of_known(findings: Findings) -> str:
    own = _lowest(findings, [_DEFAULT])
    return (
        f"With the default, {_named(*_DEFAULT)}, learned rates give at least {_percent(own.share)} of the freshness "
        f"that the same policy has with true rates ({own.where}), and {_percent(_lowest_of_best(findings))} of what "
        "the freshest policy has that knows them."
    )


def _fewest_visits(findings: Findings, collection: Collection) -> str:
    """What the default and uniform visits reach with the fewest visits."""
    period = findings.periods[-1]
    own = findings.get(collection.name, period, *_DEFAULT)
    uniform = findings.get(collection.name, period, "uniform", "")
    none = findings.unvisited[collection.name]
    return (
        f"{collection.title}, a visit every {period:g} days: {_percent(own.freshness)} fresh and {own.age:.2g} days "
        f"old in the mean; with uniform visits {_percent(uniform.freshness)} and {uniform.age:.2g} days, with none "
        f"{_percent(none.freshness)} and {none.age:.0f} days."
    )


def _data(findings: Findings) -> str:
    parts = []
    for one in findings.collections:
        history, years = one.history, (one.history.end - one.counted) / (365.25 * 86_400)
        source = "real changes" if one.real else "made up: log-normal rates, in the median one change in 50 days"
        parts.append(
            f"{one.title} ({source}): {history.changes:,} changes of {len(history.names):,} pages; the last "
            f"{years:.0f} years count, before that rates are learned."
        )
    if not any(one.real for one in findings.collections):
        parts.append("No history of a real site was given.")
    parts.append("True rates of a real site are each page's mean of the years that count, from the future.")
    return " ".join(parts)


def _differs(findings: Findings) -> str:
    parts = ["The seed has no figures to compare with. Where policies are worse:"]
    for one in findings.collections:
        parts += _weak_points(findings, one)
    lowest = [_lowest(findings, [(policy, rates)]) for policy in INFORMED for rates in LEARNED]
    missed = [one for one in lowest if one.share < GOAL]
    if missed:
        worst = min(missed, key=lambda one: one.share)
        found = findings.get(worst.collection.name, worst.period, "uniform", "").found
        names = "; ".join(f"{one.where}: {_percent(one.share)}" for one in missed)
        parts.append(
            f"Below 95 % of what the same policy reaches with true rates fall {names}. Where that is worst "
            f"{_percent(found)} of uniform visits find a change; the more of them do, the less a visit tells of how "
            "fast a page is."
        )
    else:
        parts.append("No policy with learned rates falls below 95 % of what it reaches with true ones.")
    return " ".join(parts)


def _weak_points(findings: Findings, one: Collection) -> Iterator[str]:
    """Ages of the policy for freshness, and visits shared in proportion."""

    def get(period: float, policy: str) -> Outcome:
        return findings.get(one.name, period, policy, "gamma" if policy != "uniform" else "")

    period = max(findings.periods, key=lambda period: get(period, "freshness").age / get(period, "age").age)
    fresh, age = get(period, "freshness"), get(period, "age")
    if fresh.age > age.age:
        yield (
            f"{one.title}: `freshness` lets copies grow old, {fresh.age:.2g} days where `age` has {age.age:.2g} (a "
            f"visit every {period:g} days), because it gives up pages that change too fast."
        )
    behind = [
        period
        for period in findings.periods
        if get(period, "proportional").freshness < get(period, "uniform").freshness
    ]
    if behind:
        yield f"{one.title}: `proportional` is less fresh than `uniform` at {_listed(behind)} days per visit."
    stale = [period for period in findings.periods if get(period, "age").freshness < get(period, "uniform").freshness]
    if stale:
        younger = all(get(period, "age").age < get(period, "uniform").age for period in stale)
        also = "though less old" if younger else "and older"
        yield f"{one.title}: `age` is less fresh than `uniform` at {_listed(stale)} days per visit, {also}."


def _goals(findings: Findings) -> list[Goal]:
    goals = []
    asked: dict[str, list[tuple[str, str]]] = {f"the default, {_named(*_DEFAULT)}": [_DEFAULT]}
    asked |= {f"every policy with `{rates}`": [(policy, rates) for policy in INFORMED] for rates in LEARNED}
    for who, contestants in asked.items():
        lowest = _lowest(findings, contestants)
        text = f"Learned rates give 95 % of the freshness of true ones: {who}"
        goals.append(Goal(text, f"at least {_percent(lowest.share)} ({lowest.where})", lowest.share >= GOAL))
    worst = max(measure.errors for check in findings.checks for measure in check.measures)
    goals.append(
        Goal(
            "Measured freshness and age agree with the closed forms within three standard errors",
            f"at most {worst:.1f} standard errors apart",
            worst <= _ERRORS,
        )
    )
    return goals


class _Lowest(msgspec.Struct, frozen=True):
    """The least share of the freshness that the same policy has with true rates, and where that is."""

    share: float
    collection: Collection
    period: float
    policy: str
    rates: str

    @property
    def where(self) -> str:
        return f"{_named(self.policy, self.rates)}, {self.collection.title}, a visit every {self.period:g} days"


def _lowest(findings: Findings, contestants: Sequence[tuple[str, str]]) -> _Lowest:
    every = [
        _Lowest(findings.ratio(one.name, period, policy, rates), one, period, policy, rates)
        for one in findings.collections
        for period in findings.periods
        for policy, rates in contestants
    ]
    return min(every, key=lambda one: one.share)


def _lowest_of_best(findings: Findings) -> float:
    return min(
        findings.get(one.name, period, *_DEFAULT).freshness
        / max(findings.get(one.name, period, policy, TRUE).freshness for policy in INFORMED)
        for one in findings.collections
        for period in findings.periods
    )


def _named(policy: str, rates: str) -> str:
    return f"`{policy}` with {rates} rates" if rates.startswith(TRUE) else f"`{policy}` with `{rates}`"


def _listed(values: Iterator[float] | Sequence[float]) -> str:
    *most, last = [f"{value:g}" for value in values]
    return f"{', '.join(most)} and {last}" if most else last


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
