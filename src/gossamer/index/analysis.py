"""From text to index terms: one chain per script, the stemmer chosen by the word's script and the document's language.

Every text goes through the same steps, so that mixed pages, mixed queries and pages that
lie about their language work:

- one spelling of letters that have several (`spelling`), lower case, `ё` as `е`;
- words are cut at what is no letter, digit or mark, and stemmed (`stemmers`), Latin letters then without accents;
- writing without spaces (Han, kana, Thai …) gives all pairs of neighbouring characters, and words (`spaceless`).

The surface form is indexed beside it, every character of spaceless writing as a word of its
own: phrases are searched there, and what a stemmer spoils is still found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

import msgspec
import tantivy

from gossamer.index import alphabets, extras, schema, spaceless, spelling
from gossamer.index.signs import signs
from gossamer.index.spelling import PAIRED_RUN, fold, is_spaceless
from gossamer.index.stemmers import Stems, languages_for, stems_in

__all__ = [
    "PAIRED_RUN", "Languages", "address_words", "both", "count_words", "cuts", "encodable", "fold", "forms", "in_index",
    "is_spaceless", "joined", "part_stems", "query_stems", "stem_of", "stems", "surface", "surface_words", "words",
]  # fmt: skip

_SURROGATE = re.compile("[\ud800-\udfff]")
_YO = re.compile("ё\u0308*")


class Languages(msgspec.Struct, frozen=True):
    """How the pages of an index were analysed, and so how a query is."""

    codes: tuple[str, ...] = ("en",)
    """The languages that words of a query may be in, most frequent first; an empty one for pages without."""
    extras: tuple[str, ...] = ()
    """The analysers of `index/extras.py` that were used and can be."""

    @property
    def japanese(self) -> bool:
        """Whether Han of a query is Japanese."""
        return "ja" in self.codes and "zh" not in self.codes


def surface(text: str) -> str:
    """The words of a text as written, lower case, with a space between; characters of spaceless writing apart."""
    quick = alphabets.words(text)
    return quick if quick is not None else spelling.apart(_clean(text))


def surface_words(text: str) -> list[str]:
    """The words of a text as the index holds them, in order."""
    cut = surface(text)
    if cut.isascii():  # the library would change nothing, and takes longer to be asked
        return [word for word in cut.split() if len(word) < schema.TOO_LONG]
    return _surface_analyzer().analyze(encodable(cut))


def words(text: str) -> list[str]:
    """The words of a text as they are typed, lower case, with their accents; not of writing without spaces."""
    return (alphabets.words(text) or "").split() if text.isascii() else spelling.words(spelling.composed(text).lower())


def count_words(text: str) -> int:
    """How many words a text has in the index; two characters of writing without spaces count as one."""
    spaceless_chars = sum(map(len, PAIRED_RUN.findall(text)))
    apart = PAIRED_RUN.sub(" ", text) if spaceless_chars else text
    return len(surface_words(apart)) + (spaceless_chars + 1) // 2


def encodable(text: str) -> str:
    """A text that can be written as UTF-8: without lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def both(text: str, lang: str | None = None, using: Collection[str] = ()) -> tuple[str, str]:
    """The words of a text as written, and its stems, pairs and dictionary words: as the index takes them."""
    known = stems_in(lang or "", "lemmas" in using)
    quick = alphabets.words(text, lang or "")
    if quick is not None:
        return quick, " ".join([*map(known.__getitem__, quick.split()), *signs(text)])
    names, text = signs(text), _clean(text)
    if PAIRED_RUN.search(text):
        return spelling.apart(text), " ".join([*_terms(text, known, lang, using), *names])
    found = spelling.words(text)
    return " ".join(found), " ".join([*map(known.__getitem__, found), *names])


def stems(text: str, lang: str | None = None, using: Collection[str] = ()) -> list[str]:
    """The stems, character pairs and dictionary words of a text."""
    known = stems_in(lang or "", "lemmas" in using)
    quick = alphabets.words(text, lang or "")
    # A stem may be two: that of a compound and that of its last part.
    found = map(known.__getitem__, quick.split()) if quick is not None else _terms(_clean(text), known, lang, using)
    return " ".join(found).split()


def joined(texts: Iterable[str], lang: str | None = None, using: Collection[str] = ()) -> str:
    """Stems of several texts as the index takes them, and the signs that are names."""
    text = "\n".join(texts)
    return " ".join([*stems(text, lang, using), *signs(text)])


def query_stems(word: str, languages: Languages) -> list[str]:
    """Forms that a word may have in the index, for documents in these languages."""
    found: list[str] = []
    if is_spaceless(word):
        found = _spaceless_terms(_clean(word), languages.japanese, languages.extras)
        word = PAIRED_RUN.sub(" ", word)
    for one in words(word):
        found += [stem_of(one, lang, languages.extras) for lang in languages_for(one, languages.codes)]
    return list(dict.fromkeys(found))


def stem_of(word: str, lang: str | None, using: Collection[str] = ()) -> str:
    """The stem of one lower-case word."""
    return stems_in(lang or "", "lemmas" in using)[word].partition(" ")[0]


def part_stems(word: str, languages: Languages) -> list[str]:
    """The stems of the parts of a compound; none for another word."""
    if "lemmas" not in languages.extras or "de" not in languages.codes:
        return []
    return stems_in("de", True)[word].split()[1:]


def forms(word: str, languages: Languages) -> Callable[[str], bool]:
    """What tells whether a lower-case word of a text is a form of a query's word."""
    plain, known = fold(word), frozenset(query_stems(word, languages))
    codes = languages_for(word, languages.codes)

    def is_form(other: str) -> bool:
        return fold(other) == plain or any(stem_of(other, lang, languages.extras) in known for lang in codes)

    return is_form


def cuts(part: str, languages: Languages) -> Iterator[tuple[str, spaceless.Cutter | None]]:
    """A part of a run of writing without spaces, `in_index`, by writing, and what cuts each piece into words."""
    return spaceless.cuts(part, languages.japanese, languages.extras)


def in_index(run: str, languages: Languages) -> str:
    """A run of writing without spaces as the index spells it, one character for one."""
    return _simplified(run, languages.extras)


def address_words(url: str) -> list[str]:
    """The words of a URL or a part of one: host labels and the words of its path and query."""
    address = fold(_clean(unquote(url.rpartition("://")[2])))
    return spelling.words(address)


def _clean(text: str) -> str:
    """One spelling, lower case; composed once more, since some letters are composed in lower case only."""
    text = unicodedata.normalize("NFC", spelling.respelled(text).lower())
    return unicodedata.normalize("NFC", _YO.sub("е", text)) if "ё" in text else text


def _terms(text: str, known: Stems, lang: str | None, using: Collection[str]) -> list[str]:
    found: list[str] = []
    if PAIRED_RUN.search(text):
        found = _spaceless_terms(text, lang == "ja", using)
        text = PAIRED_RUN.sub(" ", text)
    return found + list(map(known.__getitem__, spelling.words(text)))


def _spaceless_terms(text: str, japanese: bool, using: Collection[str]) -> list[str]:
    return spaceless.terms(_simplified(text, using), japanese, using)


def _simplified(text: str, using: Collection[str]) -> str:
    if "chinese" in using and spelling.HAN_RUN.search(text):
        return text.translate(extras.to_simplified())
    return text


@lru_cache(maxsize=1)
def _surface_analyzer() -> tantivy.TextAnalyzer:
    return schema.surface_analyzer()
