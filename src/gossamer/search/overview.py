"""What an index holds, for somebody who has not asked anything yet: its sites, how fresh it is, and queries to try.

Example queries are words that stand together in several titles of a site. Each index, or shard, tells how often
(`outline`); the outlines are added up, every site gives its best phrase in turn, and a phrase is offered only after it
was searched for and found something (`overview`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.search.results import Count, Overview, Request
from gossamer.search.view import View

SITES = 1000
"""Sites that are told apart; of more it is only known that there are more."""
SHOWN_SITES = 8
EXAMPLES = 6
_SAMPLED_SITES = 8
_SAMPLED_PAGES = 50
"""Pages of a site whose titles are read, those fetched last: some milliseconds in all."""
_TEXT = 3000
"""Characters of a page that tell which words are everywhere."""
_FEW = 4
"""Pages below which they tell nothing."""
_PHRASES = 20
"""Phrases of a site that are told."""
_MOST_TRIED = 3 * EXAMPLES
_LONGEST = 40
"""Characters of an example."""
_MOST_WORDS = 3
_SHORTEST_WORD = 4
_TITLE = 200
"""Characters of a title that are looked at."""
_WHOLE, _SEVERAL = 0.3, 0.5
"""What it is worth to be a whole title, and to be several words: together less than a second title."""
_EVERYWHERE = 0.5
"""Share of a site's pages from which on a word, or a phrase of titles, says nothing."""

_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PIECE = re.compile(r"\s[-–—|·•»:]+\s|[|:;,.!?()\[\]{}<>«»“”„\"、。，：！？（）《》]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

N = TypeVar("N", int, float)


class Outline(msgspec.Struct, frozen=True):
    """What one index, or one shard of it, holds."""

    sites: dict[str, int] = {}
    """Site → pages; those with most pages."""
    is_complete: bool = True
    """Whether these are all of its sites."""
    fetched_at: float = 0.0
    """When its newest page was fetched; 0 where there is none."""
    phrases: dict[str, dict[str, float]] = {}
    """Site → phrase of titles → what it is worth: the number of titles that have it, and a little for its form."""


def outline(view: View) -> Outline:
    """What an index holds."""
    plan = {"sites": {"terms": {"field": schema.SITE, "size": SITES}}, "fetched": {"max": {"field": schema.FETCHED}}}
    found = view.searcher.aggregate(tantivy.Query.all_query(), plan)
    sites = {str(bucket["key"]): int(bucket["doc_count"]) for bucket in found["sites"]["buckets"]}
    return Outline(
        sites=sites,
        is_complete=not found["sites"].get("sum_other_doc_count"),
        fetched_at=float(found["fetched"]["value"] or 0.0),
        phrases={site: _phrases_of_site(view, site) for site, _ in _most(sites)[:_SAMPLED_SITES]},
    )


def overview(outlines: Sequence[Outline], finds: Callable[[str], bool]) -> Overview:
    """All outlines together; `finds` says whether a query has results."""
    sites: Counter[str] = Counter()
    for one in outlines:
        sites.update(one.sites)
    return Overview(
        sites=tuple(Count(site, pages) for site, pages in _most(sites)[:SHOWN_SITES]),
        known_sites=len(sites),
        has_more_sites=not all(one.is_complete for one in outlines),
        fetched_at=max((one.fetched_at for one in outlines), default=0.0),
        examples=tuple(_found(_in_turn(outlines, [site for site, _ in _most(sites)]), finds)),
    )


def example(query: str) -> Request:
    """The request that tells whether a query has results."""
    return Request(query=query, size=1, facets=False, literal=True)


def phrases(pages: Iterable[tuple[str, str]]) -> dict[str, float]:
    """The best phrases of the titles of a site's pages, given with their texts, and what each is worth."""
    pages = list(pages)
    rarity = _rarity([f"{title}\n{text[:_TEXT]}" for title, text in pages])
    pieces = [_PIECE.split(title[:_TITLE].lower()) for title, _ in pages]
    counts = Counter(phrase for title in pieces for phrase in {one for piece in title for one in _runs(piece, rarity)})
    whole = {" ".join(piece.split()) for title in pieces for piece in title}
    # What stands in most titles is the site's name, as long as there is anything else.
    usual = {phrase: count for phrase, count in counts.items() if count <= max(1.0, _EVERYWHERE * len(pages))}
    worth = {
        phrase: count * max(rarity.get(word, 1.0) for word in phrase.split())
        + _WHOLE * (phrase in whole)
        + _SEVERAL * (" " in phrase)
        for phrase, count in (usual or counts).items()
    }
    return dict(_most(worth)[:_PHRASES])


def _phrases_of_site(view: View, site: str) -> dict[str, float]:
    query = tantivy.Query.term_query(view.schema, schema.SITE, site)
    newest = view.searcher.search(query, _SAMPLED_PAGES, count=False, order_by_field=schema.FETCHED)
    stored = (view.stored(address) for _, address in newest.hits)
    return phrases((one.title, one.text) for one in stored)


def _rarity(texts: Sequence[str]) -> dict[str, float]:
    """How much a word tells its page from others: 1 where one text has it, less the more have it, 0 where most have.
    Nothing is known where there are too few texts to tell."""
    if len(texts) < _FEW:
        return {}
    counts = Counter(word for text in texts for word in {*_WORD.findall(text.lower())})
    return {
        word: math.log(len(texts) / count) / math.log(len(texts)) if count <= _EVERYWHERE * len(texts) else 0.0
        for word, count in counts.items()
    }


def _runs(piece: str, rarity: Mapping[str, float]) -> Iterator[str]:
    """What of a piece of a title could be a query: a few words in a row whose first and last mean something."""
    words = piece.split()
    for start in range(len(words)):
        for end in range(start + 1, min(start + _MOST_WORDS, len(words)) + 1):
            phrase = " ".join(words[start:end])
            means = _means(words[start], rarity) and _means(words[end - 1], rarity)
            if means and len(phrase) <= _LONGEST and all(map(_WORD.fullmatch, words[start:end])):
                yield phrase


def _means(word: str, rarity: Mapping[str, float]) -> bool:
    long_enough = 2 <= len(word) <= 8 if _SPACELESS.search(word) else len(word) >= _SHORTEST_WORD
    return long_enough and rarity.get(word, 1.0) > 0.0


def _in_turn(outlines: Sequence[Outline], sites: Sequence[str]) -> Iterator[str]:
    """The phrases of all sites: of each its best, then of each its second best, …; no word comes twice."""
    lines = [_line(outlines, site) for site in sites]
    said: set[str] = set()
    while lines:
        left = []
        for line in lines:
            phrase = next((one for one in line if not said.intersection(one.split())), None)
            if phrase is not None:
                said.update(phrase.split())
                left.append(line)
                yield phrase
        lines = left


def _line(outlines: Sequence[Outline], site: str) -> Iterator[str]:
    """The phrases of a site, the best first."""
    worth: dict[str, float] = {}
    for one in outlines:
        for phrase, here in one.phrases.get(site, {}).items():
            worth[phrase] = worth.get(phrase, 0.0) + here
    return (phrase for phrase, _ in _most(worth))


def _found(candidates: Iterator[str], finds: Callable[[str], bool]) -> Iterator[str]:
    found = 0
    for _, phrase in zip(range(_MOST_TRIED), candidates, strict=False):
        if finds(phrase):
            yield phrase
            found += 1
        if found == EXAMPLES:
            return


def _most(numbers: Mapping[str, N]) -> list[tuple[str, N]]:
    """Names with their numbers, the highest first."""
    return sorted(numbers.items(), key=lambda one: (-one[1], one[0]))
