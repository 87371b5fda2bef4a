"""Every file of an index that is not as it was written is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from indexing_kit import documents, filled_index, open_writer, page

from gossamer.index import checksums, commits


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three segments, one of them with a deletion."""
    folder = filled_index(tmp_path_factory.mktemp("sound"))
    writer = open_writer(folder)
    writer.apply({}, {page(3).key}, 9, 1.0)
    writer.close()
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "tantivy"))


def counted(folder: Path) -> list[Path]:
    return sorted(path for segment in commits.read(folder).segments for path in segment.files(folder))


def test_a_sound_index_has_no_damage(folder: Path) -> None:
    assert checksums.damaged(folder) == []
    assert checksums.size(folder) == sum(path.stat().st_size for path in counted(folder))


def test_a_flipped_bit_is_found_wherever_it_is(folder: Path) -> None:
    """Except in the library's own version, which is beside the checksum and not in it."""
    random = Random(7)
    for path in counted(folder):
        content = path.read_bytes()
        body = content.rindex(b'{"version"')
        for place in [0, body - 1, *random.choices(range(body), k=30)]:
            flipped = bytearray(content)
            flipped[place] ^= 1 << random.randrange(8)
            path.write_bytes(flipped)
            assert checksums.damaged(folder) == [path]
        path.write_bytes(content)
    assert checksums.damaged(folder) == []


@pytest.mark.parametrize("left", [0, 1, 7, 8, 9, 50, -1])
def test_a_file_that_was_cut_is_found(folder: Path, left: int) -> None:
    path = counted(folder)[0]
    path.write_bytes(path.read_bytes()[:left])
    assert checksums.damaged(folder) == [path]


def test_files_that_are_missing_are_found(folder: Path) -> None:
    gone = counted(folder)[::2]
    for path in gone:
        path.unlink()
    assert checksums.damaged(folder) == gone


def test_what_does_not_count_is_not_looked_at(folder: Path) -> None:
    """Segments that are being written, and what a crash left, have no checksum yet."""
    (folder / "00000000000000000000000000000000.store").write_bytes(b"half a file")
    (folder / ".managed.json").write_bytes(b"")
    assert checksums.damaged(folder) == []


def test_what_a_newer_commit_has_deleted_is_not_missed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = checksums._is_whole
    changed = False

    def commit_meanwhile(path: Path) -> bool:
        nonlocal changed
        if not changed:
            changed = True
            writer = open_writer(folder)
            writer.apply(documents([page(n, 2) for n in range(30)]), (), 10, 1.0)
            writer.close()
        return whole(path)

    before = set(counted(folder))
    monkeypatch.setattr(checksums, "_is_whole", commit_meanwhile)
    assert checksums.damaged(folder) == []
    assert before - set(counted(folder)), "the commit must have deleted something"
