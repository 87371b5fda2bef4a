"""The records that stages hand to each other.

Each belongs to the stage that makes it. The worker completes some of them before it commits them (the row of a visit,
the outcome of a response that is kept as it was); after the commit nobody changes them. They are msgspec structs
because some of them cross process borders thousands of times a second.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from gossamer.model.decision import Decision
from gossamer.model.fields import FieldValue
from gossamer.model.outcome import Outcome

LEVELS = 32
"""Priority levels; 0 is fetched first (S3.8). Pages to be visited again wait in as many levels of their own,
`LEVELS` further down, and have a share of the requests."""


class Kind(Enum):
    """What a URL is fetched for."""

    PAGE = "page"
    SITEMAP = "sitemap"
    FEED = "feed"


class Via(Enum):
    """How a URL was found."""

    SEED = "seed"
    LINK = "link"
    SITEMAP = "sitemap"
    FEED = "feed"
    REDIRECT = "redirect"
    CANONICAL = "canonical"
    REFRESH = "refresh"
    ROBOTS = "robots"
    ARCHIVE = "archive"


class Discovered(msgspec.Struct, frozen=True, gc=False):
    """discover, parse → frontier: a URL somebody pointed at, in canonical form."""

    url: str
    via: Via = Via.LINK
    kind: Kind = Kind.PAGE
    depth: int = 0
    """Links followed from the nearest seed; a redirect or canonical link does not count."""
    hops: int = 0
    """Redirects in a row that led here."""
    referrer: str = ""
    refusal: Decision | None = None
    """Set where a rule refused the URL: it is remembered, not queued."""
    hint: float | None = None
    """The webmaster's priority of 0…1, where a sitemap gave one."""
    announced_at: float | None = None
    """When a feed or a news sitemap says that it was published, where it was news to us."""


class Task(msgspec.Struct, frozen=True, gc=False):
    """frontier → worker: fetch this URL."""

    url: str
    key: int
    kind: Kind
    level: int
    seq: int
    """Place in the FIFO of its level."""
    depth: int
    hops: int
    attempts: int
    """Failed tries so far."""
    keep_alias: bool = False
    """Its canonical link led nowhere: keep the page itself this time."""
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    """The text hash of the stored version, `""` where there is none."""
    previous: str = ""
    """The outcome of the last visit, `""` before the first."""
    lowered: int = 0
    """Levels by which it waited lower, because pages of its shape were copies."""
    fit: bool = False
    """Whether it fitted a document rule when it was found."""
    hub: bool = False
    """Whether it is polled like a feed."""
    checked_at: float = 0.0
    """When its content was last known for sure, 0 before the first visit."""
    change: tuple[float, float] = (0.0, 0.0)
    """What visits have taught about its rate of change (`revisit.change`)."""
    bucket: int | None = None
    """Class of its rate of change (`revisit.rates`), None before the first visit."""
    clicks: int = 0
    """Clicks on it among search results."""
    announced_at: float = 0.0
    """When a feed said that it was published, 0 where none did."""


class Response(msgspec.Struct):
    """fetch → worker: what came back for one request, or why nothing did."""

    url: str
    outcome: Outcome
    """By status and transport alone; parse and dedup refine DOCUMENT."""
    started_at: float
    answered_at: float
    """When the response's head arrived, or the attempt was given up: the server saw the
    request no later than this, so politeness counts from here."""
    finished_at: float
    status: int = 0
    reason: str = ""
    """One sentence where the outcome is not a plain success."""
    headers: list[tuple[str, str]] = []
    wire_body: bytes = b""
    """The body as it was transferred, for the archive."""
    body: bytes = b""
    """The body with its content encoding undone."""
    address: str = ""
    location: str = ""
    """The unresolved target of a redirect."""
    retry_after: float | None = None
    """Seconds the server asked us to wait."""
    request_headers: list[tuple[str, str]] = []
    http_version: str = "1.1"

    def header(self, name: str) -> str:
        """The first value of a header, any case; `""` where there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    def headers_named(self, name: str) -> list[str]:
        """All values of a header, any case."""
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link of a page, its target in canonical form."""

    url: str
    anchor: str = ""
    rel: str = ""
    """The rel words, lower case, separated by a space."""
    tag: str = "a"
    """Where it stood: a, area, iframe, frame, link, meta."""


class ParseJob(msgspec.Struct, frozen=True):
    """worker → parser: a body to understand."""

    url: str
    kind: Kind
    content_type: str
    body: bytes
    robots_headers: list[str] = []
    """Values of X-Robots-Tag."""
    link_headers: list[str] = []
    """Values of Link (canonical, next)."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a sitemap or feed names, its URL in canonical form."""

    url: str
    published_at: float | None = None
    priority: float | None = None
    """The webmaster's, 0…1."""


class Parsed(msgspec.Struct):
    """parser → worker: what a body says. Strings hold no control characters."""

    url: str
    ok: bool = True
    problem: str = ""
    """Why `ok` is false, or why nothing that a feed or sitemap names can be fetched."""
    unsupported: bool = False
    """The body is of a type no parser reads."""
    bomb: bool = False
    """The body is a document that is built to exhaust its parser."""
    media_type: str = ""
    charset: str = ""
    title: str = ""
    description: str = ""
    headings: list[str] = []
    text: str = ""
    method: str = ""
    """Which extractor cut the text out."""
    language: str = ""
    """ISO 639-1, from text, script and claim; `""` where it cannot be told."""
    claimed_language: str = ""
    date: str = ""
    """Publication date as ISO 8601, `""` where none was found."""
    date_source: str = ""
    date_confidence: float = 0.0
    """0…1: how often dates of that source are the day of publication."""
    updated: str = ""
    """Date of the last change the page states, as ISO 8601."""
    updated_source: str = ""
    updated_confidence: float = 0.0
    author: str = ""
    site_name: str = ""
    image: str = ""
    """The page's leading picture, canonical form."""
    page_type: str = ""
    """What kind of page it is (`article`, `listing`, `forum`, …), `""` where nobody is sure."""
    category: str = ""
    """By the operator's rules or classifier, `""` where there is none."""
    category_source: str = ""
    """`rule` or the classifier's name."""
    fields: list[FieldValue] = []
    """Values of the operator's own fields."""
    canonical: str = ""
    """Target of rel=canonical, canonical form."""
    refresh: str = ""
    """Target of a meta refresh or of a script that acts as a redirect, canonical form."""
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    ai_signals: list[str] = []
    """AI-use wishes found on the page (noai, noimageai, tdm-reservation …), recorded only."""
    links: list[Link] = []
    """All http(s) links, also outside the scope."""
    alternates: list[tuple[str, str]] = []
    """hreflang, URL."""
    feeds: list[str] = []
    content_hash: str = ""
    """Hash of the normalised text; `""` where there is no text to compare."""
    simhash: int = 0
    fingerprint: bytes = b""
    """By the method that tells near duplicates online (`dedup.near`); empty where the text is too short."""
    near_keys: list[int] = []
    """The fingerprint's lookup keys: near duplicates very likely share one."""
    follow: list[str] = []
    """Targets worth adding to the frontier: followed, allowed by the scope, each once."""
    follow_keys: bytes = b""
    """`model.site.key64` of each of them, 8 bytes each, worked out where there is a core to spare."""
    refused: list[tuple[str, str, str]] = []
    """Targets on known hosts that a rule refused: URL, rule, reason."""
    entries: list[Entry] = []
    """Of a sitemap or feed."""
    push: tuple[str, str] = ("", "")
    """Of a feed: its hub, and what the hub calls it."""
    nested: list[str] = []
    """Of a sitemap index: further sitemaps."""
    sketch: bytes = b""
    """What the page shows of its site (`site.sketch`), encoded."""
    site_version: int = 0
    """The version of what was known of its site."""
    has_cut: bool = False
    """Whether something was left out of its text that its site repeats."""
    judged: bytes = b""
    """What was decided by what is known of its site (`site.judgement`), encoded."""


class PageRow(msgspec.Struct):
    """worker → segment: one row of `pages`, one visit to one URL."""

    url: str
    site: str
    domain: str
    fetched_at: float
    outcome: str
    status: int
    reason: str = ""
    depth: int = 0
    media_type: str = ""
    charset: str = ""
    title: str | None = None
    description: str | None = None
    headings: list[str] | None = None
    text: str | None = None
    method: str | None = None
    lang: str | None = None
    claimed_lang: str | None = None
    date: str | None = None
    date_source: str | None = None
    date_confidence: float | None = None
    updated: str | None = None
    updated_source: str | None = None
    updated_confidence: float | None = None
    author: str | None = None
    site_name: str | None = None
    image: str | None = None
    page_type: str | None = None
    category: str | None = None
    category_source: str | None = None
    canonical: str | None = None
    alternates: list[str] | None = None
    """The page in other languages: hreflang, a space, URL."""
    target: str | None = None
    """Where a redirect, alias or duplicate points."""
    content_hash: str | None = None
    simhash: int | None = None
    cluster: int | None = None
    """The near-duplicate cluster of a document; alone in it, where it has no like."""
    joined: bool | None = None
    """Whether others had founded the cluster before."""
    etag: str | None = None
    last_modified: str | None = None
    size: int = 0
    links: int = 0
    duration: float = 0.0
    address: str = ""
    ai_signals: list[str] | None = None
    worker: str = ""
    warc_offset: int | None = None
    """Where the raw response starts in the segment's WARC file."""
    warc_length: int | None = None
    judged: bytes | None = None
    """What was decided by what was known of its site (`site.judgement`), encoded."""
    new: bool | None = None
    """Whether it was no document before this visit."""
    fields: list[str] | None = None
    """Values of the operator's own fields: name, type, value (`model.fields`)."""
    field_sources: list[str] | None = None
    """Where each of them was found."""
