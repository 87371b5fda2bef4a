"""The doctor: a healthy crawl has nothing bad, and every check finds the illness it is for. Nothing is changed."""

from __future__ import annotations

import hashlib
import resource
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import orjson
import pytest

from gossamer.cli.main import main
from gossamer.clock import SystemClock
from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.locks import worker_lock
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import check_clock
from gossamer.frontier.contract import Place, SiteReport, Visit
from gossamer.index import commits, extras
from gossamer.index.folder import IndexFolder
from gossamer.indexer.indexer_process import catch_up
from gossamer.indexer.indexing import Indexer
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, PageRow, Response
from gossamer.operate.doctor import crawl as doctor_crawl
from gossamer.operate.doctor import machine as doctor_machine
from gossamer.operate.doctor.checks import Check, Finding, Patient, examine
from gossamer.settings import FILE_NAME, Settings
from gossamer.tables import accounts
from gossamer.testing import FakeClock
from kit.postgres import PostgresServer

NOW = SystemClock().now()
GOOD = """[crawl]
contact = "operator@example.org"
[alerts]
operators = ["operator@example.org"]
smtp_host = "mail.example.org"
disk_low = 1
"""
CHECKS = (*doctor_machine.CHECKS, *doctor_crawl.CHECKS)


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a small crawl where all is well; nobody changes it."""
    data = tmp_path_factory.mktemp("doctor") / "data"
    folder = DataFolder(data)
    folder.create()
    (data / FILE_NAME).write_text(GOOD)
    frontier = open_frontier(folder, Settings())
    check_clock(frontier, NOW, accept=False)
    urls = [f"http://a.test/{n}" for n in range(3)]
    frontier.add([Discovered(url) for url in urls], NOW)
    frontier.register("w1", NOW)
    (lease,) = frontier.take("w1", NOW, 10, 10)
    pending = Pending()
    for task in lease.tasks:
        row = PageRow(url=task.url, site="a.test", domain="a.test", fetched_at=NOW, outcome="document", status=200,
                      title="Silk", text=f"orb weavers and the {task.url} " * 50)  # fmt: skip
        response = Response(task.url, Outcome.DOCUMENT, NOW, NOW, NOW, 200, wire_body=b"<p>orb weavers")
        visit = Visit(Place(lease.site), task, Outcome.DOCUMENT, NOW, content_hash=task.url)
        pending.add(Result(visit, row, response))
    sites = [SiteReport(Place(lease.site), lease.token, lease.clock)]
    Committer(frontier, folder.segments, "w1", True, {}).commit(pending, sites, [], NOW)
    frontier.release("w1", sites, [], NOW)
    frontier.retire("w1", NOW)
    frontier.db.execute("INSERT INTO seeds VALUES ('http://127.0.0.1:9/', '127.0.0.1:9', 1)")
    accounts.add(frontier.db, NOW, "ann", "operator", "weaving-orbs-9")
    indexer = Indexer.open(folder, frontier.db, SystemClock())
    catch_up(indexer)
    indexer.close()
    frontier.db.close()
    return data


@pytest.fixture
def data(well: Path, tmp_path: Path) -> Path:
    """A copy that a test may make ill."""
    return Path(shutil.copytree(well, tmp_path / "data"))


def findings(
    data: Path, *checks: Check, clock: FakeClock | SystemClock | None = None, **options: bool
) -> list[Finding]:
    patient = Patient(data, settings_of_crawl, clock or SystemClock(), **options)
    try:
        return list(examine(patient, checks or CHECKS))
    finally:
        patient.close()


def only(data: Path, check: Check, **options: object) -> Finding:
    """The worst of what a check finds."""
    found = findings(data, check, **options)
    assert found
    return max(found, key=lambda one: ("ok", "warn", "bad").index(one.state))


def set_up(data: Path, text: str) -> None:
    (data / FILE_NAME).write_text(text)


# -- nothing is wrong -----------------------------------------------------------------------------


def test_where_all_is_well_nothing_is_bad_and_every_check_says_something(data: Path) -> None:
    found = findings(data, deep=True)
    assert [one for one in found if one.state == "bad"] == []
    said = {one.check for one in found if one.state == "ok"}
    assert {"libraries", "settings", "contact", "folder", "disk", "open files", "database", "segments", "index",
            "locks", "console", "messages"} <= said  # fmt: skip
    assert all(one.advice for one in found if one.state != "ok")


def test_nothing_is_changed(data: Path) -> None:
    def state() -> dict[str, str]:
        # Readers of a database in WAL mode make these two files beside it.
        files = (path for path in data.rglob("*") if path.is_file() and path.suffix not in (".db-wal", ".db-shm"))
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = state()
    findings(data, deep=True, network=True)
    assert state() == before


def test_a_folder_without_a_crawl_is_no_illness(tmp_path: Path) -> None:
    found = findings(tmp_path / "new")
    assert [one for one in found if one.state == "bad"] == []
    assert {one.check for one in found if one.state == "warn"} >= {"folder", "database", "contact"}


def test_a_check_that_fails_itself_is_a_finding_and_the_others_are_made(data: Path) -> None:
    def broken_check(patient: Patient) -> Iterator[Finding]:
        raise RuntimeError("no\nway")
        yield

    first, second = findings(data, broken_check, doctor_machine.contact)
    assert (first.check, first.state) == ("broken check", "bad") and "RuntimeError: no way" in first.sentence
    assert second.state == "ok"


# -- the machine ----------------------------------------------------------------------------------


def test_a_library_that_is_missing_or_too_old_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["msgspec>=99,<100", "no-such-library>=1", "numpy>=2,<3", 'unneeded>=1; extra == "dev"']
    monkeypatch.setattr(doctor_machine.metadata, "requires", lambda name: needed)
    found = only(data, doctor_machine.libraries)
    assert found.state == "bad"
    assert "msgspec is" in found.sentence and "not >=99,<100" in found.sentence
    assert "no-such-library is not installed" in found.sentence
    assert "numpy" not in found.sentence and "unneeded" not in found.sentence


def test_an_extra_that_the_settings_need_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(data, '[engine]\nkind = "spark"\nurl = "spark://127.0.0.1:7077"\n')
    real = doctor_machine.util.find_spec
    monkeypatch.setattr(doctor_machine.util, "find_spec", lambda name: None if name == "pyspark" else real(name))
    found = only(data, doctor_machine.extras)
    assert found.state == "bad" and "gossamer[spark]" in found.advice


@pytest.mark.parametrize("text", ["[crawl\n", "[crawl]\nno_such = 1\n", "[crawl]\nparsers = 0\n", "[nothing]\n"])
def test_settings_that_are_wrong_are_told(data: Path, text: str) -> None:
    set_up(data, text)
    assert only(data, doctor_machine.settings_file).state == "bad"
    assert only(data, doctor_crawl.segments).state == "ok", "what can be examined is examined"


def test_a_missing_contact_address_is_told(data: Path) -> None:
    set_up(data, "")
    found = only(data, doctor_machine.contact)
    assert found.state == "warn" and "crawl.contact" in found.advice


def test_a_folder_that_cannot_be_written_is_told() -> None:
    found = only(Path("/proc/self"), doctor_machine.data_folder)
    assert found.state == "bad" and "cannot be written" in found.sentence


def test_a_disk_that_is_low_is_told_before_it_is_too_low(data: Path) -> None:
    assert only(data, doctor_machine.disk).state == "ok"
    set_up(data, "[alerts]\ndisk_low = 1000000000\n")
    assert only(data, doctor_machine.disk).state == "warn"
    set_up(data, "[crawl]\nmin_free_disk = 1000000000\n")
    assert only(data, doctor_machine.disk).state == "bad"


def test_a_low_limit_of_open_files_is_told(data: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
    try:
        found = only(data, doctor_machine.open_files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert found.state == "warn" and "ulimit -n" in found.advice
    set_up(data, "[crawl]\ndownloads = 10000000\n")
    assert only(data, doctor_machine.open_files).state == "warn"


def test_a_clock_that_was_never_set_is_told(data: Path) -> None:
    assert only(data, doctor_machine.clock, clock=FakeClock(1_000_000.0)).state == "bad"


def test_a_missing_chromium_is_told_only_where_pages_are_rendered(data: Path) -> None:
    assert findings(data, doctor_machine.browser) == []
    set_up(data, '[browser]\nmode = "auto"\nexecutable = "/no/such/chromium"\n')
    assert only(data, doctor_machine.browser).state == "bad"
    set_up(data, '[browser]\nexecutable = "/no/such/chromium"\n[sites."a.test"]\njavascript = "on"\n')
    assert only(data, doctor_machine.browser).state == "bad"


def test_the_network_is_asked_only_when_told_to(data: Path) -> None:
    assert findings(data, doctor_machine.names_and_servers) == []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        database = sqlite3.connect(data / "frontier.db")
        database.execute("UPDATE seeds SET url = ?", (f"http://127.0.0.1:{port}/",))
        database.commit()
        database.close()
        assert only(data, doctor_machine.names_and_servers, network=True).state == "ok"
    found = only(data, doctor_machine.names_and_servers, network=True)
    assert found.state == "bad" and "cannot be reached" in found.sentence


# -- the crawl ------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_told(data: Path) -> None:
    for name in ("frontier.db-wal", "frontier.db-shm"):
        (data / name).unlink(missing_ok=True)
    (data / "frontier.db").write_bytes(b"this is no database" * 1000)
    assert only(data, doctor_crawl.database).state == "bad"


def test_a_damaged_page_of_the_database_is_told(data: Path) -> None:
    database = sqlite3.connect(data / "frontier.db")
    (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'urls'").fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with (data / "frontier.db").open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    found = only(data, doctor_crawl.database)
    assert found.state == "bad" and "frontier.db" in found.sentence


def test_another_schema_is_told(data: Path) -> None:
    database = sqlite3.connect(data / "frontier.db")
    database.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    database.commit()
    database.close()
    found = only(data, doctor_crawl.database)
    assert found.state == "bad" and "schema 99" in found.sentence


def test_a_clock_behind_the_crawl_is_told(data: Path) -> None:
    found = only(data, doctor_crawl.time_of_crawl, clock=FakeClock(NOW - 86_400))
    assert found.state == "bad" and "behind the last crawl" in found.sentence
    assert findings(data, doctor_crawl.time_of_crawl, clock=FakeClock(NOW + 5)) == []


def test_a_missing_segment_is_named(data: Path) -> None:
    folder = next((data / "segments").rglob("pages*")).parent
    shutil.rmtree(folder)
    found = only(data, doctor_crawl.segments)
    assert found.state == "bad" and folder.name in found.sentence and "gossamer recrawl --segment" in found.advice


def test_a_segment_that_was_cut_short_is_named(data: Path) -> None:
    file = max((data / "segments").rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
    file.write_bytes(file.read_bytes()[:-10])
    found = only(data, doctor_crawl.segments)
    assert found.state == "bad" and "were written" in found.sentence


def test_damage_inside_a_segment_is_found_by_reading_it(data: Path) -> None:
    (file,) = (data / "segments").rglob("pages*")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    content[40] ^= 0xFF
    file.write_bytes(content)
    assert only(data, doctor_crawl.segments).state == "ok"
    assert only(data, doctor_crawl.segments, deep=True).state == "bad"


def test_an_index_that_is_missing_damaged_or_of_another_crawl_is_told(data: Path) -> None:
    assert only(data, doctor_crawl.index).state == "ok"
    database = sqlite3.connect(data / "frontier.db")
    database.execute("UPDATE meta SET value = 'another' WHERE key = 'crawl'")
    database.commit()
    database.close()
    found = only(data, doctor_crawl.index)
    assert found.state == "bad" and "belongs to another crawl" in found.sentence
    (meta,) = (data / "index").rglob("meta.json")
    meta.write_text("{}")
    assert only(data, doctor_crawl.index).state in ("warn", "bad")
    shutil.rmtree(data / "index")
    found = only(data, doctor_crawl.index)
    assert found.state == "warn" and "gossamer index" in found.advice
    set_up(data, "[crawl]\nindex = false\n")
    assert findings(data, doctor_crawl.index) == []


def flip_a_bit(data: Path) -> Path:
    """In the file of the index that holds the texts."""
    (store,) = (data / "index").rglob("*.store")
    content = bytearray(store.read_bytes())
    content[10] ^= 4
    store.write_bytes(content)
    return store


def test_a_bit_of_the_index_that_has_flipped_is_told_with_the_file(data: Path) -> None:
    """Tantivy itself looks at no checksum; some flipped bits would end a server."""
    store = flip_a_bit(data)
    found = only(data, doctor_crawl.index)
    assert found.state == "bad" and store.name in found.sentence and "--rebuild" in found.advice


def test_a_large_index_is_read_whole_only_when_asked_to(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_crawl, "_QUICK", 100)
    flip_a_bit(data)
    found = only(data, doctor_crawl.index)
    assert found.state == "ok" and "use --deep to read all" in found.sentence
    assert only(data, doctor_crawl.index, deep=True).state == "bad"


def test_an_index_that_does_not_follow_is_told(data: Path) -> None:
    database = sqlite3.connect(data / "frontier.db")
    change = int(database.execute("SELECT value FROM meta WHERE key = 'change'").fetchone()[0])
    database.execute("UPDATE meta SET value = ? WHERE key = 'change'", (str(change + 5),))
    row = ("s-later", "w1", NOW, 1, 1, 0, change + 5)
    database.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes, first_row, seq) VALUES (?,?,?,?,?,?,?)", row
    )
    database.commit()
    database.close()
    assert only(data, doctor_crawl.index, clock=FakeClock(NOW + 10)).state == "ok"
    found = only(data, doctor_crawl.index, clock=FakeClock(NOW + 900))
    assert found.state == "warn" and "15 min" in found.sentence


def test_locks_of_dead_workers_are_told_and_those_of_living_ones_are_not(data: Path) -> None:
    folder = DataFolder(data)
    with worker_lock(folder, "w12345678"):
        assert only(data, doctor_crawl.locks).state == "ok"
    (data / "run" / "wdead0000.lock").touch()
    found = only(data, doctor_crawl.locks)
    assert found.state == "warn" and "wdead0000" in found.sentence


def test_a_console_without_accounts_is_told(data: Path) -> None:
    database = sqlite3.connect(data / "frontier.db")
    database.execute("DELETE FROM accounts")
    database.commit()
    database.close()
    assert only(data, doctor_crawl.console_accounts).state == "warn"
    set_up(data, "[console]\nenabled = false\n")
    assert findings(data, doctor_crawl.console_accounts) == []


def test_messages_that_could_not_be_sent_are_told(data: Path) -> None:
    assert only(data, doctor_crawl.messages).state == "ok"
    set_up(data, '[alerts]\noperators = ["ann@example.org"]\n')
    assert "alerts.smtp_host" in only(data, doctor_crawl.messages).advice
    set_up(data, '[alerts]\noperators = ["https://hooks.example.org/x"]\n')
    assert "alerts.secret" in only(data, doctor_crawl.messages).advice
    set_up(data, "")
    assert only(data, doctor_crawl.messages).state == "warn"


def test_a_database_on_a_server_is_examined_too(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        set_up(tmp_path, f'[storage]\ndatabase = "{server.database()}"\n')
        DataFolder(tmp_path).open_database().close()
        assert only(tmp_path, doctor_crawl.database).state == "ok"
        off = only(tmp_path, doctor_crawl.database, clock=FakeClock(NOW - 3600))
        assert off.state == "bad" and "clock" in off.sentence
    finally:
        server.stop()
    found = only(tmp_path, doctor_crawl.database)
    assert found.state == "bad" and "cannot reach" in found.sentence


# -- the verb -------------------------------------------------------------------------------------


def test_the_verb_says_what_to_do_and_fails_where_something_is_bad(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--data", str(data)]) == 0
    assert "0 errors" in capsys.readouterr().out
    shutil.rmtree(data / "segments")
    assert main(["doctor", "--data", str(data)]) == 1
    said = capsys.readouterr().out
    assert "bad  segments" in said and "→" in said
    assert main(["doctor", "--data", str(data), "--json"]) == 1
    loaded = orjson.loads(capsys.readouterr().out)
    assert loaded["ok"] is False
    assert {one["state"] for one in loaded["findings"] if one["check"] == "segments"} == {"bad"}


def test_analysers_that_the_index_needs_or_could_use_are_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = IndexFolder(data / "index").require()
    old = commits.read(folder)
    payload = msgspec.structs.replace(old.payload, extras=("japanese",))
    commits.write(folder, commits.Commit(old.segments, old.opstamp, payload, old.settings, old.fields))
    monkeypatch.setattr(extras, "installed", lambda: ("korean",))
    _, missing, idle = findings(data, doctor_crawl.index)
    assert missing.state == "warn" and "gossamer[japanese]" in missing.advice
    assert idle.state == "warn" and "gossamer[korean]" in idle.sentence and "--rebuild" in idle.advice
