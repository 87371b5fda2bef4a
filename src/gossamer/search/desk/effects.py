"""What the desk's rules make of one query: values, so that two sets of rules can be compared."""

from __future__ import annotations

import msgspec

from gossamer.index.document import place
from gossamer.search.desk.rules import Collection
from gossamer.search.query.language import Query, Term


class Alternative(msgspec.Struct, frozen=True):
    """What pages may have in place of a word of the query."""

    text: str
    phrase: bool
    lang: str
    """Only pages in this language; empty: all."""
    weight: float
    """Against 1 for the typed word."""
    rule: str
    """The label of the rule."""


class Pinned(msgspec.Struct, frozen=True):
    """A page that comes first."""

    url: str
    rule: str


class Barred(msgspec.Struct, frozen=True):
    """Pages that are left out."""

    url: str
    """A page; empty: all of `place`."""
    place: str
    """As the index spells places."""
    rule: str


def covers(one: Barred, url: str) -> bool:
    """Whether a page is among those that are left out."""
    if one.url:
        return one.url == url
    inside = place(url.partition("//")[2])
    return inside == one.place or inside.startswith(f"{one.place}/")


class Boosted(msgspec.Struct, frozen=True):
    """Pages whose score is multiplied."""

    places: tuple[str, ...]
    """As the index spells places; empty: everywhere."""
    filter: str
    """Further filters, in the query language."""
    times: float
    rule: str


class Effects(msgspec.Struct, frozen=True):
    """Everything that rules do to a query."""

    query: Query
    """Without stop words."""
    dropped: tuple[str, ...] = ()
    """Stop words that were left out."""
    alternatives: tuple[tuple[int, Alternative], ...] = ()
    """With the number of the group of the query that each belongs to."""
    pinned: tuple[Pinned, ...] = ()
    barred: tuple[Barred, ...] = ()
    boosted: tuple[Boosted, ...] = ()
    collection: Collection | None = None
    """The collection that was asked."""
    unknown: str = ""
    """A collection that was asked for and does not exist."""

    @property
    def is_idle(self) -> bool:
        """Whether the index is asked as if there were no rules."""
        return not (self.alternatives or self.pinned or self.barred or self.boosted or self.collection or self.unknown)

    @property
    def widened(self) -> Query:
        """The query with all alternatives as words of it: everything that the index is looked at for."""
        terms = dict.fromkeys(Term(one.text, one.phrase) for _, one in self.alternatives)
        return msgspec.structs.replace(self.query, groups=(*self.query.groups, *((term,) for term in terms)))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that were made for this very query, by their labels."""
        named = [one.rule for _, one in self.alternatives] + [one.rule for one in self.pinned]
        return tuple(dict.fromkeys([*named, *(f"stop word {word}" for word in self.dropped)]))
