"""Counts of words do not depend on how often a task writes them away; runs leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from stored_kit import Stored, row

from gossamer.engine.contract import InlineEngine
from gossamer.errors import CorruptError, StorageError, UsageError
from gossamer.index.analysis import stems
from gossamer.jobs import vocabulary as words
from gossamer.jobs.context import get_table, put_table, result_table
from gossamer.jobs.near_clusters import near_clusters
from gossamer.jobs.run import JOBS, job_named, save_files, sweep, working
from gossamer.store.place import LocalPlace
from gossamer.store.telling_links import telling_links

DAY = 86_400.0


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Stored]:
    stored = Stored(tmp_path / "crawl")
    stored.write([
        row("http://a.test/1", "Spiders spin. A spider spins silk.", title="Spiders", lang="en"),
        row("http://a.test/2", "Silk is strong.", title="Silk", claimed_lang="en"),
    ])  # fmt: skip
    stored.write([row("http://b.test/1", "蜘蛛织网", title="网", lang="zh"), row("http://b.test/2", "no language")])
    yield stored
    stored.db.close()


def counted(stored: Stored, parts: int = 2) -> list[dict[str, Any]]:
    context = stored.context(parts)
    return list(result_table(context.place, words.vocabulary(context)[1], words.ORDER).to_pylist())


def test_words_are_counted_by_language_and_told_apart_in_titles(stored: Stored) -> None:
    found = {(one["lang"], one["word"]): one for one in counted(stored)}
    spider, silk = stems("spider", "en")[0], stems("silk", "en")[0]
    assert [found["en", spider][name] for name in ("documents", "occurrences", "titles")] == [1, 2, 1]
    assert [found["en", silk][name] for name in ("documents", "occurrences", "titles")] == [2, 2, 1]
    assert {word for lang, word in found if lang == "zh"} == set(stems("蜘蛛织网", "zh") + stems("网", "zh"))
    assert {word for lang, word in found if lang == ""} == set(stems("no language"))


def test_writing_words_away_after_each_page_changes_nothing(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = counted(stored)
    monkeypatch.setattr(words, "_HELD", 1)
    assert counted(stored, 5) == expected


def test_only_links_that_a_page_vouches_for_tell_something() -> None:
    page = "http://a.test/"
    rows = [
        (page, "http://a.test/1", "one", "", "a"),
        (page, "http://a.test/1", "one", "", "a"),
        (page, "http://a.test/2", "two", "nofollow noopener", "a"),
        (page, "http://a.test/3", "three", "", "iframe"),
        (page, "http://a.test/4", "", "", "a"),
        (page, page, "self", "", "a"),
        (page, "http://a.test/5", "five", "noopener", "area"),
    ]
    names = ("source", "target", "anchor", "rel", "tag")
    table = pa.table({name: [one[place] for one in rows] for place, name in enumerate(names)})
    assert telling_links(table) == [("http://a.test/1", "one"), ("http://a.test/5", "five")]


def test_a_run_that_fails_leaves_no_files(stored: Stored, tmp_path: Path) -> None:
    def fail() -> None:
        with working("x", InlineEngine(), stored.db, "", str(tmp_path / "work"), 5 * DAY) as context:
            context.place.put("some/file", b"1")
            assert list((tmp_path / "work").rglob("file"))
            raise UsageError("no")

    with pytest.raises(UsageError):
        fail()
    assert not list((tmp_path / "work").rglob("*"))


def test_what_a_killed_run_left_is_swept_days_later_and_nothing_else(stored: Stored, tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "work")
    with working("killed", InlineEngine(), stored.db, "", place.url, 5 * DAY) as context:
        folder = Path(context.work).name
    place.put(f"{folder}/left", b"1")
    place.put("ranks/current", b"not ours")
    assert sweep(place, 6 * DAY) == []
    assert sweep(place, 9 * DAY) == [folder]
    assert list(place.names()) == ["ranks/current"]


def test_two_runs_at_once_do_not_share_files(stored: Stored, tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    with (
        working("x", InlineEngine(), stored.db, "", work, DAY) as one,
        working("x", InlineEngine(), stored.db, "", work, DAY) as other,
    ):
        assert one.work != other.work


def test_every_job_has_a_name_and_a_sentence() -> None:
    assert all(job.about and name == job.name for name, job in JOBS.items())
    with pytest.raises(UsageError, match="there is no job 'x': use one of prefix-statistics"):
        job_named("x")


def test_files_are_saved_under_plain_names_or_it_is_said_why_not(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "work")
    place.put("clusters/00000.parquet", b"data")
    assert [path.name for path in save_files(place, ["clusters/00000.parquet"], tmp_path / "out")] == [
        "clusters-00000.parquet"
    ]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="choose another folder"):
        save_files(place, ["clusters/00000.parquet"], tmp_path / "file")


def test_the_same_table_makes_the_same_bytes_and_damage_is_named(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    table = pa.table({"key": [1, 2, 3], "url": ["a", "b", "c"]})
    put_table(place, "one=1.parquet", table)
    put_table(place, "two.parquet", table)
    assert place.get("one=1.parquet") == place.get("two.parquet")
    assert get_table(place, "one=1.parquet", ["url"]).to_pydict() == {"url": ["a", "b", "c"]}
    place.put("two.parquet", b"damaged")
    with pytest.raises(CorruptError, match=r"two\.parquet is damaged"):
        get_table(place, "two.parquet")


def test_methods_that_cannot_be_used_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    stored = Stored(tmp_path)
    with pytest.raises(UsageError, match="there is no method 'imatch'"):
        near_clusters(stored.context(), "imatch")
    with pytest.raises(UsageError, match="there is no method"):
        near_clusters(stored.context(), "x")
    stored.db.close()
