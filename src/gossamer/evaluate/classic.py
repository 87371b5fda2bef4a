"""Cranfield, MED, LISA and TIME as they have been handed down since the tapes, with what is known to be odd in them.

- **Cranfield**: the judgements number the queries 1 to 225 in order; the numbers inside the query file are others.
  Codes run from 1, a complete answer, to 4, of minimum interest: here the grades 4 to 1. Each query ends with
  one document of code -1, which the collection does not explain; its list says "relevant", so it has grade 1.
  (It looks like the paper that the question was asked about: plain BM25 finds it first or second.)
- **MED**: documents have no titles.
- **LISA**: 5,999 of 6,004 documents have survived. `LISA.REL` is wrong for queries 21 to 23 (two lists are
  those of queries 34 and 35), so the judgements are read from `LISARJ.NUM`: query, number of documents, documents.
- **TIME**: judgements count documents from 1 in order, not by the numbers in the text; and two of 425 documents
  are missing, those between texts 504 and 507, so from there on the count is two ahead. (Shown by scoring
  each judged document and its neighbours: up to 370 the document itself fits, from 378 on the second before
  it; none between is judged.) `TIME.REL` leaves out 42 of the documents; `TIME.REL.ALL` has all.

Queries are used whole, as the people who asked them wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gossamer.errors import UsageError
from gossamer.evaluate.files import Files, text_of
from gossamer.evaluate.values import Collection, Doc, each_once, one_line

_QUERY_FILES = {"cran.qry": "cranfield", "lisa.que": "lisa", "med.qry": "med", "time.que": "time"}
_LISA_PART = re.compile(r"lisa\d\.\d{3}")
_LISA_DOCUMENT = re.compile(r"^Document +(\d+) *\n(.*?)^\*{20,} *$", re.MULTILINE | re.DOTALL)
_LISA_QUERY = re.compile(r"^(\d+) *\n(.*?)#", re.MULTILINE | re.DOTALL)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TIME_DOCUMENT = re.compile(r"^\*TEXT +(\d+)[^\n]*\n(.*?)(?=^\*|\Z)", re.MULTILINE | re.DOTALL)
_TIME_QUERY = re.compile(r"^\*FIND +(\d+)(.*?)(?=^\*|\Z)", re.MULTILINE | re.DOTALL)
_TIME_GAP = 505
_TIME_MISSING = 2

Read = Callable[[str], str]
"""The text of a file by its name in lower case, without folders."""
Judgements = dict[str, dict[str, int]]


def names(files: Files) -> list[str]:
    """The classic collections that are here, told by their query files."""
    return sorted({_QUERY_FILES[base] for name in files if (base := _base(name)) in _QUERY_FILES})


def read(files: Files, name: str) -> Collection:
    """One of the classic collections."""
    by_base = {_base(name): name for name in files}

    def text(base: str) -> str:
        if base not in by_base:
            raise UsageError(f"{name} is incomplete: {base} is missing")
        return text_of(files[by_base[base]]())

    readers = {"cranfield": _cranfield, "med": _med, "lisa": _lisa, "time": _time}
    try:
        return readers[name](text, sorted(by_base))
    except (ValueError, KeyError) as error:
        raise UsageError(f"{name} is damaged: {error}") from error


def _base(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _cranfield(text: Read, _: list[str]) -> Collection:
    judgements: Judgements = {}
    for line in text("cranqrel").splitlines():
        if line.strip():
            query, document, code = line.split()
            judgements.setdefault(query, {})[document] = 5 - int(code) if int(code) > 0 else 1
    return Collection(
        name="cranfield",
        documents=_smart_documents(text("cran.all.1400")),
        queries={str(n): one_line(parts["W"]) for n, (_, parts) in enumerate(_smart(text("cran.qry")), 1)},
        judgements=judgements,
    )


def _med(text: Read, _: list[str]) -> Collection:
    judgements: Judgements = {}
    for line in text("med.rel").splitlines():
        if line.strip():
            query, _zero, document, grade = line.split()
            judgements.setdefault(query, {})[document] = int(grade)
    return Collection(
        name="med",
        documents=_smart_documents(text("med.all")),
        queries={ident: one_line(parts["W"]) for ident, parts in _smart(text("med.qry"))},
        judgements=judgements,
    )


def _smart_documents(text: str) -> list[Doc]:
    return each_once(
        Doc(ident, one_line(parts.get("T", "")), one_line(parts.get("W", "")), "en") for ident, parts in _smart(text)
    )


def _smart(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Records of the SMART system: `.I` and a number, then parts such as `.T` and `.W`, each on lines of its own."""
    for record in re.split(r"^\.I +", text, flags=re.MULTILINE)[1:]:
        ident, _, rest = record.partition("\n")
        parts: dict[str, str] = {}
        pieces = re.split(r"^\.([A-Z]) *$", rest, flags=re.MULTILINE)
        for tag, content in zip(pieces[1::2], pieces[2::2], strict=True):
            parts[tag] = parts.get(tag, "") + content
        yield ident.strip(), parts


def _lisa(text: Read, bases: list[str]) -> Collection:
    documents = []
    for base in filter(_LISA_PART.fullmatch, bases):
        for ident, content in _LISA_DOCUMENT.findall(text(base)):
            title, *rest = _BLANK_LINE.split(content, maxsplit=1)
            documents.append(Doc(ident, one_line(title), one_line("".join(rest)), "en"))
    return Collection(
        name="lisa",
        documents=each_once(documents),
        queries={ident: one_line(words) for ident, words in _LISA_QUERY.findall(text("lisa.que"))},
        judgements=_counted_lists(iter(text("lisarj.num").split())),
    )


def _counted_lists(numbers: Iterator[str]) -> Judgements:
    """Query, how many documents, the documents; again and again."""
    judgements: Judgements = {}
    for query in numbers:
        count = int(next(numbers, "0"))
        judgements[query] = {document: 1 for _, document in zip(range(count), numbers, strict=False)}
    return judgements


def _time(text: Read, _: list[str]) -> Collection:
    documents = []
    for place, (number, content) in enumerate(_TIME_DOCUMENT.findall(text("time.all")), 1):
        ident = place + (_TIME_MISSING if int(number) > _TIME_GAP else 0)
        documents.append(Doc(str(ident), "", one_line(content), "en"))
    judgements: Judgements = {}
    for line in text("time.rel.all").splitlines():
        if line.strip():
            query, *relevant = line.split()
            judgements[query] = dict.fromkeys(relevant, 1)
    return Collection(
        name="time",
        documents=documents,
        queries={ident: one_line(words) for ident, words in _TIME_QUERY.findall(text("time.que"))},
        judgements=judgements,
    )
