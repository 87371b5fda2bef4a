"""The numbered changes of a crawl, for a program that follows it.

A change is a transaction of the crawl. Its number is taken inside it, so numbers are committed in order, and a program
that has seen all up to one never meets a smaller one later. Within a change come the pages that left, then the new and
changed ones by their place in the segment: so `position`, the number and the place, names a point between two entries
for good.

What a page is *now* counts: one that changed twice since a program looked last comes once, with the later change.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.api.pages import Page
from gossamer.api.stored import COLUMNS, Store, again_if_merged
from gossamer.data.machine import REREADER
from gossamer.database.database import Database
from gossamer.errors import OperationError, UsageError
from gossamer.frontier import changes
from gossamer.frontier.steering.removals import covered
from gossamer.frontier.views.inspect import place_of
from gossamer.model.site import key64
from gossamer.store.layout import role_of
from gossamer.store.segments import open_pages
from gossamer.tables.forgetting import forgotten

_AT_ONCE = 200
"""Entries that are in memory."""
_LOOK = 0.5
"""Seconds between two looks at a crawl that is followed."""
_READ = tuple(dict.fromkeys((*COLUMNS, "outcome", "new")))
_POSITION = re.compile(r"(\d+)(?:\.(\d+)(?:\+(\d+))?)?")

Segments = Sequence[changes.NewSegment]


@dataclass(frozen=True)
class Change:
    """A page that came, changed or left."""

    number: int
    """The change of the crawl that did it; several pages may have come with one."""
    kind: Literal["new", "changed", "removed"]
    """`new`: it was no page of the crawl before; `changed`: it was stored anew, because a visit got it once more or the
    crawl knows its site better by now; `removed`: it is no page of the crawl any more."""
    url: str
    """In canonical form."""
    page: Page | None
    """The page as it is now; None if it was removed."""
    position: str
    """The place of this entry: `changes(since=position)` goes on right behind it."""


class ForgottenError(OperationError):
    """The crawl does not know any more which pages left since a point."""


class Position(NamedTuple):
    """A point between two entries: behind all of the changes before `number`, and behind so many entries of it."""

    number: int
    entries: int
    base: int = 0
    """For who began at the beginning: the last change at that time. What left until then, they were never given."""

    def __str__(self) -> str:
        base = f"+{self.base}" if self.base >= self.number else ""
        return f"{self.number}.{self.entries}{base}"


def beginning(db: Database) -> Position:
    """The point before all entries, for who begins now: what leaves from now on, they hear of."""
    return Position(1, 0, changes.last_change(db))


def position_of(since: int | str) -> Position:
    """What a program says: the number of a change that it has seen whole, or the position of an entry."""
    found = _POSITION.fullmatch(str(since).strip())
    if found is None:
        raise UsageError(f"since={since!r} is no change: give a number, or the `position` of an entry")
    number, entries, base = found.groups()
    return Position(int(number) + 1, 0) if entries is None else Position(int(number), int(entries), int(base or 0))


class Changes:
    """The changes since a point: iterate it with `for` or `async for`."""

    def __init__(self, store: Store, since: int | str, follow: bool, go_on: Callable[[], bool] = lambda: True) -> None:
        """`follow`: wait for further ones, as long as `go_on` says."""
        self._store, self._since, self._follow, self._go_on = store, position_of(since), follow, go_on

    def __iter__(self) -> Iterator[Change]:
        position, pause = self._since, threading.Event()
        while True:
            wanted = self._follow and self._go_on()  # asked before the look: nothing comes after the last one
            found, position = look(self._store, position)
            for entry in found:
                yield entry.change
            if not found and not wanted:
                return
            if not found:
                pause.wait(_LOOK)

    async def __aiter__(self) -> AsyncIterator[Change]:
        position = self._since
        while True:
            wanted = self._follow and self._go_on()
            found, position = await asyncio.to_thread(look, self._store, position)
            for entry in found:
                yield entry.change
            if not found and not wanted:
                return
            if not found:
                await asyncio.sleep(_LOOK)


class Entry(NamedTuple):
    """A change, and the point behind it."""

    position: Position
    change: Change
    row: Mapping[str, Any] | None = None
    """The columns of the page that were asked for; None if it was removed."""


class Look(NamedTuple):
    """What one look at a crawl found."""

    entries: list[Entry]
    behind: Position
    """Where the next look begins."""


def look(store: Store, after: Position, once: bool = False, columns: Sequence[str] = _READ) -> Look:
    """The next entries behind a point, if there are any yet. `once`: a page comes with the visit that brought it, as it
    reads now; that the crawl read it again from its stored response is no change then. `columns`: of the stored pages;
    at least those that a `Page` needs."""
    with store.database() as db:
        reader = _Reader(store, db, once, columns)
        found = list(islice(reader.read(after), _AT_ONCE))
    return Look(found, found[-1].position if len(found) == _AT_ONCE else reader.end)


def looks(store: Store, since: int | str, follow: bool, columns: Sequence[str] = _READ) -> Iterator[Look]:
    """One look after the other, from a point to the end; `follow`: wait for further changes. Only what was new since
    the look before: entries, or changes without any."""
    position, pause = position_of(since), threading.Event()
    while True:
        found = look(store, position, columns=columns)
        if found.behind != position:
            yield found
            position = found.behind
        elif not follow:
            return
        else:
            pause.wait(_LOOK)


class _Reader:
    def __init__(self, store: Store, db: Database, once: bool, columns: Sequence[str]) -> None:
        self._store, self._db, self._once, self._columns = store, db, once, columns
        self._out, self._base = covered(db), 0
        self.end = Position(1, 0)
        """Behind all that is there."""

    def read(self, after: Position) -> Iterator[Entry]:
        last = changes.last_change(self._db)
        start = after.number - 1
        self._base = after.base if start or after.entries or after.base else last
        self.end = Position(max(last, start) + 1, 0, self._base) if last > start else after
        while start < last:
            step = changes.new_segments(self._db, start, last, _AT_ONCE)
            until = step[-1].seq if len(step) == _AT_ONCE else last
            yield from self._step(after, start, until, step)
            start = until

    def _step(self, after: Position, start: int, until: int, segments: Segments) -> Iterator[Entry]:
        """The entries of some changes."""
        gone = {seq: list(some) for seq, some in groupby(self._gone(start, until), lambda one: one.seq)}
        came = {segment.seq: segment for segment in segments}
        for number in sorted(gone.keys() | came.keys()):
            left = gone.get(number, [])
            skip = after.entries if number == after.number else 0
            for place, entry in self._left(number, left):
                if place >= skip:
                    yield entry
            if number in came:
                yield from self._came(came[number], len(left), skip)

    def _gone(self, start: int, until: int) -> list[changes.Departure]:
        found = changes.departures(self._db, start, until)
        if max(start, self._base) < forgotten(self._db):  # after the read: it may lack some
            raise ForgottenError(
                f"change {start} is too long ago: the crawl remembers for seven days which pages left. "
                "Start over with since=0"
            )
        return [one for one in found if one.seq > self._base]

    def _left(self, number: int, left: Sequence[changes.Departure]) -> Iterator[tuple[int, Entry]]:
        standing = self._documents((one.site_id, one.key) for one in left)
        for place, one in enumerate(left):
            if one.key not in standing:
                position = Position(number, place + 1, self._base)
                yield place, Entry(position, Change(number, "removed", one.url, None, str(position)))

    def _came(self, segment: changes.NewSegment, before: int, skip: int) -> Iterator[Entry]:
        if self._once and role_of(segment.id) == REREADER:
            return
        for row, name, values in again_if_merged(lambda: list(self._rows(segment, skip - before))):
            position = Position(segment.seq, before + row + 1, self._base)
            kind: Literal["new", "changed"] = "changed" if values["new"] is False else "new"
            page = self._store.page(values, name)
            yield Entry(position, Change(segment.seq, kind, page.url, page, str(position)), values)

    def _rows(self, segment: changes.NewSegment, skip: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """The pages of a segment from a row on, as it was written: row, where its page is now, and what it says."""
        place = place_of(self._db, segment.id, 0)
        if place is None:
            return
        name, first = place
        for start, table in self._groups(name, first + max(skip, 0), first + segment.pages):
            rows = table.append_column("row", pa.array(range(start - first, start - first + table.num_rows)))
            kept = rows.filter(pc.equal(rows.column("outcome"), "document")).to_pylist()
            standing = self._documents((key64(one["site"]), key64(one["url"])) for one in kept)
            for one in kept:
                now = standing.get(key64(one["url"]))
                if now is None or self._out(one["url"]):
                    continue
                if now == (segment.id, one["row"]):
                    yield one["row"], name, one
                elif self._once and role_of(now[0]) == REREADER and (newer := self._read_again(now)) is not None:
                    yield one["row"], newer[0], {**newer[1], "new": one["new"]}

    def _read_again(self, written: tuple[str, int]) -> tuple[str, dict[str, Any]] | None:
        """A page as it was read again."""
        place = place_of(self._db, *written)
        if place is None:
            return None
        for _, values in open_pages(self._store.folder.segments, place[0]).values([place[1]], self._columns):
            return place[0], values
        return None

    def _groups(self, name: str, first: int, end: int) -> Iterator[tuple[int, pa.Table]]:
        file = open_pages(self._store.folder.segments, name)
        for group, start in enumerate(file.starts[:-1]):
            low, high = max(start, first), min(file.starts[group + 1], end)
            if low < high:
                yield low, file.read_group(group, self._columns).slice(low - start, high - low)

    def _documents(self, urls: Iterable[tuple[int, int]]) -> dict[int, tuple[str, int]]:
        """Those of some URLs, by site and key, that are documents now, with the place where they were written."""
        sites: dict[int, list[int]] = defaultdict(list)
        for site_id, key in urls:
            sites[site_id].append(key)
        found: dict[int, tuple[str, int]] = {}
        for site_id, keys in sorted(sites.items()):
            found |= changes.documents(self._db, site_id, keys)
        return found
