"""A seed without a scheme: https, or http where https does not answer. Real sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from gossamer.discover.seeds import Seed, read_seeds
from gossamer.settings import NetworkSettings, Settings
from gossamer.supervise.schemes import choose_schemes

SETTINGS = Settings(network=NetworkSettings(allow=("127.0.0.0/8",), resolve={"uni.test": "127.0.0.1"}))


@contextlib.contextmanager
def plain_server() -> Iterator[int]:
    """A server that knows no TLS: it answers whatever comes with an error, as web servers do; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, contextlib.suppress(OSError):
                        if connection.recv(1000):
                            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_only_seeds_without_a_scheme_are_guessed() -> None:
    named = ["uni.test", "uni.test/news", "https://uni.test/a", "http://uni.test/b", "localhost:8000"]
    assert [seed.guessed for seed in read_seeds(named)] == [True, True, False, False, False]


def test_http_is_chosen_where_https_does_not_answer() -> None:
    with plain_server() as port:
        url = f"https://uni.test:{port}/news"
        chosen, said = choose_schemes([Seed(url, "argument 1", guessed=True), Seed(url, "argument 2")], SETTINGS)
    assert [seed.url for seed in chosen] == [f"http://uni.test:{port}/news", url]
    assert len(said) == 1 and said[0].startswith(f"Crawling http://uni.test:{port}/news, because https failed")


def test_https_stays_where_there_is_no_time_to_try() -> None:
    with plain_server() as port:
        seed = Seed(f"https://uni.test:{port}/", "line 1", guessed=True)
        assert choose_schemes([seed], SETTINGS, longest=0.0) == ([seed], [])


def test_https_stays_where_nothing_answers_or_nobody_may_be_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    nobody = Seed(f"https://uni.test:{port}/", "argument 1", guessed=True)
    assert choose_schemes([nobody], SETTINGS) == ([nobody], [])
    with plain_server() as port:
        private = Seed(f"https://uni.test:{port}/", "argument 1", guessed=True)
        forbidden = Settings(network=NetworkSettings(resolve={"uni.test": "127.0.0.1"}))
        assert choose_schemes([private], forbidden) == ([private], [])
