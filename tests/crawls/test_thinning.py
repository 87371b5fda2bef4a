"""A crawl that goes on for years: old visits are thinned out, and what is searched, linked and shown stays."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from crawl_kit import PATIENCE, crawl, exported, run, settings_of, write_settings

from gossamer.clock import SystemClock
from gossamer.data import exporting
from gossamer.data.folder import DataFolder
from gossamer.data.locks import thinning_lock
from gossamer.data.machine import THINNER
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import recover
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.views.inspect import segment_ids
from gossamer.settings import load
from gossamer.store.erasing import SUPERSEDED, erase, superseded
from gossamer.store.layout import new_segment_id
from gossamer.store.segments import check_segment, iter_pages, open_links
from gossamer.tables import holds
from gossamer.testing import FakeWeb
from gossamer.upkeep.compacting import SegmentsHeldError, SegmentsReplacedError, replace
from gossamer.upkeep.due import thinning_every
from gossamer.upkeep.thinning import thin_out

ROUNDS = 4
CHANGING, STEADY = "/changing.html", "/steady.html"


def words(round_: int) -> str:
    return f"Round {round_} of the changing page. " + " ".join(f"word{round_}x{n}" for n in range(100))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeWeb, Path]]:
    """A page that was different at each of four visits, and one that was visited as often and stayed the same."""
    data, web = tmp_path_factory.mktemp("visited") / "data", FakeWeb("127.0.63")
    site = web.site("a.test")
    site.page("/", "The start of it all. " + "so " * 40, links=[CHANGING, STEADY])
    site.page(STEADY, "Steady as she goes. " + " ".join(f"steady{n}" for n in range(100)))
    with web:
        for round_ in range(ROUNDS):
            site.page(CHANGING, words(round_), links=[f"/linked-{round_}.html"])
            if round_:
                for path in (CHANGING, STEADY):
                    assert run("recrawl", web.url("a.test", path), data=data).returncode == 0
            crawl(web, data, [web.url("a.test")])
        yield web, data


@pytest.fixture
def visited(crawled: tuple[FakeWeb, Path], tmp_path: Path) -> tuple[FakeWeb, Path]:
    """A copy of that crawl."""
    shutil.copytree(crawled[1], tmp_path / "data")
    return crawled[0], tmp_path / "data"


def thinned(data: Path, keep: float) -> int:
    """Thin out once; returns how many visits went."""
    folder = DataFolder(data)
    db = folder.open_database()
    try:
        return thin_out(folder, db, keep, SystemClock().now())
    finally:
        db.close()


def stored(data: Path, ask: str) -> list[tuple[str, str]]:
    """The end of the URL and one more field of every stored row."""
    folder = DataFolder(data)
    db = folder.read()
    try:
        batches = iter_pages(folder.segments, segment_ids(db), ["url", ask])
        return [(row["url"].rpartition("/")[2], row[ask] or "") for batch in batches for row in batch.to_pylist()]
    finally:
        db.close()


def test_only_what_is_in_use_keeps_its_text_links_and_response(visited: tuple[FakeWeb, Path]) -> None:
    web, data = visited
    pages = {page["url"]: page["text"] for page in exported("pages", data)}
    visits = stored(data, "reason")
    assert len([one for one, _ in visits if one == "changing.html"]) == ROUNDS
    went = thinned(data, keep=0.001)
    assert {page["url"]: page["text"] for page in exported("pages", data)} == pages
    assert [url for url, _ in stored(data, "reason")] == [url for url, _ in visits]  # every visit is still told of
    assert [reason for _, reason in stored(data, "reason")].count(SUPERSEDED) == went >= 2 * (ROUNDS - 1)
    texts = [text for url, text in stored(data, "text") if url == "changing.html" and text]
    assert len(texts) == 1 and f"word{ROUNDS - 1}x0" in texts[0]
    folder = DataFolder(data)
    db = folder.read()
    tables = (table for segment in segment_ids(db) for table in open_links(folder.segments, segment).groups())
    targets = {row["target"] for table in tables for row in table.to_pylist()}
    assert {one for one in targets if "linked-" in one} == {web.url("a.test", f"/linked-{ROUNDS - 1}.html")}
    for segment in segment_ids(db):
        check_segment(folder.segments, segment)
    db.close()
    assert thinned(data, keep=0.001) == 0  # there is nothing left to do


def test_the_crawl_and_the_index_go_on_from_there(visited: tuple[FakeWeb, Path]) -> None:
    web, data = visited
    thinned(data, keep=0.001)
    assert run("index", data=data).returncode == 0
    assert "a.test" in run("search", f"word{ROUNDS - 1}x0", data=data).stdout
    assert "a.test" not in run("search", "word0x0", data=data).stdout
    assert "a.test" in run("search", "steady7", data=data).stdout  # its later visits brought nothing, and are blank
    web.sites["a.test"].page(CHANGING, words(ROUNDS))
    run("recrawl", web.url("a.test", CHANGING), data=data)
    crawl(web, data, [])
    assert any(f"word{ROUNDS}x0" in page["text"] for page in exported("pages", data))
    ranked = json.loads(run("rank", "--json", data=data).stdout)
    assert (ranked["pages"], ranked["links"]) == (3, 2)  # blank visits take nobody out of the graph
    doctor = run("doctor", data=data)
    assert "segments" in doctor.stdout and "lost" not in doctor.stdout


def test_the_process_that_a_crawl_starts_for_it_goes_by_the_settings(visited: tuple[FakeWeb, Path]) -> None:
    web, data = visited
    write_settings(data, settings_of(web, storage={"keep_old": 0.001}))
    subprocess.run([sys.executable, "-m", "gossamer.upkeep.process", "thin", str(data)], check=True, timeout=PATIENCE)
    assert SUPERSEDED in [reason for _, reason in stored(data, "reason")]


def test_young_visits_and_all_of_them_by_default_stay(visited: tuple[FakeWeb, Path]) -> None:
    _, data = visited
    assert thinned(data, keep=86400.0) == 0
    assert thinning_every(load(data).storage.keep_old) == 0.0  # the crawl never takes that turn
    assert thinning_every(600.0) == 60.0 and thinning_every(30 * 86400.0) == 3 * 86400.0


def test_nothing_is_thinned_out_while_a_backup_holds_the_segments(visited: tuple[FakeWeb, Path]) -> None:
    _, data = visited
    folder, now = DataFolder(data), SystemClock().now()
    db: Database = folder.open_database()
    holds.take(db, "backup", now)
    assert thinned(data, keep=0.001) == 0
    db.close()


def test_what_is_written_and_does_not_count_yet_is_left_alone_while_its_writer_lives(
    visited: tuple[FakeWeb, Path],
) -> None:
    """A worker that dies has the crawl tidy up, at any moment of thinning out."""
    _, data = visited
    folder, settings, now = DataFolder(data), load(data), SystemClock().now()
    frontier = open_frontier(folder, settings)
    new_id = new_segment_id(THINNER, now, 0)
    erase(folder.segments, segment_ids(frontier.db)[0], new_id, superseded(np.empty(0, np.int64), 0.0), SUPERSEDED)
    with thinning_lock(folder):
        assert recover(folder, frontier, now) == []
        assert new_id in folder.segments.ids()
    assert recover(folder, frontier, now) == [f"deleted unfinished segment {new_id}"]
    frontier.db.close()


def test_segments_are_not_replaced_while_their_links_are_exported(visited: tuple[FakeWeb, Path]) -> None:
    _, data = visited
    folder, now = DataFolder(data), SystemClock().now()
    db = folder.open_database()
    old, none = segment_ids(db)[-1], superseded(np.empty(0, np.int64), 0.0)
    _, tables = exporting.links(folder, db)
    read = [next(tables)]
    for number, is_over in enumerate((False, True)):
        result = erase(folder.segments, old, new_segment_id(THINNER, now, number), none, SUPERSEDED)
        if is_over:
            replace(db, folder.segments, [old], result, now)
        else:
            with pytest.raises(SegmentsHeldError):
                replace(db, folder.segments, [old], result, now)
        read += tables
    found = {row["target"] for table in read for row in table.to_pylist()}
    assert {web_path.rpartition("/")[2] for web_path in found} >= {f"linked-{n}.html" for n in range(ROUNDS)}
    db.close()


def test_segments_that_somebody_replaced_meanwhile_are_not_replaced_again(visited: tuple[FakeWeb, Path]) -> None:
    _, data = visited
    folder, now = DataFolder(data), SystemClock().now()
    db = folder.open_database()
    old, none = segment_ids(db)[0], superseded(np.empty(0, np.int64), 0.0)
    results = [erase(folder.segments, old, new_segment_id(THINNER, now, n), none, SUPERSEDED) for n in range(2)]
    replace(db, folder.segments, [old], results[0], now)
    with pytest.raises(SegmentsReplacedError):
        replace(db, folder.segments, [old], results[1], now)
    assert results[1].segment_id not in folder.segments.ids()
    assert results[0].segment_id in segment_ids(db)
    db.close()


def test_a_negative_time_is_refused(tmp_path: Path) -> None:
    web = FakeWeb("127.0.64")
    write_settings(tmp_path, settings_of(web, storage={"keep_old": -1.0}))
    with pytest.raises(UsageError, match="keep_old"):
        load(tmp_path)
