"""Shapes of URLs that bring nothing but copies: session ids in paths, print views, calendars.

The outcome of each first visit is counted per site and shape. Where copies reach the
budget and outnumber documents by twenty to one, further URLs of the shape are refused;
those in the queue are still fetched, and one document more may open it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from gossamer.frontier.contract import Budgets, Verdict, Visit
from gossamer.frontier.database import Database
from gossamer.frontier.queueing import chunks, marks
from gossamer.model.decision import Decision, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

COPIES = frozenset({Outcome.DUPLICATE, Outcome.ALIAS})
COPYING_RULE = "trap.copies"
_SHARE = 20


def is_trap(copies: int, documents: int, budgets: Budgets) -> bool:
    """Whether a shape with this yield is not worth another visit."""
    return copies >= budgets.copies and copies >= _SHARE * documents


def copying_shapes(db: Database, site_id: int, shapes: Collection[int], budgets: Budgets) -> dict[int, Decision]:
    """The refusals for those of a site's shapes that are traps."""
    found: dict[int, Decision] = {}
    for chunk in chunks(sorted(shapes)):
        sql = (
            "SELECT shape, copies, documents FROM copies "
            f"WHERE site_id = ? AND copies >= ? AND shape IN ({marks(chunk)})"
        )
        for shape, copies, documents in db.execute(sql, (site_id, budgets.copies, *chunk)):
            if is_trap(copies, documents, budgets):
                reason = f"{copies} pages of this shape were copies of others, {documents} were not (budget.copies)"
                found[shape] = refuse(COPYING_RULE, reason)
    return found


def count_copies(
    db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict], shape_of: Callable[[str], str]
) -> None:
    """Note what first visits brought."""
    copies: Counter[tuple[int, int]] = Counter()
    documents: Counter[tuple[int, int]] = Counter()
    for visit, verdict in zip(visits, verdicts, strict=True):
        counter = copies if verdict.outcome in COPIES else documents if verdict.outcome is Outcome.DOCUMENT else None
        if counter is not None and not visit.task.previous:
            counter[key64(visit.site), key64(shape_of(visit.task.url))] += 1
    db.many(
        "INSERT INTO copies (site_id, shape, copies, documents) VALUES (?, ?, ?, ?) ON CONFLICT (site_id, shape) "
        "DO UPDATE SET copies = copies.copies + excluded.copies, documents = copies.documents + excluded.documents",
        [(*place, copies[place], documents[place]) for place in sorted({*copies, *documents})],
    )
