"""The archive is standard WARC: other tools read it, and seek in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.data.archives.warc import Bodies, file_info
from gossamer.errors import CorruptError
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.store import archive
from gossamer.store.layout import RESPONSES, new_segment_id
from gossamer.store.segments import SegmentWriter, read_response


@pytest.fixture
def store(segments):
    """Writes responses; returns the segment id and the places."""

    def write(*responses):
        writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
        places = writer.write_archive(responses, 1.0, {"software": "gossamer"})
        writer.write_links([])
        writer.write_pages([])
        writer.sync()
        return writer.segment_id, places

    return write


def _warcio(path):
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            yield record, record.content_stream().read()


def test_warcio_reads_every_record_in_order(root, store, response):
    segment_id, _ = store(*(response(f"https://a.example/{i}", b"x" * i) for i in range(5)))
    (info, fields), *found = _warcio(root / segment_id / RESPONSES)
    assert info.rec_type == "warcinfo"
    assert b"software: gossamer\r\n" in fields
    assert [record.rec_headers["WARC-Target-URI"] for record, _ in found] == [
        f"https://a.example/{i}" for i in range(5)
    ]
    assert [body for _, body in found] == [b"x" * i for i in range(5)]
    head = found[0][0]
    assert head.rec_headers["WARC-Date"] == "2026-11-15T03:31:05.123456Z"
    assert head.rec_headers["WARC-IP-Address"] == "192.0.2.1"
    assert head.http_headers.get_statuscode() == "200"
    assert len({record.rec_headers["WARC-Record-ID"] for record, _ in found}) == 5


def test_each_payload_has_the_digest_that_other_tools_compute(root, store, response):
    bodies = [b"", b"<p>hello", bytes(range(256)) * 400]
    segment_id, _ = store(*(response(body=body) for body in bodies), response(status=304, wire_body=b""))
    told = []
    with (root / segment_id / RESPONSES).open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            record.content_stream().read()
            told.append(record.rec_headers.get_header("WARC-Payload-Digest"))
            assert record.digest_checker.passed is (None if told[-1] is None else True)
    assert told[0] is told[-1] is None
    assert told[2] == "sha1:" + base64.b32encode(hashlib.sha1(b"<p>hello").digest()).decode()
    assert len(set(told[1:-1])) == 3


def test_a_body_that_was_written_before_becomes_a_revisit_of_it(root, store, response, tmp_path):
    urls = ["https://a.example/1", "https://a.example/2", "https://a.example/3"]
    segment_id, _ = store(*(response(url, body) for url, body in zip(urls, [b"one", b"two", b"one"], strict=True)))
    bodies, file = Bodies(), tmp_path / "all.warc.gz"
    records = [one for one in archive.iter_records(root / segment_id / RESPONSES) if one.url]
    file.write_bytes(b"".join([file_info(), *(bodies.pack(record).data for record in records)]))
    (_, _), (first, one), (_, two), (again, nothing) = _warcio(file)
    assert (one, two, nothing) == (b"one", b"two", b"")
    assert again.rec_type == "revisit"
    assert again.rec_headers["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert again.rec_headers["WARC-Refers-To-Target-URI"] == "https://a.example/1"
    assert again.rec_headers["WARC-Refers-To-Date"] == first.rec_headers["WARC-Date"]
    assert again.rec_headers["WARC-Payload-Digest"] == first.rec_headers["WARC-Payload-Digest"]
    assert again.http_headers["Content-Type"] == "text/html"


def test_fastwarc_reads_the_same(root, store, response):
    segment_id, _ = store(response(body=b"one"), response(body=b"two"))
    with (root / segment_id / RESPONSES).open("rb") as file:
        records = [(r.headers["WARC-Type"], r.reader.read()) for r in FastIterator(file)]
    assert [kind for kind, _ in records] == ["warcinfo", "response", "response"]
    assert [body for _, body in records[1:]] == [b"one", b"two"]


def test_each_place_is_one_gzip_member_that_tools_can_seek_to(root, store, response):
    segment_id, places = store(*(response(f"https://a.example/{i}", b"body %d" % i) for i in range(3)))
    raw = (root / segment_id / RESPONSES).read_bytes()
    for i, (offset, length) in enumerate(places):
        assert gzip.decompress(raw[offset : offset + length]).startswith(b"WARC/1.1\r\n")
        record = next(iter(ArchiveIterator(io.BytesIO(raw[offset:]))))
        assert record.content_stream().read() == b"body %d" % i
    assert places[-1][0] + places[-1][1] == len(raw)


def test_the_body_is_kept_as_transferred(root, segments, store, response):
    packed = gzip.compress(b"<p>hello")
    headers = [("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("X-Odd", "caf\udce9 ü")]
    segment_id, [place] = store(response(wire_body=packed, body=b"<p>hello", headers=headers))
    stored = read_response(segments, segment_id, *place)
    assert stored.wire_body == packed
    assert stored.headers == headers
    [_, (record, _)] = _warcio(root / segment_id / RESPONSES)
    assert record.http_headers["Content-Encoding"] == "gzip"
    with (root / segment_id / RESPONSES).open("rb") as file:
        decoded = [record.content_stream().read() for record in ArchiveIterator(file)][1]
    assert decoded == b"<p>hello"


@pytest.mark.parametrize(
    ("received", "stored"),
    [
        (
            [("transfer-encoding", "chunked")],
            [("X-Crawler-transfer-encoding", "chunked"), ("Content-Length", "8")],
        ),
        ([("Content-Length", "8")], [("Content-Length", "8")]),
        ([("Content-Length", "9")], [("X-Crawler-Content-Length", "9"), ("Content-Length", "8")]),
        ([("Content-Length", "8")] * 2, [("Content-Length", "8"), ("X-Crawler-Content-Length", "8")]),
        (
            [("Content-Length", "5"), ("Content-Length", "8")],
            [("X-Crawler-Content-Length", "5"), ("Content-Length", "8")],
        ),
        ([("Connection", "close")], [("Connection", "close")]),
        ([], []),
    ],
)  # fmt: skip
def test_the_length_told_is_the_length_stored(segments, store, response, received, stored):
    segment_id, [place] = store(response(headers=received))
    assert read_response(segments, segment_id, *place).headers == stored


def test_a_header_cannot_break_out_of_its_line(segments, store, response):
    headers = [("X-Bad", "a\r\n\r\n<script>\nb"), ("X\nName", "v")]
    segment_id, [place] = store(response("https://a.example/\r\nWARC-Type: x", headers=headers))
    stored = read_response(segments, segment_id, *place)
    assert stored.headers == [("X-Bad", "a    <script> b"), ("X Name", "v")]
    assert stored.kind == "response"
    assert stored.wire_body == b"<p>hello"


def test_not_modified_is_a_revisit(root, segments, store, response):
    segment_id, [place] = store(
        response(status=304, wire_body=b"", headers=[("ETag", '"1"'), ("Content-Length", "77")])
    )
    assert read_response(segments, segment_id, *place).kind == "revisit"
    [_, (record, body)] = _warcio(root / segment_id / RESPONSES)
    assert record.rec_type == "revisit"
    assert record.rec_headers["WARC-Profile"].endswith("server-not-modified")
    assert record.http_headers["Content-Length"] == "77"
    assert body == b""


def test_a_body_cut_off_says_why(root, store, response):
    segment_id, _ = store(*(response(outcome=o) for o in (Outcome.TOO_LARGE, Outcome.TIMEOUT, Outcome.BROKEN_RESPONSE)))
    found = [record.rec_headers["WARC-Truncated"] for record, _ in _warcio(root / segment_id / RESPONSES)]
    assert found == [None, "length", "time", "disconnect"]


def test_what_brought_no_response_has_no_place(segments, store, response):
    segment_id, places = store(response(), response(status=0, outcome=Outcome.DNS_FAILED), response(body=b"3"))
    assert [place is None for place in places] == [False, True, False]
    assert read_response(segments, segment_id, *places[2]).wire_body == b"3"


def test_without_an_archive_there_is_no_file_and_no_place(root, segments, response):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1), archive=False)
    assert writer.write_archive([response(), response()], 1.0) == [None, None]
    writer.sync()
    assert not (root / writer.segment_id / RESPONSES).exists()


def test_credentials_sent_are_not_archived(root, store, response):
    segment_id, _ = store(response(request_headers=[("Authorization", "Basic c2VjcmV0"), ("Cookie", "s=1")]))
    raw = gzip.decompress((root / segment_id / RESPONSES).read_bytes())
    assert b"c2VjcmV0" not in raw and b"Cookie" not in raw


@pytest.mark.parametrize("offset", [1, 10**9])
def test_a_wrong_offset_is_an_error(segments, store, response, offset):
    segment_id, _ = store(response())
    with pytest.raises(CorruptError, match=RESPONSES):
        read_response(segments, segment_id, offset)


def test_the_warcinfo_record_is_not_a_response(segments, store, response):
    segment_id, _ = store(response())
    with pytest.raises(CorruptError, match="no HTTP response"):
        read_response(segments, segment_id, 0)


_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))
_NAME = st.from_regex(r"X-[A-Za-z-]{1,12}", fullmatch=True)


@given(st.lists(st.tuples(st.lists(st.tuples(_NAME, _LINE), max_size=4), st.binary(max_size=300)), max_size=6))
def test_round_trip(responses):
    """Any header text and any body come back as they were, found by offset alone."""
    made = [
        Response(f"https://a.example/{i}", Outcome.DOCUMENT, 1.0, 1.0, 1.0, 200, headers=headers, wire_body=body)
        for i, (headers, body) in enumerate(responses)
    ]
    data, places = archive.pack(made, {}, 1.0)
    for original, place in zip(made, places, strict=True):
        assert place is not None
        stored = archive.read_response(RESPONSES, lambda start, length: data[start : start + length], place[0])
        assert (stored.url, stored.headers, stored.wire_body) == (
            original.url, original.headers, original.wire_body,
        )  # fmt: skip
