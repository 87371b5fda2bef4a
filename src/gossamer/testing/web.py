"""FakeWeb: sites described in a few lines, served for real on loopback.

    with FakeWeb() as web:
        site = web.site("a.test", pages=200, links=10, seed=1)
        site.robots("User-agent: *\\nDisallow: /private/")
        site.redirect("/old", "/p/1.html")
        crawl([site.url("/")], resolve=web.resolve)
        assert violations(web.log(), delay=0.1) == []

A web runs in a thread of this process, or with `process=True` in a process of its
own, which a test that kills and loads the crawler wants: the server then shares
neither its fate nor its processor time. Either way a site may be changed while
it is being served. In a process, handler functions must be importable by name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias
from xml.sax.saxutils import escape

from gossamer.demo.local import Hosts, ServerThread
from gossamer.demo.message import Ask, Reply
from gossamer.demo.server import App, Script
from gossamer.errors import UsageError
from gossamer.testing.log import Log, LogWriter, read_log
from gossamer.testing.pages import Graph
from gossamer.testing.process import ServerProcess

Handler: TypeAlias = Callable[[Ask], "Reply | Script"]

_NOT_FOUND = Reply("<!DOCTYPE html><title>Not found</title><h1>No such page</h1>", 404)


class LoopbackWeb:
    """An app on named loopback hosts, with the server's log. Start it, or use `with`."""

    def __init__(self, network: str = "127.0.1", *, process: bool = False, log: str | Path | None = None) -> None:
        self.hosts = Hosts(network)
        self._in_process = process
        self._folder = None if log else tempfile.TemporaryDirectory(prefix="web-log-")
        self.log_path = Path(log) if log else Path(self._folder.name if self._folder else "") / "requests.jsonl"
        self._running: ServerThread | ServerProcess | None = None
        self._writer: LogWriter | None = None
        self._kept: Log | None = None

    def app(self) -> App:
        """What is served."""
        raise NotImplementedError

    def start(self) -> Self:
        """Serves every host; returns when connections are accepted."""
        if self._running:
            raise UsageError("this web is already being served")
        if self._in_process:
            self._running = ServerProcess(self.app(), self.hosts, self.log_path)
        else:
            self._writer = LogWriter(self.log_path)
            self._running = ServerThread(self.app(), self.hosts, self._writer)
        return self

    def stop(self) -> None:
        """Drops every connection. The log stays readable, and start() serves on the same port again."""
        if self._running:
            self._running.stop()
            self._running = None
        if self._writer:
            self._writer.close()
            self._writer = None

    def close(self) -> None:
        """Stops for good: gives the port back and deletes a log file that was not asked for by name."""
        self.stop()
        self._kept = self.log()
        self.hosts.release()
        if self._folder:
            self._folder.cleanup()

    def changed(self) -> None:
        """Makes a running server serve what the web has become."""
        if isinstance(self._running, ServerProcess):
            self._running.replace(self.app())

    def log(self) -> Log:
        """What the server has seen so far, from its own log; also after it was closed."""
        if self._kept is not None:
            return self._kept
        return read_log(self.log_path) if self.log_path.exists() else Log()

    @property
    def running(self) -> bool:
        """Whether it is being served."""
        return self._running is not None

    @property
    def port(self) -> int:
        """The port of every host."""
        return self.hosts.port

    @property
    def resolve(self) -> dict[str, str]:
        """Host → address, for `--resolve HOST=IP`."""
        return dict(self.hosts.resolve)

    def url(self, host: str, path: str = "/") -> str:
        """The URL of a path on a host."""
        return self.hosts.url(host, path)

    def __enter__(self) -> Self:
        return self if self._running else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class FakeWeb(LoopbackWeb):
    """A web of described sites."""

    def __init__(self, network: str = "127.0.1", *, process: bool = False, log: str | Path | None = None) -> None:
        super().__init__(network, process=process, log=log)
        self.sites: dict[str, Site] = {}

    def site(
        self,
        host: str,
        *,
        pages: int = 0,
        links: int = 10,
        seed: int = 0,
        size: int = 12,
        elsewhere: Sequence[str] = (),
        ip: str | None = None,
        latency: float = 0.0,
    ) -> Site:
        """Adds a site, of `pages` generated pages with `links` links and `size` sentences each.

        `elsewhere` names hosts that the start page links to. Without `ip` the site gets
        an address of its own; `latency` is in seconds from request to response. Sites
        are added before the start; their pages may be changed at any time.
        """
        if self.running:
            raise UsageError(f"add {host} before the web is started")
        self.hosts.add(host, ip)
        graph = Graph(host, pages, links, seed, tuple(self.url(h) for h in elsewhere), size)
        self.sites[host] = Site(self, host, SiteContent(graph, latency))
        return self.sites[host]

    def app(self) -> App:
        """The sites by name."""
        return WebApp({host: site.content for host, site in self.sites.items()})


class Site:
    """One host of a FakeWeb; every method may be called while it is served."""

    def __init__(self, web: FakeWeb, host: str, content: SiteContent) -> None:
        self._web = web
        self.host = host
        self.content = content

    @property
    def name(self) -> str:
        """The site as the crawler and the log call it: `host:port`."""
        return self._web.hosts.site(self.host)

    @property
    def ip(self) -> str:
        """Its address."""
        return self._web.hosts.resolve[self.host]

    def url(self, path: str = "/") -> str:
        """The URL of a path."""
        return self._web.url(self.host, path)

    @property
    def generated(self) -> list[str]:
        """The URLs of the generated pages, all reachable from the first."""
        graph = self.content.graph
        return [self.url(graph.path(i)) for i in range(graph.pages)]

    def page(
        self,
        path: str,
        body: str | bytes,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        links: Iterable[str] = (),
        title: str = "",
        compress: bool = True,
    ) -> str:
        """Serves HTML (a body that starts with `<`, or bytes) or wraps plain text; returns the URL.

        With `title` or `links` a text becomes a page with that title and those links.
        """
        if isinstance(body, str) and not body.lstrip().startswith("<"):
            body = wrap(title or body.partition(".")[0], body, links)
        return self.reply(path, Reply(body, status, (headers or {}).items(), compress=compress))

    def reply(self, path: str, reply: Reply) -> str:
        """Serves a reply of any kind; returns the URL. A path with a query answers only that query."""
        self.content.replies[path] = reply
        self._web.changed()
        return self.url(path)

    def redirect(self, path: str, target: str, status: int = 301) -> str:
        """Redirects a path."""
        return self.reply(path, Reply(b"", status, [("Location", target)]))

    def robots(self, text: str | bytes, status: int = 200) -> str:
        """Serves robots.txt; without one the answer is 404."""
        return self.reply("/robots.txt", Reply(text, status, content_type="text/plain; charset=utf-8"))

    def sitemap(self, entries: Iterable[str | tuple[str, str]], path: str = "/sitemap.xml") -> str:
        """Serves a sitemap of paths or URLs, each alone or with its lastmod."""
        pairs = [(e, "") if isinstance(e, str) else e for e in entries]
        full = [(self.url(p) if p.startswith("/") else p, lastmod) for p, lastmod in pairs]
        return self.reply(path, Reply(sitemap_xml(full), content_type="application/xml"))

    def handler(self, prefix: str, function: Handler) -> None:
        """Answers every path under a prefix with a function; exact pages win, then the longest prefix."""
        self.content.handlers[prefix] = function
        self._web.changed()

    def remove(self, path: str) -> None:
        """Makes a path that was described, or a generated page, answer 404."""
        self.content.replies[path] = _NOT_FOUND
        self._web.changed()


class SiteContent:
    """What a site serves: described replies, handlers, the generated graph, in this order."""

    def __init__(self, graph: Graph, latency: float) -> None:
        self.graph = graph
        self.latency = latency
        self.replies: dict[str, Reply] = {}
        self.handlers: dict[str, Handler] = {}

    def answer(self, ask: Ask) -> Reply | Script:
        """The answer to a request."""
        found = self._find(ask)
        if isinstance(found, Reply) and self.latency and not found.delay:
            found = found.after(self.latency)
        return found

    def _find(self, ask: Ask) -> Reply | Script:
        reply = self.replies.get(ask.target) or self.replies.get(ask.path)
        if reply:
            return reply
        for prefix in sorted(self.handlers, key=len, reverse=True):
            if ask.target.startswith(prefix):
                return self.handlers[prefix](ask)
        index = self.graph.index(ask.target)
        return _NOT_FOUND if index is None else Reply(self.graph.html(index))


class WebApp:
    """Sites by Host header; a request for another host is a 421."""

    def __init__(self, sites: dict[str, SiteContent]) -> None:
        self.sites = sites

    def __call__(self, ask: Ask) -> Reply | Script:
        """The answer of the host that was asked."""
        site = self.sites.get(ask.host)
        return site.answer(ask) if site else Reply(f"no host {ask.host} here", 421, content_type="text/plain")


def wrap(title: str, text: str, links: Iterable[str] = ()) -> str:
    """A plain page: a title, the text in paragraphs, a list of links."""
    paragraphs = "\n".join(f"<p>{escape(p)}</p>" for p in text.split("\n\n"))
    items = "\n".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in links)
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{escape(title)}</title></head>'
        f"<body><main><h1>{escape(title)}</h1>{paragraphs}</main><ul>{items}</ul></body></html>"
    )


def sitemap_xml(entries: Iterable[tuple[str, str]]) -> str:
    """A sitemap of URLs with their lastmod, which may be empty."""
    rows = [
        f"<url><loc>{escape(url)}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}</url>"
        for url, lastmod in entries
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        + "\n".join(rows)
        + "\n</urlset>\n"
    )
