"""Replicas of a shard: load is shared, a failing one is left alone for a while, a slow one is overtaken."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from web_kit import PATIENCE

from gossamer.errors import UsageError
from gossamer.search.shards.config import ShardsConfig, parse_nodes
from gossamer.web.shards import client as shard_client
from gossamer.web.shards.client import RemoteNodes
from gossamer.web.shards.replicas import Replicas
from gossamer.web.shards.wire import NoAnswerError, Wire

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nyes!"


class Node:
    """A server that answers every request with the same bytes, or holds its tongue."""

    def __init__(self, answer: bytes | None, hang_up: bool = False) -> None:
        self._answer, self._hang_up = answer, hang_up
        self.requests: list[bytes] = []
        self.connections = 0
        self._open: list[socket.socket] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while data := received(connection):
                self.requests.append(data)
                if self._answer is None:
                    continue
                connection.sendall(self._answer)
                if self._hang_up:
                    return

    def close(self) -> None:
        """Nobody waits for an answer from here any more."""
        for one in (self._socket, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except OSError:
        return b""


@contextmanager
def node(answer: bytes | None = ANSWER, hang_up: bool = False) -> Iterator[Node]:
    served = Node(answer, hang_up)
    try:
        yield served
    finally:
        served.close()


@contextmanager
def nobody() -> Iterator[str]:
    """An address where nobody listens, and nobody else can: its port is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_connections_stay_open_and_carry_the_headers() -> None:
    with node() as served:
        wire = Wire(served.address, {"x-gossamer-key": "secret"})
        assert [wire.post("/shard/find", b"question", PATIENCE) for _ in range(3)] == [b"yes!"] * 3
        assert served.connections == 1
        assert b"POST /shard/find HTTP/1.1" in served.requests[0] and b"x-gossamer-key: secret" in served.requests[0]
        wire.close()


def test_a_kept_connection_that_was_closed_meanwhile_is_replaced() -> None:
    with node(hang_up=True) as served:
        wire = Wire(served.address, {})
        for _ in range(3):
            assert wire.post("/", b"", PATIENCE) == b"yes!"
            time.sleep(0.05)
        wire.close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b'HTTP/1.1 409 Conflict\r\ncontent-length: 29\r\n\r\n{"error":"this is shard 2/3"}', "this is shard 2/3"),
        (b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n", "HTTP status 500"),
        (b"garbage\r\n\r\n", "."),
        (None, "no answer within"),
    ],
)
def test_whatever_a_server_does_becomes_a_reason(answer: bytes | None, why: str) -> None:
    with node(answer) as served, pytest.raises(NoAnswerError, match=why):
        Wire(served.address, {}).post("/", b"", PATIENCE if answer else 0.3)


def test_an_answer_that_breaks_off_is_none() -> None:
    with (
        node(b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nyes", hang_up=True) as served,
        pytest.raises(NoAnswerError, match="incomplete"),
    ):
        Wire(served.address, {}).post("/", b"", PATIENCE)


def test_load_goes_to_whoever_has_least_to_do_in_turn() -> None:
    replicas = Replicas(["http://a.test", "http://b.test", "http://c.test"], {})
    taken = [replicas.take(0.0) for _ in range(6)]
    assert {one.address for one in taken[:3] if one} == {one.address for one in taken[3:] if one}
    assert len({one.address for one in taken[:3] if one}) == 3
    taken[1].under_way -= 2
    assert replicas.take(0.0) is taken[1]


def test_a_failing_replica_rests_longer_each_time_and_an_answer_forgives_it() -> None:
    now = [100.0]
    with node() as served, nobody() as gone:
        replicas = Replicas([gone], {})
        (failing,) = replicas.all
        rests = []
        for _ in range(8):
            now[0] = failing.resting_until
            assert replicas.take(now[0]) is failing
            with pytest.raises(NoAnswerError, match="no server at this address"):
                failing.ask("/", b"", PATIENCE, lambda: now[0])
            rests.append(failing.resting_until - now[0])
            assert replicas.take(now[0]) is None
        assert rests == [0.5, 1, 2, 4, 8, 15, 15, 15]
        failing._wire = Wire(served.address, {})
        now[0] = failing.resting_until
        assert replicas.take(now[0]) is failing and failing.ask("/", b"", PATIENCE, lambda: now[0]) == b"yes!"
        assert replicas.take(now[0]) is failing


def test_another_replica_answers_for_one_that_is_gone() -> None:
    with node() as served, nobody() as gone:
        nodes = RemoteNodes([[gone, served.address]])
        for _ in range(4):
            assert nodes.ask("find", {1: b""}, PATIENCE) == ({1: b"yes!"}, {})
        nodes.close()


def test_another_replica_is_asked_while_one_holds_its_tongue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_client, "_PATIENCE", 0.0025)
    with node(None) as silent, node() as served:
        nodes = RemoteNodes([[silent.address, served.address]])
        for _ in range(3):
            assert nodes.ask("find", {1: b""}, PATIENCE)[0] == {1: b"yes!"}
        nodes.close()


def test_shards_that_do_not_answer_are_named_with_every_replica() -> None:
    with node() as served, node(None) as silent, nobody() as gone:
        for seconds in (0.5, 5.0, PATIENCE):  # the silent one is waited for until the end: no longer than others need
            nodes = RemoteNodes([[served.address], [gone], [silent.address]])
            answers, problems = nodes.ask("find", dict.fromkeys((1, 2, 3), b""), seconds)
            nodes.close()
            if answers and "no server at this address" in problems[2]:
                break
        assert answers == {1: b"yes!"} and problems.keys() == {2, 3}
        assert f"shard 2 of 3 does not answer ({gone}: no server at this address)" == problems[2]
        assert silent.address in problems[3]


@pytest.mark.parametrize(
    ("texts", "shards"),
    [
        (["http://a:1,http://b:2;http://c:3"], (("http://a:1", "http://b:2"), ("http://c:3",))),
        (["http://a:1/", "https://c:3 , http://d"], (("http://a:1",), ("https://c:3", "http://d"))),
        ([], ()),
    ],
)
def test_lists_of_shards_are_read(texts: list[str], shards: tuple[tuple[str, ...], ...]) -> None:
    assert parse_nodes(texts) == shards


@pytest.mark.parametrize(
    "text", ["a:1", "ftp://a", "http://", "http://a/path", "http://a:99999", "http://u:p@a", "http://a,http://a"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_nodes([text])


def test_the_key_of_the_environment_goes_before_that_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_SHARD_KEY", "from-environment")
    assert ShardsConfig(key="from-file").secret == "from-environment"
    monkeypatch.delenv("GOSSAMER_SHARD_KEY")
    assert ShardsConfig(key="from-file").secret == "from-file"
    with pytest.raises(UsageError, match="key"):
        ShardsConfig(key="two words").check()
