"""One complete shard of an index: the result of a task of `index_build`.

The library gives its files random names, so a task that ran twice does not write the same names twice. Each attempt
writes
a generation of its own; the first to register in the work place wins, and the others delete their files.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from gossamer.categories.model import Model, model_of
from gossamer.engine.exchange import read_part
from gossamer.index.anchors import AnchorStore
from gossamer.index.document import IndexPage, build, page_of
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut
from gossamer.index.writer import IndexWriter
from gossamer.jobs.context import numbered
from gossamer.model.fields import CustomFields
from gossamer.store.place import Place, open_place

MODEL = "categories.model"
"""The file with the classifier, in the work place."""
_COMMIT = 2_000
"""Documents of a commit: as many as are in memory, analysed, at a time."""
_ROWS = 256


class BuiltShard(msgspec.Struct, frozen=True):
    """A shard that is complete."""

    shard: int
    shards: int
    folder: str
    """Its folder in the target place."""
    generation: str
    documents: int
    bytes: int


class ShardTask(msgspec.Struct, frozen=True):
    """Which shard, of what, and where to."""

    work: str
    target: str
    cut: Cut
    pages: list[str]
    links: list[str]
    crawl: str
    position: int
    now: float
    fields: CustomFields = ()
    """The operator's own."""


def shard_folder(cut: Cut) -> str:
    """The folder of a shard in the target place."""
    return f"shard-{cut.shard:04d}-of-{cut.shards:04d}"


def build_shard(task: ShardTask) -> BuiltShard:
    """Task: one shard, complete, in the target place."""
    work, target = open_place(task.work), open_place(task.target)
    folder, generation = shard_folder(task.cut), f"g{secrets.randbelow(10**11):011d}"
    with tempfile.TemporaryDirectory(prefix="gossamer-shard-") as local:
        index = IndexFolder(Path(local))
        name = index.create(task.crawl, task.cut)
        documents = _fill(task, work, index, name)
        size = _upload(target, f"{folder}/{generation}", Path(local) / name)
    built = BuiltShard(task.cut.shard, task.cut.shards, folder, generation, documents, size)
    mark = numbered("built", task.cut.shard)
    if not work.create(mark, msgspec.json.encode(built)):
        # Another attempt was faster; its files count.
        target.delete(list(target.names(f"{folder}/{generation}/")))
        return msgspec.json.decode(work.get(mark), type=BuiltShard)
    return built


def _fill(task: ShardTask, work: Place, index: IndexFolder, name: str) -> int:
    anchors = AnchorStore(index.anchors(name))
    writer = IndexWriter(index.tantivy(name), index.scratch(name))
    writer.has_fields(task.fields)
    try:
        part = task.cut.shard - 1
        for batch in read_part(work, task.links, part):
            anchors.add(zip(batch.column("target").to_pylist(), batch.column("anchor").to_pylist(), strict=True))
        model = model_of(work.get(MODEL))
        for some in _chunks(_page(row, anchors, model) for row in _rows(read_part(work, task.pages, part))):
            found = writer.begin()
            for page in some:
                found.add(page.key, build(page, writer.extras, writer.fields))
            writer.apply(found, (), task.position, task.now)
            anchors.indexed(list(found.keys))
        if writer.position < task.position:  # a shard without a document
            writer.apply({}, (), task.position, task.now)
        writer.merge_some(wait=True)
        return int(writer.searcher().num_docs)
    finally:
        writer.close()
        anchors.close()


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Rows as Python values, a few hundred at a time: they take several times the room of a batch."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            yield from batch.slice(start, _ROWS).to_pylist()


def _chunks(pages: Iterator[IndexPage]) -> Iterable[list[IndexPage]]:
    while some := list(islice(pages, _COMMIT)):
        yield some


def _page(row: dict[str, Any], anchors: AnchorStore, model: Model | None) -> IndexPage:
    """A stored row as the index takes it, with the texts of links to it, and a category if it has none."""
    page = page_of(row)
    category = page.category or (model.predict(page.title, page.text).category if model is not None else "")
    return msgspec.structs.replace(page, anchors=anchors.texts(page.key), category=category)


def _upload(target: Place, folder: str, source: Path) -> int:
    """Copy a generation; the file that names the segments comes last."""
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    files.sort(key=lambda path: path.name == "meta.json")
    for path in files:
        target.upload(f"{folder}/{path.relative_to(source).as_posix()}", path)
    return sum(path.stat().st_size for path in files)
