"""Generations: one is searched while the next is built; a switch is one step, and what is not needed goes."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest
import tantivy
from indexing_kit import Batch, contents, documents, expected, model_at, open_writer, page

from gossamer.errors import StorageError
from gossamer.index import commits, extras, schema
from gossamer.index.folder import IndexFolder, IndexMissingError
from gossamer.index.writer import IndexWriter
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher


@pytest.fixture
def folder(tmp_path) -> IndexFolder:
    return IndexFolder(tmp_path / "data" / "index")


def new_generation(folder: IndexFolder, version: int, pages: int = 5) -> str:
    """A generation that holds some pages, not searched yet."""
    name = folder.create("a crawl")
    writer = IndexWriter(folder.tantivy(name), folder.scratch(name))
    writer.apply(documents(page(n, version) for n in range(pages)), (), version, 1.0)
    writer.close()
    return name


def test_a_new_generation_is_not_searched_before_the_switch(folder):
    assert folder.current() is None
    name = new_generation(folder, 1)
    assert folder.current() is None
    with pytest.raises(IndexMissingError):
        folder.require()
    folder.switch(name)
    assert folder.current() == name
    assert folder.require() == folder.tantivy(name)
    assert len(contents(folder.require())) == 5


def test_a_new_generation_is_empty_and_knows_its_crawl(folder):
    name = folder.create("crawl 7")
    assert commits.read(folder.tantivy(name)).payload == commits.Payload(crawl="crawl 7", extras=extras.installed())
    assert contents(folder.tantivy(name)) == []


def test_generations_have_names_of_their_own_and_the_switch_deletes_the_others(folder):
    first, second, third = (folder.create() for _ in range(3))
    assert len({first, second, third}) == 3
    (folder.root / "notes.txt").write_text("not ours")
    (folder.root / "g²").mkdir()
    folder.switch(second)
    assert {path.name for path in folder.root.iterdir()} == {"current", "notes.txt", "g²", second}
    folder.switch(folder.create())
    assert folder.current() not in (first, second, None)


def test_a_rebuild_that_was_never_finished_is_cleaned_away(folder):
    folder.switch(new_generation(folder, 1))
    kept = folder.current()
    abandoned = folder.create()
    folder.clean()
    assert folder.current() == kept
    assert not (folder.root / abandoned).exists()
    assert len(contents(folder.require())) == 5


def test_a_searcher_keeps_what_it_has_open_and_sees_the_new_generation_by_itself(folder):
    folder.switch(new_generation(folder, 1))
    searcher = Searcher.open(folder.root)
    assert searcher.search(Request(query="version")).total == 5
    view = searcher._views.current()
    name = new_generation(folder, 2, pages=8)
    assert searcher.search(Request(query="version")).total == 5, "not before the switch"
    folder.switch(name)
    old = [view.stored(address).text for _, address in view.searcher.search(tantivy.Query.all_query(), 10).hits]
    assert sorted(old) == [page(n, 1).text for n in range(5)], "the files are gone, but who has them open keeps them"
    assert searcher.search(Request(query="version")).total == 8
    assert searcher.state().generation == name
    stored = searcher.page(page(0).url)
    assert stored is not None
    assert stored.text == page(0, 2).text


def test_a_searcher_sees_every_commit_by_itself(folder):
    folder.switch(new_generation(folder, 1))
    searcher = Searcher.open(folder.root)
    writer = open_writer(folder.require())
    for position in range(2, 40):  # merges among them
        writer.apply(documents([page(position, position)]), (), position, float(position))
        assert searcher.state().position == position
        found = searcher.page(page(position).url)
        assert found is not None
        assert found.text == page(position, position).text
    writer.merge_some(wait=True)
    assert searcher.state().documents == writer.searcher().num_docs == 5 + 35
    assert searcher.state().segments == writer.segments
    writer.close()


def test_a_switch_that_fails_leaves_the_old_generation(folder, monkeypatch):
    folder.switch(new_generation(folder, 1))
    kept, name = folder.current(), new_generation(folder, 2)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", refuse)
        with pytest.raises(StorageError, match="No space left"):
            folder.switch(name)
    assert folder.current() == kept
    assert len(contents(folder.require())) == 5
    folder.switch(name)
    assert folder.current() == name


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write the index"):
        IndexFolder(tmp_path / "file" / "index").create()


def test_a_pointer_that_cannot_be_read_is_a_clear_error(folder):
    (folder.root / "current").mkdir(parents=True)
    with pytest.raises(StorageError, match="current"):
        folder.current()


# -- what lies in the folder ----------------------------------------------------------------------------


def counting(folder: Path) -> set[str]:
    """The files that the present commit needs."""
    return {path.name for segment in commits.read(folder).segments for path in segment.files(folder)}


def lying(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith((".", commits.META))}


def test_after_every_commit_exactly_the_files_that_count_are_left(folder):
    name = folder.create()
    place = folder.tantivy(name)
    writer = IndexWriter(place, folder.scratch(name))
    for position in range(1, 50):
        Batch(position).apply(writer)
        assert lying(place) == counting(place)
        assert len([path for path in lying(place) if path.endswith(".del")]) <= writer.segments
    writer.merge_some(wait=True)
    assert lying(place) == counting(place)
    assert [path.name for path in folder.scratch(name).iterdir()] == []
    writer.close()
    assert contents(place) == expected(model_at(49))


def test_what_a_dead_writer_left_is_deleted_by_the_next(folder):
    name = new_generation(folder, 1)
    place, scratch = folder.tantivy(name), folder.scratch(name)
    before = lying(place)
    stem = commits.read(place).segments[0].segment_id.replace("-", "")
    for left in ("0" * 32 + ".store", f"{stem}.99.del", "junk.tmp"):
        (place / left).write_bytes(b"left behind")
    (place / f"{commits.META}.new").write_bytes(b"{ half a comm")
    scratch.mkdir()
    (scratch / "7").mkdir()
    writer = IndexWriter(place, scratch)
    assert lying(place) == before
    assert not (scratch / "7").exists()
    Batch(1).apply(writer)
    writer.close()
    assert lying(place) == counting(place)


def test_files_are_not_deleted_while_a_reader_opens_them_nor_opened_while_they_are_deleted(folder):
    """The lock is the library's own: it takes it to read a commit and open its files, we take it to delete."""
    place = folder.tantivy(new_generation(folder, 1))
    garbage = "0" * 32 + ".store"
    (place / garbage).write_bytes(b"garbage")
    index = schema.prepare(tantivy.Index.open(str(place)))
    index.config_reader(reload_policy="manual")
    collecting = threading.Thread(target=commits.collect_garbage, args=(place, commits.read(place)))
    reading = threading.Thread(target=index.reload)
    with (place / ".tantivy-meta.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        for waiting in (collecting, reading):
            waiting.start()
            waiting.join(0.2)
            assert waiting.is_alive()
        assert garbage in lying(place)
        fcntl.flock(other, fcntl.LOCK_UN)
        for waiting in (collecting, reading):
            waiting.join(120)
    assert lying(place) == counting(place)
