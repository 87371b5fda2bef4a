"""One state of the index, open for reading; `Views` opens the next one by itself.

A change is seen by the file that every commit replaces (`meta.json`) and by the name of
the current generation: two `stat` calls per search, and the next search after a commit
sees it. Searches that run keep the state they started with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread

import tantivy

from gossamer.index import commits, schema
from gossamer.index.folder import IndexFolder
from gossamer.search.suggest import Vocabulary

_LANGUAGES = 4
"""Languages that a query's words are stemmed in."""
_MIN_SHARE = 0.03
"""Share of the pages that a language must have for that."""
_REMEMBERED = 50_000
"""Terms whose frequencies are remembered."""
_VOCABULARY = 200_000
"""Words read for corrections, the most frequent ones."""
_VOCABULARY_AFTER = 0.1
"""Growth of the index, as a share, after which the vocabulary is read again."""


def count_of(found: tantivy.SearchResult) -> int:
    """How many pages matched."""
    count: int = found.count  # type: ignore[attr-defined]  # the library's stubs forget it
    return count


class View:
    """A state of the index."""

    def __init__(self, index: tantivy.Index, folder: Path, generation: str, commit: commits.Commit) -> None:
        self.index, self.folder, self.generation, self.commit = index, folder, generation, commit
        self.schema = index.schema
        self.searcher = index.searcher()
        self._frequencies: dict[tuple[str, str], int] = {}

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self.searcher.num_docs

    @cached_property
    def languages(self) -> Sequence[str]:
        """The languages that words of a query may be in, most frequent first."""
        counted = self.searcher.aggregate(
            tantivy.Query.all_query(), {"langs": {"terms": {"field": schema.LANG, "size": 30}}}
        )["langs"]["buckets"]
        least = _MIN_SHARE * self.documents
        return [bucket["key"] for bucket in counted if bucket["doc_count"] >= least][:_LANGUAGES] or ["en"]

    @cached_property
    def has_copies(self) -> bool:
        """Whether any page is a near copy of another."""
        joined = tantivy.Query.term_query(self.schema, schema.JOINED, 1)
        return bool(self.searcher.search(joined, 1, count=False).hits)

    def pages(self, field: str, term: str) -> int:
        """How many pages have a term; remembered, since people ask for the same words."""
        known = self._frequencies.get((field, term))
        if known is None:
            if len(self._frequencies) >= _REMEMBERED:
                self._frequencies.clear()
            known = self._frequencies[field, term] = self.searcher.doc_freq(field, term)
        return known

    def stored(self, address: tantivy.DocAddress) -> schema.StoredDocument:
        """What the index keeps of a page to show it."""
        return schema.decode(self.searcher.doc(address))

    def numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        """A number of each page, 0 where it has none."""
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)]

    def find(self, key: int) -> tantivy.DocAddress | None:
        """Where the page with a key is."""
        query = tantivy.Query.term_query(self.schema, schema.KEY, key)
        hits = self.searcher.search(query, 1, count=False).hits
        return hits[0][1] if hits else None


class Views:
    """The present state of an index folder, whoever writes it."""

    def __init__(self, folder: IndexFolder) -> None:
        self._folder = folder
        self._lock = Lock()
        self._view: View | None = None
        self._seen: tuple[object, ...] = ()
        self._reading = Lock()
        self._vocabulary: tuple[int, Vocabulary] | None = None

    def current(self) -> View:
        """The newest state; errors say that there is no index, that it is damaged, or of another version."""
        view = self._view
        if view is not None and self._identity(view.folder) == self._seen:
            return view
        with self._lock:
            path = self._folder.require()
            seen = self._identity(path)
            if self._view is None or seen != self._seen:
                self._view, self._seen = self._open(path, self._view), seen
            return self._view

    def _identity(self, path: Path) -> tuple[object, ...]:
        """What changes with every commit and every switch."""
        return (path, *_stamp(self._folder.pointer), *_stamp(path / commits.META))

    def vocabulary(self, view: View) -> Vocabulary:
        """The words of the index. They are read again, aside, when the index has grown by a tenth."""
        with self._reading:
            if self._vocabulary is None:
                self._read_vocabulary(view)
            assert self._vocabulary is not None
            size, vocabulary = self._vocabulary
        if view.documents > (1 + _VOCABULARY_AFTER) * size and self._reading.acquire(blocking=False):
            Thread(target=self._read_again, args=(view,), daemon=True).start()
        return vocabulary

    def _read_again(self, view: View) -> None:
        try:
            self._read_vocabulary(view)
        finally:
            self._reading.release()

    def _read_vocabulary(self, view: View) -> None:
        with commits.checking(view.folder):
            terms = view.searcher.terms_with_prefix(schema.BODY, "", None, _VOCABULARY)
        self._vocabulary = (view.documents, Vocabulary(terms))

    def _open(self, path: Path, last: View | None) -> View:
        commit = commits.read(path)
        with commits.checking(path):
            if last is not None and last.folder == path:
                index = last.index
                index.reload()
            else:
                index = schema.prepare(tantivy.Index.open(str(path)))
                index.config_reader(reload_policy="manual")
            return View(index, path, path.parent.name, commit)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0)
    return (stat.st_ino, stat.st_mtime_ns)
