"""Anchor texts: a fair sample that depends neither on the order of links nor on how often they are seen."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import CorruptError, StorageError
from gossamer.index.anchors import KEEP, AnchorStore, says_something
from gossamer.model.site import key64

A, B = "https://a.example/", "https://b.example/x"
LINKS = st.lists(
    st.tuples(st.sampled_from([A, B, "https://c.example/"]), st.sampled_from([f"text {n}" for n in range(30)])),
    max_size=80,
)


@pytest.fixture
def store(tmp_path):
    opened = AnchorStore(tmp_path / "anchors.db")
    yield opened
    opened.close()


def samples(links: list[tuple[str, str]], cuts: int = 1) -> dict[str, list[str]]:
    """What is kept of links that come in several lots."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anchors.db"
        opened = AnchorStore(path)
        size = max(1, len(links) // cuts)
        for start in range(0, len(links), size):
            opened.add(links[start : start + size])
            if start % 2:
                opened.close()
                opened = AnchorStore(path)
        found = {target: opened.texts(key64(target)) for target, _ in links}
        opened.close()
        return found


@settings(max_examples=40)
@given(LINKS, st.integers(0, 2**32), st.integers(1, 5))
def test_any_order_and_any_repetition_give_the_same_sample(links, seed, cuts):
    dice = Random(seed)
    again = links + dice.sample(links, len(links) // 2)
    dice.shuffle(again)
    assert samples(again, cuts) == samples(links)


@settings(max_examples=40)
@given(LINKS)
def test_at_most_so_many_different_texts_are_kept_and_all_where_there_are_fewer(links):
    found = samples(links, 3)
    for target, texts in found.items():
        different = {text for other, text in links if other == target}
        assert len(texts) == len(set(texts)) == min(KEEP, len(different))
        assert set(texts) <= different


@pytest.mark.parametrize(
    "anchor",
    ["", " ", "next", "Next »", "« Previous", "[edit]", "Read more…", "click here", "HOME", "1", "2.0", "→", "...",
     "https://a.example/x", "далее", "Читать далее", "ещё", "下一页", "首页 >", "更多", "目录"],
)  # fmt: skip
def test_texts_that_tell_nothing_are_dropped(store, anchor):
    assert not says_something(" ".join(anchor.split()))
    store.add([(A, anchor)])
    assert store.texts(key64(A)) == []
    assert store.stale(10) == []


@pytest.mark.parametrize(
    "anchor", ["Next generation", "Home Office", "C", "главная книга", "更多信息", "2001: A Space Odyssey"]
)
def test_texts_that_tell_something_are_kept(store, anchor):
    store.add([(A, anchor)])
    assert store.texts(key64(A)) == [anchor]


def test_white_space_is_one_space_and_long_texts_are_cut(store):
    store.add([(A, "  two\n\t words "), (A, "two words"), (B, "word " * 1000)])
    assert store.texts(key64(A)) == ["two words"]
    (text,) = store.texts(key64(B))
    assert len(text) <= 100
    assert text == text.strip()


def test_a_page_whose_sample_changes_is_stale_until_it_is_indexed(store):
    store.add([(A, "one"), (B, "two")])
    assert sorted(store.stale(10)) == sorted([key64(A), key64(B)])
    assert len(store.stale(1)) == 1
    store.indexed([key64(A)])
    assert store.stale(10) == [key64(B)]
    store.indexed([key64(B), 12345])
    assert store.stale(10) == []
    store.add([(A, "one"), (B, "two"), (B, "next")])
    assert store.stale(10) == [], "nothing new"
    store.add([(A, "another")])
    assert store.stale(10) == [key64(A)]


def test_a_text_that_does_not_come_into_the_sample_makes_nothing_stale(tmp_path):
    texts = sorted((f"text {n}" for n in range(KEEP + 20)), key=key64)
    store = AnchorStore(tmp_path / "anchors.db")
    store.add([(A, text) for text in texts[:KEEP]])
    store.indexed([key64(A)])
    store.add([(A, text) for text in texts[KEEP:]])
    assert store.stale(10) == []
    assert store.texts(key64(A)) == texts[:KEEP]
    store.close()


def test_what_is_stored_outlives_the_process(tmp_path):
    store = AnchorStore(tmp_path / "anchors.db")
    store.add([(A, "kept")])
    store.close()
    store = AnchorStore(tmp_path / "anchors.db")
    assert store.texts(key64(A)) == ["kept"]
    assert store.stale(10) == [key64(A)]
    store.close()


def test_links_that_broke_off_are_taken_when_they_come_again(store):
    def broken():
        yield A, "from a damaged segment"
        raise CorruptError("the rest cannot be read")

    with pytest.raises(CorruptError):
        store.add(broken())
    store.add([(A, "from a damaged segment")])
    assert store.texts(key64(A)) == ["from a damaged segment"]


def test_unprintable_texts_do_no_harm(store):
    store.add([(A, "lone \ud800 surrogate"), (B, "nul \0 inside")])
    assert store.texts(key64(A)) == ["lone ? surrogate"]
    assert store.texts(key64(B)) == ["nul \0 inside"]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.just(A), st.text(st.characters())), max_size=20))
def test_no_text_is_an_error(links):
    samples(links)


def test_a_damaged_database_is_an_error_that_names_the_way_out(tmp_path):
    path = tmp_path / "anchors.db"
    path.write_bytes(b"this is not a database, " * 400)
    with pytest.raises(CorruptError, match=r"anchors\.db is damaged .*gossamer index --rebuild"):
        AnchorStore(path)


@pytest.mark.parametrize("use", ["texts", "stale", "indexed", "add"])
def test_a_database_that_breaks_while_it_is_open_is_the_same_error(tmp_path, use):
    path = tmp_path / "anchors.db"
    store = AnchorStore(path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE anchors")
        other.execute("DROP TABLE stale")
    calls = {"texts": (1,), "stale": (1,), "indexed": ([1],), "add": ([(A, "text")],)}
    with pytest.raises(CorruptError, match="gossamer index --rebuild"):
        getattr(store, use)(*calls[use])
    store.close()


def test_a_folder_that_cannot_be_written_is_not_called_damage(tmp_path):
    with pytest.raises(StorageError, match=r"anchors\.db"):
        AnchorStore(tmp_path / "missing" / "anchors.db")


def test_a_transaction_that_failed_is_undone_and_the_next_one_works(store):
    store.add([(A, "one")])
    store._db.execute("CREATE TRIGGER refuse BEFORE INSERT ON stale BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    with pytest.raises(StorageError):
        store.add([(B, "two")])
    store._db.execute("DROP TRIGGER refuse")
    assert store.texts(key64(B)) == []
    store.add([(B, "two")])
    assert store.texts(key64(B)) == ["two"]
