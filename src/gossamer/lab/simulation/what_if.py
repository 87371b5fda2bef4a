"""What would have been fetched when, under other policies? The operator's question before a setting is changed.

Each variant crawls the same recorded web from its beginning, on the same virtual time. A *document* here is a page that
fits a document rule; if the recording has no rules, every page that is kept.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from gossamer.data.guidance import guidance_of
from gossamer.errors import UsageError
from gossamer.lab.parallel import each
from gossamer.lab.simulation.measures import delays, first_useful, freshness_over_time
from gossamer.lab.simulation.simulator import Simulated, simulate
from gossamer.lab.tables import Cell, Table
from gossamer.lab.webs.web import NOWHERE, RecordedWeb
from gossamer.model.cells import as_cell
from gossamer.model.outcome import Outcome
from gossamer.settings import Settings

RevisitPolicy = Literal["age", "freshness", "proportional", "uniform", "none"]
FilterMode = Literal["off", "shadow", "on"]

AS_IT_IS = "as it is"
VARIANTS = "variants"
"""Name of the table with a row for each."""
HOUR = 3600.0
_POINTS = 120


class Variant(msgspec.Struct, frozen=True):
    """Settings to compare, and their name."""

    name: str
    settings: Settings


class Outlook(msgspec.Struct, frozen=True):
    """The predicted result of a variant."""

    name: str
    done: Simulated
    gained: npt.NDArray[np.bool_]
    """For each request: whether it yielded a new document."""
    fresh: list[float]
    """Share of the copies that agree with the web, at even steps of the time."""
    age: list[float]
    """Mean seconds for which copies have been out of date, likewise."""
    delay: float
    """Median seconds from publication to download; `inf` if fewer than half are ever downloaded."""


class Comparison(msgspec.Struct, frozen=True):
    """The output of a replay."""

    title: str
    ours: str
    """The best variant."""
    data: str
    """On which web."""
    differs: str
    """What makes the figures better or worse than those of a live crawl."""
    tables: list[Table]


def variants(
    base: Settings, strategies: Sequence[str] = (), revisits: Sequence[RevisitPolicy] = (),
    filters: Sequence[FilterMode] = (),
) -> list[Variant]:  # fmt: skip
    """Every combination of the named values, each once; other settings stay as they are."""
    found = []
    ways = product(
        dict.fromkeys(strategies or [base.crawl.strategy]),
        dict.fromkeys(revisits or [base.revisit.policy]),
        dict.fromkeys(filters or [base.filters.mode]),
    )
    for strategy, revisit, mode in ways:
        settings = replace(
            base,
            crawl=replace(base.crawl, strategy=strategy),
            revisit=replace(base.revisit, policy=revisit),
            filters=replace(base.filters, mode=mode),
        )
        names = [strategy] if strategies else []
        names += [f"revisit {revisit}"] if revisits else []
        names += [f"filters {mode}"] if filters else []
        found.append(Variant(", ".join(names) or AS_IT_IS, settings))
    return found


def check(web: RecordedWeb, ways: Sequence[Variant]) -> None:
    """Raise a `UsageError` if there is nothing to crawl, or a variant is impossible: before any of them is crawled."""
    if not web.facts.seeds or not web.fetched.any():
        what = "no answer of any page" if web.facts.seeds else "no seeds"
        raise UsageError(f"there is nothing to replay in {web.name}: the recording has {what}")
    for way in ways:
        way.settings.check()
        guidance_of(way.settings, web.facts.rules)  # reads the files that settings name


def compare(
    web: RecordedWeb, ways: Sequence[Variant], *, seconds: float | None, pages: int | None, seed: int,
    tell: Callable[[str], None] = lambda _text: None,
) -> list[Outlook]:  # fmt: skip
    """Crawl the web with each variant."""
    tell(f"{len(ways)} crawls of {web.name}, {int(web.fetched.sum()):,} URLs")
    return each(lambda way: _outlook(web, way, seconds, pages, seed, tell), ways)


def _outlook(
    web: RecordedWeb, way: Variant, seconds: float | None, pages: int | None, seed: int, tell: Callable[[str], None]
) -> Outlook:
    done = simulate(
        web, way.settings, seconds=seconds, pages=pages, seed=seed, tell=lambda text: tell(f"{way.name}: {text}")
    )
    inside = done.row != NOWHERE
    at, rows = done.at[inside], done.row[inside]
    gained = np.zeros(len(done.row), bool)
    there = np.where(at >= web.born[rows], rows, NOWHERE)  # a URL that was not yet born yielded nothing
    gained[inside] = first_useful(web, there) if web.facts.rules else _first_kept(done)[inside]
    times = np.linspace(done.started_at, done.ended_at, _POINTS + 1)[1:]
    copies = freshness_over_time(web, at, rows, times)
    waiting = delays(web, at, rows, which=web.useful if web.facts.rules else None, until=done.ended_at)
    return Outlook(
        way.name, done, gained, copies.fresh.tolist(), copies.age.tolist(),
        waiting.quantile(0.5) if len(waiting.rows) else float("nan"),
    )  # fmt: skip


def _first_kept(done: Simulated) -> npt.NDArray[np.bool_]:
    """Which requests were the first of which a page was kept; it may have failed before."""
    kept = np.flatnonzero([one is Outcome.DOCUMENT for one in done.outcome])
    _, first = np.unique(done.row[kept], return_index=True)
    found = np.zeros(len(done.row), bool)
    found[kept[first]] = True
    return found


def write_fetches(web: RecordedWeb, outlooks: Sequence[Outlook], path: Path) -> None:
    """Every request of every variant as CSV: variant, time (ISO 8601, UTC), URL, outcome, whether it was a revisit."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("variant", "at", "url", "outcome", "again"))
        for one in outlooks:
            done, elsewhere = one.done, iter(one.done.elsewhere)
            rows = zip(done.at.tolist(), done.row.tolist(), done.outcome, done.again.tolist(), strict=True)
            for at, row, outcome, again in rows:
                when = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
                url = web.urls[row] if row != NOWHERE else next(elsewhere)
                writer.writerow((as_cell(one.name), when, as_cell(url), outcome.value, int(again)))


def report(web: RecordedWeb, outlooks: Sequence[Outlook]) -> Comparison:
    """The predictions as tables, with remarks."""
    what = "useful documents" if web.facts.rules else "documents"
    return Comparison(
        title=f"What if: {web.name}",
        ours=_most(outlooks, what),
        data=f"{web.name}: {len(web):,} URLs, {int(web.fetched.sum()):,} of them fetched. {web.facts.source}".strip(),
        differs=_caveats(web, outlooks),
        tables=[_summary(web, outlooks, what), _progress(outlooks, what)],
    )


def _most(outlooks: Sequence[Outlook], what: str) -> str:
    """The variant that found most, or if all found as many, the first."""
    found = [int(one.gained.sum()) for one in outlooks]
    if len(outlooks) > 1 and len(set(found)) == 1:
        hours, name = min((_reached(one, 0.9) or 0.0, one.name) for one in outlooks)
        return f"All find {found[0]:,} {what}; 90 % of them first: {name}, after {hours:,.2f} h."
    best = outlooks[int(np.argmax(found))]
    return f"Most {what}: {best.name}, {max(found):,} with {len(best.gained):,} requests."


def _caveats(web: RecordedWeb, outlooks: Sequence[Outlook]) -> str:
    """What makes the figures of a variant better or worse than they would be."""
    text = "URLs that were not fetched in the recording answer 404 in the simulation: see the column `not recorded`."
    length = web.facts.ended_at - web.facts.started_at
    if any(one.done.again.any() and one.done.ended_at > web.facts.ended_at for one in outlooks):
        text += (
            f" The recording is {length / HOUR:,.1f} h long, shorter than this crawl; after it nothing appears or "
            "changes any more, so copies look fresher than they would be."
        )
    return text


def _not_recorded(web: RecordedWeb, done: Simulated) -> int:
    """Requests to which the recording has no answer."""
    return len(done.elsewhere) + int((~web.fetched[done.row[done.row != NOWHERE]]).sum())


def _summary(web: RecordedWeb, outlooks: Sequence[Outlook], what: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in outlooks:
        done, total = one.done, int(one.gained.sum())
        rows.append((
            one.name, len(done.row), int(done.again.sum()), total, _reached(one, 0.5), _reached(one, 0.9),
            sum(outcome.meaning.copy for outcome in done.outcome),
            sum(outcome.meaning.error for outcome in done.outcome),
            done.status.urls_known, done.status.urls_refused, _percent(one.fresh), _hours(one.age),
            _finite(one.delay / HOUR), _not_recorded(web, done),
        ))  # fmt: skip
    heads = (
        "variant", "requests", "revisits", what, "half of them after (h)", "90 % after (h)", "copies", "errors",
        "URLs known", "URLs refused", "fresh (%)", "age (h)", "publication to download, median (h)",
        "not recorded",
    )  # fmt: skip
    return Table(VARIANTS, "The variants", heads, rows)


def _reached(one: Outlook, share: float) -> float | None:
    """Hours until this share of the variant's finds was there."""
    so_far = np.cumsum(one.gained)
    if not len(so_far) or not so_far[-1]:
        return None
    place = int(np.searchsorted(so_far, share * so_far[-1]))
    return round((float(one.done.at[place]) - one.done.started_at) / HOUR, 3)


def _percent(shares: Sequence[float]) -> float:
    return round(100 * float(np.mean(shares)), 2)


def _hours(seconds: Sequence[float]) -> float:
    return round(float(np.mean(seconds)) / HOUR, 3)


def _finite(value: float) -> float | None:
    return round(value, 3) if np.isfinite(value) else None


def _progress(outlooks: Sequence[Outlook], what: str) -> Table:
    """The progress of each variant at ten moments."""
    end = max(one.done.ended_at - one.done.started_at for one in outlooks)
    moments = [end * step / 10 for step in range(1, 11)]
    rows: list[tuple[Cell, ...]] = []
    for moment in moments:
        cells: list[Cell] = [round(moment / HOUR, 3)]
        for one in outlooks:
            until = int(np.searchsorted(one.done.at, one.done.started_at + moment, side="right"))
            cells += [until, int(one.gained[:until].sum())]
        rows.append(tuple(cells))
    heads = ["after (h)"]
    for one in outlooks:
        heads += [f"{one.name}: requests", f"{one.name}: {what}"]
    return Table("progress", "Documents over time", tuple(heads), rows)
