"""Labelled pages, checked before anything is learnt from them.

The order in which examples come does not matter: they are sorted here by what they say, and everything after that
is a function of the sorted list.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec
import xxhash

from gossamer.errors import UsageError
from gossamer.model.counts import counted

MIN_EXAMPLES = 3
"""A category with fewer examples cannot be learnt: one to learn from, one to test with, one to spare."""
FEW = 20
"""Below this a category is learnt, with a warning."""
MOST = 5_000
"""Examples of one category that are learnt from; more cost memory and teach little."""
MAX_NAME = 60
"""Characters of a category's name."""
_WAY_OUT = "give at least two categories with a few dozen examples each"


class Example(msgspec.Struct, frozen=True):
    """A page whose category is known."""

    category: str
    title: str
    text: str
    site: str = ""
    """Where it comes from, so that a category is tested on sites it was not learnt from."""

    @property
    def fingerprint(self) -> bytes:
        """Equal for pages that say the same."""
        return xxhash.xxh3_128_digest(f"{self.title}\0{self.text}".encode("utf-8", "replace"))


class Page(Protocol):
    """What is asked of a stored page."""

    @property
    def url(self) -> str:
        """Its address."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def text(self) -> str:
        """Its main text."""


def examples_from_pages(
    pages: Iterable[Page], category_of: Callable[[str], str], site_of: Callable[[str], str] = lambda url: ""
) -> Iterator[Example]:
    """Those pages as examples whose URL somebody, such as a document rule, gives a category."""
    for page in pages:
        category = category_of(page.url)
        if category:
            yield Example(category, page.title, page.text, site_of(page.url))


def checked(examples: Iterable[Example]) -> tuple[list[Example], list[str]]:
    """What can be learnt from, in an order of its own, and what to say of the rest; `UsageError` where nothing can."""
    warnings: list[str] = []
    kept = _without_copies(_named(examples, warnings), warnings)
    kept = _not_too_many(kept, warnings)
    counts = Counter(example.category for example in kept)
    _check_spelling(counts)
    small = sorted(name for name, count in counts.items() if count < MIN_EXAMPLES)
    warnings += [f"{name} is left out: {_examples(counts[name])}, at least {MIN_EXAMPLES} are needed" for name in small]
    left = [example for example in kept if counts[example.category] >= MIN_EXAMPLES]
    names = sorted({example.category for example in left})
    if len(names) < 2:
        raise UsageError(_too_few(names, small))
    warnings += [
        f"{name} has only {counted(counts[name], 'example')}: more will make it better"
        for name in names
        if counts[name] < FEW
    ]
    return left, warnings


def _examples(count: int) -> str:
    return counted(count, "example")


def _named(examples: Iterable[Example], warnings: list[str]) -> Iterator[Example]:
    empty = 0
    for example in examples:
        name = category_name(example.category)
        if not (example.title.strip() or example.text.strip()):
            empty += 1
            continue
        yield example if name == example.category else msgspec.structs.replace(example, category=name)
    if empty:
        warnings.append(f"{_examples(empty)} left out: there is no text")


def category_name(name: str) -> str:
    """A name as it is stored; `UsageError` where it is none."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise UsageError(f"{name[:80]!r} is no name for a category: write 1 to {MAX_NAME} printable characters")
    return name


def _without_copies(examples: Iterable[Example], warnings: list[str]) -> list[Example]:
    """One of each group of equal pages, which would tell the test what it should guess; none where their
    categories differ."""
    alike: dict[bytes, list[Example]] = defaultdict(list)
    for example in examples:
        alike[example.fingerprint].append(example)
    kept: list[tuple[str, bytes, Example]] = []
    contradicting = 0
    for key, group in alike.items():
        if len({example.category for example in group}) > 1:
            contradicting += len(group)
            continue
        kept.append((group[0].category, key, min(group, key=lambda example: example.site)))
    if contradicting:
        warnings.append(f"{_examples(contradicting)} left out: the same text stands in several categories")
    return [example for *_, example in sorted(kept, key=lambda item: item[:2])]


def _not_too_many(examples: list[Example], warnings: list[str]) -> list[Example]:
    """They are sorted by hash inside a category, so the first ones are a fair sample."""
    taken: Counter[str] = Counter()
    kept = []
    for example in examples:
        taken[example.category] += 1
        if taken[example.category] <= MOST:
            kept.append(example)
    warnings += [
        f"{name}: {MOST} of {count} examples are used" for name, count in sorted(taken.items()) if count > MOST
    ]
    return kept


def _check_spelling(names: Iterable[str]) -> None:
    spellings: dict[str, str] = {}
    for name in sorted(names):
        other = spellings.setdefault(name.casefold(), name)
        if other != name:
            raise UsageError(f"{other!r} and {name!r} differ in case only: spell the category in one way")


def _too_few(names: list[str], small: list[str]) -> str:
    if names:
        return f"all usable examples are of the category {names[0]!r}: {_WAY_OUT}"
    if small:
        return f"every category has fewer than {MIN_EXAMPLES} examples ({', '.join(small[:5])}): {_WAY_OUT}"
    return f"there are no examples to learn from: {_WAY_OUT}"
