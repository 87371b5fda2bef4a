"""The words of the collection: in how many documents of each language a word occurs, and how often.

A word is a term of the index (`index.analysis.stems`): a stem, a pair of characters, or a dictionary word of writing
without spaces. So these are the document frequencies that a single index over the whole collection would have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.engine.exchange import PartWriter, partition_of
from gossamer.index.analysis import stems
from gossamer.jobs.context import JobContext, numbered, part_table, put_table, run_stage
from gossamer.jobs.segment_input import PageSource, Unread, all_unread, newest_pages, run_over_pages
from gossamer.model.site import key64
from gossamer.store.place import open_place

VOCABULARY = pa.schema(
    [
        ("lang", pa.string()),
        ("word", pa.string()),
        ("documents", pa.int64()),
        ("occurrences", pa.int64()),
        ("titles", pa.int64()),
    ]
)
"""`documents` and `occurrences` count the texts, `titles` the documents with the word in their title."""
ORDER = ("lang", "word")
_FIGURES = ("documents", "occurrences", "titles")
_HELD = 300_000
"""Words that a task holds before it writes them to files."""
_DOCUMENTS_OF_A_PART = 200_000
_TOP = 20


class Word(msgspec.Struct, frozen=True):
    """A word that occurs in many documents."""

    word: str
    documents: int
    occurrences: int


class LanguageWords(msgspec.Struct, frozen=True):
    """The vocabulary of one language."""

    lang: str
    """ISO 639-1; empty if unknown."""
    documents: int
    words: int
    occurrences: int
    top: list[Word]


class VocabularyReport(msgspec.Struct, frozen=True):
    """What was counted."""

    documents: int
    words: int
    """Different words, each language counted on its own."""
    languages: list[LanguageWords]
    """The largest first."""
    unread: list[Unread]


class _WordTask(msgspec.Struct, frozen=True):
    source: PageSource
    number: int
    parts: int


class _Counted(msgspec.Struct, frozen=True):
    documents: dict[str, int]
    unread: list[Unread]


class _SumTask(msgspec.Struct, frozen=True):
    work: str
    files: list[str]
    part: int
    name: str


def vocabulary(context: JobContext) -> tuple[VocabularyReport, list[str]]:
    """Count the words of all documents; returns the report and the names of the Parquet files."""
    pages = newest_pages(context)
    parts = context.parts_for(pages.documents, _DOCUMENTS_OF_A_PART)
    counted = run_over_pages(
        context, "counting words", _count_words, pages.sources,
        lambda number, source: _WordTask(source, number, parts),
    )  # fmt: skip
    files = [numbered("words", number) for number in range(len(pages.sources))]
    results = [numbered("vocabulary", part, ".parquet") for part in range(parts)]
    found = run_stage(
        context, "adding up", _add_up,
        [_SumTask(context.work, files, part, name) for part, name in enumerate(results)],
    )  # fmt: skip
    documents = sum((Counter(one.documents) for one in counted), Counter[str]())
    languages = [_language(lang, documents[lang], found) for lang in documents]
    languages.sort(key=lambda one: (-one.words, one.lang))
    words = sum(one.words for one in languages)
    return VocabularyReport(documents.total(), words, languages, all_unread(counted)), results


def _language(lang: str, documents: int, found: Sequence[dict[str, LanguageWords]]) -> LanguageWords:
    parts = [part[lang] for part in found if lang in part]
    top = _best([word for part in parts for word in part.top])
    return LanguageWords(
        lang, documents, sum(part.words for part in parts), sum(part.occurrences for part in parts), top
    )


def _best(words: list[Word]) -> list[Word]:
    return sorted(words, key=lambda one: (-one.documents, -one.occurrences, one.word))[:_TOP]


class _Tally:
    """Counts that are written to files before they are too many."""

    def __init__(self, writer: PartWriter, parts: int) -> None:
        self._writer, self._parts = writer, parts
        self._words: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(_FIGURES))

    def add(self, lang: str, title: str, text: str) -> None:
        for word, times in Counter(stems(text, lang)).items():
            figures = self._words[lang, word]
            figures[0] += 1
            figures[1] += times
        for word in set(stems(title, lang)):
            self._words[lang, word][2] += 1
        if len(self._words) >= _HELD:
            self.flush()

    def flush(self) -> None:
        rows: list[tuple[Any, ...]] = [(*word, *figures) for word, figures in sorted(self._words.items())]
        self._words.clear()
        columns = list(zip(*rows, strict=True)) or [()] * len(VOCABULARY)
        arrays = [pa.array(values, field.type) for field, values in zip(VOCABULARY, columns, strict=True)]
        keys = np.fromiter(map(key64, columns[1]), np.int64, len(rows))
        self._writer.add(pa.Table.from_arrays(arrays, schema=VOCABULARY), partition_of(keys, self._parts))


def _count_words(task: _WordTask) -> _Counted:
    """Task: the words of some pages, to the tasks that have them."""
    place = open_place(task.source.work)
    unread: list[Unread] = []
    documents: Counter[str] = Counter()
    with PartWriter(place, numbered("words", task.number), task.parts) as writer:
        tally = _Tally(writer, task.parts)
        for table in task.source.tables(["title", "text", "lang", "claimed_lang"], unread):
            for row in table.to_pylist():
                lang = row["lang"] or row["claimed_lang"] or ""
                documents[lang] += 1
                tally.add(lang, row["title"] or "", row["text"] or "")
        tally.flush()
    return _Counted(dict(documents), unread)


def _add_up(task: _SumTask) -> dict[str, LanguageWords]:
    """Task: the sums of some words."""
    place = open_place(task.work)
    table = part_table(place, task.files, task.part, VOCABULARY)
    table = table.group_by(list(ORDER)).aggregate([(name, "sum") for name in _FIGURES])
    table = table.select([*ORDER, *(f"{name}_sum" for name in _FIGURES)]).rename_columns(VOCABULARY.names)
    table = table.cast(VOCABULARY).sort_by([(name, "ascending") for name in ORDER])
    put_table(place, task.name, table)
    found: dict[str, LanguageWords] = {}
    for lang in table.column("lang").unique().to_pylist():
        mine = table.filter(pa.compute.equal(table.column("lang"), lang))
        best = mine.sort_by([("documents", "descending"), ("occurrences", "descending"), ("word", "ascending")])
        top = [Word(row["word"], row["documents"], row["occurrences"]) for row in best.slice(0, _TOP).to_pylist()]
        occurrences = int(np.sum(mine.column("occurrences").to_numpy()))
        found[lang] = LanguageWords(lang, 0, mine.num_rows, occurrences, top)
    return found
