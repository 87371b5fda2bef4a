"""What goes wrong with the database file is told in one line, by the right class, and nothing is lost."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.database import schema
from gossamer.database.database import Database, open_database, read_database
from gossamer.errors import CorruptError, DatabaseError, GossamerError, StorageError, UsageError

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "frontier.db"


@pytest.fixture
def filled(path: Path) -> Iterator[Path]:
    """A closed database with a few hundred rows."""
    database = open_database(path)
    with database.transaction():
        database.many("INSERT INTO robots VALUES (?, ?)", [(f"https://{n}.org", bytes(1000)) for n in range(300)])
    database.close()
    yield path


def rows(database: Database) -> int:
    count: int = database.execute("SELECT COUNT(*) FROM robots")[0][0]
    return count


def fails(error: type[GossamerError], words: str, action: Callable[[], object]) -> None:
    """The action fails with exactly this class and one line that has these words and the file's name."""
    with pytest.raises(error, match=words) as caught:
        action()
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


class TestOpening:
    def test_a_new_database_is_made_with_its_folders(self, path: Path) -> None:
        open_database(path).close()
        assert rows(read_database(path)) == 0

    def test_an_old_one_is_opened_as_it_is(self, filled: Path) -> None:
        assert rows(open_database(filled)) == rows(read_database(filled)) == 300

    @pytest.mark.parametrize("name", ["100%.db", "what?.db", "a#b.db", "mode=ro&x.db", "три.db"])
    def test_any_file_name_will_do(self, tmp_path: Path, name: str) -> None:
        open_database(tmp_path / name).close()
        assert (tmp_path / name).stat().st_size > 0

    def test_reading_where_nothing_is_says_how_to_begin_and_makes_nothing(self, path: Path) -> None:
        fails(UsageError, "gossamer crawl", lambda: read_database(path))
        assert not path.parent.exists()

    def test_a_reader_cannot_write(self, filled: Path) -> None:
        reader = read_database(filled)
        fails(StorageError, "frontier.db", lambda: reader.execute("DELETE FROM robots"))
        assert rows(reader) == 300


class TestWrongFiles:
    def test_a_file_that_is_no_database_is_left_alone(self, path: Path) -> None:
        path.parent.mkdir()
        path.write_text("This is not a database, but somebody may need it. " * 100)
        before = path.read_bytes()
        fails(CorruptError, "frontier.db is damaged.*segments", lambda: open_database(path))
        fails(CorruptError, "frontier.db is damaged", lambda: read_database(path))
        assert path.read_bytes() == before

    def test_a_damaged_database_is_called_so(self, filled: Path) -> None:
        with filled.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (filled.stat().st_size - 4096))
        fails(CorruptError, "restore a backup", lambda: rows(open_database(filled)))

    def test_a_truncated_database_is_called_damaged(self, filled: Path) -> None:
        os.truncate(filled, 3 * 4096)
        fails(CorruptError, "restore a backup", lambda: rows(open_database(filled)))

    def test_another_programs_database_is_not_touched(self, path: Path) -> None:
        path.parent.mkdir()
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE letters (text TEXT)")
        other.commit()
        fails(DatabaseError, "not a Gossamer database.*--data", lambda: open_database(path))
        fails(DatabaseError, "not a Gossamer database.*--data", lambda: read_database(path))
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("letters",)]

    def test_a_database_of_another_version_names_both(self, filled: Path) -> None:
        database = open_database(filled)
        database.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
        database.close()
        fails(DatabaseError, f"schema 99.*reads {schema.VERSION}", lambda: open_database(filled))
        fails(DatabaseError, f"schema 99.*reads {schema.VERSION}", lambda: read_database(filled))

    def test_a_folder_in_its_place(self, path: Path) -> None:
        path.mkdir(parents=True)
        fails(StorageError, "frontier.db", lambda: open_database(path))

    def test_a_file_where_the_folder_should_be(self, path: Path) -> None:
        path.parent.write_text("")
        fails(StorageError, "another --data", lambda: open_database(path))


class TestLocks:
    def test_a_locked_database_is_reported_and_nothing_is_lost(self, filled: Path) -> None:
        ours = open_database(filled, wait=0.05)
        other = sqlite3.connect(filled, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        def write() -> None:
            with ours.transaction():
                ours.execute("DELETE FROM robots")

        fails(DatabaseError, "another program has locked", write)
        fails(DatabaseError, "another program has locked", lambda: ours.execute("DELETE FROM robots"))
        assert rows(ours) == 300, "reading goes on"
        other.execute("ROLLBACK")
        write()
        assert rows(ours) == 0

    def test_a_crawl_waits_for_a_writer_that_stands_still(self, filled: Path) -> None:
        ours = open_database(filled, wait=0.05)
        ours.outlast()
        other = sqlite3.connect(filled, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        going_on = threading.Timer(1.0, lambda: other.execute("ROLLBACK"))
        going_on.start()
        ours.execute("DELETE FROM robots")
        going_on.join()
        assert rows(ours) == 0

    def test_a_database_that_is_locked_all_over_cannot_be_made(self, path: Path) -> None:
        path.parent.mkdir()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        fails(DatabaseError, "another program has locked", lambda: open_database(path, wait=0.05))


class TestTransactions:
    def test_all_or_nothing(self, filled: Path) -> None:
        database = open_database(filled)
        for error in (ValueError, KeyboardInterrupt):
            with pytest.raises(error), database.transaction():
                database.execute("DELETE FROM robots")
                raise error
        assert rows(database) == 300
        with database.transaction():
            database.execute("DELETE FROM robots")
        assert rows(open_database(filled)) == 0

    def test_an_error_inside_undoes_what_came_before(self, filled: Path) -> None:
        database = open_database(filled)

        def write() -> None:
            with database.transaction():
                database.execute("DELETE FROM robots")
                database.execute("INSERT INTO robots VALUES ('x', NULL)")

        fails(DatabaseError, "frontier.db", write)
        assert rows(database) == 300

    def test_a_full_disk_loses_nothing_that_was_committed(self, filled: Path) -> None:
        database = open_database(filled)
        [(pages,)] = database.execute("PRAGMA page_count")
        database.execute(f"PRAGMA max_page_count = {pages}")

        def write() -> None:
            with database.transaction():
                database.execute("DELETE FROM robots WHERE origin = 'https://1.org'")
                database.execute("INSERT INTO robots VALUES ('x', ?)", (bytes(1_000_000),))

        fails(StorageError, "free some space", write)
        assert rows(database) == 300
        database.execute("PRAGMA max_page_count = 1000000")
        write()
        assert rows(database) == 300


def _as_nobody(action: str, path: str, answers: multiprocessing.SimpleQueue[str]) -> None:
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        database = open_database(Path(path), wait=0.1)
        if action == "write":
            database.execute("DELETE FROM robots")
        answers.put("no error")
    except GossamerError as error:
        answers.put(f"{type(error).__name__}: {error}")


def tried_by_nobody(action: str, path: Path) -> str:
    """What a user without rights is told; the tests may run as root, whom nothing stops."""
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
    child = context.Process(target=_as_nobody, args=(action, str(path), answers))
    child.start()
    child.join(120)
    assert child.exitcode == 0
    return answers.get()


@pytest.fixture
def open_way(tmp_path: Path) -> Iterator[None]:
    """Lets others walk down to the test's folder, for as long as the test takes."""
    closed = [folder for folder in tmp_path.parents if not folder.stat().st_mode & 0o001]
    modes = {folder: folder.stat().st_mode for folder in (tmp_path, *closed)}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o055)
    yield
    for folder, mode in modes.items():
        folder.chmod(mode)


@pytest.mark.usefixtures("open_way")
class TestRights:
    def test_a_folder_that_cannot_be_written(self, path: Path) -> None:
        path.parent.mkdir(mode=0o555)
        said = tried_by_nobody("open", path)
        assert said.startswith("StorageError: ")
        assert "check its permissions" in said
        assert list(path.parent.iterdir()) == []

    def test_a_folder_that_cannot_be_made(self, path: Path) -> None:
        path.parent.mkdir(mode=0o555)
        said = tried_by_nobody("open", path.parent / "deeper" / path.name)
        assert said.startswith("StorageError: ")
        assert "another --data folder" in said

    def test_a_database_that_cannot_be_written(self, filled: Path) -> None:
        filled.chmod(0o444)
        filled.parent.chmod(0o555)
        said = tried_by_nobody("write", filled)
        assert said.startswith("StorageError: ")
        assert rows(read_database(filled)) == 300
