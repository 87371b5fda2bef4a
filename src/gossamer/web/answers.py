"""What the API answers: the types are the documentation, the schemas are made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from gossamer.frontier.views.stories import Story
from gossamer.model.moments import timestamp
from gossamer.model.site import site_of
from gossamer.search.results import (
    Facets,
    Factor,
    Hit,
    IndexState,
    Results,
    ScoreExplanation,
    ShardsAnswered,
    StoredPage,
)

Range = tuple[int, int]


class Highlights(Struct, frozen=True):
    """The ranges that answer the query: start and end, in Unicode characters."""

    title: tuple[Range, ...]
    excerpt: tuple[Range, ...]


class ApiHit(Struct, frozen=True, kw_only=True):
    """One result. Title and excerpt are plain text, never HTML."""

    url: str
    title: str
    excerpt: str
    score: float
    date: Annotated[str | None, Meta(description="Publication date, ISO 8601, as precise as it is known.")]
    lang: Annotated[str | None, Meta(description="Language, ISO 639-1.")]
    site: Annotated[str, Meta(description="Its host.")]
    type: Annotated[str, Meta(description="Kind of document, such as html.")]
    page_type: Annotated[str | None, Meta(description="What kind of page it is, such as article, forum or listing.")]
    category: Annotated[str | None, Meta(description="Its category, by the operator's rules or classifier.")]
    author: Annotated[str | None, Meta(description="Who wrote it, as the page says.")]
    fetched_at: Annotated[str | None, Meta(description="When it was fetched, RFC 3339, UTC.")]
    similar: Annotated[int, Meta(description="Near copies that are collapsed under it.")]
    highlights: Highlights


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a search."""

    query: Annotated[str, Meta(description="The query, as it was understood to be given.")]
    total: Annotated[int, Meta(description="Results; near copies of each other count as one.")]
    estimated: Annotated[bool, Meta(description="Whether total and facets are estimates, within some per cent.")]
    page: Annotated[int, Meta(description="The page of results this is.")]
    pages: Annotated[int, Meta(description="Pages of results that can be asked for.")]
    hits: Annotated[tuple[ApiHit, ...], Meta(description="The results, best first.")]
    facets: Annotated[Facets, Meta(description="How the results spread.")]
    did_you_mean: Annotated[str | None, Meta(description="Another query that finds more.")]
    notices: Annotated[tuple[str, ...], Meta(description="Sentences about the query: what was left out, and why.")]
    seconds: Annotated[float, Meta(description="Time the search took.")]
    incomplete: Annotated[bool, Meta(description="Whether a part of a divided index did not answer.")] = False
    shards: Annotated[
        ShardsAnswered | None, Meta(description="Parts of a divided index: asked, answered, and why others did not.")
    ] = None


class SimilarAnswer(Struct, frozen=True):
    """The near copies of a result."""

    url: str
    hits: Annotated[tuple[ApiHit, ...], Meta(description="Its near copies, best first.")]


class SuggestAnswer(Struct, frozen=True):
    """How queries go on."""

    query: str
    suggestions: Annotated[tuple[str, ...], Meta(description="Whole queries, best first.")]


class PageAnswer(Struct, frozen=True, kw_only=True):
    """The stored text of a page."""

    url: str
    title: str
    text: str
    date: Annotated[str | None, Meta(description="Publication date, ISO 8601, as precise as it is known.")]
    lang: Annotated[str | None, Meta(description="Language, ISO 639-1.")]
    fetched_at: Annotated[str | None, Meta(description="When it was fetched, RFC 3339, UTC.")]


class ExplainAnswer(Struct, frozen=True, kw_only=True):
    """Why a page has its score: the factors add up to it."""

    url: str
    matches: Annotated[bool, Meta(description="Whether it is among the results.")]
    score: float
    reason: Annotated[str, Meta(description="Why it does not match, where it does not.")]
    factors: Annotated[tuple[Factor, ...], Meta(description="What the score is the sum of.")]


class ApiStoryPage(Struct, frozen=True):
    """A page of a story."""

    url: str
    title: Annotated[str, Meta(description="Its title; empty where it is not in the index.")]
    site: str
    published: Annotated[str | None, Meta(description="Publication date, ISO 8601; null where none is believed.")]
    seen_at: Annotated[str | None, Meta(description="When the crawl first saw it with this text, RFC 3339, UTC.")]


class StoryAnswer(Struct, frozen=True, kw_only=True):
    """The pages that have nearly the same text."""

    url: str
    total: Annotated[int, Meta(description="How many there are, this one included.")]
    representative: Annotated[str, Meta(description="The page that stands for them in results.")]
    reason: Annotated[str, Meta(description="Why that one; empty where there is no other.")]
    pages: Annotated[tuple[ApiStoryPage, ...], Meta(description="The first hundred, the earliest first.")]


class StatusAnswer(Struct, frozen=True, kw_only=True):
    """How the index stands."""

    documents: Annotated[int, Meta(description="Pages that can be found.")]
    segments: Annotated[int, Meta(description="Parts the index has.")]
    position: Annotated[int, Meta(description="Last change of the crawl that the index holds.")]
    generation: Annotated[str, Meta(description="Changes when the index is rebuilt.")]
    committed_at: Annotated[str | None, Meta(description="When pages were added last, RFC 3339, UTC.")]


class ErrorAnswer(Struct, frozen=True):
    """Why there is no answer."""

    error: Annotated[str, Meta(description="A sentence for a person.")]


def hit_answer(hit: Hit) -> ApiHit:
    """One result for a program."""
    return ApiHit(
        url=hit.url, title=hit.title.text, excerpt=hit.excerpt.text, score=hit.score, date=hit.date, lang=hit.lang,
        site=hit.site, type=hit.type, page_type=hit.page_type or None, category=hit.category or None,
        author=hit.author or None, fetched_at=timestamp(hit.fetched_at) or None, similar=hit.similar,
        highlights=Highlights(hit.title.marks, hit.excerpt.marks),
    )  # fmt: skip


def search_answer(results: Results) -> SearchAnswer:
    """Results for a program."""
    return SearchAnswer(
        query=results.request.query, total=results.total, estimated=results.estimated, page=results.request.page,
        pages=results.pages,
        hits=tuple(hit_answer(hit) for hit in results.hits), facets=results.facets,
        did_you_mean=results.did_you_mean or None, notices=results.notices, seconds=results.seconds,
        incomplete=results.incomplete, shards=results.shards,
    )  # fmt: skip


def page_answer(page: StoredPage) -> PageAnswer:
    """A stored page for a program."""
    return PageAnswer(
        url=page.url, title=page.title, text=page.text, date=page.date, lang=page.lang,
        fetched_at=timestamp(page.fetched_at) or None,
    )  # fmt: skip


def explain_answer(why: ScoreExplanation) -> ExplainAnswer:
    """An explanation for a program."""
    return ExplainAnswer(
        url=why.url, matches=why.matches, score=why.score, reason=why.reason, factors=why.factors,
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
