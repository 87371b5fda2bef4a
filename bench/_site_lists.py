"""Whether search shows the article that was asked for, or a list that names it.

The queries are titles of articles. Tag pages, categories and archives have the same title among fifty others, and a
reader who asked for an article wants none of them first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from _site_table import Site
from _site_truth import Article

_WORD = re.compile(r"\w+")
FIRST = 10
"""Hits that are looked at."""

Search = Callable[[str, int], list[str]]
"""Query and number of hits → paths of the hits."""


class ListHits(msgspec.Struct, frozen=True):
    """Lists among the hits of title queries, as shares of the queries."""

    queries: int = 0
    first: float = 0.0
    """The first hit is a list."""
    before: float = 0.0
    """A list is before the article, or the first ten hits have lists and not the article."""
    found: float = 0.0
    """The article is the first hit."""


def ask_titles(site: Site, articles: Sequence[Article], search: Search) -> ListHits:
    """Asks for each article by its title."""
    first = before = found = 0
    for article in articles:
        hits = search(" ".join(_WORD.findall(article.title)), FIRST)
        ahead = hits[: hits.index(article.path)] if article.path in hits else hits
        first += bool(hits) and site.kind(hits[0]) == "list"
        before += any(site.kind(path) == "list" for path in ahead)
        found += bool(hits) and hits[0] == article.path
    count = max(len(articles), 1)
    return ListHits(len(articles), first / count, before / count, found / count)
