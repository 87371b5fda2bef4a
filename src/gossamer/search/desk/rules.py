"""The rules of the desk as values. `reading.py` makes them from TOML and checks them; `acting.py` applies them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Synonym(msgspec.Struct, frozen=True):
    """Words that mean the same, for those who search."""

    words: tuple[str, ...]
    """What readers type: words, or phrases of several."""
    finds: tuple[str, ...] = ()
    """What they find as well, one way; empty: each of `words` finds the others."""
    lang: str = ""
    """Only pages in this language (ISO 639-1) are found so; empty: pages in all languages."""

    @property
    def label(self) -> str:
        """How lists and explanations call it."""
        where = f" ({self.lang})" if self.lang else ""
        if self.finds:
            return f"synonym {', '.join(self.words)} → {', '.join(self.finds)}{where}"
        return f"synonym {' = '.join(self.words)}{where}"


class BestBet(msgspec.Struct, frozen=True, rename={"start": "from"}):
    """A page that comes first for some queries."""

    queries: tuple[str, ...]
    """The whole query, in any case and any form of its words."""
    url: str
    start: str = ""
    """First day, ISO 8601, UTC; empty: at once."""
    until: str = ""
    """Last day; empty: for good."""

    @property
    def label(self) -> str:
        """How lists and explanations call it."""
        days = " ".join(f"{word} {day}" for word, day in (("from", self.start), ("until", self.until)) if day)
        return f"best bet {', '.join(self.queries)} → {self.url}" + (f" ({days})" if days else "")


class Hidden(msgspec.Struct, frozen=True):
    """Pages that readers do not find."""

    url: str
    """The page; with `*` at its end, all pages at that address and below it."""
    queries: tuple[str, ...] = ()
    """Only for these queries; empty: for all."""

    @property
    def label(self) -> str:
        """How lists and explanations call it."""
        return f"hidden {self.url}" + (f" for {', '.join(self.queries)}" if self.queries else "")


class Boost(msgspec.Struct, frozen=True):
    """A part of the crawl whose pages count more, or less."""

    site: str = ""
    """A host and maybe a path, as after `site:`."""
    collection: str = ""
    """Or the name of a collection."""
    times: float = 2.0
    """By how much the score of its words is multiplied."""

    @property
    def label(self) -> str:
        """How lists and explanations call it."""
        where = f"site:{self.site}" if self.site else f"collection {self.collection}"
        return f"boost {where} × {self.times:g}"


class Collection(msgspec.Struct, frozen=True):
    """A named part of the crawl with a search page of its own at `/c/NAME/`."""

    name: str
    """In its address."""
    title: str = ""
    """On its pages; empty: the name."""
    sites: tuple[str, ...] = ()
    """Hosts, maybe with a path; empty: all."""
    filter: str = ""
    """What its pages have in common beside that, in the query language, such as `lang:en -pagetype:listing`."""
    colour: str = ""
    """Of links and buttons, such as #0f6b62; empty: as elsewhere."""

    @property
    def heading(self) -> str:
        """What readers see."""
        return self.title or self.name

    @property
    def label(self) -> str:
        """How lists and explanations call it."""
        parts = " ".join([*(f"site:{site}" for site in self.sites), *([self.filter] if self.filter else [])])
        return f"collection {self.name}: {parts or 'everything'}"


Rule = Synonym | BestBet | Hidden | Boost | Collection


class Desk(msgspec.Struct, frozen=True):
    """All rules."""

    stop_words: tuple[str, ...] = ()
    """Words and phrases that queries lose, unless nothing else is in them."""
    synonym: tuple[Synonym, ...] = ()
    best_bet: tuple[BestBet, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    boost: tuple[Boost, ...] = ()
    collection: tuple[Collection, ...] = ()

    def collection_of(self, name: str) -> Collection | None:
        """The collection of a name."""
        return next((one for one in self.collection if one.name == name), None)

    def labels(self) -> Iterator[str]:
        """A line for each rule."""
        yield from (f"stop word {word}" for word in self.stop_words)
        for kind in KINDS:
            yield from (rule.label for rule in getattr(self, kind))


KINDS: dict[str, type[Rule]] = {
    "synonym": Synonym, "best_bet": BestBet, "hidden": Hidden, "boost": Boost, "collection": Collection,
}  # fmt: skip
"""The tables of the file, in their order."""
EMPTY = Desk()


def differences(before: Desk, after: Desk) -> list[str]:
    """What an edit changed, a line each: `+ synonym …` came, `- synonym …` went; a new order is no change."""
    old, new = dict.fromkeys(_told(before)), dict.fromkeys(_told(after))
    return [f"- {line}" for line in old if line not in new] + [f"+ {line}" for line in new if line not in old]


def _told(desk: Desk) -> Iterator[str]:
    """Every rule with all that it says."""
    yield from (f"stop word {word}" for word in desk.stop_words)
    for kind in ("synonym", "best_bet", "hidden", "boost"):
        yield from (rule.label for rule in getattr(desk, kind))
    for one in desk.collection:
        yield " · ".join(filter(None, [one.label, one.title, one.colour]))
