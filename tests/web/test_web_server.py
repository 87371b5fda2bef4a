"""The server on the wire: its socket, its limits, its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from web_kit import PATIENCE, SETTINGS, MemoryService, client, serving

from gossamer.errors import OperationError, UsageError
from gossamer.search.results import Request, Results
from gossamer.web import server as server_module
from gossamer.web.app import create_app
from gossamer.web.gate import connections, protocol
from gossamer.web.pool import WAITING
from gossamer.web.server import WebServer, beyond_loopback

PROGRAM = """
import sys, time
sys.path.insert(0, {kit!r})
from web_kit import PATIENCE, SETTINGS, MemoryService, create_app
from gossamer.web import server

class Slow(MemoryService):
    def search(self, request):
        print("searching", flush=True)
        time.sleep(1)
        return super().search(request)

server.GRACE = PATIENCE  # a busy machine may need longer for the answer than requests get at the end
server.run(create_app(Slow(), SETTINGS), SETTINGS, lambda address: print(address, flush=True))
print("ended", flush=True)
"""


def connect(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def everything(sock: socket.socket) -> bytes:
    found = b""
    while True:
        try:
            data = sock.recv(65536)
        except ConnectionResetError:
            return found
        if not data:
            return found
        found += data


def test_a_port_that_is_taken_is_named() -> None:
    with serving() as address:
        port = int(address.rpartition(":")[2])
        taken = msgspec.structs.replace(SETTINGS, port=port)
        with pytest.raises(OperationError, match=rf"127\.0\.0\.1:{port}: another program uses this port"):
            WebServer(create_app(MemoryService(), taken), taken)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "a..b", "x" * 300])
def test_an_address_that_is_not_ours_is_named(host: str) -> None:
    settings = msgspec.structs.replace(SETTINGS, host=host)
    with pytest.raises(UsageError, match="cannot listen on"):
        WebServer(create_app(MemoryService(), settings), settings)


@pytest.mark.parametrize("port", [65536, 10**9])
def test_a_port_that_is_none_is_named(port: int) -> None:
    settings = msgspec.structs.replace(SETTINGS, port=port)
    with pytest.raises(UsageError, match=str(port)):
        WebServer(create_app(MemoryService(), settings), settings)


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_ipv6_works() -> None:
    with client(host="::1") as http:
        assert str(http.base_url).startswith("http://[::1]:")
        assert http.get("/search?q=rocket").status_code == 200


@pytest.mark.parametrize(
    ("host", "beyond"),
    [("127.0.0.1", False), ("::1", False), ("localhost", False), ("127.8.8.8", False), ("0.0.0.0", True), ("::", True),
     ("10.0.0.1", True), ("search.example.org", True)],
)  # fmt: skip
def test_who_can_reach_it_is_known(host: str, beyond: bool) -> None:
    assert beyond_loopback(host) is beyond


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_finish_and_ends_well(number: signal.Signals) -> None:
    program = PROGRAM.format(kit=str(Path(__file__).parent))
    server = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        with ThreadPoolExecutor() as threads:
            answer = threads.submit(httpx.get, f"{address}/search?q=rocket", timeout=PATIENCE, trust_env=False)
            assert server.stdout.readline() == "searching\n"
            os.kill(server.pid, number)
            assert answer.result().status_code == 200
        assert server.stdout.readline() == "ended\n"
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.stdout.close()
        server.wait()


@pytest.mark.parametrize("length", [100_000, 200_000])
def test_a_query_of_100_kb_gets_a_page_that_says_so(length: int) -> None:
    with serving() as address, connect(address) as sock:
        sock.sendall(b"GET /search?q=" + b"a" * length + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = everything(sock)
        assert answer.startswith(b"HTTP/1.1 414 ") and b"too long" in answer and b"<form" in answer


def test_a_head_without_end_ends_the_connection() -> None:
    with serving() as address, connect(address) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        for _ in range(100):
            try:
                sock.sendall(b"X-Filler: " + b"a" * 8000 + b"\r\n")
            except (ConnectionResetError, BrokenPipeError):
                break
        else:
            assert b" 431 " in everything(sock)[:40]


def test_one_endless_header_ends_the_connection() -> None:
    with serving() as address, connect(address) as sock:
        sent = 0
        try:
            sock.sendall(b"GET / HTTP/1.1\r\nX: ")
            while sent < 50 * protocol.MAX_HEAD:
                sock.sendall(b"a" * 65536)
                sent += 65536
        except (ConnectionResetError, BrokenPipeError):
            pass
        assert sent < 50 * protocol.MAX_HEAD


def ask(sock: socket.socket) -> bytes:
    """One request over a connection that stays open, and its answer."""
    sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    found = b""
    while not found.endswith(b"\r\n\r\nok\n") and (data := sock.recv(65536)):
        found += data
    return found


def test_a_head_that_trickles_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as address:
        with connect(address) as slow:
            assert b" 200 " in ask(slow)
            monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
            slow.sendall(b"GET /healthz HTT")
            assert b" 408 " in everything(slow)
        with connect(address) as silent:
            assert b" 408 " in everything(silent)


def test_a_patient_client_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.web.server.KEEP_ALIVE", 10 * PATIENCE)
    with serving() as address, connect(address) as sock:
        assert b" 200 " in ask(sock)
        monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
        assert b" 200 " in ask(sock)
        time.sleep(0.6)
        assert b" 200 " in ask(sock)


STYLES = b"GET /static/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST_STYLES = STYLES.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes a few KB of an answer that nobody reads; the rest stays with the server."""
    listen = server_module._listen

    def listen_small(host: str, port: int) -> socket.socket:
        listening = listen(host, port)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # accepted ones inherit it
        return listening

    monkeypatch.setattr(server_module, "_listen", listen_small)


def connect_small(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.settimeout(PATIENCE)
    sock.connect((host, int(port)))
    return sock


@contextmanager
def never_reading(asked: bytes) -> Iterator[str]:
    """A server for three clients at once, and three that ask and read no more than the first byte."""
    with serving() as address, ExitStack() as stack:
        for _ in range(3):
            sock = stack.enter_context(connect_small(address))
            sock.sendall(asked)
            assert sock.recv(1) == b"H"
        yield address


def status(address: str, path: str = "/search?q=rocket", source: str = "127.0.0.1") -> int:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source), timeout=PATIENCE, trust_env=False) as http:
        return http.get(f"{address}{path}").status_code


@pytest.mark.usefixtures("small_buffers")
def test_clients_that_never_read_do_not_keep_their_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 3)
    monkeypatch.setattr(server_module, "KEEP_ALIVE", 1)
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 10 * PATIENCE)
    with never_reading(500 * STYLES) as address:
        time.sleep(1.5)
        assert status(address) == 503, "closing an idle connection does not end it: the test has something to show"
    # Long enough for those who ask whether there is room again, and read what they are told.
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 3.0)
    with never_reading(500 * STYLES) as address:
        deadline = time.monotonic() + PATIENCE
        while (last := status(address)) != 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert last == 200


@pytest.mark.parametrize("asked", [STYLES, LAST_STYLES], ids=["one", "last"])
@pytest.mark.usefixtures("small_buffers")
def test_clients_that_do_not_read_their_last_answer_make_room(asked: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 3)
    with never_reading(asked) as address:
        assert status(address) == 200


SILENT = [b"", b"GET / HTTP/1.1\r\nHost: local", b"POST /push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]


@pytest.mark.parametrize("asked", SILENT, ids=["silent", "half a head", "no body"])
def test_connections_that_ask_nothing_deny_nobody_search_and_health(
    asked: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 20)
    with serving() as address, ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connect(address)).sendall(asked)
            assert status(address, "/healthz") == 200
        assert status(address) == 200


def test_one_address_that_opens_many_connections_costs_only_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "OF_ONE_ADDRESS", 5)
    monkeypatch.setattr(connections, "_is_this_machine", lambda peer: False)
    with serving() as address, ExitStack() as stack:
        patient = stack.enter_context(connect(address))
        host, _, port = address.removeprefix("http://").partition(":")
        many = []
        for _ in range(12):
            many.append(socket.create_connection((host, int(port)), PATIENCE, source_address=("127.0.0.2", 0)))
            stack.enter_context(many[-1])
        assert status(address, source="127.0.0.2") == 200
        assert everything(many[0]).startswith(b"HTTP/1.1 408 "), "the oldest made room"
        patient.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert everything(patient).startswith(b"HTTP/1.1 200 "), "another address kept its own"


def test_health_is_answered_while_there_is_no_room_for_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    going, searching = threading.Event(), threading.Semaphore(0)

    class Waiting(MemoryService):
        def search(self, request: Request) -> Results:
            searching.release()
            assert going.wait(PATIENCE)
            return super().search(request)

    monkeypatch.setattr(connections, "CONNECTIONS", 3)
    with serving(Waiting()) as address, ExitStack() as stack:
        asked = [stack.enter_context(connect(address)) for _ in range(3)]
        for sock in asked:
            sock.sendall(b"GET /search?q=rocket HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert searching.acquire(timeout=PATIENCE)
        assert [status(address), status(address, "/healthz")] == [503, 200]
        going.set()
        assert all(everything(sock).startswith(b"HTTP/1.1 200 ") for sock in asked)
        assert status(address) == 200


@pytest.mark.usefixtures("small_buffers")
def test_a_client_that_reads_slowly_gets_its_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 5.0)
    with serving() as address, connect_small(address) as sock:
        sock.sendall(LAST_STYLES)
        found, began = b"", time.monotonic()
        while data := sock.recv(1500):
            found += data
            time.sleep(1.0)
    head, _, body = found.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert time.monotonic() - began > 2 * protocol.UNREAD_SECONDS, "it took long enough to be worth a test"


def test_so_does_one_of_a_kernel_that_takes_more_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """With buffers of megabytes the client reads for long before the kernel takes anything more from the server."""
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 8.0)
    with serving() as address, connect(address) as sock:
        sender = threading.Thread(target=sock.sendall, args=(999 * STYLES + LAST_STYLES,), daemon=True)
        sender.start()
        found, began = b"", time.monotonic()
        while time.monotonic() - began < 2.5 * protocol.UNREAD_SECONDS:
            found += sock.recv(30_000)
            time.sleep(0.5)
        found += everything(sock)
    assert found.count(b"HTTP/1.1 200 ") == 1000


def test_requests_that_wait_for_their_turn_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes long stands before many, over one connection."""
    going = threading.Event()

    class Waiting(MemoryService):
        def search(self, request: Request) -> Results:
            assert going.wait(PATIENCE)
            return super().search(request)

    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 0.2)
    with serving(Waiting()) as address, connect(address) as sock:
        sock.sendall(b"GET /search?q=rocket HTTP/1.1\r\nHost: localhost\r\n\r\n" + 30 * STYLES + LAST_STYLES)
        time.sleep(1)
        monkeypatch.setattr(protocol, "UNREAD_SECONDS", PATIENCE)  # for us, who have to read a lot now
        going.set()
        assert everything(sock).count(b"HTTP/1.1 200 ") == 32


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
     b"GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00" * 100, b"GET / HTTP/9.9\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
)  # fmt: skip
def test_garbage_on_the_wire_is_refused_and_harms_nobody(garbage: bytes) -> None:
    with serving() as address:
        with connect(address) as sock:
            sock.sendall(garbage)
            sock.shutdown(socket.SHUT_WR)
            assert everything(sock)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.1 405", b"")
        assert httpx.get(f"{address}/healthz", timeout=PATIENCE, trust_env=False).status_code == 200


def test_an_upgrade_is_not_followed() -> None:
    with client() as http:
        asked = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "x",
            "Sec-WebSocket-Version": "13",
        }
        assert http.get("/", headers=asked).status_code == 200


def test_while_all_threads_search_the_server_still_answers_and_the_queue_has_an_end() -> None:
    going = threading.Event()

    class Waiting(MemoryService):
        def search(self, request: Request) -> Results:
            assert going.wait(2 * PATIENCE)
            return super().search(request)

    limits = httpx.Limits(max_connections=200)
    settings = msgspec.structs.replace(SETTINGS, threads=2)
    with (
        serving(Waiting(), settings) as address,
        httpx.Client(timeout=2 * PATIENCE, limits=limits, trust_env=False) as http,
        ThreadPoolExecutor(100) as threads,
    ):
        asked = [threads.submit(http.get, f"{address}/search?q=rocket") for _ in range(2 * WAITING + 10)]
        deadline = time.monotonic() + PATIENCE
        while sum(answer.done() for answer in asked) < 10 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert httpx.get(f"{address}/healthz", timeout=PATIENCE, trust_env=False).status_code == 200
        going.set()
        codes = [answer.result().status_code for answer in asked]
    assert (codes.count(200), codes.count(503)) == (2 * WAITING, 10)
