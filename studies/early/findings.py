"""What the study of early removal found: tables, a figure, and sentences made from them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gossamer.lab.tables import Cell, Table
from studies.early.claim_races import Race
from studies.early.removal import Work
from studies.reports.report import Figure, Goal, Panel, Report, Series

SEED_SAVED = 0.44
SEED_SLIPPED = 0.0001


class Raced(msgspec.Struct, frozen=True):
    """A race, and how it was run."""

    way: str
    order: str
    race: Race


def report(data: str, works: Sequence[Work], real: dict[str, Work], races: Sequence[Raced]) -> Report:
    """What was found, in tables and sentences: made-up shares of copies, sites as they are, and races."""
    return Report(
        name="early",
        title="Copies removed before indexing",
        question="How much indexing does it save to drop copies before they are indexed, and do any slip through?",
        seed=(
            "A look into a key-value store before indexing saved up to 44 % of the time of the indexing stage, which "
            "depends on the share of copies; that share is not told. Look-up and writing were not one step: less than "
            "0.01 % of the documents of the index were copies that came through at the same time."
        ),
        ours=_ours(works, real, races),
        data=data,
        differs=_differs(works, races),
        tables=[_work_table(works, real), _race_table(races)],
        figures=[_figure(works, real)],
        goals=_goals(works, races),
    )


def _reached(works: Sequence[Work]) -> float | None:
    """The share of copies from which on as much is saved as the seed saved."""
    saved = [work.saved for work in works]
    if max(saved) < SEED_SAVED:
        return None
    place = next(number for number, share in enumerate(saved) if share >= SEED_SAVED)
    around = slice(max(0, place - 1), place + 1)
    return float(np.interp(SEED_SAVED, saved[around], [work.share for work in works[around]]))


def _let_through(races: Sequence[Raced], way: str) -> int:
    return sum(raced.race.copies for raced in races if raced.way == way)


def _per_page(works: Sequence[Work], name: str) -> float:
    """Microseconds."""
    spent: float = sum(getattr(work, name) for work in works)
    return 1e6 * spent / sum(work.pages for work in works)


def _ours(works: Sequence[Work], real: dict[str, Work], races: Sequence[Raced]) -> str:
    most, none = works[-1], works[0]
    reached = _reached(works)
    seed = f"44 % are saved at {reached:.0%} copies" if reached is not None else "44 % are not reached"
    mine = [raced.race for raced in races if raced.way == "frontier"]
    fullest = max(real.items(), key=lambda item: item[1].share, default=None)
    site = (
        f" On {fullest[0]} as it is, {fullest[1].share:.0%} of whose pages are copies, it is {fullest[1].saved:.0%}."
        if fullest and fullest[1].documents < fullest[1].pages
        else ""
    )
    return (
        f"With {most.share:.0%} copies {most.saved:.0%} of the CPU of indexing is saved; {seed}.{site} The check takes "
        f"{_per_page(works, 'check'):.0f} µs of a page, indexing {_per_page(works, 'late'):.0f} µs; without any copies "
        f"both ways differ by {abs(none.saved):.1%}, which tells how exact these figures are. Of "
        f"{sum(race.pages for race in mine):,} pages that workers reported at the same time, "
        f"{_let_through(races, 'frontier')} copies were let through, and "
        f"{len(mine) * mine[0].offered - sum(race.texts for race in mine)} texts lost; looking up and then writing let "
        f"{_let_through(races, 'look up, then write')} copies through."
    )


def _differs(works: Sequence[Work], races: Sequence[Raced]) -> str:
    slipped = _let_through(races, "look up, then write")
    documents = sum(raced.race.documents for raced in races if raced.way == "look up, then write")
    share = slipped / documents
    rate = f"{share:.2%} of the documents here, " + (
        "more than the seed's 0.01 %: here all workers meet the same texts within seconds"
        if share > SEED_SLIPPED
        else "as few as the seed saw"
    )
    copies = sum(work.pages - work.documents for work in works)
    deleting = 1e6 * sum(work.deleting for work in works) / copies
    copied = 1e6 * sum(work.late - work.early for work in works if work.documents < work.pages) / copies
    page = 1e6 * sum(work.early for work in works) / sum(work.documents for work in works)
    cost = f"A copy costs the late way {copied:.0f} µs, {deleting:.0f} of them for deleting it, a page {page:.0f} µs."
    return (
        "The seed gives the largest saving it saw without the share of copies behind it; ours follows that share. "
        f"{cost} Not counted is what an indexer does beside: reading segments and texts of links. The claim of a "
        "text is one insert under a unique key, so that none slips through; looking up first lets copies through "
        f"({rate})."
    )


def _work_table(works: Sequence[Work], real: dict[str, Work]) -> Table:
    crawls = [(f"{work.share:.0%} copies", work) for work in works]
    crawls += [(f"{name}, as it is", work) for name, work in real.items()]
    rows: list[list[Cell]] = [
        [
            name, round(work.share, 4), work.pages, work.documents, round(work.late, 3), round(work.deleting, 4),
            round(work.early, 3), round(1e6 * work.check / work.pages, 1), round(work.saved, 4),
        ]
        for name, work in crawls
    ]  # fmt: skip
    columns = ("crawl", "share of copies", "pages", "documents", "late, CPU s", "of that deleting, CPU s",
               "early, CPU s", "check, µs per page", "saved, check included")  # fmt: skip
    return Table("early-work", "Work of indexing a crawl with copies", columns, rows)


def _race_table(races: Sequence[Raced]) -> Table:
    rows: list[list[Cell]] = [
        [
            raced.way, raced.order, raced.race.pages, raced.race.texts, raced.race.documents, raced.race.copies,
            raced.race.copies / raced.race.documents,
        ]
        for raced in races
    ]  # fmt: skip
    columns = ("way", "order of the texts", "pages", "texts", "documents", "copies let through", "share")
    return Table("early-races", "Workers meet the same texts at the same time", columns, rows)


def _figure(works: Sequence[Work], real: dict[str, Work]) -> Figure:
    shares = [work.share for work in works]
    copies = [100 * share for share in shares]
    series = [
        Series("measured", copies, [work.saved for work in works]),
        Series("as much as there are copies", copies, shares),
        Series("seed, at most (share not told)", [copies[0], copies[-1]], [SEED_SAVED, SEED_SAVED]),
    ]
    if real:
        points = list(real.values())
        series.append(Series("sites as they are", [100 * w.share for w in points], [w.saved for w in points], "points"))
    panel = Panel("copies in the crawl, %", "work of indexing saved", series, percent=True)
    return Figure("early-saved", "Work of indexing saved by early removal of copies", [panel])


def _goals(works: Sequence[Work], races: Sequence[Raced]) -> list[Goal]:
    reached = _reached(works)
    copies = _let_through(races, "frontier")
    return [
        Goal(
            "no copy is let through, however many workers meet it at once",
            f"{copies} of {sum(raced.race.pages for raced in races if raced.way == 'frontier'):,} pages",
            copies == 0,
        ),
        Goal(
            "44 % of the indexing work is saved, as the seed says for its crawls",
            f"at {reached:.0%} copies" if reached is not None else f"{max(work.saved for work in works):.0%} at most",
            reached is not None,
        ),
    ]
