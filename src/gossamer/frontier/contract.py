"""What every frontier promises, whatever it is built on.

The life of a URL: somebody points at it (`add`), it is refused or queued in the
FIFO of its level; a worker leases its site (`take`) and gets the best due URLs;
it fetches them one by one, politely; `report` records what happened, in one
transaction with the segment that holds the page. A URL leaves the queue only in
that transaction. So whatever dies, and whenever, each URL is either still queued
or its result is stored: nothing is lost, nothing is stored twice.

Laws, checked by `tests/contract/test_frontier.py` for each implementation:

1. A site is leased to at most one live worker, so a URL is handed out by at most one.
2. After a worker's death its undone URLs are handed out again when its lease has run
   out, and the site counts as asked at the moment of the take-over.
3. Inside a site, lower levels come first and each level is first in, first out; pages that are visited
   again wait in levels of their own and have their share of the requests.
4. A report by a worker that lost a lease changes nothing and raises `LeaseLost`.
5. Of two pages with the same text in a registrable domain exactly one is a document.
6. An address (IP) is held by at most one live worker at a time.
7. Memory grows with the sites being worked on, not with the URLs known.
8. Same calls, same clock, same results.
9. A document is in one cluster of near duplicates; equal texts, of whatever site, are in the same.
10. A paused site, or any while the crawl is paused, is not handed out, and nothing of its queue is lost; whoever
    holds it can still report. An operator's delay only slows; a site with a limit is handed out no more URLs than
    it has requests left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from gossamer.frontier.politeness import SiteClock
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.scope.reach import Reach

if TYPE_CHECKING:
    from gossamer.database.database import Database
    from gossamer.frontier.guidance import Guidance  # strategies need NumPy, these values do not


class Budgets(msgspec.Struct, frozen=True):
    """Limits on the size of a crawl."""

    batch: int = 1000
    """Most URLs that a worker gets at once, over all sites it leases at once."""
    per_site: int = 50
    """Most URLs of one site that a worker gets at once."""
    pages_per_site: int = 100_000
    """Most URLs of one site; the crawl refuses more."""
    sites: int = 100_000
    """Most sites of the crawl; it refuses URLs of further sites."""
    similar_paths: int = 20_000
    """Most URLs of one shape (digits and ids replaced) on a site; the crawl refuses more as a trap."""
    copies: int = 50
    """Most pages of one shape that may be copies of others. If the shape then has twenty times as many copies as other
    pages, the crawl refuses its further URLs as a trap."""
    refused_per_site: int = 10_000
    """Refused URLs to store for `explain`, per site; the crawl only counts further ones."""
    retries: int = 3
    """How often to try a URL that fails."""
    patience: int = 10
    """How often to try a URL whose server asks us to come back later (429, 503, robots.txt)."""
    lease: float = 60.0
    """Seconds without a sign of life after which a worker loses its sites to others."""


class Place(NamedTuple):
    """Where URLs wait: a site, or a part of a split one."""

    site: str
    part: int = 0


class Lease(msgspec.Struct):
    """A worker's right to talk to a site, with the first URLs to fetch."""

    place: Place
    token: int
    clock: SiteClock
    address: str
    """The site's last known address; `""` before the first visit."""
    tasks: list[Task] = []
    parts: int = 1
    """Number of parts of the site."""

    @property
    def site(self) -> str:
        """Its site."""
        return self.place.site


class Visit(msgspec.Struct):
    """The result of a task."""

    place: Place
    task: Task
    outcome: Outcome
    at: float
    status: int = 0
    reason: str = ""
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    fingerprint: bytes = b""
    """Its fingerprint; empty if the text is too short."""
    near_keys: Sequence[int] = ()
    """Its lookup keys."""
    published: str = ""
    """Publication date, if it can be trusted."""
    canonical: str = ""
    """Target of the page's canonical link, if it is to be followed: then the batch's `found` has it, too."""
    target: str = ""
    """Target of its redirect."""
    retry_at: float | None = None
    """When to try again, for outcomes that are retried."""
    fetched: bool = True
    """A page request was made: it counts against `--pages`."""
    row: int | None = None
    """Row of the page in the segment."""
    rule: str = ""
    """The rule that refused it, if any."""
    page_type: str = ""
    characters: int | None = None
    """Hash of its main text; None if nothing was parsed for text."""
    outlinks: Sequence[tuple[int, int]] = ()
    """Site and key of each page of the crawl that it links to, if the strategy uses links."""
    listed: Sequence[float] = ()
    """For a feed or sitemap: when its entries were published, as far as it says so."""
    push: tuple[str, str] = ("", "")
    """For a feed: its hub and the hub's name for it."""
    size: int = 0
    """Bytes that the server sent for it, compressed as they came; 0 if it sent no document."""
    sketch: bytes = b""
    """What the page shows of its site (`site.sketch`); empty if it was not looked at for that."""
    site_version: int = 0
    """The version of the site's facts by which it was read."""
    requested: bool = True
    """Whether we sent a request for it; not for a response from an archive."""
    rests: bool = False
    """It is not planned again: a page from an archive whose host is not part of the crawl."""

    @property
    def site(self) -> str:
        """Its site."""
        return self.place.site


class SiteReport(msgspec.Struct):
    """The politeness state of a site at the end of a batch."""

    place: Place
    token: int
    clock: SiteClock
    address: str = ""
    unused: int = 0
    """On release: URLs handed out and given back untried."""
    parts: int = 1
    """As in the lease."""

    @property
    def site(self) -> str:
        """Its site."""
        return self.place.site


class Batch(msgspec.Struct):
    """Everything that one transaction records."""

    segment: str
    visits: list[Visit] = []
    found: list[Discovered] = []
    found_keys: list[int] | None = None
    """`key64` of each of `found`, if already known."""
    sites: list[SiteReport] = []
    """At least one for each visited site: its token proves that the worker held the lease."""
    addresses: list[tuple[str, float]] = []
    """Address, and the time before which it gets no request."""
    robots: list[tuple[str, bytes]] = []
    """Origin, encoded state of its robots.txt."""
    bytes_stored: int = 0
    beyond: list[Discovered] = []
    """Redirect targets on hosts outside the crawl, as they would enter it: those of seeds do."""


class Verdict(msgspec.Struct):
    """The outcome of a visit after the check for duplicates."""

    outcome: Outcome
    target: str = ""
    """The URL that represents a duplicate or alias."""
    cluster: int | None = None
    """The near-duplicate cluster of a document; None if it is too short to compare."""
    joined: bool | None = None
    """Whether other pages had founded the cluster before."""
    is_copy: bool = False
    """The document joined a cluster that a page of its own site represents."""


class Added(msgspec.Struct):
    """The result of adding URLs."""

    new: int = 0
    known: int = 0
    refused: int = 0
    again: int = 0
    """Of the known ones: seeds that were done, refused or scheduled and are fetched again now."""


class Directions(msgspec.Struct, frozen=True):
    """Orders for the sites that a worker holds."""

    leave: frozenset[str] = frozenset()
    """Sites to give back after the request under way."""
    least_delays: dict[str, float] = {}
    """For the others: least seconds between two requests."""
    robots: int = 0
    """How often stored robots.txt files were made stale: a worker's copies are no newer than this."""


class Seen(Protocol):
    """A memory of URL keys."""

    def unknown(self, keys: bytes, depth: int) -> Sequence[tuple[int, int]]:
        """Position and key of those keys (8 bytes each) that are not surely in the table, at this depth or a smaller
        one; safe from any thread."""
        ...


class KnownFacts(msgspec.Struct, frozen=True):
    """What is known of a site."""

    version: int = 0
    """0: nothing yet."""
    facts: bytes = b""
    """Encoded `site.facts.Facts`."""


WritePages = Callable[[list[Verdict]], None]
"""Writes and syncs the segment's pages; called inside the transaction of `report`."""


class Frontier(Protocol):
    """See the module's text; all times are seconds since 1970."""

    def add(self, found: Sequence[Discovered], now: float) -> Added:
        """Queue new URLs; remember refused ones."""
        ...

    def register(self, worker: str, now: float) -> None:
        """Enter a worker: its leases live until `now + budgets.lease` without a sign of life. Leases of an earlier
        worker of that name end, as by `retire`."""
        ...

    def take(self, worker: str, now: float, sites: int, urls: int) -> list[Lease]:
        """Lease up to `sites` ready sites and hand out up to `urls` of their best due URLs."""
        ...

    def refill(
        self, worker: str, place: Place, holding: Sequence[int], now: float, urls: int, returned: int = 0
    ) -> list[Task]:
        """More URLs of a leased site. `holding`: keys not yet reported; `returned`: how many are given back untried for
        better ones. Raises `LeaseLost` if the site is not the worker's."""
        ...

    def hold_address(self, worker: str, site: str, address: str, now: float) -> float | None:
        """Claim an IP address: returns when it may get its next request, or None while another worker holds it. Raises
        `LeaseLost` if the worker was given up."""
        ...

    def foresee(self, visits: Sequence[Visit]) -> list[bool]:
        """Which visits `report` will most likely judge to be copies; changes nothing."""
        ...

    def report(self, worker: str, batch: Batch, now: float, write_pages: WritePages | None = None) -> list[Verdict]:
        """Record a batch in one transaction, or raise and change nothing."""
        ...

    def renew(self, worker: str, now: float) -> None:
        """A sign of life; raises `LeaseLost` if it comes too late."""
        ...

    def release(
        self, worker: str, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]], now: float
    ) -> None:
        """Give sites and addresses back in good order, with their clocks."""
        ...

    def retire(self, worker: str, now: float) -> None:
        """A worker is gone: free what it held, and count its sites as asked now."""
        ...

    def borrow(self, worker: str, site: str, now: float) -> Lease | None:
        """Lease one site by name, known or not, without URLs; None while it is paused or another worker has it."""
        ...

    def fewest_sites(self, worker: str, now: float) -> int | None:
        """Sites of the other live worker that holds the fewest; None if there is no other."""
        ...

    def waits(self, sites: Collection[str]) -> dict[str, tuple[float, str]]:
        """Which of the sites must wait, until when and why: troubles that owners of other parts met."""
        ...

    def directions(self, held: Collection[str]) -> Directions:
        """Orders for the sites that a worker holds: those to give back, and the operator's delays."""
        ...

    def robots(self, origin: str) -> bytes | None:
        """The stored state of an origin's robots.txt."""
        ...

    @property
    def guidance(self) -> Guidance:
        """What is fetched first, and when pages are fetched again."""
        ...

    def guide(self, guidance: Guidance) -> None:
        """Use this from now on; URLs that wait already stay in their places."""
        ...

    @property
    def seen(self) -> Seen:
        """Keys of URLs that need not be offered again."""
        ...

    @property
    def best_new(self) -> dict[int, int]:
        """The best level into which the last report put new URLs, by the key of their site."""
        ...

    def facts_since(self, known: Mapping[str, int]) -> dict[str, KnownFacts]:
        """What is known of sites by now, where it is newer than the versions given."""
        ...

    def prefer(self, known: Mapping[str, KnownFacts]) -> list[str]:
        """Fetch first what looks like the documents of these sites, from the next URL found on; returns those of them
        where other URLs look so than before. URLs that wait already stay in their places until `reorder`."""
        ...

    def reorder(self, site: str, after: int | None, now: float) -> int | None:
        """Put some waiting URLs of a site where they belong now: those with the next keys after `after`. Returns the
        last of these keys; None if there are no more. Leases and seeds are left alone."""
        ...

    @property
    def learned(self) -> dict[str, KnownFacts]:
        """Sites that the last report learned something about."""
        ...

    def block_until(self, site: str, until: float, reason: str) -> None:
        """Allow no request to the site before `until`; never makes it ready earlier. A worker that holds the site is
        not told: it counts from the next lease on."""
        ...

    def pause_site(self, site: str, reason: str, now: float) -> None:
        """Hand out no URL of the site until it is resumed. Raises `UsageError` if it is unknown; so do the next two."""
        ...

    def resume_site(self, site: str, now: float) -> None:
        """Resume a paused site."""
        ...

    def limit_site(self, site: str, least_delay: float, most_pages: int, now: float) -> None:
        """Send the site a request at most every `least_delay` seconds, and `most_pages` in all; 0: no limit. Parts of a
        split site may together have more URLs in hand than it has requests left."""
        ...

    def pause_crawl(self, reason: str, now: float) -> None:
        """Hand out no URL until the crawl is resumed."""
        ...

    def resume_crawl(self, now: float) -> None:
        """Resume the crawl; sites paused on their own stay so."""
        ...


class CrawlFrontier(Frontier, Protocol):
    """What the start, the judging and the end of a whole crawl need besides."""

    db: Database
    """Where the frontier is kept, for views and tables."""

    def add_seeds(self, found: Sequence[Discovered], now: float, robots: Sequence[tuple[str, bytes]] = ()) -> Added:
        """Queue seeds, also known ones, and make their sites part of the crawl, all or nothing; `robots`: origins and
        states of robots.txt files that are to be requested anew."""
        ...

    def readmit(self, before: Reach, now: float) -> int:
        """Queue URLs that an earlier reach refused and this one lets in; returns how many."""
        ...

    def replan_visits(self, now: float) -> int:
        """Plan the next visits of finished pages by the present settings; returns how many plans changed."""
        ...

    def replan_polls(self, now: float) -> int:
        """The same for feeds, sitemaps and start pages."""
        ...

    def follow_anew(self, places: Sequence[tuple[int, int]], now: float) -> None:
        """Fetch pages again for their links; `places`: site and key of each."""
        ...

    def split_anew(self, now: float) -> None:
        """Apply new plans for split sites that nobody works on."""
        ...

    def admit(self, worker: str, found: Sequence[Discovered], at: Sequence[float], now: float) -> list[Lease]:
        """Queue URLs of which there are captures of these times, and lease the sites of those whose capture is newer
        than their last visit, ready, paused or not, with these URLs and no others. Raises `BusyError` if another worker
        has one of the sites."""
        ...

    def limit_pages(self, pages: int | None) -> None:
        """Fetch at most this many pages from now on, over all workers; None lifts the limit."""
        ...

    def page_limit_reached(self) -> bool:
        """Whether nothing more may be fetched."""
        ...
