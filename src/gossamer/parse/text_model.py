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
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.parse.blocks import Page, read_blocks
from gossamer.parse.features import PAGE_STATISTICS, Rows, first_rows, second_rows
from gossamer.parse.forest import Forest, sigmoid, softmax
from gossamer.parse.html import Element
from gossamer.parse.measures import Floats, Measures
from gossamer.parse.page_type import PAGE_TYPES, page_claims, page_shape
from gossamer.parse.tags import TagReader

MAX_BLOCKS = 20_000
_FILE = "main_text.npz"
_REPEATED_CHARS = 20
"""A block of so many characters or more is taken once, however often the page repeats it."""


class PageFacts(msgspec.Struct, frozen=True):
    """What is known of a page beside its body."""

    url: str = ""
    title: str = ""
    open_graph: str = ""
    """What `og:type` says."""
    names: str = ""
    """Class and id of the body, and what made the page."""
    schema_types: Collection[str] = ()


class Verdict(msgspec.Struct, frozen=True):
    """Blocks of main text, and the type of the page."""

    texts: list[str]
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

    def judge(self, page: Page, facts: PageFacts) -> Verdict:
        """The verdict about a page that has at least one block."""
        measures = Measures(page)
        probabilities, types = self.probabilities(measures, facts)
        best = int(types.argmax())
        texts = [page.texts[index] for index in chosen(page, measures.words, probabilities)]
        return Verdict(texts, PAGE_TYPES[best], float(types[best]))

    def probabilities(self, measures: Measures, facts: PageFacts) -> tuple[Floats, Floats]:
        """For each block that it is main text, and for each type that the page is of it."""
        first = matrix(first_rows(measures, facts.title, self._words))
        alone = sigmoid(self._first.scores(first))
        second = second_rows(measures, alone)
        shape = page_shape(measures)
        types = softmax(self._type.scores(type_matrix(facts, shape, second)))[0]
        return sigmoid(self._second.scores(second_matrix(first, second, shape, types))), types


def type_matrix(facts: PageFacts, shape: list[float], second: Rows) -> Floats:
    """The features of the type model: one column."""
    claims = page_claims(facts.url, facts.open_graph, facts.names, facts.schema_types)
    statistics = [float(row[0]) for _, row in second[-PAGE_STATISTICS:]]
    return np.array([*claims, *shape, *statistics], np.float32)[:, None]


def second_matrix(first: Floats, second: Rows, shape: list[float], types: Floats) -> Floats:
    """The features of the second model: those of the first, its verdicts, and facts about the whole page."""
    page_wide = np.array([*types.tolist(), *shape], np.float32)[:, None]
    return np.concatenate([first, matrix(second), np.broadcast_to(page_wide, (len(page_wide), first.shape[1]))])


def matrix(rows: Rows) -> Floats:
    """Features × blocks."""
    return np.array([row for _, row in rows], np.float32)


def chosen(page: Page, words: Floats, probabilities: Floats) -> list[int]:
    """The blocks that make the expected F1 the highest, in document order, each text once."""
    order = np.argsort(-probabilities, kind="stable")
    gained = np.cumsum((probabilities * words)[order])
    expected = 2 * gained / (np.cumsum(words[order]) + gained[-1] + 1e-9)
    taken = np.zeros(len(words), bool)
    taken[order[: int(expected.argmax()) + 1]] = True
    _take_code(page, taken)
    seen: set[str] = set()
    kept = []
    for index in np.flatnonzero(taken).tolist():
        text = page.texts[index]
        if len(text) >= _REPEATED_CHARS:
            if text in seen:
                continue
            seen.add(text)
        kept.append(index)
    return kept


def _take_code(page: Page, taken: npt.NDArray[np.bool_]) -> None:
    """Code belongs to the text it stands in: the pages that taught the model have too little of it."""
    for index in np.flatnonzero(~taken).tolist():
        holder = page.holders[index]
        if page.tags[holder].name == "pre":
            around = page.parents[holder]
            taken[index] = taken[page.first[around] : page.end[around]].any()


@cache
def text_model() -> TextModel:
    """The model that comes with the package, read when first asked for."""
    with (files("gossamer.parse") / "models" / _FILE).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return TextModel(dict(arrays))


def _scores(arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> dict[str, float]:
    words = arrays[f"{name}.words"].tobytes().decode().split("\n")
    return dict(zip(words, np.asarray(arrays[f"{name}.scores"], np.float64).tolist(), strict=True))
