"""Crawling from a program: `for page in gossamer.crawl("https://www.example.org/", contact="you@example.org"): …`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from gossamer import settings as settings_file
from gossamer.api.carrying import carry
from gossamer.api.changes import Changes, Look, Position, look
from gossamer.api.folder import Folder
from gossamer.api.loop import LoopPlace
from gossamer.api.pages import Page
from gossamer.api.plugging import Filter, Hook, Plugin, Reader, Strategy
from gossamer.api.running import Running
from gossamer.api.stored import Store
from gossamer.compose.crawl import CrawlOrder, crawl_verdict
from gossamer.data.folder import DataFolder
from gossamer.database.meta import crawl_id
from gossamer.discover.seeds import Seed, named_seed
from gossamer.errors import OperationError, UsageError
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.model.site import site_of
from gossamer.model.url import Canonicalizer
from gossamer.operate.next_command import Commands
from gossamer.scope.reach import Sitemaps
from gossamer.supervise.schemes import choose_schemes

log = logging.getLogger("gossamer.crawl")

DEFAULT_FOLDER = "gossamer-data"
_LOOK = 0.1
"""Seconds between two looks for new pages."""
_OPTIONS = {
    "--contact you@example.org": 'contact="you@example.org"',
    "--contact": "contact=",
    "--allow-network": "allow_network=",
}
"""How messages call what a program calls otherwise."""


def crawl(
    *seeds: str,
    folder: str | os.PathLike[str] | None = None,
    pages: int | None = None,
    seconds: float | None = None,
    contact: str | None = None,
    scope: Literal["host", "domain", "list"] | None = None,
    hosts: Sequence[str] | None = None,
    depth: int | None = None,
    sitemaps: Sitemaps | None = None,
    delay: float | None = None,
    workers: int | None = None,
    watch: bool = False,
    javascript: Literal["off", "auto", "on"] | None = None,
    allow_network: Sequence[str] | None = None,
    strategy: str | Strategy | Sequence[str | Strategy] | None = None,
    filters: Sequence[str | Filter] = (),
    hooks: Sequence[str | Hook] = (),
    readers: Sequence[Reader] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Crawl:
    """Crawl sites, politely and completely: iterate the result with `for` or `async for` to get each page as it comes.

    The crawl runs while you iterate. Leave the loop by `break`, an exception or Ctrl-C, or kill the program: nothing is
    lost. The same call continues the crawl, and its loop gets the pages that yours did not get. Without seeds, it
    continues the crawl of the folder.

    Parameters
    ----------
    seeds
        URLs or host names to start from.
    folder
        Where everything is kept; default: `gossamer-data`, as on the command line.
    pages
        Stop after this many page requests.
    seconds
        Stop after this time.
    contact
        Your mail address, or the URL of a page about your crawl. Every request carries it.
    scope
        host: the hosts of the seeds; domain: their registrable domains; list: the hosts of `hosts` and of the seeds.
    hosts
        Further hosts to crawl; `*.example.org` includes all its subdomains.
    depth
        How many links to follow from a seed.
    sitemaps
        yes: follow sitemaps and links; no: read no sitemaps; only: fetch the pages that sitemaps list, follow no links.
    delay
        Seconds between two requests to a site.
    workers
        Worker processes; default: one per core.
    watch
        Do not end when nothing is left to fetch: visit pages again and poll feeds until you leave the loop.
    javascript
        Run the scripts of pages in a browser. auto: only if a page is empty without them.
    allow_network
        Private networks that the crawl may enter, such as 127.0.0.0/8.
    strategy
        Which URLs to fetch first: names of strategies, or your own (`gossamer.strategy`). Their scores multiply.
    filters
        Which URLs not to fetch: your own filters (`gossamer.filter`), or names of those of a package.
    hooks
        What to change in each page before it is kept: your own hooks (`gossamer.hook`), or names.
    readers
        Documents of further types: your own readers (`gossamer.reader`).
    settings
        Every other setting by section and name, as in gossamer.toml: `{"politeness": {"delay": 2.0}}`.

    Raises
    ------
    gossamer.errors.UsageError
        A parameter, seed or setting is wrong; when the loop begins.
    gossamer.errors.BusyError
        Another crawl is running on the folder.
    gossamer.errors.OperationError
        It cannot be done now, or no seed brought a page: the message says why and what to do.
    """
    if pages is not None and pages < 1:
        raise UsageError(f"pages={pages}: it must be at least 1")
    given: dict[str, dict[str, Any]] = {
        "crawl": {"contact": contact, "workers": workers, "watch": watch or None},
        "scope": {"mode": scope, "hosts": hosts, "depth": depth, "sitemaps": sitemaps},
        "politeness": {"delay": delay},
        "network": {"allow": allow_network},
        "browser": {"mode": javascript},
    }
    changes = _merged(settings or {}, given)
    own = [one for one in (*_several(strategy), *filters, *hooks, *readers) if not isinstance(one, str)]
    for section, name, value in (
        ("scope", "rules", _names(filters)),
        ("parse", "hooks", _names(hooks)),
        ("crawl", "strategy", " * ".join(_names(_several(strategy)))),
    ):
        if value:
            changes.setdefault(section, {})[name] = value
    return Crawl(seeds, folder, pages, seconds, changes, own)


class Crawl:
    """A crawl: iterate it for its pages. Made by `gossamer.crawl`."""

    def __init__(
        self, seeds: Sequence[str], folder: str | os.PathLike[str] | None, pages: int | None, seconds: float | None,
        changes: dict[str, dict[str, Any]], plugins: Sequence[Filter | Hook | Reader | Strategy],
    ) -> None:  # fmt: skip
        for seed in seeds:
            if not isinstance(seed, str):
                raise UsageError(f"{seed!r} is no seed: give each URL as a text of its own, as in crawl(*urls)")
        self._seeds, self._pages, self._seconds, self._changes = seeds, pages, seconds, changes
        self._plugins, self._is_named = plugins, folder is not None
        self.folder = Folder(folder if folder is not None else DEFAULT_FOLDER)
        """The data folder: search it, iterate its pages, explain its URLs, also while the crawl runs."""
        self._store = Store(self.folder.path)
        self._running: Running | None = None
        self._place: LoopPlace | None = None

    def __repr__(self) -> str:
        return f"gossamer.crawl({', '.join(map(repr, self._seeds))}, folder={str(self.folder.path)!r})"

    def __iter__(self) -> Iterator[Page]:
        running = self._start()
        try:
            place = self._loop_place()
            while True:
                over = running.is_over  # asked before the look: nothing comes after the last one
                found, behind = self._look(place.position)
                for entry in found:
                    if entry.change.page is not None:
                        yield entry.change.page
                    place.move(entry.position)
                place.move(behind)
                if over and not found:
                    break
                if not found:
                    running.wait(_LOOK)
            self._conclude()
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[Page]:
        running = await asyncio.to_thread(self._start)
        try:
            place = self._loop_place()
            while True:
                over = running.is_over
                found, behind = await asyncio.to_thread(self._look, place.position)
                for entry in found:
                    if entry.change.page is not None:
                        yield entry.change.page
                    place.move(entry.position)
                place.move(behind)
                if over and not found:
                    break
                if not found:
                    await asyncio.sleep(_LOOK)
            await asyncio.to_thread(self._conclude)
        finally:
            await asyncio.to_thread(self.close)

    def run(self) -> Folder:
        """Crawl to the end without a loop; returns the data folder. A later loop gets all its pages."""
        running = self._start()
        try:
            while not running.wait(_LOOK):
                pass
            self._conclude()
        finally:
            self.close()
        return self.folder

    def stop(self) -> None:
        """End the crawl in good order, from anywhere; the loop gets what is left, and ends."""
        if self._running is not None:
            self._running.stop()

    def close(self) -> None:
        """End the crawl and wait until all its processes have ended. Leaving the loop does it."""
        running, self._running = self._running, None
        if running is not None:
            running.finish()

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self._running is not None and not self._running.is_over

    @property
    def status(self) -> dict[str, Any]:
        """The figures of the crawl, as `gossamer status --json` has them; empty before its first moment."""
        standing = self._running.standing if self._running is not None else None
        return standing.as_dict() if standing is not None else {}

    def changes(self, since: int | str = 0, *, follow: bool = False) -> Changes:
        """As `Folder.changes`; `follow`: until the crawl ends. Alone it starts no crawl: call it from the loop, or from
        another thread."""
        return Changes(self._store, since, follow, lambda: self.is_running)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def _start(self) -> Running:
        if self._running is not None:
            raise UsageError("this crawl is being iterated already: one loop gets its pages")
        self._running = running = Running(self._order)
        try:
            running.start()
        except UsageError as error:
            self.close()
            raise UsageError(_as_in_programs(str(error))) from error
        except BaseException:
            self.close()
            raise
        return running

    def _order(self) -> CrawlOrder:
        data = self.folder.path
        carry(self._plugins, DataFolder(data))
        settings = settings_file.load(data, self._changes)
        canonicalizer = Canonicalizer(settings.urls)
        named = [
            named_seed(text.strip(), f"seed {number}", canonicalizer) for number, text in enumerate(self._seeds, 1)
        ]
        seeds, said = choose_schemes(named, settings)
        for line in said:
            log.info("%s", line)
        self._check_folder(seeds)
        return CrawlOrder(settings, data, seeds, self._pages, self._seconds, options=self._changes)

    def _check_folder(self, seeds: Sequence[Seed]) -> None:
        """The default folder is for one crawl: two that know nothing of each other would end up in it."""
        folder = DataFolder(self.folder.path)
        if self._is_named or not seeds or folder.is_shared or not folder.has_crawl():
            return
        with self._store.database() as db:
            known = list(seed_urls(db))
        sites = {site_of(url) for url in known}
        if known and not any(site_of(seed.url) in sites for seed in seeds):
            raise UsageError(
                f"the folder {self.folder.path} holds the crawl of {known[0]}: name another folder, as in "
                f"crawl({seeds[0].url!r}, folder='other-data'), or this one, to crawl both together"
            )

    def _loop_place(self) -> LoopPlace:
        if self._place is None:
            folder = DataFolder(self.folder.path)
            with self._store.database() as db:
                self._place = LoopPlace(folder.run, crawl_id(db))
        return self._place

    def _look(self, after: Position) -> Look:
        return look(self._store, after, once=True)

    def _conclude(self) -> None:
        """Raise what the crawl ended in; say which seeds brought nothing."""
        running = self._running
        if running is None:
            return
        running.join()
        order, ended = running.order, running.ended
        if order is None or ended is None or ended.was_told:
            return
        verdict = crawl_verdict(order, ended, Commands(self.folder.path, order.options))
        if verdict.sentence and len(verdict.failed) == len(verdict.seeds):
            raise OperationError(verdict.sentence)
        if verdict.sentence:
            log.warning("%s", verdict.sentence)


def _merged(*parts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Settings by section and name; the last one that says something counts."""
    merged: dict[str, dict[str, Any]] = {}
    for part in parts:
        for section, values in part.items():
            said = {name: _plain(value) for name, value in values.items() if value is not None}
            if said:
                merged.setdefault(section, {}).update(said)
    return merged


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


def _several(one: str | Strategy | Sequence[str | Strategy] | None) -> Sequence[str | Strategy]:
    if one is None:
        return ()
    return (one,) if isinstance(one, (str, Strategy)) else one


def _names(plugins: Sequence[str | Plugin]) -> list[str]:
    return [one if isinstance(one, str) else one.carried_name for one in plugins]


def _as_in_programs(message: str) -> str:
    for option, name in _OPTIONS.items():
        message = message.replace(option, name)
    return message
