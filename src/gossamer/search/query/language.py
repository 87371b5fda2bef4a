"""What a person typed, understood: the query language of `docs/query.md`.

Nothing that can be typed is an error. `parse` reads from left to right and knows only pieces: a phrase in quotes, an
operator with its value, a word. What does not fit is a word again, and where a reader may wonder, a sentence in
`Query.notices` says so. The text is cleaned as the text of pages is, or a soft hyphen would keep a word from being
found.

`render` writes a query in one way: pieces in a fixed order, every value as it was understood. Reading that again gives
the same query, so that it can stand in links and feeds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from unicodedata import category, normalize

import msgspec

from gossamer.index import analysis
from gossamer.index.custom import named
from gossamer.index.signs import OPERATORS as SIGNS
from gossamer.model.fields import CustomField, CustomFields
from gossamer.parse.clean import clean_line
from gossamer.search.like.values import Likeness
from gossamer.search.query import custom
from gossamer.search.query.operators import BY_NAME, OPERATORS, Field, Kind
from gossamer.search.query.phrases import Readings

MAX_CHARS = 2_000
MAX_TERMS = 128
"""Words and filters together, as the index counts words: `a.b.c` is three, and so are six characters of writing without
spaces."""

_OPERATOR = re.compile(rf"({'|'.join(BY_NAME)}):", re.IGNORECASE | re.ASCII)
_WORDS_IN = {operator.words_in: f"{operator.name}:" for operator in OPERATORS if operator.kind == "words"}
_KEPT: dict[Kind, Callable[[list[str]], Iterable[str]]] = {
    "value": dict.fromkeys,
    "page": lambda values: values[:1],
    "from": lambda values: sorted(values)[-1:],
    "until": lambda values: sorted(values)[:1],
    "order": lambda values: [value for value in values if value != "relevance"][:1],  # that is the order of every query
}
"""Of several values of one operator those that count."""
_BETWEEN = re.compile(r"[ (]*")
_NOT = re.compile(r"([-−]+)(?:\([(−-]*)?")

_FAMILIES = ('"“”„‟', "«»", "「」", "『』")
_CLOSING = {quote: re.compile(f"[{family}]") for family in _FAMILIES for quote in family}
"""Any quote of a family closes any other: people and keyboards mix them."""
_NO_QUOTES = {ord(quote): " " for quote in _CLOSING}
_ONLY_OPENING = frozenset("“„‟«「『")
_FIRST_CJK = "\u2e80"
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2800\ud800-\udfff\ufffd]")
_EDGE = f"[\x00-\u05ff−{''.join(_FAMILIES)}]"
_LOOSE_JOINERS = re.compile(f"(?:^|(?<={_EDGE}))[\u200c\u200d]+|[\u200c\u200d]+(?={_EDGE}|$)")


class Term(msgspec.Struct, frozen=True):
    """A word, or what a reader takes for one: the analysis may cut it further."""

    text: str
    phrase: bool = False
    """Whether it stood in quotes: its words in this order, one after the other."""
    field: Field = "any"


class Filter(msgspec.Struct, frozen=True):
    """One value of an operator."""

    operator: str
    """The name in `OPERATORS`, never an alias, or of a field of the operator's own."""
    value: str
    """In its one canonical form."""
    excluded: bool = False


class Query(msgspec.Struct, frozen=True):
    """A query as it was understood."""

    typed: str
    """The text after cleaning and cutting."""
    groups: tuple[tuple[Term, ...], ...] = ()
    """A page should match a term of every group; the terms of a group were joined by OR."""
    excluded: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    """In the order of `OPERATORS`, then of the own fields, excluded ones after the others; those of one operator are
    alternatives."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader: what was left out or taken differently."""
    fields: CustomFields = ()
    """The operator's own fields, by which it was understood."""
    like: Likeness | None = None
    """What the page of `like:` shares with those that are found; None until it was looked up in the index."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked: no words, wanted or not, and no filter."""
        narrows = any(one.operator != "sort" for one in self.filters)
        return not (self.groups or self.excluded or narrows)

    @property
    def newest(self) -> bool:
        """Whether the newest pages come first."""
        return self.order == "date"

    @property
    def order(self) -> str:
        """What the pages are ordered by: `date`, or an own field, with a hyphen if the largest comes first; empty:
        relevance."""
        return next(iter(self.values("sort")), "")

    def values(self, operator: str, excluded: bool = False) -> tuple[str, ...]:
        """The values of one operator."""
        return tuple(one.value for one in self.filters if one.operator == operator and one.excluded is excluded)


class _Item(msgspec.Struct, frozen=True):
    """One piece of a query."""

    value: Term | Filter
    negated: bool
    joined: bool
    """Whether OR stood before it."""
    notice: str = ""

    @property
    def operator(self) -> str:
        """The filter's; empty for a term."""
        return self.value.operator if isinstance(self.value, Filter) else ""


@lru_cache(maxsize=2_000)
def parse(text: str, fields: CustomFields = ()) -> Query:
    """The query in a text, whatever the text is; `fields`: the operator's own, each of which is an operator here."""
    typed, cut = _clean(text)
    items = list(_read(typed, fields))
    used = _within(items, MAX_TERMS)
    query = _assemble(typed, used, fields)
    while len(render(query)) > MAX_CHARS:  # an encoded host is longer than it was, and render must be readable
        used.pop()
        query = _assemble(typed, used, fields)
    notices = [item.notice for item in used if item.notice] + list(query.notices)
    if cut:
        notices.append(f"The query is too long: only its first {MAX_CHARS:,} characters were used.")
    if used != items:
        count = sum(map(_size, used))
        notices.append(f"The query is too long: only its first {count} words and filters were used.")
    if _has_loose_phrases(query):
        notices.append("The query has many or repetitive phrases, so some of them match in any word order.")
    if typed and not items:
        notices.append("The query has no words.")
    return msgspec.structs.replace(query, notices=tuple(dict.fromkeys(notices)))


def phrase_words(term: Term, excluded: bool) -> list[str] | None:
    """The words that must follow each other on a page; None where they need not."""
    if term.field == "url":
        return analysis.address_words(term.text)
    if excluded or term.phrase or (term.field == "title" and analysis.is_spaceless(term.text)):
        return analysis.surface_words(term.text)
    return None


def is_read_alone(word: str) -> bool:
    """Whether a word of a phrase is read as that word where it stands without quotes, and not as an operator."""
    (*items,) = _read(word)
    return len(items) == 1 and items[0] == _Item(Term(word), False, False)


def render(query: Query) -> str:
    """The query in its one canonical writing."""
    parts = [" OR ".join(map(_render_term, group)) for group in query.groups]
    parts += ["-" + _render_term(term) for term in query.excluded]
    return " ".join([*parts, *map(_render_filter, query.filters)])


def _render_filter(one: Filter) -> str:
    quoted = " " in one.value or (one.operator not in BY_NAME and custom.in_quotes(one.value))
    value = f'"{one.value}"' if quoted else one.value
    return f"{'-' * one.excluded}{one.operator}:{value}"


def _render_term(term: Term) -> str:
    return _WORDS_IN.get(term.field, "") + (f'"{term.text}"' if term.phrase else term.text)


def _clean(text: str) -> tuple[str, bool]:
    """One line of normalised text, and whether some of it was cut off."""
    seen = " ".join(_UNSEEN.sub(" ", text).split())
    # Cut before as well: normalising many combining marks in a row takes quadratic time.
    line = clean_line(normalize("NFKC", clean_line(seen, 2 * MAX_CHARS)), 8 * MAX_CHARS)
    cut = len(line) > MAX_CHARS
    if cut:  # half a word is another word
        line = line[: MAX_CHARS + 1].rpartition(" ")[0] or line[:MAX_CHARS]
    return _LOOSE_JOINERS.sub("", line), cut or len(seen) > 2 * MAX_CHARS


def _read(text: str, fields: CustomFields = ()) -> Iterator[_Item]:
    """The pieces in the order typed, without those that have no word."""
    at = 0
    joined = False
    own = custom.pattern(fields)
    while (at := _skip(_BETWEEN, text, at)) < len(text):
        if text[at] == "|":
            at, joined = at + 1, True
            continue
        at, negated = _read_not(text, at)
        operator = _OPERATOR.match(text, at) or (own.match(text, at) if own is not None else None)
        value, phrase, at = _read_value(text, operator.end() if operator else at, bool(operator))
        if operator:
            yield _understand(operator[1], value, phrase, negated, joined, fields)
            joined = False
        elif value == "OR" and not phrase and not negated:
            joined = True
        elif _has_word(value):
            yield _Item(Term(value, phrase), negated, joined)
            joined = False


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _read_not(text: str, at: int) -> tuple[int, bool]:
    """Where the piece begins after its hyphen, and whether the hyphen means not."""
    hyphens = _NOT.match(text, at)
    if not hyphens or text[at:].partition(" ")[0] in SIGNS:
        return at, False
    if at and text[at - 1] not in " (|":  # after a closing quote it is part of no word
        return hyphens.end(), False
    if len(hyphens[1]) > 1:  # --help is a word
        return at, False
    end = hyphens.end()
    return end, end < len(text) and text[end] != " "


def _read_value(text: str, at: int, after_operator: bool) -> tuple[str, bool, int]:
    """The phrase or word that begins here (perhaps empty), whether it is a phrase, and where it ends."""
    if at < len(text) and text[at] in _CLOSING:
        closing = _CLOSING[text[at]].search(text, at + 1)
        if closing:
            inside = text[at + 1 : closing.start()].translate(_NO_QUOTES)
            return " ".join(inside.split()), True, closing.end()
        if not after_operator:
            return "", False, at + 1
        while at < len(text) and text[at] in _CLOSING:
            at += 1
    end = at
    while end < len(text) and text[end] not in " |" and (end == at or not _opens_phrase(text, end)):
        end += 1
    word = text[at:end].lstrip("(")
    return word if "(" in word else word.rstrip(")"), False, end


def _opens_phrase(text: str, at: int) -> bool:
    """Whether a quote inside a run of characters opens a phrase: not in 12" and צה"ל, but in 北京"故宫"."""
    if text[at] not in _CLOSING:
        return False
    previous = text[at - 1]
    return text[at] in _ONLY_OPENING or not previous.isalnum() or previous >= _FIRST_CJK


def _has_word(text: str) -> bool:
    return text in SIGNS or any(char.isalnum() or category(char) == "So" for char in text)  # So: emoji


def _understand(
    name: str, value: str, phrase: bool, negated: bool, joined: bool, fields: CustomFields = ()
) -> _Item:  # fmt: skip
    """The piece made of an operator and its value, or the words of it."""
    typed = f"{name}:{value}"
    if name.lower() not in BY_NAME:
        field = named(fields, name.lower())
        assert field is not None
        return _of_field(field, value, phrase, negated, joined, typed)
    operator = BY_NAME[name.lower()]
    if operator.kind == "words" and _has_word(value):
        return _Item(Term(value, phrase, operator.words_in), negated, joined)
    if operator.kind == "words" or not value:
        complaint = "has no word after the colon"
    else:
        complaint = f"is not {operator.noun}"
        understood = operator.read(value) if "|" not in value and (operator.takes_spaces or " " not in value) else None
        if operator.kind == "order" and understood is None:
            understood = custom.order_named(fields, value)
        if understood and (operator.kind == "value" or not negated):
            return _Item(Filter(operator.name, understood, negated), negated, joined)
        if understood:
            complaint = "cannot be excluded"
    return _as_words(typed, complaint, phrase and bool(value), negated, joined)


def _of_field(field: CustomField, value: str, phrase: bool, negated: bool, joined: bool, typed: str) -> _Item:
    """The piece made of an own field and its value, or the words of it."""
    understood = custom.understood(field, value) if value else None
    if understood:
        return _Item(Filter(field.name, understood, negated), negated, joined)
    complaint = f"is not {custom.SAMPLE[field.type]}" if value else "has no value after the colon"
    return _as_words(typed, complaint, phrase and bool(value), negated, joined)


def _as_words(typed: str, complaint: str, phrase: bool, negated: bool, joined: bool) -> _Item:
    notice = f"“{typed if len(typed) <= 40 else typed[:39] + '…'}” {complaint}, so it counts as plain words."
    return _Item(Term(typed, phrase), negated, joined, notice)


def _within(items: list[_Item], most: int) -> list[_Item]:
    """The pieces that have so many words together; the last of them may lose its end."""
    used: list[_Item] = []
    for item in items:
        size = _size(item)
        if size > most:
            return used + ([_shortened(item, most)] if most and isinstance(item.value, Term) else [])
        used.append(item)
        most -= size
    return used


def _size(item: _Item) -> int:
    return max(1, _count(item.value, item.value.text)) if isinstance(item.value, Term) else 1


def _count(term: Term, text: str) -> int:
    """How many words a part of a term's text is, where it is searched: addresses are cut in a way of their own."""
    return len(analysis.address_words(text)) if term.field == "url" else analysis.count_words(text)


def _shortened(item: _Item, most: int) -> _Item:
    assert isinstance(item.value, Term)
    term, text = item.value, item.value.text
    end = bisect_right(range(len(text)), most, key=lambda end: _count(term, text[:end])) - 1
    return msgspec.structs.replace(item, value=msgspec.structs.replace(term, text=text[:end].rstrip()))


def _assemble(typed: str, items: list[_Item], fields: CustomFields = ()) -> Query:
    """The pieces put together by what they are."""
    excluded = [item.value for item in items if item.negated]
    query = Query(
        typed=typed,
        groups=_groups(items),
        excluded=tuple(dict.fromkeys(term for term in excluded if isinstance(term, Term))),
        filters=tuple(_filters([item.value for item in items if isinstance(item.value, Filter)], fields)),
        fields=fields,
    )
    notices = ["OR works only between words and phrases. It was ignored elsewhere."] if _has_idle_or(items) else []
    after, before = query.values("after"), query.values("before")
    if after and before and after >= before:
        notices.append(f"No date is both on or after {after[0]} and before {before[0]}.")
    return msgspec.structs.replace(query, notices=tuple(notices))


def _filters(given: list[Filter], fields: CustomFields) -> Iterator[Filter]:
    kept = [(operator.name, _KEPT.get(operator.kind, dict.fromkeys)) for operator in OPERATORS]
    kept += [(field.name, _KEPT["value"]) for field in fields]
    for name, keep in kept:
        for excluded in (False, True):
            values = [one.value for one in given if one.operator == name and one.excluded is excluded]
            if values:
                yield from (Filter(name, value, excluded) for value in keep(values))


def _has_loose_phrases(query: Query) -> bool:
    """Whether phrases exceed what the index is asked for as phrases: they are paid for in the order of `Builder`."""
    readings = Readings()
    wanted = [phrase_words(term, False) for group in query.groups for term in group]
    unwanted = [phrase_words(term, True) for term in query.excluded]
    return any(readings.head(words) < len(words) for words in (*wanted, *unwanted) if words)


def _groups(items: list[_Item]) -> tuple[tuple[Term, ...], ...]:
    groups: list[dict[Term, None]] = []
    follows_term = False
    for item in items:
        wanted = isinstance(item.value, Term) and not item.negated
        if isinstance(item.value, Term) and wanted:
            if not (item.joined and follows_term):
                groups.append({})
            groups[-1][item.value] = None
        follows_term = wanted
    return tuple(dict.fromkeys(map(tuple, groups)))


def _has_idle_or(items: list[_Item]) -> bool:
    """Whether OR stands between pieces that it cannot join; equal filters are alternatives without it."""
    return any(
        after.joined and (before.operator != after.operator or before.negated or after.negated)
        for before, after in pairwise(items)
    )
