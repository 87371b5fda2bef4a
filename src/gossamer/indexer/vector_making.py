"""Makes the vectors of pages, a few at a time, from what the index keeps of them.

The maker goes through the index segment by segment. A page whose text has no vector yet gets one; a page that has the
vector of just this text is passed over, so a segment that comes of a merge costs reading only. Which segments are done
is noted together with the vectors, so a killed maker goes on where it was committed last.

Pages that left the index, or are in another language now, lose their vectors a minute later at most; a takedown removes
them at once.

`tick` keeps a budget: after work that took t seconds of processor time it rests t · (1 / share - 1) seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import tantivy
import xxhash

from gossamer.index import commits, schema
from gossamer.index.folder import IndexFolder
from gossamer.index.schema import StoredDocument
from gossamer.index.shards import WHOLE
from gossamer.index.vectors.store import Manifest, VectorFolder, VectorStore
from gossamer.search.ranking import RankingConfig
from gossamer.search.semantic.encoder import Encoder, OnnxEncoder, prepared
from gossamer.search.semantic.mixing import LANGUAGES
from gossamer.search.view import View, Views

_LOOKED_AT = 500
"""Pages of a segment that are looked at together."""
_AT_ONCE = 8
"""Texts of one tick: about a sixth of a second, for which the index waits."""
_COMMIT_PAGES, _COMMIT_SECONDS = 2_000, 30.0
"""Vectors that a kill may cost, at most."""
_SWEEP_SECONDS = 60.0
"""Least time between two looks for pages that left."""
_SWEPT = 20_000
"""Pages that are looked for together."""
_SWEEPING_SHARE = 0.1
_CHARS = 2_000
"""Characters of a page that are read: no model takes more."""

Q = tantivy.Query
_MUST = tantivy.Occur.Must


class _Wanting(NamedTuple):
    """A page without a vector of its text."""

    key: int
    hash: int
    text: str


def text_of(page: StoredDocument) -> str:
    """What the vector of a page is made from: its title and the beginning of its text."""
    title = page.title.strip()
    text = page.text[: _CHARS + len(title)].strip()
    return text if text.startswith(title) else f"{title}\n{text}"[:_CHARS]


class VectorMaker:
    """Makes the vectors of one index; only for who holds the lock of its indexer."""

    def __init__(
        self, folder: IndexFolder, encoder: Encoder | None, share: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic, spent: Callable[[], float] = time.thread_time,
    ) -> None:  # fmt: skip
        """`share`: of one core; `spent`: processor time. Without an encoder, vectors only leave with their pages."""
        self._views, self._encoder, self._share = Views(folder, folder.cut() or WHOLE), encoder, share
        self._now, self._spent = monotonic, spent
        made_with: Manifest | Encoder = encoder or VectorFolder(folder.root).read()
        self._store = VectorStore(folder.root, made_with.name, made_with.size)
        self._read = set(self._store.read)
        self._rest_until = self._committed_at = self._swept_at = monotonic()
        self._view: View | None = None
        self._place = ("", 0)
        """Segment and document at which the look for pages goes on."""
        self._wanting: list[_Wanting] = []
        self._sweeping: Iterator[list[int]] | None = None
        self._swept: View | None = None

    def __len__(self) -> int:
        return len(self._store)

    def tick(self) -> bool:
        """Do a little, if the budget allows it; returns whether something was done."""
        if self._share <= 0 or self._now() < self._rest_until:
            return False
        began = self._spent()
        did = self.step()
        spent = self._spent() - began
        self._rest_until = self._now() + spent * (1 / min(self._share, 1.0) - 1)
        return did

    def finish(self, progress: Callable[[int], object] = lambda made: None) -> int:
        """Make all that are missing now, and remove those of pages that left; returns how many were made."""
        made = 0
        while self._advance():
            made += self._encode()
            self._commit_if_due()
            progress(made)
        self._commit()
        for keys in _batches(self._store.keys(), _SWEPT):
            self._remove(keys)
        return made

    def close(self) -> None:
        """Keep what was made."""
        self._commit()

    def step(self) -> bool:
        """Make some vectors, or look for pages that want one, or for pages that left; False if nothing is to do."""
        if self._advance():
            self._encode()
            self._commit_if_due()
            return True
        self._commit()
        return self._sweep_some()

    def _encode(self) -> int:
        taken, self._wanting = self._wanting[:_AT_ONCE], self._wanting[_AT_ONCE:]
        if taken and self._encoder is not None:
            vectors = self._encoder.encode([one.text for one in taken])
            self._store.add([one.key for one in taken], [one.hash for one in taken], vectors)
        return len(taken)

    def _commit_if_due(self) -> None:
        if self._store.waiting >= _COMMIT_PAGES or self._now() - self._committed_at >= _COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        self._committed_at = self._now()
        if self._store.waiting or self._read != self._store.read:
            # The pages that still wait are of a segment that does not count as read yet, unless they are its last.
            last = {self._place[0]} if self._wanting else set()
            self._store.commit(self._read - last)

    def _advance(self) -> bool:
        """See to it that pages are waiting, by looking at some more of the index; False if all of it is done."""
        if self._wanting:
            return True
        view = self._views.current()
        if view is not self._view:  # segments may have come and gone
            self._view = view
            self._read &= {segment.segment_id for segment in view.commit.segments}
        if self._encoder is None:
            return False
        names = [segment.segment_id for segment in view.commit.segments]
        name, start = self._place
        if name not in names or name in self._read:
            name, start = next((one for one in names if one not in self._read), ""), 0
        if not name:
            return False
        place = names.index(name)
        end = min(start + _LOOKED_AT, view.commit.segments[place].max_doc)
        with commits.checking(view.folder):
            self._wanting = list(self._wanting_of(view, [tantivy.DocAddress(place, one) for one in range(start, end)]))
        self._place = name, end
        if end == view.commit.segments[place].max_doc:
            self._read.add(name)
        return True

    def _wanting_of(self, view: View, addresses: list[tantivy.DocAddress]) -> Iterator[_Wanting]:
        """Those of some neighbouring documents that want a vector."""
        keys = view.numbers(schema.KEY, addresses)
        first = addresses[0]
        for address in _embedded(view, keys):
            if address.segment_ord == first.segment_ord and 0 <= address.doc - first.doc < len(keys):
                text, key = text_of(view.stored(address)), keys[address.doc - first.doc]
                hashed = xxhash.xxh3_64_intdigest(text.encode())
                if self._store.hash_of(key) != hashed:
                    yield _Wanting(key, hashed, text)

    def _sweep_some(self) -> bool:
        """Look whether some of the pages that have a vector left, once in a while after the index changed."""
        if self._sweeping is None:
            if self._swept is self._view or self._now() - self._swept_at < _SWEEP_SECONDS:
                return False
            self._swept_at, self._swept = self._now(), self._view
            self._sweeping = _batches(self._store.keys(), _SWEPT)
        keys = next(self._sweeping, None)
        if keys is None:
            self._sweeping = None
            return False
        self._remove(keys)
        return True

    def _remove(self, keys: Sequence[int]) -> None:
        view = self._views.current()
        with commits.checking(view.folder):
            held = view.numbers(schema.KEY, _embedded(view, keys))
        self._store.drop(set(keys).difference(held))


def open_maker(folder: IndexFolder, config: RankingConfig, share: float | None = None) -> VectorMaker | None:
    """What makes the vectors that the settings ask for; None if they ask for none and there are none."""
    if config.semantic:
        source = Path(config.semantic_model) if config.semantic_model else None
        encoder = OnnxEncoder(prepared(VectorFolder(folder.root).root, source))
        return VectorMaker(folder, encoder, config.semantic_cpu if share is None else share)
    return VectorMaker(folder, None, _SWEEPING_SHARE) if VectorFolder(folder.root).manifest.exists() else None


def _batches(keys: list[int], size: int) -> Iterator[list[int]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _embedded(view: View, keys: Sequence[int]) -> list[tantivy.DocAddress]:
    """Where those of some pages are that are to have a vector: in a language that the model knows."""
    these = Q.const_score_query(Q.term_set_query(view.schema, schema.KEY, list(keys)), 0.0)
    known = Q.const_score_query(Q.term_set_query(view.schema, schema.LANG, list(LANGUAGES)), 0.0)
    hits = view.searcher.search(Q.boolean_query([(_MUST, these), (_MUST, known)]), max(len(keys), 1), count=False).hits
    return [address for _, address in hits]
