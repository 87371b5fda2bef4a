"""Connections to PostgreSQL that break at the worst moment: no batch is lost, none is recorded twice."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gossamer.clock import CorrectedClock
from gossamer.crawl.alive.heartbeat import set_by_database
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database import postgres, schema
from gossamer.database.database import DatabaseLost, open_database, read_database
from gossamer.database.postgres import PostgresDatabase
from gossamer.dedup.near.registry import near_method
from gossamer.errors import BusyError, ClockError, DatabaseError, GossamerError, LeaseLost, UsageError
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.scope.shape import path_shape
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig
from kit.old_schema import back_to_version_5
from kit.postgres import PostgresServer

NOW = 1_700_000_000.0

STANDS_STILL = """
import os, signal, sys
from gossamer.database.database import open_database

class Rows(list):
    stopped = False

    def __iter__(self):
        for place, row in enumerate(super().__iter__()):
            if place == 15 and not Rows.stopped:
                Rows.stopped = True
                os.kill(os.getpid(), signal.SIGSTOP)
            yield row

def write():
    with database.transaction():
        database.many(sys.argv[2], Rows((f"key {n}", "value") for n in range(40)))

database = open_database(sys.argv[1])
database.patiently(write)
"""
"""A process that freezes in the middle of what it sends."""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    running = PostgresServer()
    yield running
    running.stop()


class Wire:
    """A proxy in front of the server that can be cut, before or after it has passed something on; or that keeps the
    connection and passes nothing more on, as one that forgot it in a fail-over."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.cut_before: bytes | None = None
        self.cut_after: bytes | None = None
        self.mute_before: bytes | None = None
        self.mute_after: bytes | None = None
        self.cuts = 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._deaf: set[socket.socket] = set()
        """Clients that hear nothing more."""
        self._mute: set[socket.socket] = set()
        """Clients whose connections are kept for nothing."""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                upstream = socket.create_connection(("127.0.0.1", self._port))
                self._pairs.append((client, upstream))
                threading.Thread(target=self._up, args=(client, upstream), daemon=True).start()
                threading.Thread(target=self._pump, args=(upstream, client), daemon=True).start()

    @property
    def connections(self) -> int:
        """How many there have been."""
        return len(self._pairs)

    def _up(self, client: socket.socket, upstream: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                if self.cut_before is not None and self.cut_before in data:
                    self.cut_before = None
                    self.cuts += 1
                    self._close(client, upstream)
                    return
                if self.cut_after is not None and self.cut_after in data:
                    self.cut_after = None
                    self.cuts += 1
                    # The client never hears of it, the server does: both are cut off when it has answered.
                    self._deaf.add(client)
                    upstream.sendall(data)
                    return
                if self.mute_before is not None and self.mute_before in data:
                    self.mute_before = None
                    self.cuts += 1
                    self._mute.add(client)
                elif self.mute_after is not None and self.mute_after in data:
                    self.mute_after = None
                    self.cuts += 1
                    self._mute.add(client)
                    upstream.sendall(data)
                if client not in self._mute:
                    upstream.sendall(data)
        self._close(client, upstream)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(1 << 16)) and target not in self._deaf:
                if target not in self._mute:
                    target.sendall(data)
        if target not in self._mute:
            self._close(source, target)

    def _close(self, *ends: socket.socket) -> None:
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()
        for pair in self._pairs:
            self._close(*pair)


@pytest.fixture
def wire(server: PostgresServer) -> Iterator[Wire]:
    proxy = Wire(server.port)
    yield proxy
    proxy.close()


def frontier_on(url: str) -> SqlFrontier:
    budgets = Budgets(lease=60.0)
    return SqlFrontier(open_database(url), budgets, PolitenessConfig(), path_shape, near_method("minhash"))


def through(wire: Wire, server: PostgresServer, url: str) -> str:
    return url.replace(f":{server.port}/", f":{wire.port}/")


def reported(frontier: SqlFrontier, before: Callable[[], None]) -> list[int]:
    """A page visited and reported, with something happening just before; how often its rows were written."""
    frontier.add([Discovered("https://a.org/")], NOW)
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 1, 1)
    [task] = lease.tasks
    visit = Visit(Place("a.org"), task, Outcome.DOCUMENT, NOW, content_hash="t", row=0)
    batch = Batch("s1", [visit], [Discovered("https://a.org/next")])
    batch.sites = [SiteReport(Place("a.org"), lease.token, lease.clock)]
    written: list[int] = []
    before()
    [verdict] = frontier.report("w", batch, NOW, lambda verdicts: written.append(len(verdicts)))
    assert verdict.outcome is Outcome.DOCUMENT
    return written


def check_one_page(frontier: SqlFrontier) -> None:
    ask = frontier.db.execute
    assert ask("SELECT id, pages FROM segments") == [("s1", 1)]
    assert ask("SELECT SUM(urls) FROM outcomes WHERE outcome = 'document'") == [(1,)]
    assert ask("SELECT known, fetched FROM sites") == [(2, 1)]
    assert ask("SELECT value FROM meta WHERE key = 'change'") == [("1",)]
    assert sorted(ask("SELECT url FROM urls")) == [("https://a.org/",), ("https://a.org/next",)]


class TestBrokenConnections:
    """The whole batch or nothing of it, and never twice."""

    def test_a_report_whose_connection_breaks_before_the_commit_is_repeated(
        self, server: PostgresServer, wire: Wire
    ) -> None:
        frontier = frontier_on(through(wire, server, server.database()))
        written = reported(frontier, lambda: setattr(wire, "cut_before", b"COMMIT\0"))
        assert (wire.cuts, written) == (1, [1, 1])
        check_one_page(frontier)

    def test_a_report_that_was_committed_unheard_is_not_repeated(self, server: PostgresServer, wire: Wire) -> None:
        frontier = frontier_on(through(wire, server, server.database()))
        written = reported(frontier, lambda: setattr(wire, "cut_after", b"COMMIT\0"))
        assert (wire.cuts, written) == (1, [1])
        check_one_page(frontier)

    def test_a_report_whose_connection_breaks_in_the_middle_is_repeated(
        self, server: PostgresServer, wire: Wire
    ) -> None:
        frontier = frontier_on(through(wire, server, server.database()))
        reported(frontier, lambda: setattr(wire, "cut_before", b"INSERT INTO segments"))
        assert wire.cuts == 1
        check_one_page(frontier)

    def test_a_server_that_crashes_and_comes_back_is_waited_for(self) -> None:
        server = PostgresServer(durable=True)
        try:
            frontier = frontier_on(server.database())

            def crash() -> None:
                server.kill()
                threading.Timer(1.0, come_back).start()

            def come_back() -> None:
                """A new server is refused while children of the killed one have not noticed that it is gone."""
                deadline = time.monotonic() + 120
                while True:
                    try:
                        return server.start()
                    except psycopg.OperationalError:
                        if time.monotonic() > deadline:
                            raise

            reported(frontier, crash)
            check_one_page(frontier)
        finally:
            server.stop()

    def test_a_worker_that_is_given_up_while_it_is_away_cannot_report(self, server: PostgresServer) -> None:
        url = server.database()
        frontier, other = frontier_on(url), frontier_on(url)

        def given_up() -> None:
            other.register("other", NOW + 100)
            assert other.take("other", NOW + 100, 1, 1) == []  # it counts as asked just now
            assert [lease.site for lease in other.take("other", NOW + 110, 1, 1)] == ["a.org"]

        with pytest.raises(LeaseLost, match="silent too long"):
            reported(frontier, given_up)
        assert other.db.execute("SELECT COUNT(*) FROM segments") == [(0,)]

    def test_one_that_is_cut_off_in_its_turn_does_not_hold_up_the_others(
        self, server: PostgresServer, wire: Wire
    ) -> None:
        url = server.database()
        cut_off, other = PostgresDatabase(through(wire, server, url)), open_database(url)
        with contextlib.suppress(GossamerError), cut_off.transaction():
            wire.close()
            with other.transaction():
                other.execute("INSERT INTO meta VALUES ('a', 'b')")
        assert other.execute("SELECT value FROM meta WHERE key = 'a'") == [("b",)]

    @pytest.mark.parametrize(
        "sql", ["INSERT INTO meta (key, value) VALUES (?, ?)", "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING"]
    )
    def test_one_that_freezes_in_the_middle_of_a_statement_does_not_hold_up_the_others(
        self, server: PostgresServer, sql: str
    ) -> None:
        """To the server it is at work, so none of its own time limits ends that. It loses nothing when it wakes up."""
        url = server.database()
        other = open_database(url)
        frozen = subprocess.Popen([sys.executable, "-c", STANDS_STILL, url, sql])
        try:
            os.waitid(os.P_PID, frozen.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            assert frozen.poll() is None
            with other.transaction():
                other.execute("INSERT INTO meta VALUES ('a', 'b')")
            assert other.execute("SELECT COUNT(*) FROM meta WHERE key LIKE 'key %'") == [(0,)]
            frozen.send_signal(signal.SIGCONT)
            assert frozen.wait(120) == 0
        finally:
            frozen.kill()
        assert other.execute("SELECT COUNT(*) FROM meta WHERE key LIKE 'key %'") == [(40,)]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is asked about an answer after a second, and not after a minute."""
    monkeypatch.setattr("gossamer.database.postgres_watch._LONG", 1.0)
    monkeypatch.setattr("gossamer.database.postgres_watch._BETWEEN", 0.5)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a server that is well may need longer for an answer than one gets that hangs."""
    monkeypatch.setattr("gossamer.database.postgres_watch._ANSWER", 60)


@pytest.mark.usefixtures("soon")
class TestAnswersThatNeverCome:
    """The connection stands and nothing comes over it: nobody waits for that for ever."""

    @pytest.mark.parametrize("lost", ["mute_before", "mute_after"])
    def test_a_question_that_gets_lost_is_asked_again(self, server: PostgresServer, wire: Wire, lost: str) -> None:
        database = PostgresDatabase(through(wire, server, server.database()))
        setattr(wire, lost, b"SELECT 17")
        assert database.execute("SELECT 17") == [(17,)]
        assert wire.cuts == 1

    def test_one_to_a_server_that_lost_us_is_asked_again(self, server: PostgresServer, wire: Wire) -> None:
        """What answers behind the proxy now knows nothing about the connection."""
        database = PostgresDatabase(through(wire, server, server.database()))
        [(pid,)] = database.execute("SELECT pg_backend_pid()")
        wire.mute_before = b"SELECT 17"
        with psycopg.connect(server.url("postgres"), autocommit=True) as other:
            threading.Timer(0.5, lambda: other.execute("SELECT pg_terminate_backend(%s)", (pid,))).start()
            assert database.execute("SELECT 17") == [(17,)]
        assert wire.cuts == 1

    def test_a_reader_is_told(self, server: PostgresServer, wire: Wire) -> None:
        url = server.database()
        open_database(url).close()
        reader = read_database(through(wire, server, url), 0.5)
        wire.mute_before = b"SELECT 17"
        with pytest.raises(DatabaseError, match="could not be reached"):
            reader.execute("SELECT 17")

    @pytest.mark.parametrize(
        "lost, statement, times",
        [("mute_before", b"INSERT INTO segments", 2), ("mute_before", b"COMMIT\0", 2), ("mute_after", b"COMMIT\0", 1)],
    )
    def test_a_report_that_gets_no_answer_counts_once(
        self, server: PostgresServer, wire: Wire, lost: str, statement: bytes, times: int
    ) -> None:
        frontier = frontier_on(through(wire, server, server.database()))
        written = reported(frontier, lambda: setattr(wire, lost, statement))
        assert (wire.cuts, written) == (1, [1] * times)
        check_one_page(frontier)

    def test_rows_that_stop_coming_are_an_error(self, server: PostgresServer, wire: Wire) -> None:
        database = PostgresDatabase(through(wire, server, server.database()))
        rows = database.iterate("SELECT * FROM generate_series(1, 20000)")
        assert next(rows) == (1,)
        wire.mute_before = b"FETCH"
        with pytest.raises(DatabaseLost):
            list(rows)

    @pytest.mark.usefixtures("patient")
    def test_what_the_server_works_on_is_waited_for(self, server: PostgresServer, wire: Wire) -> None:
        database = PostgresDatabase(through(wire, server, server.database()))
        [(pid,)] = database.execute("SELECT pg_backend_pid()")
        assert wire.connections == 1
        database.execute("SELECT pg_sleep(12)")
        assert wire.connections > 2  # it was asked about it, more than once
        assert database.execute("SELECT pg_backend_pid()") == [(pid,)]

    @pytest.mark.usefixtures("patient")
    def test_so_is_a_lock(self, server: PostgresServer, wire: Wire) -> None:
        url = server.database()
        database = open_database(through(wire, server, url))
        [(pid,)] = database.execute("SELECT pg_backend_pid()")
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE meta")
            threading.Timer(8.0, other.rollback).start()
            database.execute("INSERT INTO meta VALUES ('a', 'b')")
        assert wire.connections > 1
        assert database.execute("SELECT pg_backend_pid()") == [(pid,)]


class TestHurry:
    """Whoever is to stop does not wait for a server that does nothing."""

    @pytest.mark.parametrize("earlier", [False, True])
    def test_a_server_that_hangs_is_not_waited_for(self, server: PostgresServer, earlier: bool) -> None:
        """Whether it was told to stop before it asked, or while it waits for the answer."""
        database = open_database(server.database())
        threading.Timer(0.0 if earlier else 2.0, database.hurry).start()
        server.freeze()
        try:
            with pytest.raises(DatabaseError):
                database.execute("SELECT 1")
        finally:
            server.thaw()

    def test_nor_is_it_in_the_middle_of_a_transaction(self, server: PostgresServer) -> None:
        database = open_database(server.database())

        def write() -> None:
            with database.transaction():
                database.execute("INSERT INTO meta VALUES ('a', 'b')")
                server.freeze()

        threading.Timer(2.0, database.hurry).start()
        try:
            with pytest.raises(DatabaseError):  # nobody can say what became of the COMMIT
                database.patiently(write)
        finally:
            server.thaw()

    def test_nor_is_a_connection_that_leads_nowhere(self, server: PostgresServer, wire: Wire) -> None:
        database = open_database(through(wire, server, server.database()))
        wire.mute_before = b"SELECT 17"
        threading.Timer(1.0, database.hurry).start()
        with pytest.raises(DatabaseError):
            database.execute("SELECT 17")

    @pytest.mark.usefixtures("patient")
    def test_a_turn_that_does_not_end_is_not_waited_for(
        self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its holder works, or waits for a standby that is gone: nobody may end it."""
        short = postgres._BEGIN.replace(f"'{postgres._SILENCE}s'", "'1s'")
        monkeypatch.setattr("gossamer.database.postgres._BEGIN", short)
        url = server.database()
        holder, waiting = open_database(url), open_database(url)
        [(pid,)] = holder.execute("SELECT pg_backend_pid()")
        has_it = threading.Event()

        def hold() -> None:
            with contextlib.suppress(GossamerError), holder.transaction():
                has_it.set()
                holder.execute("SELECT pg_sleep(250)")

        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        assert has_it.wait(60)
        threading.Timer(2.5, waiting.hurry).start()
        with pytest.raises(DatabaseError, match="another process has been writing"), waiting.transaction():
            pass
        assert thread.is_alive()
        waiting.execute("SELECT pg_terminate_backend(?::int)", (pid,))
        thread.join(60)
        with waiting.transaction():  # its connection is as good as before
            waiting.execute("INSERT INTO meta VALUES ('a', 'b')")

    @pytest.mark.usefixtures("patient")
    def test_a_server_without_a_connection_to_spare_is_not_taken_for_one_that_hangs(
        self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where many stop at once, each asks about the turn that it waits for."""
        monkeypatch.setattr("gossamer.database.postgres._HURRY", 1.0)
        url = server.database()
        holder, waiting = open_database(url), open_database(url)
        has_it, waits = threading.Event(), threading.Event()

        def hold() -> None:
            with holder.transaction():
                has_it.set()
                assert waits.wait(60)
                holder.execute("SELECT pg_sleep(12)")

        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        assert has_it.wait(60)
        with contextlib.ExitStack() as stack:
            with pytest.raises(psycopg.OperationalError, match=r"too many clients|connection slots"):
                while True:
                    stack.enter_context(contextlib.closing(psycopg.connect(url)))
            waiting.hurry()
            waits.set()
            with waiting.transaction():
                waiting.execute("INSERT INTO meta VALUES ('a', 'b')")
        thread.join(60)
        assert waiting.execute("SELECT value FROM meta WHERE key = 'a'") == [("b",)]

    @pytest.mark.usefixtures("patient")
    def test_what_the_server_works_on_may_be_finished(
        self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gossamer.database.postgres._HURRY", 1.0)
        database = PostgresDatabase(server.database())
        [(pid,)] = database.execute("SELECT pg_backend_pid()")
        database.hurry()
        database.execute("SELECT pg_sleep(5)")
        assert database.execute("SELECT pg_backend_pid()") == [(pid,)]

    def test_but_not_for_ever(self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.database.postgres._HURRY", 1.0)
        monkeypatch.setattr("gossamer.database.postgres_watch._WORK", 3.0)
        database = PostgresDatabase(server.database())
        database.hurry()
        with pytest.raises(DatabaseError):
            database.execute("SELECT pg_sleep(250)")


def test_nothing_is_left_of_the_watch_over_a_connection(server: PostgresServer) -> None:
    """Neither a thread nor a socket, whether it was closed or only forgotten."""
    url = server.database()

    def threads() -> int:
        return sum(thread.name == "postgres watch" for thread in threading.enumerate())

    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def ends(is_so: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 60
        while not is_so() and time.monotonic() < deadline:
            time.sleep(0.1)
        return is_so()

    gc.collect()
    assert ends(lambda: threads() == 0)  # those of other tests
    before = files()
    closed, forgotten = PostgresDatabase(url), PostgresDatabase(url)
    assert threads() == 2
    closed.close()
    del forgotten
    assert ends(lambda: threads() == 0 and files() <= before)


class OtherClock:
    """A clock that is wrong by some seconds, and goes on."""

    def __init__(self, ahead: float) -> None:
        self._ahead = ahead

    def now(self) -> float:
        return time.time() + self._ahead


class TestClearErrors:
    """What is wrong, and what to do."""

    def fails(self, kind: type[GossamerError], match: str, call: Callable[[], Any]) -> None:
        with pytest.raises(kind, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)

    def test_a_server_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.database.postgres._FIRST_TRY", 0.5)
        url = "postgresql://gossamer:secret@127.0.0.1:1/x"
        self.fails(DatabaseError, "cannot reach .*127.0.0.1:1/x.*that the server is up", lambda: open_database(url))
        with pytest.raises(DatabaseError) as caught:
            open_database(url)
        assert "secret" not in str(caught.value)

    def test_names_that_do_not_exist_are_not_tried_for_long(self, server: PostgresServer) -> None:
        url = server.url("nowhere")
        self.fails(DatabaseError, 'database "nowhere" does not exist', lambda: open_database(url))

    def test_what_is_no_url(self) -> None:
        self.fails(UsageError, "not the URL of a database", lambda: open_database("postgresql://[bad"))

    def test_a_database_without_a_crawl(self, server: PostgresServer) -> None:
        self.fails(UsageError, "no crawl in .* yet: start one", lambda: read_database(server.database()))

    def test_a_database_of_a_newer_version(self, server: PostgresServer) -> None:
        url = server.database()
        database = open_database(url)
        database.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
        self.fails(DatabaseError, f"schema 99, this Gossamer reads {schema.VERSION}", lambda: open_database(url))

    def test_an_older_one_is_not_changed_under_workers_of_its_version(self, server: PostgresServer) -> None:
        url = server.database()
        frontier = frontier_on(url)
        frontier.register("old", time.time())
        back_to_version_5(frontier.db)
        self.fails(DatabaseError, "workers of that version are running .old.", lambda: open_database(url))
        frontier.db.execute("DELETE FROM workers")
        assert open_database(url).execute("SELECT paused FROM sites") == []

    def test_a_clock_that_is_wrong_by_an_hour(self, server: PostgresServer) -> None:
        database = open_database(server.database())
        ahead, behind, slightly = (OtherClock(seconds) for seconds in (3600, -3600, 40))
        self.fails(ClockError, r"3[56]\d\d s ahead of.*NTP", lambda: set_by_database(CorrectedClock(ahead), database))
        self.fails(ClockError, r"3[56]\d\d s behind.*NTP", lambda: set_by_database(CorrectedClock(behind), database))
        clock = CorrectedClock(slightly)
        set_by_database(clock, database)
        assert clock.now() == pytest.approx(time.time(), abs=20)

    def test_two_crawls_cannot_share_a_place_for_segments(self, server: PostgresServer, tmp_path: Path) -> None:
        shared = str(tmp_path / "segments")
        one, two = (StorageConfig(server.database(), shared) for _ in range(2))
        first, second = DataFolder(tmp_path / "one", one), DataFolder(tmp_path / "two", two)
        first.create()
        second.create()
        open_frontier(first, Settings())
        open_frontier(first, Settings())
        self.fails(
            UsageError, "those of another crawl.*all machines need the same", lambda: open_frontier(second, Settings())
        )

    def test_a_second_main_process_is_refused(self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.database.postgres._LINGERING", 0.2)
        url = server.database()
        first, second = open_database(url), open_database(url)
        assert first.only_one("crawl")
        assert not second.only_one("crawl")
        assert second.only_one("index")
        monkeypatch.setattr("gossamer.database.postgres._LINGERING", 60.0)  # until the server has noticed
        first.close()
        assert second.only_one("crawl")


def test_a_reader_does_not_wait_for_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches ask the crawl's database about copies and stories: without an answer they go on without."""
    monkeypatch.setattr("gossamer.data.connection._ANSWER", 60.0)
    server = PostgresServer()
    try:
        url = server.database()
        open_database(url).close()
        reader = SharedConnection(url)
        assert reader.ask(lambda db: db.execute("SELECT 1")) == [(1,)]
        server.freeze()
        monkeypatch.setattr("gossamer.data.connection._ANSWER", 0.5)
        with pytest.raises(BusyError, match="does not answer"):
            reader.ask(lambda db: db.execute("SELECT 1"))
        server.thaw()
        monkeypatch.setattr("gossamer.data.connection._ANSWER", 60.0)
        assert reader.ask(lambda db: db.execute("SELECT 2")) == [(2,)]
    finally:
        server.stop()
