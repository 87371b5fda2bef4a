import asyncio
import gzip
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from gossamer.demo.message import Reply
from gossamer.errors import OperationError, UsageError
from gossamer.testing import FakeWeb, violations

HREF = re.compile(r'href="([^"]+)"')


def hold(ask):
    """Answers once the file that the query names is there."""

    async def script(wire):
        while not Path(ask.query).exists():
            await asyncio.sleep(0.01)
        await wire.reply(Reply("Here it is.", content_type="text/plain"))

    return script


def shout(ask):
    return Reply(f"{ask.path} {ask.query} {ask.headers.get('user-agent')}".upper(), content_type="text/plain")


@pytest.fixture(params=[False, True], ids=["thread", "process"])
def web(request):
    web = FakeWeb(process=request.param)
    yield web
    web.close()


def test_a_generated_site_is_complete_distinct_and_reachable(web, fetch):
    site = web.site("a.test", pages=60, links=6, seed=3)
    web.start()
    seen, todo, texts = set(), [site.url("/")], set()
    while todo:
        url = todo.pop()
        if url in seen:
            continue
        seen.add(url)
        got = fetch(web, url)
        assert got.status == 200
        texts.add(re.sub("<.*?>", " ", re.search("<main>.*</main>", got.text, re.S)[0]))
        todo += [site.url(link) for link in HREF.findall(got.text)]
    assert seen == set(site.generated)
    assert len(texts) == 60


def test_the_same_seed_gives_the_same_web_and_another_another():
    def pages(seed):
        web = FakeWeb()
        graph = web.site("a.test", pages=5, seed=seed).content.graph
        web.close()
        return [graph.html(i) for i in range(5)]

    assert pages(1) == pages(1)
    assert pages(1) != pages(2)


def test_links_and_size_of_generated_pages_are_as_asked():
    web = FakeWeb()
    large = web.site("a.test", pages=1000, links=25, size=40).content.graph
    small = web.site("b.test", pages=1000, links=2, size=4).content.graph
    web.close()
    assert all(len(large.targets(i)) == 25 for i in (0, 1, 500, 999))
    assert len(large.html(7)) > 3 * len(small.html(7))


def test_described_pages_redirects_robots_and_sitemaps_are_served(web, fetch):
    site = web.site("a.test")
    site.page("/x", "Some text. And more.", headers={"X-Robots-Tag": "noindex"}, links=["/y"])
    site.page("/gone", "<p>gone", status=410)
    site.redirect("/a", "/b", status=308)
    site.robots("User-agent: *\nDisallow: /private\n")
    site.sitemap(["/x", ("/y", "2025-01-01")])
    web.start()
    got = fetch(web, site.url("/x"))
    assert (got.status, got.headers["X-Robots-Tag"], HREF.findall(got.text)) == (200, "noindex", ["/y"])
    assert fetch(web, site.url("/gone")).status == 410
    got = fetch(web, site.url("/a"))
    assert (got.status, got.headers["Location"]) == (308, "/b")
    assert "Disallow: /private" in fetch(web, site.url("/robots.txt")).text
    sitemap = fetch(web, site.url("/sitemap.xml")).text
    assert f"<loc>{site.url('/y')}</loc><lastmod>2025-01-01</lastmod>" in sitemap
    assert fetch(web, site.url("/nothing")).status == 404


def test_a_handler_answers_its_prefix_and_exact_pages_win(web, fetch):
    site = web.site("a.test")
    site.handler("/shout", shout)
    site.page("/shout/not", "Quiet.")
    web.start()
    assert fetch(web, site.url("/shout/x?q=1"), {"User-Agent": "me"}).text == "/SHOUT/X Q=1 ME"
    assert "Quiet" in fetch(web, site.url("/shout/not")).text


def test_a_site_can_change_while_it_is_served(web, fetch):
    site = web.site("a.test")
    site.page("/x", "Before.")
    web.start()
    first = fetch(web, site.url("/x"))
    site.page("/x", "After.")
    second = fetch(web, site.url("/x"), {"If-None-Match": first.headers["ETag"]})
    assert ("Before" in first.text, second.status, "After" in second.text) == (True, 200, True)
    site.remove("/x")
    assert fetch(web, site.url("/x")).status == 404


def test_conditional_requests_get_304_and_gzip_only_where_accepted(web, fetch):
    site = web.site("a.test", pages=3)
    web.start()
    plain, packed = fetch(web, site.url()), fetch(web, site.url(), {"Accept-Encoding": "br, gzip"})
    assert plain.headers["Content-Encoding"] is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    again = fetch(web, site.url(), {"If-None-Match": plain.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_hosts_share_an_address_or_have_their_own(web, fetch):
    sites = [
        web.site("a.test", pages=1),
        web.site("b.test", pages=1),
        web.site("c.test", pages=1, ip="127.0.1.1"),
    ]
    assert web.resolve == {"a.test": "127.0.1.1", "b.test": "127.0.1.2", "c.test": "127.0.1.1"}
    web.start()
    for site in sites:
        assert f"Served by {site.host}" in fetch(web, site.url()).text
    assert [(r.site, r.ip) for r in web.log()] == [(s.name, s.ip) for s in sites]


def test_a_host_that_is_not_ours_is_refused(web, fetch):
    web.site("a.test", pages=1)
    web.start()
    assert fetch(web, web.url("a.test"), {"Host": "evil.test"}).status == 421


def test_the_log_tells_what_the_server_saw(web, fetch, wait_until):
    site = web.site("a.test", pages=1, latency=0.05)
    web.start()
    fetch(web, site.url("/"), {"User-Agent": "gossamer/1"})
    fetch(web, site.url("/no?x=1"))
    wait_until(lambda: all(c.closed < float("inf") for c in web.log().connections))
    first, second = web.log()
    assert (first.path, first.status, first.agent) == ("/", 200, "gossamer/1")
    assert (second.path, second.status) == ("/no?x=1", 404)
    assert first.arrived + 0.04 <= first.ended <= second.arrived  # the loop's timers count whole ms
    assert first.connection != second.connection
    assert [c.ip for c in web.log().connections] == [site.ip, site.ip]
    assert violations(web.log(), delay=0.0, per_ip_delay=0.0) == []


def test_the_log_outlives_the_web(fetch):
    web = FakeWeb()
    assert web.log() == []
    site = web.site("a.test", pages=1)
    with web:
        fetch(web, site.url())
    assert [r.path for r in web.log()] == ["/"]


def test_parallel_requests_are_seen_as_overlap_and_second_connection(web, wait_until, tmp_path):
    """The observer can fail on real sockets, too."""
    site = web.site("a.test")
    site.handler("/hold", hold)
    web.start()
    request = f"GET /hold?{tmp_path / 'go'} HTTP/1.1\r\nHost: {site.name}\r\n\r\n".encode()
    socks = [socket.create_connection((site.ip, web.port)) for _ in range(2)]
    for sock in socks:
        sock.sendall(request)
    wait_until(lambda: len(web.log()) == 2)
    (tmp_path / "go").touch()
    for sock in socks:
        assert sock.recv(65_536).startswith(b"HTTP/1.1 200")
    wait_until(lambda: all(r.status for r in web.log()))
    kinds = {v.kind for v in violations(web.log(), delay=600.0)}
    for sock in socks:
        sock.close()
    assert kinds == {"delay", "overlap", "connections"}


def test_requests_sent_at_once_on_one_connection_are_answered_in_order(web):
    site = web.site("a.test")
    for name in "abc":
        site.page(f"/{name}", f"This is {name}.")
    web.start()
    with socket.create_connection((site.ip, web.port), timeout=120) as sock:
        request = "GET /{} HTTP/1.1\r\nHost: a.test\r\n{}\r\n"
        sock.sendall((request.format("a", "") + request.format("b", "Content-Length: 3\r\n") + "xyz").encode())
        sock.sendall(request.format("c", "Connection: close\r\n").encode())
        data = b""
        while part := sock.recv(65_536):
            data += part
    assert re.findall(rb"<p>This is (\w)", data) == [b"a", b"b", b"c"]


def test_nonsense_gets_400(web):
    site = web.site("a.test", pages=1)
    web.start()
    with socket.create_connection((site.ip, web.port), timeout=120) as sock:
        sock.sendall(b"spider\r\n\r\n")
        assert sock.recv(1000).startswith(b"HTTP/1.1 400")


def test_a_head_request_gets_no_body(web, fetch):
    site = web.site("a.test", pages=1)
    web.start()
    got = fetch(web, site.url(), method="HEAD")
    assert (got.status, got.body) == (200, b"")
    assert int(got.headers["Content-Length"]) > 100


def test_a_handler_that_fails_is_a_500_not_a_hang(fetch):
    web = FakeWeb()
    site = web.site("a.test")
    site.handler("/", lambda ask: 1 / 0)
    with web:
        assert fetch(web, site.url("/x")).status == 500


def test_it_can_be_stopped_and_started_on_the_same_port(web, fetch):
    site = web.site("a.test", pages=1)
    url = site.url()
    web.start()
    fetch(web, url)
    web.stop()
    with pytest.raises(ConnectionRefusedError):
        fetch(web, url)
    web.start()
    assert fetch(web, url).status == 200
    assert len(web.log()) == 2


def test_large_bodies_arrive_whole(web, fetch):
    site = web.site("a.test")
    site.page("/big", b"<p>" + os.urandom(5_000_000), compress=False)
    web.start()
    assert len(fetch(web, site.url("/big")).body) == 5_000_003


def test_a_response_ends_when_its_last_byte_was_taken_not_when_it_was_written(web, wait_until):
    site = web.site("a.test")
    site.page("/big", b"<p>" + bytes(30_000_000), compress=False)
    web.start()
    with socket.create_connection((site.ip, web.port), timeout=120) as sock:
        sock.sendall(f"GET /big HTTP/1.1\r\nHost: {site.name}\r\nConnection: close\r\n\r\n".encode())
        assert sock.recv(10)
        assert web.log()[0].ended == float("inf")
        while sock.recv(1 << 20):
            pass
        wait_until(lambda: web.log()[0].status == 200)
    assert not web.log()[0].lost


def test_a_client_that_leaves_early_is_noted(web, wait_until):
    site = web.site("a.test")
    site.page("/big", b"<p>" + bytes(30_000_000), compress=False)
    web.start()
    with socket.create_connection((site.ip, web.port), timeout=120) as sock:
        sock.sendall(f"GET /big HTTP/1.1\r\nHost: {site.name}\r\n\r\n".encode())
        assert sock.recv(10)
    wait_until(lambda: web.log()[0].lost)


def test_wrong_use_is_said_clearly():
    web = FakeWeb()
    web.site("a.test")
    with pytest.raises(UsageError, match="already a host"):
        web.site("a.test")
    with web:
        with pytest.raises(UsageError, match="before the web is started"):
            web.site("b.test")
        with pytest.raises(UsageError, match="already being served"):
            web.start()
    web = FakeWeb(process=True)
    web.site("a.test").handler("/", lambda ask: Reply(""))
    with pytest.raises(UsageError, match="module-level"):
        web.start()
    web.close()


def test_a_server_process_that_dies_is_noticed_and_its_log_kept(fetch):
    web = FakeWeb(process=True)
    site = web.site("a.test", pages=1)
    web.start()
    fetch(web, site.url())
    os.kill(web._running.pid, signal.SIGKILL)
    web._running._child.wait()
    with pytest.raises(OperationError, match="process"):
        site.page("/x", "Too late.")
    assert [r.path for r in web.log()] == ["/"]
    web.close()
