"""Takedown: takes a URL, a prefix or a whole host out of the search within seconds, and keeps it out.

First it enters the removal: from then on workers, seeds, sitemaps and feeds cannot add the URLs it covers, and
everything that shows stored pages checks it. Then the URLs leave queue and plans in small batches, each with a change
that the index follows; if no indexer runs, they are deleted from the index here. The bytes remain in the segments until
`crawl.erasing` deletes them.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from threading import Thread

import msgspec

from gossamer.alerts.gathering import decoded, encoded
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import IndexPlace, index_lock, index_place
from gossamer.database.database import Database
from gossamer.errors import BusyError, GossamerError, UsageError
from gossamer.frontier import changes
from gossamer.frontier.steering import removals, removing, restoring
from gossamer.index import commits
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.site import host_of, site_of
from gossamer.notify.message import Message
from gossamer.operate.canonical import canonical_or_error
from gossamer.settings import Settings
from gossamer.tables import choices, outbox

log = logging.getLogger(__name__)

_WORK, _REST = 0.2, 0.1
"""Seconds of work, and of rest for other writers. A process that waits for SQLite tries ten times a second: without a
rest it would hardly ever find it free.
"""
_AT_ONCE = 20_000
"""Pages that one commit of the index deletes."""

Progress = Callable[[int], None]
"""Called with the number of URLs that left or came back so far."""


def _silent(_urls: int) -> None:
    return


class _Handfuls:
    """Called after each batch: reports progress, and rests now and then."""

    def __init__(self, progress: Progress = _silent) -> None:
        self._progress, self._urls = progress, 0
        self._clock = SystemClock()
        self._rested = self._clock.now()

    def __call__(self, keys: Sequence[int]) -> None:
        self._urls += len(keys)
        self._progress(self._urls)
        if self._clock.now() - self._rested > _WORK:
            time.sleep(_REST)
            self._rested = self._clock.now()


class _Leaving(_Handfuls):
    """The same for a removal: what readers chose is forgotten, too."""

    def __init__(self, db: Database, progress: Progress = _silent) -> None:
        super().__init__(progress)
        self._db = db

    def __call__(self, keys: Sequence[int]) -> None:
        choices.forget(self._db, keys)
        super().__call__(keys)


def covering(text: str, settings: Settings, exact: bool = False) -> str:
    """The removal a person means by a URL, a prefix or a host.

    With a scheme: all URLs with this prefix. Without one: the same for both schemes; a bare host means all of it, on
    every
    port, and `//HOST/` on the default ones. `exact`, or a leading `=`: this URL only."""
    text = text.strip()
    if exact or text.startswith("="):
        return f"={canonical_or_error(text.removeprefix('='), settings)}"
    bare = text.removeprefix("//")
    url = canonical_or_error(bare, settings)
    if _is_wider(bare, url):
        raise UsageError(
            f"{text} is the same page as {url}, and all URLs with that prefix would go: write ={url} for that page "
            "alone, or the prefix you mean"
        )
    if "//" in bare:
        return url
    site = site_of(url)
    is_host = text.rstrip("/").count("/") == 0 and "?" not in bare
    return host_of(site) if is_host and host_of(site) == site else url[url.index("//") :]


def _is_wider(typed: str, url: str) -> bool:
    """Whether the canonical form is a prefix of more URLs than the typed text: it drops fragments, tracking and session
    parameters, and parent steps."""
    path, _, fragment = typed.partition("#")
    path, asks, query = path.partition("?")
    kept, still_asks, rest = url.partition("?")
    own, left = path.partition("//")[2] if "//" in path else path, kept.partition("//")[2]
    return (
        bool(fragment)
        or (bool(asks) and not still_asks)
        or _parameters(query) > _parameters(rest)
        or (";" in own and ";" not in left)
        or own.rstrip("/").count("/") > left.count("/")
    )


def _parameters(query: str) -> int:
    return sum(1 for one in query.split("&") if one)


def take_down(
    folder: DataFolder, db: Database, settings: Settings, prefix: str, reason: str, now: float,
    progress: Progress = _silent,
) -> int:  # fmt: skip
    """Take out what a prefix means (see `covering`) and keep it out; returns the number of known URLs."""
    what = covering(prefix, settings)
    urls = removing.remove(db, what, reason, now, _Leaving(db, progress))
    _silence(db, [what])
    drop_from_index(folder, db, settings, now)
    return urls


class Under(msgspec.Struct, frozen=True):
    """Progress of a removal."""

    urls: int
    is_done: bool


def take_down_within(
    folder: DataFolder, settings: Settings, prefix: str, reason: str, now: float, seconds: float
) -> Under:
    """Like `take_down`, but returns in time: a thread with its own connection finishes the rest."""
    left = 0
    problem: Exception | None = None

    def count(urls: int) -> None:
        nonlocal left
        left = urls

    def work() -> None:
        nonlocal problem
        try:
            with contextlib.closing(folder.open_database()) as db:
                take_down(folder, db, settings, prefix, reason, now, count)
        except Exception as error:  # of any kind: the caller must not believe that all is done
            problem = error
            is_known = isinstance(error, GossamerError)
            log.error("the takedown of %s did not finish: %s", prefix, error, exc_info=None if is_known else error)

    covering(prefix, settings)  # report errors of the first step here and now
    working = Thread(target=work, daemon=True)
    working.start()
    working.join(seconds)
    if problem is not None:
        raise problem
    return Under(left, not working.is_alive())


def restore(folder: DataFolder, db: Database, settings: Settings, prefix: str, now: float) -> int:
    """Let URLs in again that were taken down by this prefix; returns how many are fetched again."""
    what = prefix if prefix in {one.what for one in removals.all_removals(db)} else covering(prefix, settings)
    urls = restoring.restore(db, what, now, _Handfuls())
    if urls is not None:
        return urls
    wider = removals.covered(db).by(what.lstrip("=")) if "//" in what else None
    hint = f"{wider} covers it: undo that" if wider else "`gossamer remove --list` lists what was taken down"
    raise UsageError(f"{what} was not taken down on its own: {hint}")


def carry_on(folder: DataFolder, db: Database, settings: Settings, now: float) -> int:
    """Finish interrupted removals; returns how many URLs were left."""
    left = removals.unfinished(db)
    urls = sum(removing.remove(db, what, reason, now, _Leaving(db)) for what, reason in left.items())
    if left:
        _silence(db, list(left))
        drop_from_index(folder, db, settings, now)
    return urls


def _silence(db: Database, what: Sequence[str]) -> None:
    """Remove the URLs from messages of alerts that still wait, perhaps for days."""
    out = removals.Covered(what)
    for id in outbox.about_alerts(db):
        if _without(db, id, out) is not None:
            db.patiently(partial(_rewrite, db, id, out))


def _without(db: Database, id: str, out: removals.Covered) -> Message | None:
    """A message without covered pages; None if nothing remains."""
    body = outbox.body_of(db, id)
    message = decoded(body) if body is not None else None
    kept = tuple(item for item in message.items if not out(item.url)) if message else ()
    if message is None or len(kept) == len(message.items):
        return None
    # The message still says how many pages there were.
    return msgspec.structs.replace(message, items=kept, more=message.more + len(message.items) - len(kept))


def _rewrite(db: Database, id: str, out: removals.Covered) -> None:
    with db.transaction():
        message = _without(db, id, out)
        if message is not None and message.items:
            outbox.rewrite(db, id, encoded(message))
        elif message is not None:
            outbox.drop(db, id)


def drop_from_index(folder: DataFolder, db: Database, settings: Settings, now: float) -> None:
    """Delete pages from the index that left the table; an indexer that runs does so by itself."""
    place = index_place(folder, settings.shards)
    if IndexFolder(place.root).current() is None:
        return
    with contextlib.suppress(BusyError, commits.IndexVersionError), index_lock(folder, place):
        _drop(db, place, now)


def _drop(db: Database, place: IndexPlace, now: float) -> None:
    generations = IndexFolder(place.root)
    generation = generations.current()
    if generation is None:
        return
    with closing(IndexWriter(generations.tantivy(generation), generations.scratch(generation))) as writer:
        # This does not wait for an index that is behind: its position stays, and it checks the table for pages that it
        # reads later.
        gone = sorted(_departed(db, writer.position))
        for start in range(0, len(gone), _AT_ONCE):
            writer.apply({}, gone[start : start + _AT_ONCE], writer.position, now)
    from gossamer.index.vectors.store import erase  # NumPy: most takedowns go without

    erase(place.root, gone)


def _departed(db: Database, position: int) -> set[int]:
    """Keys of pages that left since the index was at a position and are not documents now."""
    sites: dict[int, list[int]] = defaultdict(list)
    for site_id, key in changes.departed(db, position, changes.last_change(db)):
        sites[site_id].append(key)
    return {key for site_id, keys in sites.items() for key in set(keys) - changes.documents(db, site_id, keys).keys()}


class Out(msgspec.Struct, frozen=True):
    """A removal, for lists."""

    what: str
    words: str
    reason: str
    removed_at: float
    unfinished: bool


def listed(db: Database) -> list[Out]:
    """All removals, the newest first."""
    return [
        Out(one.what, removals.words_of(one.what), one.reason, one.removed_at, one.unfinished)
        for one in removals.all_removals(db)
    ]
