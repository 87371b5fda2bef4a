"""Data folders of earlier versions open with this one: nothing that they hold is lost, and their crawls go on.

The folders of `tests/data/folders` were made by the program of their time, one for each schema of the database, from
the same small site: six documents, a copy, a redirect, a page that was gone, one that robots.txt forbids, one that was
removed and one that still waits. `pages.json` is what that program exported.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import exported, run
from table_kit import problems

from gossamer.data.folder import DataFolder
from gossamer.database import schema
from gossamer.database.database import open_database, read_database
from gossamer.operate.backup.making import back_up
from gossamer.operate.backup.restoring import restore
from gossamer.testing import FakeClock

FOLDERS = Path(__file__).parents[1] / "data" / "folders"
KEPT: dict[str, list[dict[str, Any]]] = json.loads((FOLDERS / "pages.json").read_text(encoding="utf-8"))
SITE = "http://garden.test:18991"
VERSIONS = [f"schema-{number}" for number in range(1, schema.VERSION)]


class Old(NamedTuple):
    """A folder of an earlier version, and the pages it holds."""

    version: int
    data: Path
    kept: list[dict[str, Any]]


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Old:
    with tarfile.open(FOLDERS / f"{request.param}.tar.gz") as archive:
        archive.extractall(tmp_path / "data", filter="data")
    return Old(int(request.param.removeprefix("schema-")), tmp_path / "data", KEPT[request.param])


def test_there_is_a_folder_of_every_earlier_schema() -> None:
    missing = [name for name in VERSIONS if not (FOLDERS / f"{name}.tar.gz").exists()]
    assert not missing, f"make a small data folder with the last program of {missing}, see tests/data/folders/README.md"
    assert all((FOLDERS / f"{name}.tar.gz").stat().st_size < 200_000 for name in VERSIONS)


def states(data: Path) -> dict[str, tuple[int, str | None]]:
    db = read_database(data / "frontier.db")
    try:
        return {url.removeprefix(SITE): (state, outcome) for url, state, outcome in db.execute(
            "SELECT url, state, outcome FROM urls"
        )}  # fmt: skip
    finally:
        db.close()


def pages(data: Path, like: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stored pages, in the fields that the list has."""
    rows = [{name: row[name] for name in like[0]} for row in exported("pages", data)]
    return sorted(rows, key=lambda row: str(row["url"]))


def test_it_is_told_what_to_do_with_it(old: Old) -> None:
    data = old.data
    done = run("status", data=data)
    assert done.returncode == 1 and "gossamer index" in done.stderr and "Traceback" not in done.stderr


def test_it_is_searched_explained_and_exported_after_indexing(old: Old) -> None:
    data, kept = old.data, old.kept
    done = run("index", data=data)
    assert done.returncode == 0, done.stderr
    assert pages(data, kept) == kept
    status = json.loads(run("status", "--json", data=data).stdout)
    assert status["index"]["documents"] == len(kept)
    found = json.loads(run("search", "pumpkins harvest", "--json", data=data).stdout)
    assert [hit["url"] for hit in found["hits"]] == [f"{SITE}/bed/4"]
    for path, said in (("/bed/1", "document"), ("/private/x", "robots"), ("/bed/6", "removed")):
        told = run("explain", SITE + path, data=data)
        assert told.returncode == 0 and said in told.stdout, told.stdout


def test_a_crawl_goes_on_and_nothing_is_lost(old: Old) -> None:
    data, kept = old.data, old.kept
    open_database(data / "frontier.db").close()
    before = states(data)
    assert before["/waiting"][0] == schema.QUEUED and before["/bed/6"][0] == schema.REMOVED
    # The site of that time is not there any more: what is asked for refuses the connection, sooner or later.
    done = run("crawl", "--quiet", "--for", "2s", "--no-index", data=data)
    assert done.returncode == 0 or "/waiting: no connection" in done.stderr, done.stderr
    after = states(data)
    assert before.keys() <= after.keys()
    assert {path for path, (_, outcome) in before.items() if outcome == "document"} == {
        path for path, (_, outcome) in after.items() if outcome == "document"
    }
    assert after["/bed/6"][0] == schema.REMOVED
    assert pages(data, kept) == kept
    assert run("stats", "--rebuild", data=data).returncode == 0
    found = problems(data, unfinished=True)
    # Freshness is counted since schema 4: of what is older it knows the pages that were visited since.
    assert [one for one in found if old.version >= 4 or not one.startswith("freshness")] == []


def test_it_has_the_tables_of_a_new_one(old: Old, tmp_path: Path) -> None:
    data = old.data
    open_database(data / "frontier.db").close()
    open_database(tmp_path / "new.db").close()
    assert _tables(data / "frontier.db") == _tables(tmp_path / "new.db")


def _tables(path: Path) -> dict[str, Any]:
    """Columns of every table, whatever their order, and the names of all indexes."""
    db = read_database(path)
    try:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        indexes = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        columns = {
            name: {(row[1], row[2], row[3], row[5] > 0) for row in db.execute(f"PRAGMA table_info({name})")}
            for name in names
            if not name.startswith("sqlite_")
        }
        return {**columns, "indexes": {name for name in indexes if not name.startswith("sqlite_")}}
    finally:
        db.close()


def test_it_can_be_backed_up_and_restored(old: Old, tmp_path: Path) -> None:
    data, kept = old.data, old.kept
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(1_900_000_000.0))
    restore(tmp_path / "backup", tmp_path / "restored", FakeClock(1_900_000_000.0))
    assert pages(tmp_path / "restored", kept) == kept
