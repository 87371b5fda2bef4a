"""What is not fetched: the operator's own filters, and those that the crawler made itself, with their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import filter_data
from gossamer.console.context import Asked, Console, Done
from gossamer.crawl.filtering import switch
from gossamer.errors import UsageError
from gossamer.frontier.database import Database
from gossamer.frontier.filters import StoredFilter, list_filters
from gossamer.scope.automatic import FilterConfig

PATH = "/console/filters"
_PER_PAGE = 50


def routes(console: Console) -> list[Route]:
    """Where filters are shown and switched."""
    page = _Page(console)
    return [
        console.shows("/filters", page.show),
        console.does("/filters/on", page.switches(True)),
        console.does("/filters/off", page.switches(False)),
    ]


class _Page:
    """What the page shows and does."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """The list, and everything about one filter where one is chosen."""
        settings, site = self._crawl.settings(), asked.query.get("site", "").strip()
        with self._reading() as db:
            rows = filter_data.rows(db, site)
            chosen = next((row for row in rows if _named(row.stored) == _wanted(asked.query)), None)
            detail = filter_data.detail(db, chosen, settings.filters.probe) if chosen is not None else None
        pages = max(1, -(-len(rows) // _PER_PAGE))
        page = min(max(1, _number(asked.query.get("page", "1"))), pages)
        return self._console.page(
            asked, "filters.html", rows=rows[(page - 1) * _PER_PAGE : page * _PER_PAGE], page=page, pages=pages,
            summary=filter_data.summary(rows), detail=detail, site=site, mode=settings.filters.mode,
            probe=settings.filters.probe, own=settings.scope.filters, scope=settings.scope, path=PATH,
        )  # fmt: skip

    def switches(self, on: bool) -> Callable[[Asked], Done]:
        """A handler that switches one filter on or off."""

        def do(asked: Asked) -> Done:
            config, now = self._crawl.settings().filters, self._crawl.clock.now()
            wanted = _wanted(asked.form)
            stored, urls = self._crawl.change(lambda db: _switched(db, wanted, on, config, now))
            name = f"{stored.site} {stored.kind} {stored.pattern}"
            many = f"{urls} {'URL' if urls == 1 else 'URLs'}"
            sentence = f"{name} is on: {many} left the queue." if on else f"{name} is off for good: {many} wait again."
            to = f"{PATH}?{urlencode({'site': stored.site, 'kind': stored.kind, 'pattern': stored.pattern})}"
            return Done(f"filter {'on' if on else 'off'}", name, sentence, to, many)

        return do

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """A connection of its own: counting refusals may take longer than other pages should wait."""
        db = self._crawl.folder.read()
        try:
            yield db
        finally:
            db.close()


def _switched(
    db: Database, wanted: tuple[str, str, str], on: bool, config: FilterConfig, now: float
) -> tuple[StoredFilter, int]:
    found = next((row for row in list_filters(db, wanted[0]) if wanted[0] and _named(row) == wanted), None)
    if found is None:
        raise UsageError("there is no such filter any more: open the list again")
    return found, switch(db, found, on, config, now)


def _named(row: StoredFilter) -> tuple[str, str, str]:
    return row.site, row.kind, row.pattern


def _wanted(fields: Mapping[str, str]) -> tuple[str, str, str]:
    return fields.get("site", ""), fields.get("kind", ""), fields.get("pattern", "")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
