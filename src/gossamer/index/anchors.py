"""Texts of links, by the page they point to.

Of each page's different anchor texts the `KEEP` with the smallest hashes are kept: a fair
sample, and one that depends neither on the order in which links come nor on how often one
is seen, so that a segment read twice, or a whole rebuild, ends the same. A page with n anchor texts
changes its sample about `KEEP` · ln n times.

A page that is indexed already and whose sample changes is *stale*; the indexer writes it
anew when there is nothing more urgent.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import xxhash

from gossamer.errors import CorruptError, StorageError
from gossamer.model.site import key64

KEEP = 8
_LONGEST = 100
_REMEMBERED = 500_000
_AT_ONCE = 500
"""Pages of one query."""
_HAS_LETTER = re.compile(r"[^\W\d_]")
_SAYS_NOTHING = frozenset(
    "next,previous,prev,up,top,home,index,back,contents,table of contents,link,links,here,click here,more,read more,"
    "learn more,permalink,edit,print,share,login,log in,sign in,source,далее,назад,вверх,главная,на главную,подробнее,"
    "читать далее,здесь,ссылка,ещё,еще,下一页,上一页,下一篇,上一篇,首页,更多,返回,目录".split(",")
)

_TABLES = """
CREATE TABLE IF NOT EXISTS anchors (target INTEGER, hash INTEGER, text TEXT NOT NULL, PRIMARY KEY (target, hash))
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stale (target INTEGER PRIMARY KEY)
"""


class AnchorStore:
    """The anchor texts of one generation of the index."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recent: set[int] = set()
        with self._failing():
            self._db = sqlite3.connect(path, isolation_level=None)
            # A lost commit is read again with its segment: the position in the index is older.
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -32768"):
                self._db.execute(f"PRAGMA {pragma}")
            for statement in _TABLES.split(";"):
                self._db.execute(statement)

    def add(self, links: Iterable[tuple[str, str]]) -> None:
        """Add links: target and anchor text."""
        new: dict[int, dict[int, str]] = defaultdict(dict)
        recent: set[int] = set()
        for target, anchor in links:
            seen = xxhash.xxh3_64_intdigest(f"{target}\0{anchor}".encode("utf-8", "replace"))
            if seen in self._recent or seen in recent:
                continue
            if len(recent) >= _REMEMBERED:
                recent.clear()
            recent.add(seen)
            text, hash_ = _kept(anchor)
            if text:
                new[key64(target)][hash_] = text
        with self._failing():
            self._merge(new)
        if len(self._recent) + len(recent) > _REMEMBERED:
            self._recent.clear()
        self._recent |= recent

    def _merge(self, new: dict[int, dict[int, str]]) -> None:
        added, dropped, stale = [], [], []
        there: dict[int, set[int]] = defaultdict(set)
        for target, hash_ in self._of("target, hash", list(new)):
            there[target].add(hash_)
        for target in sorted(new):
            known = there.get(target, set())
            kept = set(sorted(known | new[target].keys())[:KEEP])
            if kept == known:
                continue
            added += [(target, hash_, new[target][hash_]) for hash_ in kept - known]
            dropped += [(target, hash_) for hash_ in known - kept]
            stale.append((target,))
        if not stale:
            return
        with self._db:  # rolls back what fails
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR IGNORE INTO anchors VALUES (?, ?, ?)", added)
            self._db.executemany("DELETE FROM anchors WHERE target = ? AND hash = ?", dropped)
            self._db.executemany("INSERT OR IGNORE INTO stale VALUES (?)", stale)

    def texts(self, target: int) -> list[str]:
        """The anchor texts of a page."""
        return self.texts_of([target]).get(target, [])

    def texts_of(self, targets: Sequence[int]) -> dict[int, list[str]]:
        """The anchor texts of pages that have any, in an order that depends on nothing else."""
        found: dict[int, list[str]] = {}
        with self._failing():
            for target, _, text in sorted(self._of("target, hash, text", targets)):
                found.setdefault(target, []).append(text)
        return found

    def _of(self, columns: str, targets: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """Rows of some pages, many pages a query."""
        for start in range(0, len(targets), _AT_ONCE):
            asked = targets[start : start + _AT_ONCE]
            marks = ",".join("?" * len(asked))
            yield from self._db.execute(f"SELECT {columns} FROM anchors WHERE target IN ({marks})", asked)

    def stale(self, limit: int) -> list[int]:
        """Pages whose anchor texts changed since they were indexed; some of them may not be indexed at all."""
        with self._failing():
            return [row[0] for row in self._db.execute("SELECT target FROM stale ORDER BY target LIMIT ?", (limit,))]

    def indexed(self, targets: Sequence[int]) -> None:
        """Record that these pages are in the index with their present anchor texts."""
        with self._failing(), self._db:
            self._db.execute("BEGIN")
            self._db.executemany("DELETE FROM stale WHERE target = ?", [(target,) for target in targets])

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "full" in said or "I/O" in said or "unable to open" in said or "readonly" in said:
                raise StorageError(
                    f"{self._path}: {said}: fix that and start again; nothing committed is lost"
                ) from error
            raise CorruptError(f"{self._path} is damaged ({said}): run `gossamer index --rebuild`") from error


@lru_cache(maxsize=100_000)
def _kept(anchor: str) -> tuple[str, int]:
    """What is kept of an anchor text, and its hash; an empty text if it says nothing."""
    text = " ".join(anchor.encode("utf-8", "replace").decode().split())[:_LONGEST].strip()
    return (text, key64(text)) if says_something(text) else ("", 0)


def says_something(anchor: str) -> bool:
    """Whether an anchor text says anything about its target."""
    plain = anchor.lower().strip(" .…»«→←›‹<>[]()|:")
    return bool(_HAS_LETTER.search(plain)) and plain not in _SAYS_NOTHING and "://" not in plain
