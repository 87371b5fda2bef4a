"""Shapes of URLs that yield copies: session ids in paths, print views, calendars.

The outcome of each first visit is counted per site and shape: copies of other pages, documents, and documents that are
near-duplicates of another page of the site.

If half of a shape's pages were copies, its URLs wait some levels lower, those in the queue too: the site's time goes to
pages with something new. If copies reach the budget and outnumber documents by twenty to one, further URLs of the shape
are refused; those in the queue are still fetched, and one document more may open it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.frontier.contract import Budgets, Verdict, Visit
from gossamer.model.counts import counted, noun
from gossamer.model.decision import Decision, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

COPYING_RULE = "trap.copies"
_SHARE = 20
ENOUGH = 10
"""Copies from which a shape is judged; the partial index `copies_many` has the same number."""
LOWERED = 8
"""Levels by which a shape that yields nothing but copies is lowered; half as many at half as many."""
LOWERINGS = 20
"""Batches of waiting URLs that are moved down before some are handed out as they are."""


def is_trap(copies: int, documents: int, budgets: Budgets) -> bool:
    """Whether a shape with this yield is not worth another visit."""
    return copies >= budgets.copies and copies >= _SHARE * documents


def lowered_by(copies: int, documents: int, near: int) -> int:
    """Levels by which URLs of a shape with this yield wait lower."""
    repeats, seen = copies + near, copies + documents
    if repeats < ENOUGH or 2 * repeats < seen:
        return 0
    return round(LOWERED * repeats / seen)


def lowered_shapes(db: Database, site_id: int) -> dict[int, int]:
    """Shapes of a site that wait lower, with the number of levels."""
    sql = "SELECT shape, copies, documents, near FROM copies WHERE site_id = ? AND copies + near >= 10"
    levels = {shape: lowered_by(*counts) for shape, *counts in db.execute(sql, (site_id,))}
    return {shape: by for shape, by in levels.items() if by}


def yield_of(db: Database, site_id: int, shape: int) -> tuple[int, int, int]:
    """Yield of a shape: copies, documents, and how many of those are near-duplicates."""
    sql = "SELECT copies, documents, near FROM copies WHERE site_id = ? AND shape = ?"
    rows = db.execute(sql, (site_id, shape))
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else (0, 0, 0)


class Yields:
    """Yields of the shapes of some sites, as far as they matter for new URLs."""

    def __init__(self, db: Database, site_ids: Sequence[int], budgets: Budgets) -> None:
        self._budgets = budgets
        self._counts: dict[int, dict[int, tuple[int, int, int]]] = {}
        for chunk in chunks(sorted(site_ids)):
            sql = (
                "SELECT site_id, shape, copies, documents, near FROM copies "
                f"WHERE copies + near >= {min(ENOUGH, budgets.copies)} AND site_id IN ({marks(chunk)})"
            )
            for site_id, shape, *counts in db.execute(sql, chunk):
                self._counts.setdefault(site_id, {})[shape] = (counts[0], counts[1], counts[2])

    def refusal(self, site_id: int, shape: int) -> Decision | None:
        """The refusal of a shape that is a trap."""
        copies, documents, _ = self._counts.get(site_id, {}).get(shape, (0, 0, 0))
        if not copies or not is_trap(copies, documents, self._budgets):
            return None
        reason = (
            f"{counted(copies, 'page')} of this shape {noun(copies, 'was a copy', 'were copies')} "
            f"of others, {documents} {noun(documents, 'was')} not (budget.copies)"
        )
        return refuse(COPYING_RULE, reason)

    def lowered(self, site_id: int, shape: int) -> int:
        """Levels by which URLs of a shape wait lower."""
        return lowered_by(*self._counts.get(site_id, {}).get(shape, (0, 0, 0)))


def count_copies(
    db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict], shape_of: Callable[[str], str]
) -> None:
    """Count the results of first visits."""
    copies: Counter[tuple[int, int]] = Counter()
    documents: Counter[tuple[int, int]] = Counter()
    near: Counter[tuple[int, int]] = Counter()
    for visit, verdict in zip(visits, verdicts, strict=True):
        is_copy = verdict.outcome.meaning.copy
        counter = copies if is_copy else documents if verdict.outcome is Outcome.DOCUMENT else None
        if counter is not None and not visit.task.previous:
            place = key64(visit.site), key64(shape_of(visit.task.url))
            counter[place] += 1
            near[place] += verdict.is_copy
    db.many(
        "INSERT INTO copies (site_id, shape, copies, documents, near) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (site_id, shape) DO UPDATE SET copies = copies.copies + excluded.copies, "
        "documents = copies.documents + excluded.documents, near = copies.near + excluded.near",
        [(*place, copies[place], documents[place], near[place]) for place in sorted({*copies, *documents})],
    )
