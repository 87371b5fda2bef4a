"""The hostile server does what its sentences say."""

import gzip
import re
import socket
import time
import zlib

import brotli
import pytest
import zstandard

from gossamer.demo.message import Ask, Reply
from gossamer.testing import violations
from kit.hostile import BEHAVIOURS, HOST, HostileWeb, Pace, by_name
from kit.hostile.bodies import BOMB, brotli_bomb, deflate_bomb, gzip_bomb, zstd_bomb
from kit.hostile.robots import LIMIT

PACE = Pace(drip=0.001, hang=0.2, endless=1 << 20)
NAMES = [b.name for b in BEHAVIOURS]


@pytest.fixture(scope="module")
def web():
    with HostileWeb(pace=PACE) as web:
        yield web


@pytest.fixture
def raw(web, speak):
    def ask(name, path=None, **options):
        behaviour = by_name(name)
        return speak(web, behaviour.host, path or behaviour.path, **options)

    return ask


def split(data):
    head, _, body = data.partition(b"\r\n\r\n")
    return head.decode("latin-1"), body


def header(data, name):
    return re.findall(rf"(?im)^{name}:[ \t]*(.*?)\r?$", split(data)[0])


def test_there_are_more_than_forty_each_with_a_name_and_a_sentence():
    assert len(BEHAVIOURS) >= 40
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z0-9-]+", b.name) and b.sentence.endswith(".") for b in BEHAVIOURS)
    assert {b.path for b in BEHAVIOURS if b.host == HOST} == {f"/{b.name}" for b in BEHAVIOURS if b.host == HOST}


@pytest.mark.parametrize("name", NAMES)
def test_every_behaviour_plays_without_a_fault_of_its_own(name, web, raw, fetch):
    """Whatever it sends is meant; and afterwards the server still serves."""
    data = raw(name, limit=1 << 16)
    assert b"the app failed" not in data
    assert b"No such behaviour" not in data
    assert fetch(web, web.url(HOST)).status == 200


def test_the_start_page_links_to_every_behaviour(web, fetch):
    links = set(re.findall(r'href="([^"]+)"', fetch(web, web.url(HOST)).text))
    expected = {web.behaviour_url(b.name) for b in BEHAVIOURS if b.host == HOST}
    assert expected <= links
    assert web.url("robots-503.hostile.test", "/private") in links


def test_the_start_page_can_link_to_some_only(fetch):
    with HostileWeb(linked=["gzip-bomb", "garbage"]) as web:
        assert fetch(web, web.url(HOST)).text.count("<li>") == 2


def test_it_also_runs_in_a_process_of_its_own(fetch):
    with HostileWeb(pace=PACE, process=True) as web:
        assert fetch(web, web.behaviour_url("status-418")).status == 418


def test_its_log_serves_the_observer(fetch, wait_until):
    with HostileWeb(pace=PACE) as web:
        for name in ("status-500", "status-502"):
            fetch(web, web.behaviour_url(name))
        wait_until(lambda: all(r.status for r in web.log()))  # a request is entered when it comes, its status later
        assert [(r.path, r.status) for r in web.log()] == [("/status-500", 500), ("/status-502", 502)]
        assert [v.kind for v in violations(web.log(), delay=600.0)] == ["delay"]


def test_one_slow_client_does_not_hold_the_others(web, fetch):
    with socket.create_connection((web.resolve[HOST], web.port)) as sock:
        sock.sendall(f"GET /endless-body HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert sock.recv(100)
        assert fetch(web, web.behaviour_url("status-410")).status == 410


# framing


def test_slow_head_comes_byte_by_byte():
    with (
        HostileWeb(pace=Pace(drip=0.05)) as web,
        socket.create_connection((web.resolve[HOST], web.port)) as sock,
    ):
        asked = time.monotonic()
        sock.sendall(f"GET /slow-head HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        came = 0
        while came < 9:
            came += len(sock.recv(100))
            drips = (time.monotonic() - asked) / 0.045  # the loop's timers count whole ms
            assert came <= 1 + drips, "who reads late finds several, but never more than have dripped"


def test_silence_says_nothing(raw):
    assert raw("silence") == b""


def test_endless_things_go_on_until_the_reader_stops(raw):
    for name in ("endless-body", "endless-headers", "endless-interim", "endless-status-line", "page-3gb"):
        assert len(raw(name, limit=500_000)) >= 500_000
    assert b"\r\n\r\n" not in raw("endless-headers")


def test_lengths_are_wrong_as_said(raw):
    assert int(header(raw("length-long"), "content-length")[0]) > len(split(raw("length-long"))[1]) > 0
    assert int(header(raw("length-short"), "content-length")[0]) < len(split(raw("length-short"))[1])
    assert header(raw("length-negative"), "content-length") == ["-1"]
    assert len(set(header(raw("length-two"), "content-length"))) == 2
    assert header(raw("length-none"), "content-length") == []


def test_chunks_are_broken_as_said(raw):
    size, _, rest = split(raw("chunk-truncated"))[1].partition(b"\r\n")
    assert int(size, 16) > len(rest)
    assert split(raw("chunk-bad-size"))[1].startswith(b"spider\r\n")
    assert not raw("chunk-no-end").endswith(b"0\r\n\r\n")
    assert raw("chunk-tiny").endswith(b"0\r\n\r\n")


def test_resets_and_closes_are_told_apart(web):
    def outcome(name):
        with socket.create_connection((web.resolve[HOST], web.port), timeout=120) as sock:
            sock.sendall(f"GET /{name} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            try:
                while sock.recv(1000):
                    pass
                return "closed"
            except ConnectionResetError:
                return "reset"

    assert outcome("reset-in-body") == outcome("reset-at-once") == "reset"
    assert outcome("close-without-response") == outcome("close-in-head") == "closed"


def test_heads_are_odd_as_said(raw):
    assert b"\0" in raw("null-in-header")
    assert not raw("http09").startswith(b"HTTP")
    assert not raw("garbage").startswith(b"HTTP")
    assert raw("headers-1000").count(b"X-Thread-") == 1000
    assert len(split(raw("header-1mb", limit=1 << 21))[0]) > 1 << 20
    assert raw("early-hints").startswith(b"HTTP/1.1 103") and b"HTTP/1.1 200" in raw("early-hints")
    assert raw("continue-100").startswith(b"HTTP/1.1 100") and b"HTTP/1.1 200" in raw("continue-100")
    assert raw("not-modified-unasked").startswith(b"HTTP/1.1 304")
    assert raw("response-extra").count(b"HTTP/1.1 200") == 2
    assert b"\r" not in raw("newlines-bare")


def test_keep_alive_is_broken_without_a_word(web):
    with socket.create_connection((web.resolve[HOST], web.port), timeout=120) as sock:
        sock.sendall(f"GET /close-unannounced HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        data = b""
        while part := sock.recv(65_536):
            data += part
    assert len(split(data)[1]) == int(header(data, "content-length")[0])
    assert header(data, "connection") == []


# bodies


def test_the_bombs_are_valid_and_a_thousand_times_their_size(raw):
    assert len(split(raw("gzip-bomb", limit=1 << 22))[1]) == len(gzip_bomb()) < BOMB << 11
    assert len(gzip.decompress(gzip_bomb(16))) == 16 << 20
    assert len(zlib.decompress(deflate_bomb(16))) == 16 << 20
    assert len(brotli.decompress(brotli_bomb(16))) == 16 << 20
    reader = zstandard.ZstdDecompressor().stream_reader(zstd_bomb(16))
    assert sum(iter(lambda: len(reader.read(1 << 20)), 0)) == 16 << 20
    assert max(len(zstd_bomb(16)), len(brotli_bomb(16))) < 16 << 10


def test_encodings_lie_as_said(raw):
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(split(raw("gzip-lie"))[1])
    with pytest.raises(EOFError):
        gzip.decompress(split(raw("gzip-truncated"))[1])
    assert gzip.decompress(gzip.decompress(split(raw("gzip-double"))[1])).startswith(b"<!DOCTYPE")
    assert header(raw("gzip-layers"), "content-encoding") == [", ".join(["gzip"] * 10)]


def test_types_and_charsets_lie_as_said(raw):
    assert header(raw("no-content-type"), "content-type") == []
    assert header(raw("html-as-image"), "content-type") == ["image/png"]
    with pytest.raises(UnicodeDecodeError):
        split(raw("wrong-charset"))[1].decode("utf-8")
    assert "<title>" in split(raw("utf-16"))[1].decode("utf-16")


def test_markup_is_as_large_as_said(raw):
    assert raw("nested-divs", limit=1 << 20).count(b"<div>") == 100_000
    assert raw("attributes-100000", limit=1 << 21).count(b"=1") == 100_000
    assert len(raw("page-10mb", limit=1 << 25)) > 10_000_000
    assert header(raw("page-3gb"), "content-length") == [str(3 << 30)]


# redirects, waits


def location(data):
    return header(data, "location")


def test_redirects_lead_where_they_say(raw):
    assert location(raw("redirect-self")) == ["/redirect-self"]
    assert location(raw("redirect-pair")) == ["/redirect-pair/b"]
    assert location(raw("redirect-pair", "/redirect-pair/b")) == ["/redirect-pair"]
    assert location(raw("redirect-endless", "/redirect-endless/41")) == ["/redirect-endless/42"]
    assert "169.254.169.254" in location(raw("redirect-metadata"))[0]
    assert location(raw("redirect-file"))[0].startswith("file:")
    assert location(raw("redirect-empty")) == [""]
    assert location(raw("redirect-missing")) == []
    assert len(location(raw("redirect-two-locations"))) == 2
    assert "/паук/" in raw("redirect-utf8").decode()


def test_the_cookie_wall_opens_for_the_cookie(web, fetch):
    url = web.behaviour_url("cookie-wall")
    first = fetch(web, url)
    assert (first.status, first.headers["Location"]) == (302, "/cookie-wall")
    assert fetch(web, url, {"Cookie": first.headers["Set-Cookie"].partition(";")[0]}).status == 200


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_takes_every_form(status, raw):
    def said(form):
        data = raw(f"wait-{status}-{form}")
        assert data.startswith(f"HTTP/1.1 {status}".encode())
        return header(data, "retry-after")

    assert said("seconds") == ["2"]
    assert said("negative") == ["-5"]
    assert len(said("huge")[0]) == 30
    assert said("none") == []
    assert said("empty") == [""]
    assert said("date")[0].endswith("GMT")
    assert said("date") != said("past-date")
    assert not said("garbage")[0].isdigit()


# traps: every page is new, there is always a next one


TRAPS = [b.name for b in BEHAVIOURS if b.group == "traps" and b.name not in ("changes-always", "bad-links")]


@pytest.mark.parametrize("name", [n for n in TRAPS if n not in ("session-known", "host-wildcard")])
def test_a_trap_has_no_end(name):
    """A hundred steps, each to a URL not seen before."""
    answer, target, seen = by_name(name).answer, f"/{name}", set()
    for _ in range(100):
        seen.add(target)
        reply = answer(Ask("GET", target, HOST, {}, "127.0.2.1", 1), PACE)
        assert isinstance(reply, Reply)
        base = target.partition("?")[0].rpartition("/")[0]
        links = [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', reply.body.decode())]
        fresh = [link if link.startswith("/") else f"{base}/{link}" for link in links]
        fresh = [link for link in fresh if link not in seen]
        if name == "query-permutes" and not fresh:
            break
        assert fresh, f"{name} ended at {target[:80]}"
        target = fresh[0]
    assert len(seen) > 8


# robots


def robots_body(raw, name):
    return split(raw(f"robots-{name}", limit=1 << 22))[1]


def test_robots_files_are_as_said(raw):
    assert robots_body(raw, "bom").startswith(b"\xef\xbb\xbfUser-agent")
    assert robots_body(raw, "large-late").index(b"Disallow") > LIMIT
    assert robots_body(raw, "large").index(b"Disallow") < 100
    assert robots_body(raw, "large-edge").index(b"/private\n") + len(b"/private\n") == LIMIT
    assert raw("robots-timeout") == raw("robots-disconnect") == b""
    assert raw("robots-503").startswith(b"HTTP/1.1 503")
    assert raw("robots-429").startswith(b"HTTP/1.1 429")
    assert b"<h1>" in robots_body(raw, "html")


@pytest.mark.parametrize("hops", [5, 20])
def test_robots_redirect_chains_have_their_length(hops, raw):
    path, count = "/robots.txt", 0
    while found := location(raw(f"robots-redirect-{hops}", path)):
        path, count = found[0], count + 1
    assert count == hops
    assert b"Disallow: /private" in raw(f"robots-redirect-{hops}", path)


def test_robots_hosts_have_ordinary_pages_and_addresses_of_their_own(web, fetch):
    assert fetch(web, web.url("robots-timeout.hostile.test", "/private")).status == 200
    assert len(set(web.resolve.values())) == len(web.resolve)


# sitemaps


def test_the_entity_bomb_is_small_and_nests_ten_deep(raw):
    body = split(raw("sitemap-laughs"))[1].decode()
    assert len(body) < 2000
    assert body.count("<!ENTITY") == 10
    assert body.count("&e8;") == 10


def test_sitemap_indexes_loop_and_grow(web, fetch):
    url = web.behaviour_url("sitemap-index-self")
    assert fetch(web, url).text.count(f"<loc>{url}</loc>") == 2
    assert "/sitemap-index-endless/8<" in fetch(web, web.url(HOST, "/sitemap-index-endless/3")).text
