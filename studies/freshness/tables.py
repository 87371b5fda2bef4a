"""Tables and figures of the study `freshness`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gossamer.lab.tables import Cell, Table
from gossamer.revisit.policy import POLICIES
from studies.freshness.revisiting import Outcome
from studies.freshness.trials import LEARNED, TRUE, Collection, Findings
from studies.reports.report import Figure, Panel, Series

INFORMED = tuple(policy for policy in POLICIES if policy != "uniform")
"""Policies that look at rates."""
GOAL = 0.95
"""Share of the freshness with true rates that learned ones are to reach."""
_BUDGET = "days per visit and page"
_VALUES: dict[str, tuple[str, Callable[[Outcome], float]]] = {
    "freshness": ("Freshness, %", lambda got: 100 * got.freshness),
    "age": ("Age, days", lambda got: got.age),
}


def tables(findings: Findings) -> Iterator[Table]:
    """Freshness and age of all contestants, what learning costs, and the closed forms."""
    heads = ("policy", "rates", *(f"{period:g} days" for period in findings.periods))
    for one in findings.collections:
        none = findings.unvisited[one.name]
        for name, (title, value) in _VALUES.items():
            rows: list[list[Cell]] = [["none", "", *[value(none)] * len(findings.periods)]]
            for policy, rates in findings.contestants(one.name):
                found = (findings.get(one.name, period, policy, rates) for period in findings.periods)
                rows.append([policy, rates, *map(value, found)])
            yield Table(f"{one.name}-{name}", f"{title}, by {_BUDGET}: {one.title}", heads, rows)
    rows = [
        [
            one.title,
            policy,
            rates,
            *(100 * findings.ratio(one.name, period, policy, rates) for period in findings.periods),
        ]
        for one in findings.collections
        for policy in INFORMED
        for rates in LEARNED
    ]
    title = "Freshness in % of that of the same policy with true rates"
    yield Table("learned", f"{title}, by {_BUDGET}", ("changes", *heads), rows)
    yield _check_table(findings)


def _check_table(findings: Findings) -> Table:
    rows: list[list[Cell]] = []
    for check in findings.checks:
        for what, one in zip(("freshness", "age at a visit, days", "mean age, days"), check.measures, strict=True):
            rows.append([check.interval, what, one.found, one.expected, one.error, one.errors])
    heads = ("interval, days", "figure", "measured", "closed form", "standard error", "difference, standard errors")
    return Table("closed-form", "Poisson pages visited at a fixed interval", heads, rows)


def figures(findings: Findings) -> list[Figure]:
    """The same against the budget; of those that know the rates the two that share visits best."""
    shown = [("uniform", ""), *((policy, "gamma") for policy in INFORMED), ("freshness", TRUE), ("age", TRUE)]
    fresh, old, shares = [], [], []
    for one in findings.collections:
        outcomes = {pair: [findings.get(one.name, period, *pair) for period in findings.periods] for pair in shown}
        fresh.append(
            Panel(
                _BUDGET,
                "fresh copies",
                [_line(findings, pair, [got.freshness for got in found]) for pair, found in outcomes.items()],
                one.title,
                log_x=True,
                percent=True,
            )
        )
        ages = [_line(findings, pair, [got.age for got in found]) for pair, found in outcomes.items()]
        old.append(Panel(_BUDGET, "mean age, days", ages, one.title, log_x=True, log_y=True))
        shares.append(_shares_panel(findings, one))
    return [
        Figure("freshness", "Fresh copies against the budget", fresh),
        Figure("age", "Age of copies against the budget", old),
        Figure("learned", "Freshness with learned rates, as a share of that of the same policy with true ones", shares),
    ]


def _shares_panel(findings: Findings, one: Collection) -> Panel:
    """Without `proportional`: true rates may make it less fresh, and a share of that says nothing."""
    lines = []
    for rates in LEARNED:
        for policy in ("freshness", "age"):
            shares = [findings.ratio(one.name, period, policy, rates) for period in findings.periods]
            lines.append(_line(findings, (policy, rates), shares))
    lines.append(Series("goal", list(findings.periods), [GOAL] * len(findings.periods)))
    return Panel(_BUDGET, "share of the freshness with true rates", lines, one.title, log_x=True, percent=True)


def _line(findings: Findings, pair: tuple[str, str], values: Sequence[float]) -> Series:
    return Series(", ".join(filter(None, pair)), list(findings.periods), values)
