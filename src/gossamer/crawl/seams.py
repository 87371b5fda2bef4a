"""What a worker needs of the world outside: the network, its parsers, its disk, and somebody to wait for them.

The live parts are in `fetch`, `parsers`, `pending`, `thread` and `heartbeat`. The lab puts recorded ones there instead,
so that a simulated crawl is the worker itself on another network and another clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, TypeVar

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.pending import Pending
from gossamer.fetch.browser import FetchSub, Rendered
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import Request
from gossamer.frontier.contract import SiteReport, Verdict
from gossamer.model.records import Parsed, ParseJob, Response

P = ParamSpec("P")
T = TypeVar("T")


class Fetches(Protocol):
    """Does requests."""

    async def fetch(self, request: Request) -> Response:
        """One request; whatever happens is a response."""

    def failed(self, url: str, trouble: Trouble) -> Response:
        """The response to a request that got none."""

    def drop(self, slot: str) -> None:
        """Close the unused connection to an address."""


class Resolves(Protocol):
    """Knows addresses."""

    async def address_of(self, host: str) -> str:
        """The address of a host; `Trouble` where it has none that may be asked."""


class Parses(Protocol):
    """Reads bodies."""

    async def parse(self, job: ParseJob) -> Parsed:
        """What a body says."""

    def configure(self, config: ParserConfig) -> None:
        """Use another configuration from the next job on."""


class Renders(Protocol):
    """Runs the scripts of pages."""

    async def render(self, url: str, response: Response, fetch_sub: FetchSub) -> Rendered:
        """A page after its scripts have run; what they load comes from `fetch_sub`."""


class Commits(Protocol):
    """Stores results and reports them to the frontier."""

    best_new: dict[int, int]
    """The best level that the last commit put new URLs into, by the key of their site."""

    def commit(
        self, pending: Pending, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]], now: float
    ) -> list[Verdict]:
        """Store and report; raises without having changed anything."""


class Beats(Protocol):
    """Gives signs of life."""

    async def beat(self, worker: str) -> float:
        """A sign of life; returns from when on it counts."""


class Runs(Protocol):
    """Runs what may block."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The call's result."""
