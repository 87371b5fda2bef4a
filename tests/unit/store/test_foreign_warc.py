"""Archives of other programs are read whatever their form; a bad record costs only itself."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from gossamer.store.foreign.warc import Capture, Damage, Other, captures, unchunked

LIMIT = 100_000
Read = Capture | Other | Damage


def written(bodies: Sequence[bytes], *, packed: bool = True, **fields: str) -> bytes:
    """An archive by warcio, of pages /0, /1 …"""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed)
    for number, body in enumerate(bodies):
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        extra = {"WARC-Date": "2024-01-02T03:04:05Z", **fields}
        url = f"http://a.test/{number}"
        record = writer.create_warc_record(
            url, "response", io.BytesIO(body), http_headers=headers, warc_headers_dict=extra
        )
        writer.write_record(record)
    return out.getvalue()


def members(data: bytes) -> list[bytes]:
    """The gzip members of an archive."""
    starts = [place for place in range(len(data)) if data[place : place + 3] == b"\x1f\x8b\x08"]
    found, at = [], 0
    for end in [*starts[1:], len(data)]:
        try:
            gzip.decompress(data[at:end])
        except (OSError, EOFError):
            continue
        found.append(data[at:end])
        at = end
    return found


def read(data: bytes, limit: int = LIMIT) -> list[Read]:
    return list(captures(io.BytesIO(data), limit))


def urls(data: bytes) -> list[str]:
    return [one.url for one in read(data) if isinstance(one, Capture)]


def damages(data: bytes) -> list[Damage]:
    return [one for one in read(data) if isinstance(one, Damage)]


BODIES = [b"<p>page %d " % number + b"x" * (number * 20_000) for number in range(5)]
ALL = [f"http://a.test/{number}" for number in range(5)]


@pytest.mark.parametrize("form", ["members", "plain", "one member"])
def test_every_form_is_read(form: str) -> None:
    data = written(BODIES, packed=form == "members")
    found = read(gzip.compress(data) if form == "one member" else data)
    assert [one.body for one in found if isinstance(one, Capture)] == BODIES
    assert all(isinstance(one, Capture) and one.at == 1_704_164_645 and one.status == 200 for one in found)


@given(st.lists(st.binary(max_size=3_000), min_size=1, max_size=4), st.booleans())
def test_any_body_comes_back(bodies: list[bytes], packed: bool) -> None:
    found = read(written(bodies, packed=packed))
    assert [one.body for one in found if isinstance(one, Capture)] == bodies


def test_requests_and_revisits_are_no_captures() -> None:
    kinds = b"".join(
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: application/http\r\n"
        "WARC-Date: 2024-01-02T03:04:05Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n".encode()
        for kind in ("warcinfo", "request", "revisit", "metadata", "conversion")
    )
    assert read(kinds + written([b"one"], packed=False))[:-1] == [
        Other(kind) for kind in ("warcinfo", "request", "revisit", "metadata", "conversion")
    ]


def test_old_files_of_wget_have_their_urls_in_angle_brackets() -> None:
    data = written([b"one"], packed=False).replace(b"http://a.test/0", b"<http://a.test/0>")
    assert urls(data) == ["http://a.test/0"]


@pytest.mark.parametrize("number", range(5))
def test_a_damaged_member_costs_only_its_record(number: int) -> None:
    parts = members(written(BODIES))
    part = bytearray(parts[number])
    part[len(part) // 2] ^= 0xFF
    data = b"".join([*parts[:number], bytes(part), *parts[number + 1 :]])
    assert urls(data) == ALL[:number] + ALL[number + 1 :]
    [damage] = damages(data)
    assert damage.offset == sum(map(len, parts[:number]))


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_was_cut_off_is_read_up_to_there(packed: bool) -> None:
    data = written(BODIES, packed=packed)
    assert urls(data[:-30]) == ALL[:-1]
    assert [damage.problem for damage in damages(data[:-30])] == ["the file ends in the middle of it"]


@pytest.mark.parametrize("form", ["plain", "one member"])
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"Content-Length: 20055", b"Content-Length: 2oo55", "Content-Length"),
        (b"Content-Length: 20055", b"Content-Length: 20000", "no WARC record"),
        (b"WARC-Target-URI: http://a.test/1", b"WARC-Target-URI  http //a.test/1", "without a name"),
    ],
)
def test_a_bad_record_costs_only_itself(form: str, before: bytes, after: bytes, words: str) -> None:
    data = written(BODIES, packed=False)
    length = next(one for one in data.split(b"\r\n") if one.startswith(b"Content-Length: 200"))
    data = data.replace(length if before.startswith(b"Content-Length") else before, after, 1)
    data = gzip.compress(data) if form == "one member" else data
    assert set(ALL) - set(urls(data)) <= {"http://a.test/1"}
    [damage] = damages(data)
    assert words in damage.problem


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"HTTP/1.1 200", b"HTP/1.1  200", "no HTTP response"),
        (b"2024-01-02T03:04:05Z", b"2024-01-02T03:64:05Z", "WARC-Date"),
    ],
)
def test_what_is_wrong_inside_a_record_is_said(before: bytes, after: bytes, words: str) -> None:
    data = written(BODIES, packed=False).replace(before, after, 1)
    assert urls(data) == ALL[1:]
    [damage] = damages(data)
    assert damage.offset == 0
    assert words in damage.problem


def test_a_page_cannot_forge_a_record() -> None:
    """Its text is a body, whatever it looks like."""
    forged = b"\r\n\r\n" + written([b"forged"], packed=False).replace(b"a.test", b"bank.test")
    assert urls(written([forged, b"two"])) == ALL[:2]
    assert urls(written([forged, b"two"], packed=False)) == ALL[:2]


def test_other_bytes_are_damage() -> None:
    for data in (b"\x1f\x8b\x08" + b"\0" * 50, b"hello world\r\n" * 9, gzip.compress(b"hello"), b"W", b"\r\n" * 900):
        assert not urls(data)
        assert len(damages(data)) == 1
    assert read(b"") == read(b"\r\n\r\n") == []


def test_a_bomb_is_passed_over_without_being_unpacked() -> None:
    """A record of 4 GiB in 4 MB: neither memory nor time."""
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/bomb\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
        b"Content-Type: application/http\r\nContent-Length: 4294967296\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    )
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as packed:
        packed.write(head)
        for _ in range(64):
            packed.write(b"\0" * (1 << 20))
    data = out.getvalue() + written(BODIES)
    tracemalloc.start()
    found = read(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [one.url for one in found if isinstance(one, Capture)] == ALL
    assert [one.problem for one in found if isinstance(one, Damage)] == ["its body is too long to unpack"]
    assert most < 4_000_000


def test_a_long_body_is_kept_up_to_the_limit() -> None:
    [long, short] = [one for one in read(written([b"y" * 5_000_000, b"z"])) if isinstance(one, Capture)]
    assert not long.is_whole
    assert len(long.body) == LIMIT + 1
    assert short.is_whole


def chunked(body: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    at = 0
    for size in [*sizes, len(body)]:
        if piece := body[at : at + size]:
            yield b"%x;note=1\r\n%b\r\n" % (len(piece), piece)
        at += size
    yield b"0\r\nTrailer: x\r\n\r\n"


@given(st.binary(max_size=500), st.lists(st.integers(1, 90), max_size=5))
def test_chunks_are_joined(body: bytes, sizes: list[int]) -> None:
    framed = b"".join(chunked(body, sizes))
    assert unchunked(framed) == body
    assert body.startswith(unchunked(framed[: len(framed) // 2])) or not body


@pytest.mark.parametrize("body", [b"", b"<p>no chunks", b"zz\r\nx", b"-5\r\nabc", b"0x5\r\nabcde"])
def test_what_has_no_chunks_stays_as_it_is(body: bytes) -> None:
    assert unchunked(body) == body


@given(st.binary(max_size=400), st.integers(0, 3_000))
def test_no_bytes_raise(noise: bytes, place: int) -> None:
    data = written(BODIES[:2])
    for broken in (noise, data[:place] + noise, data[:place] + noise + data[place:]):
        read(broken)
