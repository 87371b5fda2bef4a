"""The words of a text, lower case: what all fingerprints are made of, cut once.

Two cuts. `tokens` is the plain one, at white space, which the stored SimHashes rest on. `word_hashes` is
for comparing texts: punctuation, case and ways of writing one character do not count, and scripts
written without spaces (Chinese, Japanese, Thai, …) are cut into characters.

Looking at every character costs milliseconds per page in Python, so it is done once per word: a table keeps, for each
piece between white space, the hashes of the words in it. Languages have few words, and `"end."` is looked up like
`"end"`.
"""

from __future__ import annotations

from unicodedata import category, is_normalized, normalize

import xxhash

from gossamer.compiled import twin

MAX_TOKENS = 20_000
"""Words, or characters, of a text that are looked at."""
_MAX_CHARS = 20 * MAX_TOKENS
"""Characters cut into plain words: more than so many words have, few enough where a text is one long word."""
_SPACELESS = 20
"""Mean word length from which on a text is taken to be written without spaces (German: 7)."""
_TABLE_SIZE = 200_000
"""Words remembered per table; about 30 MB at most."""
_LONGEST = 64
"""Characters of a word that count and are remembered."""
_FEW = 4
"""Words in one piece that are remembered: a compound, not a Chinese sentence."""
_WITHOUT_SPACES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),  # Thai and Lao, Burmese, Khmer
    *((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF)),  # radicals, kana
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF)),
)
"""Ranges of characters that are words of their own."""

_last: tuple[str, list[str]] = ("", [])
_last_hashes: tuple[str, bytes] = ("", b"")


def words(text: str) -> list[str]:
    """The text cut at white space. The last answer is kept, because several ask for it in a row."""
    global _last
    if _last[0] is not text:
        _last = (text, text.lower().split())
    return _last[1]


def tokens(text: str) -> list[str]:
    """Words as they stand between white space, or characters where the text has hardly any; `MAX_TOKENS` at most."""
    found = words(text)
    if len(text) > _SPACELESS * len(found):
        return list("".join(found)[:MAX_TOKENS])
    return found[:MAX_TOKENS] if len(found) > MAX_TOKENS else found


def word_hashes(text: str) -> bytes:
    """The hashes of the plain words, 8 bytes each, one behind the other; `MAX_TOKENS` at most. The last answer is kept:
    a short text without dates and by-lines is asked for twice."""
    global _last_hashes
    if _last_hashes[0] is not text:
        pieces = words(text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS])
        _last_hashes = (text, b"".join(map(_PIECE_HASHES.__getitem__, pieces[:MAX_TOKENS]))[: 8 * MAX_TOKENS])
    return _last_hashes[1]


def hash_word(word: str) -> bytes:
    """The 8-byte hash of a word, by its first characters if it is very long."""
    return xxhash.xxh3_64_digest(word[:_LONGEST].encode("utf-8", "replace"))


class _Characters(dict[int, str | None]):
    """For `str.translate`: punctuation and symbols part words, invisible characters vanish, some stand alone."""

    def __missing__(self, code: int) -> str | None:
        kind = category(chr(code))
        if kind == "Cf":
            found = None
        elif kind[0] in "PSZC":
            found = " "
        elif any(first <= code <= last for first, last in _WITHOUT_SPACES):
            found = f" {chr(code)} "
        else:
            found = chr(code)
        self[code] = found
        return found


class _PieceHashes(dict[str, bytes]):
    """piece between white space → the hashes of the words in it; forgets everything when full."""

    def __missing__(self, piece: str) -> bytes:
        found = _cut(piece)
        hashes = hash_word(piece) if found == [piece] else b"".join(map(self.__getitem__, found))
        if len(piece) <= _LONGEST and len(found) <= _FEW:
            if len(self) >= _TABLE_SIZE:
                self.clear()
            self[piece] = hashes
        return hashes


_COMPILED = twin("words")
_CHARACTERS = _Characters()
_CLASSES = bytearray(0x10000)
_PIECE_HASHES = _PieceHashes()


def _cut(piece: str) -> list[str]:
    """The plain words of a piece of lower-case text without white space."""
    piece = piece[:MAX_TOKENS]
    if not piece.isascii() and not is_normalized("NFC", piece):
        piece = normalize("NFC", piece)
    found = _COMPILED.cut(piece, _CLASSES, _class_of) if _COMPILED is not None else None
    return found if found is not None else piece.translate(_CHARACTERS).split()


def _class_of(code: int) -> int:
    """What a character does, as the compiled twin knows it: is part of a word, parts words, vanishes, stands alone."""
    said = _CHARACTERS[code]
    return 3 if said is None else 2 if said == " " else 4 if len(said) > 1 else 1
