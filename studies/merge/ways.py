"""Ways to keep a real index in order, each on a folder of its own.

- `ours`: the live writer;
- `levels`, `one segment`: the live writer with another policy of `merge_policies`;
- `library`: the library's own writer and merge policy, one commit per update.

The library merges no fewer than eight segments, so smaller groups are filled up with empty ones, which are deleted
afterwards: some milliseconds of each such merge. It merges no segment of 10,000 documents with small ones; that is
where `one segment` ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import tantivy

from gossamer.index import commits, merging, schema
from gossamer.index.commits import Segment
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from studies.merge.policies import Held, Load, Policy, levels, one_segment

MOST_IN_ONE = 9_000
"""Documents up to which `one segment` is possible."""
_HEAP = 200_000_000
_SMALL_HEAP = 15_000_000
_TOGETHER = 8
"""Segments that the library wants to see before it merges."""
_FILLING = range(2 - _TOGETHER, 0)
"""Keys of the empty documents that fill a group up."""

Documents = dict[int, tantivy.Document]


class Way(Protocol):
    """One index, and how it is merged."""

    @property
    def segments(self) -> int:
        """How many there are."""
        ...

    @property
    def rewritten(self) -> int:
        """Documents copied by merges so far."""
        ...

    def apply(self, documents: Documents, update: int) -> None:
        """Commit an update."""
        ...

    def settle(self) -> None:
        """Do the merges that are due."""
        ...

    def close(self) -> None:
        """Stop."""
        ...


class Ours:
    """The live writer as it is, or with another policy."""

    def __init__(self, root: Path, load: Load, policy: Policy | None = None) -> None:
        folder = _new_index(root)
        scratch = folder.parent / "scratch"
        self._writer = _PolicyWriter(folder, scratch, policy) if policy else IndexWriter(folder, scratch)
        self._a_day = load.a_day

    @property
    def segments(self) -> int:
        """How many there are."""
        return self._writer.segments

    @property
    def rewritten(self) -> int:
        """Documents copied by merges so far."""
        return self._writer.rewritten

    def apply(self, documents: Documents, update: int) -> None:
        """Commit an update."""
        if isinstance(self._writer, _PolicyWriter):
            self._writer.day_over = (update + 1) % self._a_day == 0
        self._writer.apply(documents, (), update + 1, float(update + 1))

    def settle(self) -> None:
        """Do the merges that are due."""
        self._writer.merge_some(wait=True)

    def close(self) -> None:
        """Stop."""
        self._writer.close()


class _PolicyWriter(IndexWriter):
    """Merges what a policy says, when it is waited for."""

    def __init__(self, folder: Path, scratch: Path, policy: Policy) -> None:
        super().__init__(folder, scratch)
        self._policy = policy
        self._levels: dict[str, int] = {}
        self._padding = folder.parent / "padding"
        self._empty = _empty_segments(self._padding)
        self.day_over = False

    def merge_some(self, wait: bool = False) -> bool:
        """Merge as long as the policy finds something to merge."""
        while wait and (groups := self._policy(self._held(), self.day_over)):
            self._merge_group([self._commit.segments[position] for position in groups[0]])
        return False

    def _held(self) -> list[Held]:
        level = self._levels.get
        return [Held(one.max_doc, one.alive, level(one.segment_id, 0)) for one in self._commit.segments]

    def _merge_group(self, members: Sequence[Segment]) -> None:
        level = 1 + max(self._levels.get(one.segment_id, 0) for one in members)
        if len(members) == 1:  # it moves up as it is
            self._levels[members[0].segment_id] = level
            return
        place = self._new_scratch()
        filling = self._empty[: max(0, _TOGETHER - len(members))]
        commits.copy(self._commit, members, self._folder, place)
        commits.link(filling, self._padding, place)
        commits.write(place, msgspec.structs.replace(commits.read(place), segments=(*members, *filling)))
        merging.merge(place)
        if filling:
            _delete(place, _FILLING)
        merged = self._take_in(place)
        self._levels |= {one.segment_id: level for one in merged}
        self.rewritten += sum(one.alive for one in merged)
        old = {one.segment_id for one in members}
        kept = [one for one in self._commit.segments if one.segment_id not in old]
        self._publish([*kept, *merged], self._commit.payload)


class Library:
    """The library's writer, which merges in threads of its own by its own policy."""

    def __init__(self, root: Path, load: Load) -> None:
        self._folder, self._pages = _new_index(root), load.pages
        self._index = schema.prepare(tantivy.Index.open(str(self._folder)))
        self._writer = self._index.writer(_HEAP, 1)
        self._known: set[str] = set()
        self.segments = self.rewritten = 0

    def apply(self, documents: Documents, _update: int) -> None:
        """Commit an update."""
        for key, document in documents.items():
            self._writer.delete_documents_by_term(schema.KEY, key)
            self._writer.add_document(document)
        self._writer.commit()

    def settle(self) -> None:
        """Wait for its threads, and count what merges made: segments larger than an update."""
        self._writer.wait_merging_threads()
        segments = commits.read(self._folder).segments
        self.rewritten += sum(s.alive for s in segments if s.segment_id not in self._known and s.max_doc > self._pages)
        self._known.update(segment.segment_id for segment in segments)
        self.segments = len(segments)
        self._writer = self._index.writer(_HEAP, 1)

    def close(self) -> None:
        """Stop."""
        self._writer.wait_merging_threads()


WAYS: dict[str, Callable[[Path, Load], Way]] = {
    "one segment": lambda root, load: Ours(root, load, one_segment),
    "levels": lambda root, load: Ours(root, load, levels),
    "library": Library,
    "ours": Ours,
}


def _new_index(root: Path) -> Path:
    folder = IndexFolder(root)
    folder.switch(folder.create())
    return folder.require()


def _empty_segments(folder: Path) -> tuple[Segment, ...]:
    """Segments with one empty document each, to fill a group up."""
    folder.mkdir(parents=True)
    writer = schema.prepare(tantivy.Index(schema.build(), str(folder))).writer(_SMALL_HEAP, 1)
    for key in _FILLING:
        document = tantivy.Document()
        document.add_integer(schema.KEY, key)
        writer.add_document(document)
        writer.commit()
    writer.wait_merging_threads()
    return commits.read(folder).segments


def _delete(folder: Path, keys: Sequence[int]) -> None:
    writer = schema.prepare(tantivy.Index.open(str(folder))).writer(_SMALL_HEAP, 1)
    for key in keys:
        writer.delete_documents_by_term(schema.KEY, key)
    writer.commit()
    writer.wait_merging_threads()
