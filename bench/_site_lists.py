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
    """Lists among the hits of title queries."""

    queries: int = 0
    among: float = 0.0
    """Share of lists among the first ten hits of all queries."""
    first: float = 0.0
    """Share of the queries whose first hit is a list."""
    before: float = 0.0
    """Share with a list before the article, or with lists and without the article among the first ten hits."""
    found: float = 0.0
    """Share whose first hit is the article."""


def ask_titles(site: Site, articles: Sequence[Article], search: Search) -> ListHits:
    """Asks for each article by its title."""
    hits_of_all = lists = first = before = found = 0
    for article in articles:
        hits = search(" ".join(_WORD.findall(article.title)), FIRST)
        is_list = [site.kind(path) == "list" for path in hits]
        place = hits.index(article.path) if article.path in hits else len(hits)
        hits_of_all += len(hits)
        lists += sum(is_list)
        first += any(is_list[:1])
        before += any(is_list[:place])
        found += hits[:1] == [article.path]
    count = max(len(articles), 1)
    return ListHits(len(articles), lists / max(hits_of_all, 1), first / count, before / count, found / count)
