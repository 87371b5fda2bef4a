"""Did you mean, and suggestions while typing: both from the words of the index, given by the caller.

A word is corrected only where there is reason to:

- no page has it;
- hardly any page has it while a near neighbour is everywhere, and the search found next to nothing;
- it stands on one page or two, and a word with one other letter on a hundred times as many: the pages misspell it.

A word that is known once the keyboard layout is switched was typed with the wrong layout; one that is known in Cyrillic
letters was typed by ear. A word that only begins known ones was not typed to its end. Scripts that are not typed letter
by letter, and words with digits, are left alone: that two model numbers are alike means nothing.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Protocol
from unicodedata import category, normalize

from gossamer.search.query.keyboard import other_layouts
from gossamer.search.query.transliteration import readings

MAX_LENGTH = 40
MAX_CORRECTED = 8
"""Words of a query that are looked at: each may cost 20 ms."""
FEW_FOUND = 5
"""Results up to which a word that exists may still be a mistake."""
FAR_RARER = 50
"""How many times more pages have the neighbour of an existing word that is taken for a mistake."""
DOUBTFUL = 2
"""Pages up to which a word may be a mistake of the pages themselves, however much the search found."""
MISSPELT = 100
"""How many times more pages have the neighbour of such a word."""
SHORTEST_START = 4
"""Letters from which on the beginning of a word tells which word it is."""
TITLE_CHARS = 60

_PUNCTUATION = string.punctuation + "«»“”„‟「」『』‘’…–—−、。，！？：；"
_WITHOUT_SPACES = re.compile(  # Thai, Lao, Burmese, Khmer, Hangul, Kana, Han
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3100-\u318f\u3400-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_COMPLETIONS = 5
_REMEMBERED = 2_000
"""Words whose neighbours are remembered."""
_MOST_LETTERS = 80
"""Letters of a script up to which each of them is tried."""
_LAST = "\U0010ffff"
"""After every letter."""
_NO_WORD = re.compile(r"[\W_]+")
_LAST_WORD = re.compile(r"[^\W_]*\Z")


class Spelling(Protocol):
    """Words that are known, and those like them."""

    def frequency(self, word: str) -> int:
        """Pages that have this word; 0 for an unknown one."""
        ...

    def neighbours(self, word: str) -> list[tuple[int, str]]:
        """The words one mistake away, or else two, and how many mistakes, best first."""
        ...

    def completions(self, start: str) -> list[str]:
        """The words on most pages that begin so and are longer, best first."""
        ...


class Vocabulary:
    """The words that pages are written with, and how many pages have each."""

    def __init__(self, counts: Iterable[tuple[str, int]], limit: int = 200_000) -> None:
        usable = ((count, word) for word, count in counts if 1 < len(word) <= MAX_LENGTH and not _has_digit(word))
        self._counts = {word: count for count, word in sorted(usable, reverse=True)[:limit]}
        self._by_length: dict[tuple[bool, int], list[str]] = {}
        for word in self._counts:
            if _is_spelled(word):
                self._by_length.setdefault((_is_latin(word), len(word)), []).append(word)
        self._near: dict[str, tuple[tuple[int, str], ...]] = {}
        """Neighbours of words that were asked for: many people make the same mistakes."""
        self._letters: dict[int, set[str]] = {}
        """Letters by the part of Unicode that they are of."""
        for words in self._by_length.values():
            for letter in set("".join(words)):
                self._letters.setdefault(_block(letter), set()).add(letter)

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def has_cyrillic(self) -> bool:
        """Whether any word is in Cyrillic letters; without one, none can be meant that was typed by ear."""
        return _block("а") in self._letters

    def frequency(self, word: str) -> int:
        """Pages that have this word; 0 for an unknown one."""
        return self._counts.get(word, 0)

    def closest(self, word: str, limit: int = 5) -> list[str]:
        """The words most like this one, best first: fewer mistakes, then more pages."""
        return [near for _, near in self._within(word)[:limit]] if _may_be_near(word) else []

    def neighbours(self, word: str) -> list[tuple[int, str]]:
        """The words one mistake away, or else (from six letters on) two, and how many mistakes, best first.

        A mistake is a letter too many, missing, wrong, or swapped with the next; the first letter is no exception."""
        if not _may_be_near(word):
            return []
        known = self._near.get(word)
        if known is None:
            if len(self._near) >= _REMEMBERED:
                self._near.clear()
            known = self._near[word] = tuple(self._looked_up(word))
        return list(known)

    def _looked_up(self, word: str) -> list[tuple[int, str]]:
        # To try every letter in every place takes a hundredth of the time that comparing all words does.
        letters = self._letters.get(_block(word), set())
        one_away = _edited(word, letters) & self._counts.keys() if len(letters) <= _MOST_LETTERS else set()
        if one_away:
            return [(1, near) for near in sorted(one_away, key=lambda near: (-self._counts[near], near))]
        return self._within(word)

    def _within(self, word: str) -> list[tuple[int, str]]:
        """All words one or two mistakes away, best first."""
        length = len(word)
        from rapidfuzz import process  # the indexer, and searches that find enough, go without
        from rapidfuzz.distance import OSA

        most = 1 if length < 6 else 2
        found: list[tuple[int, str]] = []
        for near_length in range(length - most, length + most + 1):
            words = self._by_length.get((_is_latin(word), near_length), [])
            matches = process.extract(word, words, scorer=OSA.distance, score_cutoff=most, limit=None)
            found += [(int(distance), near) for near, distance, _ in matches if distance]
        return sorted(found, key=lambda match: (match[0], -self._counts[match[1]], match[1]))

    def completions(self, start: str) -> list[str]:
        """The words on most pages that begin so and are longer, best first."""
        if len(start) < SHORTEST_START or not _is_spelled(start):
            return []
        first = bisect_left(self._in_order, start)
        end = bisect_left(self._in_order, start + _LAST)
        longer = (word for word in self._in_order[first:end] if word != start)
        return sorted(longer, key=lambda word: (-self._counts[word], word))[:_COMPLETIONS]

    @cached_property
    def _in_order(self) -> list[str]:
        """The words in alphabetical order."""
        return sorted(self._counts)

    def beginning_nearly(self, start: str, limit: int = 8) -> list[tuple[str, int]]:
        """The words on most pages whose beginning is one mistake away from this one, and on how many they are."""
        if not SHORTEST_START <= len(start) <= MAX_LENGTH or not _is_spelled(start):
            return []
        letters = self._letters.get(_block(start), set())
        starts = _edited(start, letters if len(letters) <= _MOST_LETTERS else (), first=1)
        found = {word for other in starts for word in self.completions(other)} | (starts & self._counts.keys())
        best = sorted(found, key=lambda word: (-self._counts[word], word))[:limit]
        return [(word, self._counts[word]) for word in best]


def did_you_mean(
    words: Sequence[str], vocabulary: Spelling, found: int, frequency: Callable[[str], int] | None = None
) -> list[str] | None:
    """The words corrected, one answer for each (it may be two words), or None where nothing should change.

    `found` counts the results of the words as they are. `frequency` says on how many pages the search finds a word,
    where it knows better than the vocabulary: an inflected form may be found by its stem.
    """
    pages = frequency or vocabulary.frequency
    if len(words) == 1:  # then all that was found has the word, whatever the vocabulary says
        pages = _at_least(found, pages)
    looked_at = words[:MAX_CORRECTED]
    corrected = [_correct(word, vocabulary, pages, found) for word in looked_at]
    switched = [layout for _, layout in corrected]
    # The layout is switched once for a whole query: short words, which could be anything, follow the long ones.
    follow = any(switched) and all(done or len(word) < 3 for word, done in zip(looked_at, switched, strict=True))
    answer = [
        next(iter(other_layouts(word)), word) if follow and not layout else better
        for word, (better, layout) in zip(looked_at, corrected, strict=True)
    ] + list(words[MAX_CORRECTED:])
    return answer if answer != list(words) else None


def complete(prefix: str, terms: Sequence[tuple[str, int]], titles: Sequence[str], limit: int = 8) -> list[str]:
    """How a query that is being typed may go on: titles that match, then its last word completed.

    `terms` are words of the index that begin with the last word, with their frequencies; `titles` are candidates.
    """
    normal = normalize("NFKC", prefix)
    typed = " ".join(normal.split())
    if not typed:
        return []
    seen = {typed.casefold(), prefix.strip().casefold()}
    titled = [title for title in map(_shorten, titles) if _title_matches(title, typed)]
    by_frequency = sorted(terms, key=lambda term: -term[1]) if not normal[-1].isspace() else []
    named = _distinct(titled, seen)
    completed = _distinct((_complete_last(typed, term) for term, _ in by_frequency), seen)
    return (named[: max(limit - len(completed), limit // 2)] + completed)[:limit]


def _at_least(least: int, pages: Callable[[str], int]) -> Callable[[str], int]:
    return lambda word: max(least, pages(word))


def _correct(word: str, vocabulary: Spelling, pages: Callable[[str], int], found: int) -> tuple[str, bool]:
    """The word as it was meant, and whether the keyboard layout was wrong."""
    core = _core(word)
    if not core:
        return word, False
    has = pages(core)
    few = found <= FEW_FOUND
    if has > DOUBTFUL and not few:
        return word, False
    enough = max(1, has * (FAR_RARER if few else MISSPELT))
    switched = max(_layouts(word, core), key=vocabulary.frequency, default="")
    if vocabulary.frequency(switched) >= enough:
        return switched, True
    near = [match for match in vocabulary.neighbours(core) if vocabulary.frequency(match[1]) >= enough]
    one_mistake = near[0][1] if near and near[0][0] == 1 else ""
    # To read a word in all ways takes a millisecond.
    heard = _by_ear(core) if getattr(vocabulary, "has_cyrillic", True) else []
    by_ear = max(heard, key=vocabulary.frequency, default="")
    if vocabulary.frequency(by_ear) >= max(enough, vocabulary.frequency(one_mistake)):
        return by_ear, False
    if one_mistake:
        return one_mistake, False
    if has:
        return word, False
    second_best = near[0][1] if near else ""  # two mistakes: a missing space or end is only one
    least = max(1, vocabulary.frequency(second_best) // 10)
    longer = next(iter(vocabulary.completions(core)), "")
    if vocabulary.frequency(longer) >= least:
        return longer, False
    return _unglue(core, vocabulary, least) or second_best or word, False


def sought(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """What `did_you_mean` may ask of a vocabulary that is far away: words whose neighbours, and whose frequency."""
    cores = {core: word for word in words[:MAX_CORRECTED] if (core := _core(word))}
    counted = [other for core, word in cores.items() for other in (core, *_layouts(word, core), *_by_ear(core))]
    counted += [part for core in cores for pair in _pairs(core) for part in pair]
    return list(cores), list(dict.fromkeys(counted))


def _core(word: str) -> str:
    """The part of a word that may be corrected; empty where none may."""
    core = word.lower().strip(_PUNCTUATION)
    return core if len(core) >= 2 and not _has_digit(core) else ""


def _layouts(word: str, core: str) -> list[str]:
    layouts = [other.lower() for typed in (word, core) for other in other_layouts(typed)]
    return layouts + [other.replace("ё", "е") for other in layouts]  # few write ё


def _by_ear(core: str) -> list[str]:
    return readings(core) if len(core) > 2 else []


def _pairs(word: str) -> list[tuple[str, str]]:
    """A word cut in two in every way that leaves three letters on both sides."""
    return [(word[:at], word[at:]) for at in range(3, len(word) - 2)] if _is_spelled(word) else []


def _unglue(word: str, vocabulary: Spelling, enough: int) -> str:
    """Two words of three letters or more, both on so many pages, that together are this one; else nothing."""
    pairs = _pairs(word)
    rarer = {pair: min(map(vocabulary.frequency, pair)) for pair in pairs}
    best = max(pairs, key=rarer.__getitem__, default=("", ""))
    return " ".join(best) if rarer.get(best, 0) >= enough else ""


def _may_be_near(word: str) -> bool:
    """Whether a word has neighbours."""
    return 3 <= len(word) <= MAX_LENGTH and _is_spelled(word)


def _edited(word: str, letters: Iterable[str], first: int = 0) -> set[str]:
    """What a word is with a letter more, fewer or another, or with two of them swapped, from the `first` letter on."""
    ends = [(word[:at], word[at:]) for at in range(first, len(word) + 1)]
    swapped = [left + right[1] + right[0] + right[2:] for left, right in ends if len(right) > 1]
    dropped = [left + right[1:] for left, right in ends if right]
    others = [left + letter + right[1:] for left, right in ends if right for letter in letters]
    added = [left + letter + right for left, right in ends for letter in letters]
    return {*swapped, *dropped, *others, *added} - {word}


def _block(word: str) -> int:
    """The part of Unicode that the first letter is of: a script, roughly."""
    return ord(word[0]) >> 8


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(char.isdigit() for char in word)


def _is_spelled(word: str) -> bool:
    """Whether a word is made of letters that are typed one by one."""
    if word.isascii():
        return word.isalpha()
    return not _WITHOUT_SPACES.search(word) and all(char.isalpha() or category(char)[0] == "M" for char in word)


def _is_latin(word: str) -> bool:
    return word < "\u0370"


def _complete_last(typed: str, term: str) -> str:
    """The text with its last word replaced by one that begins with it; without spaces the word may begin anywhere."""
    for at in range(max(0, len(typed) - len(term)), len(typed)):
        begins = at == 0 or not typed[at - 1].isalnum() or _WITHOUT_SPACES.match(typed, at)
        if begins and term.startswith(typed[at:].lower()):
            return typed[:at] + term
    last = _LAST_WORD.search(typed)  # the index may write it without accents
    return typed[: last.start()] + term if last and last[0] else ""


def _distinct(texts: Iterable[str], seen: set[str]) -> list[str]:
    new = []
    for text in texts:
        if text and text.casefold() not in seen:
            seen.add(text.casefold())
            new.append(text)
    return new


def _shorten(title: str) -> str:
    line = " ".join(title.split())
    if len(line) > TITLE_CHARS:
        line = line[: TITLE_CHARS + 1].rpartition(" ")[0] or line[:TITLE_CHARS]
    return line.rstrip(" -–—|:,;·•")


def _title_matches(title: str, typed: str) -> bool:
    """Whether each word typed begins a word of the title, or, without spaces in its script, stands in it."""
    plain = " " + _NO_WORD.sub(" ", normalize("NFKC", title).casefold())
    words = _NO_WORD.sub(" ", typed.casefold()).split()
    return bool(words) and all((word if _WITHOUT_SPACES.search(word) else " " + word) in plain for word in words)
