"""Recorded webs as files: what was saved is loaded, and what is no recorded web is refused in words."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.lab.webs.ragged import nothing, ragged
from gossamer.lab.webs.web import NO_RULES, NOWHERE, Facts, RecordedWeb, load_web, save_web
from gossamer.parse.rules import DocumentRule

lists = st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5), max_size=8)


@given(lists)
def test_ragged_rows_come_back_as_they_were_given(rows: list[list[int]]) -> None:
    made = ragged(rows, np.int64)
    assert [made.of(row).tolist() for row in range(len(made))] == rows
    assert made.counts.tolist() == [len(row) for row in rows]
    assert [rows[row] for row in made.rows.tolist()] == [row for row in rows for _ in row]


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=6), st.data())
def test_some_ragged_rows_are_those_rows_in_the_order_asked_for(rows: list[list[int]], data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    found = ragged(rows, np.int64).some(np.array(wanted, np.int64))
    assert [found.of(n).tolist() for n in range(len(found))] == [rows[n] for n in wanted]


@given(lists, lists)
def test_ragged_rows_are_the_same_only_where_all_are(one: list[list[int]], other: list[list[int]]) -> None:
    assert ragged(one, np.int64).is_same_as(ragged(other, np.int64)) == (one == other)


@given(st.integers(0, 20))
def test_nothing_is_so_many_empty_rows(rows: int) -> None:
    assert nothing(rows, np.int64).is_same_as(ragged([[]] * rows, np.int64))


@st.composite
def webs(draw: st.DrawFn) -> RecordedWeb:
    n = draw(st.integers(0, 6))
    column = {"min_size": n, "max_size": n}
    rows = st.lists(st.integers(0, max(0, n - 1)), max_size=4 if n else 0)
    texts = st.text(max_size=5).filter(lambda text: text.isprintable())
    times = st.floats(0, 1e10)
    return RecordedWeb(
        Facts(
            "made up", draw(times), draw(times), draw(rows), {"http://a.org": draw(st.binary(max_size=9))},
            {"a.org": "10.0.0.1"}, [DocumentRule("a.org", ("/{slug}",))], source="a test",
        ),
        [f"http://a.org/{number}" for number in range(n)],
        answer=draw(st.lists(st.sampled_from(["", "document", "gone"]), **column)),
        links=ragged(draw(st.lists(rows, **column)), np.int64),
        kind=np.array(draw(st.lists(st.integers(0, 2), **column)), np.int8),
        status=np.array(draw(st.lists(st.integers(0, 599), **column)), np.int16),
        size=np.array(draw(st.lists(st.integers(0, 2**40), **column)), np.int64),
        duration=np.array(draw(st.lists(times, **column)), np.float64),
        media_type=draw(st.lists(texts, **column)),
        fit=np.array(draw(st.lists(st.integers(-1, 1), **column)), np.int8),
        noindex=np.array(draw(st.lists(st.booleans(), **column)), bool),
        validates=np.array(draw(st.lists(st.booleans(), **column)), bool),
        redirect=np.array(draw(st.lists(st.integers(-1, max(0, n - 1)), **column)), np.int64),
        canonical=np.array(draw(st.lists(st.integers(-1, max(0, n - 1)), **column)), np.int64),
        text_hash=draw(st.lists(texts, **column)),
        fingerprint=draw(st.lists(st.binary(max_size=8), **column)),
        page_type=draw(st.lists(texts, **column)),
        feeds=ragged(draw(st.lists(rows, **column)), np.int64),
        born=np.array(draw(st.lists(st.one_of(st.just(-np.inf), times), **column)), np.float64),
        changes=ragged(draw(st.lists(st.lists(times, max_size=3).map(sorted), **column)), np.float64),
    )  # fmt: skip


@settings(max_examples=30)
@given(web=webs())
def test_a_web_that_was_saved_is_loaded_as_it_was(tmp_path: Path, web: RecordedWeb) -> None:
    file = tmp_path / "made-up.web.parquet"
    save_web(web, file)
    loaded = load_web(file)
    assert loaded.facts == web.facts
    for name, value in vars(web).items():
        if name in ("links", "feeds", "changes"):
            assert getattr(loaded, name).is_same_as(value), name
        elif isinstance(value, np.ndarray):
            assert np.array_equal(getattr(loaded, name), value), name
            assert getattr(loaded, name).dtype == value.dtype, name
        else:
            assert getattr(loaded, name) == value, name
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_what_is_not_said_of_a_page_is_what_most_pages_are() -> None:
    web = RecordedWeb(Facts("plain", 0.0, 0.0, [0]), ["http://a.org/"], answer=["document"], links=nothing(1, np.int64))
    assert (web.status[0], web.fit[0], web.redirect[0], web.canonical[0]) == (200, NO_RULES, NOWHERE, NOWHERE)
    assert web.born[0] == -np.inf
    assert web.version(0, 1e12) == 0


def test_of_two_pages_with_one_text_the_first_is_useful() -> None:
    web = RecordedWeb(
        Facts("copies", 0.0, 0.0, [0]),
        [f"http://a.org/{n}" for n in range(6)],
        answer=["document"] * 5 + ["gone"],
        links=nothing(6, np.int64),
        fit=np.array([0, 1, 1, 1, 1, 1], np.int8),
        noindex=np.array([False, False, False, True, False, False]),
        text_hash=["x", "x", "x", "y", "", ""],
    )
    assert web.useful.tolist() == [False, True, False, False, True, False]


def test_a_page_has_changed_as_often_as_its_history_says() -> None:
    changes = ragged([[10.0, 20.0, 20.5]], np.float64)
    web = RecordedWeb(
        Facts("one", 0.0, 30.0, [0]),
        ["http://a.org/"],
        answer=["document"],
        links=nothing(1, np.int64),
        changes=changes,
    )
    assert [web.version(0, at) for at in (0.0, 9.9, 10.0, 20.2, 21.0)] == [0, 0, 1, 2, 3]


def bad_files(folder: Path) -> dict[str, Path]:
    plain = folder / "plain.parquet"
    pq.write_table(pa.table({"urls": ["http://a.org/"]}), plain)
    text = folder / "text.parquet"
    text.write_text("not Parquet")
    newer = folder / "newer.parquet"
    facts = Facts("newer", 0.0, 0.0, [], format=99)
    metadata = {"gossamer.web": msgspec.json.encode(facts)}
    pq.write_table(pa.table({"urls": ["http://a.org/"]}).replace_schema_metadata(metadata), newer)
    return {"plain": plain, "text": text, "newer": newer, "missing": folder / "missing.parquet"}


@pytest.mark.parametrize("kind", ["plain", "text", "newer", "missing"])
def test_a_file_that_is_no_recorded_web_is_refused_with_its_name(tmp_path: Path, kind: str) -> None:
    file = bad_files(tmp_path)[kind]
    with pytest.raises(UsageError, match=file.name):
        load_web(file)
