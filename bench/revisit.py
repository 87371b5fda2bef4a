"""Settings of the estimators of change rates, compared on the years before 2010 of a real site's changes.

    python bench/revisit.py                          changes of www.openbsd.org (../shared/data/history)
    python bench/revisit.py --history FILE.tsv.gz    lines of: unix time, A/M/D, page
    python bench/revisit.py --quick                  one budget, two settings, the policy that ships

`python -m studies freshness` measures what ships, on the ten years after; these years are for choosing. The crawler is
that of the study: it learns from 1996 on, and the years 2005 to 2009 count. `true` is the same policy that
knows each page's mean rate of changes in the years counted, from the future.
"""

from __future__ import annotations

import argparse
import itertools
import time
from datetime import UTC, datetime
from pathlib import Path

from _data import HISTORY
from _figures import Figure, add_usual, conclude
from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.change import Estimator, GammaFilter, StepWise
from gossamer.revisit.policy import POLICIES
from studies.freshness.change_history import read_history
from studies.freshness.revisiting import CEILING, FLOOR, Crawler, Outcome, Trial, Truth, fine_step

SHIPPED = "age"
PERIODS = (7.0, 30.0, 120.0)
"""Days per visit and page: three budgets."""


def settings(quick: bool) -> dict[str, Estimator | Truth]:
    """Strength of the prior, years of memory, mean or median; the two steps."""
    if quick:
        return {"true": Truth(), "0.5 0y": GammaFilter(0.5, 0.0, False)}
    filters = {
        f"{strength:g} {years:g}y{' median' if median else ''}": GammaFilter(strength, years * YEAR, median)
        for median, strength, years in itertools.product((False, True), (0.1, 0.5), (0, 2))
    }
    steps = {f"{s:g} {g:g}": StepWise(s, g, FLOOR, CEILING) for s, g in ((0.5, 1.5), (0.7, 1.2), (0.8, 1.05))}
    return {"true": Truth(), **filters, **steps}


def compare(trial: Trial, quick: bool) -> list[Figure]:
    """Prints what each policy reaches with each setting, beside the true rates; the figures of `age`."""
    figures = []
    print(
        f"\nOne visit per page in {trial.period:.0f} days; no page longer unseen than {trial.ceiling / DAY:.0f} days\n"
    )
    heads = ("freshness", "÷ true", "stale", "÷ true", "age, d", "÷ true", "expected", "visits", "found")
    print(f"{'':14}{'':14}" + "".join(f"{head:>10}" for head in heads))
    for policy in (SHIPPED,) if quick else POLICIES:
        found: dict[str, float] = {}
        best: Outcome | None = None
        for name, knows in settings(quick).items():
            got = Crawler(trial, policy, knows).run()
            best = best or got
            stale, least = 1 - got.freshness, 1 - best.freshness
            cells = f"{got.freshness:10.4f}{got.freshness / best.freshness:10.4f}{stale:10.4f}{stale / least:10.2f}"
            cells += f"{got.age:10.3f}{got.age / best.age:10.2f}{got.expected:10.4f}{got.visits:10}{got.found:10.3f}"
            print(f"{policy:14}{name if policy != 'uniform' else 'any':14}" + cells, flush=True)
            if policy == "uniform":
                break  # it does not look at rates
            found[name] = got.freshness
        if policy == SHIPPED:
            ours = max((name for name in found if name != "true"), key=lambda name: found[name])
            title = f"freshness, a visit in {trial.period:g} days, best setting ({ours})"
            figures.append(Figure(title, found[ours], beside={"true rates": found["true"]}, most=1))
    return figures


def _moment(year: int) -> float:
    return datetime(year, 1, 1, tzinfo=UTC).timestamp()


def main() -> None:
    """Runs what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "one budget, two settings, one policy")
    parser.add_argument("--history", type=Path, default=HISTORY)
    parser.add_argument("--periods", type=float, nargs="+", help="days per visit and page")
    parser.add_argument(
        "--ceiling", type=float, default=CEILING / DAY, help="days after which a page is visited anyway"
    )
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    began = time.perf_counter()
    counted, end = _moment(2005), _moment(2010)
    if not args.history.exists():
        raise SystemExit(f"{args.history} is not there: name a history with --history")
    history = read_history(args.history, end)
    print(f"{len(history.names)} pages, {history.changes} changes")
    figures = []
    for period in args.periods or (PERIODS[1:2] if args.quick else PERIODS):
        step, ceiling = fine_step(period), args.ceiling * DAY
        figures += compare(Trial(history, counted, end, period, step, ceiling=ceiling, seed=args.seed), args.quick)
    print(f"\n{time.perf_counter() - began:.0f} s")
    conclude(args, figures)


if __name__ == "__main__":
    main()
