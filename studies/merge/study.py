"""What keeping an index in order costs: one segment, levels by the calendar, and merging by size (S0.4, S0.5)."""

from __future__ import annotations

from studies.merge.findings import STEADY, Years, report
from studies.merge.pictures import HOURLY
from studies.merge.policies import DAYS, POLICIES, Load, simulate
from studies.merge.updating import Measuring, measure
from studies.reports.report import Report
from studies.scratch import in_memory
from studies.study import Options


def run(options: Options) -> Report:
    """Time updates on real indexes, and count rewrites over a simulated year."""
    plan = _plan(options)
    with in_memory("merge") as scratch:
        results = measure(scratch, plan, options.tell)
    return report(plan, results, _years(options))


def _plan(options: Options) -> Measuring:
    if options.quick:
        ways = ("one segment", "levels", "ours")
        return Measuring(load=Load(30, 6, 6), updates=84, ways=ways, seldom=6, looks=4, queries=40, seed=options.seed)
    return Measuring(load=Load(10, 2, 6), updates=6 * DAYS, seed=options.seed)


def _years(options: Options) -> Years:
    """A year of several loads under each policy."""
    loads = {HOURLY: Load(), "six updates a day of 4,500 pages": Load(4500, 0, 6)}
    if options.quick:
        loads["an update a quarter of an hour of 10 pages"] = Load(10, 0, 96)
    else:
        loads["an update a minute of 10 pages"] = Load(10, 0, 1440)
    loads[STEADY] = Load(25, 5, 96, most=20_000, changing=0.2)
    years: Years = {}
    for name, load in loads.items():
        years[name] = {p: simulate(policy, load, DAYS * load.a_day, options.seed) for p, policy in POLICIES.items()}
        options.tell(f"a year of {name}")
    return years
