"""Which rules act on a query: pure, and quick however many rules there are.

A word of a rule is found in any of its forms: two words are taken for one where the index may spell them alike. Rules
are looked up by their first word, so a query costs a few lookups a word. What they may add to a query is bounded: a
reader who types what fits many rules must not make the search slow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import Generic, Protocol, TypeVar

import msgspec

from gossamer.index.analysis import Languages, is_spaceless, query_stems, surface_words
from gossamer.index.document import place
from gossamer.search.desk.effects import Alternative, Barred, Boosted, Effects, Pinned
from gossamer.search.desk.rules import EMPTY, BestBet, Desk, Hidden, Synonym
from gossamer.search.query.language import Query, Term
from gossamer.search.results import Request

WEIGHT = 0.7
"""What an alternative counts, against 1 for the word that was typed: a page with the very word comes first."""
MOST_ALTERNATIVES = 24
"""Alternatives that one query gets."""
MOST_PINNED = 5
"""Pages that are put first for one query."""
_MOST_LANGUAGES = 4
"""Sets of languages for which rules are kept ready: an index has one, and another after it has grown."""

T = TypeVar("T")
Word = frozenset[str]
"""A word by all that the index may spell it as."""


class _Lookup(Generic[T]):
    """What was written down for words that follow each other."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages
        self._entries: dict[str, list[tuple[tuple[Word, ...], T]]] = defaultdict(list)

    def add(self, phrase: str, value: T) -> None:
        """Write a value down for a phrase."""
        words = tuple(forms(word, self._languages) for word in surface_words(phrase))
        for key in words[0] if words else ():
            self._entries[key].append((words, value))

    def at(self, words: Sequence[Word], start: int) -> Iterator[tuple[int, T]]:
        """What is written down for the words that begin here, with how many these are; the longest first."""
        found: dict[int, tuple[int, T]] = {}
        for key in words[start]:
            for phrase, value in self._entries.get(key, ()):
                if len(phrase) <= len(words) - start and all(
                    not mine.isdisjoint(theirs) for mine, theirs in zip(words[start:], phrase, strict=False)
                ):
                    found[id(value)] = len(phrase), value
        yield from sorted(found.values(), key=lambda one: -one[0])

    def whole(self, words: Sequence[Word]) -> list[T]:
        """What is written down for exactly these words."""
        return [value for size, value in self.at(words, 0) if size == len(words)] if words else []


class _Other(msgspec.Struct, frozen=True):
    """A synonym from the side of one of its words."""

    rule: Synonym
    texts: tuple[str, ...]


class _Ready:
    """The rules for one set of languages."""

    def __init__(self, desk: Desk, languages: Languages) -> None:
        self.languages = languages
        self.stops: _Lookup[str] = _Lookup(languages)
        self.synonyms: _Lookup[_Other] = _Lookup(languages)
        self.bets: _Lookup[BestBet] = _Lookup(languages)
        self.hidden: _Lookup[Hidden] = _Lookup(languages)
        for word in desk.stop_words:
            self.stops.add(word, word)
        for rule in desk.synonym:
            for word in rule.words:
                texts = rule.finds or tuple(other for other in rule.words if other != word)
                self.synonyms.add(word, _Other(rule, texts))
        for bet in desk.best_bet:
            for query in bet.queries:
                self.bets.add(query, bet)
        for one in desk.hidden:
            for query in one.queries:
                self.hidden.add(query, one)


class Rules:
    """The desk's rules at work; safe to share between threads. Two of them are equal where they are the same object."""

    def __init__(self, desk: Desk = EMPTY, version: int = 0) -> None:
        """`version`: the number under which the rules were published."""
        self.desk, self.version = desk, version
        self._is_empty = desk == EMPTY
        self._always = tuple(_barred(one) for one in desk.hidden if not one.queries)
        self._boosted = tuple(_boosts(desk))
        self._lock = Lock()
        self._ready: dict[Languages, _Ready] = {}

    def effects(self, query: Query, request: Request, languages: Languages, now: float) -> Effects:
        """What the rules make of a query."""
        if self._is_empty:
            return Effects(query, unknown=request.collection)
        ready = self._for(languages)
        collection = self.desk.collection_of(request.collection) if request.collection else None
        kept, dropped = _without_stop_words(query, ready)
        whole = list(dict.fromkeys([_whole(query, ready), _whole(kept, ready)]))
        barred = [_barred(one) for words in whole for one in ready.hidden.whole(words)]
        return Effects(
            query=kept,
            dropped=dropped,
            alternatives=tuple(_alternatives(kept, ready)),
            pinned=_pinned(ready, whole, now) if _is_bare(request) else (),
            barred=tuple(dict.fromkeys([*self._always, *barred])),
            boosted=self._boosted,
            collection=collection,
            unknown=request.collection if collection is None else "",
        )

    def _for(self, languages: Languages) -> _Ready:
        with self._lock:
            ready = self._ready.get(languages)
            if ready is None:
                if len(self._ready) >= _MOST_LANGUAGES:
                    self._ready.clear()
                ready = self._ready[languages] = _Ready(self.desk, languages)
            return ready


class DeskRules(Protocol):
    """The rules of the search desk, wherever they are published."""

    def current(self) -> Rules:
        """The rules that count now: the same object until others are published."""
        ...


def forms(word: str, languages: Languages) -> Word:
    """How the index may spell a word. Writing without spaces is cut differently in every sentence, so there only the
    very same characters are the same word."""
    return frozenset([word]) if is_spaceless(word) else frozenset([word, *query_stems(word, languages)])


def _is_plain(group: Sequence[Term]) -> bool:
    return len(group) == 1 and group[0].field == "any" and not group[0].phrase


def _words(query: Query, ready: _Ready) -> tuple[list[Word], list[int]]:
    """The words of a query with the number of the group of each. What is no plain word is a word that nothing is
    written down for, so that no rule reaches over it."""
    words: list[Word] = []
    groups: list[int] = []
    for number, group in enumerate(query.groups):
        typed = [forms(word, ready.languages) for word in surface_words(group[0].text)] if _is_plain(group) else []
        for word in typed or [frozenset()]:
            words.append(word)
            groups.append(number)
    return words, groups


def _whole(query: Query, ready: _Ready) -> tuple[Word, ...]:
    """The words of a query that has nothing else; none where it has."""
    if query.excluded or query.filters or not all(map(_is_plain, query.groups)):
        return ()
    return tuple(_words(query, ready)[0])


def _without_stop_words(query: Query, ready: _Ready) -> tuple[Query, tuple[str, ...]]:
    words, groups = _words(query, ready)
    gone: set[int] = set()
    dropped: list[str] = []
    at = 0
    while at < len(words):
        size, text = next(ready.stops.at(words, at), (0, ""))
        # A part of a longer word, such as the `a` of a.b.c, is no word of its own.
        if size and groups.count(groups[at]) == 1 and groups.count(groups[at + size - 1]) == 1:
            gone.update(groups[at : at + size])
            dropped.append(text)
        at += max(size, 1)
    kept = tuple(group for number, group in enumerate(query.groups) if number not in gone)
    if not gone or not kept:
        return query, ()
    return msgspec.structs.replace(query, groups=kept), tuple(dict.fromkeys(dropped))


def _alternatives(query: Query, ready: _Ready) -> Iterator[tuple[int, Alternative]]:
    """Other words for those of the query. Where a rule is about several words, each of them may be replaced by the
    whole alternative, which then counts once for all of them together."""
    words, groups = _words(query, ready)
    left = MOST_ALTERNATIVES
    seen: set[tuple[int, str]] = set()
    for at in range(len(words)):
        for size, other in ready.synonyms.at(words, at):
            covered = list(dict.fromkeys(groups[at : at + size]))
            for text in other.texts:
                if left <= 0:
                    return
                if (covered[0], text) in seen:
                    continue
                seen.add((covered[0], text))
                left -= 1
                phrase = len(surface_words(text)) > 1 or is_spaceless(text)
                one = Alternative(text, phrase, other.rule.lang, WEIGHT / len(covered), other.rule.label)
                yield from ((number, one) for number in covered)


def _pinned(ready: _Ready, whole: Sequence[Sequence[Word]], now: float) -> tuple[Pinned, ...]:
    today = datetime.fromtimestamp(now, UTC).date().isoformat()
    found: dict[str, Pinned] = {}
    for words in whole:
        for bet in ready.bets.whole(words):
            if bet.start <= today and (not bet.until or today <= bet.until):
                found.setdefault(bet.url, Pinned(bet.url, bet.label))
    return tuple(found.values())[:MOST_PINNED]


def _is_bare(request: Request) -> bool:
    """Whether a reader chose nothing beside the words: whoever filters or sorts asks for something else."""
    chosen = (request.since, request.site, request.lang, request.page_type, request.category, request.fields)
    return request.sort == "relevance" and not any(chosen)


def _barred(rule: Hidden) -> Barred:
    if rule.url.endswith("/*"):
        return Barred("", place(rule.url[:-2]), rule.label)
    return Barred(rule.url, "", rule.label)


def _boosts(desk: Desk) -> Iterator[Boosted]:
    for rule in desk.boost:
        if rule.site:
            yield Boosted((place(rule.site),), "", rule.times, rule.label)
        elif (one := desk.collection_of(rule.collection)) is not None:
            yield Boosted(tuple(map(place, one.sites)), one.filter, rule.times, rule.label)


NO_RULES = Rules()
