"""Lets the library compare lengths with the average of *all* documents, though its index holds a part of them.

BM25 compares a page's length with the average, and the library takes that from the counts of documents and words that
its segments state. So a shard opens its index with one segment more, the *ballast*: documents with nothing but a word
that nobody can ask for, as many and as long as it takes for the averages to become those of all documents. Then every
score is right as the library calculates it.

A ballast takes a moment to make. It is made aside, once several searches of one state of the index wanted it, and used
again for the next states as long as it fits; until it is there, the best hits are corrected one by one (`lengths.py`).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import NamedTuple

import msgspec
import tantivy

from gossamer.errors import GossamerError
from gossamer.index import commits, schema
from gossamer.search.corpus import Whole
from gossamer.search.shards.lengths import ALIKE, Lengths
from gossamer.search.view import View

log = logging.getLogger(__name__)

WANTED = 3
"""Searches of one state of the index after which a ballast is made for it."""
WORD = "_"
"""Analysis cuts words at it, so no page and no query has it."""
_MOST_WORDS = 50_000_000
"""Words of a ballast; a shard that would need more, because it is so unlike the others, is corrected hit by hit."""
_HEAP = 50_000_000
_REST = 20.0
"""How many times as long as it took to make a ballast no other is made: an index may change all the time."""


class Weight(NamedTuple):
    """What a ballast consists of."""

    documents: int
    words: Mapping[str, int]
    """Field → words in all its documents together."""

    def fits(self, view: View, whole: Whole) -> bool:
        """Whether it makes the averages of an index those of all documents."""
        written = view.written + self.documents
        here = {
            field: (length * view.written + self.words.get(field, 0)) / written
            for field, length in view.lengths.items()
        }
        return Lengths(here, whole.lengths).are_alike


class Ballast:
    """A segment of ballast in a folder of its own."""

    def __init__(self, weight: Weight, form: tantivy.Schema) -> None:
        self.weight = weight
        self._folder = TemporaryDirectory(prefix="gossamer-ballast-", ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        _write(self.path, weight, form)


class Balance:
    """Opens one index with ballast; safe to share between threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._lock = Lock()
        self._of: View | None = None
        self._view: View | None = None
        self._ballast: Ballast | None = None
        self._wanted = 0
        self._making = False
        self._rest_until = 0.0

    def view(self, plain: View, whole: Whole) -> View:
        """The same state of the index with the averages of all documents; as it is where there is no such view yet."""
        if Lengths(plain.lengths, whole.lengths).are_alike:
            return plain
        with self._lock:
            if self._of is not plain:
                self._of, self._view, self._wanted = plain, None, 0
            if self._view is not None and Lengths(self._view.lengths, whole.lengths).are_alike:
                return self._view
            self._wanted += 1
            if self._wanted >= WANTED and not self._making:
                self._making, self._wanted = True, 0
                Thread(target=self._make, args=(plain, whole), daemon=True).start()
        return plain

    def _make(self, plain: View, whole: Whole) -> None:
        view = None
        try:
            view = self._balanced(plain, whole)
        except (GossamerError, OSError, ValueError) as error:  # the files are gone: there is a newer state by now
            log.info("no ballast for the index in %s: %s", plain.folder, error)
        with self._lock:
            self._making = False
            if self._of is plain and view is not None:
                self._view = view

    def _balanced(self, plain: View, whole: Whole) -> View | None:
        """A view with ballast; None where it would be too heavy, or where the last one was made just now."""
        if self._ballast is None or not self._ballast.weight.fits(plain, whole):
            started = self._now()
            weight = weigh(plain.written, plain.lengths, whole)
            if weight is None or started < self._rest_until:
                return None
            self._ballast = Ballast(weight, plain.schema)
            self._rest_until = self._now() + _REST * (self._now() - started)
        return _opened(plain, self._ballast.path)


def weigh(written: int, lengths: Mapping[str, float], whole: Whole) -> Weight | None:
    """What must be added to so many documents of these average lengths; None where it would be too much."""
    fields = [field for field in schema.SCORED if whole.lengths.get(field)]
    words = {field: written * lengths[field] for field in fields}
    if not fields or whole.written <= written:
        return None
    # Enough documents that no field has too many words already, and that half a word makes no difference.
    least = max(math.ceil(words[field] / whole.lengths[field]) for field in fields) - written
    exact = math.ceil(max(1 / (ALIKE * max(whole.lengths[field], 1.0)) for field in fields)) - written
    documents = max(least, min(exact, whole.written - written), 1)
    added = {field: max(0, round(whole.lengths[field] * (written + documents) - words[field])) for field in fields}
    return Weight(documents, added) if sum(added.values()) + documents <= _MOST_WORDS else None


def _write(folder: Path, weight: Weight, form: tantivy.Schema) -> None:
    """An index of nothing but ballast, with the fields of the index that it is for."""
    index = schema.prepare(tantivy.Index(form, str(folder)))
    writer = index.writer(_HEAP, 1)
    document = tantivy.Document()
    for field, count in weight.words.items():
        if count:
            document.add_text(field, f"{WORD} " * count)
    writer.add_document(document)
    empty = tantivy.Document()
    for _ in range(weight.documents - 1):
        writer.add_document(empty)
    writer.commit()
    writer.wait_merging_threads()


def _opened(plain: View, ballast: Path) -> View:
    """The state of an index together with ballast, in a folder of links."""
    place = TemporaryDirectory(prefix="gossamer-shard-", ignore_cleanup_errors=True)
    added = commits.read_library(ballast)
    source = Path(plain.stand_in.name) if plain.stand_in is not None else plain.folder
    with commits.keeping_files(source):
        for folder, segments in ((source, plain.commit.segments), (ballast, added)):
            for segment in segments:
                for path in segment.files(folder):
                    Path(place.name, path.name).symlink_to(path.resolve())
        commit = msgspec.structs.replace(plain.commit, segments=(*plain.commit.segments, *added))
        commits.write(Path(place.name), commit)
        with commits.checking(plain.folder):
            index = schema.prepare(tantivy.Index.open(place.name))
            index.config_reader(reload_policy="manual")
            return View(index, plain.folder, plain.generation, commit, place)
