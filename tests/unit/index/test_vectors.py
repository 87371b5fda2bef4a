"""The folder of vectors: what is committed stays, what left is gone, and what is near is found."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest

from gossamer.errors import CorruptError
from gossamer.index.vectors import nearest as searching
from gossamer.index.vectors.nearest import VectorViews
from gossamer.index.vectors.store import VectorFolder, VectorStore, erase

SIZE = 72
"""Not a multiple of 64, so that signs have bits to spare."""


def store(root: Path, model: str = "m") -> VectorStore:
    return VectorStore(root, model, SIZE)


def vectors(*keys: int, version: int = 0) -> np.ndarray:
    """The vector of each page; each is of its own direction."""
    found = np.array([np.random.default_rng([abs(key), version]).normal(size=SIZE) for key in keys], np.float32)
    found = found.reshape(len(keys), SIZE)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def put(into: VectorStore, *keys: int, version: int = 0) -> None:
    into.add(keys, [key % 1000 + version for key in keys], vectors(*keys, version=version))
    into.commit({f"s{version}"})


def content(root: Path) -> dict[int, float]:
    """How near each page's vector is to the one it had at first."""
    view = VectorViews(VectorFolder(root)).current()
    keys, _ = view.nearest(np.ones(SIZE, np.float32), 10_000)
    return {int(key): round(float(view.alike(vectors(int(key))[0], [int(key)])[0]), 2) for key in keys}


def test_what_was_committed_is_found_by_another(tmp_path: Path) -> None:
    one = store(tmp_path)
    put(one, 1, -2, 3)
    assert content(tmp_path) == {1: 1, -2: 1, 3: 1}
    again = store(tmp_path)
    assert (len(again), again.hash_of(-2), again.hash_of(7), again.read) == (3, -2 % 1000, None, {"s0"})


def test_what_was_not_committed_does_not_count(tmp_path: Path) -> None:
    one = store(tmp_path)
    one.add([1], [1], vectors(1))
    assert one.waiting == 1 and len(VectorViews(VectorFolder(tmp_path)).current()) == 0


def test_a_changed_page_has_its_newest_vector_only(tmp_path: Path) -> None:
    one = store(tmp_path)
    put(one, 1, 2)
    put(one, 2, version=5)
    assert content(tmp_path)[1] == 1 and content(tmp_path)[2] < 0.9
    assert store(tmp_path).hash_of(2) == 7
    one.add([4, 4], [1, 2], np.concatenate([vectors(4, version=1), vectors(4)]))
    one.commit(())
    assert content(tmp_path)[4] == 1


def test_many_small_commits_leave_few_files_and_every_page_once(tmp_path: Path) -> None:
    one = store(tmp_path)
    for number in range(130):
        put(one, number, 1000 + number % 7, version=number)
    assert len(list(VectorFolder(tmp_path).root.glob("*.vectors"))) <= 22
    view = VectorViews(VectorFolder(tmp_path)).current()
    assert len(view) == len(one) == 137
    newest = {1000 + number % 7: number for number in range(130)}
    for key, version in newest.items():
        assert view.alike(vectors(key, version=version)[0], [key])[0] > 0.99


def test_a_page_that_left_is_in_no_file(tmp_path: Path) -> None:
    one = store(tmp_path)
    put(one, 11, 0x1122334455667788, 13)
    put(one, 0x1122334455667788, version=2)
    one.add([0x1122334455667788, 15], [1, 2], vectors(0x1122334455667788, 15, version=3))
    one.drop([0x1122334455667788, 99])
    assert content(tmp_path).keys() == {11, 13}
    one.commit(())
    assert content(tmp_path).keys() == {11, 13, 15}
    files = b"".join(path.read_bytes() for path in VectorFolder(tmp_path).root.iterdir())
    assert (0x1122334455667788).to_bytes(8, "little") not in files and (11).to_bytes(8, "little") in files


def test_pages_can_be_erased_without_the_model(tmp_path: Path) -> None:
    erase(tmp_path, [1])
    assert not list(tmp_path.iterdir())
    put(store(tmp_path), 1, 2)
    erase(tmp_path, [1])
    assert content(tmp_path).keys() == {2} and store(tmp_path).read == {"s0"}


def test_vectors_of_another_model_are_given_up(tmp_path: Path) -> None:
    put(store(tmp_path), 1)
    other = store(tmp_path, "other")
    assert (len(other), other.read, content(tmp_path)) == (0, frozenset(), {})
    put(other, 2)
    assert VectorViews(VectorFolder(tmp_path)).current().model == "other" and content(tmp_path).keys() == {2}
    assert len(list(VectorFolder(tmp_path).root.glob("*.vectors"))) == 1


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_flipped_bit_is_noticed_and_its_pages_get_new_vectors(tmp_path: Path) -> None:
    one = store(tmp_path)
    put(one, 1, 2)
    put(one, 3, version=1)
    (name, kept) = VectorFolder(tmp_path).read().parts
    flip(VectorFolder(tmp_path).part(name))
    with pytest.raises(CorruptError, match="gossamer index --vectors"):
        VectorViews(VectorFolder(tmp_path)).current()
    again = store(tmp_path)
    assert (again.keys(), again.read) == ([3], frozenset()) and VectorFolder(tmp_path).read().parts == (kept,)
    assert content(tmp_path).keys() == {3}


def test_a_damaged_list_begins_anew(tmp_path: Path) -> None:
    put(store(tmp_path), 1)
    VectorFolder(tmp_path).manifest.write_bytes(b"{")
    with pytest.raises(CorruptError):
        VectorViews(VectorFolder(tmp_path)).current()
    assert len(store(tmp_path)) == 0 and content(tmp_path) == {}


def test_an_open_search_keeps_its_files_and_sees_the_next_commit(tmp_path: Path) -> None:
    one = store(tmp_path)
    put(one, *range(20))
    views = VectorViews(VectorFolder(tmp_path))
    before = views.current()
    one.drop(range(19))
    assert len(before) == 20 and before.alike(vectors(3)[0], [3])[0] > 0.99
    assert len(views.current()) == 1 and views.current() is views.current()


def commit_and_die(root: Path, step: int) -> None:
    """Commits and removals, until the process dies at its `step`th change of the disk."""
    steps = count(1)
    for name in ("os.fsync", "pathlib.Path.replace", "pathlib.Path.unlink", "pathlib.Path.mkdir"):
        module, _, function = name.rpartition(".")
        _die_at(resolve_name(module), function, steps, step)
    one = store(root)
    for number in range(12):
        put(one, number, version=number)
        (root / "done").write_text(str(number))
        one.drop([number - 3])


def _die_at(place: object, function: str, steps: Iterator[int], step: int) -> None:
    act = getattr(place, function)

    def die_or_act(*values: object, **named: object) -> object:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*values, **named)

    setattr(place, function, die_or_act)


@pytest.mark.parametrize("step", range(1, 60, 4))
def test_a_kill_leaves_one_of_the_commits(tmp_path: Path, step: int) -> None:
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=commit_and_die, args=(tmp_path, step))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    done = int((tmp_path / "done").read_text()) if (tmp_path / "done").exists() else -1
    found = content(tmp_path).keys()
    newest = max(found, default=-1)
    assert newest in (done, done + 1)
    assert found in ({*range(max(newest - 3, 0), newest + 1)}, {*range(max(newest - 2, 0), newest + 1)})
    again = store(tmp_path)
    put(again, 100)
    assert content(tmp_path).keys() == {*found, 100}
    named = {f"{name}.vectors" for name in VectorFolder(tmp_path).read().parts}
    assert {path.name for path in VectorFolder(tmp_path).root.glob("*.vectors")} == named


def test_the_nearest_are_those_of_a_full_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = list(range(3_000))
    one = store(tmp_path)
    for start in range(0, 3_000, 1_000):
        put(one, *keys[start : start + 1_000])
    wanted = vectors(7, version=9)[0]
    exact = vectors(*keys) @ wanted
    best = np.argsort(-exact)[:10]
    view = VectorViews(VectorFolder(tmp_path)).current()
    found, how_near = view.nearest(wanted, 10)
    assert found.tolist() == best.tolist()
    np.testing.assert_allclose(how_near, exact[best], atol=0.01)
    some = np.array([5, 4_000, 8, -1, 6], np.int64)
    assert set(view.nearest(wanted, 10, some)[0].tolist()) == {5, 8, 6}
    assert np.isnan(view.alike(wanted, [5, 4_000])).tolist() == [False, True]
    assert view.nearest(wanted, 0)[0].tolist() == []
    # And of a folder so large that signs are compared first.
    monkeypatch.setattr(searching, "_FEW", 100)
    monkeypatch.setattr(searching, "_MANY", 1_500)
    large = VectorViews(VectorFolder(tmp_path)).current()
    assert large.nearest(wanted, 10)[0].tolist() == best.tolist()
    assert large.nearest(wanted, 3, np.arange(2_000))[0].tolist() == np.argsort(-exact[:2_000])[:3].tolist()


def test_an_empty_folder_has_nothing_near(tmp_path: Path) -> None:
    view = VectorViews(VectorFolder(tmp_path)).current()
    assert view.nearest(np.ones(SIZE, np.float32), 5)[0].tolist() == []
    assert np.isnan(view.alike(np.ones(SIZE, np.float32), [1])).all()
