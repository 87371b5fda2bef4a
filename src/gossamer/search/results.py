"""What goes into a search and what comes out: values only, shared by command line, API and page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Literal

import msgspec

from gossamer.model.fields import CustomFields, FieldType, FieldValue

Sort = str
"""`relevance`, `date`, or an own field: `price`, `-price`."""
Since = Literal["", "day", "week", "month", "year"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the searcher: the words typed, and what was chosen beside them."""

    query: str
    page: int = 1
    """Page of results, from 1; beyond the depth limit there are no hits, and a notice says so."""
    size: int = 10
    """Hits on a page, 1 to 100."""
    sort: Sort = "relevance"
    since: Since = ""
    """Only pages dated within the last day, week, month or year."""
    site: str = ""
    """Only pages of this host (and below), as chosen from a facet."""
    lang: str = ""
    """Only pages in this language (ISO 639-1), as chosen from a facet."""
    page_type: str = ""
    """Only pages of this type (`article`, `forum`, …), as chosen from a facet."""
    category: str = ""
    """Only pages of this category, as chosen from a facet."""
    collection: str = ""
    """Only pages of this collection of the search desk."""
    fields: str = ""
    """Only pages with these values of the operator's own fields, as in a query: `price:10..20 color:red`."""
    facets: bool = True
    """Whether to count sites, languages, dates, types and categories; costs time."""
    similar: bool = False
    """Whether near copies are shown instead of being collapsed under the best of them."""
    ranking: str = ""
    """Name of a ranking; empty: the one of the settings."""
    literal: bool = False
    """Whether only the query as typed is searched: no other spelling, no other form of a phrase, no fewer words."""
    wider: bool = False
    """Whether phrases match other forms of their words, and compounds match when written apart or together; set by the
    searcher itself where the query as typed finds little."""
    group: bool = True
    """Whether a page has at most a few results of one site, or part of a site, if the answer spans many."""
    trial: int = 0
    """Not 0: the order with clicks of readers and the one without them are compared, with these coins."""


class Marked(msgspec.Struct, frozen=True, gc=False):
    """Plain text (never HTML) and the ranges of it that answer the query: start and end in characters, in order,
    not overlapping."""

    text: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with whether it is marked; together they are the text."""
        at = 0
        for start, end in self.marks:
            if start > at:
                yield self.text[at:start], False
            yield self.text[start:end], True
            at = end
        if at < len(self.text):
            yield self.text[at:], False

    def html(self) -> str:
        """Escaped HTML with `<mark>` around the ranges."""
        return "".join(f"<mark>{escape(piece)}</mark>" if hit else escape(piece) for piece, hit in self.pieces())


class Alternate(msgspec.Struct, frozen=True, gc=False):
    """The same page in another language."""

    lang: str
    """As the page says: ISO 639-1, maybe with a region or script, lower case."""
    url: str


class MoreFrom(msgspec.Struct, frozen=True, gc=False):
    """The other results of a site, or part of one, that has as many on a page as it may."""

    site: str
    """As `site:` names it."""
    count: int


class Hit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One result."""

    url: str
    title: Marked
    excerpt: Marked
    score: float
    site: str
    date: str | None = None
    """Publication date, ISO 8601 as precise as it is known."""
    lang: str | None = None
    fetched_at: float = 0.0
    """When the page was fetched, seconds since 1970."""
    type: str = "html"
    page_type: str = ""
    category: str = ""
    author: str = ""
    similar: int = 0
    """Near copies of this page among the results that are collapsed under it."""
    alternates: tuple[Alternate, ...] = ()
    """The page in other languages, as far as they are in the index."""
    recommended: bool = False
    """Whether a best bet of the search desk put it first."""
    group: str = ""
    """The site, or part of one, that it was counted for, as `site:` names it; empty where there is no limit."""
    follows: bool = False
    """Whether the result before it is of the same group."""
    more_from: MoreFrom | None = None
    """At the last result of a group on a page, if the group has more."""
    team: Literal["", "with", "without"] = ""
    """In a trial: the order, with clicks of readers or without them, that brought it to its place."""
    fields: tuple[FieldValue, ...] = ()
    """Values of the operator's own fields."""


class Count(msgspec.Struct, frozen=True, gc=False):
    """One value of a facet and how many results have it."""

    value: str
    count: int


class Facets(msgspec.Struct, frozen=True):
    """Counts of results by value."""

    sites: tuple[Count, ...] = ()
    """Most frequent first."""
    languages: tuple[Count, ...] = ()
    years: tuple[Count, ...] = ()
    """Date histogram: a year each, in order of time."""
    page_types: tuple[Count, ...] = ()
    categories: tuple[Count, ...] = ()


class FieldCount(msgspec.Struct, frozen=True):
    """A value or range of an own field and how many results have it."""

    value: str
    """As a query names it."""
    label: str
    """For people."""
    count: int


class FieldFacet(msgspec.Struct, frozen=True):
    """A field of the operator's own, and how results spread over its values."""

    name: str
    title: str
    type: FieldType
    sort: bool
    """Whether results can be ordered by it."""
    values: tuple[FieldCount, ...] = ()
    """None where results are not counted by it."""


class ShardsAnswered(msgspec.Struct, frozen=True):
    """How many shards answered."""

    asked: int
    answered: int
    problems: tuple[str, ...] = ()
    """Why the others did not, a sentence each."""

    @property
    def notice(self) -> str:
        """A sentence for the reader where some are missing."""
        missing = self.asked - self.answered
        if not missing:
            return ""
        verb = "does" if missing == 1 else "do"
        return f"{missing} of {self.asked} shards {verb} not answer: results may be incomplete."


class Attempt(msgspec.Struct, frozen=True):
    """Another query that was searched, because the one that was typed finds nothing, or little."""

    query: str
    """What was searched, in the query language."""
    sentence: str
    """What the reader is told: why, and what the results are for."""
    adds: bool = False
    """Whether the results of the query as typed are among these: there are few of them."""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a `Request`."""

    request: Request
    total: int
    """Pages that match; near copies count as one."""
    hits: tuple[Hit, ...]
    pages: int
    """Pages of results that can be asked for."""
    estimated: bool = False
    """Whether the total and the facets are estimates, within some per cent."""
    facets: Facets = Facets()
    fields: tuple[FieldFacet, ...] = ()
    """The operator's own fields."""
    did_you_mean: str = ""
    """Another query that finds more; empty where there is none."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader: words left out, relaxed, too deep."""
    seconds: float = 0.0
    remembered: bool = False
    """Whether it was worked out for an earlier request."""
    shards: ShardsAnswered | None = None
    """Who took part, where the index is divided."""
    attempt: Attempt | None = None
    """The other query that the results are for; None where they are for the query as typed."""
    reason: str = ""
    """Why there are no results; empty where there are any."""
    try_instead: tuple[str, ...] = ()
    """Queries that find something, where this one finds nothing."""
    grouped: bool = False
    """Whether each group had at most a few results on the page."""

    @property
    def in_vain(self) -> bool:
        """Whether the query as typed found nothing, though every part of the index was asked."""
        return not self.incomplete and (not self.total or (self.attempt is not None and not self.attempt.adds))

    @property
    def incomplete(self) -> bool:
        """Whether a part of the index did not answer."""
        return self.shards is not None and self.shards.answered < self.shards.asked


class StoredPage(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a page as it was when it was fetched."""

    url: str
    title: str
    text: str
    fetched_at: float
    date: str | None = None
    lang: str | None = None
    fields: tuple[FieldValue, ...] = ()
    """Values of the operator's own fields."""


class Factor(msgspec.Struct, frozen=True):
    """One part of a score."""

    name: str
    """What it is, such as `title: "rocket"` or `prior: url depth`."""
    value: float
    detail: str = ""


class ScoreExplanation(msgspec.Struct, frozen=True):
    """Why a page has its score. The factors add up to it."""

    url: str
    matches: bool
    score: float
    factors: tuple[Factor, ...] = ()
    reason: str = ""
    """Why it does not match, where it does not."""
    fields: tuple[FieldValue, ...] = ()
    """Values of the operator's own fields that the page has, and where they were found."""


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    """How the index stands."""

    documents: int
    segments: int
    position: int
    """Last change of the frontier database that the index holds."""
    committed_at: float
    generation: str
    fields: CustomFields = ()
    """The operator's own."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What can be searched, for somebody who has not asked anything yet."""

    sites: tuple[Count, ...] = ()
    """The sites with most pages, and how many pages each has."""
    known_sites: int = 0
    """How many sites there are, or at least."""
    has_more_sites: bool = False
    """Whether there are more than that."""
    fetched_at: float = 0.0
    """When the newest page was fetched, seconds since 1970; 0 where there is none."""
    examples: tuple[str, ...] = ()
    """Queries that have results."""
