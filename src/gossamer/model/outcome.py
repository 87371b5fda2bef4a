"""What can happen to a URL: a closed set, and what each outcome means.

The table is the policy. Code asks the table; it never compares status codes.

- *final*: the URL is done until somebody asks for it again.
- *retry*: the URL is tried again later, a limited number of times.
- *slow*: the site is in trouble or tells us to go away, so the whole site waits.
- *error*: counted as an error in `status`.

Every outcome belongs to one `Count`, so that what was fetched is the sum of what it came to.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Meaning(NamedTuple):
    """The consequences of an outcome."""

    final: bool
    retry: bool
    slow: bool
    error: bool
    sentence: str


class Outcome(Enum):
    """What happened to a URL that was taken from the frontier."""

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


_O = Outcome
_DONE, _AGAIN = (True, False), (False, True)

MEANING: dict[Outcome, Meaning] = {
    #                             final/retry  slow   error
    _O.DOCUMENT: Meaning(*_DONE, False, False, "fetched and kept"),
    _O.NOT_MODIFIED: Meaning(*_DONE, False, False, "unchanged since the last visit"),
    _O.DUPLICATE: Meaning(*_DONE, False, False, "same text as another page of the domain"),
    _O.ALIAS: Meaning(*_DONE, False, False, "its canonical link names another URL, which stands for it"),
    _O.NOINDEX: Meaning(*_DONE, False, False, "fetched; the page asks not to be indexed"),
    _O.RESOURCE: Meaning(*_DONE, False, False, "a sitemap or feed, read for its links"),
    _O.REDIRECT: Meaning(*_DONE, False, False, "points to another URL, which stands for it"),
    _O.BAD_REDIRECT: Meaning(*_DONE, False, True, "redirects in a loop, too often, or to nowhere"),
    _O.GONE: Meaning(*_DONE, False, True, "the server says there is no such page"),
    _O.FORBIDDEN: Meaning(*_DONE, False, True, "the server wants a login or refuses us"),
    _O.CLIENT_ERROR: Meaning(*_DONE, False, True, "the server rejects the request"),
    _O.RATE_LIMITED: Meaning(*_AGAIN, True, True, "the server asks us to slow down"),
    _O.UNAVAILABLE: Meaning(*_AGAIN, True, True, "the server is overloaded or in maintenance"),
    _O.SERVER_ERROR: Meaning(*_AGAIN, True, True, "the server failed"),
    _O.TIMEOUT: Meaning(*_AGAIN, True, True, "the server took too long"),
    _O.CONNECT_FAILED: Meaning(*_AGAIN, True, True, "no connection to the server"),
    _O.DNS_FAILED: Meaning(*_AGAIN, True, True, "the host name has no address"),
    _O.TLS_FAILED: Meaning(*_AGAIN, True, True, "no secure connection to the server"),
    _O.BROKEN_RESPONSE: Meaning(*_AGAIN, False, True, "the response is cut off or not HTTP"),
    _O.TOO_LARGE: Meaning(*_DONE, False, True, "longer than the size limit"),
    _O.BOMB: Meaning(*_DONE, False, True, "unpacks to more than the limit"),
    _O.UNSUPPORTED_TYPE: Meaning(*_DONE, False, False, "not a kind of document we read"),
    _O.PARSE_FAILED: Meaning(*_DONE, False, True, "the page could not be parsed within its limits"),
    _O.ADDRESS_REFUSED: Meaning(*_DONE, False, True, "the host's address may not be crawled"),
    _O.ROBOTS_DENIED: Meaning(*_DONE, False, False, "robots.txt forbids it"),
    _O.REFUSED: Meaning(*_DONE, False, False, "a rule of the crawl refuses it"),
}


FOLLOWED = frozenset({301, 302, 303, 307, 308})
"""The statuses that redirect. 300 offers a choice, 305 asks for a proxy, 306 is unused: none is followed."""


class Count(Enum):
    """What the URLs that were tried are added up as; the last of them were never asked for."""

    KEPT = "kept"
    DUPLICATES = "duplicates"
    ALIASES = "aliases"
    NOINDEX = "noindex"
    REDIRECTS = "redirects"
    LISTS = "lists"
    UNREAD = "unread"
    ERRORS = "errors"
    REFUSED = "refused"


_COUNTS: dict[Outcome, Count] = {
    _O.DOCUMENT: Count.KEPT,
    _O.NOT_MODIFIED: Count.KEPT,
    _O.DUPLICATE: Count.DUPLICATES,
    _O.ALIAS: Count.ALIASES,
    _O.NOINDEX: Count.NOINDEX,
    _O.RESOURCE: Count.LISTS,
    _O.REDIRECT: Count.REDIRECTS,
    _O.UNSUPPORTED_TYPE: Count.UNREAD,
    _O.ROBOTS_DENIED: Count.REFUSED,
    _O.REFUSED: Count.REFUSED,
}


def count_of(outcome: Outcome) -> Count:
    """Where a URL with this outcome is counted."""
    return Count.ERRORS if outcome.meaning.error else _COUNTS[outcome]


def of_status(status: int) -> Outcome:
    """What an HTTP status alone says; 2xx is refined later by type and content."""
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
    if status >= 500:  # what lies beyond 599 is no status, and means the same (RFC 9110, section 15)
        return Outcome.SERVER_ERROR
    return Outcome.BROKEN_RESPONSE
