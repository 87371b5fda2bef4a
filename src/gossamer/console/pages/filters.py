"""What is not fetched: the operator's own filters, and those that the crawler made itself, with their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import changing, filter_data
from gossamer.console.context import Asked, Console, Done
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.steering.filters import StoredFilter, list_filters
from gossamer.model.counts import counted
from gossamer.scope.automatic import FilterConfig
from gossamer.settings import load
from gossamer.upkeep.filters.run import switch

PATH = "/console/filters"
_PER_PAGE = 50
_CHANGES = {
    "off": "switched off.", "on": "switched on.", "up": "moved up.", "remove": "removed."
}  # fmt: skip
"""What can be done to a filter of the operator's own, and what is told then."""


def routes(console: Console) -> list[Route]:
    """Where filters are shown and switched."""
    page = _Page(console)
    return [
        console.shows("/filters", page.show),
        console.does("/filters/on", page.switches(True)),
        console.does("/filters/off", page.switches(False)),
        console.does("/filters/add", page.add),
        console.does("/filters/change", page.change),
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
            probe=settings.filters.probe, own=load(self._crawl.folder.root).scope.filters, scope=settings.scope,
            path=PATH, why_not=changing.why_not(self._crawl),
        )  # fmt: skip

    def switches(self, on: bool) -> Callable[[Asked], Done]:
        """A handler that switches one filter on or off."""

        def do(asked: Asked) -> Done:
            config, now = self._crawl.settings().filters, self._crawl.clock.now()
            wanted = _wanted(asked.form)
            stored, urls = self._crawl.change(lambda db: _switched(db, wanted, on, config, now))
            name = f"{stored.site} {stored.kind} {stored.pattern}"
            many = counted(urls, "URL")
            sentence = (
                f"{name}: switched on, {many} left the queue." if on else f"{name}: switched off, {many} queued again."
            )
            to = f"{PATH}?{urlencode({'site': stored.site, 'kind': stored.kind, 'pattern': stored.pattern})}"
            return Done(f"filter {'on' if on else 'off'}", name, sentence, to, many)

        return do

    def add(self, asked: Asked) -> Done:
        """Add a filter of the operator's own, before the others or behind them."""
        form = asked.form
        rule = {name: form.get(name, "").strip() for name in ("kind", "action", "pattern", "name")}
        if not rule["pattern"]:
            raise UsageError("enter a pattern, such as /print/. Nothing was changed")
        rule = {name: text for name, text in rule.items() if text}
        place = 0 if form.get("place") == "first" else None

        def edit(rules: list[dict[str, Any]]) -> None:
            if any(_words(one) == _words(rule) for one in rules):
                raise UsageError(f"the filter {_words(rule)} already exists. Nothing was changed")
            rules.insert(len(rules) if place is None else place, rule)

        return self._edited("add filter", _words(rule), f"Added: {_words(rule)}.", edit)

    def change(self, asked: Asked) -> Done:
        """Switch one of the operator's own filters off or on, move it up, or take it out."""
        what, number = asked.form.get("do", ""), _number(asked.form.get("number", ""))
        if what not in _CHANGES:
            raise UsageError(f"{what[:40]!r} is none of {', '.join(_CHANGES)}. Nothing was changed")
        told: list[str] = []

        def edit(rules: list[dict[str, Any]]) -> None:
            # Somebody else may have changed the list since this page was opened.
            if number > len(rules) or rules[number - 1].get("pattern") != asked.form.get("pattern"):
                raise UsageError("the list of filters has changed: open the page again. Nothing was changed")
            rule = rules[number - 1]
            told.append(_words(rule))
            if what == "remove":
                del rules[number - 1]
            elif what == "up":
                rules.insert(max(0, number - 2), rules.pop(number - 1))
            else:
                rules[number - 1] = {**rule, "off": True} if what == "off" else _without(rule, "off")

        done = self._edited(f"filter {what}", "", _CHANGES[what], edit)
        return msgspec.structs.replace(done, subject=told[0], sentence=f"{told[0]}: {done.sentence}")

    def _edited(self, action: str, subject: str, sentence: str, edit: Callable[[list[dict[str, Any]]], None]) -> Done:
        def change(tables: changing.Tables) -> None:
            scope = changing.table_of(tables, "scope")
            rules = [dict(rule) for rule in scope.get("filters", ())]
            edit(rules)
            scope["filters"] = rules
            if not rules:
                del scope["filters"]

        changing.change(self._crawl, change)
        return Done(action, subject, f"{sentence} {changing.bring_into_force(self._crawl)}", PATH)

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """A connection of its own: counting refusals may take longer than other pages should wait."""
        with closing(self._crawl.folder.read()) as db:
            yield db


def _switched(
    db: Database, wanted: tuple[str, str, str], on: bool, config: FilterConfig, now: float
) -> tuple[StoredFilter, int]:
    found = next((row for row in list_filters(db, wanted[0]) if wanted[0] and _named(row) == wanted), None)
    if found is None:
        raise UsageError("this filter no longer exists: open the list again")
    return found, switch(db, found, on, config, now)


def _words(rule: Mapping[str, Any]) -> str:
    return f"{rule.get('action', '')} {rule.get('kind', '')} {rule.get('pattern', '')}"


def _without(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _named(row: StoredFilter) -> tuple[str, str, str]:
    return row.site, row.kind, row.pattern


def _wanted(fields: Mapping[str, str]) -> tuple[str, str, str]:
    return fields.get("site", ""), fields.get("kind", ""), fields.get("pattern", "")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
