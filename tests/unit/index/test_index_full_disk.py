"""A disk that is full, or refuses: a clear error, the last commit stays, and it goes on when there is room again."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from indexing_kit import Batch, contents, documents, expected, filled_index, model_at, new_index, open_writer, page

from gossamer.errors import CorruptError, OperationError, StorageError
from gossamer.index import commits
from gossamer.index.document import IndexPage

KILOBYTE = 1024


def large_page(number: int, words: int = 3000) -> IndexPage:
    """A page that hardly shrinks when it is stored."""
    dice = Random(number)
    text = " ".join(f"{dice.getrandbits(40):x}" for _ in range(words))
    return IndexPage(url=f"https://a.example/{number}", title=f"Page {number}", text=text)


def refuse(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["os.link", "os.fsync", "pathlib.Path.replace", "pathlib.Path.mkdir"])
@pytest.mark.parametrize("gone", [[], [4, 15]], ids=["pages are added", "pages are added and removed"])
def test_a_refused_call_is_a_storage_error_and_another_batch_can_be_given(tmp_path, monkeypatch, call, gone):
    folder = filled_index(tmp_path)
    before = contents(folder)
    writer = open_writer(folder)
    with monkeypatch.context() as patched:
        patched.setattr(call, refuse)
        for _ in range(2):
            with pytest.raises(StorageError, match=r"No space left on device.*nothing committed is lost"):
                writer.apply(documents([page(70, 7)]), {page(n).key for n in gone}, 50, 1.0)
    assert contents(folder) == before
    assert writer.position == commits.read(folder).payload.position == 3
    # Other pages this time: nothing of the first attempt may come to count.
    writer.apply(documents([page(71, 8)]), {page(n + 1).key for n in gone}, 60, 1.0)
    assert writer.position == commits.read(folder).payload.position == 60
    changed = dict(before) | {page(71).url: page(71, 8).text}
    for number in gone:
        del changed[page(number + 1).url]
    assert contents(folder) == expected(changed)
    writer.close()
    assert contents(folder) == expected(changed)


@contextmanager
def refused_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything is written but the commit itself."""
    replace = Path.replace

    def refuse_here(self: Path, target: Path) -> Path | None:
        return refuse() if target == folder / commits.META else replace(self, target)

    with monkeypatch.context() as patched, pytest.raises(StorageError):
        patched.setattr("pathlib.Path.replace", refuse_here)
        yield


def test_what_a_refused_commit_left_behind_does_not_come_to_count(tmp_path, monkeypatch):
    folder = filled_index(tmp_path)
    before = dict(contents(folder))
    writer = open_writer(folder)
    with refused_commit(folder, monkeypatch):
        writer.apply(documents([page(70, 7)]), {page(4).key, page(15).key}, 50, 1.0)
    assert contents(folder) == expected(before)
    # As many deletions from the same segments: their file has the name of the one that was left.
    writer.apply(documents([page(71, 8)]), {page(5).key, page(16).key}, 60, 1.0)
    del before[page(5).url], before[page(16).url]
    assert contents(folder) == expected(before | {page(71).url: page(71, 8).text})
    writer.close()


def test_a_refused_commit_while_a_merge_runs_deletes_nothing_from_its_result(tmp_path, monkeypatch):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(16):
        writer.apply(documents([page(number)]), (), number + 1, 1.0)
    with refused_commit(folder, monkeypatch):
        writer.apply({}, {page(3).key}, 17, 1.0)
    writer.merge_some(wait=True)
    assert len(contents(folder)) == 16
    assert writer.segments == 1
    writer.close()


def test_an_index_that_cannot_be_opened_for_writing_says_so(tmp_path, monkeypatch):
    folder = filled_index(tmp_path)
    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(StorageError, match="No space left"):
        open_writer(folder)


# -- processes of their own, since these limits are of a process or a mount ------------------------------


def run(what: str, folder: Path, *before: str) -> dict[str, Any]:
    """The report of a function of this module, run in a process of its own."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_index_full_disk as t; t.{what}()"
    )
    command = [*before, sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def files_may_not_grow() -> None:
    """The operating system refuses to let a file grow: the library meets that in the middle of writing."""
    folder = new_index(Path("index").absolute())
    writer = open_writer(folder)
    Batch(1).apply(writer)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * KILOBYTE, before[1]))
    said = _said(writer.apply, documents([large_page(1)]), (), 2, 1.0)
    kept = contents(folder) == expected(model_at(1)) and writer.position == 1
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    Batch(2).apply(writer)
    print(json.dumps({**said, "kept": kept, "goes on": contents(folder) == expected(model_at(2))}))


def fill_the_disk() -> None:
    """Pages until the disk is full; then some room is made."""
    Path("ballast").write_bytes(bytes(1024 * KILOBYTE))
    folder = new_index(Path("index").absolute())
    writer = open_writer(folder)
    model: dict[str, str] = {}
    said: dict[str, str] = {}
    number = 0
    while not said:
        pages = [large_page(10 * number + n) for n in range(5)]
        number += 1
        said = _said(writer.apply, documents(pages), (), number, 1.0)
        if not said:
            model |= {page_.url: page_.text for page_ in pages}
    kept = contents(folder) == expected(model) and writer.position == number - 1
    Path("ballast").unlink()
    writer.apply(documents(pages), (), number, 1.0)
    model |= {page_.url: page_.text for page_ in pages}
    print(json.dumps({**said, "kept": kept, "goes on": contents(folder) == expected(model)}))


def merge_on_a_full_disk() -> None:
    """Room for the sixteenth segment, and not for the merge of the sixteen."""
    folder = new_index(Path("index").absolute())
    writer = open_writer(folder)
    pages = [large_page(number, 1500) for number in range(16)]
    for number, page_ in enumerate(pages, start=1):
        if number == 16:
            Path("ballast").write_bytes(bytes(shutil.disk_usage(".").free - 350 * KILOBYTE))
        writer.apply(documents([page_]), (), number, 1.0)
    said = _said(writer.merge_some, True)
    model = {page_.url: page_.text for page_ in pages}
    kept = contents(folder) == expected(model) and writer.segments == 16
    Path("ballast").unlink()
    writer.merge_some(wait=True)
    goes_on = contents(folder) == expected(model) and writer.segments == 1
    print(json.dumps({**said, "kept": kept, "goes on": goes_on}))


def _said(act: Callable[..., object], *values: object) -> dict[str, str]:
    """What is said, and by which error, where something fails."""
    try:
        act(*values)
    except OperationError as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {}


def test_files_that_may_not_grow_are_no_damage(tmp_path):
    report = run("files_may_not_grow", tmp_path)
    assert report["error"] == "StorageError"
    assert "File too large" in report["message"]
    assert report["kept"]
    assert report["goes on"]


@pytest.fixture
def small_disk(tmp_path) -> tuple[str, ...]:
    """What starts a command on a disk of four megabytes that ends with it."""
    inside = f'mount -t tmpfs -o size=4m tmpfs {tmp_path} && cd {tmp_path} && exec "$@"'
    prefix = ("unshare", "--mount", "sh", "-c", inside, "sh")
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    return prefix


def test_a_full_disk_is_no_damage(tmp_path, small_disk):
    report = run("fill_the_disk", tmp_path, *small_disk)
    assert report["error"] == "StorageError"
    assert "No space left on device" in report["message"]
    assert report["kept"]
    assert report["goes on"]


def test_a_merge_that_finds_the_disk_full_ends_and_leaves_everything_as_it_was(tmp_path, small_disk):
    report = run("merge_on_a_full_disk", tmp_path, *small_disk)
    assert report["error"] == "StorageError"
    assert "merge" in report["message"]
    assert report["kept"]
    assert report["goes on"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("An IO error occurred: 'No space left on device (os error 28)'", StorageError),
        (
            "Failed to open file for read: 'IoError { io_error: Os { code: 24 } }: Too many open files (os error 24)",
            StorageError,
        ),
        ("Failed to open file for read: 'FileDoesNotExist(\"x.store\")'", CorruptError),
        ("Data corrupted: 'Data corruption: Footer magic byte mismatch'", CorruptError),
    ],
)
def test_what_the_system_refused_is_told_apart_from_damage(tmp_path, said, kind):
    with pytest.raises(kind), commits.checking(tmp_path):
        raise ValueError(said)
