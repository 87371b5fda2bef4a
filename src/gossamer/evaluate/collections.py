"""Collections with judgements, whatever form they come in.

`load` takes a file, a folder, an archive, or several files with commas between them; `.zst` and `.gz` are
unpacked. What it is, is told from the content:

- JSON of our own: `{"queries": [{"id", "text", "relevant": {document: grade}}], "documents": […]}`;
  documents are `{"id" or "url", "title", "text", "lang"}` and may be missing: then the judgements speak of URLs;
- JSON of the SQuAD kind: the paragraph of a question is its one relevant document;
- TREC: judgements `query 0 document grade`, topics and documents in any of the usual forms;
- the classic collections Cranfield, MED, LISA and TIME, as they are handed down; where a place holds
  several, one is named: `classic.tar.zst:med`.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from pathlib import Path

import msgspec

from gossamer.errors import UsageError
from gossamer.evaluate import classic, passages, trec
from gossamer.evaluate.files import Files, open_files
from gossamer.evaluate.values import Collection, Doc

__all__ = ["Collection", "Doc", "load"]

_EXPECTED = (
    "expected are JSON with queries, JSON of the SQuAD kind, TREC judgements with topics, "
    "or Cranfield, MED, LISA or TIME: see `gossamer evaluate --help`"
)


def load(spec: str) -> Collection:
    """The collection at a place."""
    paths, name = _places(spec)
    files: Files = {}
    for path in paths:
        files |= open_files(path)
    collection = _read(files, name, spec)
    _check(collection, spec)
    return collection


def sample(collection: Collection, count: int) -> Collection:
    """A collection with so many of its queries, taken evenly from first to last, since neighbours are alike."""
    queries = list(collection.queries.items())
    if count >= len(queries):
        return collection
    kept = dict(queries[n * len(queries) // count] for n in range(count))
    return msgspec.structs.replace(collection, queries=kept)


def _places(spec: str) -> tuple[list[Path], str]:
    """The files of a specification, and the name behind the last colon."""
    before, colon, behind = spec.rpartition(":")
    for text, name in ((spec, ""), (before, behind)) if colon else ((spec, ""),):
        paths = [Path(text)] if Path(text).exists() else [Path(one) for one in text.split(",") if one]
        if text and paths and all(path.exists() for path in paths):
            return paths, name.lower()
    raise UsageError(f"there is no collection {spec}: name a file or a folder, or FOLDER:NAME for one of several")


def _read(files: Files, name: str, spec: str) -> Collection:
    classics = classic.names(files)
    if name and name not in classics:
        raise UsageError(f"{spec} holds no collection {name}: it holds {', '.join(classics) or 'none that has a name'}")
    if len(classics) > 1 and not name:
        raise UsageError(f"{spec} holds {', '.join(classics)}: name one, such as {spec}:{classics[0]}")
    if classics:
        return classic.read(files, name or classics[0])
    if len(files) == 1:
        label, read = next(iter(files.items()))
        found = passages.read(label, read())
        if found is not None:
            return found
    found = trec.read(files, Path(spec.partition(",")[0]).name)
    if found is None:
        raise UsageError(f"{spec} is no collection of a known kind: {_EXPECTED}")
    return found


def _check(collection: Collection, spec: str) -> None:
    """Ids that do not fit together would give zeros that look like a bad ranking."""
    judged = [query for query in collection.queries if collection.judgements.get(query)]
    if not collection.queries:
        raise UsageError(f"{spec} has no queries: {_EXPECTED}")
    if not judged:
        raise UsageError(
            f"the judgements of {spec} are about none of its queries: "
            f"{_some(collection.judgements)} against {_some(collection.queries)}"
        )
    named = {document for query in judged for document in collection.judgements[query]}
    if collection.documents and named.isdisjoint(document.id for document in collection.documents):
        raise UsageError(
            f"the judgements of {spec} name none of its documents: "
            f"{_some(sorted(named))} against {_some([document.id for document in collection.documents])}"
        )


def _some(ids: Ids[str]) -> str:
    return ", ".join(repr(one) for one in list(ids)[:3]) + (" …" if len(ids) > 3 else "")
