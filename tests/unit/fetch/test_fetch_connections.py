"""Which connections are made, to whom, how often they are used, and what travels on them."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from fetch_kit import MakeFetcher, Serve, Visit

from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.limits import FetchConfig, SiteAccess, Trouble
from gossamer.fetch.request import Request
from gossamer.model.outcome import Outcome


@contextmanager
def closed_port() -> Iterator[int]:
    """A port where nobody listens, kept so that nobody else comes to listen there."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


# Keep-alive.


async def test_a_connection_is_used_again_and_there_is_never_a_second_one(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    async def script(visit: Visit) -> None:
        await asyncio.sleep(0.002)
        await visit.page()

    web = await serve(script)
    fetcher = await make_fetcher()
    urls = [f"http://127.0.0.1:{web.port}/{n}" for n in range(20)]
    responses = await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls))
    assert {r.outcome for r in responses} == {Outcome.DOCUMENT}
    assert web.connections == 1
    spans = sorted((r.started_at, r.finished_at) for r in responses)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


async def test_two_sites_at_one_address_never_have_two_connections_open(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    web = await serve(lambda visit: visit.page(visit.header("Host").encode()))
    fetcher = await make_fetcher(hosts={"a.test": "127.0.0.1", "b.test": "127.0.0.1"})
    for host in ("a.test", "b.test", "a.test", "b.test"):
        response = await fetcher.fetch(Request(f"http://{host}:{web.port}/"))
        assert response.body == f"{host}:{web.port}".encode()
        await asyncio.sleep(0.01)
    assert web.connections == 4 and web.most_open == 1


async def test_a_connection_closed_while_unused_costs_one_silent_repetition(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    async def script(visit: Visit) -> None:
        if visit.connection == 1 and len(visit.web.visits) == 2:
            await visit.reset()
        else:
            await visit.page()

    web = await serve(script)
    fetcher = await make_fetcher()
    for _ in range(2):
        assert (await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))).outcome is Outcome.DOCUMENT
    assert [visit.connection for visit in web.visits] == [1, 1, 2]


async def test_a_server_that_closes_after_each_page_is_no_problem(serve: Serve, make_fetcher: MakeFetcher) -> None:
    async def script(visit: Visit) -> None:
        await visit.page()
        await visit.close()

    web = await serve(script)
    fetcher = await make_fetcher()
    for pause in (0, 0, 0.02, 0.02, 0):
        assert (await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))).outcome is Outcome.DOCUMENT
        await asyncio.sleep(pause)


async def test_a_request_is_not_repeated_once_a_byte_came_or_on_a_new_connection(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    async def script(visit: Visit) -> None:
        if len(visit.web.visits) == 1:
            await visit.page()
        elif len(visit.web.visits) == 2:
            await visit.send(b"H")
            await visit.close()
        else:
            await visit.reset()

    web = await serve(script)
    fetcher = await make_fetcher()
    outcomes = [(await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))).outcome for _ in range(3)]
    assert outcomes == [Outcome.DOCUMENT, Outcome.BROKEN_RESPONSE, Outcome.CONNECT_FAILED]
    assert len(web.visits) == 3


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
                                    b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"])  # fmt: skip
async def test_a_server_that_says_close_gets_a_new_connection(
    serve: Serve, make_fetcher: MakeFetcher, answer: bytes
) -> None:
    web = await serve(lambda visit: visit.send(answer))
    fetcher = await make_fetcher()
    for _ in range(2):
        assert (await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))).body == b"x"
    assert web.connections == 2 and web.most_open == 1


async def test_without_keep_alive_each_page_has_its_connection(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(keepalive=0.0)
    for _ in range(2):
        await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))
    assert web.connections == 2 and web.visits[0].header("Connection") == "close"


async def test_unused_connections_close_by_themselves_when_dropped_and_when_too_many(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    web = await serve(lambda visit: visit.page(), host="0.0.0.0")
    url = f"http://127.0.0.%d:{web.port}/"

    async def settled(count: int) -> None:
        while web.open != count:
            await asyncio.sleep(0.01)

    brief = await make_fetcher(keepalive=0.05)
    await brief.fetch(Request(url % 1))
    await settled(0)
    patient = await make_fetcher(max_idle_connections=2)
    for number in (1, 2, 3, 4):
        await patient.fetch(Request(url % number))
    await settled(2)
    patient.drop("127.0.0.4")
    await settled(1)
    await patient.close()
    await settled(0)


async def test_a_cancelled_fetch_leaves_the_address_usable(serve: Serve, make_fetcher: MakeFetcher) -> None:
    async def script(visit: Visit) -> None:
        if visit.line.startswith("GET /slow"):
            await asyncio.sleep(30)
        await visit.page(b"quick")

    web = await serve(script)
    fetcher = await make_fetcher()
    slow = asyncio.ensure_future(fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/slow")))
    waiting = asyncio.ensure_future(fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/waiting")))
    while not web.visits:
        await asyncio.sleep(0.005)
    slow.cancel()
    assert (await waiting).body == b"quick"
    assert slow.cancelled() or slow.done()


# Addresses.


async def test_a_forbidden_address_is_refused_however_it_is_reached(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(allow=("127.0.0.2/32",), hosts={"inside.test": "127.0.0.1", "ok.test": "127.0.0.2"})
    for url, address in (
        ("http://127.0.0.1:%d/", ""),
        ("http://localhost:%d/", ""),
        ("http://inside.test:%d/", ""),
        ("http://[::ffff:7f00:1]:%d/", ""),
        ("http://ok.test:%d/", "127.0.0.1"),
        ("http://ok.test:%d/", "localhost"),
    ):
        response = await fetcher.fetch(Request(url % web.port, address))
        assert response.outcome is Outcome.ADDRESS_REFUSED, url
        assert response.reason
    assert web.connections == 0


async def test_the_connection_goes_to_the_pinned_address(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page(visit.writer.get_extra_info("sockname")[0].encode()), host="0.0.0.0")
    fetcher = await make_fetcher(hosts={"site.test": "127.0.0.1"})
    response = await fetcher.fetch(Request(f"http://site.test:{web.port}/", "127.0.0.9"))
    assert (response.body, response.address) == (b"127.0.0.9", "127.0.0.9")
    assert web.visits[0].header("Host") == f"site.test:{web.port}"


async def test_ipv6_literals_work(serve: Serve, make_fetcher: MakeFetcher) -> None:
    try:
        web = await serve(lambda visit: visit.page(), host="::1")
    except OSError:
        pytest.skip("no IPv6 on this machine")
    response = await (await make_fetcher()).fetch(Request(f"http://[::1]:{web.port}/"))
    assert (response.outcome, response.address) == (Outcome.DOCUMENT, "::1")


async def test_a_closed_port_and_an_unknown_host_are_outcomes(make_fetcher: MakeFetcher) -> None:
    fetcher = await make_fetcher()
    with closed_port() as port:
        refused = await fetcher.fetch(Request(f"http://127.0.0.1:{port}/"))
    assert refused.outcome is Outcome.CONNECT_FAILED and refused.reason and refused.status == 0
    assert refused.started_at <= refused.answered_at <= refused.finished_at
    assert fetcher.failed("http://a/", Trouble(Outcome.DNS_FAILED, "why")).reason == "why"


async def test_a_name_that_does_not_resolve_is_an_outcome(
    make_fetcher: MakeFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object, **__: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    response = await (await make_fetcher()).fetch(Request("http://nowhere.test/"))
    assert response.outcome is Outcome.DNS_FAILED and "nowhere.test" in response.reason


async def test_a_server_that_accepts_nobody_is_a_timeout(make_fetcher: MakeFetcher) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        crowd = [socket.socket() for _ in range(4)]
        for one in crowd:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        response = await (await make_fetcher(connect_timeout=0.2)).fetch(Request(f"http://127.0.0.1:{port}/"))
        for one in crowd:
            one.close()
    assert response.outcome is Outcome.TIMEOUT and "no connection" in response.reason


# TLS.


async def test_tls_verifies_the_name_that_was_asked_for(
    serve: Serve, make_fetcher: MakeFetcher, server_tls: ssl.SSLContext, certificate: tuple[Path, Path]
) -> None:
    names: list[str | None] = []
    server_tls.sni_callback = lambda _, name, __: names.append(name)
    web = await serve(lambda visit: visit.page(visit.header("Host").encode()), tls=server_tls)
    hosts = {"site.test": "127.0.0.1", "other.test": "127.0.0.1"}
    fetcher = await make_fetcher(hosts=hosts, ca_file=str(certificate[0]))
    for _ in range(2):
        response = await fetcher.fetch(Request(f"https://site.test:{web.port}/"))
        assert (response.outcome, response.body) == (Outcome.DOCUMENT, f"site.test:{web.port}".encode())
    assert names == ["site.test"]
    assert (await fetcher.fetch(Request(f"https://127.0.0.1:{web.port}/"))).outcome is Outcome.DOCUMENT
    wrong = await fetcher.fetch(Request(f"https://other.test:{web.port}/"))
    assert wrong.outcome is Outcome.TLS_FAILED and "certificate" in wrong.reason


async def test_an_unknown_authority_fails_unless_verification_is_off(
    serve: Serve, make_fetcher: MakeFetcher, server_tls: ssl.SSLContext
) -> None:
    web = await serve(lambda visit: visit.page(), tls=server_tls)
    url = f"https://127.0.0.1:{web.port}/"
    assert (await (await make_fetcher()).fetch(Request(url))).outcome is Outcome.TLS_FAILED
    assert (await (await make_fetcher(verify_tls=False)).fetch(Request(url))).outcome is Outcome.DOCUMENT


async def test_https_to_a_server_without_tls_and_http_to_one_with_it_are_outcomes(
    serve: Serve, make_fetcher: MakeFetcher, server_tls: ssl.SSLContext
) -> None:
    plain = await serve(lambda visit: visit.page())
    secure = await serve(lambda visit: visit.page(), tls=server_tls)
    hasty = await make_fetcher(connect_timeout=1.0)
    fetched = await hasty.fetch(Request(f"https://127.0.0.1:{plain.port}/"))
    assert fetched.outcome in (Outcome.TLS_FAILED, Outcome.TIMEOUT)
    fetched = await (await make_fetcher()).fetch(Request(f"http://127.0.0.1:{secure.port}/"))
    assert fetched.outcome in (Outcome.BROKEN_RESPONSE, Outcome.CONNECT_FAILED)


async def test_a_server_that_hangs_up_in_the_handshake_is_an_outcome(make_fetcher: MakeFetcher) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    response = await (await make_fetcher()).fetch(Request(f"https://127.0.0.1:{port}/"))
    server.close()
    assert response.outcome in (Outcome.TLS_FAILED, Outcome.CONNECT_FAILED) and response.reason


# Cookies and access.


async def test_a_cookie_wall_lets_us_in_the_second_time(serve: Serve, make_fetcher: MakeFetcher) -> None:
    async def script(visit: Visit) -> None:
        if "seen=yes" in visit.header("Cookie"):
            await visit.page(b"inside")
        else:
            await visit.page(
                b"",
                "Location: /",
                "Set-Cookie: seen=yes; Path=/; HttpOnly",
                "Set-Cookie: b=2",
                status="302 Found",
            )

    web = await serve(script)
    fetcher = await make_fetcher()
    request = Request(f"http://127.0.0.1:{web.port}/")
    assert (await fetcher.fetch(request)).outcome is Outcome.REDIRECT
    inside = await fetcher.fetch(request)
    assert inside.body == b"inside"
    assert web.visits[1].header("Cookie") == "seen=yes; b=2"
    assert ("Cookie", "[withheld]") in inside.request_headers


async def test_cookies_never_reach_another_host_or_port(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page(b"", "Set-Cookie: secret=1; Domain=.test"))
    other = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(hosts={"a.test": "127.0.0.1", "b.a.test": "127.0.0.1", "b.test": "127.0.0.1"})
    await fetcher.fetch(Request(f"http://a.test:{web.port}/"))
    for host, server in (("b.test", web), ("b.a.test", web), ("a.test", other)):
        await fetcher.fetch(Request(f"http://{host}:{server.port}/"))
        assert server.visits[-1].header("Cookie") == ""
    await fetcher.fetch(Request(f"http://a.test:{web.port}/"))
    assert web.visits[-1].header("Cookie") == "secret=1"


@pytest.mark.parametrize(
    "line",
    ["a=1; Max-Age=0", "a=1; Max-Age=-9", "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=\x01", "=1", "a",
     "a=1; Secure", "a=" + "x" * 5000, "a b=1"],
)  # fmt: skip
async def test_cookies_that_are_expired_malformed_or_for_https_are_not_sent(
    serve: Serve, make_fetcher: MakeFetcher, line: str
) -> None:
    web = await serve(lambda visit: visit.page(b"", f"Set-Cookie: {line}"))
    fetcher = await make_fetcher()
    for _ in range(2):
        await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))
    assert web.visits[-1].header("Cookie") == ""


async def test_cookies_can_be_switched_off(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page(b"", "Set-Cookie: a=1"))
    fetcher = await make_fetcher(keep_cookies=False)
    for _ in range(2):
        await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))
    assert web.visits[-1].header("Cookie") == ""


async def test_access_is_sent_to_its_site_only_and_withheld_from_the_archive(
    serve: Serve, make_fetcher: MakeFetcher
) -> None:
    web = await serve(lambda visit: visit.page())
    site = f"a.test:{web.port}"
    access = {
        site: SiteAccess(
            cookies={"c": "1"}, basic_auth=("user", "pässword"), headers={"X-Key": "key", "Accept": "text/x"}
        )
    }
    fetcher = await make_fetcher(hosts={"a.test": "127.0.0.1", "b.test": "127.0.0.1"}, access=access)
    response = await fetcher.fetch(Request(f"http://{site}/"))
    visit = web.visits[0]
    assert visit.header("Authorization") == "Basic " + base64.b64encode("user:pässword".encode()).decode()
    assert (visit.header("Cookie"), visit.header("X-Key"), visit.header("Accept")) == ("c=1", "key", "text/x")
    assert visit.head.count("Accept: ") == 1
    assert not {"key", "c=1", visit.header("Authorization")} & {value for _, value in response.request_headers}
    assert {"Authorization", "Cookie", "X-Key"} <= {name for name, _ in response.request_headers}
    await fetcher.fetch(Request(f"http://b.test:{web.port}/"))
    assert not {"authorization", "cookie", "x-key"} & {
        line.split(":")[0].lower() for line in web.visits[1].head.split("\r\n")
    }


async def test_access_for_an_origin_is_not_sent_over_the_other_scheme(serve: Serve, make_fetcher: MakeFetcher) -> None:
    web = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(access={f"https://127.0.0.1:{web.port}": SiteAccess(basic_auth=("u", "p"))})
    await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}/"))
    assert web.visits[0].header("Authorization") == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"access": {"a.test": SiteAccess(headers={"X": "a\r\nB: c"})}},
        {"access": {"a.test": SiteAccess(headers={"X:": "a"})}},
        {"access": {"a.test": SiteAccess(headers={"Host": "a"})}},
        {"access": {"a.test": SiteAccess(headers={"User-Agent": "Mozilla"})}},
        {"access": {"a.test": SiteAccess(cookies={"a": "b; c=d"})}},
        {"access": {"a.test": SiteAccess(cookies={"a\r\n": "b"})}},
        {"access": {"a.test": SiteAccess(basic_auth=("a:b", "c"))}},
        {"access": {"a.test/path": SiteAccess()}},
        {"user_agent": "a\r\nb"},
        {"user_agent": ""},
        {"accept_language": "en\r\nX: y"},
        {"proxy": "socks5://127.0.0.1:1"},
        {"proxy": "127.0.0.1:8080"},
        {"proxy": "http://127.0.0.1"},
        {"proxy": "http://127.0.0.1:99999"},
        {"ca_file": "no/such/file.pem"},
        {"max_bytes": 0},
        {"idle_timeout": -1.0},
        {"keepalive": -1.0},
    ],
)
def test_settings_that_cannot_work_are_usage_errors(settings: dict[str, object]) -> None:
    clock, guard = SystemClock(), AddressPolicy()
    with pytest.raises(UsageError):
        config = FetchConfig(**{"user_agent": "Gossamer/0.1", **settings})
        Fetcher(config, guard, Resolver(DnsConfig(), guard, clock), clock)


# Proxy.


async def tunnel(visit: Visit, port: int) -> None:
    """What a proxy does after CONNECT: copy bytes both ways."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await visit.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
    source = visit.writer._reader

    async def copy(one: asyncio.StreamReader, two: asyncio.StreamWriter) -> None:
        while data := await one.read(65_536):
            two.write(data)

    try:
        await asyncio.gather(copy(source, writer), copy(reader, visit.writer))
    finally:
        writer.close()


async def test_http_goes_through_a_proxy_in_absolute_form(serve: Serve, make_fetcher: MakeFetcher) -> None:
    proxy = await serve(lambda visit: visit.page(b"by proxy"))
    fetcher = await make_fetcher(proxy=f"http://us%40er:pass@127.0.0.1:{proxy.port}", hosts={"a.test": "127.0.0.1"})
    for _ in range(2):
        response = await fetcher.fetch(Request("http://a.test/x?y"))
        assert (response.outcome, response.body) == (Outcome.DOCUMENT, b"by proxy")
    visit = proxy.visits[0]
    assert visit.line == "GET http://a.test/x?y HTTP/1.1" and visit.header("Host") == "a.test"
    assert visit.header("Proxy-Authorization") == "Basic " + base64.b64encode(b"us@er:pass").decode()
    assert proxy.connections == 1
    assert visit.header("Proxy-Authorization") not in [value for _, value in response.request_headers]


async def test_https_goes_through_a_tunnel_and_the_proxy_sees_no_request(
    serve: Serve, make_fetcher: MakeFetcher, server_tls: ssl.SSLContext, certificate: tuple[Path, Path]
) -> None:
    web = await serve(lambda visit: visit.page(visit.line.encode()), tls=server_tls)
    proxy = await serve(lambda visit: tunnel(visit, web.port))
    fetcher = await make_fetcher(
        proxy=f"http://u:p@127.0.0.1:{proxy.port}",
        hosts={"site.test": "127.0.0.1"},
        ca_file=str(certificate[0]),
    )
    for path in ("/a", "/b"):
        response = await fetcher.fetch(Request(f"https://site.test{path}"))
        assert (response.outcome, response.body) == (Outcome.DOCUMENT, f"GET {path} HTTP/1.1".encode())
    assert [visit.line for visit in proxy.visits] == ["CONNECT site.test:443 HTTP/1.1"]
    assert proxy.visits[0].header("Proxy-Authorization")
    assert web.visits[0].header("Proxy-Authorization") == ""
    await fetcher.close()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(b"HTTP/1.1 407 Auth\r\n\r\n", Outcome.FORBIDDEN), (b"HTTP/1.1 502 Bad\r\n\r\n", Outcome.CONNECT_FAILED),
     (b"garbage\r\n\r\n", Outcome.CONNECT_FAILED), (b"x" * 20_000, Outcome.CONNECT_FAILED),
     (b"", Outcome.CONNECT_FAILED)],
)  # fmt: skip
async def test_a_proxy_that_refuses_is_an_outcome(
    serve: Serve, make_fetcher: MakeFetcher, answer: bytes, outcome: Outcome
) -> None:
    async def script(visit: Visit) -> None:
        await visit.send(answer)
        await visit.close()

    proxy = await serve(script)
    fetcher = await make_fetcher(proxy=f"http://127.0.0.1:{proxy.port}", hosts={"a.test": "127.0.0.1"})
    response = await fetcher.fetch(Request("https://a.test/"))
    assert response.outcome is outcome and "proxy" in response.reason


async def test_the_guard_judges_the_target_before_the_proxy_is_asked(serve: Serve, make_fetcher: MakeFetcher) -> None:
    proxy = await serve(lambda visit: visit.page())
    fetcher = await make_fetcher(
        allow=("127.0.0.1",), proxy=f"http://127.0.0.1:{proxy.port}", hosts={"a.test": "127.0.0.2"}
    )
    assert (await fetcher.fetch(Request("http://a.test/"))).outcome is Outcome.ADDRESS_REFUSED
    assert proxy.connections == 0
