"""What can happen to a URL: a closed set, and the consequences of each outcome.

The table is the policy. Code asks the table; it never compares status codes, and keeps no sets of outcomes of its own.
`COLUMNS` says what each column means. A visit has one outcome, and every outcome is counted once (`Count`), so that the
counts add up to the number of fetched URLs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import msgspec


class Outcome(Enum):
    """The outcome of a visit."""

    DOCUMENT = "document"
    NOT_MODIFIED = "not_modified"
    DUPLICATE = "duplicate"
    ALIAS = "alias"
    NOINDEX = "noindex"
    RESOURCE = "resource"
    REDIRECT = "redirect"
    BAD_REDIRECT = "bad_redirect"
    GONE = "gone"
    FORBIDDEN = "forbidden"
    CLIENT_ERROR = "client_error"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECT_FAILED = "connect_failed"
    DNS_FAILED = "dns_failed"
    TLS_FAILED = "tls_failed"
    BROKEN_RESPONSE = "broken_response"
    TOO_LARGE = "too_large"
    BOMB = "bomb"
    UNSUPPORTED_TYPE = "unsupported_type"
    PARSE_FAILED = "parse_failed"
    ADDRESS_REFUSED = "address_refused"
    ROBOTS_DENIED = "robots_denied"
    REFUSED = "refused"

    @property
    def meaning(self) -> Meaning:
        """The row of the table for this outcome."""
        return MEANING[self]


class Count(Enum):
    """How outcomes are counted; refused URLs were never requested."""

    KEPT = "kept"
    DUPLICATES = "duplicates"
    ALIASES = "aliases"
    NOINDEX = "noindex"
    REDIRECTS = "redirects"
    LISTS = "lists"
    UNREAD = "unread"
    ERRORS = "errors"
    REFUSED = "refused"


class Meaning(msgspec.Struct, frozen=True):
    """A row of the table: the consequences of an outcome."""

    sentence: str
    count: Count
    next: str
    """What the crawl does next, in a sentence or two."""
    advice: str
    """What an operator can do."""
    retry: bool = False
    patient: bool = False
    slow: bool = False
    unreached: bool = False
    page: bool = False
    copy: bool = False
    named: bool = False
    validated: bool = False
    gives: bool = False
    textless: bool = False
    forgets: bool = False
    unarchived: bool = False
    truncated: str = ""
    """Why the response ends early, in the word of the WARC format."""
    absent: str = ""
    """Why readers do not find the page, although its visit did not fail; `{}` is the URL that represents it."""

    @property
    def final(self) -> bool:  # noqa: D102 - COLUMNS describes these
        return not self.retry

    @property
    def error(self) -> bool:  # noqa: D102 - see COLUMNS
        return self.count is Count.ERRORS

    @property
    def refusal(self) -> bool:  # noqa: D102 - see COLUMNS
        return self.count is Count.REFUSED

    @property
    def original(self) -> bool:  # noqa: D102 - see COLUMNS
        return self.page and not self.copy

    @property
    def joined(self) -> bool:  # noqa: D102 - see COLUMNS
        return self.copy or self.named

    @property
    def leads_on(self) -> bool:  # noqa: D102 - see COLUMNS
        return self.page or self.named


COLUMNS: dict[str, str] = {
    "final": "The URL is done until its next visit is due or you ask for it again.",
    "retry": "Gossamer tries the URL again soon, a limited number of times (`budget.retries`).",
    "patient": "It gets more tries than other failures (`budget.patience`), because the server asks for time.",
    "slow": "The server is in trouble or tells us to go away, so the whole site waits.",
    "unreached": "No answer came from the server, or not in time.",
    "error": "It counts as an error.",
    "refusal": "A rule forbids the URL. Gossamer keeps nothing of it and plans no next visit.",
    "page": "It is a page that Gossamer has fetched and read, so its links are known.",
    "copy": "It is a page that another page represents, so it is not a document of its own.",
    "original": "It is a page that represents itself, so it has a rate of change of its own.",
    "named": "The site itself names the URL that represents this one. If this one is a start page, so is that one.",
    "joined": "Another URL represents this one: the site names it, or it has the same text.",
    "leads_on": "There is a page here or where this URL leads, so depths pass through it, and a canonical link may "
    "name it.",
    "validated": "The next request asks only for changes (ETag, Last-Modified). A copy must be sent again in full, in "
    "case the other page goes.",
    "gives": "The URL gives its standing (OPIC) to those it links to, before the check for copies.",
    "textless": "The URL has no text of its own, so its site differs from one that has a text there.",
    "forgets": "Gossamer does not store the text, even if it has read it.",
    "unarchived": "Gossamer does not store the raw response: it is cut off, of a type without a parser, or that of a "
    "copy, which is fetched again before it can become a document.",
}
"""What each yes-or-no column means."""

_O = Outcome
_RARELY = "The crawl looks again after `revisit.ceiling` (90 days)."
_LAST = f"After the last one, readers no longer find the page. {_RARELY}"
_TRIES = f"The URL gets `budget.retries` tries (3). {_LAST}"
_WAITS = f"The whole site waits, longer after each failure. {_TRIES}"
_WAITS_LONG = (
    "The whole site waits: as long as `Retry-After` says, and longer after each failure. The URL gets "
    f"`budget.patience` tries (10). {_LAST}"
)
_AGAIN = "then run `gossamer recrawl --failed`."

MEANING: dict[Outcome, Meaning] = {
    _O.DOCUMENT: Meaning(
        "fetched and kept", Count.KEPT,
        "Readers can find the page, and its links are followed. The crawl visits it again as often as it tends to "
        "change.",
        "`gossamer recrawl URL` fetches it now. `gossamer remove URL` takes it out.",
        page=True, validated=True, gives=True,
    ),
    _O.NOT_MODIFIED: Meaning(
        "unchanged since the last visit", Count.KEPT,
        "The stored page stays, and the crawl plans its next visit.",
        "You need not do anything. `gossamer history URL` lists the visits.",
    ),
    _O.DUPLICATE: Meaning(
        "same text as another page of the domain", Count.DUPLICATES,
        f"Readers find the other page. This one is fetched again when that one goes or changes its text. {_RARELY}",
        "`gossamer explain URL` names the other page. If a site has many such URLs, refuse them with `scope.filters`.",
        page=True, copy=True, textless=True, forgets=True, unarchived=True, absent="it has the same text as {}",
    ),
    _O.ALIAS: Meaning(
        "its canonical link names another URL, which represents it", Count.ALIASES,
        "Readers find the other page. This one is fetched again when that one fails or turns out to have another text. "
        f"{_RARELY}",
        "`gossamer explain URL` names the other page. If the canonical link is wrong, tell the site's owner.",
        page=True, copy=True, named=True, textless=True, forgets=True, unarchived=True,
        absent="it names {} as the page that represents it",
    ),
    _O.NOINDEX: Meaning(
        "fetched; the page asks not to be indexed", Count.NOINDEX,
        "Its links are followed, but readers do not find it. The crawl visits it again like any other page.",
        "Ask the site's owner to allow indexing, then run `gossamer recrawl URL`.",
        page=True, validated=True, gives=True, forgets=True,
        absent="the page itself asks not to be indexed (noindex)",
    ),
    _O.RESOURCE: Meaning(
        "a sitemap or feed, read for its links", Count.LISTS,
        "The URLs it names join the queue. The crawl polls it as often as it tends to have news (`[feeds]`).",
        "`gossamer feeds` shows its news. `--sitemaps no` reads no sitemaps.",
        validated=True, gives=True, absent="it is a sitemap or feed, which is read for its links and is not a page",
    ),
    _O.REDIRECT: Meaning(
        "points to another URL, which represents it", Count.REDIRECTS,
        f"The other URL joins the queue if the scope allows it. {_RARELY}",
        "`gossamer explain URL` names the other URL. If that is outside the crawl, make it a seed: "
        "`gossamer crawl TARGET`.",
        named=True, gives=True, textless=True, absent="it redirects to {}",
    ),
    _O.BAD_REDIRECT: Meaning(
        "redirects in a loop, too often, or to nowhere", Count.ERRORS,
        f"Nothing is fetched in its place. {_RARELY}",
        "`gossamer explain URL` shows where it leads. If the chain is only long, raise `crawl.max_redirects`.",
    ),
    _O.GONE: Meaning(
        "the server says there is no such page", Count.ERRORS,
        f"Readers no longer find the page. {_RARELY}",
        "If the page has moved, make its new address a seed: `gossamer crawl URL`.",
        textless=True,
    ),
    _O.FORBIDDEN: Meaning(
        "the server wants a login or refuses us", Count.ERRORS,
        f"Readers no longer find the page. {_RARELY}",
        "Put a login into `gossamer.toml` ([private networks](operate.md#private-networks)), or ask the site's owner "
        f"to let Gossamer in, {_AGAIN}",
    ),
    _O.CLIENT_ERROR: Meaning(
        "the server rejects the request", Count.ERRORS,
        f"Readers no longer find the page. {_RARELY}",
        "`gossamer explain URL` shows the status. If the port speaks https, crawl the https address.",
    ),
    _O.RATE_LIMITED: Meaning(
        "the server asks us to slow down", Count.ERRORS,
        _WAITS_LONG,
        "Slow the crawl down for good: `gossamer limit SITE --delay 5`.",
        retry=True, patient=True, slow=True,
    ),
    _O.UNAVAILABLE: Meaning(
        "the server is overloaded or in maintenance", Count.ERRORS,
        _WAITS_LONG,
        f"Give the server some time, {_AGAIN}",
        retry=True, patient=True, slow=True,
    ),
    _O.SERVER_ERROR: Meaning(
        "the server failed", Count.ERRORS,
        _WAITS,
        f"Give the server some time, {_AGAIN}",
        retry=True, slow=True,
    ),
    _O.TIMEOUT: Meaning(
        "the server took too long", Count.ERRORS,
        _WAITS,
        "Check that this machine reaches the server. If it is only slow, raise `fetch.connect_timeout`, "
        f"`fetch.idle_timeout` or `fetch.total_timeout`, {_AGAIN}",
        retry=True, slow=True, unreached=True, unarchived=True, truncated="time",
    ),
    _O.CONNECT_FAILED: Meaning(
        "no connection to the server", Count.ERRORS,
        _WAITS,
        f"Check the host, the port and whether the server is up, {_AGAIN}",
        retry=True, slow=True, unreached=True,
    ),
    _O.DNS_FAILED: Meaning(
        "the host name has no address", Count.ERRORS,
        _WAITS,
        f"Check the spelling of the name, or give its address with `--resolve HOST=IP`, {_AGAIN}",
        retry=True, slow=True, unreached=True,
    ),
    _O.TLS_FAILED: Meaning(
        "no secure connection to the server", Count.ERRORS,
        _WAITS,
        "If you trust the authority that signed the certificate, name its file in `fetch.ca_file`. If the port speaks "
        "plain http, crawl the http address.",
        retry=True, slow=True, unreached=True,
    ),
    _O.BROKEN_RESPONSE: Meaning(
        "the response is cut off or not HTTP", Count.ERRORS,
        f"Other URLs of the site do not wait for this one. {_TRIES}",
        f"Tell the site's owner that the server's answer is broken, {_AGAIN}",
        retry=True, unarchived=True, truncated="disconnect",
    ),
    _O.TOO_LARGE: Meaning(
        "longer than the size limit", Count.ERRORS,
        f"Nothing of the response is stored. {_RARELY}",
        f"Raise `fetch.max_bytes` (and `fetch.max_decoded`), {_AGAIN}",
        unarchived=True, truncated="length",
    ),
    _O.BOMB: Meaning(
        "unpacks to more than the limit", Count.ERRORS,
        f"Nothing of the response is stored. {_RARELY}",
        f"If the page is harmless and only large, raise `fetch.max_decoded`, or for an office document or a book "
        f"`parse.max_unpacked`, {_AGAIN}",
        unarchived=True, truncated="length",
    ),
    _O.UNSUPPORTED_TYPE: Meaning(
        "a type of document without a parser", Count.UNREAD,
        f"Nothing of the file is stored. {_RARELY}",
        "If its reason in `gossamer explain URL` names an extra such as `gossamer[pdf]`, install that and run "
        "`gossamer recrawl URL`.",
        unarchived=True, absent="Gossamer has no parser for its type",
    ),
    _O.PARSE_FAILED: Meaning(
        "the page could not be parsed within its limits", Count.ERRORS,
        f"The raw response is stored, but no text and no links. {_RARELY}",
        f"Raise `crawl.parse_timeout` or `crawl.parse_memory`, {_AGAIN}",
    ),
    _O.ADDRESS_REFUSED: Meaning(
        "the host's address may not be crawled", Count.ERRORS,
        "Nothing is requested. The next crawl tries the URL again if you change what it may reach. Otherwise it looks "
        "again after `revisit.ceiling` (90 days).",
        "If the network is yours, allow it: `gossamer crawl --allow-network 10.0.0.0/8`. If the reason asks how "
        "webmasters can reach you, set `crawl.contact`.",
    ),
    _O.ROBOTS_DENIED: Meaning(
        "robots.txt forbids it", Count.REFUSED,
        "Nothing is requested until you ask for the URL again.",
        "Ask the site's owner to allow Gossamer, then run `gossamer recrawl URL`.",
        forgets=True,
    ),
    _O.REFUSED: Meaning(
        "a rule of the crawl refuses it", Count.REFUSED,
        "Nothing is requested, or nothing of it is kept. Gossamer judges the URL again when you change the rules, or "
        "when a link leads to it that no rule refuses any more.",
        "`gossamer explain URL` names the rule.",
        forgets=True,
    ),
}  # fmt: skip


class Names(frozenset[str]):
    """The values of some outcomes, as tables and files hold them."""

    @property
    def listed(self) -> tuple[str, ...]:
        """In the order of the table."""
        return tuple(outcome.value for outcome in Outcome if outcome.value in self)

    @property
    def sql(self) -> str:
        """For the brackets of an IN."""
        return ", ".join(f"'{name}'" for name in self.listed)


def names(column: Callable[[Meaning], bool]) -> Names:
    """The values of the outcomes that a column holds for."""
    return Names(outcome.value for outcome, meaning in MEANING.items() if column(meaning))


RETRIED = names(lambda row: row.retry)
ERRORS = names(lambda row: row.error)
REFUSALS = names(lambda row: row.refusal)
PAGES = names(lambda row: row.page)
COPIES = names(lambda row: row.copy)
ORIGINALS = names(lambda row: row.original)
JOINED = names(lambda row: row.joined)
LEADING_ON = names(lambda row: row.leads_on)
VALIDATED = names(lambda row: row.validated)
TEXTLESS = names(lambda row: row.textless)

FOLLOWED = frozenset({301, 302, 303, 307, 308})
"""The statuses that redirect. 300 offers a choice, 305 asks for a proxy, 306 is unused: none is followed."""


def of_status(status: int) -> Outcome:
    """The outcome by HTTP status alone; type and content refine 2xx later."""
    if 200 <= status < 300:
        return Outcome.DOCUMENT
    if status == 304:
        return Outcome.NOT_MODIFIED
    if status in FOLLOWED:
        return Outcome.REDIRECT
    if 300 <= status < 400:
        return Outcome.BAD_REDIRECT
    if status in (404, 410):
        return Outcome.GONE
    if status in (401, 402, 403, 407, 451):
        return Outcome.FORBIDDEN
    if status == 429:
        return Outcome.RATE_LIMITED
    if status == 503:
        return Outcome.UNAVAILABLE
    if status == 408:
        return Outcome.TIMEOUT
    if 400 <= status < 500:
        return Outcome.CLIENT_ERROR
    if status >= 500:  # beyond 599 is no status, and means the same (RFC 9110, section 15)
        return Outcome.SERVER_ERROR
    return Outcome.BROKEN_RESPONSE
