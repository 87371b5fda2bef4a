"""What comes back from servers that behave, misbehave and attack."""

from __future__ import annotations

import asyncio
import gzip
from email.utils import formatdate

import brotli
import pytest
import zstandard
from fetch_kit import Get, MakeFetcher, Serve, Visit

from gossamer.errors import UsageError
from gossamer.fetch.conditional import http_date, retry_after, validators
from gossamer.fetch.request import Request
from gossamer.fetch.transport import Connection
from gossamer.model.outcome import Outcome, of_status

HTML = "Content-Type: text/html"


def raw(*pieces: bytes, close: bool = False, pause: float = 0.0):
    """A script that sends these bytes, whatever it is asked."""

    async def script(visit: Visit) -> None:
        for piece in pieces:
            await visit.send(piece)
            await asyncio.sleep(pause)
        if close:
            await visit.close()

    return script


async def test_a_plain_page_arrives_with_its_head_times_and_address(get: Get) -> None:
    response = await get(
        raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: 1\r\nx-a: 2\r\n",
            b"Content-Length: 5\r\n\r\nhello",
        )
    )
    assert (response.outcome, response.status, response.body, response.wire_body) == (
        Outcome.DOCUMENT,
        200,
        b"hello",
        b"hello",
    )
    assert response.headers == [
        ("Content-Type", "text/html"),
        ("X-A", "1"),
        ("x-a", "2"),
        ("Content-Length", "5"),
    ]
    assert response.address == "127.0.0.1" and response.http_version == "1.1" and response.reason == ""
    assert response.started_at <= response.answered_at <= response.finished_at


async def test_the_head_time_is_when_the_head_came_not_the_body(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    read, head_complete = asyncio.Event(), Connection.on_headers_complete

    def tell(connection: Connection) -> None:
        head_complete(connection)
        read.set()

    monkeypatch.setattr(Connection, "on_headers_complete", tell)

    async def script(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        await read.wait()
        await asyncio.sleep(0.05)
        await visit.send(b"hello")

    response = await get(script)
    assert response.finished_at - response.answered_at >= 0.04


async def test_the_request_says_who_we_are_and_what_we_read(get: Get, serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(
        user_agent="Gossamer/0.1 (+a@b.org)", accept_language="en,ru", hosts={"site.test": "127.0.0.1"}
    )
    response = await fetcher.fetch(Request(f"http://site.test:{web.port}/a%20b?c=d&e"))
    visit = web.visits[0]
    assert visit.line == "GET /a%20b?c=d&e HTTP/1.1"
    assert visit.header("Host") == f"site.test:{web.port}"
    assert visit.header("User-Agent") == "Gossamer/0.1 (+a@b.org)"
    assert visit.header("Accept-Language") == "en,ru"
    assert {"gzip", "br", "zstd"} <= set(visit.header("Accept-Encoding").split(", "))
    assert [f"{k}: {v}" for k, v in response.request_headers] == visit.head.rstrip("\r\n").split("\r\n")[1:]


@pytest.mark.parametrize("url", ["ftp://a/", "http://", "http:///x", "http://a b/", "http://a/\r\nX: y",
                                 "http://u@a/", "http://a:99999/", "http://a:0/", "http://a/#f", "http://a/ü",
                                 "", "http://a\\b/"])  # fmt: skip
async def test_what_is_no_canonical_url_is_refused(make_fetcher: MakeFetcher, url: str) -> None:
    assert (await (await make_fetcher()).fetch(Request(url))).outcome is Outcome.REFUSED


# Framing.


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n"],
        [
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        ],
        [b"H", b"TTP/1.1 200", b" OK\r", b"\nContent-", b"Length: ", b"5\r\n\r", b"\nhe", b"llo"],
        [b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"],
        [b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
        [b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Bad: a\x01b\xff\r\n\r\nhello"],
    ],
)
async def test_every_legal_or_usual_framing_is_read(get: Get, pieces: list[bytes]) -> None:
    response = await get(raw(*pieces, pause=0.002))
    assert (response.outcome, response.body, response.reason) == (Outcome.DOCUMENT, b"hello", "")
    assert "Link" not in dict(response.headers) and "Trailer" not in dict(response.headers)


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_closing_the_connection_ends_a_body_without_length(get: Get, version: bytes) -> None:
    response = await get(raw(b"HTTP/" + version + b" 200 OK\r\nContent-Type: text/html\r\n\r\nhel", b"lo", close=True))
    assert (response.outcome, response.body, response.http_version) == (
        Outcome.DOCUMENT,
        b"hello",
        version.decode(),
    )


async def test_responses_without_body_do_not_wait_for_one(get: Get) -> None:
    assert (await get(raw(b"HTTP/1.1 204 No Content\r\n\r\n"))).outcome is Outcome.DOCUMENT
    unchanged = await get(raw(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"), request={"etag": '"1"'})
    assert unchanged.outcome is Outcome.NOT_MODIFIED


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"<html>no protocol at all</html>",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x16\x03\x01\x00\xa5\x01",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"\0" * 1000,
    ],
)
async def test_a_cut_off_or_wrong_response_is_broken(get: Get, answer: bytes) -> None:
    response = await get(raw(answer, close=True))
    assert response.outcome is Outcome.BROKEN_RESPONSE
    assert response.reason and response.body == b""


async def test_a_longer_body_than_announced_is_read_to_its_length_and_the_connection_dropped(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    web = await serve(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloEXTRA"))
    fetcher = await make_fetcher()
    for number in (1, 2):
        response = await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))
        assert (response.outcome, response.body) == (Outcome.DOCUMENT, b"hello")
        assert web.visits[-1].connection == number


async def test_a_second_response_to_one_request_is_not_taken_for_the_next_page(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    async def script(visit: Visit) -> None:
        await visit.page(visit.line.split()[1].encode())
        await visit.page(b"smuggled")

    web = await serve(script)
    fetcher = await make_fetcher()
    for path in ("/a", "/b", "/c"):
        assert (await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}{path}"))).body == path.encode()


# Limits.


async def test_header_bombs_are_stopped(get: Get) -> None:
    async def endless(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await visit.send(b"X-A: " + b"a" * 1000 + b"\r\n")

    async def one_line(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nX-A: ")
        while True:
            await visit.send(b"a" * 1000)

    many = b"HTTP/1.1 200 OK\r\n" + b"a:b\r\n" * 300 + b"Content-Length: 0\r\n\r\n"
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" * 5000
    complete = b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n"
    for script in (endless, one_line, raw(many), raw(interim), raw(complete)):
        response = await get(script)
        assert response.outcome is Outcome.BROKEN_RESPONSE and "headers" in response.reason


async def test_a_large_page_in_one_piece_with_its_head_is_no_header_bomb(get: Get) -> None:
    body = b"x" * 300_000
    response = await get(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + body))
    assert (response.outcome, response.body) == (Outcome.DOCUMENT, body)


async def test_an_endless_body_is_stopped_at_the_limit(get: Get) -> None:
    sent = 0

    async def script(visit: Visit) -> None:
        nonlocal sent
        await visit.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await visit.send(b"x" * 10_000)
            sent += 10_000

    response = await get(script, max_bytes=50_000)
    assert response.outcome is Outcome.TOO_LARGE and response.body == b""
    assert sent < 20_000_000


async def test_a_body_that_is_all_framing_is_stopped_and_tiny_chunks_are_read(get: Get) -> None:
    async def framing(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;")
        while True:
            await visit.send(b"x" * 10_000)

    assert (await get(framing, max_bytes=50_000)).outcome is Outcome.TOO_LARGE
    tiny = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2\r\nxy\r\n" * 5000 + b"0\r\n\r\n"
    assert (await get(raw(tiny))).body == b"xy" * 5000


async def test_a_page_that_announces_too_much_is_not_read_and_one_of_just_the_limit_is(get: Get) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    for announced, sent in ((10_000_001, 1), (50_001, 50_001)):
        response = await get(raw(head % announced + b"x" * sent), max_bytes=50_000)
        assert response.outcome is Outcome.TOO_LARGE and response.body == b""
    assert (await get(raw(head % 50_000 + b"x" * 50_000), max_bytes=50_000)).outcome is Outcome.DOCUMENT


async def test_a_request_may_cut_a_long_body_instead(get: Get) -> None:
    request = {"truncate": True, "max_bytes": 1000, "accept_types": ()}
    response = await get(lambda visit: visit.page(b"y" * 5000, "Content-Type: image/png"), request=request)
    assert (response.outcome, response.body) == (Outcome.DOCUMENT, b"y" * 1000)
    assert "cut at 1000 bytes" in response.reason


async def test_a_silent_and_a_dripping_server_are_given_up(get: Get) -> None:
    async def silent(visit: Visit) -> None:
        await asyncio.sleep(30)

    async def loris(visit: Visit) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 1000:
            await visit.send(bytes([byte]))
            await asyncio.sleep(0.01)

    idle = await get(silent, idle_timeout=0.1)
    assert idle.outcome is Outcome.TIMEOUT and "no byte" in idle.reason
    drip = await get(loris, idle_timeout=5.0, total_timeout=0.3)
    assert drip.outcome is Outcome.TIMEOUT and "in time" in drip.reason


@pytest.mark.parametrize(
    "kind", ["video/mp4", "application/zip", "IMAGE/PNG; q=1", "text/css", "application/octet-stream"]
)
async def test_a_type_we_do_not_read_is_not_downloaded(get: Get, kind: str) -> None:
    sent = 0

    async def script(visit: Visit) -> None:
        nonlocal sent
        await visit.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
        while sent < 100_000_000:
            await visit.send(b"x" * 10_000)
            sent += 10_000

    response = await get(script)
    assert response.outcome is Outcome.UNSUPPORTED_TYPE and response.body == b"" and response.status == 200
    assert sent < 20_000_000


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML;charset=x", "application/rss+xml", ""])
async def test_a_type_we_read_or_none_is_downloaded(get: Get, kind: str) -> None:
    assert (await get(lambda visit: visit.page(b"hello", f"Content-Type: {kind}"))).body == b"hello"


async def test_a_short_unwanted_body_is_drained_and_the_connection_kept(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    web = await serve(lambda visit: visit.page(b"x" * 1000, "Content-Type: image/png"))
    fetcher = await make_fetcher()
    for _ in range(3):
        assert (await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))).outcome is Outcome.UNSUPPORTED_TYPE
    assert web.connections == 1


# Content encodings, on the wire.


@pytest.mark.parametrize(
    ("name", "pack"), [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress)]
)
async def test_an_encoded_page_is_decoded_and_its_wire_bytes_kept(get: Get, name: str, pack) -> None:
    packed = pack(b"hello" * 1000)
    half = len(packed) // 2
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (packed[:half], packed[half:])) + b"0\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    response = await get(raw(head + chunks))
    assert (response.outcome, response.body, response.wire_body) == (
        Outcome.DOCUMENT,
        b"hello" * 1000,
        packed,
    )


async def test_bombs_and_bad_encodings_are_outcomes(get: Get) -> None:
    bomb = gzip.compress(b"\0" * 20_000_000)
    assert (await get(lambda visit: visit.page(bomb, "Content-Encoding: gzip"))).outcome is Outcome.BOMB
    for body, name in ((b"plain text", "gzip"), (gzip.compress(b"hello" * 99)[:-9], "gzip"), (b"x", "weird")):
        response = await get(lambda visit, body=body, name=name: visit.page(body, f"Content-Encoding: {name}"))
        assert response.outcome is Outcome.BROKEN_RESPONSE and response.body == b""


# Statuses.


@pytest.mark.parametrize(
    "status", [200, 203, 300, 305, 306, 400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 599]
)
async def test_a_status_means_what_the_table_says(get: Get, status: int) -> None:
    response = await get(lambda visit: visit.page(b"body", status=f"{status} Whatever"))
    assert (response.status, response.outcome, response.body) == (status, of_status(status), b"body")
    assert (response.reason == "") == (status < 300)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_outcome_and_is_not_followed(
    serve: Serve, make_fetcher: MakeFetcher, status: int
) -> None:
    web = await serve(lambda visit: visit.page(b"", "Location: /next ", status=f"{status} Moved"))
    response = await (await make_fetcher()).fetch(Request(f"http://127.0.0.1:{web.port}/"))
    assert (response.outcome, response.location) == (Outcome.REDIRECT, "/next")
    assert len(web.visits) == 1


@pytest.mark.parametrize("status", [300, 305, 306])
async def test_a_choice_and_a_proxy_are_not_followed(get: Get, status: int) -> None:
    response = await get(lambda visit: visit.page(b"", "Location: /next", status=f"{status} Choose"))
    assert (response.outcome, response.location) == (Outcome.BAD_REDIRECT, "")
    assert response.reason == f"status {status} is not a redirect that Gossamer follows"


@pytest.mark.parametrize("status", [600, 999])
async def test_a_status_that_does_not_exist_is_named_and_counts_as_a_failure_of_the_server(
    get: Get, status: int
) -> None:
    response = await get(lambda visit: visit.page(b"denied", status=f"{status} Denied"))
    assert (response.status, response.outcome) == (status, Outcome.SERVER_ERROR)
    assert f"status {status} does not exist" in response.reason


async def test_a_part_that_nobody_asked_for_is_not_taken_for_the_page(get: Get) -> None:
    response = await get(
        lambda visit: visit.page(b"<p>only the end", "Content-Range: bytes 900-914/915", status="206 Partial Content")
    )
    assert (response.outcome, response.body) == (Outcome.BROKEN_RESPONSE, b"")
    assert response.reason.startswith("status 206: a part of the page")


async def test_a_redirect_to_nowhere_is_a_bad_one(get: Get) -> None:
    for headers in ((), ("Location: ",)):
        response = await get(lambda visit, headers=headers: visit.page(b"", *headers, status="302 Found"))
        assert response.outcome is Outcome.BAD_REDIRECT


@pytest.mark.parametrize(("sent", "meant"), [("/ü".encode(), "/ü"), (b"/\xfc", "/ü"), (b"http://[", "http://[")])
async def test_a_location_is_read_as_browsers_do(get: Get, sent: bytes, meant: str) -> None:
    assert (await get(raw(b"HTTP/1.1 301 M\r\nContent-Length: 0\r\nLocation: " + sent + b"\r\n\r\n"))).location == meant


async def test_whatever_happens_to_an_errors_body_its_status_stands(get: Get) -> None:
    async def endless(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 404 No\r\nContent-Type: video/mp4\r\n\r\n")
        while True:
            await visit.send(b"x" * 10_000)

    assert (await get(endless)).outcome is Outcome.GONE
    cut = await get(raw(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 99\r\n\r\nx", close=True))
    assert (cut.outcome, cut.retry_after) == (Outcome.RATE_LIMITED, 7.0)
    bad = await get(lambda visit: visit.page(b"zz", "Content-Encoding: gzip", "Location: /x", status="301 Moved"))
    assert (bad.outcome, bad.location, bad.body) == (Outcome.REDIRECT, "/x", b"")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0), ("0", 0.0), (" 5 ", 5.0), ("1.9", 1.0), ("9" * 5000, 366 * 86_400.0),
        ("00000000000000007", 7.0), ("-5", None), ("soon", None), ("", None), ("٣", None),
        ("Sun, 99 Foo 2024", None), ("a" * 10_000, None),
        (formatdate(1_000_060, usegmt=True), 60.0), (formatdate(999_000, usegmt=True), 0.0),
        ("Mon Jan 12 13:47:40 1970", 60.0), ("Monday, 12-Jan-70 13:47:40 GMT", 60.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 366 * 86_400.0),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_from_now_or_nothing(value: str, seconds: float | None) -> None:
    assert retry_after(value, 1_000_000.0) == seconds


async def test_retry_after_reaches_the_response(get: Get) -> None:
    for value, low, high in (("30", 30, 30), ("junk", None, None)):
        response = await get(lambda visit, value=value: visit.page(b"", f"Retry-After: {value}", status="503 Busy"))
        assert response.outcome is Outcome.UNAVAILABLE
        assert response.retry_after == low == high


# Conditional requests.


async def test_validators_are_sent_and_not_modified_understood(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.send(b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'))
    request = Request(f"http://127.0.0.1:{web.port}/", etag='W/"x"', last_modified="Sun, 06 Nov 1994 08:49:37 GMT")
    assert (await (await make_fetcher()).fetch(request)).outcome is Outcome.NOT_MODIFIED
    assert web.visits[0].header("If-None-Match") == 'W/"x"'
    assert web.visits[0].header("If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT"


async def test_not_modified_without_a_condition_is_broken(get: Get) -> None:
    assert (await get(raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"))).outcome is Outcome.BROKEN_RESPONSE


@pytest.mark.parametrize("value", ["", "a\r\nX: y", "a\nb", "\x00", " x", "é€", "x" * 5000])
def test_a_stored_validator_that_could_break_the_head_is_not_sent(value: str) -> None:
    assert validators(value, value) == []


def test_dates_without_zone_are_utc_and_garbage_is_none() -> None:
    assert http_date("Sun, 06 Nov 1994 08:49:37 GMT") == http_date("Sun Nov  6 08:49:37 1994") == 784_111_777
    assert http_date("yesterday") is None


async def test_a_header_of_a_request_cannot_inject_another(make_fetcher: MakeFetcher) -> None:
    fetcher = await make_fetcher()
    for headers in ({"X-A": "1\r\nX-B: 2"}, {"X A": "1"}, {"Host": "other"}, {"content-length": "5"}):
        with pytest.raises(UsageError, match="header"):
            await fetcher.fetch(Request("http://127.0.0.1:9/", headers=headers))
