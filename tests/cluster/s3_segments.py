"""Segments in an object store, with several machines at work. Run by `test_segments_s3`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex

import msgspec
import pytest
from s3_kit import Answer, Store, for_a_while, running_store

from gossamer.errors import StorageError
from gossamer.model.outcome import Outcome
from gossamer.model.records import Link, PageRow, Response
from gossamer.store.compaction import compact
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import LINKS, PAGES, RESPONSES, new_segment_id
from gossamer.store.orphans import delete_orphans, survey
from gossamer.store.remote_segments import RemoteSegments
from gossamer.store.segment_folder import delete_segments, segment_bytes
from gossamer.store.segments import SegmentWriter, check_segment, iter_pages, read_page, read_response
from gossamer.store.versions import versions

NOW = 1_794_713_465.0
MERGED = new_segment_id("compact", NOW + 99, 0)


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with running_store() as store:
        yield store


@pytest.fixture
def store(server: Store) -> Store:
    server.good_again()
    return server


@pytest.fixture
def machine(store: Store, tmp_path: Path) -> Callable[[], RemoteSegments]:
    """Another machine each time: its own cache, the same segments."""
    prefix = token_hex(4)

    def add() -> RemoteSegments:
        cache = tmp_path / token_hex(4)
        return RemoteSegments(store.place(prefix, cache), cache)

    return add


@pytest.fixture
def segments(machine: Callable[[], RemoteSegments]) -> RemoteSegments:
    return machine()


def page(url: str, **fields: object) -> PageRow:
    values: dict[str, object] = {
        "site": "a.example", "domain": "a.example", "fetched_at": NOW, "outcome": "document", "status": 200,
        "title": "A title", "text": "Some text.", "worker": "w1",
    }  # fmt: skip
    return PageRow(url=url, **(values | fields))


def begin(segments: RemoteSegments, n: int, urls: list[str], worker: str = "w1") -> tuple[SegmentWriter, list[PageRow]]:
    """A segment as it is before the transaction."""
    writer = SegmentWriter(segments, new_segment_id(worker, NOW + n, n))
    responses = [
        Response(url, Outcome.DOCUMENT, NOW, NOW, NOW, 200, wire_body=f"body of {url}".encode() * 50) for url in urls
    ]
    rows = [page(url) for url in urls]
    for row, place in zip(rows, writer.write_archive(responses, NOW), strict=True):
        assert place is not None
        row.warc_offset, row.warc_length = place
    writer.write_links([(url, NOW, [Link(f"{url}/{i}", f"to {i}") for i in range(3)]) for url in urls])
    return writer, rows


def write(segments: RemoteSegments, n: int, urls: list[str], worker: str = "w1") -> str:
    writer, rows = begin(segments, n, urls, worker)
    writer.write_pages(rows)
    writer.sync()
    return writer.segment_id


def uploaded(store: Store) -> list[str]:
    """The names of files in the order in which they went up."""
    return [asked.path.partition("?")[0].rpartition("/")[2] for asked in store.asked if asked.method == "PUT"]


def test_a_segment_is_written_read_merged_and_verified(machine: Callable[[], RemoteSegments]) -> None:
    one, two, three = machine(), machine(), machine()
    one.create()
    ids = [write((one, two)[n % 2], n, [f"https://a.example/{n}/{i}" for i in range(5)]) for n in range(4)]
    assert three.ids() == ids
    row = read_page(three, ids[1], 3)
    assert row.url == "https://a.example/1/3"
    assert read_response(three, ids[1], row.warc_offset, row.warc_length).wire_body.startswith(b"body of https://a")
    done = compact(two, ids, MERGED)
    assert (done.pages, done.links, done.bytes) == (20, 60, segment_bytes(one, MERGED))
    assert delete_segments(two, ids) == ids
    assert one.ids() == three.ids() == [MERGED]
    assert msgspec.structs.astuple(check_segment(machine(), MERGED)) == (20, 60, 20)
    moved = read_page(one, MERGED, done.first_rows[ids[1]] + 3)
    assert moved.url == row.url
    assert read_response(one, MERGED, moved.warc_offset).url == row.url
    assert sum(batch.num_rows for batch in iter_pages(machine(), [MERGED], ["url"])) == 20
    assert [version.row for version in versions(three, [MERGED], row.url)] == [done.first_rows[ids[1]] + 3]


def test_large_files_go_up_before_the_transaction_and_pages_last(store: Store, segments: RemoteSegments) -> None:
    writer, rows = begin(segments, 1, ["https://a.example/"])
    assert uploaded(store) == [RESPONSES, LINKS]
    store.good_again()
    writer.write_pages(rows)
    writer.sync()
    assert uploaded(store) == [PAGES]
    assert [asked.method for asked in store.asked] == ["PUT", "HEAD"]
    assert writer.bytes == segment_bytes(segments, writer.segment_id)
    store.good_again()
    compact(segments, [writer.segment_id], MERGED)
    assert uploaded(store) == [RESPONSES, LINKS, PAGES]


def test_who_wrote_a_segment_reads_it_from_its_own_copy(store: Store, segments: RemoteSegments) -> None:
    segment_id = write(segments, 1, ["https://a.example/"])
    store.good_again()
    assert read_page(segments, segment_id, 0).url == "https://a.example/"
    assert not [asked for asked in store.asked if asked.method == "GET"]


def test_a_response_costs_one_request_for_its_bytes(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    segment_id = write(machine(), 1, [f"https://a.example/{i}" for i in range(200)])
    reader = machine()
    row = read_page(reader, segment_id, 150)
    store.good_again()
    assert read_response(reader, segment_id, row.warc_offset, row.warc_length).url == "https://a.example/150"
    [asked] = store.asked
    assert asked.range == f"bytes={row.warc_offset}-{row.warc_offset + row.warc_length - 1}"


def test_a_second_attempt_replaces_the_pages(machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    writer, rows = begin(segments, 1, ["https://a.example/"])
    writer.write_pages([*rows, page("https://a.example/lost")])
    writer.sync()
    read_page(segments, writer.segment_id, 1)
    writer.write_pages([msgspec.structs.replace(rows[0], outcome="duplicate", text=None)])
    writer.sync()
    for reader in (segments, machine()):
        assert read_page(reader, writer.segment_id, 0).outcome == "duplicate"
        assert msgspec.structs.astuple(check_segment(reader, writer.segment_id)) == (1, 3, 1)
    assert survey(segments) == ([writer.segment_id], [])


@pytest.mark.parametrize("synced", [False, True])
def test_what_is_given_up_leaves_nothing(segments: RemoteSegments, synced: bool) -> None:
    writer, rows = begin(segments, 1, ["https://a.example/"])
    if synced:
        writer.write_pages(rows)
        writer.sync()
    writer.abandon()
    assert survey(segments) == ([], [])


def test_an_id_used_twice_is_refused_and_the_first_segment_stays(machine: Callable[[], RemoteSegments]) -> None:
    segment_id = write(machine(), 1, ["https://a.example/first"])
    with pytest.raises(StorageError, match="choose another id"):
        SegmentWriter(machine(), segment_id)
    assert read_page(machine(), segment_id, 0).url == "https://a.example/first"


def test_what_is_missing_is_told_as_missing(machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    segment_id = write(segments, 1, ["https://a.example/"])
    segments.discard(segment_id)
    for reader in (segments, machine()):
        for read in (
            lambda reader=reader: read_page(reader, segment_id, 0),
            lambda reader=reader: read_response(reader, segment_id, 0),
            lambda reader=reader: compact(reader, [segment_id], MERGED),
            lambda reader=reader: check_segment(reader, segment_id),
        ):
            with pytest.raises(SegmentMissingError, match=rf"{segment_id}.*gossamer recrawl --segment"):
                read()
    assert survey(segments) == ([], [])


def test_a_store_that_fails_for_a_while_costs_nothing(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    writer, rows = begin(segments, 1, ["https://a.example/"])
    store.fault = for_a_while(4, Answer(503, "SlowDown"))
    writer.write_pages(rows)
    writer.sync()
    assert check_segment(machine(), writer.segment_id).pages == 1


@pytest.mark.parametrize("name", [RESPONSES, LINKS, PAGES])
def test_a_store_that_fails_for_good_is_told_and_loses_nothing(
    store: Store, machine: Callable[[], RemoteSegments], name: str
) -> None:
    segments = machine()
    kept = write(segments, 1, ["https://a.example/kept"])
    store.fault = lambda asked: Answer(500) if asked.method == "PUT" and name in asked.path else None
    with pytest.raises(StorageError, match="nothing committed is lost"):
        write(segments, 2, ["https://a.example/lost"])
    assert survey(segments) == ([kept], [])
    store.good_again()
    again = write(segments, 2, ["https://a.example/lost"])
    assert [check_segment(machine(), segment_id).pages for segment_id in (kept, again)] == [1, 1]


def test_what_cannot_even_be_removed_is_an_orphan(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    writer, rows = begin(segments, 1, ["https://a.example/"])
    store.fault = lambda asked: Answer(500)
    with pytest.raises(StorageError, match="answered 500"):
        writer.write_pages(rows)
        writer.sync()
    store.good_again()
    assert survey(segments) == ([writer.segment_id], [])
    assert delete_orphans(machine(), survey(segments), set(), {"w1"}) == []
    assert delete_orphans(machine(), survey(segments), set(), {"w2"}) == [writer.segment_id]
    assert survey(segments) == ([], [])


def test_a_merge_that_fails_leaves_the_old_segments(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    ids = [write(segments, n, [f"https://a.example/{n}"]) for n in range(3)]
    store.fault = lambda asked: Answer(500) if asked.method == "PUT" and PAGES in asked.path else None
    with pytest.raises(StorageError, match="answered 500"):
        compact(segments, ids, MERGED)
    store.good_again()
    assert survey(segments) == (ids, [])
    assert [check_segment(machine(), segment_id).pages for segment_id in ids] == [1, 1, 1]


def test_orphans_of_other_machines_must_be_old(machine: Callable[[], RemoteSegments]) -> None:
    """A merge on another machine, which no list of workers names, is under way."""
    merging, recovering = machine(), machine()
    known = write(merging, 0, ["https://a.example/"])
    begun, _ = begin(merging, 50, ["https://a.example/"], worker="compact")
    found = survey(recovering)
    assert found == ([known, begun.segment_id], [])
    at = NOW + 60
    assert delete_orphans(recovering, found, {known}, set(), older_than=3600, now=at) == []
    assert delete_orphans(recovering, found, {known}, set(), older_than=3600, now=at + 3600) == [begun.segment_id]
    assert recovering.ids() == [known]


def test_a_segment_merged_away_is_read_from_a_copy_or_is_missing(machine: Callable[[], RemoteSegments]) -> None:
    merging, reader = machine(), machine()
    ids = [write(merging, n, [f"https://a.example/{n}"]) for n in range(2)]
    read_page(reader, ids[0], 0)
    compact(merging, ids, MERGED)
    delete_segments(merging, ids)
    assert read_page(reader, ids[0], 0).url == "https://a.example/0"
    with pytest.raises(SegmentMissingError):
        read_page(reader, ids[1], 0)
    assert read_page(reader, MERGED, 1).url == "https://a.example/1"


def test_a_copy_thrown_away_is_fetched_again(store: Store, tmp_path: Path) -> None:
    prefix = token_hex(4)
    segments = RemoteSegments(store.place(prefix, tmp_path, cache_bytes=1), tmp_path)
    ids = [write(segments, n, [f"https://a.example/{n}"]) for n in range(3)]
    for _ in range(2):
        for n, segment_id in enumerate(ids):
            assert read_page(segments, segment_id, 0).url == f"https://a.example/{n}"
    assert compact(segments, ids, MERGED).pages == 3


def test_a_copy_thrown_away_before_it_is_opened_is_fetched_again(
    segments: RemoteSegments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another process of the machine, which needs the room."""
    segment_id = write(segments, 1, ["https://a.example/"])
    real, thrown_away = segments.file, []

    def file(segment_id: str, name: str) -> Path:
        path = real(segment_id, name)
        if name not in thrown_away:
            thrown_away.append(name)
            path.unlink()
        return path

    monkeypatch.setattr(segments, "file", file)
    assert read_page(segments, segment_id, 0).url == "https://a.example/"
    assert compact(segments, [segment_id], MERGED).links == 3
    assert set(thrown_away) == {PAGES, LINKS, RESPONSES}


def test_it_travels_to_other_processes_by_its_address(machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    segment_id = write(segments, 1, ["https://a.example/"])
    sent = pickle.dumps(segments)
    assert b"secret" not in sent
    assert read_page(pickle.loads(sent), segment_id, 0).url == "https://a.example/"


def test_other_tools_find_three_files_in_a_folder(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    segments = machine()
    segment_id = write(segments, 1, ["https://a.example/"])
    place = store.place(segments.url.rpartition("/")[2], Path("/nonexistent"))
    assert list(place.names()) == [f"{segment_id}/{name}" for name in (LINKS, PAGES, RESPONSES)]


def test_nothing_is_asked_before_it_is_needed(store: Store, machine: Callable[[], RemoteSegments]) -> None:
    machine()
    assert store.asked == []
