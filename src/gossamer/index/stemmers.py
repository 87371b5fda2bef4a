"""Which stemmer a word gets: by its own script, and by the language of its page.

A word in a script of the page's language gets that language's stemmer. Any other word gets the stemmer that its script
has by default: an English word on a Russian page is stemmed as English, a Russian word on a page without a known
language as Russian. So the words of mixed pages, and of pages that lie about their language, are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import Stemmer

from gossamer.index import light
from gossamer.index.extras import german_parts, lemma
from gossamer.index.spelling import fold, respelled, script_of

_SNOWBALL = {
    "ar": "arabic", "bs": "serbian", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hr": "serbian", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_SAME = {"nb": "no", "nn": "no", "gl": "pt", "ms": "id", "af": "nl"}
"""Languages that are close enough to another for its stemmer."""
_BY_SCRIPT = {
    "latin": "en", "cyrillic": "ru", "arabic": "ar", "devanagari": "hi", "hebrew": "he", "greek": "el",
    "armenian": "hy", "tamil": "ta",
}  # fmt: skip
_NOT_LATIN = {
    "ar": "arabic", "be": "cyrillic", "bg": "cyrillic", "el": "greek", "fa": "arabic", "he": "hebrew",
    "hi": "devanagari", "hy": "armenian", "ka": "georgian", "mk": "cyrillic", "ne": "devanagari", "ru": "cyrillic",
    "ta": "tamil", "uk": "cyrillic", "yi": "hebrew",
}  # fmt: skip
_BOTH = {"sr": ("latin", "cyrillic"), "bs": ("latin", "cyrillic")}
_ACCENTED = "vi"
"""Accents make other words of the same letters: they stay, and there are no endings."""
_UNSTEMMED = frozenset((_ACCENTED, "is", "ka", "sq"))
"""Nobody has a stemmer for them, but they are not English either."""
_LEMMAS = frozenset("bg cs fa he is ka mk sk sl sq uk".split())
"""Languages whose words the extra `lemmas` looks up first: those without a Snowball stemmer, and two whose stemmer is
new. In a sample of its dictionary, form and lemma meet in 99 % of the pairs with it, in 11 to 78 % without."""
_KNOWN_WORDS = 200_000
_LONG = 8
"""Letters from which on a German word may be a compound."""
_TO_PERSIAN = str.maketrans("يكى", "یکی")

Stem = Callable[[str], str]


def language_for(script: str, lang: str) -> str:
    """The language in which words of a script are stemmed on a page of some language; empty for none."""
    lang = _SAME.get(lang, lang)
    return lang if script in _scripts(lang) else _BY_SCRIPT.get(script, "")


def languages_for(word: str, pages: Iterable[str]) -> list[str]:
    """The languages in which a word may be stemmed on pages of these languages."""
    script = script_of(word)
    return list(dict.fromkeys(language_for(script, lang) for lang in pages)) or [_BY_SCRIPT.get(script, "")]


def _scripts(lang: str) -> tuple[str, ...]:
    """The scripts of which words are stemmed in a language."""
    if lang in _BOTH:
        return _BOTH[lang]
    known = lang in _SNOWBALL or lang in light.STEMMERS or lang in _UNSTEMMED
    return (_NOT_LATIN.get(lang, "latin"),) if known else ()


def script_of_language(lang: str) -> str:
    """The script that the words of a language are stemmed in."""
    return next(iter(_scripts(_SAME.get(lang, lang))), "")


class Stems(dict[str, str]):
    """word → stem on pages of a language, with the stems of its parts behind it if it is a German compound; cleared
    when full. Languages have few words: nearly all are found here."""

    def __init__(self, lang: str, lemmas: bool) -> None:
        super().__init__()
        self._lang, self._lemmas = lang, lemmas

    def __missing__(self, word: str) -> str:
        if len(self) >= _KNOWN_WORDS:
            self.clear()
        plain = respelled(word).replace("ё", "е") or word
        lang = language_for(script_of(plain), self._lang)
        if self._lemmas and lang in _LEMMAS:
            plain = lemma(plain.translate(_TO_PERSIAN) if lang == "fa" else plain, lang)
        stem = _stemmer(lang)(plain) or word
        if self._lemmas and lang == "de" and len(plain) >= _LONG:
            stem = " ".join(dict.fromkeys((stem, *map(_stemmer("de"), german_parts(plain)))))
        self[word] = stem
        return stem


def stems_in(lang: str, lemmas: bool = False) -> Stems:
    """The stems of words on pages of a language; `lemmas`: of their lemmas, where a dictionary knows them."""
    lang = _SAME.get(lang, lang)
    return _stems(lang if _scripts(lang) else "", lemmas)


@cache
def _stems(lang: str, lemmas: bool) -> Stems:
    return Stems(lang, lemmas)


@cache
def _stemmer(lang: str) -> Stem:
    if lang == _ACCENTED:
        return str
    if lang in light.STEMMERS:
        cut = light.STEMMERS[lang]
        return lambda word: fold(cut(word))
    if lang not in _SNOWBALL:
        return fold
    snowball = Stemmer.Stemmer(_SNOWBALL[lang], 0).stemWord
    if lang == "fa":  # Snowball reads Persian letters, the index has the Arabic ones
        return lambda word: respelled(snowball(word.translate(_TO_PERSIAN)))
    if lang == "ar":  # before it is stemmed, `ة` tells an ending: xquad.ar .922 nDCG@10, .908 without
        return lambda word: respelled(snowball(word)).replace("ة", "ه")
    return lambda word: respelled(fold(snowball(word)))
