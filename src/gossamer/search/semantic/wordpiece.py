"""Cuts a text into the pieces of words that a BERT model knows, and numbers them.

The text is cleaned letter by letter (accents go, case goes, signs and Chinese characters stand alone), cut at spaces,
and each word is cut from its left into the longest pieces of the vocabulary. A word with a letter that no piece has
counts as unknown. Models name this recipe "uncased WordPiece".
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, normalize

from gossamer.errors import CorruptError

_LONGEST_WORD = 100
"""Letters from which on a word is unknown."""
_CHARS_PER_PIECE = 16
"""Characters of a text that are read for each piece that a model takes: the rest cannot count."""
_REMEMBERED = 20_000
"""Words whose pieces are remembered."""
_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"
_INNER = "##"
"""Before a piece that does not begin a word."""
_IDEOGRAPHS = (
    (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x2A6E0), (0x2A700, 0x2CEB0), (0x2F800, 0x2FA20),
)  # fmt: skip


class _Letters(dict[int, str]):
    """What each character of a decomposed text becomes, found out when it is met first."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _cleaned(chr(code))
        return found


def _cleaned(char: str) -> str:
    kind = category(char)
    if kind[0] == "Z" or char in "\t\n\r":
        return " "
    if kind[0] == "C" or kind == "Mn" or char == "\ufffd":
        return ""
    is_sign = kind[0] == "P" or (char.isascii() and not char.isalnum())
    if is_sign or any(start <= ord(char) < stop for start, stop in _IDEOGRAPHS):
        return f" {char} "
    return char.lower()


class WordPiece:
    """The pieces of one vocabulary; safe to share between threads."""

    def __init__(self, vocabulary: Sequence[str], longest: int) -> None:
        """`longest`: pieces of a text, with its two ends, that the model takes."""
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [piece for piece in (_UNKNOWN, _FIRST, _LAST) if piece not in self._numbers]
        if missing:
            raise CorruptError(f"the vocabulary of the model lacks {', '.join(missing)}: name another model")
        self._longest = longest
        self._letters = _Letters()
        self._known: dict[str, list[int]] = {}

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's pieces, between those of its beginning and its end."""
        found = [self._numbers[_FIRST]]
        read = normalize("NFD", text[: _CHARS_PER_PIECE * self._longest]).translate(self._letters)
        for word in read.split():
            found += self._of_word(word)
            if len(found) >= self._longest:
                break
        return [*found[: self._longest - 1], self._numbers[_LAST]]

    def _of_word(self, word: str) -> list[int]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[word] = self._cut(word)
        return found

    def _cut(self, word: str) -> list[int]:
        found: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST_WORD:
            before = _INNER if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if before + word[start:end] in self._numbers), start)
            if end == start:
                break
            found.append(self._numbers[before + word[start:end]])
            start = end
        return found if start == len(word) else [self._numbers[_UNKNOWN]]
