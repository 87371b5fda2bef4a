"""DemoWeb: the bundled web, served on loopback. No network is needed or touched."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Self

from gossamer.demo import traps
from gossamer.demo.content import Host, load
from gossamer.demo.expected import TRAP_HOST, Expected, expected
from gossamer.demo.local import Hosts, ServerThread
from gossamer.demo.message import Ask, Reply
from gossamer.demo.render import Locate, reply

_NOT_FOUND = Reply("<!DOCTYPE html><title>Not found</title><h1>There is no such page</h1>", 404)


class DemoWeb:
    """Several small sites in three languages, with everything that makes crawling hard.

        with DemoWeb() as web:
            crawl(web.seeds, resolve=web.resolve, allow_network=web.network)

    The port is chosen when the web is made, unless it is given; every host has an address of its own.
    """

    def __init__(self, network: str = "127.0.1", port: int = 0) -> None:
        self._hosts = Hosts(network, port)
        self._content = load()
        for name in self._content:
            self._hosts.add(name)
        self._app = DemoApp(self._content, locator(self._content, self._hosts.port))
        self._thread: ServerThread | None = None
        self.network = f"{network}.0/24"
        """The addresses in use, for `--allow-network`."""

    @property
    def port(self) -> int:
        """The port of every host."""
        return self._hosts.port

    @property
    def resolve(self) -> dict[str, str]:
        """Host → address, for `--resolve HOST=IP`."""
        return dict(self._hosts.resolve)

    @property
    def seeds(self) -> list[str]:
        """The start page of every host."""
        return [self.url(name) for name in self._content]

    @property
    def expected(self) -> Expected:
        """What a correct crawl ends with."""
        return expected(self._content, self.port)

    def url(self, host: str, path: str = "/") -> str:
        """The URL of a path on a host."""
        return self._hosts.url(host, path)

    def start(self) -> Self:
        """Serves; returns when connections are accepted."""
        self._thread = self._thread or ServerThread(self._app, self._hosts)
        return self

    def close(self) -> None:
        """Stops serving and gives the port back."""
        if self._thread:
            self._thread.stop()
            self._thread = None
        self._hosts.release()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class DemoApp:
    """Written pages are made once; the rooms of the trap host are made when asked for."""

    def __init__(self, hosts: dict[str, Host], locate: Locate) -> None:
        self._hosts = hosts
        self._locate = locate
        self._replies = {
            name: {path: reply(host, page, locate) for path, page in host.pages.items()} for name, host in hosts.items()
        }

    def __call__(self, ask: Ask) -> Reply:
        """The page asked for, 404 where there is none."""
        replies = self._replies.get(ask.host, {})
        found = replies.get(ask.target) or replies.get(ask.path.partition(";")[0])
        if found is None and ask.host == TRAP_HOST:
            found = self._room(ask.target)
        return found or _NOT_FOUND

    def _room(self, target: str) -> Reply | None:
        page = traps.room(target)
        return reply(self._hosts[TRAP_HOST], page, self._locate) if page else None


def locator(hosts: dict[str, Host], port: int) -> Locate:
    """Puts the port into every absolute URL of our hosts."""
    names = "|".join(re.escape(name) for name in hosts)
    pattern = re.compile(rf"http://({names})/")
    return lambda text: pattern.sub(rf"http://\g<1>:{port}/", text)
