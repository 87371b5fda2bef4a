"""Words that say how a sentence is built, not what it is about: they weigh little in a query of several words.

The library's lists, and what questions are made of beside them. A word counts as one only in a language that the pages
are written in: `die` is an article in German and a verb in English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import tantivy

from gossamer.index.analysis import fold

_LISTS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian",
    "sv": "swedish",
}  # fmt: skip
_MORE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@lru_cache(maxsize=20_000)
def is_function_word(word: str, languages: Sequence[str]) -> bool:
    """Whether a word, as the index has it, is one in any of some languages (a tuple)."""
    return any(word in _more(lang) or _is_listed(word, lang) for lang in languages)


@cache
def _more(lang: str) -> frozenset[str]:
    return frozenset(fold(_MORE.get(lang, "")).split())


def _is_listed(word: str, lang: str) -> bool:
    analyzer = _analyzer(lang)
    return analyzer is not None and not analyzer.analyze(word)


@cache
def _analyzer(lang: str) -> tantivy.TextAnalyzer | None:
    name = _LISTS.get(lang)
    if name is None:
        return None
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stopword(name)).build()
