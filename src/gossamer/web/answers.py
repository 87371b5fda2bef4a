"""What the API answers: the types are the documentation, the schemas are made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from gossamer.frontier.views.stories import Story
from gossamer.model.fields import FieldValue
from gossamer.model.moments import timestamp
from gossamer.model.site import site_of
from gossamer.search.results import (
    Alternate,
    Attempt,
    Facets,
    Factor,
    FieldFacet,
    Hit,
    IndexState,
    MoreFrom,
    Results,
    ScoreExplanation,
    ShardsAnswered,
    StoredPage,
)

Range = tuple[int, int]


class Highlights(Struct, frozen=True, gc=False):
    """Ranges of the text that match the query: start and end, in Unicode characters."""

    title: tuple[Range, ...]
    excerpt: tuple[Range, ...]


class ApiHit(Struct, frozen=True, kw_only=True, gc=False):
    """One result. Title and excerpt are plain text, never HTML."""

    url: str
    title: str
    excerpt: str
    score: float
    date: Annotated[str | None, Meta(description="Publication date, ISO 8601, as precise as known.")]
    lang: Annotated[str | None, Meta(description="Language, ISO 639-1.")]
    site: Annotated[str, Meta(description="Host of the page.")]
    type: Annotated[str, Meta(description="File type, such as html.")]
    page_type: Annotated[str | None, Meta(description="Page type, such as article, forum or listing.")]
    category: Annotated[str | None, Meta(description="Category, from the operator's rules or classifier.")]
    author: Annotated[str | None, Meta(description="Author, as stated by the page.")]
    fetched_at: Annotated[str | None, Meta(description="Time of the visit, RFC 3339, UTC.")]
    similar: Annotated[int, Meta(description="Number of near-duplicates collapsed under this result.")]
    highlights: Highlights
    alternates: Annotated[
        tuple[Alternate, ...], Meta(description="The same page in other languages, as far as it is in the index.")
    ] = ()
    recommended: Annotated[bool, Meta(description="True if a best bet of the search desk put the page first.")] = False
    fields: Annotated[
        dict[str, list[str | float | bool]],
        Meta(description="Values of your fields: texts, numbers, dates as ISO 8601, true or false."),
    ] = {}
    group: Annotated[
        str | None,
        Meta(description="The site, or part of a site, whose results are limited on a page; null if none is."),
    ] = None
    more_from: Annotated[
        MoreFrom | None,
        Meta(
            description="At the last result of a group on a page: its name, for the operator site:, and the number of "
            "its results that are not on this page."
        ),
    ] = None


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a search."""

    query: Annotated[str, Meta(description="The query as received.")]
    total: Annotated[int, Meta(description="Number of results. Near-duplicates count as one.")]
    estimated: Annotated[bool, Meta(description="True if total and facets are estimates, accurate to a few per cent.")]
    page: Annotated[int, Meta(description="Number of this page of results.")]
    pages: Annotated[int, Meta(description="Number of available pages of results.")]
    hits: Annotated[tuple[ApiHit, ...], Meta(description="The results, best first.")]
    facets: Annotated[Facets, Meta(description="Counts of results by site, language, year, page type and category.")]
    did_you_mean: Annotated[str | None, Meta(description="A similar query with more results.")]
    notices: Annotated[
        tuple[str, ...], Meta(description="Notes about the query, such as ignored words and the reason.")
    ]
    seconds: Annotated[float, Meta(description="Duration of the search.")]
    attempt: Annotated[
        Attempt | None,
        Meta(
            description="The query that was searched instead, because the query as typed finds nothing, or little. "
            "Null if the results are for the query as typed. The parameter literal=1 turns this off."
        ),
    ] = None
    reason: Annotated[str | None, Meta(description="Why there are no results; null if there are any.")] = None
    try_instead: Annotated[
        tuple[str, ...], Meta(description="Queries that find something, if this one finds nothing.")
    ] = ()
    fields: Annotated[
        tuple[FieldFacet, ...],
        Meta(
            description="Your fields, and how results spread over their values. Choose a value with fields=name:value."
        ),
    ] = ()
    grouped: Annotated[
        bool,
        Meta(description="True if each site, or part of a site, has a limit on a page. The parameter group=0 ends it."),
    ] = False
    incomplete: Annotated[bool, Meta(description="True if a shard did not answer.")] = False
    shards: Annotated[
        ShardsAnswered | None, Meta(description="Shards asked, shards that answered, and why the others did not.")
    ] = None


class SimilarAnswer(Struct, frozen=True):
    """The near-duplicates of a result."""

    url: str
    hits: Annotated[tuple[ApiHit, ...], Meta(description="The near-duplicates, best first.")]


class SuggestAnswer(Struct, frozen=True):
    """Completions of a query."""

    query: str
    suggestions: Annotated[tuple[str, ...], Meta(description="Complete queries, best first.")]


class PageAnswer(Struct, frozen=True, kw_only=True):
    """The stored text of a page."""

    url: str
    title: str
    text: Annotated[str, Meta(description="The main text, in the requested format.")]
    date: Annotated[str | None, Meta(description="Publication date, ISO 8601, as precise as known.")]
    lang: Annotated[str | None, Meta(description="Language, ISO 639-1.")]
    fetched_at: Annotated[str | None, Meta(description="Time of the visit, RFC 3339, UTC.")]


class ApiFieldValue(Struct, frozen=True):
    """A value of one of your fields."""

    name: str
    value: str | float | bool
    source: Annotated[str, Meta(description="Where the page states it, as in gossamer.toml.")]


class ExplainAnswer(Struct, frozen=True, kw_only=True):
    """Why a page has its score."""

    url: str
    matches: Annotated[bool, Meta(description="True if the page is among the results.")]
    score: float
    reason: Annotated[str, Meta(description="Why the page does not match; empty if it does.")]
    factors: Annotated[tuple[Factor, ...], Meta(description="The parts of the score. They add up to it.")]
    fields: Annotated[
        tuple[ApiFieldValue, ...], Meta(description="Values of your fields, and where the page states them.")
    ] = ()


class ApiStoryPage(Struct, frozen=True):
    """A page of a story."""

    url: str
    title: Annotated[str, Meta(description="Title; empty if the page is not in the index.")]
    site: str
    published: Annotated[str | None, Meta(description="Publication date, ISO 8601; null if unknown.")]
    seen_at: Annotated[str | None, Meta(description="When the crawl first saw it with this text, RFC 3339, UTC.")]


class StoryAnswer(Struct, frozen=True, kw_only=True):
    """Pages with almost the same text."""

    url: str
    total: Annotated[int, Meta(description="Number of pages, including the requested one.")]
    representative: Annotated[str, Meta(description="The page that represents them in results.")]
    reason: Annotated[str, Meta(description="Why that page represents them; empty if there is no other.")]
    pages: Annotated[tuple[ApiStoryPage, ...], Meta(description="The first hundred pages, earliest first.")]


class StatusAnswer(Struct, frozen=True, kw_only=True):
    """State of the index."""

    documents: Annotated[int, Meta(description="Number of searchable documents.")]
    segments: Annotated[int, Meta(description="Number of index segments.")]
    position: Annotated[int, Meta(description="Number of the last change of the crawl in the index.")]
    generation: Annotated[str, Meta(description="Name of this build of the index. A rebuild changes it.")]
    committed_at: Annotated[str | None, Meta(description="Time of the last commit, RFC 3339, UTC.")]


class ErrorAnswer(Struct, frozen=True):
    """An error."""

    error: Annotated[str, Meta(description="Description of the error, one sentence.")]


def hit_answer(hit: Hit) -> ApiHit:
    """One result for a program."""
    return ApiHit(
        url=hit.url, title=hit.title.text, excerpt=hit.excerpt.text, score=hit.score, date=hit.date, lang=hit.lang,
        site=hit.site, type=hit.type, page_type=hit.page_type or None, category=hit.category or None,
        author=hit.author or None, fetched_at=timestamp(hit.fetched_at) or None, similar=hit.similar,
        highlights=Highlights(hit.title.marks, hit.excerpt.marks), alternates=hit.alternates,
        recommended=hit.recommended, fields=_values(hit.fields), group=hit.group or None, more_from=hit.more_from,
    )  # fmt: skip


def search_answer(results: Results) -> SearchAnswer:
    """Results for a program."""
    return SearchAnswer(
        query=results.request.query, total=results.total, estimated=results.estimated, page=results.request.page,
        pages=results.pages,
        hits=tuple(hit_answer(hit) for hit in results.hits), facets=results.facets,
        did_you_mean=results.did_you_mean or None, notices=results.notices, seconds=results.seconds,
        incomplete=results.incomplete, shards=results.shards, attempt=results.attempt, reason=results.reason or None,
        try_instead=results.try_instead, fields=results.fields, grouped=results.grouped,
    )  # fmt: skip


def _values(found: Sequence[FieldValue]) -> dict[str, list[str | float | bool]]:
    values: dict[str, list[str | float | bool]] = {}
    for one in found:
        values.setdefault(one.name, []).append(one.plain)
    return values


def page_answer(page: StoredPage, markdown: str | None = None) -> PageAnswer:
    """A stored page for a program, with its text as Markdown if that is given."""
    text = page.text if markdown is None else markdown
    return PageAnswer(
        url=page.url, title=page.title, text=text, date=page.date, lang=page.lang,
        fetched_at=timestamp(page.fetched_at) or None,
    )  # fmt: skip


def explain_answer(why: ScoreExplanation) -> ExplainAnswer:
    """An explanation for a program."""
    return ExplainAnswer(
        url=why.url, matches=why.matches, score=why.score, reason=why.reason, factors=why.factors,
        fields=tuple(ApiFieldValue(one.name, one.plain, one.source) for one in why.fields),
    )  # fmt: skip


def status_answer(state: IndexState) -> StatusAnswer:
    """The state of the index for a program."""
    return StatusAnswer(
        documents=state.documents, segments=state.segments, position=state.position, generation=state.generation,
        committed_at=timestamp(state.committed_at) or None,
    )  # fmt: skip


def story_answer(url: str, story: Story, titles: Sequence[str]) -> StoryAnswer:
    """A story for a program."""
    cluster = story.cluster
    return StoryAnswer(
        url=url, total=cluster.pages, representative=cluster.representative, reason=cluster.reason,
        pages=tuple(
            ApiStoryPage(page.url, title, site_of(page.url), page.published or None, timestamp(page.seen_at) or None)
            for page, title in zip(story.pages, titles, strict=True)
        ),
    )  # fmt: skip
