"""Brings the changes of a crawl to a sink, from where it is to the end, or for ever."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from gossamer.api.changes import Change, ForgottenError, Look, beginning, looks, position_of
from gossamer.api.stored import Store
from gossamer.database.meta import crawl_id
from gossamer.errors import UsageError
from gossamer.frontier import changes
from gossamer.sinks.contract import Mark, Sink, SinkError

log = logging.getLogger(__name__)
T = TypeVar("T")

_TEXT = 4_000_000
"""Characters of text after which a part ends."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds until a sink that is followed up is tried again."""


class Done(NamedTuple):
    """What was brought to a sink."""

    pages: int = 0
    removed: int = 0


def sync(data: Path, sink: Sink, follow: bool = False) -> Done:
    """Bring a sink up to the crawl. `follow`: keep it there, and wait for a sink that cannot take pages now."""
    store = Store(data)
    crawl, since = _patiently(lambda: _since(store, sink), follow)
    try:
        return _sync(store, sink, crawl, since, follow)
    except ForgottenError as error:
        raise UsageError(
            "the target is too far behind: the crawl remembers for seven days which pages left: "
            f"{sink.to_start_over}, then run this again"
        ) from error


def _sync(store: Store, sink: Sink, crawl: str, since: str, follow: bool) -> Done:
    done = Done()
    for found in looks(store, since, follow):
        for part, position in _parts(found, sink.at_once):
            _patiently(partial(sink.take, part, Mark(crawl, position)), follow)
            removed = sum(change.page is None for change in part)
            done = Done(done.pages + len(part) - removed, done.removed + removed)
    return done


def _since(store: Store, sink: Sink) -> tuple[str, str]:
    """The crawl, and where the sink goes on in it."""
    mark = sink.mark()
    with store.database() as db:
        crawl, last, first = crawl_id(db), changes.last_change(db), str(beginning(db))
    if mark is None:
        # Kept before the first page is brought: of one that leaves from now on, the sink must hear.
        sink.take([], Mark(crawl, first))
        return crawl, first
    if mark.crawl != crawl:
        raise UsageError(f"the target holds the pages of another crawl: {sink.to_start_over}, or name another target")
    if position_of(mark.position).number > last + 1:
        raise UsageError(
            "the target is ahead of the crawl, which was restored from a backup: "
            f"{sink.to_start_over}, then run this again"
        )
    return crawl, mark.position


def _parts(found: Look, most: int) -> Iterator[tuple[list[Change], str]]:
    """The changes of a look in parts, each URL once in a part, with the position behind them."""
    part: dict[str, Change] = {}
    size = 0
    for entry in found.entries:
        change = entry.change
        part.pop(change.url, None)
        part[change.url] = change
        size += len(change.page.text) if change.page else 0
        if len(part) >= most or size >= _TEXT:
            yield list(part.values()), change.position
            part, size = {}, 0
    yield list(part.values()), str(found.behind)


def _patiently(act: Callable[[], T], patient: bool) -> T:
    """Do something with a sink; `patient`: until it works."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return act()
        except SinkError as error:
            if not patient:
                raise
            log.warning("%s; trying again in %.0f s", error, pause)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
