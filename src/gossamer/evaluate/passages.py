"""Collections in one JSON file: our own form, and questions about passages as in SQuAD, XQuAD and CMRC."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import orjson

from gossamer.errors import UsageError
from gossamer.evaluate.values import Collection, Doc, document, each_once

Shape = TypeVar("Shape")


class _OwnQuery(msgspec.Struct):
    id: str | int
    text: str
    relevant: dict[str, int] | list[str]


class _OwnDocument(msgspec.Struct):
    text: str
    id: str | int = ""
    url: str = ""
    title: str = ""
    lang: str = ""


class _Own(msgspec.Struct):
    queries: list[_OwnQuery]
    documents: list[_OwnDocument] = []
    name: str = ""


class _Question(msgspec.Struct):
    id: str
    question: str


class _Paragraph(msgspec.Struct):
    context: str
    qas: list[_Question]


class _Article(msgspec.Struct):
    paragraphs: list[_Paragraph]
    title: str = ""


class _Squad(msgspec.Struct):
    data: list[_Article]


def read(name: str, data: bytes) -> Collection | None:
    """The collection in a JSON file; none where it is not JSON, or JSON of another kind."""
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    stem = name.rpartition("/")[2].removesuffix(".json")
    if isinstance(value, dict) and "queries" in value:
        return _own(_converted(value, _Own, name), stem)
    if isinstance(value, dict) and "data" in value:
        return _squad(_converted(value, _Squad, name), stem)
    return None


def _converted(value: Any, shape: type[Shape], name: str) -> Shape:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name} is not as it should be: {error}") from error


def _own(source: _Own, name: str) -> Collection:
    documents = [document(str(one.id) or one.url, one.title, one.text, one.lang) for one in source.documents]
    return Collection(
        name=source.name or name,
        documents=each_once(documents),
        queries={str(query.id): query.text for query in source.queries},
        judgements={
            str(query.id): query.relevant if isinstance(query.relevant, dict) else dict.fromkeys(query.relevant, 1)
            for query in source.queries
        },
    )


def _squad(source: _Squad, name: str) -> Collection:
    """A passage has the title of its article; equal passages are one."""
    documents: dict[str, Doc] = {}
    queries: dict[str, str] = {}
    judgements: dict[str, dict[str, int]] = {}
    for article in source.data:
        title = article.title.replace("_", " ")
        for paragraph in article.paragraphs:
            passage = documents.get(paragraph.context)
            if passage is None:
                passage = document(str(len(documents) + 1), title, paragraph.context)
                documents[paragraph.context] = passage
            for question in paragraph.qas:
                queries[question.id] = question.question
                judgements.setdefault(question.id, {})[passage.id] = 1
    return Collection(name=name, documents=list(documents.values()), queries=queries, judgements=judgements)
