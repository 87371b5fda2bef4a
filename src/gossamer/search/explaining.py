"""Why a page has its score, term by term: the factors add up to it."""

from __future__ import annotations

import json

import msgspec
import tantivy

from gossamer.search.ordering import Ranks, Wish, priors
from gossamer.search.query.building import Built
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Factor, ScoreExplanation
from gossamer.search.shards.lengths import Lengths, Told
from gossamer.search.view import View


def explain(
    view: View,
    url: str,
    address: tantivy.DocAddress,
    built: Built,
    config: RankingConfig,
    ranks: Ranks | None,
    wish: Wish,
    lengths: Lengths | None = None,
    is_found: bool = False,
) -> ScoreExplanation:
    """The factors of a page's score under the default ranking; `lengths` where the index is one of several; `is_found`
    where it is among the results even without the words."""
    asked = [query for query in (built.strict, built.loose) if query is not None]
    if not is_found and not any(_matches(view, query, address) for query in asked):
        why, values = "the page has none of the words, or a filter excludes it", tuple(view.stored(address).fields)
        return ScoreExplanation(url, False, 0.0, (), why, values)
    factors = []
    for part in built.parts:
        value, detail = _value(view, part.query, address, lengths)
        if value:
            factors.append(Factor(part.name, value, detail))
    for name, (value,) in priors(view, [address], config, ranks, wish).items():
        if value:
            factors.append(Factor(name, value))
    score, values = sum(factor.value for factor in factors), tuple(view.stored(address).fields)
    return ScoreExplanation(url, True, score, tuple(factors), fields=values)


def _matches(view: View, query: tantivy.Query, address: tantivy.DocAddress) -> bool:
    try:
        query.explain(view.searcher, address)
    except ValueError:  # the library's word for "does not match"
        return False
    return True


def _value(view: View, query: tantivy.Query, address: tantivy.DocAddress, lengths: Lengths | None) -> tuple[float, str]:
    try:
        tree = json.loads(query.explain(view.searcher, address).to_json())
    except ValueError:
        return 0.0, ""
    value = float(tree["value"]) if lengths is None else lengths.value(msgspec.convert(tree, Told))
    return value, _detail(tree) + (" in its shard" if lengths is not None else "")


def _detail(tree: dict[str, object]) -> str:
    """How often, how rare, how long: the numbers of the BM25 formula."""
    found: dict[str, float] = {}

    def walk(node: dict[str, object]) -> None:
        found.setdefault(str(node["description"]), float(str(node["value"])))
        details = node.get("details")
        for child in details if isinstance(details, list) else ():
            walk(child)

    walk(tree)
    wanted = {"freq,": "occurrences", "n, number": "pages with it", "dl, length": "length", "avgdl": "average length"}
    named = {
        label: value
        for start, label in wanted.items()
        for description, value in found.items()
        if description.startswith(start)
    }
    return ", ".join(f"{label} {value:.4g}" for label, value in named.items())
