"""Answers of the index, as a program gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from gossamer.api.moments import time_at
from gossamer.search import results as found
from gossamer.search.searcher import Searcher
from gossamer.search.shards.sharded import ShardedSearcher


class Factor(NamedTuple):
    """One part of a score."""

    name: str
    """What it is, such as `title: "rocket"`."""
    value: float
    detail: str


@dataclass(frozen=True)
class Result:
    """One result of a search."""

    url: str
    """In canonical form."""
    title: str
    """Its own title."""
    excerpt: str
    """The passage of its text that answers the query."""
    score: float
    """How well it answers the query; `why` has its parts."""
    site: str
    """Host, with the port if it is not the default one."""
    language: str
    """ISO 639-1, such as `en`."""
    date: str
    """When it was published: ISO 8601, as precise as it is known."""
    author: str
    """Who wrote it, as the page says."""
    type: str
    """Kind of page: `article`, `listing`, `forum`, …"""
    category: str
    """By your rules, your classifier or your hooks."""
    fetched_at: datetime
    """When the page was fetched."""
    similar: int
    """Near-duplicates that this result stands for."""
    marks: tuple[tuple[int, int], ...]
    """Where words of the query stand in `excerpt`: start and end in characters."""
    explained: Callable[[], tuple[Factor, ...]] = field(repr=False, compare=False)

    @cached_property
    def why(self) -> tuple[Factor, ...]:
        """Where the score comes from: the factors add up to it."""
        return self.explained()


@dataclass(frozen=True)
class Results:
    """The answer to a query: iterate it, or index it."""

    query: str
    """The query as you gave it."""
    total: int
    """Pages that match; near-duplicates count as one."""
    estimated: bool
    """Whether the total is an estimate."""
    results: tuple[Result, ...]
    """The results themselves."""
    notices: tuple[str, ...]
    """What the search did with the query, or why it finds nothing: sentences for a person."""
    did_you_mean: str
    """Another query that finds more; empty if there is none."""

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Result:
        return self.results[place]


def ask(searcher: Searcher | ShardedSearcher, request: found.Request) -> Results:
    """The results of a request."""
    answer = searcher.search(request)
    attempt = (answer.attempt.sentence,) if answer.attempt else ()
    return Results(
        query=request.query,
        total=answer.total,
        estimated=answer.estimated,
        results=tuple(_result(searcher, request, hit) for hit in answer.hits),
        notices=tuple(filter(None, (*answer.notices, *attempt, answer.reason))),
        did_you_mean=answer.did_you_mean,
    )


def _result(searcher: Searcher | ShardedSearcher, request: found.Request, hit: found.Hit) -> Result:
    def explained() -> tuple[Factor, ...]:
        said = searcher.explain(request, hit.url)
        return tuple(Factor(one.name, one.value, one.detail) for one in said.factors)

    return Result(
        url=hit.url,
        title=hit.title.text,
        excerpt=hit.excerpt.text,
        score=hit.score,
        site=hit.site,
        language=hit.lang or "",
        date=hit.date or "",
        author=hit.author,
        type=hit.page_type,
        category=hit.category,
        fetched_at=time_at(hit.fetched_at),
        similar=hit.similar,
        marks=hit.excerpt.marks,
        explained=explained,
    )
