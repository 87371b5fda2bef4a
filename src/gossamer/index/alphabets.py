"""The words of a text in one alphabet of a few dozen letters, cut by a table of bytes.

Most texts are in one of the old 8-bit character sets, but for quotation marks, dashes and bullets. Such a text is
written in that set, a table makes its letters small and everything that is no letter or digit a space, and it is read
again: two fast loops, where cutting by regular expressions needs five slow ones. What no table can do right (marks that
combine with letters, other scripts) is left to those: `words` says None then. The words are the same.
"""

from __future__ import annotations

import codecs
from functools import cache
from unicodedata import category, normalize

from gossamer.index.spelling import PAIRED_RUN

_CODECS = {
    **dict.fromkeys("be bg mk ru sr uk".split(), "cp1251"),
    **dict.fromkeys("bs cs hr hu pl ro sk sl".split(), "cp1250"),
}
"""The set for the texts of a language, if not that of Western Europe. Those of Greek and Turkish are missing: their
small letters depend on more than the letter."""
_WESTERN = "latin-1"
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
_SIGNS_AS_SPACES = "gossamer.signs"


def words(text: str, lang: str = "") -> str | None:
    """The words of a text, in small letters, `ё` as `е`, with spaces between; None if it needs a closer look."""
    if text.isascii():
        return text.encode().translate(_ASCII).decode()
    codec = _CODECS.get(lang, _WESTERN)
    try:
        return text.encode(codec, _SIGNS_AS_SPACES).translate(_table(codec)).decode(codec)
    except UnicodeEncodeError:
        return None


@cache
def _table(codec: str) -> bytes:
    """Byte → the small letter or digit, or a space."""
    found = bytearray(b" " * 256)
    for code in range(256):
        char = bytes([code]).decode(codec, "replace")
        if char.isalnum():
            found[code : code + 1] = char.lower().replace("ё", "е").encode(codec)
    assert len(found) == 256
    return bytes(found)


@cache
def _is_sign(char: str) -> bool:
    """Whether a character beside the letters of a set only parts words, whatever stands next to it."""
    parts = category(char)[0] in "PSZ" and not char.isalnum() and PAIRED_RUN.match(char) is None
    return parts and char.lower() == char and normalize("NFC", char) == char


def _as_spaces(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError) or not all(map(_is_sign, error.object[error.start : error.end])):
        raise error
    return " ", error.end


codecs.register_error(_SIGNS_AS_SPACES, _as_spaces)
