"""The baselines of `ranking.py`: BM25 as in Lucene, and RM3 on top of it.

One field of title and text; words in lower case, without stop words, as Snowball stems; writing without spaces as pairs
of neighbouring characters, as Lucene's analyzer for Chinese, Japanese and Korean has it. BM25 with k1 = 1.2, b = .75;
RM3 with ten documents, ten words and half of the weight for the query, as in Anserini.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log

import Stemmer
import tantivy

from gossamer.evaluate.values import Doc

_WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f\u0590-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0962\u0963])+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_LANGUAGES = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hi": "hindi", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish",
}  # fmt: skip
_MORE_STOP_WORDS = {
    "hi": "के में की है और से का को पर ने एक कि यह इस किस क्या था थे थी हैं वह कौन कब कहाँ कितने किया गया लिए तक जो भी हो साथ",
    "ar": "في من على إلى عن ما هو هي كان التي الذي هل متى أين كيف كم مع أن هذا هذه و أو لا لم قد كانت بين بعد قبل",
}
"""Of languages for which the library has none."""


class Analyzer:
    """Words of a language as Lucene's analyzer for it would have them."""

    def __init__(self, lang: str) -> None:
        name = _LANGUAGES.get(lang, "")
        self._stem = Stemmer.Stemmer(name).stemWord if name else str
        self._stops = frozenset(_MORE_STOP_WORDS.get(lang, "").split())
        self._filter: tantivy.TextAnalyzer | None = None
        if name and not self._stops:
            builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
            self._filter = builder.filter(tantivy.Filter.stopword(name)).build()
        self._known: dict[str, str] = {}

    def words(self, text: str) -> list[str]:
        """The terms of a text."""
        text = unicodedata.normalize("NFC", text).lower()
        found = []
        for run in _SPACELESS.findall(text):
            found += map("".join, pairwise(run)) if len(run) > 1 else [run]
        plain = _SPACELESS.sub(" ", text) if found else text
        return found + [stem for word in _WORD.findall(plain) if (stem := self._stemmed(word))]

    def _stemmed(self, word: str) -> str:
        """The stem of a word, empty for a stop word."""
        known = self._known.get(word)
        if known is None:
            stops = word in self._stops or (self._filter is not None and not self._filter.analyze(word))
            known = self._known[word] = "" if stops else self._stem(word)
        return known


class LuceneRanker:
    """BM25 as in Lucene; with `feedback`, RM3."""

    K1, B = 1.2, 0.75
    DOCUMENTS, WORDS, OWN = 10, 10, 0.5

    def __init__(self, documents: Sequence[Doc], lang: str, feedback: bool = False) -> None:
        self._analyzer, self._feedback = Analyzer(lang), feedback
        self._ids = [one.id for one in documents]
        self._terms = [Counter(self._analyzer.words(f"{one.title}\n{one.text}")) for one in documents]
        lengths = [counts.total() for counts in self._terms]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self._lengths = lengths
        self._norms = [self.K1 * (1 - self.B + self.B * length / mean) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, counts in enumerate(self._terms):
            for term, count in counts.items():
                self._postings[term].append((number, count))

    def rank(self, query: str, limit: int) -> list[str]:
        """The ids of the best documents."""
        asked: dict[str, float] = {word: float(count) for word, count in Counter(self._analyzer.words(query)).items()}
        found = self._scored(asked.items())
        if self._feedback and found:
            found = self._scored(self._widened(asked, found[: self.DOCUMENTS]).items())
        return [self._ids[number] for number, _ in found[:limit]]

    def _scored(self, asked: Iterable[tuple[str, float]]) -> list[tuple[int, float]]:
        scores: dict[int, float] = defaultdict(float)
        for term, weight in asked:
            postings = self._postings.get(term, ())
            rarity = weight * log(1 + (len(self._ids) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                scores[number] += rarity * count / (count + self._norms[number])
        return sorted(scores.items(), key=lambda one: (-one[1], one[0]))

    def _widened(self, asked: dict[str, float], found: Sequence[tuple[int, float]]) -> dict[str, float]:
        """The query mixed with the words that tell most of the first documents."""
        model: dict[str, float] = defaultdict(float)
        for number, score in found:
            for term, count in self._terms[number].items():
                if len(self._postings[term]) <= 0.1 * len(self._ids) and len(term) >= 2:
                    model[term] += score * count / self._lengths[number]
        best = sorted(model.items(), key=lambda one: (-one[1], one[0]))[: self.WORDS]
        total, own = sum(weight for _, weight in best) or 1.0, sum(asked.values())
        mixed: dict[str, float] = {term: self.OWN * weight / own for term, weight in asked.items()}
        for term, weight in best:
            mixed[term] = mixed.get(term, 0.0) + (1 - self.OWN) * weight / total
        return mixed
