"""One spelling of letters that have several, and which script a word is in.

`respelled` is applied to every text and every query before anything else:

- composed characters (NFC), a Turkish `İ` as `I`;
- Cyrillic: without marks of stress;
- Arabic: without vowel points and tatweel; `أإآ` as `ا`, `ى` and the Persian `ی` as `ي`, `ک` as `ك`;
- Hebrew: without points;
- Devanagari: without nukta; the many spellings of a nasal (`हिन्दी`, `हिंदी`, `हँस`) are the anusvara; without joiners;
- digits of Arabic and Indian scripts as `0` to `9`.

`fold` is applied to Latin letters after stemming, which needs their accents.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_THAI = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_HANGUL = "\uac00-\ud7a3"
_SPACELESS = _HAN + _KANA + _THAI
_PAIRED = _SPACELESS + _HANGUL

HAN_RUN = re.compile(f"[{_HAN}]+")
KANA = re.compile(f"[{_KANA}]")
BY_WRITING = re.compile(f"(?P<east>[{_HAN}{_KANA}]+)|(?P<korean>[{_HANGUL}]+)|(?P<thai>[{_THAI}]+)")
"""A run by what cuts it into words: `lastgroup` names it."""
SPACELESS_RUN = re.compile(f"[{_SPACELESS}]+")
PAIRED_RUN = re.compile(f"[{_PAIRED}]+")


def _ranges(codes: list[int]) -> str:
    """Code points as the inside of a class of a regular expression."""
    found: list[list[int]] = []
    for code in codes:
        if found and code == found[-1][1] + 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in found)


MARKS = _ranges([code for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)) in ("Mn", "Mc")])
"""Vowel signs of Indian scripts, points of Hebrew and Arabic, accents that have no composed letter."""
_MARK = re.compile(f"[{MARKS}]")
_WORD = re.compile(r"[^\W_]+")
_MARKED_WORD = re.compile(rf"(?:[^\W_]+[{MARKS}]*)+")
CLUSTER = re.compile(rf"[^\W_][{MARKS}]*")
"""A character of writing without spaces, with its marks."""

_BEFORE, _AFTER = "\u0e40-\u0e44\u0ec0-\u0ec4", "\u0e30\u0e32\u0e33\u0eb0\u0eb2\u0eb3"
"""Vowels of Thai and Lao that are written before and after their consonant and are letters of their own."""
_SYLLABLE = re.compile(rf"[{_BEFORE}]?[^\W_][{MARKS}]*[{_AFTER}]?")
_STACKED = re.compile(rf"[^\W_][{MARKS}]*(?:(?<=[\u1039\u17d2])[^\W_][{MARKS}]*)*")
"""Khmer and Burmese write a consonant without its vowel below the one before."""
_NO_WORD = re.compile(rf"[^\w\s{MARKS}]+|_+|[^\S\t\n\r ]")

_DOTTED = re.compile("İ\u0307*|[iI]\u0307+")
_NOT_COMPOSED = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
                 "ё": "е", "\u0307": ""}  # fmt: skip

_RESPELT = re.compile("[\u0300\u0301\u0591-\u05c7\u0610-\u06f9\u0901-\u096f\ufb50-\ufdff\ufe70-\ufefc]")
_DROPPED = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u06ea-\u06ed\u093c]|(?<=[\u0400-\u045f])[\u0300\u0301]"
)
_JOINERS = re.compile("(?<=[\u0900-\u0dff])[\u200c\u200d]+")
_PRESENTED = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")
"""Arabic letters in the forms they take inside a word, as old documents write them."""
_NASAL = re.compile("ङ\u094d(?=[क-घ])|ञ\u094d(?=[च-झ])|ण\u094d(?=[ट-ढ])|न\u094d(?=[त-ध])|म\u094d(?=[प-भ])")
_SPELT = {
    "ا": "أإآٱ", "ي": "ىیېئ", "ك": "ک", "ه": "ۀہھ", "ة": "ۃ", "و": "ؤ", "ं": "ँ", "ओ": "ऑ", "ए": "ऍ", "ो": "ॉ", "े": "ॅ",
    **{str(digit): chr(0x660 + digit) + chr(0x6F0 + digit) + chr(0x966 + digit) for digit in range(10)},
}  # fmt: skip
_ONE_SPELLING = {old: new for new, several in _SPELT.items() for old in several}
_SPELT_SEVERAL_WAYS = re.compile(f"[{''.join(_ONE_SPELLING)}]")


def _folding() -> dict[int, str]:
    """Accented lower-case Latin letters, and `ё`, to plain ones."""
    table = {}
    for code in [*range(0xDF, 0x250), *range(0x1E00, 0x1F00)]:
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii() and base.isalpha():
            table[code] = base
    return table | {ord(old): new for old, new in _NOT_COMPOSED.items()}


_FOLDED = _folding()


def fold(text: str) -> str:
    """Lower-case text without the accents of Latin letters."""
    return text if text.isascii() else text.translate(_FOLDED)


def composed(text: str) -> str:
    """Composed characters, without joiners in Indian scripts; `İ` is the one letter that lower case would split."""
    text = unicodedata.normalize("NFC", text)
    if "\u200d" in text or "\u200c" in text:
        text = _JOINERS.sub("", text)
    if _DOTTED.search(text):
        # Once more: an accent that followed the dot may now join the letter.
        text = unicodedata.normalize("NFC", _DOTTED.sub(lambda found: "i" if found[0][0] == "i" else "I", text))
    return text


def respelled(text: str) -> str:
    """One spelling of letters that have several."""
    text = composed(text)
    if _RESPELT.search(text):
        text = _PRESENTED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
        text = _SPELT_SEVERAL_WAYS.sub(_one_spelling, _DROPPED.sub("", text))
        # Again: what stood apart may now be beside each other.
        text = unicodedata.normalize("NFC", _NASAL.sub("\u0902", text))
    return text


def respelled_in_place(text: str) -> str:
    """What of that is one character for one, for places in a text that must stay places."""
    return _SPELT_SEVERAL_WAYS.sub(_one_spelling, text)


def _one_spelling(found: re.Match[str]) -> str:
    return _ONE_SPELLING[found[0]]


def syllables(text: str) -> list[str]:
    """The syllables of Thai, Lao, Khmer or Burmese, more or less: a consonant with its vowels and what is below it."""
    return (_STACKED if "\u1039" in text or "\u17d2" in text else _SYLLABLE).findall(text)


def apart(text: str) -> str:
    """A text whose words have white space between them, and every character of writing without spaces too."""
    return SPACELESS_RUN.sub(_spread, _NO_WORD.sub(" ", text))


def _spread(run: re.Match[str]) -> str:
    text = run[0]
    return f" {' '.join(CLUSTER.findall(text) if _MARK.search(text) else text)} "


def words(text: str) -> list[str]:
    """The words of a text, in order; marks belong to their letters."""
    return (_MARKED_WORD if _MARK.search(text) else _WORD).findall(text)


def is_spaceless(text: str) -> bool:
    """Whether some of the text is written without spaces."""
    return PAIRED_RUN.search(text) is not None


_SCRIPTS = (
    (0x00, "latin"), (0x370, "greek"), (0x400, "cyrillic"), (0x530, "armenian"), (0x590, "hebrew"), (0x600, "arabic"),
    (0x700, ""), (0x750, "arabic"), (0x780, ""), (0x900, "devanagari"), (0x980, ""), (0xB80, "tamil"), (0xC00, ""),
    (0x10A0, "georgian"), (0x1100, ""), (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, ""), (0x2C60, "latin"),
    (0x2C80, ""), (0xA640, "cyrillic"), (0xA6A0, ""), (0xA720, "latin"), (0xA800, ""), (0xFB50, "arabic"), (0xFF00, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _SCRIPTS]


def script_of(word: str) -> str:
    """The script of the end of a word; empty for one that no stemmer knows."""
    return _SCRIPTS[bisect_right(_STARTS, ord(word[-1])) - 1][1]
