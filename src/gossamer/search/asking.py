"""The two plain questions to an index: the best pages of a query, and how a query may go on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import tantivy

from gossamer.index import schema
from gossamer.search.custom.orders import Order
from gossamer.search.ordering import Candidate
from gossamer.search.view import View, count_of


def ask_index(view: View, query: tantivy.Query, limit: int, order: Order | None = None) -> tuple[int, list[Candidate]]:
    """How many pages match, and the best of them."""
    if order is not None:
        result = view.searcher.search(query, limit, order_by_field=order.column, order=order.first)
        return count_of(result), [(0.0, address) for _, address in result.hits]
    result = view.searcher.search(query, limit)
    return count_of(result), result.hits


Clause = tuple[tantivy.Occur, tantivy.Query]
_CANDIDATES = 40
"""Words that are looked at with the words before them."""
_CANDIDATES_WITHIN = 100
"""Words that are looked for in a part of the crawl: what is frequent there may be rare elsewhere."""
_SCALE = 1_000_000
"""What makes whole numbers of shares."""
_ALONE = 1_000
"""The greatest number of a word that stands beside none of the words before it: less than that of any that does."""
_BEFORE = 2
"""Words before the last that it must stand beside on a page."""


def continuations(
    view: View, words: Sequence[str], limit: int, misspelt: Callable[[str], Sequence[tuple[str, int]]] = lambda _: (),
    within: Sequence[Clause] = (),
) -> tuple[list[tuple[str, int]], list[tuple[float, str]]]:  # fmt: skip
    """Words that begin with the last one given, the likeliest with the greatest number; titles that begin so, with
    their scores. `misspelt`: words that begin nearly so, for where no word begins so; `within`: only what stands on
    these pages."""
    *before, last = words
    most = _CANDIDATES_WITHIN if within else _CANDIDATES if before else 3 * limit
    terms = view.searcher.terms_with_prefix(schema.BODY, last, None, most)
    if before or within:
        terms = _beside(view, before[-_BEFORE:], (terms or misspelt(last))[:most], within)
    else:
        # The index keeps the words of pages that left until it merges: what no page has any more is not offered.
        terms = [(term, pages) for term, pages in terms or misspelt(last) if _stands_somewhere(view, term)]
    titles = tantivy.Query.phrase_prefix_query(view.schema, schema.TITLE, [*words])
    if within:
        titles = tantivy.Query.boolean_query([(tantivy.Occur.Must, titles), *within])
    hits = view.searcher.search(titles, limit, count=False).hits
    return terms, [(score, view.stored(address).title) for score, address in hits]


def _beside(
    view: View, before: Sequence[str], terms: Sequence[tuple[str, int]], within: Sequence[Clause]
) -> list[tuple[str, int]]:
    """The words that stand on pages with the words before them, each with how much more often than chance would have
    it, roughly: a word that is on every page is on these, too."""
    known = [one for one in before if view.pages(schema.BODY, one)]
    there = [*(_must_have(view, one) for one in known), *within]
    if not there:  # a mistake, or words of another shard
        return [(term, min(pages, _ALONE)) for term, pages in terms if _stands_somewhere(view, term)]
    found = []
    for term, pages in terms if within else terms[:_CANDIDATES]:
        together = count_of(view.searcher.search(tantivy.Query.boolean_query([*there, _must_have(view, term)]), 1))
        if together:
            found.append((term, max(1, round(_SCALE * together / math.sqrt(pages)))))
    return found


def _must_have(view: View, word: str) -> tuple[tantivy.Occur, tantivy.Query]:
    query = tantivy.Query.term_query(view.schema, schema.BODY, word, "basic")
    return tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0)


def _stands_somewhere(view: View, term: str) -> bool:
    query = tantivy.Query.term_query(view.schema, schema.BODY, term, "basic")
    return bool(view.searcher.search(query, 1, count=False).hits)
