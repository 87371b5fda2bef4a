"""The way of a page through a worker and its parser, one step at a time, with the parts of a crawl and nothing between.

`Way` has a data folder, a frontier and a lease of each site, as a worker has them. Its steps are what `runner`,
`page_parsing`, `commit_queue` and `pending` do with a page; event loop, politeness and robots.txt are left out.
"""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from gossamer.clock import SystemClock
from gossamer.crawl.page_parsing import job_of
from gossamer.crawl.parser_config import JOB, ParserConfig, frame
from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.crawl.reading import PageParser
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.understand import Rules, of_page
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.fetch.connect import key_of
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.limits import FetchConfig
from gossamer.fetch.request import target_of
from gossamer.fetch.target import Target
from gossamer.fetch.transport import Connection
from gossamer.frontier.contract import Place, SiteReport
from gossamer.model.decision import Decision
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Parsed, ParseJob, Response, Task
from gossamer.model.site import site_of
from gossamer.model.url import Canonicalizer, CanonicalRules
from gossamer.settings import Settings

NOW = 1_760_000_000.0
HEADERS = [
    ("Date", "Thu, 09 Oct 2025 08:53:20 GMT"),
    ("Server", "nginx/1.24.0"),
    ("Content-Type", "text/html; charset=utf-8"),
    ("Last-Modified", "Tue, 07 Oct 2025 10:00:00 GMT"),
    ("ETag", '"68e4e5a0-c350"'),
    ("Cache-Control", "max-age=600"),
]
PIECE = 14_600
"""Bytes that arrive at a time: ten packets."""
_WORKER = "w1"
_MANY = 10**6


class Page(msgspec.Struct, frozen=True):
    """A page on its server."""

    url: str
    body: bytes


class Way:
    """A worker's parts; all URLs are known from the start and in its hands."""

    def __init__(self, folder: Path, pages: Sequence[Page]) -> None:
        sites = {site_of(page.url) for page in pages}
        settings = Settings()
        self.settings = msgspec.structs.replace(
            settings,
            scope=msgspec.structs.replace(settings.scope, hosts=tuple(sorted(sites))),
            budget=msgspec.structs.replace(settings.budget, batch=_MANY, per_site=_MANY),
        )
        data = DataFolder(folder)
        data.create()
        self.frontier = open_frontier(data, self.settings)
        self.scope = LiveScope(self.settings, self.frontier.db)
        self.frontier.add([Discovered(page.url, depth=1) for page in pages], NOW)
        self.frontier.register(_WORKER, NOW)
        leases = self.frontier.take(_WORKER, NOW, len(sites), _MANY)
        self.leases = {lease.place: lease for lease in leases}
        self.tasks: dict[str, tuple[Place, Task]] = {
            task.url: (lease.place, task) for lease in leases for task in lease.tasks
        }
        self.config: ParserConfig = self.scope.parser_config()
        self.parser = PageParser(self.config)
        self.committer = Committer(self.frontier, data.segments, _WORKER, True, {"software": "Gossamer"})
        self.rules = Rules(
            self.scope.canonicalizer(), lambda url, now: self.scope.chain.decide(url, now), self.frontier.seen.unknown,
            self.settings.budget, self.settings.crawl.max_redirects, _WORKER,
        )  # fmt: skip
        self._job_encoder, self._job_decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(ParseJob)
        self._encoder, self._decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Parsed)

    def close(self) -> None:
        self.frontier.db.close()

    def renew_parser(self) -> None:
        """Forget what a parser remembers of references."""
        self.parser = PageParser(self.config)

    def job(self, response: Response) -> ParseJob:
        return job_of(self.tasks[response.url][1], response)

    def send_job(self, job: ParseJob) -> bytes:
        """Worker: the frame for the parser."""
        return frame(JOB, self._job_encoder.encode(job))

    def take_job(self, sent: bytes) -> ParseJob:
        """Parser: the job in a frame."""
        return self._job_decoder.decode(memoryview(sent)[5:])

    def read(self, job: ParseJob) -> Parsed:
        """Parser: the content of a page."""
        return self.parser.read(job)

    def send_answer(self, parsed: Parsed) -> bytes:
        """Parser: the answer."""
        return self._encoder.encode(parsed)

    def take_answer(self, sent: bytes) -> Parsed:
        """Worker: what the parser found."""
        return self._decoder.decode(sent)

    def understand(self, response: Response, parsed: Parsed) -> Result:
        """Worker: the result of a visit."""
        place, task = self.tasks[response.url]
        return of_page(place, task, response, parsed, self.rules)

    def commit(self, results: Sequence[Result], now: float) -> None:
        """Worker: segment and transaction."""
        pending = Pending()
        for result in results:
            pending.add(result)
        touched = dict.fromkeys(result.visit.place for result in results)
        leases = [self.leases[place] for place in touched]
        sites = [SiteReport(lease.place, lease.token, lease.clock, lease.address) for lease in leases]
        self.committer.commit(pending, sites, [], now)


class Line(asyncio.Transport):
    """A connection to a server that needs no time: what it answers arrives in pieces at once."""

    def __init__(self, connection: Connection, answers: Mapping[bytes, Sequence[bytes]]) -> None:
        super().__init__()
        self._connection, self._answers = connection, answers

    def write(self, data: bytes) -> None:
        for piece in self._answers[data.split(b" ", 2)[1]]:
            asyncio.get_running_loop().call_soon(self._connection.data_received, piece)

    def abort(self) -> None:
        self._connection.connection_lost(None)


class Lines:
    """In the place of a fetcher's connector."""

    def __init__(self, config: FetchConfig, pages: Sequence[Page]) -> None:
        self._config, self.proxy = config, None
        self._answers = {target_of(page.url).path.encode(): _pieces(answer_of(page, packed=True)) for page in pages}

    async def connect(self, target: Target, _address: str) -> Connection:
        connection = Connection(self._config, SystemClock(), key_of(target))
        connection.connection_made(Line(connection, self._answers))
        return connection


def fetcher_of(pages: Sequence[Page]) -> Fetcher:
    """A fetcher that gets these pages, compressed, without a network."""
    config, clock = FetchConfig(user_agent="Gossamer/bench"), SystemClock()
    guard = AddressPolicy(("127.0.0.0/8",), "")
    fetcher = Fetcher(config, guard, Resolver(DnsConfig(), guard, clock), clock)
    fetcher._connector = Lines(config, pages)
    return fetcher


def answer_of(page: Page, packed: bool = False) -> bytes:
    """The bytes that a server sends."""
    body = gzip.compress(page.body, 6, mtime=0) if packed else page.body
    more = [("Content-Encoding", "gzip")] * packed + [("Content-Length", str(len(body)))]
    head = "".join(f"{name}: {value}\r\n" for name, value in [*HEADERS, *more])
    return f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body


def _pieces(answer: bytes) -> list[bytes]:
    return [answer[start : start + PIECE] for start in range(0, len(answer), PIECE)]


def response_of(page: Page, at: float) -> Response:
    """What `fetch` makes of an answer that is not compressed."""
    return Response(
        page.url, Outcome.DOCUMENT, at, at + 0.05, at + 0.06, 200, headers=HEADERS, wire_body=page.body, body=page.body,
        address="192.0.2.7",
    )  # fmt: skip


def canonical(pages: Sequence[ParseJob]) -> list[Page]:
    """Pages of an archive under their canonical URLs, each once."""
    canonicalizer = Canonicalizer(CanonicalRules())
    found: dict[str, Page] = {}
    for job in pages:
        url = canonicalizer.parse(job.url)
        if not isinstance(url, Decision):
            found.setdefault(url, Page(url, job.body))
    return list(found.values())


# -- made-up pages ------------------------------------------------------------------------------------------------

_WORDS = (
    "bridge carpenter garden harbour journal keeper lantern market orchard painter railway sailor tower valley builds "
    "carries describes explains finishes guards joins measures names observes repairs visits old quiet narrow early"
).split()
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} | The Harbour Journal</title>
<meta name="description" content="{title}, told by those who were there.">
<meta property="article:published_time" content="2024-0{month}-11T08:00:00Z"><link rel="canonical" href="{path}">
<style>{style}</style></head><body><header><a href="/">Home</a></header><nav><ul>{menu}</ul></nav>
<main><article><h1>{title}</h1><p class="by">By Ann Keeper</p>{text}</article></main>
<aside><h2>Read on</h2><ul>{further}</ul></aside><footer>Imprint</footer><!-- {filler} --></body></html>"""


class Shape(msgspec.Struct, frozen=True):
    """Of a made-up page; about the mean of the real ones of bench/reading.py."""

    menu: int = 70
    """Links that are on every page."""
    further: int = 7
    """Links to pages that no page before named."""
    paragraphs: int = 9
    """Of some 420 characters."""
    style: int = 12_000
    """Bytes of style sheets."""
    filler: int = 12_000
    """Bytes of a comment: read, and of no use."""


_USUAL = Shape()


def made_up(count: int, shape: Shape = _USUAL, host: str = "journal.example") -> Iterator[Page]:
    """Pages of a site; text, title and a few links are each page's own. No page knows of the pages after it, so those
    that one shape adds change nothing else."""
    menu = "".join(f'<li><a href="/section/{n}/">Section {n}</a></li>' for n in range(shape.menu))
    style = _repeated(".c%d { margin: 0 auto; color: #333 }\n", shape.style)
    filler = _repeated("no use %d ", shape.filler)
    for number in range(count):
        chance = random.Random(number)
        title = f"{chance.choice(_WORDS)} {chance.choice(_WORDS)} {number}".capitalize()
        text = "".join(f"<p>{_prose(chance)}</p>" for _ in range(shape.paragraphs))
        further = "".join(
            f'<li><a href="/story/{number}/{n}.html">The {_WORDS[n % len(_WORDS)]} of {number}</a></li>'
            for n in range(shape.further)
        )
        path = f"/page/{number}.html"
        html = _PAGE.format(
            title=title, path=path, month=number % 9 + 1, style=style, menu=menu, text=text, further=further,
            filler=filler,
        )  # fmt: skip
        yield Page(f"http://{host}{path}", html.encode())


def _repeated(piece: str, size: int) -> str:
    return "".join(piece % n for n in range(size // len(piece) + 1))[:size]


def _prose(chance: random.Random) -> str:
    sentences = (" ".join(chance.choices(_WORDS, k=11)) for _ in range(5))
    return " ".join(f"The {sentence} before the winter." for sentence in sentences)
