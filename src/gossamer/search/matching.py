"""Where the words of a query stand in a text, found without cutting the text into words.

A stemmer keeps the beginning of a word. So `str.find` looks for that beginning, which is a
quick C loop, and only what it finds is judged: does a word start here, where does it end, is
it a form of the query's word. Positions in the lower-case text must be positions in the
text itself, so every replacement below is one character for one:

- `İ` is the only character that grows in lower case; it is read as `i`;
- `ё` is read as `е`, as in the index;
- Arabic letters that have several spellings are read as one;
- accents of Latin letters do not matter, as in the index; but the stemmer is shown the word with them.

Writing without spaces has no words to cut: there the characters sought are the match. A word
ends where such writing begins (`GitHub平台`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category

import msgspec

from gossamer.compiled import twin
from gossamer.index.analysis import fold, is_spaceless
from gossamer.index.spelling import respelled_in_place

MAX_OCCURRENCES = 8
"""Matches of one needle that are looked for."""
MAX_TRIES = 50
"""Places where a needle's beginning stands that are judged: `s` begins a third of some texts."""
MAX_ENDING = 64
"""Characters a word may have after the needle's beginning; what is longer is no word."""
MAX_LEADING = 4
"""Letters before the needle's beginning, if there may be any: `وبال` is and, in, the."""
MAX_GAP = 16
"""Characters that may stand between two words of a phrase: spaces, quotes, dashes, brackets."""
MAX_REACH = 48
"""Characters searched for the beginning of a phrase, for each of its words before the rarest."""

_JOINERS = "\u200c\u200d"
_SAMPLE = 2_000
"""Characters in which an accent beyond Western Europe must stand for all of them to be removed: a Polish or Vietnamese
text has one, and to look through a text for a class of characters takes longer than all the rest."""

LAYOUT = ("Finder", MAX_OCCURRENCES, MAX_TRIES, MAX_ENDING, _SAMPLE)
"""What the compiled twin must agree in."""
_COMPILED = twin("excerpts", LAYOUT)

_ARABIC = re.compile("[\u0622-\u06f9]")
_REST = re.compile(r"[^\W_]*")
_GAP = re.compile(r"[\W_]*")
_LATIN_1 = bytes(ord(plain) if len(plain := fold(chr(code))) == 1 else code for code in range(256))
_PLAIN = {n: plain for n in (*range(0x100, 0x250), *range(0x1E00, 0x1F00)) if len(plain := fold(chr(n))) == 1}
_BEYOND_LATIN_1 = re.compile("[\u0100-\u024f\u1e00-\u1eff]")

Match = tuple[int, int, bool]
"""Start, end, and whether it is the very word of the query and not another form of it."""


class Needle(msgspec.Struct, frozen=True):
    """One word of a query, as it is looked for in a text."""

    prefix: str
    """Lower case, without white space; every form of the word starts with it. Nothing is found where it is empty."""
    word: str
    """The query's word, lower case: finding exactly this is worth more."""
    forms: Callable[[str], bool]
    """Whether a lower-case word of the text that starts with `prefix` is a form of the query's word."""
    inside: bool = False
    """For writing without spaces: `prefix` itself is the match, wherever it stands; `forms` is not asked."""
    weight: float = 1.0
    """How rare the word is."""
    led: bool = False
    """Articles and short words may be written together with it, before `prefix`, as in Arabic and Hebrew."""


class Phrase(msgspec.Struct, frozen=True):
    """Words that stand one after the other, with nothing between them but what is no word."""

    words: tuple[Needle, ...]


class Folded:
    """A text made comparable: strings of the same length as the text."""

    __slots__ = ("_plain", "lower")

    def __init__(self, text: str) -> None:
        self.lower = _lower(text)
        self._plain: str | None = None

    @property
    def plain(self) -> str:
        """For needles of ASCII: accents removed; what is not Latin may be missing."""
        if self._plain is None:
            self._plain = _without_accents(self.lower)
        return self._plain


def _lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    made: str | None = _COMPILED.lower(text) if _COMPILED is not None else None
    if made is not None:
        return made
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("İ", "i").lower()
    if _ARABIC.search(lower, 0, _SAMPLE):
        lower = respelled_in_place(lower)
    return lower.replace("ё", "е")


def _without_accents(lower: str) -> str:
    if lower.isascii():
        return lower
    made: str | None = _COMPILED.plain(lower, _LATIN_1) if _COMPILED is not None else None
    if made is not None:
        return made
    if _BEYOND_LATIN_1.search(lower, 0, _SAMPLE):
        lower = lower.translate(_PLAIN)
    # through bytes: 20 times faster than str.translate
    return lower.encode("latin-1", "replace").translate(_LATIN_1).decode("latin-1")


class WordMatcher:
    """Finds one needle; remembers its verdicts about words, so that a stemmer is asked once for each."""

    __slots__ = ("_inside", "_judged", "_known", "_led", "_plain", "_prefix", "_size", "_word", "finder", "worth")

    def __init__(self, needle: Needle) -> None:
        prefix = _lower(needle.prefix)
        plain = fold(prefix)
        # a question mark stands for everything else in `Folded.plain`
        self._plain = len(plain) == len(prefix) and plain.isascii() and "?" not in plain
        self._prefix = plain if self._plain else prefix
        self._size = len(self._prefix)
        self._word = _lower(needle.word)
        self._inside = needle.inside
        self._led = needle.led
        self._judged = _judge(self._word, self._size, needle.forms)
        self._known: dict[str, int] = {}
        self.worth = needle.weight
        self.finder: Any = None
        """The compiled twin, if there is one for this kind of word."""
        if _COMPILED is not None and self._prefix and not (self._led or self._inside):
            self.finder = _COMPILED.Finder(
                self._prefix, self._word, self._plain, self._known, self._judged, _joined, _with_rest
            )

    def find(self, text: Folded, start: int = 0, stop: int | None = None) -> list[Match]:
        """The matches that begin between two places, in order."""
        found: list[Match] = []
        prefix, lower = self._prefix, text.lower
        if not prefix:
            return found
        word, end_of, is_led = self._word, self._end, self._led
        source = text.plain if self._plain else lower
        stop = len(lower) if stop is None else stop + self._size
        if self.finder is not None:
            matches: list[Match] = self.finder.matches(lower, source, start, stop)
            return matches
        find = source.find
        at = find(prefix, start, stop)
        if at < 0:
            return found
        for _ in range(MAX_TRIES):
            begin = _beginning(lower, at) if is_led else at
            end = end_of(lower, at, begin)
            if end:
                found.append((begin, end, lower[begin:end] == word))
                if len(found) == MAX_OCCURRENCES:
                    break
            at = find(prefix, end or at + 1, stop)
            if at < 0:
                break
        return found

    def end_at(self, text: Folded, at: int) -> int:
        """The end of a match that begins here; 0 where there is none."""
        if self._prefix and (text.plain if self._plain else text.lower).startswith(self._prefix, at):
            return self._end(text.lower, at, at)
        return 0

    def after(self, before: WordMatcher, lower: str, end: int) -> int:
        """Where this word must begin to follow another in a phrase, which ended at `end`."""
        if self._inside and before._inside:
            return end
        return _GAP.match(lower, end, end + MAX_GAP).end()  # type: ignore[union-attr] # it may be empty

    def _end(self, lower: str, at: int, begin: int) -> int:
        """The end of a word that begins here and has the prefix at `at`; 0 if it is no form."""
        end = at + self._size
        if self._inside:
            return _with_marks(lower, end)
        if begin and (before := lower[begin - 1]) != " " and _joined(before):
            return 0
        limit = end + MAX_ENDING
        if lower[end : end + 1] != " ":
            end = _REST.match(lower, end, limit).end()  # type: ignore[union-attr] # it may be empty
            if end < len(lower) and lower[end] > "\u02ff":
                end = _with_rest(lower, end, limit)
        word = lower[begin:end]
        length = self._known.get(word)
        if length is None:
            length = self._known[word] = self._judged(word) if end < limit else 0
        return begin + length if length else 0


def _judge(needle: str, least: int, forms: Callable[[str], bool]) -> Callable[[str], int]:
    """What says how much of a word of the text is a form of the needle: up to where writing without spaces begins, or
    nothing. `least`: letters that the word begins with in any case."""

    def judged(word: str) -> int:
        if not word.isascii() and is_spaceless(word):
            word = word[: next((at for at in range(least, len(word)) if is_spaceless(word[at])), len(word))]
        return len(word) if word == needle or forms(word) else 0

    return judged


class PhraseMatcher:
    """Finds a phrase around its rarest word."""

    __slots__ = ("_anchor", "_words", "worth")

    def __init__(self, phrase: Phrase) -> None:
        self._words = [WordMatcher(word) for word in phrase.words]
        self._anchor = max(range(len(self._words)), key=lambda n: (self._words[n].worth, -n), default=0)
        self.worth = 2 * sum(word.worth for word in self._words)

    def find(self, text: Folded) -> list[Match]:
        """The matches, in order."""
        found: list[Match] = []
        if not self._words:
            return found
        first, reach = self._words[0], self._anchor * MAX_REACH
        done = 0
        for start, end, _ in self._words[self._anchor].find(text):
            begins = [(start, end)] if not reach else [b[:2] for b in first.find(text, max(done, start - reach), start)]
            for begin, first_end in begins:
                last = self._last(text, first_end)
                if last > start and begin >= done:
                    found.append((begin, last, True))
                    done = last
                    break
        return found

    def _last(self, text: Folded, end: int) -> int:
        """The end of the phrase whose first word ended at `end`; 0 where the others do not follow."""
        before = self._words[0]
        for word in self._words[1:]:
            end = word.end_at(text, word.after(before, text.lower, end))
            if not end:
                return 0
            before = word
        return end

    @property
    def finder(self) -> None:
        """Phrases have no compiled twin."""


Matcher = WordMatcher | PhraseMatcher
Place = tuple[int, int, int, bool]
"""A match of one of several matchers: start, end, which of them, and whether it is the very word. Plain tuples, since
there may be hundreds."""


def matchers(needles: Sequence[Needle | Phrase]) -> list[Matcher]:
    """What finds these needles."""
    return [PhraseMatcher(needle) if isinstance(needle, Phrase) else WordMatcher(needle) for needle in needles]


def places(text: str, sought: Sequence[Matcher]) -> list[Place]:
    """The matches of all that is sought, in order."""
    comparable, finders = Folded(text), [one.finder for one in sought]
    if _COMPILED is not None and None not in finders:
        found: list[Place] = _COMPILED.places(finders, comparable)
        return found
    return sorted((start, end, n, exact) for n, one in enumerate(sought) for start, end, exact in one.find(comparable))


def ranges(text: str, sought: Sequence[Matcher]) -> tuple[tuple[int, int], ...]:
    """Every place of a short text that is found, in order; what overlaps or touches is one."""
    merged: list[tuple[int, int]] = []
    for start, end, _, _ in places(text, sought):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def continues(char: str) -> bool:
    """Whether a character belongs to the one before it: combining marks and joiners."""
    return char > "\u02ff" and (category(char)[0] == "M" or char in _JOINERS)


def _beginning(lower: str, at: int) -> int:
    """Where the word begins whose stem is here, if that is near."""
    begin = at
    while begin and at - begin < MAX_LEADING and _joined(lower[begin - 1]):
        begin -= 1
    return begin


def _joined(before: str) -> bool:
    """Whether a word goes on after this character."""
    if before.isalnum():
        return before < "\u0e00" or not is_spaceless(before)
    return continues(before)


def _with_marks(lower: str, end: int) -> int:
    while end < len(lower) and continues(lower[end]):
        end += 1
    return end


def _with_rest(lower: str, end: int, limit: int) -> int:
    """The end of a word that has combining marks in it, as in Hindi or in decomposed text."""
    while end < min(limit, len(lower)) and continues(lower[end]):
        end = _REST.match(lower, _with_marks(lower, end), limit).end()  # type: ignore[union-attr] # it may be empty
    return min(end, limit)
