"""The trained extractor: which blocks of a page are its main text, and what type of page it is.

Two models of blocks, one after the other. The first judges each block by itself and its
surroundings; the second sees the first one's verdicts about neighbours, ancestors and
lookalikes, and the probable type of the page. Of the blocks, in the order of their
probability, as many are taken as make the expected F1 of the words the highest: a page
that is all doubt gives more than a fixed threshold would leave of it.

The data file is made by `training/main_text.py` from annotated pages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.parse.clean import clean_code, clean_text
from gossamer.parse.html import Element
from gossamer.parse.text.blocks import Page, read_blocks
from gossamer.parse.text.features import FIRST, PAGE_STATISTICS, SECOND, write_first, write_second
from gossamer.parse.text.forest import Forest, sigmoid, softmax
from gossamer.parse.text.measures import Floats, Measures
from gossamer.parse.text.page_type import PAGE_TYPES, SHAPE, page_claims, page_shape
from gossamer.parse.text.tags import NAME_NUMBERS, TagReader
from gossamer.parse.text.teasers import teasers
from gossamer.site.view import PageView, Shown

MAX_BLOCKS = 20_000
_FILE = "main_text.npz"
_LABEL_WORDS, _MOSTLY_LINK = 12, 0.5
_REPEATED_CHARS = 20
"""A block of so many characters or more is taken once, however often the page repeats it."""


_ARTICLE = PAGE_TYPES.index("article")
_LEAN_ARTICLE, _LEAN_OTHERS = -0.4, 0.6
"""Chosen by cross-validation in the training parts: without them .003 less on news and .002 on WCXB."""


class PageFacts(msgspec.Struct, frozen=True):
    """What is known of a page beside its body."""

    url: str = ""
    title: str = ""
    open_graph: str = ""
    """What `og:type` says."""
    names: str = ""
    """Class and id of the body, and what made the page."""
    schema_types: Collection[str] = ()
    stated: str = ""
    """The text that the page's JSON-LD gives."""


class Verdict(msgspec.Struct, frozen=True):
    """Blocks of main text, and the type of the page."""

    text: str
    """A line per block; code keeps its indentation."""
    page_type: str
    type_confidence: float


class TextModel:
    """The models and the vocabularies they were trained with."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        self._reader = TagReader(_scores(arrays, "tags"))
        self._words = _scores(arrays, "words")
        self._first = Forest(arrays, "first")
        self._type = Forest(arrays, "type")
        self._second = Forest(arrays, "second")

    def read(self, body: Element) -> Page:
        """The blocks of a body."""
        return read_blocks(body, self._reader, MAX_BLOCKS)

    def judge(self, measures: Measures, facts: PageFacts, view: PageView | None = None) -> Verdict:
        """The verdict about a page that has at least one block; `view`: by whoever knows its site."""
        page = measures.page
        probabilities, types = self.probabilities(measures, facts)
        if view is not None:
            _leave_out_furniture(probabilities, measures, facts.url, view)
        best = int(types.argmax())
        kept = chosen(page, measures.words, probabilities)
        return Verdict(_texts(page, kept), PAGE_TYPES[best], float(types[best]))

    def probabilities(self, measures: Measures, facts: PageFacts) -> tuple[Floats, Floats]:
        """For each block that it is main text, and for each type that the page is of it."""
        rows = Rows(measures.count)
        write_first(rows.first, measures, facts.title, self._words, facts.stated)
        write_second(rows.second, measures, sigmoid(self._first.scores(rows.first)))
        shape = page_shape(measures)
        types = softmax(self._type.scores(type_matrix(facts, shape, rows)))[0]
        rows.write_page(types, shape)
        return sigmoid(leaned(self._second.scores(rows.all), types)), types


class Rows:
    """The features of the second model × blocks: those of the first, its verdicts, facts about the whole page."""

    def __init__(self, blocks: int) -> None:
        self.all = np.empty((len(FIRST) + len(SECOND) + len(PAGE_TYPES) + SHAPE, blocks), np.float32)
        self.first = self.all[: len(FIRST)]
        self.second = self.all[len(FIRST) : len(FIRST) + len(SECOND)]

    def write_page(self, types: Floats, shape: list[float]) -> None:
        """What is the same for all blocks."""
        self.all[len(FIRST) + len(SECOND) :] = np.array([*types.tolist(), *shape], np.float32)[:, None]


def type_matrix(facts: PageFacts, shape: list[float], rows: Rows) -> Floats:
    """The features of the type model: one column."""
    claims = page_claims(facts.url, facts.open_graph, facts.names, facts.schema_types)
    statistics = rows.second[-PAGE_STATISTICS:, 0].tolist()
    return np.array([*claims, *shape, *statistics], np.float32)[:, None]


def leaned(scores: Floats, types: Floats) -> Floats:
    """Scores of blocks, doubted more where the page is an article and less where it is not.

    Around an article stand teasers of others that look like it. Of other pages the annotations want more than the
    model is sure of.
    """
    lean = _LEAN_OTHERS + (_LEAN_ARTICLE - _LEAN_OTHERS) * types[_ARTICLE]
    return np.asarray(scores + lean, np.float32)


def chosen(page: Page, words: Floats, probabilities: Floats) -> list[int]:
    """The blocks that make the expected F1 the highest, in document order, each text once."""
    order = (-probabilities).argsort(kind="stable")
    gained = np.add.accumulate((probabilities * words)[order])
    expected = 2 * gained / (np.add.accumulate(words[order]) + gained[-1] + 1e-9)
    taken = np.zeros(len(words), bool)
    taken[order[: int(expected.argmax()) + 1]] = True
    _take_code(page, taken)
    seen: set[str] = set()
    kept = []
    for index in taken.nonzero()[0].tolist():
        text = page.texts[index]
        if len(text) >= _REPEATED_CHARS:
            if text in seen:
                continue
            seen.add(text)
        kept.append(index)
    return kept


def _texts(page: Page, kept: list[int]) -> str:
    """The text of some blocks."""
    if page.code.keys().isdisjoint(kept):
        return clean_text("\n".join([page.texts[index] for index in kept]))
    parts = (clean_code(page.code[index]) if index in page.code else clean_text(page.texts[index]) for index in kept)
    return "\n".join(filter(None, parts))


def _take_code(page: Page, taken: npt.NDArray[np.bool_]) -> None:
    """Code belongs to the text it stands in: the pages that taught the model have too little of it."""
    code = page.tags.names == NAME_NUMBERS["pre"]
    if not np.count_nonzero(code):
        return
    for index in np.flatnonzero(code[page.holders] & ~taken).tolist():
        around = page.parents[page.holders[index]]
        taken[index] = taken[page.first[around] : page.end[around]].any()


def _leave_out_furniture(probabilities: Floats, measures: Measures, url: str, view: PageView) -> None:
    """What the site repeats is no page's text, however likely it looked; nor are teasers of its other pages."""
    short = (measures.words < _LABEL_WORDS) | (measures.density > _MOSTLY_LINK)
    shown = Shown(
        measures.texts, measures.looks[measures.holders], measures.words, measures.heading_levels > 0, short,
        teasers(measures, url), probabilities,
    )  # fmt: skip
    probabilities[view.furniture(shown)] = 0


@cache
def text_model() -> TextModel:
    """The model that comes with the package, read when first asked for."""
    with np.load(Path(__file__).with_name("models") / _FILE, allow_pickle=False) as arrays:
        return TextModel(dict(arrays))


def _scores(arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> dict[str, float]:
    words = arrays[f"{name}.words"].tobytes().decode().split("\n")
    return dict(zip(words, np.asarray(arrays[f"{name}.scores"], np.float64).tolist(), strict=True))
