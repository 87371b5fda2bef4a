"""Refuses regular expressions that could take too long, whatever they are matched with.

Python's engine goes back and tries again, so an expression such as `(a+)+$` can take years. Here a
*repetition* is anything of varying length: `*`, `+`, `?`, `{m,n}`, or alternatives that can begin alike.
It is *open* until a character must follow that it cannot hold (the slash in `[^/]+/`): so long
the engine may shift its end. Refused are:

- three repetitions open at once that can hold the same character: the cube of the length
  (`.*a.*b.*c`);
- inside a repetition, two of them, or one that can go on with the next round: exponential
  (`(a+)+`, `(a?){9}`, `(a|/a?)*`);
- alternatives inside a repetition that can begin alike (`(a|ab)*`);
- what no regular language has: back references, look-ahead, look-behind.

This errs on the safe side: some that would be fast are refused as well.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, zip_longest
from operator import or_
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any

from gossamer.errors import UsageError

_ALL = (1 << 129) - 1
"""Sets of characters are bits: one for each of ASCII, the last for all beyond."""
_BEYOND = 1 << 128


def _set_of(characters: str) -> int:
    return sum(1 << ord(character) for character in characters)


_LOWER, _UPPER = _set_of(string.ascii_lowercase), _set_of(string.ascii_uppercase)
_DIGIT, _SPACE = _set_of(string.digits) | _BEYOND, _set_of(string.whitespace) | _BEYOND
_WORD = _set_of(string.ascii_letters + string.digits + "_") | _BEYOND
_CATEGORIES = {
    op.CATEGORY_DIGIT: _DIGIT,
    op.CATEGORY_SPACE: _SPACE,
    op.CATEGORY_WORD: _WORD,
    op.CATEGORY_NOT_DIGIT: _ALL & ~_DIGIT | _BEYOND,
    op.CATEGORY_NOT_SPACE: _ALL & ~_SPACE | _BEYOND,
    op.CATEGORY_NOT_WORD: _ALL & ~_WORD | _BEYOND,
}
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_GROUPS = (op.SUBPATTERN, op.ATOMIC_GROUP)
_CHARACTERS = (op.ANY, op.LITERAL, op.NOT_LITERAL, op.IN)

_MOST_OPEN, _MOST_DEPTH = 2, 3
_OVERLAPPING = "three repetitions in a row can hold the same characters, which can take too long: part them"
_NESTED = "a repetition inside a repetition can hold the same characters, which can take years"
_ALIKE = "alternatives inside a repetition begin alike, which can take years"
_DEEP = f"repetitions are nested more than {_MOST_DEPTH} deep, which can take too long"


def check_cost(expression: str) -> None:
    """`UsageError` where matching could take longer than the square of the length, or nobody knows how long."""
    _Cost().read(sre.parse(expression))


class _Cost:
    """Walks through an expression and refuses what could take too long."""

    def __init__(self, most: int = _MOST_OPEN, depth: int = 0, before: Iterable[int] = ()) -> None:
        self._most, self._depth = most, depth
        self.open = list(before)
        """The characters of each repetition that the next character may still belong to."""

    def read(self, items: Iterable[Any]) -> _Cost:
        """Go on with a sequence."""
        for code, value in items:
            if code in _REPEATS:
                self._repetition(*value)
            elif code is op.BRANCH:
                self._alternatives([list(branch) for branch in value[1]])
            elif code in _GROUPS:
                self.read(_body(code, value))
            elif code is not op.AT:
                self._must_have(_characters(code, value))
        return self

    def _must_have(self, characters: int) -> None:
        self.open = [held for held in self.open if held & characters]

    def _may_have(self, characters: int) -> None:
        if sum(1 for held in self.open if held & characters) >= self._most:
            raise UsageError(_NESTED if self._depth else _OVERLAPPING)
        self.open.append(characters)

    def _repetition(self, least: int, most: Any, body: Any) -> None:
        if most == 0:
            return
        if most == 1:
            self._option(body) if least == 0 else self.read(body)
            return
        first, may_be_empty = _first(body)
        if not _is_character(body):
            if self._depth == _MOST_DEPTH:
                raise UsageError(_DEEP)
            round_about = _Cost(1, self._depth + 1).read(body)
            if any(held & first for held in round_about.open):
                raise UsageError(_NESTED)
            round_about.read(body)
        if least and not may_be_empty:
            self._must_have(first)
        if least != most or not _is_character(body):
            self._may_have(_everything(body))

    def _option(self, body: Any) -> None:
        """Something that may be left out: what is open after it, with or without it. That it may be left out counts as
        one repetition more, unless it leaves one open itself; where it may be empty, there are two ways to nothing."""
        with_it = _Cost(self._most, self._depth, self.open).read(body).open
        added = len(with_it) - len(self.open)
        self.open = [one | other for one, other in zip_longest(self.open, with_it, fillvalue=0)]
        may_be_empty = _first(body)[1]
        if may_be_empty and self._depth:
            raise UsageError(_NESTED)
        if added > 0 and not may_be_empty:
            self.open[-1] |= _everything(body)
        else:
            self._may_have(_everything(body))

    def _alternatives(self, branches: list[Any]) -> None:
        begins = [_ALL if may_be_empty else first for first, may_be_empty in map(_first, branches)]
        alike = any(one & other for one, other in combinations(begins, 2))
        if alike and self._depth:
            raise UsageError(_ALIKE)
        after = [_Cost(self._most, self._depth, self.open).read(branch).open for branch in branches]
        # only one branch is taken: what is open after each is one repetition, not several
        self.open = [reduce(or_, held) for held in zip_longest(*after, fillvalue=0)]
        if alike:
            self._may_have(reduce(or_, map(_everything, branches)) or _ALL)


def _is_character(items: Any) -> bool:
    return len(items) == 1 and items[0][0] in _CHARACTERS


def _body(code: Any, value: Any) -> Any:
    return value[3] if code is op.SUBPATTERN else value


def _first(items: Iterable[Any]) -> tuple[int, bool]:
    """The characters a sequence can begin with, and whether it can be empty."""
    found = 0
    for code, value in items:
        characters, may_be_empty = _first_of(code, value)
        found |= characters
        if not may_be_empty:
            return found, False
    return found, True


def _first_of(code: Any, value: Any) -> tuple[int, bool]:
    if code in _REPEATS:
        first, may_be_empty = _first(value[2])
        return first, may_be_empty or value[0] == 0
    if code is op.BRANCH:
        firsts = [_first(branch) for branch in value[1]]
        return reduce(or_, (first for first, _ in firsts)), any(may_be_empty for _, may_be_empty in firsts)
    if code in _GROUPS:
        return _first(_body(code, value))
    return (0, True) if code is op.AT else (_characters(code, value), False)


def _everything(items: Iterable[Any]) -> int:
    """All characters that a sequence can hold."""
    found = 0
    for code, value in items:
        if code in _REPEATS:
            found |= _everything(value[2])
        elif code is op.BRANCH:
            found |= reduce(or_, map(_everything, value[1]))
        elif code in _GROUPS:
            found |= _everything(_body(code, value))
        elif code is not op.AT:
            found |= _characters(code, value)
    return found


def _characters(code: Any, value: Any) -> int:
    """The set of a single character; in both cases, since `(?i)` may be in force."""
    if code is op.ANY:
        return _ALL
    if code is op.LITERAL:
        return _both_cases(_bit(value))
    if code is op.NOT_LITERAL:
        return _ALL & ~_bit(value) | _BEYOND
    if code is op.IN:
        return _class(value)
    raise UsageError("only characters, groups, alternatives and repetitions may stand in a pattern: see not_urls")


def _class(items: Sequence[Any]) -> int:
    found = 0
    for code, value in items:
        if code is op.LITERAL:
            found |= _bit(value)
        elif code is op.RANGE:
            found |= reduce(or_, map(_bit, range(value[0], min(value[1], 128) + 1)), 0)
            found |= _BEYOND if value[1] > 127 else 0
        elif code is op.CATEGORY:
            found |= _CATEGORIES[value]
    negated = items[0][0] is op.NEGATE
    return _ALL & ~found | _BEYOND if negated else _both_cases(found)


def _bit(code_point: int) -> int:
    return 1 << min(code_point, 128)


def _both_cases(characters: int) -> int:
    upper, lower = characters & _UPPER, characters & _LOWER
    return characters | upper << 32 | lower >> 32
