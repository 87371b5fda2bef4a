"""A server with many named ways to be hostile.

Every behaviour has a name, one sentence and a URL: `http://hostile.test:PORT/<name>`,
or a host of its own for those that are about robots.txt. `/` links to all of
them. They take part in the same log as `FakeWeb`, so that the observer can
judge how a crawler behaved towards a server that misbehaved.

    with HostileWeb() as web:
        outcome = fetch(web.behaviour_url("gzip-bomb"), resolve=web.resolve)
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from xml.sax.saxutils import escape

from gossamer.demo.message import Ask, Reply
from gossamer.demo.server import App, Script
from gossamer.testing.web import LoopbackWeb
from kit.hostile import bodies, framing, redirects, robots, sitemaps, traps, waits
from kit.hostile.registry import BEHAVIOURS, HOST, PROSE, Behaviour, Pace, page

__all__ = ["BEHAVIOURS", "HOST", "Behaviour", "HostileWeb", "Pace", "by_name"]

_GROUPS = (framing, bodies, redirects, waits, traps, robots, sitemaps)  # importing them registers theirs


def by_name(name: str) -> Behaviour:
    """The behaviour of that name; KeyError where there is none."""
    return _BY_NAME[name]


_BY_NAME = {b.name: b for b in BEHAVIOURS}
_BY_HOST = {b.host: b for b in BEHAVIOURS if b.host != HOST}


class HostileWeb(LoopbackWeb):
    """Serves every behaviour. Robots hosts have addresses of their own, so that none delays another."""

    def __init__(
        self,
        network: str = "127.0.2",
        *,
        pace: Pace | None = None,
        linked: Collection[str] | None = None,
        process: bool = False,
        log: str | Path | None = None,
    ) -> None:
        super().__init__(network, process=process, log=log)
        self.pace = pace or Pace()
        self.linked = [b.name for b in BEHAVIOURS] if linked is None else list(linked)
        """The behaviours that the start page links to; the others answer all the same."""
        for host in (HOST, *_BY_HOST):
            self.hosts.add(host)

    def behaviour_url(self, name: str) -> str:
        """The URL of a behaviour."""
        behaviour = by_name(name)
        return self.url(behaviour.host, behaviour.path)

    def app(self) -> App:
        """Dispatches by host and by the first segment of the path."""
        return HostileApp(self.pace, self.start_page())

    def start_page(self) -> bytes:
        """Links to the linked behaviours, with their sentences; for robots hosts to their pages."""
        rows = []
        for behaviour in map(by_name, self.linked):
            pages = [behaviour.path] if behaviour.host == HOST else ["/page", "/private"]
            for path in pages:
                url = escape(self.url(behaviour.host, path))
                rows.append(f'<li><a href="{url}">{behaviour.name}</a> {escape(behaviour.sentence)}</li>')
        return f"<!DOCTYPE html><title>Hostile</title><h1>Hostile</h1><ul>{''.join(rows)}</ul>".encode()


class HostileApp:
    """Finds the behaviour a request is for."""

    def __init__(self, pace: Pace, start: bytes) -> None:
        self._pace = pace
        self._start = start

    def __call__(self, ask: Ask) -> Reply | Script:
        """The behaviour's answer; ordinary pages on robots hosts, 404 elsewhere."""
        behaviour = _BY_HOST.get(ask.host)
        if behaviour:
            if ask.path == "/robots.txt" or ask.path.startswith("/robots-hop/"):
                return behaviour.answer(ask, self._pace)
            return page(f"{behaviour.name} {ask.path}", f"{behaviour.sentence} {PROSE}", ["/page", "/private"])
        if ask.path == "/":
            return Reply(self._start)
        name = ask.path.split("/")[1].partition(";")[0]
        found = _BY_NAME.get(name)
        if found is None or found.host != HOST:
            return Reply("<title>Not found</title><h1>No such behaviour</h1>", 404)
        return found.answer(ask, self._pace)
