"""A disk that refuses: one line that says what to do, and no half segment."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gossamer.errors import StorageError
from gossamer.model.records import Link
from gossamer.store import durable
from gossamer.store.compaction import compact
from gossamer.store.layout import BUILDING, new_segment_id
from gossamer.store.segment_folder import LocalSegments, delete_segments
from gossamer.store.segments import SegmentWriter, read_page


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """A limit of the system, so that a real write fails half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _is_gone(root: Path, segment_id: str) -> bool:
    return not (root / segment_id).exists() and not (root / BUILDING / segment_id).exists()


@pytest.mark.parametrize("what", ["archive", "links", "pages"])
def test_a_write_that_fails_half_way_removes_the_segment(root, segments, page, response, what):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    with no_file_larger_than(1000), pytest.raises(StorageError) as error:
        if what == "archive":
            writer.write_archive([response(body=os.urandom(5000))], 1.0)
        elif what == "links":
            writer.write_links([("s", 1.0, [Link(os.urandom(20).hex()) for _ in range(200)])])
        else:
            writer.write_pages([page(text=os.urandom(5000).hex())])
    assert "raise the file size limit" in str(error.value)
    assert "\n" not in str(error.value)
    assert _is_gone(root, writer.segment_id)


def test_a_merge_that_fails_half_way_leaves_the_old_segments(root, segments, page, segment):
    ids = [segment(segments, n, [page(text=os.urandom(3000).hex())]) for n in range(3)]
    merged = new_segment_id("w1", 9.0, 9)
    with no_file_larger_than(7000), pytest.raises(StorageError, match="raise the file size limit"):
        compact(segments, ids, merged)
    assert _is_gone(root, merged)
    assert [read_page(segments, segment_id, 0).url for segment_id in ids] == ["https://a.example/"] * 3


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "free some space"), (errno.EROFS, "mount it writable"), (errno.EACCES, "write access"),
     (errno.EDQUOT, "quota"), (errno.EIO, "check the disk")],
)  # fmt: skip
def test_each_refusal_says_what_to_do(root, segments, page, monkeypatch, number, advice):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))

    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    writer.write_pages([page()])
    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(StorageError, match=advice) as error:
        writer.sync()
    assert writer.segment_id in str(error.value)
    assert _is_gone(root, writer.segment_id)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "segments").touch()
    with pytest.raises(StorageError, match="segments"):
        SegmentWriter(LocalSegments(tmp_path / "segments"), new_segment_id("w1", 1.0, 1))


def test_sync_waits_for_every_file_and_folder(root, segments, page, response, monkeypatch):
    """By what the system is asked to do: all three files, the segment's folder, its parent."""
    synced: list[str] = []

    def note(real):
        def call(descriptor: int) -> None:
            synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            real(descriptor)

        return call

    monkeypatch.setattr(os, "fdatasync", note(os.fdatasync))
    monkeypatch.setattr(os, "fsync", note(os.fsync))
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    writer.write_archive([response()], 1.0)
    writer.write_links([])
    writer.write_pages([page()])
    synced.clear()
    writer.sync()
    folder = (root / writer.segment_id).resolve()
    assert set(synced) == {str(path) for path in folder.iterdir()} | {str(folder), str(root.resolve())}
    assert len(list(folder.iterdir())) == 3


_FULL = """
import sys
from pathlib import Path
from gossamer.errors import StorageError
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import SegmentWriter
import os, subprocess
root = Path(sys.argv[1])
segments = LocalSegments(root)
writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
if sys.argv[2] == "ro":
    subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
body = os.urandom(2_000_000)
try:
    writer.write_archive([Response("u", Outcome.DOCUMENT, 1.0, 1.0, 1.0, 200, wire_body=body)], 1.0)
except StorageError as error:
    print(error)
print(sorted(path.name for path in root.rglob("*") if path.is_file()))
"""


@pytest.mark.parametrize(("how", "advice"), [("full", "the disk is full"), ("ro", "read-only")])
def test_a_disk_that_is_really_full_or_read_only(tmp_path, how, advice):
    """On a small file system of its own, where the system allows making one."""
    command = f"mount -t tmpfs -o size=1m none {tmp_path} && exec {sys.executable} -c '{_FULL}' {tmp_path} {how}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", command], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no right to mount a file system here")
    message, files = done.stdout.splitlines()
    assert advice in message
    assert files == "[]"


def test_discard_says_whether_it_worked(root, segments, segment, page, monkeypatch):
    segment_id = segment(segments, 1, [page()])
    assert durable.discard(root, segment_id)
    assert durable.discard(root, segment_id)
    kept = segment(segments, 2, [page()])
    monkeypatch.setattr(durable.shutil, "rmtree", lambda *_, **__: None)
    assert not durable.discard(root, kept)
    assert delete_segments(segments, [kept]) == []


def test_others_see_the_old_file_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = tmp_path / "storage.json", []
    path.write_bytes(b"old")
    sync = durable.sync_file
    monkeypatch.setattr(durable, "sync_file", lambda partial: (seen.append(path.read_bytes()), sync(partial))[1])
    durable.replace_file(path, b"new")
    assert (seen, path.read_bytes()) == ([b"old"], b"new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "storage.json"
    path.write_bytes(b"old")

    def full(partial: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "sync_file", full)
    with pytest.raises(OSError, match="No space"):
        durable.replace_file(path, b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("storage.json", b"old")]
