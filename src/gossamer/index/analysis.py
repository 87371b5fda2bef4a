"""From text to index terms: one chain per script, the stemmer chosen by the document's language.

Every text goes through the same steps, so that mixed pages, mixed queries and pages that
lie about their language work:

- lower case, composed characters, `ё` as `е`, Latin letters without accents (after stemming, which needs them);
- words of Latin script are stemmed in the document's language, English where that is
  written otherwise; Cyrillic words in Russian. A Snowball stemmer leaves words of other
  scripts alone, so both are simply applied in turn;
- writing without spaces (Han, kana, Thai …) gives all pairs of neighbouring characters,
  and for Han the longer words of a dictionary: pairs alone would rank poorly, words
  alone would miss a word inside a longer one.

The surface form is indexed beside it, every character of spaceless writing as a word of its
own: phrases are searched there, and what a stemmer spoils is still found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote

import Stemmer
import tantivy

from gossamer.index import schema
from gossamer.index.signs import signs

_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_SPACELESS = _HAN + "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_PAIRED = _SPACELESS + "\uac00-\ud7a3"

_HAN_RUN = re.compile(f"[{_HAN}]+")
_SPACELESS_RUN = re.compile(f"[{_SPACELESS}]+")
PAIRED_RUN = re.compile(f"[{_PAIRED}]+")
_WORD = re.compile(r"[^\W_]+")
_MARKS = "".join(chr(code) for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
_MARK = re.compile(f"[{_MARKS}]")
_MARKED_WORD = re.compile(rf"(?:[^\W_]+[{_MARKS}]*)+")
"""With the vowel signs of Indian scripts, points of Hebrew and Arabic, accents that have no composed letter."""
_SURROGATE = re.compile("[\ud800-\udfff]")

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
_NOT_LATIN = frozenset(("arabic", "armenian", "greek", "hindi", "nepali", "russian", "tamil", "yiddish"))
_KNOWN_WORDS = 200_000
_ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
_NOT_COMPOSED = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
                 "ё": "е", "\u0307": ""}  # fmt: skip


def _folding() -> dict[int, str]:
    """Accented lower-case Latin letters, and `ё`, to plain ones."""
    table = {}
    for code in [*range(0xDF, 0x250), *range(0x1E00, 0x1F00)]:
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii() and base.isalpha():
            table[code] = base
    return table | {ord(old): new for old, new in _NOT_COMPOSED.items()}


_FOLDED = _folding()
_YO = re.compile("[ёЁ]\u0308*")
_DOTTED = re.compile("İ\u0307*|[iI]\u0307+")


def surface(text: str) -> str:
    """A text whose words the index cuts by itself: characters of spaceless writing stand apart."""
    if text.isascii():
        return text
    text = _unified(text)
    if _SPACELESS_RUN.search(text):
        text = _SPACELESS_RUN.sub(lambda run: f" {' '.join(run[0])} ", text)
    if "ё" in text or "Ё" in text:
        text = unicodedata.normalize("NFC", _YO.sub(lambda found: "е" if found[0][0] == "ё" else "Е", text))
    return text


def surface_words(text: str) -> list[str]:
    """The words of a text as the index holds them, in order."""
    return _surface_analyzer().analyze(encodable(surface(text)))


def count_words(text: str) -> int:
    """How many words a text has in the index; two characters of writing without spaces count as one."""
    spaceless = sum(map(len, PAIRED_RUN.findall(text)))
    return len(surface_words(PAIRED_RUN.sub(" ", text) if spaceless else text)) + (spaceless + 1) // 2


def encodable(text: str) -> str:
    """A text that can be written as UTF-8: without lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _unified(text: str) -> str:
    """One spelling of letters that have several; `İ` is the one letter that lower case would split."""
    text = unicodedata.normalize("NFC", text)
    if _DOTTED.search(text):
        # Once more: an accent that followed the dot may now join the letter.
        text = unicodedata.normalize("NFC", _DOTTED.sub(lambda found: "i" if found[0][0] == "i" else "I", text))
    return text


def fold(text: str) -> str:
    """Lower-case text without the accents of Latin letters."""
    return text if text.isascii() else text.translate(_FOLDED)


def stems(text: str, lang: str | None = None) -> list[str]:
    """The stems, character pairs and dictionary words of a text."""
    known = _stems(_STEMMERS.get(lang or "", "english"))
    if text.isascii():
        # a quarter of the time of the regular expression
        return list(map(known.__getitem__, text.encode().translate(_ASCII_WORDS).decode().split()))
    text = _unified(text).lower()
    found: list[str] = []
    if PAIRED_RUN.search(text):
        found = _spaceless_terms(text)
        text = PAIRED_RUN.sub(" ", text)
    words = (_MARKED_WORD if _MARK.search(text) else _WORD).findall(text)
    return found + list(map(known.__getitem__, words))


def query_stems(word: str, languages: Sequence[str]) -> list[str]:
    """Forms that a word without spaces may have in the index, for documents in these languages."""
    terms: dict[str, None] = {}
    for lang in languages or ("en",):
        terms.update(dict.fromkeys(stems(word, lang)))
    return list(terms)


def dictionary_words(run: str) -> list[str]:
    """A run of Han characters cut into words."""
    import rjieba  # its dictionary takes a tenth of a second to load: only Chinese text pays for it

    words: list[str] = rjieba.cut(run)
    return words


def is_spaceless(text: str) -> bool:
    """Whether some of the text is written without spaces."""
    return PAIRED_RUN.search(text) is not None


def stem_of(word: str, lang: str | None) -> str:
    """The stem of one lower-case word."""
    return _stems(_STEMMERS.get(lang or "", "english"))[word]


def address_words(url: str) -> list[str]:
    """The words of a URL or a part of one: host labels and the words of its path and query."""
    return _WORD.findall(fold(_unified(unquote(url.rpartition("://")[2])).lower()))


def joined(texts: Iterable[str], lang: str | None = None) -> str:
    """Stems of several texts as the index takes them, and the signs that are names."""
    text = "\n".join(texts)
    return " ".join([*stems(text, lang), *signs(text)])


def _spaceless_terms(text: str) -> list[str]:
    terms: list[str] = []
    for run in PAIRED_RUN.findall(text):
        if len(run) == 1:
            terms.append(run)
            continue
        terms += map("".join, pairwise(run))
    for run in _HAN_RUN.findall(text):
        terms += [word for word in dictionary_words(run) if len(word) != 2]
    return terms


class _Stems(dict[str, str]):
    """word → stem; cleared when full. Languages have few words: nearly all are found here."""

    def __init__(self, name: str) -> None:
        super().__init__()
        latin = "english" if name in _NOT_LATIN else name
        self._stemmers = [Stemmer.Stemmer(each, 0) for each in dict.fromkeys((latin, name, "russian"))]

    def __missing__(self, word: str) -> str:
        if len(self) >= _KNOWN_WORDS:
            self.clear()
        stem = _unified(word).replace("ё", "е")
        for stemmer in self._stemmers:
            stem = stemmer.stemWord(stem)
        stem = self[word] = fold(stem) or word
        return stem


@lru_cache(maxsize=len(_STEMMERS))
def _stems(name: str) -> _Stems:
    return _Stems(name)


@lru_cache(maxsize=1)
def _surface_analyzer() -> tantivy.TextAnalyzer:
    return schema.surface_analyzer()
