"""Words typed with the wrong keyboard layout: ghbdtn is привет with the switch forgotten.

Each Cyrillic layout is written as the keys of the English one and what they print there, row by row, so that a key
which is punctuation in English and a letter in Russian ([ ] ; ' , . `) is a key like any other. Whether the result is a
word is for the vocabulary to say.
"""

from __future__ import annotations

_KEYS = "`qwertyuiop[]\\asdfghjkl;'zxcvbnm,."
_SHIFTED = '~QWERTYUIOP{}|ASDFGHJKL:"ZXCVBNM<>'
_RUSSIAN = "ёйцукенгшщзхъ\\фывапролджэячсмитьбю"
_UKRAINIAN = "'йцукенгшщзхїґфівапролджєячсмитьбю"
_BELARUSIAN = "ёйцукенгшўзх'\\фывапролджэячсмітьбю"


def _table(keys: str, shifted: str, prints: str, capitals: str) -> dict[int, str]:
    letters = {ord(key): char for key, char in zip(keys, prints, strict=True)}
    return letters | {ord(key): char for key, char in zip(shifted, capitals, strict=True) if key not in keys}


_TO_CYRILLIC = [_table(_KEYS, _SHIFTED, row, row.upper()) for row in (_RUSSIAN, _UKRAINIAN, _BELARUSIAN)]
_TO_LATIN = [_table(row, row.upper(), _KEYS, _SHIFTED) for row in (_RUSSIAN, _UKRAINIAN, _BELARUSIAN)]


def other_layouts(text: str) -> list[str]:
    """What one word would be, typed with the same keys on another layout: the likeliest first, never the word itself.

    A word maps where each of its letters is on the layout; digits and signs that are no letter key stay.
    """
    letters = [char for char in text if char.isalpha()]
    if not letters or any(char.isspace() for char in text):
        return []
    tables = _TO_CYRILLIC if letters[0].isascii() else _TO_LATIN
    written = [text.translate(table) for table in tables if all(ord(letter) in table for letter in letters)]
    return [other for other in dict.fromkeys(written) if other != text]
