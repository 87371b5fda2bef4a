"""An object store keeps the contract of places, and its faults are survived or told. Run by `test_segments_s3`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from place_contract import LARGE, PlaceContract
from s3_kit import BUCKET, QUICK, Answer, Asked, Store, for_a_while, running_store, wait_until

from gossamer.errors import StorageError, UsageError
from gossamer.store.file_cache import FileCache
from gossamer.store.object_place import PART, ObjectPlace, Patience
from gossamer.store.place import Place, PlaceMissing, open_place


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with running_store() as store:
        yield store


@pytest.fixture
def store(server: Store) -> Store:
    server.good_again()
    return server


@pytest.fixture
def place(store: Store, tmp_path: Path) -> ObjectPlace:
    return store.place(token_hex(4), tmp_path / "cache")


class TestObjectPlace(PlaceContract):
    @pytest.fixture
    def open_place(self, store: Store, tmp_path: Path) -> Callable[[], Place]:
        prefix = f"deep/{token_hex(4)}"
        return lambda: store.place(prefix, tmp_path / token_hex(4))


class TestOpening:
    def test_a_store_with_conditional_writes_is_taken(self, place: ObjectPlace) -> None:
        place.probe()
        assert list(place.names()) == []

    def test_a_store_without_conditional_writes_is_refused(self, store: Store, place: ObjectPlace) -> None:
        store.without_conditions = True
        with pytest.raises(StorageError, match="If-None-Match") as error:
            place.probe()
        assert "\n" not in str(error.value)

    def test_one_place_for_a_process(self, store: Store, tmp_path: Path) -> None:
        one = open_place(f"s3://{BUCKET}/x", tmp_path)
        one.put("name", b"1")
        assert open_place(f"s3://{BUCKET}/x", tmp_path) is one and one.url == f"s3://{BUCKET}/x"

    @pytest.mark.parametrize("url", ["s3://", "s3:///prefix", "gs://bucket/x"])
    def test_an_address_without_bucket_is_wrong(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="s3://bucket/prefix"):
            open_place(url, tmp_path)

    @pytest.mark.parametrize(
        ("answer", "advice"),
        [
            (Answer(403, "AccessDenied"), "permission denied"),
            (Answer(403, "InvalidAccessKeyId"), "AWS_ACCESS_KEY_ID"),
            (Answer(403, "SignatureDoesNotMatch"), "AWS_SECRET_ACCESS_KEY"),
            (Answer(403, "RequestTimeTooSkewed"), "set the clock"),
            (Answer(400, "AuthorizationHeaderMalformed"), "AWS_REGION"),
            (Answer(404, "NoSuchBucket"), "no such bucket"),
            (Answer(501, "NotImplemented"), "If-None-Match"),
            (Answer(500, "InternalError"), "answered 500"),
            (Answer(503, "SlowDown"), "answered 503"),
            (Answer(0), "cannot reach http://127.0.0.1"),
        ],
    )
    def test_each_refusal_says_what_to_do(
        self, store: Store, place: ObjectPlace, answer: Answer, advice: str, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_bytes(b"x")
        store.fault = lambda asked: answer
        uses = (place.probe, lambda: place.put("x", b""), lambda: place.upload("x", tmp_path / "file"))
        for use in (*uses, lambda: place.create("x", b""), lambda: list(place.names()), lambda: place.delete(["x"])):
            with pytest.raises(StorageError, match=advice) as error:
                use()
            assert "\n" not in str(error.value) and len(str(error.value)) < 300

    def test_a_bucket_that_is_not_there_is_named(self, store: Store, tmp_path: Path) -> None:
        place = ObjectPlace("s3://nowhere/x", FileCache(tmp_path, 1), QUICK)
        for use in (place.probe, lambda: place.get("x"), lambda: list(place.names())):
            with pytest.raises(StorageError, match=r"s3://nowhere/x.*no such bucket"):
                use()

    def test_no_credentials(self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        with pytest.raises(StorageError, match="AWS_ACCESS_KEY_ID"):
            store.place("x", tmp_path).probe()

    def test_nobody_listens(self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        with pytest.raises(StorageError, match=r"cannot reach http://127\.0\.0\.1:9"):
            store.place("x", tmp_path).probe()


class TestFaults:
    @pytest.mark.parametrize("answer", [Answer(500, "InternalError"), Answer(503, "SlowDown"), Answer(0)])
    def test_what_fails_for_a_while_is_tried_again(
        self, store: Store, place: ObjectPlace, answer: Answer, tmp_path: Path
    ) -> None:
        (tmp_path / "source").write_bytes(data := os.urandom(LARGE))
        store.fault = for_a_while(3, answer)
        place.upload("large", tmp_path / "source")
        store.fault = for_a_while(3, answer)
        place.put("small", b"1")
        store.fault = for_a_while(3, answer)
        assert place.path("large").read_bytes() == data
        store.fault = for_a_while(3, answer)
        assert place.get_range("large", 10, 5) == data[10:15]
        store.fault = for_a_while(3, answer)
        assert list(place.names()) == ["large", "small"]
        store.fault = for_a_while(3, answer)
        place.delete(["large"])
        assert list(place.names()) == ["small"]

    def test_a_creator_whose_answer_was_lost_has_still_won(self, store: Store, place: ObjectPlace) -> None:
        """The store wrote the file and then failed to say so: the second attempt finds the name taken."""
        store.lost_answers = 1
        assert place.create("lock", b"mine")
        assert place.get("lock") == b"mine"
        assert not place.create("lock", b"mine")

    def test_a_store_that_keeps_less_than_it_was_given_is_noticed(
        self, store: Store, place: ObjectPlace, tmp_path: Path
    ) -> None:
        (tmp_path / "source").write_bytes(b"12345")
        store.cut_short = True
        with pytest.raises(StorageError, match="instead of 5"):
            place.upload("x", tmp_path / "source")

    def test_a_writer_killed_in_a_large_upload_shows_nothing(
        self, store: Store, place: ObjectPlace, tmp_path: Path
    ) -> None:
        (tmp_path / "source").write_bytes(os.urandom(4 * PART))
        held: list[Asked] = []

        def hold_the_last_part(asked: Asked) -> Answer | None:
            if "partNumber=4" in asked.path:
                held.append(asked)
                wait_until(lambda: process.poll() is not None)
            return None

        store.fault = hold_the_last_part
        program = (
            "import sys; from pathlib import Path; from gossamer.store.place import open_place\n"
            "open_place(sys.argv[1], Path(sys.argv[2])).upload('large', Path(sys.argv[3]))"
        )
        arguments = [place.url, str(tmp_path / "theirs"), str(tmp_path / "source")]
        process = subprocess.Popen([sys.executable, "-c", program, *arguments])
        wait_until(lambda: bool(held) and sum("partNumber" in asked.path for asked in store.asked) >= 4)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert list(place.names()) == [] and place.size("large") is None
        with pytest.raises(PlaceMissing):
            place.get("large")

    def test_a_file_replaced_while_it_is_read_is_read_anew(self, store: Store, place: ObjectPlace) -> None:
        old, new = os.urandom(LARGE), os.urandom(LARGE + 1)
        place.put("x", old)
        other = store.place(place.url.rpartition("/")[2], Path("/nonexistent"))
        replaced: list[bool] = []

        def replace_it(asked: Asked) -> Answer | None:
            if asked.range.startswith(f"bytes={PART}-") and not replaced:
                replaced.append(True)
                other.put("x", new)
            return None

        store.fault = replace_it
        assert place.path("x").read_bytes() == new and replaced

    def test_a_download_that_breaks_off_leaves_no_copy(self, store: Store, place: ObjectPlace, tmp_path: Path) -> None:
        place.put("x", os.urandom(LARGE))
        store.fault = lambda asked: Answer(500) if asked.range.startswith(f"bytes={PART}-") else None
        with pytest.raises(StorageError, match="answered 500"):
            place.path("x")
        assert list((tmp_path / "cache" / "copies").iterdir()) == []

    def test_patience_ends(self, store: Store, tmp_path: Path) -> None:
        store.fault = lambda asked: Answer(500)
        with pytest.raises(StorageError, match="answered 500"):
            store.place("x", tmp_path, patience=Patience(retries=2, first=0.01, longest=0.02)).put("x", b"")
        assert len(store.asked) == 3


class TestCopies:
    def test_copies_are_fetched_once_and_bounded(self, store: Store, tmp_path: Path) -> None:
        place = store.place(token_hex(4), tmp_path, cache_bytes=8_000)
        for number in range(20):
            place.put(str(number), bytes([number]) * 1000)
        store.good_again()
        for number in range(20):
            for _ in range(2):
                assert place.path(str(number)).read_bytes() == bytes([number]) * 1000
            assert FileCache(tmp_path / "copies", 0).bytes() <= 8_000
        assert sum(asked.method == "GET" for asked in store.asked) == 20

    def test_what_was_used_last_stays(self, store: Store, tmp_path: Path) -> None:
        place = store.place(token_hex(4), tmp_path, cache_bytes=8_000)
        for number in range(20):
            place.put(str(number), bytes(1000))
        place.path("0")
        store.good_again()
        for number in range(1, 20):
            place.path(str(number))
            assert place.path("0").stat().st_size == 1000
        assert not any(asked.method == "GET" and asked.path.endswith("/0") for asked in store.asked)

    def test_a_file_larger_than_the_bound_can_be_read(self, store: Store, tmp_path: Path) -> None:
        place = store.place(token_hex(4), tmp_path, cache_bytes=1000)
        for name in ("a", "b"):
            place.put(name, bytes(5000))
            assert place.path(name).stat().st_size == 5000
        assert FileCache(tmp_path / "copies", 0).bytes() == 5000

    def test_processes_share_copies(self, store: Store, tmp_path: Path) -> None:
        prefix = token_hex(4)
        store.place(prefix, tmp_path).put("x", b"1")
        first = store.place(prefix, tmp_path).path("x")
        store.good_again()
        assert store.place(prefix, tmp_path).path("x") == first
        assert [asked.method for asked in store.asked] == ["HEAD"]
