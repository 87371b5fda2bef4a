"""Backup and restore: one moment of a crawl that goes on meanwhile, whole or refused, and good to go on from."""

from __future__ import annotations

import contextlib
import importlib
import json
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crawl_kit import (
    GOSSAMER,
    PATIENCE,
    crawl,
    exported,
    kill,
    run,
    settings_of,
    start,
    unmerged,
    wait_until,
    write_settings,
)
from table_kit import problems

from gossamer.data import holding
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, open_database, read_database
from gossamer.database.snapshots import copy_database, table_names
from gossamer.errors import BusyError, CorruptError, StorageError, UsageError
from gossamer.operate.backup import making as backup_module
from gossamer.operate.backup.files import copy_segment, read_manifest, write_manifest
from gossamer.operate.backup.making import back_up, verify
from gossamer.operate.backup.restoring import restore
from gossamer.store.compaction import compact
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import new_segment_id
from gossamer.tables import holds
from gossamer.testing import FakeClock, FakeWeb
from gossamer.upkeep.compacting import SegmentsHeldError, compact_once, swap
from kit.postgres import PostgresServer

NOW = 1_800_000_000.0


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    fake = FakeWeb(process=True)
    fake.site("kept.test", pages=60, links=6, seed=3)
    fake.site("long.test", pages=3000, links=12, seed=4)
    with fake:
        yield fake


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl; whoever changes it takes a copy."""
    data = tmp_path_factory.mktemp("backup") / "data"
    with unmerged(data):
        crawl(web, data, [web.url("kept.test")], crawl={"commit_seconds": 0.05, "commit_pages": 5, "index": True})
    (data / "qrank.model").write_bytes(b"a model")
    return data


@pytest.fixture
def data(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "data"))


def table_dump(where: Any, like: Path) -> dict[str, list[Any]]:
    """All rows of all tables, but for what a restore ends on purpose; `like`: an SQLite file with the same columns."""
    db, model = read_database(where), read_database(like)
    try:
        dump = {}
        for name in set(table_names()) - {"workers", "logins", "login_failures"}:
            columns = ", ".join(row[1] for row in model.execute(f"PRAGMA table_info({name})"))
            rows = db.execute(f"SELECT {columns} FROM {name}")
            dump[name] = sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)
        return dump
    finally:
        db.close()
        model.close()


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def segment_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".building" not in path.parts
    }


# -- a crawl that is over -------------------------------------------------------------------------


def test_what_is_restored_is_what_was_backed_up(data: Path, tmp_path: Path) -> None:
    done = run("backup", str(tmp_path / "backup"), "--json", data=data)
    assert done.returncode == 0, done.stderr
    assert run("backup", str(tmp_path / "backup"), "--verify", data=data).returncode == 0
    back = tmp_path / "restored"
    done = run("restore", str(tmp_path / "backup"), data=back)
    assert done.returncode == 0, done.stderr
    own = data / "frontier.db"
    assert table_dump(back / "frontier.db", own) == table_dump(own, own)
    assert segment_files(back / "segments") == segment_files(data / "segments")
    assert (back / "gossamer.toml").read_bytes() == (data / "gossamer.toml").read_bytes()
    assert (back / "qrank.model").read_bytes() == b"a model"
    assert exported("pages", back) == exported("pages", data)
    assert not (back / "index").exists()
    assert run("index", data=back).returncode == 0
    count = [json.loads(run("status", "--json", data=folder).stdout)["index"] for folder in (data, back)]
    assert count[0]["documents"] == count[1]["documents"] > 0


def test_the_index_comes_with_it_where_it_is_asked_for(data: Path, tmp_path: Path) -> None:
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW), index=True)
    restore(tmp_path / "backup", tmp_path / "restored", FakeClock(NOW))
    found = [json.loads(run("search", "the", "--json", data=folder).stdout) for folder in (data, tmp_path / "restored")]
    assert found[0]["total"] == found[1]["total"]
    status = json.loads(run("status", "--json", data=tmp_path / "restored").stdout)["index"]
    assert status["documents"] > 0


def test_what_the_place_has_is_not_copied_again_and_what_is_gone_leaves_it(data: Path, tmp_path: Path) -> None:
    folder, place = DataFolder(data), tmp_path / "backup"
    first = back_up(folder, place, FakeClock(NOW))
    assert first.new_segments == len(first.manifest.segments) > 0
    again = back_up(folder, place, FakeClock(NOW))
    assert (again.new_segments, again.new_bytes) == (0, 0)
    assert again.manifest.segments == first.manifest.segments
    assert len(list((place / "snapshots").iterdir())) == 1
    # Half of the segments are merged into one: that one is copied, those leave.
    db, ids = folder.open_database(), list(first.manifest.segments)
    new_id = new_segment_id("compact", NOW, 1)
    swap(db, ids[:2], compact(folder.segments, ids[:2], new_id), NOW)
    for one in ids[:2]:
        folder.segments.discard(one)
    db.close()
    third = back_up(folder, place, FakeClock(NOW))
    assert third.new_segments == 1
    assert sorted(path.name for path in (place / "segments").iterdir() if path.name[0] != ".") == sorted(
        third.manifest.segments
    )
    verify(place)


def test_links_instead_of_copies_take_no_room(data: Path, tmp_path: Path) -> None:
    manifest = back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW), link=True).manifest
    segment = manifest.segments[0]
    here = data / "segments" / segment / "pages.parquet"
    assert here.samefile(tmp_path / "backup" / "segments" / segment / "pages.parquet")
    verify(tmp_path / "backup")


def test_a_restored_crawl_goes_on_and_its_sites_keep_their_rest(web: FakeWeb, data: Path, tmp_path: Path) -> None:
    # Somebody was at work when the backup was made, and a site had to be left alone until later.
    db = open_database(data / "frontier.db")
    with db.transaction():
        db.execute("INSERT INTO workers (id, started_at, expires_at, fetched) VALUES ('w9', ?, ?, 0)", (NOW, NOW + 60))
        db.execute("UPDATE parts SET owner = 'w9'")
        db.execute("UPDATE sites SET not_before = ?", (NOW + 5000,))
        db.execute("INSERT INTO logins VALUES ('t', 'ann', 0, 9e9)")
    db.close()
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW))
    back = tmp_path / "restored"
    restore(tmp_path / "backup", back, FakeClock(NOW + 10))
    db = read_database(back / "frontier.db")
    try:
        assert db.execute("SELECT COUNT(*) FROM workers") == [(0,)]
        assert db.execute("SELECT COUNT(*) FROM parts WHERE owner IS NOT NULL") == [(0,)]
        assert db.execute("SELECT COUNT(*) FROM logins") == [(0,)]
        assert db.execute("SELECT MIN(not_before) FROM sites")[0][0] >= NOW + 5000
        assert not [key for (key,) in db.execute("SELECT key FROM meta") if key.startswith("hold:")]
    finally:
        db.close()


# -- while a crawl runs ---------------------------------------------------------------------------


def test_a_backup_of_a_running_crawl_is_one_moment_and_can_be_finished(web: FakeWeb, tmp_path: Path) -> None:
    data, place, back = tmp_path / "data", tmp_path / "backup", tmp_path / "restored"
    # So slow that it is under way as long as the backups take.
    sections = {"crawl": {"commit_seconds": 0.05, "workers": 1}, "politeness": {"delay": 0.03}}
    write_settings(data, settings_of(web, **sections))
    process = start("crawl", web.url("long.test"), "--quiet", data=data)
    try:
        wait_until(lambda: _fetched(data) > 100)
        for _ in range(3):
            done = run("backup", str(place), data=data)
            assert done.returncode == 0, done.stderr
        assert process.poll() is None, "the crawl should still be running"
    finally:
        kill(process.pid)
        process.communicate()
    verify(place)
    done = run("restore", str(place), data=back)
    assert done.returncode == 0, done.stderr
    # Every page that the database speaks of can be read, and its tables agree with each other.
    assert problems(back, unfinished=True) == []
    pages = exported("pages", back)
    assert len({page["url"] for page in pages}) == len(pages) >= 90
    done = run("crawl", "--quiet", "--pages", "100", data=back)
    assert done.returncode == 0, done.stderr
    assert problems(back, unfinished=True) == []
    assert {page["url"] for page in pages} <= {page["url"] for page in exported("pages", back)}


def _fetched(data: Path) -> int:
    with contextlib.suppress(Exception):
        db = read_database(data / "frontier.db")
        try:
            return int(db.execute("SELECT COALESCE(SUM(pages), 0) FROM segments WHERE merged_into IS NULL")[0][0])
        finally:
            db.close()
    return 0


def test_segments_are_not_merged_away_under_a_backup(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merging is tried between the copy of the database and that of each segment, and once from before the backup."""
    folder, place, tried = DataFolder(data), tmp_path / "backup", []
    db = folder.open_database()
    ids = [row[0] for row in db.execute("SELECT id FROM segments WHERE merged_into IS NULL ORDER BY id")]
    early = new_segment_id("compact", NOW, 7)
    begun = compact(folder.segments, ids[:3], early)  # a merge that was under way when the backup began

    def copy_between(*arguments: Any, **options: Any) -> dict[str, str]:
        tried.append(compact_once(db, folder.segments, NOW + 1, set()))
        with pytest.raises(SegmentsHeldError):
            swap(db, ids[:3], begun, NOW + 1)
        return copy_segment(*arguments, **options)

    monkeypatch.setattr("gossamer.operate.backup.files.copy_segment", copy_between)
    manifest = back_up(folder, place, FakeClock(NOW)).manifest
    assert tried == [0] * len(ids) and list(manifest.segments) == ids and manifest.missing == ()
    verify(place)
    # Afterwards nobody waits any more.
    swap(db, ids[:3], begun, NOW + 2)
    db.close()


def test_a_backup_that_was_frozen_while_segments_were_merged_begins_anew(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, place, frozen = DataFolder(data), tmp_path / "backup", []

    def copy_frozen(*arguments: Any, **options: Any) -> dict[str, str]:
        if not frozen:
            frozen.append(True)
            db = folder.open_database()
            ids = [row[0] for row in db.execute("SELECT id FROM segments WHERE merged_into IS NULL ORDER BY id")]
            new_id, later = new_segment_id("compact", NOW, 1), NOW + holds.LASTING + 1
            swap(db, ids, compact(folder.segments, ids, new_id), later)
            for one in ids:
                folder.segments.discard(one)
            db.close()
        return copy_segment(*arguments, **options)

    monkeypatch.setattr("gossamer.operate.backup.files.copy_segment", copy_frozen)
    manifest = back_up(folder, place, FakeClock(NOW)).manifest
    assert len(manifest.segments) == 1 and manifest.missing == ()
    verify(place)


def _held_until(db: Database) -> float:
    return max((until for _, until in holds._holds(db)), default=0.0)


@pytest.mark.parametrize("name", ["copy_segment", "copy_database"])
def test_a_backup_that_is_stuck_lets_segments_be_merged(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write to a disk that does not answer: it neither ends nor fails."""
    clock, db, stuck = FakeClock(NOW), open_database(data / "frontier.db"), []
    module = "gossamer.operate.backup.files" if name == "copy_segment" else "gossamer.operate.backup.making"
    copy = getattr(importlib.import_module(module), name)

    def copy_stuck(*arguments: Any, **options: Any) -> Any:
        if not stuck:
            stuck.append(True)
            until = clock.advance(1) + holds.LASTING
            wait_until(lambda: _held_until(db) == until)
            clock.advance(holding.STILL + 1)
            time.sleep(0.5)  # many times as long as between two renewals
            assert _held_until(db) == until
        return copy(*arguments, **options)

    monkeypatch.setattr(holding, "_RENEW", 0.02)
    monkeypatch.setattr(f"{module}.{name}", copy_stuck)
    back_up(DataFolder(data), tmp_path / "backup", clock)
    db.close()
    verify(tmp_path / "backup")


def test_a_backup_that_takes_long_keeps_its_hold(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever copies the database tells nothing: the file grows. Of a segment every piece counts."""
    clock, db, grown = FakeClock(NOW), open_database(data / "frontier.db"), []

    def let_time_pass() -> None:
        clock.advance(holding.STILL / 4)  # a file may end and the next begin without a sign in between
        wait_until(lambda: _held_until(db) == clock.now() + holds.LASTING)

    def copy_slowly(where: Any, target: Path) -> None:
        for size in range(1, 10):
            target.write_bytes(b"x" * size)
            let_time_pass()
        grown.append(target)
        target.unlink()
        copy_database(where, target)

    def read_slowly(file: Any, path: Path) -> bytes:
        let_time_pass()
        return bytes(file.read(50_000))

    monkeypatch.setattr(holding, "_RENEW", 0.02)
    monkeypatch.setattr("gossamer.operate.backup.making.copy_database", copy_slowly)
    monkeypatch.setattr("gossamer.operate.backup.files._read", read_slowly)
    back_up(DataFolder(data), tmp_path / "backup", clock)
    db.close()
    assert len(grown) == 1, "it was not begun anew"
    verify(tmp_path / "backup")


def test_a_killed_backup_keeps_merging_away_for_a_while_only(data: Path) -> None:
    db = open_database(data / "frontier.db")
    holds.take(db, "killed", NOW)
    assert holds.are_held(db, NOW + holds.LASTING - 1)
    assert not holds.are_held(db, NOW + holds.LASTING + 1)
    db.close()


# -- killed, full, damaged ------------------------------------------------------------------------


def test_a_backup_that_was_killed_is_refused_and_the_next_one_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, place, copied = DataFolder(data), tmp_path / "backup", []

    def die_after_one(*arguments: Any, **options: Any) -> dict[str, str]:
        if len(copied) == 1:
            raise KeyboardInterrupt
        copied.append(arguments[2])
        return copy_segment(*arguments, **options)

    monkeypatch.setattr("gossamer.operate.backup.files.copy_segment", die_after_one)
    with pytest.raises(KeyboardInterrupt):
        back_up(folder, place, FakeClock(NOW))
    with pytest.raises(UsageError, match="not a finished backup"):
        restore(place, tmp_path / "restored", FakeClock(NOW))
    with pytest.raises(UsageError, match="not a finished backup"):
        verify(place)
    monkeypatch.undo()
    done = back_up(folder, place, FakeClock(NOW))
    assert done.new_segments == len(done.manifest.segments) - 1
    verify(place)


def test_a_kill_at_any_moment_leaves_the_earlier_backup_whole(web: FakeWeb, data: Path, tmp_path: Path) -> None:
    place = tmp_path / "backup"
    back_up(DataFolder(data), place, FakeClock(NOW))
    before = read_manifest(place)
    for wait in (0.6, 0.8, 1.0, 1.2):
        process = start("backup", str(place), data=data)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert verify(place).crawl == before.crawl
    assert run("backup", str(place), data=data).returncode == 0
    verify(place)
    assert len(list((place / "snapshots").iterdir())) == 1


def test_a_full_disk_is_told_and_the_earlier_backup_stays(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "backup"
    back_up(DataFolder(data), place, FakeClock(NOW))
    before = read_manifest(place)

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    command = [*GOSSAMER, "backup", str(place), "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=no_room, check=False, timeout=PATIENCE)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert str(place) in done.stderr and ("disk" in done.stderr or "file" in done.stderr)
    assert read_manifest(place) == before
    verify(place)
    assert [path.name for path in (place / "snapshots").iterdir()] == [before.snapshot]


@pytest.mark.parametrize("name", ["frontier.db", "pages.parquet", "gossamer.toml"])
@pytest.mark.parametrize("damage", ["changed", "cut", "deleted"])
def test_damage_is_found_before_it_is_restored(data: Path, tmp_path: Path, name: str, damage: str) -> None:
    place = tmp_path / "backup"
    back_up(DataFolder(data), place, FakeClock(NOW))
    path = next(place.rglob(name))
    content = path.read_bytes()
    if damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CorruptError, match=name):
        verify(place)
    with pytest.raises((CorruptError, SegmentMissingError)):
        restore(place, tmp_path / "restored", FakeClock(NOW))
    assert not (tmp_path / "restored").exists() and not (tmp_path / "restored.restoring").exists()


@pytest.mark.parametrize("damage", ["cut", "lost"])
def test_the_next_backup_mends_what_was_damaged_at_the_place(data: Path, tmp_path: Path, damage: str) -> None:
    folder, place = DataFolder(data), tmp_path / "backup"
    segment = back_up(folder, place, FakeClock(NOW)).manifest.segments[0]
    path = place / "segments" / segment / "pages.parquet"
    whole = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    again = back_up(folder, place, FakeClock(NOW))
    assert again.new_segments == 1
    assert path.read_bytes() == whole
    verify(place)


@pytest.mark.parametrize("hidden", ["snapshots/{}/x/../../../victim", "/etc/victim", "snapshots/../victim"])
def test_a_manifest_that_leads_elsewhere_is_refused(data: Path, tmp_path: Path, hidden: str) -> None:
    place = tmp_path / "backup"
    manifest = back_up(DataFolder(data), place, FakeClock(NOW)).manifest
    item = msgspec.structs.replace(manifest.items[0], path=hidden.format(manifest.snapshot))
    write_manifest(place, msgspec.structs.replace(manifest, items=(*manifest.items, item)))
    with pytest.raises(CorruptError, match="which is not a file of a backup"):
        restore(place, tmp_path / "restored", FakeClock(NOW))
    assert sorted(path.name for path in tmp_path.iterdir() if path != data) == ["backup"]


def test_a_segment_that_is_lost_does_not_prevent_a_backup_of_the_rest(data: Path, tmp_path: Path) -> None:
    folder = DataFolder(data)
    db = folder.read()
    lost = db.execute("SELECT id FROM segments WHERE merged_into IS NULL ORDER BY id LIMIT 1")[0][0]
    db.close()
    shutil.rmtree(data / "segments" / lost)
    done = run("backup", str(tmp_path / "backup"), data=data)
    assert done.returncode == 0 and lost in done.stderr
    assert read_manifest(tmp_path / "backup").missing == (lost,)
    restore(tmp_path / "backup", tmp_path / "restored", FakeClock(NOW))


# -- what is refused ------------------------------------------------------------------------------


def test_places_that_would_be_spoilt_are_refused(data: Path, tmp_path: Path) -> None:
    folder, clock = DataFolder(data), FakeClock(NOW)
    other = tmp_path / "photos"
    other.mkdir()
    (other / "cat.jpg").write_bytes(b"meow")
    for place, said in (
        (data, "inside"),
        (data / "segments" / "x", "inside"),
        (other, "other files"),
        (other / "cat.jpg", "is a file"),
    ):
        with pytest.raises(UsageError, match=said):
            back_up(folder, place, clock)
    assert (other / "cat.jpg").exists()
    with pytest.raises(UsageError, match="data folder"):
        back_up(folder, Path(shutil.copytree(data, tmp_path / "copy")), clock)


def test_the_backup_of_another_crawl_is_not_written_over(data: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "backup", DataFolder(tmp_path / "other")
    back_up(DataFolder(data), place, FakeClock(NOW))
    other.create()
    other.open_database().close()
    with pytest.raises(UsageError, match="another crawl"):
        back_up(other, place, FakeClock(NOW))
    assert verify(place).segments


def test_a_restore_never_touches_a_folder_that_is_not_empty(data: Path, tmp_path: Path) -> None:
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW))
    with pytest.raises(UsageError, match="not empty"):
        restore(tmp_path / "backup", data, FakeClock(NOW))
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "backup", tmp_path / "empty", FakeClock(NOW))
    assert (tmp_path / "empty" / "frontier.db").exists()


def test_a_restore_into_the_present_folder_or_through_a_link_works(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW))
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    restore(tmp_path / "backup", tmp_path / "link", FakeClock(NOW))
    monkeypatch.chdir(tmp_path / "here")
    restore(tmp_path / "backup", Path(), FakeClock(NOW))
    assert exported("pages", tmp_path / "here") == exported("pages", tmp_path / "there") == exported("pages", data)


def test_a_restore_onto_a_disk_is_refused_before_anything_is_copied(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW))
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path == disk)
    with pytest.raises(UsageError, match="restore into a folder on it"):
        restore(tmp_path / "backup", disk, FakeClock(NOW))
    assert list(disk.iterdir()) == []


def test_a_restore_beside_the_original_s_segments_deletes_none_of_them(data: Path, tmp_path: Path) -> None:
    place, theirs = tmp_path / "backup", data / "segments"
    back_up(DataFolder(data), place, FakeClock(NOW))
    damaged = next(path for path in sorted((place / "segments").rglob("*")) if path.is_file())
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    before = segment_files(theirs)
    restore(place, tmp_path / "restored", FakeClock(NOW), segments=str(theirs))
    after = segment_files(theirs)
    assert before == {name: after[name] for name in before}


def test_a_place_with_other_segments_is_refused_and_left_as_it_is(data: Path, tmp_path: Path) -> None:
    place, theirs = tmp_path / "backup", data / "segments"
    back_up(DataFolder(data), place, FakeClock(NOW))
    segment = read_manifest(place).segments[0]
    newer = shutil.copytree(theirs / segment, theirs / new_segment_id("other", NOW, 1))
    with pytest.raises(UsageError, match="1 segment that is not part of this backup"):
        restore(place, tmp_path / "restored", FakeClock(NOW), segments=str(theirs))
    shutil.rmtree(newer)
    changed = sorted((theirs / segment).iterdir())[0]
    changed.write_bytes(b"another content")
    with pytest.raises(UsageError, match="with other content"):
        restore(place, tmp_path / "restored", FakeClock(NOW), segments=str(theirs))
    assert changed.read_bytes() == b"another content"
    assert not (tmp_path / "restored").exists()


def test_what_is_secret_in_a_backup_is_its_owner_s_also_where_the_place_was_there_before(
    data: Path, tmp_path: Path
) -> None:
    place = tmp_path / "backup"
    place.mkdir(mode=0o755)
    back_up(DataFolder(data), place, FakeClock(NOW))
    (snapshot,) = (place / "snapshots").iterdir()
    assert snapshot.stat().st_mode & 0o077 == 0


def test_two_backups_to_one_place_take_turns(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "backup"
    back_up(DataFolder(data), place, FakeClock(NOW))
    with backup_module._only_one(place), pytest.raises(BusyError, match="is running"):
        back_up(DataFolder(data), place, FakeClock(NOW))


def test_a_disk_that_cannot_be_written_is_told(data: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((StorageError, UsageError)):
        back_up(DataFolder(data), tmp_path / "file" / "backup", FakeClock(NOW))


# -- PostgreSQL -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[], str]]:
    running = PostgresServer()
    try:
        yield running.database
    finally:
        running.stop()


def test_a_backup_becomes_either_database_and_back(data: Path, tmp_path: Path, server: Callable[[], str]) -> None:
    url = server()
    back_up(DataFolder(data), tmp_path / "backup", FakeClock(NOW))
    shared = tmp_path / "shared"
    restore(tmp_path / "backup", shared, FakeClock(NOW), database=url)
    own = data / "frontier.db"
    before = table_dump(own, own)
    assert table_dump(url, own) == before
    assert not (shared / "frontier.db").exists()
    assert exported("pages", shared) == exported("pages", data)
    back_up(DataFolder(shared), tmp_path / "second", FakeClock(NOW))
    restore(tmp_path / "second", tmp_path / "home", FakeClock(NOW))
    assert table_dump(tmp_path / "home" / "frontier.db", own) == before
    assert exported("pages", tmp_path / "home") == exported("pages", data)
    with pytest.raises(UsageError, match="already holds a crawl"):
        restore(tmp_path / "backup", tmp_path / "third", FakeClock(NOW), database=url)
    assert not (tmp_path / "third").exists()
