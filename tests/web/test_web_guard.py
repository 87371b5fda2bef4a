"""What a request passes first: methods, sizes, names, pace; and what every response carries."""

from __future__ import annotations

import socket

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_kit import PATIENCE, MemoryService, client

from gossamer.errors import UsageError
from gossamer.settings import ServeSettings
from gossamer.testing import FakeClock
from gossamer.web.app import create_app
from gossamer.web.gate.clients import Clients
from gossamer.web.gate.ratelimit import RateLimit

EVERYWHERE = [
    "/", "/search?q=rocket", "/cached?url=x", "/explain?q=a&url=b", "/suggest?q=r", "/feed.atom?q=a", "/feed.rss?q=a",
    "/api", "/api/v1/search?q=a", "/api/v1/search", "/api/v1/openapi.json", "/opensearch.xml", "/robots.txt",
    "/healthz", "/readyz", "/favicon.svg", "/static/site.css", "/static/search.js", "/nothing", "/static/nothing",
]  # fmt: skip


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_response_carries_the_security_headers(site: httpx.Client, path: str) -> None:
    headers = site.get(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_head_are_possible(site: httpx.Client, path: str, method: str) -> None:
    response = site.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", EVERYWHERE)
def test_head_is_get_without_the_body(site: httpx.Client, path: str) -> None:
    got, head = site.get(path), site.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


def test_bodies_are_refused(site: httpx.Client) -> None:
    assert site.request("GET", "/search?q=a", content=b"x").status_code == 413
    assert site.request("GET", "/search?q=a", content=iter([b"x"])).status_code == 413


def test_an_address_that_is_too_long_gets_a_page_that_says_so(site: httpx.Client) -> None:
    response = site.get("/search?q=" + "a" * 17_000)
    assert response.status_code == 414
    assert "too long" in response.text and "<form" in response.text
    answer = site.get("/api/v1/search?q=" + "a" * 50_000)
    assert answer.status_code == 414 and "too long" in answer.json()["error"]


def test_a_query_of_ten_thousand_characters_is_the_searchers_matter(site: httpx.Client) -> None:
    assert site.get("/search", params={"q": "a " * 5000}).status_code == 200


def test_large_headers_are_refused(site: httpx.Client) -> None:
    assert site.get("/", headers={"X-Large": "a" * 40_000}).status_code == 431


def test_what_fails_inside_is_500_without_details() -> None:
    class Broken(MemoryService):
        def search(self, request: object) -> object:
            raise RuntimeError("secret detail")

    with client(Broken()) as http:
        for path in ("/search?q=a", "/api/v1/search?q=a"):
            response = http.get(path)
            assert response.status_code == 500
            assert "secret" not in response.text
            assert "content-security-policy" in response.headers
        assert http.get("/api/v1/search?q=a").json()["error"]
        assert http.get("/").status_code == 200


# -- host names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["<script>", 'a"b', "a/b", "a b", "", "a" * 300, "x:99999999", "юникод".encode()])
def test_a_host_header_that_is_no_host_is_refused_and_not_repeated(site: httpx.Client, host: str | bytes) -> None:
    response = site.get("/opensearch.xml", headers={"Host": host})
    assert response.status_code == 400
    assert "<script>" not in response.text


@pytest.mark.parametrize(("version", "status"), [("1.1", b"400"), ("1.0", b"200")])
def test_only_http_1_0_may_ask_without_a_host(site: httpx.Client, version: str, status: bytes) -> None:
    with socket.create_connection((site.base_url.host, site.base_url.port or 80), PATIENCE) as connection:
        connection.sendall(f"GET /search?q=rocket HTTP/{version}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.split()[1] == status
    assert (b"no Host header" in answer) == (status == b"400")


def test_a_private_server_answers_to_its_own_names_only(site: httpx.Client) -> None:
    for host in ("127.0.0.1:1", "localhost", "[::1]:8017", "demo.localhost:80", "10.1.2.3"):
        assert site.get("/", headers={"Host": host}).status_code == 200, host
    for host in ("evil.test", "127.0.0.1.evil.test", "localhost.evil.test"):
        assert site.get("/", headers={"Host": host}).status_code == 421, host


def test_with_a_base_url_its_name_is_answered_and_the_header_changes_nothing() -> None:
    with client(base_url="https://search.example.org") as http:
        for host in ("search.example.org", "127.0.0.1"):
            text = http.get("/opensearch.xml", headers={"Host": host}).text
            assert "https://search.example.org/search?q=" in text
            assert "127.0.0.1" not in text


@pytest.mark.parametrize("text", ["search.example.org", "ftp://a.test", "https://", "https://a.test/?q", "http://a b/"])
def test_a_wrong_base_url_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"serve\.base_url"):
        create_app(MemoryService(), ServeSettings(base_url=text))


# -- pace -----------------------------------------------------------------------------------------


def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    with client(clock=FakeClock(), rate=6, burst=3) as http:
        answers = [http.get("/search?q=a") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 10
        assert "Too many requests" in answers[-1].text
        assert http.get("/api/v1/search?q=a").status_code == 429
        assert "error" in http.get("/api/v1/search?q=a").json()
        assert http.get("/healthz").status_code == http.get("/static/site.css").status_code == 200


def test_forwarded_addresses_are_believed_from_proxies_only() -> None:
    with client(clock=FakeClock(), rate=1, burst=1) as http:
        codes = [http.get("/search?q=a", headers={"X-Forwarded-For": f"9.9.9.{n}"}).status_code for n in range(3)]
        assert codes == [200, 429, 429]
    with client(clock=FakeClock(), rate=1, burst=1, proxies=("127.0.0.0/8",)) as http:
        codes = [http.get("/search?q=a", headers={"X-Forwarded-For": f"9.9.9.{n}"}).status_code for n in range(3)]
        assert codes == [200, 200, 200]
        assert http.get("/search?q=a", headers={"X-Forwarded-For": "1.2.3.4, 9.9.9.1"}).status_code == 429


@pytest.mark.parametrize(
    ("peer", "forwarded", "key"),
    [
        ("1.2.3.4", ["5.6.7.8"], "1.2.3.4"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["5.6.7.8"], "5.6.7.8"),
        ("10.0.0.1", ["6.6.6.6, 5.6.7.8"], "5.6.7.8"),
        ("10.0.0.1", ["6.6.6.6", "5.6.7.8, 10.0.0.2"], "5.6.7.8"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["5.6.7.8, nonsense"], "10.0.0.1"),
        ("2001:db8:1:2:3::4", [], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::9", [], "2001:db8:1:2::/64"),
        ("2001:db8:1:3::4", [], "2001:db8:1:3::/64"),
        ("::ffff:1.2.3.4", [], "1.2.3.4"),
        ("::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::/64"),
        ("", ["1.2.3.4"], "?"),
    ],
)
def test_who_a_client_is(peer: str, forwarded: list[str], key: str) -> None:
    assert Clients(["10.0.0.0/8"]).key(peer, forwarded) == key


@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=3))
def test_no_header_confuses_who_a_client_is(peer: str, forwarded: list[str]) -> None:
    assert Clients(["0.0.0.0/0", "::/0"]).key(peer, forwarded)


def test_a_wrong_proxy_is_named_before_the_server_starts() -> None:
    with pytest.raises(UsageError, match=r"serve\.proxies: 'nginx'"):
        create_app(MemoryService(), ServeSettings(proxies=("nginx",)))


@given(st.integers(1, 600), st.integers(1, 50), st.lists(st.floats(0, 30), max_size=80))
def test_nobody_gets_more_than_burst_and_rate_together(rate: int, burst: int, pauses: list[float]) -> None:
    limit, now, passed = RateLimit(rate, burst), 0.0, 0
    for pause in pauses:
        now += pause
        wait = limit.wait("a", now)
        assert wait >= 0
        passed += wait == 0
        if wait:
            assert limit.wait("a", now + wait + 1e-6) == 0
            passed, now = passed + 1, now + wait + 1e-6
    assert passed <= burst + rate * now / 60 + 1e-6


@given(st.lists(st.integers(0, 200), max_size=400))
def test_the_limit_remembers_a_bounded_number_of_clients(clients: list[int]) -> None:
    limit = RateLimit(60, 2, clients=16)
    for number in clients:
        limit.wait(str(number), 0.0)
    assert len(limit) <= 16


def test_clients_do_not_share_tokens_and_no_rate_is_no_limit() -> None:
    limit = RateLimit(60, 1)
    assert [limit.wait(name, 0.0) > 0 for name in "abab"] == [False, False, True, True]
    free = RateLimit(0, 1)
    assert not any(free.wait("a", 0.0) for _ in range(1000))
    assert len(free) == 0
