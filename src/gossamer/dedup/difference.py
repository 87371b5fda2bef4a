"""What changed between two versions of a text, so that a person can read it.

Paragraphs are compared first; those that are gone and those that came in their place are then compared word by word
where they are alike. What stayed is only counted. A difference is exact: together with the old text it gives the new
one. Work is bounded (`alignment`), so that two texts of two million characters take a second at most,
be they one line or a million; beyond the bound, texts are shown as removed and added where a closer look would have
found words in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from gossamer.dedup.alignment import Budget, Match, matches

WORK = 10_000_000
"""Comparisons for one difference."""
_ALIKE = 0.4
"""Share of words in common from which on a paragraph counts as changed, not as replaced."""
_SURELY = 0.8
_AHEAD = 8
"""Paragraphs among which the new form of an old one is looked for."""
_LOOK = 50
"""What a look at a pair of paragraphs costs beside that of their words."""
_UNPARTED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts that do not part words: each character counts as one."""
_WORD = rf"[{_UNPARTED}]|[^\W{_UNPARTED}]+"
_ONLY_WORDS = re.compile(_WORD)
_WORDS = re.compile(rf"{_WORD}|\s+|[^\w\s]")
"""With what stands between them, so that nothing is lost."""
_LETTER = re.compile(r"\w")

Kind = Literal["same", "removed", "added"]


class Piece(msgspec.Struct, frozen=True):
    """A part of a paragraph."""

    kind: Kind
    text: str


class Change(msgspec.Struct, frozen=True):
    """A change of one paragraph (`changed`) or of several in a row."""

    kind: Literal["same", "removed", "added", "changed"]
    paragraphs: int = 1
    pieces: tuple[Piece, ...] = ()
    """None for `same`. Without those that were removed, the new paragraphs; without those that were added, the old."""


class Difference(msgspec.Struct, frozen=True):
    """How one text became another, paragraph by paragraph."""

    changes: tuple[Change, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return all(change.kind == "same" for change in self.changes)

    def words(self, kind: Kind) -> int:
        """Words that were removed, or added."""
        pieces = (piece for change in self.changes for piece in change.pieces if piece.kind == kind)
        return sum(len(_ONLY_WORDS.findall(piece.text)) for piece in pieces)


def difference(old: str, new: str, work: int = WORK) -> Difference:
    """How `old` became `new`."""
    budget = Budget(work)
    before, after = old.split("\n"), new.split("\n")
    changes: list[Change] = []
    old_at = new_at = 0
    for match in [*matches(before, after, budget), Match(len(before), len(after), 0)]:
        changes += _replaced(before[old_at : match.old_at], after[new_at : match.new_at], budget)
        if match.size:
            changes.append(Change("same", match.size))
        old_at, new_at = match.old_at + match.size, match.new_at + match.size
    return Difference(tuple(changes))


def folded(pieces: Sequence[Piece], context: int = 80) -> Iterator[Piece]:
    """A changed paragraph for a reader: of what stayed only the `context` characters beside a change are left."""
    for place, piece in enumerate(pieces):
        head = context if place else 0
        tail = context if place + 1 < len(pieces) else 0
        if piece.kind != "same" or len(piece.text) <= head + tail + 3:
            yield piece
            continue
        end = len(piece.text) - tail
        before, after = _until_word(piece.text[:head]), _from_word(piece.text[end:])
        yield Piece("same", f"{before}{' ' * bool(before)}…{' ' * bool(after)}{after}")


def _until_word(text: str) -> str:
    """Without the piece of a word at the end."""
    cut = text.rstrip().rpartition(" ")[0]
    return cut or text


def _from_word(text: str) -> str:
    cut = text.lstrip().partition(" ")[2]
    return cut or text


def _replaced(old: Sequence[str], new: Sequence[str], budget: Budget) -> Iterator[Change]:
    """Paragraphs that are gone, and those that stand in their place."""
    known: dict[int, frozenset[str]] = {}
    shown, place = 0, 0
    for number, text in enumerate(old):
        if budget.left < _LOOK:
            break
        found = _like(text, new, place, known, budget)
        if found is not None:
            yield from _whole("removed", old[shown:number])
            yield from _whole("added", new[place:found])
            yield _changed(text, new[found], budget)
            shown, place = number + 1, found + 1
    yield from _whole("removed", old[shown:])
    yield from _whole("added", new[place:])


def _whole(kind: Literal["removed", "added"], paragraphs: Sequence[str]) -> Iterator[Change]:
    if paragraphs:
        yield Change(kind, len(paragraphs), (Piece(kind, "\n".join(paragraphs)),))


def _like(text: str, others: Sequence[str], start: int, known: dict[int, frozenset[str]], budget: Budget) -> int | None:
    """The next of other paragraphs that is this one in another form; `known` remembers their words."""
    words: frozenset[str] | None = None
    best, best_share = None, _ALIKE
    for place in range(start, min(start + _AHEAD, len(others))):
        new = 0 if place in known else len(others[place])
        if not budget.pay(_LOOK + new + (len(text) if words is None else len(words))):
            break
        words = _vocabulary(text) if words is None else words
        there = known[place] = known[place] if place in known else _vocabulary(others[place])
        share = 2 * len(words & there) / max(1, len(words) + len(there))
        if share > best_share or (best is None and share == best_share):
            best, best_share = place, share
        if share >= _SURELY:
            break
    return best


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(_ONLY_WORDS.findall(text))


def _changed(old: str, new: str, budget: Budget) -> Change:
    """One paragraph that became another, word by word."""
    if not budget.pay(_LOOK + len(old) + len(new)):
        return Change("changed", 1, tuple(_pieces([(old, new, "")])))
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    runs: list[tuple[str, str, str]] = []  # removed, added, and the text that stayed behind them
    old_at = new_at = 0
    for match in [*matches(before, after, budget), Match(len(before), len(after), 0)]:
        gone, came = "".join(before[old_at : match.old_at]), "".join(after[new_at : match.new_at])
        old_at, new_at = match.old_at + match.size, match.new_at + match.size
        runs.append((gone, came, "".join(before[match.old_at : old_at])))
    return Change("changed", 1, tuple(_pieces(_without_islands(runs))))


def _without_islands(runs: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Runs joined over what stayed between them, where that is shorter than the changes on both sides: a word in
    common amidst others only makes it harder to read."""
    joined: list[tuple[str, str, str]] = []
    for gone, came, stayed in runs:
        if joined and gone + came:
            last_gone, last_came, island = joined[-1]
            most = min(max(len(last_gone), len(last_came)), max(len(gone), len(came)))
            if last_gone + last_came and (len(island) <= most or not _LETTER.search(island)):
                joined[-1] = (last_gone + island + gone, last_came + island + came, stayed)
                continue
        joined.append((gone, came, stayed))
    return joined


def _pieces(runs: Sequence[tuple[str, str, str]]) -> Iterator[Piece]:
    kinds: tuple[Kind, ...] = ("removed", "added", "same")
    for run in runs:
        yield from (Piece(kind, text) for kind, text in zip(kinds, run, strict=True) if text)
