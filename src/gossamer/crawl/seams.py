"""Protocols between a worker and the outside world: network, parsers, disk, threads.

The live implementations are in `fetch`, `parsers`, `pending`, `thread` and `heartbeat`. The lab has recorded ones, so
that a simulated crawl is the worker itself on another network and another clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, TypeVar

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.pending import Pending
from gossamer.fetch.browser import FetchSub, Rendered
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import Request
from gossamer.frontier.contract import KnownFacts, SiteReport, Verdict
from gossamer.model.records import Parsed, ParseJob, Response

P = ParamSpec("P")
T = TypeVar("T")


class Fetches(Protocol):
    """Makes requests."""

    async def fetch(self, request: Request) -> Response:
        """One request; whatever happens is a response."""

    def failed(self, url: str, trouble: Trouble) -> Response:
        """The response to a request that got none."""

    def drop(self, slot: str) -> None:
        """Close the unused connection to an address."""


class Resolves(Protocol):
    """Resolves host names."""

    async def address_of(self, host: str) -> str:
        """The address of a host; raises `Trouble` if it has none that may be crawled."""


class Parses(Protocol):
    """Parses bodies."""

    async def parse(self, job: ParseJob) -> Parsed:
        """The content of a body."""

    def configure(self, config: ParserConfig) -> None:
        """Use another configuration from the next job on."""

    def know(self, site: str, known: KnownFacts) -> None:
        """Judge the pages of a site by this from the next job on; version 0: by nothing."""


class Renders(Protocol):
    """Runs the scripts of pages."""

    async def render(self, url: str, response: Response, fetch_sub: FetchSub) -> Rendered:
        """A page after its scripts have run; `fetch_sub` fetches what they load."""


class Commits(Protocol):
    """Stores results and reports them to the frontier."""

    best_new: dict[int, int]
    """The best level into which the last commit put new URLs, by the key of their site."""

    def commit(
        self, pending: Pending, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]], now: float
    ) -> list[Verdict]:
        """Store and report; raises without having changed anything."""


class Beats(Protocol):
    """Gives signs of life."""

    async def beat(self, worker: str) -> float:
        """Send a sign of life; returns the time from which it counts."""


class Runs(Protocol):
    """Runs blocking calls."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The call's result."""
