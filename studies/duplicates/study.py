"""Precision and recall of the seven near-duplicate methods (docs/decisions/0009-near-duplicates.md).

Two manuals in two versions each, with all their true pairs, and pages of them altered by chance. `near_duplicates`
says what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gossamer.dedup.near.registry import DEFAULT
from gossamer.lab.tables import Cell, Table
from studies.duplicates.altered_pages import SHARES, WAYS, found_by_overlap, found_by_share
from studies.duplicates.findings import SPEED_WORDS, Findings, measure
from studies.duplicates.methods import METHODS
from studies.duplicates.near_duplicates import Judgement
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options

_EDGES = [float(edge) for edge in np.round(np.arange(0.5, 1.001, 0.05), 2)]
_RANGES = [(low, high if high < 1 else 1.01) for low, high in pairwise(_EDGES)]
"""Of overlaps; the last one holds 1 itself, which is other words in the same runs."""
_FEW = 10
"""Altered copies that there must be for a point in a figure."""
_MANUALS = {
    "guides": "Debian's installation guide for two machines, in all its languages",
    "boost": "the documentation of Boost in two versions",
}


def run(options: Options) -> Report:
    """Measure on whatever manuals the machine has."""
    return report(measure(options))


def report(findings: Findings) -> Report:
    """What was measured, in tables, figures and sentences."""
    return Report(
        name="duplicates",
        title="Near duplicates: seven methods",
        question=(
            "Which of the seven methods finds the pages that say nearly the same, and how often does it call pages "
            "the same that are not?"
        ),
        seed=(
            "A lecture on crawlers describes the seven methods (I-Match, I-Match with 100 to 200 lexicons, top-K by "
            "TF-IDF, runs of four words with an overlap of .9, min-hash with 100 permutations of 64 bits, "
            "super-shingles, SimHash) and measures none of them. 30 % of documents, it says, repeat or nearly repeat "
            "the other 70 %."
        ),
        ours=_ours(findings),
        data=_data(findings),
        differs=_differs(findings),
        tables=_tables(findings),
        figures=[
            Figure("recall-overlap", "Altered copies found, against their true overlap", [_overlap_panel(findings)]),
            Figure("precision-recall", "Precision and recall", _points(findings)),
            Figure("altered", "Altered copies found, against the share of words altered", _ways(findings)),
        ],
        goals=_goals(findings),
    )


# -- sentences ------------------------------------------------------------------------------------


def _ours(findings: Findings) -> str:
    mine, others = findings.of(DEFAULT), [one for one in findings.judgements if one.method != DEFAULT]
    recalls = ", ".join(f"{_decimal(one.recall)} of {one.pairs:,} pairs ({one.collection})" for one in mine)
    wrong, blind = min(others, key=lambda one: one.precision), min(others, key=lambda one: one.recall)
    speed = findings.speed(DEFAULT)
    return (
        f"Of the pairs with an overlap of .9 or more, `{DEFAULT}`, which is used while crawling, finds {recalls}. Of "
        f"the pairs that it calls the same, {_exactness(mine)}. It takes {speed.per_second:,.0f} documents of "
        f"{SPEED_WORDS} words per CPU second and keeps {speed.size:,.0f} bytes of each. `{wrong.method}` is the "
        f"least exact ({wrong.collection}: only {_decimal(wrong.precision)} of its pairs have an overlap of .8), and "
        f"`{blind.method}` misses most ({blind.collection}: it finds {_decimal(blind.recall)})."
    )


def _exactness(mine: Sequence[Judgement]) -> str:
    precision, strict = min(one.precision for one in mine), min(one.strict for one in mine)
    if strict == 1:
        return "all have that overlap"
    almost = "all" if precision == 1 else f"at least {_decimal(precision)}"
    return f"at least {_decimal(strict)} have that overlap and {almost} one of .8"


def _data(findings: Findings) -> str:
    manuals = " and ".join(
        f"{_MANUALS[texts.name]} ({texts.pages:,} pages, {len(texts.texts):,} different texts)"
        for texts in findings.manuals
    )
    whose, source = "of these pages", f"{manuals[:1].upper()}{manuals[1:]}."
    if not manuals:
        whose, source = "made-up pages", "The machine has no manual in two versions, so that all pages are made up."
    return (
        f"{source} {len(findings.altered.texts):,} {whose} were altered: .25 to 30 % of the words replaced, deleted, "
        f"inserted, or moved in blocks, {len(findings.trials):,} copies in all. Exact copies are taken out first, "
        "since the crawler knows them without these methods."
    )


def _differs(findings: Findings) -> str:
    parts = ["The seed has no precision and recall to compare with."]
    if findings.repeated:
        shares = ", ".join(f"{100 * share:.0f} % ({name})" for name, share in findings.repeated.items())
        parts.append(
            f"Of our pages {shares} repeat or nearly repeat another, which says nothing of the web: two versions of "
            "one manual were chosen for that."
        )
    mine = {one.collection: one for one in findings.of(DEFAULT)}
    better = list(dict.fromkeys(one.method for one in findings.judgements if _finds_more(one, mine[one.collection])))
    if better:
        sizes = " and ".join(f"`{name}` ({findings.speed(name).size:,.0f} bytes a page)" for name in better)
        parts.append(f"`{DEFAULT}` is surpassed in recall, at no less strict precision, by {sizes}.")
    faster = [f"`{one.method}`" for one in findings.speeds if one.per_second > 1.1 * findings.speed(DEFAULT).per_second]
    if faster:
        parts.append(f"Faster than `{DEFAULT}` by a tenth or more: {', '.join(faster)}.")
    parts.append(
        "The parameters of `imatch`, `imatch-lexicons` and `topk` and the threshold of `simhash` were chosen on such "
        "manuals, in their favour."
    )
    return " ".join(parts)


def _finds_more(one: Judgement, mine: Judgement) -> bool:
    return one.recall > mine.recall and one.strict >= mine.strict


def _goals(findings: Findings) -> list[Goal]:
    mine = findings.of(DEFAULT)
    recall, precision = min(mine, key=lambda one: one.recall), min(mine, key=lambda one: one.precision)
    strict = min(mine, key=lambda one: one.strict)
    return [
        Goal(
            f"`{DEFAULT}` finds .95 of the near duplicates of every collection",
            f"{_decimal(recall.recall)} ({recall.collection})",
            recall.recall >= 0.95,
        ),
        Goal(
            f".99 of what `{DEFAULT}` calls the same is (an overlap of .8)",
            f"{_decimal(precision.precision)} ({precision.collection}); "
            f"strictly, an overlap of .9: {_decimal(strict.strict)} ({strict.collection})",
            precision.precision >= 0.99,
        ),
    ]


def _decimal(value: float) -> str:
    """Three decimals, rounded towards what is worse."""
    return f"{int(1000 * value + 1e-9) / 1000:.3f}".removeprefix("0")


# -- tables ---------------------------------------------------------------------------------------


def _tables(findings: Findings) -> list[Table]:
    tables = [_methods_table(findings), _overlap_table(findings), _costs_table(findings)]
    if findings.manuals:
        tables.insert(0, _collections_table(findings))
    if findings.errors:
        head = ("256 bytes", "standard error")
        tables.append(Table("estimates", "Error of an estimated overlap near .9", head, list(findings.errors.items())))
    return tables


def _collections_table(findings: Findings) -> Table:
    pairs = {one.collection: one.pairs for one in findings.judgements}
    head = ("collection", "pages", "different texts", "pairs of .9 or more", "share of pages that repeat another")
    rows = [
        (texts.name, texts.pages, len(texts.texts), pairs[texts.name], findings.repeated[texts.name])
        for texts in findings.manuals
    ]
    return Table("collections", "The collections", head, rows)


def _methods_table(findings: Findings) -> Table:
    head = (
        *("collection", "method", "pairs of .9 or more", "recall", "similar enough, keys apart"),
        *("precision (overlap ≥ .8)", "strict precision (≥ .9)", "wrong candidates per million pairs"),
        "documents per CPU second",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(one.collection, one.method, one.pairs, one.recall, one.judged, one.precision, one.strict),
            *(one.wrong_candidates, round(findings.speed(one.method).per_second)),
        )
        for one in findings.judgements
    ]
    return Table("methods", "Precision and recall", head, rows)


def _overlap_table(findings: Findings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for low, high in _RANGES:
        found = [found_by_overlap(method, findings.trials, low, high) for method in METHODS]
        rows.append((f"{low:.2f} to {min(high, 1.0):.2f}", found[0][0], *(share for _, share in found)))
    return Table("overlap", "Share of the altered copies that is found", ("overlap", "copies", *METHODS), rows)


def _costs_table(findings: Findings) -> Table:
    rows = [(one.method, round(one.size), round(one.per_second)) for one in findings.speeds]
    return Table("costs", "What a page costs", ("method", "bytes kept", "documents per CPU second"), rows)


# -- figures --------------------------------------------------------------------------------------


def _overlap_panel(findings: Findings) -> Panel:
    lines = [
        _line(name, [((low + high) / 2, *found_by_overlap(name, findings.trials, low, high)) for low, high in _RANGES])
        for name in METHODS
    ]
    return Panel("overlap of the four-word runs", "found", lines, percent=True, y_from=0, y_to=1)


def _line(name: str, points: Sequence[tuple[float, int, float]]) -> Series:
    """Through points (place, copies, share found), those left out that stand for too few copies."""
    kept = [(place, share) for place, copies, share in points if copies >= _FEW]
    return Series(name, [place for place, _ in kept], [share for _, share in kept])


def _points(findings: Findings) -> list[Panel]:
    panels = []
    for name in dict.fromkeys(one.collection for one in findings.judgements):
        points = [
            Series(one.method, [one.recall], [one.strict], "points")
            for one in findings.judgements
            if one.collection == name
        ]
        panels.append(Panel("recall", "precision (overlap ≥ .9)", points, title=name))
    return panels


def _ways(findings: Findings) -> list[Panel]:
    panels = []
    for way in WAYS:
        lines = [
            _line(name, [(100 * share, *found_by_share(name, findings.trials, way, share)) for share in SHARES])
            for name in METHODS
        ]
        panels.append(Panel(f"% of words {way}", "found", lines, log_x=True, percent=True, y_from=0, y_to=1))
    return panels
