"""The forms of the search desk: which fields a kind of rule has, and the rule that a filled-in form makes.

A table of the console and a table of the file are the same thing: what a form makes is checked by what checks the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from gossamer.errors import UsageError
from gossamer.search.desk.reading import check_rule, phrases
from gossamer.search.desk.rules import BestBet, Boost, Collection, Desk, Hidden, Rule, Synonym

Canonical = Callable[[str], str]


class Field(msgspec.Struct, frozen=True):
    """A field of a form."""

    name: str
    label: str
    placeholder: str = ""
    required: bool = False
    wide: bool = False
    kind: str = "text"
    """Of the `input`."""


class Kind(msgspec.Struct, frozen=True):
    """A kind of rule as the console shows it."""

    name: str
    """In the file and in forms."""
    path: str
    """In the address of its page."""
    heading: str
    one: str
    text: str
    """What it is for."""
    fields: tuple[Field, ...]
    columns: tuple[str, ...]
    make: Callable[[Mapping[str, str]], Rule]
    cells: Callable[[Rule], tuple[str, ...]]


def _synonym(form: Mapping[str, str]) -> Rule:
    return Synonym(phrases(form.get("words", "")), phrases(form.get("finds", "")), form.get("lang", "").strip())


def _best_bet(form: Mapping[str, str]) -> Rule:
    return BestBet(
        phrases(form.get("queries", "")), form.get("url", "").strip(), form.get("start", "").strip(),
        form.get("until", "").strip(),
    )  # fmt: skip


def _hidden(form: Mapping[str, str]) -> Rule:
    return Hidden(form.get("url", "").strip(), phrases(form.get("queries", "")))


def _boost(form: Mapping[str, str]) -> Rule:
    typed = form.get("times", "").strip().replace(",", ".")
    try:
        times = float(typed)
    except ValueError:
        raise UsageError(f"{typed[:40]!r} is not a number: write 2 or 0.5") from None
    return Boost(form.get("site", "").strip(), form.get("collection", "").strip(), times)


def _collection(form: Mapping[str, str]) -> Rule:
    return Collection(
        form.get("name", "").strip().lower(), " ".join(form.get("title", "").split()), phrases(form.get("sites", "")),
        form.get("filter", "").strip(), form.get("colour", "").strip(),
    )  # fmt: skip


def _synonym_cells(rule: Rule) -> tuple[str, ...]:
    assert isinstance(rule, Synonym)
    finds = ", ".join(rule.finds) if rule.finds else "each other"
    return ", ".join(rule.words), finds, rule.lang or "all"


def _best_bet_cells(rule: Rule) -> tuple[str, ...]:
    assert isinstance(rule, BestBet)
    days = " ".join(filter(None, [rule.start and f"from {rule.start}", rule.until and f"until {rule.until}"]))
    return ", ".join(rule.queries), rule.url, days or "always"


def _hidden_cells(rule: Rule) -> tuple[str, ...]:
    assert isinstance(rule, Hidden)
    return rule.url, ", ".join(rule.queries) or "all"


def _boost_cells(rule: Rule) -> tuple[str, ...]:
    assert isinstance(rule, Boost)
    return rule.site or f"collection {rule.collection}", f"{rule.times:g}"


def _collection_cells(rule: Rule) -> tuple[str, ...]:
    assert isinstance(rule, Collection)
    pages = " ".join([*(f"site:{site}" for site in rule.sites), *([rule.filter] if rule.filter else [])])
    return f"/c/{rule.name}/", rule.heading, pages


KINDS = (
    Kind(
        "synonym", "synonyms", "Synonyms", "synonym",
        "Readers who type one of these words find pages with the others, too. Pages with the typed word come first.",
        (
            Field("words", "Words, separated by commas", "bike, bicycle", required=True, wide=True),
            Field("finds", "Also find (empty: each other)", "cycling", wide=True),
            Field("lang", "Language (empty: all)", "en"),
        ),
        ("Words", "Find", "Language"), _synonym, _synonym_cells,
    ),
    Kind(
        "best_bet", "best-bets", "Best bets", "best bet",
        "For these queries the page comes first, marked as recommended. A query counts whole, in any case and form.",
        (
            Field("queries", "Queries, separated by commas", "opening hours, when open", required=True, wide=True),
            Field("url", "Page", "https://www.example.org/visit", required=True, wide=True, kind="url"),
            Field("start", "First day", kind="date"),
            Field("until", "Last day", kind="date"),
        ),
        ("Queries", "Page", "Days"), _best_bet, _best_bet_cells,
    ),
    Kind(
        "hidden", "hidden", "Hidden pages", "hidden page",
        "Readers do not find these pages. They stay in the crawl. An address that ends in /* hides all pages below it.",
        (
            Field("url", "Page", "https://www.example.org/old/*", required=True, wide=True),
            Field("queries", "Only for these queries (empty: all)", wide=True),
        ),
        ("Page", "Queries"), _hidden, _hidden_cells,
    ),
    Kind(
        "boost", "boosts", "Boosts", "boost",
        "The score of these pages is multiplied: 2 doubles it, 0.5 halves it.",
        (
            Field("site", "Site or part of it", "www.example.org/docs", wide=True),
            Field("collection", "or collection", "docs"),
            Field("times", "Times", "2", required=True),
        ),
        ("Pages", "Times"), _boost, _boost_cells,
    ),
    Kind(
        "collection", "collections", "Collections", "collection",
        "A part of the crawl with a search page of its own.",
        (
            Field("name", "Name in the address", "docs", required=True),
            Field("title", "Title", "Documentation"),
            Field("sites", "Sites, separated by commas", "docs.example.org, www.example.org/docs", wide=True),
            Field("filter", "Filter", "lang:en -pagetype:listing"),
            Field("colour", "Colour", "#0f6b62"),
        ),
        ("Address", "Title", "Pages"), _collection, _collection_cells,
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}


def rule_of(form: Mapping[str, str], canonical: Canonical) -> tuple[Kind, Rule]:
    """The rule that a form describes; a `UsageError` says what is wrong with it."""
    kind = BY_NAME.get(form.get("kind", ""))
    if kind is None:
        raise UsageError("there is no such kind of rule: open the page again")
    return kind, check_rule(kind.make(form), kind.one, canonical)


def mark(rule: Rule) -> str:
    """Tells a rule from all others: whoever removes one means this one, whatever others added meanwhile."""
    return hashlib.blake2b(msgspec.json.encode(rule), digest_size=12).hexdigest()


def added(desk: Desk, kind: Kind, rule: Rule) -> Desk:
    """The rules with one more."""
    return msgspec.structs.replace(desk, **{kind.name: (*getattr(desk, kind.name), rule)})


def without(desk: Desk, kind: Kind, marked: str) -> Desk:
    """The rules without one."""
    rules: tuple[Rule, ...] = getattr(desk, kind.name)
    kept = tuple(rule for rule in rules if mark(rule) != marked)
    if len(kept) == len(rules):
        raise UsageError("this rule no longer exists: open the page again")
    return msgspec.structs.replace(desk, **{kind.name: kept})
