"""What a page costs against the size of the URL table: c₁ and c₂ of the seed's model of a cycle.

`table_growth` measures, `cycle_model` fits.
"""

from __future__ import annotations

from gossamer.lab.tables import Cell, Table
from studies.growth.cycle_model import CYCLE, SEED_RATIO, Fit, Interval, table_share
from studies.growth.findings import Findings, find
from studies.growth.made_up_frontier import VISITED
from studies.growth.table_growth import Measured
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options

MILLION = 1_000_000
_SIZES = {True: (10_000, 100_000, 300_000), False: (10_000, 100_000, MILLION, 3 * MILLION, 10 * MILLION)}
_PAGES = {True: 2000, False: 6000}
_READ = {True: 150, False: 600}
_SEED_SHARE = 0.30
"""Of a cycle, that the seed says went into a table of a million URLs."""
_DAY = 86_400e6
"""Microseconds."""


def run(options: Options) -> Report:
    """Fill, work, fit."""
    return report(find(options, _SIZES[options.quick], _PAGES[options.quick], _READ[options.quick]))


def report(findings: Findings) -> Report:
    """What was measured, in tables, figures and sentences."""
    return Report(
        name="growth",
        title="Cost of a page and size of the URL table",
        question="How much more does a page cost when more URLs are known?",
        seed=(
            f"A cycle took n_urls · c₁ + n_fetched · c₂ with c₁/c₂ ≈ {SEED_RATIO} and {CYCLE:,} pages a cycle, for "
            "almost every stage went through the whole table; at a million URLs that is said to take "
            f"{_percent(_SEED_SHARE, 0)} of the time. By its own formula that ratio gives "
            f"{_percent(table_share(SEED_RATIO, MILLION))}; {_percent(_SEED_SHARE, 0)} would need a ratio of "
            f"{_ratio_for(_SEED_SHARE):.4f}."
        ),
        ours=_ours(findings),
        data=_data(findings),
        differs=_differs(findings),
        tables=[_costs_table(findings), _constants_table(findings), _room_table(findings)],
        figures=[_figure(findings)],
        goals=_goals(findings),
    )


# -- sentences ------------------------------------------------------------------------------------


def _ours(findings: Findings) -> str:
    first, last = findings.measured[0], findings.measured[-1]
    frontier, page = findings.frontier, findings.page
    return (
        f"With {_known(last)} known URLs a page costs the frontier {last.cost:.0f} µs of processor time, "
        f"{last.cost / first.cost:.2f} times what it costs with {_known(first)} ({first.cost:.0f} µs). The model "
        f"fitted to that: c₁ = {frontier.per_url:.3f} µs a URL and cycle ({_between(frontier.per_url_interval)}), "
        f"c₂ = {frontier.per_page:.0f} µs a page ({_between(frontier.per_page_interval, 0)}), c₁/c₂ = "
        f"{frontier.ratio:.5f} ({_between(frontier.ratio_interval, 5)}), for the calls on the frontier alone. With the "
        f"reading of a page in c₂ ({findings.reading:.0f} µs), c₁/c₂ = {page.ratio:.5f} "
        f"({_between(page.ratio_interval, 5)}). {_table_share(findings)}"
    )


def _table_share(findings: Findings) -> str:
    frontier, page = findings.frontier, findings.page
    if _grows(findings):
        return (
            f"A table of a million URLs then takes {_percent(page.share(MILLION))} of the time, and "
            f"{_percent(frontier.share(MILLION))} of the frontier's."
        )
    most = (_percent(table_share(max(0.0, fit.ratio_interval[1]), MILLION)) for fit in (page, frontier))
    return (
        "The interval of c₁ holds 0, so that with these sizes no growth is certain; at the upper end of the intervals "
        "a table of a million URLs takes {} of the time, and {} of the frontier's.".format(*most)
    )


def _grows(findings: Findings) -> bool:
    return findings.frontier.per_url_interval[0] > 0


def _data(findings: Findings) -> str:
    sizes = ", ".join(f"{one.size:,}" for one in findings.measured)
    parts = [
        f"Made-up frontier databases (SQLite) of {sizes} URLs on 1,000 sites of very different sizes, one of {VISITED} "
        f"URLs visited, filled in random order. At each size {findings.measured[0].pages:,} pages were recorded, with "
        "80 links each, 9 % of them new; the sizes took turns batch by batch. Read were made-up pages of 250 to 1,200 "
        "words. Intervals are of 95 %, from drawing the rounds anew."
    ]
    if findings.left_out:
        parts.append(f"Left out for want of disk: {', '.join(f'{size:,}' for size in findings.left_out)} URLs.")
    return " ".join(parts)


def _differs(findings: Findings) -> str:
    last, fit, page, logarithm = findings.measured[-1], findings.frontier, findings.page, findings.logarithm
    parts = [
        "The seed goes through the whole table in every cycle; here a page touches the rows that it is about, and "
        "what grows is the depth of the trees and the number of leaves on which a batch of new URLs falls."
    ]
    if _grows(findings):
        beside = "below" if page.ratio < SEED_RATIO else "above"
        parts.append(
            f"With the reading in c₂ the ratio is {page.ratio / SEED_RATIO:.2f} of the seed's, {beside} it, though our "
            "c₂ still lacks downloading, storing and indexing, which the seed's has."
        )
        if fit.ratio_interval[1] > SEED_RATIO:
            beside = "worse than" if fit.ratio_interval[0] > SEED_RATIO else "no better than"
            parts.append(
                f"For the frontier alone it is {beside} the seed's: with a c₂ of {fit.per_page:.0f} µs, the little "
                "that grows weighs more."
            )
        parts.append(
            f"The line is off the measured costs by up to {_percent(fit.misfit, 0)}, a logarithm by "
            f"{_percent(logarithm.misfit, 0)}; c₁ is {_step(*findings.measured[:2]):.2f} µs between the two smallest "
            f"tables and {_step(*findings.measured[-2:]):.2f} µs between the two largest."
        )
    files = sum(one.file for one in findings.measured)
    memory = f"the machine's memory of {findings.memory / 1e9:.0f} GB"
    easily = files < findings.memory / 2
    fits = f"fit into {memory}, so that reads hardly waited for a disk" if easily else f"fill {memory}"
    parts.append(
        f"The databases ({files / 1e9:.2g} GB, {last.file / last.size:.0f} bytes a URL with {last.size:,}) {fits}; a "
        "table larger than memory takes longer than these figures say."
    )
    return " ".join(parts)


def _step(smaller: Measured, larger: Measured) -> float:
    """c₁ by two sizes alone."""
    return CYCLE * (larger.cost - smaller.cost) / (larger.urls - smaller.urls)


def _goals(findings: Findings) -> list[Goal]:
    first, last = findings.measured[0], findings.measured[-1]
    products = [_product(one, findings.reading) for one in findings.measured]
    ratio = last.cost / first.cost
    return [
        Goal(
            f"the cost of a page does not grow: at most 1.05 times from {_known(first)} to {_known(last)} URLs",
            f"{ratio:.2f} times the frontier's part, "
            f"{(last.cost + findings.reading) / (first.cost + findings.reading):.2f} times with the reading",
            ratio <= 1.05,
        ),
        Goal(
            f"c₁/c₂ below the seed's {SEED_RATIO}, with the reading of the page in c₂",
            f"{findings.page.ratio:.5f}; for the frontier alone {findings.frontier.ratio:.5f}",
            findings.page.ratio < SEED_RATIO,
        ),
        Goal(
            "documents a day × documents does not fall as the table grows",
            f"{products[-1] / products[0]:.3g} times as much with {_known(last)} URLs as with {_known(first)}",
            products == sorted(products),
        ),
    ]


def _product(one: Measured, reading: float) -> float:
    """Documents that one core adds in a day × those that are there."""
    return _DAY / (one.cost + reading) * one.urls / VISITED


def _ratio_for(share: float) -> float:
    """c₁/c₂ that puts such a share of a cycle into a table of a million URLs."""
    return share / (1 - share) * CYCLE / MILLION


def _known(one: Measured) -> str:
    """Mean of the known URLs while it was measured, to two digits."""
    return f"{float(f'{one.urls:.2g}'):,.0f}"


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _between(interval: Interval, digits: int = 3) -> str:
    return f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}".replace("-", "−")


# -- tables and figure ----------------------------------------------------------------------------


def _costs_table(findings: Findings) -> Table:
    head = (
        *("known URLs", "mean while measured", "CPU µs a page", "ratio", "report µs", "take µs", "release µs"),
        *("wall µs a page", "by the line, µs", "by the logarithm, µs", "documents a day and core × documents"),
    )
    first = findings.measured[0]
    rows: list[tuple[Cell, ...]] = [
        (
            *(one.size, round(one.urls), one.cost, one.cost / first.cost),
            *(one.calls["report"], one.calls["take"], one.calls["release"], one.wall),
            *(findings.frontier.cost(one.urls), findings.logarithm.cost(one.urls), _product(one, findings.reading)),
        )
        for one in findings.measured
    ]
    return Table("costs", "What a page costs the frontier", head, rows)


def _constants_table(findings: Findings) -> Table:
    head = ("model", "c₁, µs a URL and cycle", "c₂, µs a page", "c₁/c₂", "c₁/c₂, 95 %", "table's share at 1 M URLs")
    rows: list[tuple[Cell, ...]] = [
        ("seed, as written", None, None, SEED_RATIO, "", _SEED_SHARE),
        ("seed, by its formula", None, None, SEED_RATIO, "", table_share(SEED_RATIO, MILLION)),
    ]
    for name, fit in (("frontier alone", findings.frontier), ("frontier and reading", findings.page)):
        between = _between(fit.ratio_interval, 5)
        rows.append((name, fit.per_url, fit.per_page, fit.ratio, between, fit.share(MILLION)))
    return Table("constants", f"The model of a cycle of {CYCLE:,} pages", head, rows)


def _room_table(findings: Findings) -> Table:
    head = ("known URLs", "file, MB", "bytes a URL", "memory of the worker, MB", "at the end, MB")
    rows = [
        (one.size, one.file / 1e6, one.file / one.size, one.memory_first / 1e6, one.memory_last / 1e6)
        for one in findings.measured
    ]
    return Table("room", "Disk and memory", head, rows)


def _figure(findings: Findings) -> Figure:
    panels = [
        _panel(findings, "calls on the frontier alone", findings.frontier, 0.0),
        _panel(findings, "with the reading of the page", findings.page, findings.reading),
    ]
    return Figure("cost", "Cost of a page against the size of the URL table", panels)


def _panel(findings: Findings, title: str, fit: Fit, besides: float) -> Panel:
    """Measured costs between the lines that the model draws with our constants and with the seed's."""
    urls = [one.urls for one in findings.measured]
    grid = [urls[0] * (urls[-1] / urls[0]) ** (step / 40) for step in range(41)]
    seed = [fit.per_page * (1 + SEED_RATIO * size / CYCLE) for size in grid]
    lines = [
        Series("measured", urls, [one.cost + besides for one in findings.measured], "points"),
        Series("our c₁ and c₂", grid, [fit.cost(size) for size in grid]),
        Series("a logarithm", grid, [findings.logarithm.cost(size) + besides for size in grid]),
        Series(f"our c₂, the seed's c₁/c₂ = {SEED_RATIO}", grid, seed),
    ]
    return Panel("known URLs", "CPU µs a page", lines, title=title, log_x=True, y_from=0)
