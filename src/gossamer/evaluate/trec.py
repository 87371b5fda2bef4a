"""Collections as TREC hands them out: judgements, topics and documents in files of their own.

Which file is what is told from its beginning:

- judgements: lines `query 0 document grade`, or `query TAB document TAB grade`; a heading may stand above them;
- topics: `<top>` records (the title is the query), lines `query TAB text`, or JSON; JSON topics
  have `query` or `topic` in the name of their file, since documents may look the same;
- documents: `<DOC>` records, or a JSON object a line with `id` (`docno`, `_id` …), `title` and `text`.

Other files (a README, say) are passed over. Without documents the judgements are about URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import orjson

from gossamer.errors import UsageError
from gossamer.evaluate.files import Files, text_of
from gossamer.evaluate.values import Collection, Doc, document, each_once, one_line

_HEAD = 4_000
_JUDGEMENT = re.compile(r"\S+\s+(Q0|\d+)\s+\S+\s+-?\d+|\S+\t\S+\t-?\d+", re.IGNORECASE)
_TOPIC_LINE = re.compile(r"[^\t]+\t[^\t]+")
_TOPIC_NAME = re.compile("quer|topic")
_RECORD = r"(?is)<{0}>(.*?)</{0}>"
_TOPIC_FIELD = r"(?is)<{0}>\s*(?:number:|topic:)?\s*(.*?)\s*(?=<|\Z)"
_TAG = re.compile("<[^>]*>")
_TITLE_TAGS = ("title", "headline", "ttl", "head")
_ID_KEYS = ("id", "_id", "docno", "docid", "doc_id", "qid", "query_id", "url")
_QUERY_KEYS = ("text", "query", "title", "question")


def read(files: Files, name: str) -> Collection | None:
    """The collection in these files; none where there are no judgements or no topics."""
    sorted_out: dict[str, list[tuple[str, str]]] = {"judgements": [], "topics": [], "documents": []}
    for label, content in files.items():
        text = text_of(content())
        kind = _kind(label.rpartition("/")[2].lower(), text)
        if kind:
            sorted_out[kind].append((label, text))
    if not sorted_out["judgements"] or not sorted_out["topics"]:
        return None
    judgements: dict[str, dict[str, int]] = {}
    for label, text in sorted_out["judgements"]:
        for query, ident, grade in _judgements(label, text):
            judgements.setdefault(query, {})[ident] = grade
    return Collection(
        name=name,
        documents=each_once(doc for label, text in sorted_out["documents"] for doc in _documents(label, text)),
        queries={ident: query for label, text in sorted_out["topics"] for ident, query in _topics(label, text)},
        judgements=judgements,
    )


def _kind(name: str, text: str) -> str:
    """What a file is; empty where it is nothing of a collection."""
    head = text[:_HEAD].lower()
    lines = [line.strip() for line in head.splitlines()[:10] if line.strip()]
    if len(text) > _HEAD:
        lines = lines[:-1] or lines  # the last one may be cut
    if not lines:
        return ""
    if head.lstrip().startswith(("{", "[")):
        return "topics" if _TOPIC_NAME.search(name) else "documents"
    if "<top>" in head:
        return "topics"
    if "<doc>" in head:
        return "documents"
    if all(_JUDGEMENT.fullmatch(line) for line in lines[1:] or lines) and len(lines[0].split()) in (3, 4):
        return "judgements"
    return "topics" if all(_TOPIC_LINE.fullmatch(line) for line in lines) else ""


def _judgements(label: str, text: str) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            grade = int(fields[-1])
            query, ident = fields[0], fields[-2]
        except (ValueError, IndexError) as error:
            if number == 1:  # a heading
                continue
            raise UsageError(f"{label}, line {number}: expected is `query 0 document grade`") from error
        yield query, ident, grade


def _topics(label: str, text: str) -> Iterator[tuple[str, str]]:
    if "<top>" in text[:_HEAD].lower():
        for record in re.findall(_RECORD.format("top"), text):
            number, title = (re.search(_TOPIC_FIELD.format(tag), record) for tag in ("num", "title"))
            if number and title:
                yield one_line(number[1]), one_line(unescape(title[1]))
    elif text.lstrip().startswith(("{", "[")):
        for value in _objects(label, text):
            ident, query = _first(value, _ID_KEYS), _first(value, _QUERY_KEYS)
            if ident and query:
                yield ident, query
            else:  # all topics in one object
                yield from ((key, topic) for key, topic in value.items() if isinstance(topic, str))
    else:
        for line in text.splitlines():
            ident, tab, query = line.partition("\t")
            if tab:
                yield ident.strip(), query.strip()


def _documents(label: str, text: str) -> Iterator[Doc]:
    if text.lstrip().startswith(("{", "[")):
        for value in _objects(label, text):
            ident = _first(value, _ID_KEYS)
            body = _first(value, ("text", "body", "contents"))
            if ident:
                yield document(ident, _first(value, ("title",)), body, _first(value, ("lang",)))
        return
    for record in re.findall(_RECORD.format("doc"), text):
        number = re.search(_RECORD.format("docno"), record)
        if number:
            title = next((one for tag in _TITLE_TAGS if (one := _inside(record, tag))), "")
            body = _inside(record, "text") or _plain(record.replace(number[0], ""))
            yield document(number[1].strip(), title, body)


def _inside(record: str, tag: str) -> str:
    return _plain(" ".join(re.findall(_RECORD.format(tag), record)))


def _plain(markup: str) -> str:
    return one_line(unescape(_TAG.sub(" ", markup)))


def _objects(label: str, text: str) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, of one JSON object, or of one a line."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield _object(label, number, line)
        return
    yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict))


def _object(label: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{label}, line {number}: expected is a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{label}, line {number}: expected is a JSON object")
    return value


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((str(value[key]) for key in keys if value.get(key) not in (None, "")), "")
