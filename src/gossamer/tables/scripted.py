"""How many pages of a site were rendered today, the cost, and whether it helped.

A row for each site of which a page was ever rendered. Pages are claimed before they are rendered, so that workers that
share a site keep its budget together. A site where rendering has gained nothing for a while rests for a week; then one
page in vain is enough for the next rest.
"""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.model.counts import counted, noun

DAY = 86_400
TRIES = 10
"""Pages rendered in vain, one after the other, after which a site rests."""
REST = 7
"""Days of rest."""


class Scripted(msgspec.Struct, frozen=True):
    """Costs and gains of rendering for a site."""

    day: int
    """Days since 1970; the next three are of that day."""
    rendered: int = 0
    gained: int = 0
    """Pages that had more text, or more links, after their scripts had run."""
    requests: int = 0
    """Requests made for what pages load."""
    in_vain: int = 0
    """Pages rendered since the last gain."""
    rest_until: int = 0
    """The day before which no page is rendered."""


def day_of(now: float) -> int:
    """The day of a time, in days since 1970."""
    return int(now // DAY)


def refusal(row: Scripted, pages: int, requests: float) -> str:
    """Why no further page of the site may be rendered on the row's day; `""` if one may."""
    if row.day < row.rest_until:
        return f"rendering added no text on this site: it is off for {counted(row.rest_until - row.day, 'more day')}"
    if row.rendered >= pages:
        return f"{counted(row.rendered, 'page')} of the site {noun(row.rendered, 'was')} rendered today (browser.pages)"
    if row.requests >= requests:
        return (
            f"{counted(row.requests, 'request')} {noun(row.requests, 'was')} "
            f"made today to render pages of the site (browser.share)"
        )
    return ""


def after(row: Scripted, requests: int, gained: bool | None) -> Scripted:
    """The row after a page that cost so many requests; whether it gained, None where that cannot be told."""
    in_vain = row.in_vain if gained is None else 0 if gained else row.in_vain + 1
    rest_until = row.rest_until
    if in_vain >= TRIES:
        in_vain, rest_until = TRIES - 1, row.day + REST
    return Scripted(row.day, row.rendered, row.gained + bool(gained), row.requests + requests, in_vain, rest_until)


def of_site(db: Database, site_id: int, now: float) -> Scripted:
    """How a site stands today."""
    rows = db.execute(
        "SELECT day, rendered, gained, requests, in_vain, rest_until FROM scripted WHERE site_id = ?", (site_id,)
    )
    today = day_of(now)
    if not rows:
        return Scripted(today)
    row = Scripted(*rows[0])
    return row if row.day == today else Scripted(today, in_vain=row.in_vain, rest_until=row.rest_until)


def claim(db: Database, site_id: int, now: float, pages: int, requests: float) -> str:
    """Count a page that is about to be rendered, unless the budget forbids it; why it does, or `""`."""

    def count() -> str:
        with db.transaction():
            row = of_site(db, site_id, now)
            if reason := refusal(row, pages, requests):
                return reason
            _store(db, site_id, msgspec.structs.replace(row, rendered=row.rendered + 1))
        return ""

    return db.patiently(count)


def note(db: Database, site_id: int, now: float, requests: int, gained: bool | None) -> None:
    """A page was rendered at this cost; whether it gained, None where that cannot be told."""

    def store() -> None:
        with db.transaction():
            _store(db, site_id, after(of_site(db, site_id, now), requests, gained))

    db.patiently(store)


def _store(db: Database, site_id: int, row: Scripted) -> None:
    db.execute(
        "INSERT INTO scripted (site_id, day, rendered, gained, requests, in_vain, rest_until) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (site_id) DO UPDATE SET day = excluded.day, "
        "rendered = excluded.rendered, gained = excluded.gained, requests = excluded.requests, "
        "in_vain = excluded.in_vain, rest_until = excluded.rest_until",
        (site_id, *msgspec.structs.astuple(row)),
    )
