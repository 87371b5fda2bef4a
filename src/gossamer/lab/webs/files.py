"""Turns a site that is on the disk as files into a recorded web, as a crawl of the whole of it would find it.

Pages are found breadth first from the start page over followed links, canonical links, redirects, feeds and the
sitemaps
of robots.txt, and read by the live parser (`served_files`). URLs that robots.txt forbids are known and never requested.
With fewer pages than the site has, the web is the closed set of those found first: links to others are left out, broken
links stay.

Sizes are real; the duration of a response is modelled: 0.05 s, and a second for each megabyte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import UsageError
from gossamer.fetch.identity import AGENT
from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.served_files import Answer, ServedFiles, TextMethod, ask
from gossamer.lab.webs.web import NO_RULES, NOWHERE, Facts, RecordedWeb
from gossamer.model.decision import Decision
from gossamer.model.url import Canonicalizer
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.robots.rules import Robots

_BATCH = 1000
"""URLs read together; the order in which pages are found does not depend on it."""
_LATENCY, _BYTES_PER_SECOND = 0.05, 1e6


def web_of_files(
    folder: Path,
    origin: str,
    *,
    name: str,
    own: Sequence[str] = (),
    start: str = "/",
    pages: int = 50_000,
    rules: Sequence[DocumentRule] = (),
    robots: bool = True,
    text: TextMethod = "model",
    processes: int = 2,
) -> RecordedWeb:
    """The recorded web of a folder; `own`: further prefixes of absolute links that mean this site; `pages`: URLs that
    a file answers, at most; `robots`: whether the folder's robots.txt speaks of these very addresses; `text`: how texts
    are found (`parse.limits`)."""
    site = ServedFiles(folder, origin, tuple(own), tuple(rules), text)
    url = Canonicalizer().parse(origin + start)
    if isinstance(url, Decision) or not _has_page(site, url):
        raise UsageError(f"{folder} has no page {start}: name the page from which all others can be reached")
    found = _Found(site, pages, robots)
    found.row(url)
    found.add_sitemaps()
    with _asking(site, processes) as asking:
        while found.waiting:
            batch, found.waiting = found.waiting[:_BATCH], found.waiting[_BATCH:]
            for row, answer in zip(batch, asking([found.urls[row] for row in batch]), strict=True):
                found.add(row, answer)
    return found.web(name)


def _has_page(site: ServedFiles, url: str) -> bool:
    """Whether a file answers; a folder without an `index.html` does not."""
    file = site.file(url)
    return file is not None and (file.is_file() or not url.endswith("/"))


class _Found:
    """The web as far as it was read."""

    def __init__(self, site: ServedFiles, room: int, robots: bool) -> None:
        self._site = site
        self._room = room
        file = site.folder / "robots.txt"
        self._robots = file.read_bytes() if robots and file.is_file() else None
        self._permits = Robots(self._robots or b"", AGENT)
        self._number: dict[str, int] = {}
        self.urls: list[str] = []
        self.waiting: list[int] = []
        self._answers: list[Answer] = []
        self._moved: list[int] = []
        self._canonical: list[int] = []
        self._links: list[list[int]] = []
        self._feeds: list[list[int]] = []
        self._newest = 0.0

    def row(self, url: str) -> int:
        """The row of a URL of the site, new or known; `NOWHERE` if there is no room for it."""
        row = self._number.get(url)
        if row is not None:
            return row
        file = self._site.file(url)
        permitted = self._permits.decide(url).allowed
        if file is not None and permitted:
            if self._room <= 0:
                return NOWHERE
            self._room -= 1
            self._newest = max(self._newest, file.stat().st_mtime)
        row = self._number[url] = len(self.urls)
        self.urls.append(url)
        self._answers.append(Answer("", 0))
        self._moved.append(NOWHERE)
        self._canonical.append(NOWHERE)
        self._links.append([])
        self._feeds.append([])
        if permitted:
            self.waiting.append(row)
        return row

    def add_sitemaps(self) -> None:
        """The sitemaps that robots.txt names."""
        named = [Canonicalizer().parse(text) for text in self._permits.sitemaps]
        self._rows(self._site.ours(url) for url in named if not isinstance(url, Decision))

    def add(self, row: int, answer: Answer) -> None:
        """Record the answer for a URL; the URLs it refers to wait to be read."""
        [self._moved[row]] = self._rows([answer.redirect]) or [NOWHERE]
        self._feeds[row], self._links[row] = self._rows(answer.feeds), self._rows(answer.links)
        [self._canonical[row]] = self._rows([answer.canonical]) or [NOWHERE]
        answer.links, answer.feeds = [], []  # millions of strings
        self._answers[row] = answer

    def _rows(self, urls: Iterable[str]) -> list[int]:
        rows = (self.row(url) for url in urls if url)
        return [row for row in rows if row != NOWHERE]

    def web(self, name: str) -> RecordedWeb:
        """What was found."""
        answers = self._answers
        size = np.array([answer.size for answer in answers], np.int64)
        robots = {} if self._robots is None else {self._site.origin: self._robots}
        source = f"files of {self._site.folder.name}, as a crawl of the whole site would find them"
        return RecordedWeb(
            Facts(name, self._newest, self._newest, [0], robots, rules=list(self._site.rules), source=source),
            self.urls,
            answer=[answer.outcome for answer in answers],
            links=ragged(self._links, np.int64),
            kind=np.array([answer.kind for answer in answers], np.int8),
            status=np.array([answer.status for answer in answers], np.int16),
            size=size,
            duration=_LATENCY + size / _BYTES_PER_SECOND,
            media_type=[answer.media_type for answer in answers],
            fit=fit_of(self.urls, self._site.rules),
            noindex=np.array([answer.noindex for answer in answers], bool),
            validates=np.array([answer.status == 200 for answer in answers], bool),
            redirect=np.array(self._moved, np.int64),
            canonical=np.array(self._canonical, np.int64),
            text_hash=[answer.text_hash for answer in answers],
            fingerprint=[answer.fingerprint for answer in answers],
            page_type=[answer.page_type for answer in answers],
            feeds=ragged(self._feeds, np.int64),
        )


def fit_of(urls: Iterable[str], rules: Iterable[DocumentRule]) -> npt.NDArray[np.int8]:
    """The column `fit` of some URLs by document rules."""
    book = RuleBook(rules)
    values = {None: NO_RULES, True: 1, False: 0}
    return np.array([values[book.fits(url)] for url in urls], np.int8)


@contextmanager
def _asking(site: ServedFiles, processes: int) -> Iterator[Callable[[list[str]], Iterable[Answer]]]:
    """A function that fetches URLs and answers in their order."""
    if processes <= 1:
        yield lambda urls: [ask(site, url) for url in urls]
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield lambda urls: pool.map(partial(ask, site), urls, chunksize=20)
