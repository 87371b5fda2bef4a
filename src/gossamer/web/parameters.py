"""Every parameter of a URL, declared once: what it means, what it may be, and how text becomes a value.

People and programs make different mistakes. A person follows an old link or
edits an address: what cannot be read counts as not given, and numbers are
brought into range (`read`). A program wants to know: the API refuses with a
sentence (`read_strictly`). The OpenAPI document is made from the same objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, get_args

from gossamer.search.query import operators
from gossamer.search.query.operators import NARROWING, OPERATORS, Chosen
from gossamer.search.results import Facets, Request, Since

T = TypeVar("T")

# Control characters, and halves of surrogate pairs, which no text holds.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
_DIGITS = re.compile(r"[+-]?[0-9]{1,4000}")


class BadParameter(Exception):  # noqa: N818 - named as what it is
    """A parameter that a program got wrong; the text says which and why."""


class Parameter(Generic[T]):
    """One parameter: its name, its sentence, and what stands for it where it is missing."""

    def __init__(self, name: str, sentence: str, default: T, example: str = "", required: bool = False) -> None:
        self.name = name
        self.sentence = sentence
        self.default = default
        self.example = example
        self.required = required

    def read(self, given: Mapping[str, str]) -> T:
        """The value a person means: broken text counts as none."""
        try:
            return self.parse(given[self.name])
        except (KeyError, BadParameter):
            return self.default

    def read_strictly(self, given: Mapping[str, str]) -> T:
        """The value a program gives, or `BadParameter`."""
        if self.name not in given:
            if self.required:
                raise BadParameter(f"{self.name}: required")
            return self.default
        return self.parse(given[self.name])

    def parse(self, text: str) -> T:
        """Text to value; raises `BadParameter`."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """The parameter as OpenAPI writes it."""
        schema = self.schema()
        if not self.required:
            schema["default"] = self.default
        described: dict[str, Any] = {
            "name": self.name, "in": "query", "description": self.sentence, "required": self.required, "schema": schema,
        }  # fmt: skip
        if self.example:
            described["example"] = self.example
        return described


class Text(Parameter[str]):
    """Free text; control characters become spaces."""

    def __init__(
        self, name: str, sentence: str, example: str = "", required: bool = False, pattern: str = "", longest: int = 0
    ) -> None:
        super().__init__(name, sentence, "", example, required)
        self._pattern = re.compile(pattern)
        self._longest = longest

    def parse(self, text: str) -> str:
        """The text without what cannot be seen or sent."""
        if self._longest and len(text) > self._longest:
            raise BadParameter(f"{self.name}: longer than {self._longest} characters")
        if self._pattern.pattern and text and not self._pattern.fullmatch(text):
            raise BadParameter(f"{self.name}: {text[:80]!r} does not match {self._pattern.pattern}")
        return _CONTROL.sub(" ", text).strip()

    def schema(self) -> dict[str, Any]:
        """A string."""
        schema: dict[str, Any] = {"type": "string"}
        if self._pattern.pattern:
            schema["pattern"] = f"^({self._pattern.pattern})?$"
        if self._longest:
            schema["maxLength"] = self._longest
        return schema


class Name(Text):
    """Text that the index keeps in small letters."""

    def parse(self, text: str) -> str:
        """The text in small letters."""
        return super().parse(text).lower()


class Whole(Parameter[int]):
    """A whole number in a range."""

    def __init__(self, name: str, sentence: str, default: int, least: int, most: int) -> None:
        super().__init__(name, sentence, default)
        self._least, self._most = least, most

    def read(self, given: Mapping[str, str]) -> int:
        """As for all, but a number out of range is brought into it."""
        text = given.get(self.name, "").strip()
        return min(max(int(text), self._least), self._most) if _DIGITS.fullmatch(text) else self.default

    def parse(self, text: str) -> int:
        """Digits to number."""
        if not _DIGITS.fullmatch(text) or not self._least <= int(text) <= self._most:
            raise BadParameter(f"{self.name}: {text[:40]!r} is not a whole number from {self._least} to {self._most}")
        return int(text)

    def schema(self) -> dict[str, Any]:
        """An integer with its range."""
        return {"type": "integer", "minimum": self._least, "maximum": self._most}


class Choice(Parameter[Any]):
    """One of a few words; the first is the default."""

    def __init__(self, name: str, sentence: str, values: tuple[str, ...]) -> None:
        super().__init__(name, sentence, values[0])
        self.values = values

    def parse(self, text: str) -> Any:
        """The word, as it is declared."""
        word = text.strip().lower()
        if word not in self.values:
            raise BadParameter(f"{self.name}: {text[:40]!r} is not one of {', '.join(filter(None, self.values))}")
        return word

    def schema(self) -> dict[str, Any]:
        """An enumeration."""
        return {"type": "string", "enum": list(self.values)}


class Order(Name):
    """One of a few words, or the name of one of the operator's own fields; the first word is the default."""

    def __init__(self, name: str, sentence: str, values: tuple[str, ...]) -> None:
        super().__init__(name, sentence, pattern="-?[A-Za-z][A-Za-z0-9_-]*", longest=31)
        self.default, self.values = values[0], values

    def parse(self, text: str) -> str:
        """The word or name, in small letters."""
        return super().parse(text) or self.default


class Flag(Parameter[bool]):
    """Yes or no."""

    _WORDS: Mapping[str, bool] = {"1": True, "true": True, "0": False, "false": False}

    def parse(self, text: str) -> bool:
        """1, true, 0 or false."""
        value = self._WORDS.get(text.strip().lower())
        if value is None:
            raise BadParameter(f"{self.name}: {text[:40]!r} is not one of {', '.join(self._WORDS)}")
        return value

    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}


def _of_operator(chosen: Chosen) -> Text:
    kind = Name if chosen.lower else Text
    return kind(chosen.name, chosen.sentence, pattern=chosen.pattern, longest=chosen.longest)


def _listed() -> str:
    *others, last = (operators.FACETS[name].counted for name in Facets.__struct_fields__)
    return f"{', '.join(others)} and {last}"


QUERY = Text(
    "q",
    f'The query: words, "phrases", -not, OR, {" ".join(NARROWING)}',
    "rocket",
    required=True,
)
PREFIX = Text("q", "The beginning of a query.", "roc", required=True)
PAGE = Whole("page", "Page of results, from 1.", 1, 1, 1_000_000)
SIZE = Whole("size", "Results per page.", 10, 1, 100)
SORT = Order(
    "sort",
    "Order of the results: relevance, date, or one of your fields: price for the smallest first, -price for the "
    "largest.",
    ("relevance", "date"),
)
SINCE = Choice("since", "Only pages dated within the last day, week, month or year.", get_args(Since))
FACETS = Flag("facets", f"Also count {_listed()}.", True)
SIMILAR = Flag("similar", "List near-duplicates instead of collapsing them under the best one.", False)
LITERAL = Flag(
    "literal",
    "Search only for the query as typed: no other spelling, no other forms of a phrase, no fewer words.",
    False,
)
FIELDS = Text(
    "fields", "Only pages with these values of your fields, as in a query: price:10..20 color:red.", longest=1_000
)
COLLECTION = Name(
    "collection", "Only pages of this collection of the search desk.", pattern=r"[A-Za-z0-9-]+", longest=40
)
GROUP = Flag(
    "group",
    "Show at most two results of one site on a page, or of one part of a site, if the best results come from many.",
    True,
)
WORDS = Text("q", "Further words and operators that the pages must have.", "rocket")
ADDRESS = Text("url", "URL of a page.", "https://www.example.org/", required=True)
OLDER = Text(
    "from", "The older visit to compare: its fetched_at. Default: the second-newest visit with text.", longest=40
)
NEWER = Text("to", "The newer visit to compare: its fetched_at. Default: the newest visit with text.", longest=40)
FORMAT = Choice("format", "Form of the text: text, a line for each block, or markdown.", ("text", "markdown"))
LIMIT = Whole("limit", "Maximum number of suggestions.", 8, 1, 20)

FILTERS: tuple[Parameter[Any], ...] = (
    SORT, SINCE, *(_of_operator(operator.chosen) for operator in OPERATORS if operator.chosen), COLLECTION, FIELDS,
    GROUP, SIMILAR,
)  # fmt: skip
"""What narrows or orders a search, beside the query."""
SEARCH: tuple[Parameter[Any], ...] = (QUERY, PAGE, SIZE, *FILTERS, LITERAL, FACETS)
"""Everything that makes a `Request`."""


def request_of(given: Mapping[str, str], strictly: bool = False) -> Request:
    """The search that a URL's parameters ask for."""
    read: dict[str, Any] = {
        ("query" if parameter is QUERY else parameter.name): (
            parameter.read_strictly(given) if strictly else parameter.read(given)
        )
        for parameter in SEARCH
    }
    return Request(**read)
