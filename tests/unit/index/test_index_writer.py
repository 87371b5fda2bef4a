"""Whatever is added, replaced, removed, merged and reopened, the index equals a plain dictionary."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from indexing_kit import (
    Batch,
    Model,
    contents,
    documents,
    expected,
    filled_index,
    model_at,
    new_index,
    open_writer,
    page,
)

from gossamer.index import commits, extras
from gossamer.index import writer as writer_module
from gossamer.index.document import IndexPage, build
from gossamer.index.merging import plan

NUMBERS = st.sets(st.integers(0, 40), max_size=6)


class IndexAgainstDictionary(RuleBasedStateMachine):
    """Random batches, merges and reopenings."""

    @initialize()
    def start(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = new_index(Path(self.temporary.name))
        self.writer = open_writer(self.folder)
        self.model: Model = {}
        self.position = 0

    @rule(written=NUMBERS, gone=NUMBERS)
    def apply(self, written: set[int], gone: set[int]) -> None:
        self.position += 1
        pages = [page(number, self.position) for number in sorted(written)]
        left = [page(number) for number in sorted(gone - written)]
        self.writer.apply(documents(pages), {page.key for page in left}, self.position, float(self.position))
        self.model.update((page.url, page.text) for page in pages)
        for page_ in left:
            self.model.pop(page_.url, None)

    @rule(times=st.integers(2, 20))
    def trickle(self, times: int) -> None:
        for number in range(times):
            self.apply({number}, set())

    @rule()
    def merge_now(self) -> None:
        self.writer.merge_some(wait=True)
        assert self.writer.segments <= 2 * 15

    @rule()
    def reopen(self) -> None:
        self.writer.close()
        self.writer = open_writer(self.folder)

    @invariant()
    def the_index_is_the_model(self) -> None:
        if hasattr(self, "model"):
            assert contents(self.folder) == expected(self.model)
            assert self.writer.position == commits.read(self.folder).payload.position == self.position

    def teardown(self) -> None:
        if hasattr(self, "writer"):
            self.writer.close()
            self.temporary.cleanup()


TestIndexAgainstDictionary = IndexAgainstDictionary.TestCase
TestIndexAgainstDictionary.settings = settings(
    max_examples=12, stateful_step_count=12, suppress_health_check=list(HealthCheck)
)


@pytest.mark.long
def test_many_batches_with_merges_under_way_end_as_the_model_and_in_few_segments(tmp_path):
    folder, dice = new_index(tmp_path), Random(5)
    writer = open_writer(folder)
    for position in range(1, 161):
        Batch(position).apply(writer)
        if dice.random() < 0.05:
            writer.close()
            writer = open_writer(folder)
        if position % 40 == 0:
            assert contents(folder) == expected(model_at(position))
    writer.merge_some(wait=True)
    assert writer.rewritten > 0
    assert writer.segments < 2 * 16, "at most fifteen of each of the two sizes there are"
    assert not plan([(segment.max_doc, segment.alive) for segment in commits.read(folder).segments])
    assert writer.position == 160
    assert contents(folder) == expected(model_at(160))
    writer.close()
    assert contents(folder) == expected(model_at(160))


def test_a_batch_replaces_adds_and_removes_in_one_commit(tmp_path):
    folder = filled_index(tmp_path)
    writer = open_writer(folder)
    replaced, added, gone = page(3, 9), page(77, 9), [page(4), page(25), page(1234)]
    writer.apply(documents([replaced, added]), {page.key for page in gone}, 50, 2.0)
    model = {page(n).url: page(n).text for n in range(30)} | {replaced.url: replaced.text, added.url: added.text}
    del model[gone[0].url], model[gone[1].url]
    assert contents(folder) == expected(model)
    wanted = commits.Payload(position=50, committed_at=2.0, crawl="a crawl", extras=extras.installed())
    assert commits.read(folder).payload == wanted
    writer.close()


def test_the_writer_finds_what_it_wrote_by_key(tmp_path):
    folder = filled_index(tmp_path)
    writer = open_writer(folder)
    writer.apply(documents([page(3, 9)]), (), 50, 2.0)
    found = writer.find([page(3).key, page(29).key, page(999).key])
    assert sorted(document.text for document in found) == [page(29).text, page(3, 9).text]
    writer.close()


def test_an_empty_batch_moves_the_position_only(tmp_path):
    folder = filled_index(tmp_path)
    before = contents(folder)
    writer = open_writer(folder)
    writer.apply({}, (), 99, 3.0)
    assert writer.position == 99
    assert writer.segments == 3
    assert contents(folder) == before
    writer.close()


def test_a_segment_without_documents_is_dropped(tmp_path):
    folder = filled_index(tmp_path)
    writer = open_writer(folder)
    writer.apply({}, {page(n).key for n in range(10)}, 4, 2.0)
    assert writer.segments == 2
    writer.apply({}, {page(n).key for n in range(10, 30)}, 5, 2.0)
    assert writer.segments == 0
    assert contents(folder) == []
    Batch(1).apply(writer)
    assert contents(folder) == expected(model_at(1))
    writer.close()


def test_deleting_from_many_segments_rewrites_none_of_them(tmp_path):
    folder = filled_index(tmp_path, batches=12)
    before = [segment.segment_id for segment in commits.read(folder).segments]
    writer = open_writer(folder)
    writer.apply({}, {page(10 * n).key for n in range(12)}, 13, 1.0)
    after = commits.read(folder).segments
    assert [segment.segment_id for segment in after] == before
    assert [(segment.max_doc, segment.alive) for segment in after] == [(10, 9)] * 12
    writer.close()


@pytest.fixture
def held_merge(monkeypatch):
    """A merge begins when asked, and ends when the test says so."""
    merge, go_on = writer_module.merge, threading.Event()

    def hold(scratch):
        assert go_on.wait(240)
        return merge(scratch)

    monkeypatch.setattr(writer_module, "merge", hold)
    yield go_on
    go_on.set()


def test_what_changes_while_a_merge_runs_is_changed_in_its_result(tmp_path, held_merge):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(16):
        writer.apply(documents([page(number), page(100 + number)]), (), number + 1, 1.0)
    assert writer.merge_some(), "sixteen segments of a size are merged"
    model = {page(n).url: page(n).text for start in (0, 100) for n in range(start, start + 16)}
    # the same page again and again, one that goes, one that goes and comes back, one that was never merged
    changes = [([page(3, 1)], [page(100)]), ([page(3, 2), page(4, 2)], [page(5)]), ([page(5, 3)], [page(4)]),
               ([page(500, 4)], []), ([page(500, 5), page(3, 5)], [])]  # fmt: skip
    for position, (written, gone) in enumerate(changes, start=17):
        writer.apply(documents(written), {page.key for page in gone}, position, 1.0)
        model |= {page.url: page.text for page in written}
        for page_ in gone:
            del model[page_.url]
        assert contents(folder) == expected(model)
    before = writer.segments
    held_merge.set()
    writer.merge_some(wait=True)
    assert writer.segments == before - 15
    assert writer.position == 21
    assert contents(folder) == expected(model)
    writer.close()
    assert contents(folder) == expected(model)


def test_all_that_a_merge_holds_may_go_while_it_runs(tmp_path, held_merge):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(16):
        writer.apply(documents([page(number)]), (), number + 1, 1.0)
    writer.apply({}, {page(n).key for n in range(16)}, 17, 1.0)
    assert writer.segments == 0
    held_merge.set()
    writer.merge_some(wait=True)
    assert writer.segments == 0
    assert contents(folder) == []
    writer.close()


def test_a_merge_given_up_at_the_end_leaves_everything_as_it_was(tmp_path, held_merge):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(16):
        writer.apply(documents([page(number)]), (), number + 1, 1.0)
    held_merge.set()
    writer.close()
    assert len(contents(folder)) == 16
    assert not (folder.parent / "scratch").exists()


def test_a_document_is_rewritten_as_often_as_it_is_merged(tmp_path):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(16):
        writer.apply(documents([page(number)]), (), number + 1, 1.0)
    writer.merge_some(wait=True)
    assert writer.rewritten == 16
    assert writer.segments == 1
    writer.close()


def test_a_batch_takes_documents_one_by_one_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    batch = writer.begin()
    for text in ("first", "second"):
        one = IndexPage(url="http://site.test/a", text=text)
        batch.add(one.key, build(one))
    other = IndexPage(url="http://site.test/b", text="third")
    batch.add(other.key, build(other))
    writer.apply(batch, (), 1, 0.0)
    assert batch.keys == {one.key, other.key}
    assert sorted(page.text for page in writer.find([one.key, other.key])) == ["second", "third"]
    writer.apply(writer.begin(), [other.key], 2, 0.0)
    assert [page.text for page in writer.find([one.key, other.key])] == ["second"] and writer.position == 2
