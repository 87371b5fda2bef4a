"""Examples as arrays: which word stands how often in which page.

One entry per page and distinct word, sorted by page. A page is a vector of unit length: the logarithms of its words'
counts. Words outside the vocabulary lengthen the vector without speaking for anything, so a page that is about
something else altogether has little to say. Weighing rare words more made no collection better and two worse.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.categories.examples import Example
from gossamer.categories.tokens import page_words, stem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_WORDS = 50_000
"""Size of the vocabulary."""
_MIN_PAGES = 2
"""A word of one page tells nothing of others."""


class Corpus(msgspec.Struct, frozen=True):
    """Counted examples."""

    stems: list[str]
    surfaces: list[str]
    """Each stem as a person would read it: the form that was met first."""
    page: Ints
    word: Ints
    value: Floats
    """1 + the logarithm of how often, divided by the length of the page's vector."""
    label: Ints
    """Category of each page."""
    categories: list[str]

    def entries_of(self, pages: NDArray[np.bool_]) -> Corpus:
        """The same with the entries of some pages only."""
        kept = pages[self.page]
        return msgspec.structs.replace(self, page=self.page[kept], word=self.word[kept], value=self.value[kept])


def count(examples: Sequence[Example]) -> Corpus:
    """Cut the examples into words and count them."""
    known: dict[str, int] = {}
    stems: dict[str, int] = {}
    surfaces: list[str] = []
    pages, values = [], []
    for example in examples:
        ids = []
        for word in page_words(example.title, example.text):
            number = known.get(word)
            if number is None:
                number = known[word] = stems.setdefault(stem(word), len(stems))
                if number == len(surfaces):
                    surfaces.append(word)
            ids.append(number)
        found, times = np.unique(np.array(ids, np.int64), return_counts=True)
        pages.append(found)
        counts = 1.0 + np.log(times)
        values.append(counts / np.sqrt(counts @ counts))
    categories = sorted({example.category for example in examples})
    place = {name: number for number, name in enumerate(categories)}
    return Corpus(
        stems=list(stems), surfaces=surfaces,
        page=np.repeat(np.arange(len(pages)), [len(found) for found in pages]),
        word=np.concatenate(pages), value=np.concatenate(values),
        label=np.array([place[example.category] for example in examples], np.int64), categories=categories,
    )  # fmt: skip


def choose_words(corpus: Corpus, pages: NDArray[np.bool_], limit: int = MAX_WORDS) -> Ints:
    """The vocabulary: the words whose presence says most about the category, by what these pages show."""
    present, sizes = _presence(corpus, pages)
    gain = (_part(present, sizes) + _part(sizes - present, sizes)).sum(1)
    gain[present.sum(1) < _MIN_PAGES] = -1.0
    order = np.argsort(-gain, kind="stable")[:limit]
    return np.sort(order[gain[order] >= 0.0])


def telling_words(corpus: Corpus, vocabulary: Ints, category: int, shown: int) -> tuple[str, ...]:
    """The words whose presence says most for a category."""
    every = np.ones(len(corpus.label), bool)
    present, sizes = _presence(corpus, every)
    inside, outside = sizes[category], sizes.sum() - sizes[category]
    own = present[vocabulary, category]
    others = present[vocabulary].sum(1) - own
    table, both = np.stack((own, others), axis=1), np.array((inside, outside))
    gain = (_part(table, both) + _part(both - table, both)).sum(1)
    gain[own * outside <= others * inside] = 0.0  # it speaks against
    order = np.argsort(-gain, kind="stable")[:shown]
    return tuple(corpus.surfaces[vocabulary[at]] for at in order if gain[at] > 0)


def _presence(corpus: Corpus, pages: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """[word, category]: on how many of these pages it stands; and how many pages each category has."""
    classes = len(corpus.categories)
    entries = corpus.entries_of(pages)
    cells = np.bincount(entries.word * classes + corpus.label[entries.page], minlength=len(corpus.stems) * classes)
    sizes = np.bincount(corpus.label[pages], minlength=classes)
    return cells.reshape(-1, classes).astype(np.float64), sizes.astype(np.float64)


def _part(seen: Floats, sizes: Floats) -> Floats:
    """What each cell of a table adds to its mutual information, had chance filled it by the sizes of the columns."""
    expected = seen.sum(1, keepdims=True) * sizes / sizes.sum()
    ratio = np.divide(seen, expected, out=np.ones_like(seen), where=seen > 0)
    return np.asarray(seen * np.log(ratio))


def vectors(corpus: Corpus, vocabulary: Ints) -> tuple[Ints, Ints, Floats]:
    """Entries of known words: page, place of the word in the vocabulary, value."""
    place = np.full(len(corpus.stems), -1, np.int64)
    place[vocabulary] = np.arange(len(vocabulary))
    places = place[corpus.word]
    known = places >= 0
    return corpus.page[known], places[known], corpus.value[known]
