"""The audit log: who did what, when, to what."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console
from gossamer.tables import audit
from gossamer.tables.audit import Filter

PATH = "/console/audit"
SHOWN = 50
"""Lines on a page."""


def routes(console: Console) -> list[Route]:
    """Where the audit log is."""
    return [console.shows("/audit", lambda asked: _show(console, asked))]


def _show(console: Console, asked: Asked) -> Response:
    given = {name: asked.query.get(name, "").strip()[:200] for name in ("who", "action", "subject")}
    wanted = Filter(**given)
    people, actions = console.crawl.ask(audit.known)
    lines = console.crawl.ask(lambda db: audit.count(db, wanted))
    pages = max(1, -(-lines // SHOWN))
    page = min(page_of(asked), pages)
    entries = console.crawl.ask(lambda db: audit.entries(db, wanted, SHOWN, (page - 1) * SHOWN))
    return console.page(
        asked, "audit.html", entries=entries, wanted=wanted, people=people, actions=actions, page=page, pages=pages,
        lines=lines, path=PATH, parameters=given,
    )  # fmt: skip


def page_of(asked: Asked) -> int:
    """The page that is asked for; the first where it is no number."""
    text = asked.query.get("page", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 8 else 1
