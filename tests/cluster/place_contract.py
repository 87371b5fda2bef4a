"""What every place for files keeps: inherited by a class that has the fixture `open_place`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.store.place import Place, PlaceMissing

_PART = st.from_regex(r"[a-zA-Z0-9_=+%@ -][a-zA-Z0-9_.=+%@ -]{0,8}", fullmatch=True)
_NAMES = st.lists(_PART, min_size=1, max_size=3).map("/".join)
LARGE = 9 << 20
"""Bytes of a file that goes up and comes down in several pieces."""


class PlaceContract:
    """The suite; `open_place()` opens the same place anew, as another machine would."""

    @pytest.fixture
    def place(self, open_place: Callable[[], Place]) -> Place:
        return open_place()

    def test_what_is_put_is_read_by_others(self, place: Place, open_place: Callable[[], Place]) -> None:
        place.put("a/b.txt", b"one")
        other = open_place()
        assert (other.get("a/b.txt"), other.path("a/b.txt").read_bytes(), other.size("a/b.txt")) == (b"one", b"one", 3)
        assert other.url == place.url

    def test_put_replaces_and_no_reader_keeps_the_old_one(self, place: Place, open_place: Callable[[], Place]) -> None:
        other = open_place()
        for data in (b"one", b"two", b"", memoryview(b"three")):
            place.put("x", data)
            for reader in (place, other):
                assert reader.get("x") == reader.path("x").read_bytes() == bytes(data)

    def test_a_large_file_comes_back_as_it_was(self, place: Place, tmp_path: Path) -> None:
        source = tmp_path / "source"
        source.write_bytes(os.urandom(LARGE + 12_345))
        place.upload("deep/down/large", source)
        assert place.path("deep/down/large").read_bytes() == source.read_bytes()
        assert place.size("deep/down/large") == LARGE + 12_345
        assert place.get_range("deep/down/large", LARGE, 20_000) == source.read_bytes()[LARGE:]

    def test_a_kept_source_may_go(self, place: Place, tmp_path: Path) -> None:
        source = tmp_path / "source"
        source.write_bytes(b"bytes")
        place.upload("kept", source, keep=True)
        source.unlink()
        assert place.path("kept").read_bytes() == place.get("kept") == b"bytes"

    @pytest.mark.parametrize("piece", [(0, 3), (2, 4), (4, 100), (6, 1), (7, 1), (100, 5), (3, 0)])
    def test_a_piece_ends_where_the_file_ends(self, place: Place, piece: tuple[int, int]) -> None:
        place.put("x", b"abcdef")
        assert place.get_range("x", *piece) == b"abcdef"[piece[0] : piece[0] + piece[1]]

    def test_what_is_not_there_is_missing(self, place: Place) -> None:
        place.put("folder/file", b"x")
        for name in ("nothing", "folder", "folder/file/below", "folder/nothing"):
            assert place.size(name) is None
            for read in (place.get, place.path, lambda missing: place.get_range(missing, 0, 1)):
                with pytest.raises(PlaceMissing, match=name):
                    read(name)
        place.delete(["nothing", "no/such/folder"])

    @pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x"])
    def test_names_stay_below_the_place(self, place: Place, name: str) -> None:
        for use in (lambda: place.put(name, b""), lambda: place.get(name), lambda: place.delete([name])):
            with pytest.raises(ValueError, match="not a name"):
                use()

    def test_names_are_listed_in_order_by_any_beginning(self, place: Place) -> None:
        for name in ("b/2", "b/10", "b/1/x", "ba", "a", "b-1/y", ".hidden", "b/.hidden", ".folder/x"):
            place.put(name, b"")
        assert list(place.names()) == sorted(["a", "b-1/y", "b/1/x", "b/10", "b/2", "ba"])
        assert list(place.names("b")) == ["b-1/y", "b/1/x", "b/10", "b/2", "ba"]
        assert list(place.names("b/")) == ["b/1/x", "b/10", "b/2"]
        assert list(place.names("b/1")) == ["b/1/x", "b/10"]
        assert list(place.names("nothing/")) == []

    def test_what_is_deleted_is_gone_for_everybody(self, place: Place, open_place: Callable[[], Place]) -> None:
        other = open_place()
        place.put("a/b/c", b"1")
        place.put("a/d", b"2")
        other.path("a/b/c")
        place.delete(iter(["a/b/c"]))
        for reader in (place, other):
            with pytest.raises(PlaceMissing):
                reader.path("a/b/c")
        assert list(other.names()) == ["a/d"]

    def test_of_many_creators_one_wins(self, open_place: Callable[[], Place]) -> None:
        for number in range(8):
            places = [open_place() for _ in range(4)]
            start = threading.Barrier(len(places))
            won: list[bytes] = []

            def create(place: Place, data: bytes, name: str, start: threading.Barrier, won: list[bytes]) -> None:
                start.wait()
                if place.create(name, data):
                    won.append(data)

            threads = [
                threading.Thread(target=create, args=(place, f"by {n}".encode(), f"lock/{number}", start, won))
                for n, place in enumerate(places)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(won) == 1
            assert places[0].get(f"lock/{number}") == won[0]
            assert not places[1].create(f"lock/{number}", won[0])

    def test_a_name_can_be_created_again_when_it_is_deleted(self, place: Place) -> None:
        assert place.create("x", b"1") and not place.create("x", b"2")
        place.delete(["x"])
        assert place.create("x", b"3") and place.get("x") == b"3"

    def test_writers_and_deleters_of_one_folder_do_not_disturb_each_other(
        self, open_place: Callable[[], Place]
    ) -> None:
        """A folder disappears with its last file; whoever is about to write there must not notice."""
        failed: list[BaseException] = []

        def work(place: Place, number: int) -> None:
            try:
                for turn in range(12):
                    place.put(f"shared/{number}", str(turn).encode())
                    assert place.get(f"shared/{number}") == str(turn).encode()
                    place.delete([f"shared/{number}"])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(open_place(), number)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []

    @settings(max_examples=6)
    @given(st.dictionaries(_NAMES, st.binary(max_size=20), max_size=6))
    def test_it_is_a_dictionary_of_names(self, open_place: Callable[[], Place], files: dict[str, bytes]) -> None:
        place = open_place()
        place.delete(list(place.names()))
        names = sorted(files)
        is_folder = {name for name in names for other in names if other.startswith(f"{name}/")}
        files = {name: data for name, data in files.items() if name not in is_folder}
        for name, data in files.items():
            place.put(name, data)
        assert {name: place.get(name) for name in place.names()} == files
        assert {name: place.path(name).read_bytes() for name in place.names()} == files
