"""One state of the index, open for reading; `Views` opens the next one by itself.

A change is seen by the file that every commit replaces (`meta.json`) and by the name of
the current generation: two `stat` calls per search, and the next search after a commit
sees it. Searches that run keep the state they started with.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import NamedTuple

import tantivy

from gossamer.index import commits, extras, schema
from gossamer.index.analysis import Languages
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import WHOLE, Cut
from gossamer.model.fields import CustomFields
from gossamer.search.corpus import Summary, usual_languages
from gossamer.search.suggest import Vocabulary

log = logging.getLogger(__name__)

_USUAL = ("the", "of", "a", "in", "de", "www", "org", "com", "http", "html", "и", "в", "的", "home")
"""Terms of which an index is likely to have one in any field."""
_REMEMBERED = 50_000
"""Terms whose frequencies are remembered."""
_REMEMBERED_NAMES = 20_000
"""Pages whose names are remembered."""
_VOCABULARY = 200_000
"""Words read for corrections, the most frequent ones."""
_NAMES = 50_000
"""Words of titles read with them: names and identifiers are rare in texts, but they are what people ask for."""
_VOCABULARY_AFTER = 0.1
"""Growth of the index, as a share, after which the vocabulary is read again."""


def count_of(found: tantivy.SearchResult) -> int:
    """How many pages matched."""
    count: int = found.count  # type: ignore[attr-defined]  # the library's stubs forget it
    return count


class Name(NamedTuple):
    """What a page is called."""

    title: str
    url: str
    site: str


def any_of(form: tantivy.Schema, field: str, values: Sequence[int | str]) -> tantivy.Query:
    """Pages that have any of some values in a field. A set of terms is looked for by an automaton over all terms of
    the field, which takes three to five times as long as to look up each."""
    terms = [(tantivy.Occur.Should, tantivy.Query.term_query(form, field, value, "basic")) for value in values]
    return tantivy.Query.const_score_query(tantivy.Query.boolean_query(terms), 0.0)


class View:
    """A state of the index."""

    def __init__(
        self, index: tantivy.Index, folder: Path, generation: str, commit: commits.Commit,
        stand_in: TemporaryDirectory[str] | None = None,
    ) -> None:  # fmt: skip
        self.index, self.folder, self.generation, self.commit = index, folder, generation, commit
        self.stand_in = stand_in
        """The folder that was opened instead of one that cannot be written; it goes with the view."""
        self.schema = index.schema
        self.searcher = index.searcher()
        self._frequencies: dict[tuple[str, str], int] = {}
        self._names: dict[tuple[int, int], Name] = {}

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self.searcher.num_docs

    @property
    def written(self) -> int:
        """Pages with those that are deleted and still counted by the library."""
        return sum(segment.max_doc for segment in self.commit.segments)

    @property
    def fields(self) -> CustomFields:
        """The operator's own fields."""
        return self.commit.payload.fields

    @cached_property
    def _languages(self) -> dict[str, int]:
        counted = self.searcher.aggregate(
            tantivy.Query.all_query(), {"langs": {"terms": {"field": schema.LANG, "size": 30}}}
        )["langs"]["buckets"]
        return {bucket["key"]: bucket["doc_count"] for bucket in counted}

    @cached_property
    def languages(self) -> Languages:
        """The languages that words of a query may be in, and how their words were analysed."""
        return usual_languages(self._languages, self.documents, self.extras)

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """The analysers that the index was built with and that are installed."""
        return extras.usable(self.commit.payload.extras)

    @cached_property
    def lengths(self) -> dict[str, float]:
        """How many words each field has on the average, as the library counts them; 0 for an empty field."""
        return {field: self._length(field) for field in schema.SCORED}

    @cached_property
    def summary(self) -> Summary:
        """What the index says of all its documents."""
        payload = self.commit.payload
        return Summary(
            documents=self.documents, written=self.written, languages=self._languages, has_copies=self.has_copies,
            extras=self.extras,
            tokens={field: length * self.written for field, length in self.lengths.items()},
            segments=len(self.commit.segments), position=payload.position, committed_at=payload.committed_at,
            generation=self.generation, fields=self.fields,
        )  # fmt: skip

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

    def holds(self, field: str, number: int) -> bool:
        """Whether a page here may have a number."""
        return bool(self.searcher.doc_freq(field, number))

    def boost(self, field: str, terms: Sequence[str]) -> float:
        """The library's weights are right where the index holds everything."""
        return 1.0

    def _length(self, field: str) -> float:
        # The library tells it in an explanation only, so some page with some word is explained.
        for term in self._some_terms(field):
            query = tantivy.Query.term_query(self.schema, field, term, "freq")
            for _, address in self.searcher.search(query, 1, count=False).hits:
                told = json.loads(query.explain(self.searcher, address).to_json())
                return float(told["details"][2]["details"][4]["value"])
        return 0.0

    def _some_terms(self, field: str) -> Iterator[str]:
        yield from (term for term in _USUAL if self.pages(field, term))
        yield from (term for term, _ in self.searcher.terms_with_prefix(field, "", None, 10))

    def stored(self, address: tantivy.DocAddress) -> schema.StoredDocument:
        """What the index keeps of a page to show it."""
        return schema.decode(self.searcher.doc(address))

    def name(self, address: tantivy.DocAddress) -> Name:
        """What a page is called; remembered, since lists of other pages are among the best hits of many queries."""
        place = address.segment_ord, address.doc
        known = self._names.get(place)
        if known is None:
            if len(self._names) >= _REMEMBERED_NAMES:
                self._names.clear()
            page = self.stored(address)
            known = self._names[place] = Name(page.title, page.url, page.site)
        return known

    def numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        """A number of each page, 0 where it has none."""
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)]

    def find(self, key: int) -> tantivy.DocAddress | None:
        """Where the page with a key is."""
        query = tantivy.Query.term_query(self.schema, schema.KEY, key)
        hits = self.searcher.search(query, 1, count=False).hits
        return hits[0][1] if hits else None

    def held(self, keys: Sequence[int]) -> list[int]:
        """Those of some keys whose pages are here."""
        if not keys:
            return []
        query = any_of(self.schema, schema.KEY, keys)
        hits = self.searcher.search(query, len(keys), count=False).hits
        return self.numbers(schema.KEY, [address for _, address in hits])


class Views:
    """The present state of an index folder, whoever writes it."""

    def __init__(self, folder: IndexFolder, cut: Cut = WHOLE) -> None:
        """`cut`: what the index must hold."""
        self._folder, self._cut = folder, cut
        self._lock = Lock()
        self._view: View | None = None
        self._seen: tuple[object, ...] = ()
        self._reading = Lock()
        self._vocabulary: tuple[int, Vocabulary] | None = None

    def current(self) -> View:
        """The newest state; errors say that there is no index, that it is damaged, or of another version."""
        view = self.known()
        if view is not None:
            return view
        with self._lock:
            path = self._folder.require()
            seen = self._identity(path)
            if self._view is None or seen != self._seen:
                self._view, self._seen = self._open(path, self._view), seen
            return self._view

    def known(self) -> View | None:
        """The newest state, if it is open already."""
        view = self._view
        return view if view is not None and self._identity(view.folder) == self._seen else None

    def _identity(self, path: Path) -> tuple[object, ...]:
        """What changes with every commit and every switch."""
        return (path, *_stamp(str(self._folder.pointer)), *_stamp(f"{path}/{commits.META}"))

    @property
    def has_vocabulary(self) -> bool:
        """Whether the words of the index were read."""
        return self._vocabulary is not None

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

    def read_ahead(self, view: View) -> None:
        """Begin to read the words of the index, so that the first query with a mistake need not wait for them."""
        if self._vocabulary is None and self._reading.acquire(blocking=False):
            Thread(target=self._read_again, args=(view,), daemon=True).start()

    def vocabulary_within(self, view: View, seconds: float) -> Vocabulary | None:
        """The words of the index, where they are read within this time; else they are there for who asks later."""
        if self._vocabulary is not None:
            return self.vocabulary(view)
        reading = Thread(target=self.vocabulary, args=(view,), daemon=True)
        reading.start()
        reading.join(seconds)
        return self._vocabulary[1] if self._vocabulary is not None else None

    def _read_again(self, view: View) -> None:
        try:
            self._read_vocabulary(view)
        finally:
            self._reading.release()

    def _read_vocabulary(self, view: View) -> None:
        with commits.checking(view.folder):
            terms = view.searcher.terms_with_prefix(schema.BODY, "", None, _VOCABULARY)
            titles = view.searcher.terms_with_prefix(schema.TITLE, "", None, _NAMES)
        counts = dict(titles) | dict(terms)
        self._vocabulary = (view.documents, Vocabulary(counts.items(), _VOCABULARY + _NAMES))

    def _open(self, path: Path, last: View | None) -> View:
        commit = commits.read(path)
        commits.check_cut(path, commit.payload, self._cut)
        with commits.checking(path):
            if last is not None and last.folder == path and last.stand_in is None:
                index, stand_in = last.index, None
                index.reload()
            else:
                stand_in = commits.stand_in(path)
                index = schema.prepare(tantivy.Index.open(stand_in.name if stand_in else str(path)))
                index.config_reader(reload_policy="manual")
                if lacking := extras.missing(commit.payload.extras):
                    log.warning("%s: %s", extras.complaint(lacking), extras.remedy(lacking))
            return View(index, path, path.parent.name, commit, stand_in)


def _stamp(path: str) -> tuple[int, int]:
    try:
        stat = os.stat(path)  # noqa: PTH116 - asked twice a search: a Path takes longer to make than to ask
    except OSError:
        return (0, 0)
    return (stat.st_ino, stat.st_mtime_ns)
