"""The two plain questions to an index: the best pages of a query, and how a query may go on."""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from gossamer.index import schema
from gossamer.search.ordering import Candidate
from gossamer.search.view import View, count_of


def ask_index(view: View, query: tantivy.Query, limit: int, by_date: bool) -> tuple[int, list[Candidate]]:
    """How many pages match, and the best of them."""
    if by_date:
        result = view.searcher.search(query, limit, order_by_field=schema.DATE)
        return count_of(result), [(0.0, address) for _, address in result.hits]
    result = view.searcher.search(query, limit)
    return count_of(result), result.hits


def continuations(
    view: View, words: Sequence[str], limit: int
) -> tuple[list[tuple[str, int]], list[tuple[float, str]]]:
    """Words that begin with the last one given, with their frequencies; titles that begin so, with their scores."""
    # The index keeps the words of pages that left until it merges: what no page has any more is not offered.
    terms = view.searcher.terms_with_prefix(schema.BODY, words[-1], None, 3 * limit)
    terms = [(term, pages) for term, pages in terms if _stands_somewhere(view, term)]
    titles = tantivy.Query.phrase_prefix_query(view.schema, schema.TITLE, [*words])
    hits = view.searcher.search(titles, limit, count=False).hits
    return terms, [(score, view.stored(address).title) for score, address in hits]


def _stands_somewhere(view: View, term: str) -> bool:
    query = tantivy.Query.term_query(view.schema, schema.BODY, term, "basic")
    return bool(view.searcher.search(query, 1, count=False).hits)
