"""Builds a whole index, shard by shard, on any engine.

Pages and the texts of links to them go to the task of their shard by exchange; each task builds its shard as a complete
generation in a local folder, as an indexer would (`index_shard`), and copies it to the target place. The result for a
shard is an index folder (`index.folder`), and an indexer can follow the crawl from where the build began: the position
of
the index is the last change that was committed when the job started.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.database.meta import crawl_id
from gossamer.engine.exchange import PartWriter
from gossamer.errors import UsageError
from gossamer.frontier.changes import last_change
from gossamer.frontier.views.sites import site_names
from gossamer.index.document import ROW_COLUMNS
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut, shard_of
from gossamer.jobs.context import JobContext, numbered, run_stage
from gossamer.jobs.index_shard import MODEL, BuiltShard, ShardTask, build_shard, shard_folder
from gossamer.jobs.segment_input import (
    LinkSource,
    PageSource,
    Unread,
    all_unread,
    newest_pages,
    run_over_pages,
    segment_groups,
)
from gossamer.model.fields import CustomFields
from gossamer.model.site import key64, site_of
from gossamer.store.place import Place, PlaceMissing, open_place
from gossamer.store.telling_links import telling_links

CURRENT = "current"
_LINKS = pa.schema([("target", pa.string()), ("anchor", pa.string())])
_SITES = "sites.json"


class IndexReport(msgspec.Struct, frozen=True):
    """What was built."""

    documents: int
    bytes: int
    position: int
    """Last change of the crawl that is in the index for sure."""
    shards: list[BuiltShard]
    unread: list[Unread]


class _PageTask(msgspec.Struct, frozen=True):
    source: PageSource
    number: int
    shards: int


class _LinkTask(msgspec.Struct, frozen=True):
    source: LinkSource
    work: str
    number: int
    shards: int


class _Sent(msgspec.Struct, frozen=True):
    unread: list[Unread]


def build_shards(
    context: JobContext, shards: int, target: str, now: float, model: bytes = b"", fields: CustomFields = (),
) -> IndexReport:  # fmt: skip
    """Build the index of all documents in so many shards, each in a folder of the target place; `model` is the
    classifier for pages that were stored before there was one, `fields` are those of the operator's own."""
    position = last_change(context.db)
    crawl = crawl_id(context.db)
    place = context.place
    place.put(MODEL, model)
    place.put(_SITES, msgspec.json.encode(site_names(context.db)))
    sources = newest_pages(context).sources
    sent = run_over_pages(
        context, "pages to shards", _send_pages, sources, lambda number, source: _PageTask(source, number, shards)
    )
    links = [LinkSource(context.segments, group) for group in segment_groups(context)]
    linked = run_over_pages(
        context, "links to shards", _send_links, links,
        lambda number, source: _LinkTask(source, context.work, number, shards),
    )  # fmt: skip
    pages = [numbered("pages", number) for number in range(len(sources))]
    anchors = [numbered("anchors", number) for number in range(len(links))]
    built = run_stage(
        context, "building shards", build_shard,
        [
            ShardTask(context.work, target, Cut(shard, shards), pages, anchors, crawl, position, now, fields)
            for shard in range(1, shards + 1)
        ],
    )  # fmt: skip
    _switch(open_place(target), built)
    unread = all_unread([*sent, *linked])
    return IndexReport(sum(one.documents for one in built), sum(one.bytes for one in built), position, built, unread)


def _switch(place: Place, built: Sequence[BuiltShard]) -> None:
    """Make the new generations count, and delete the old ones."""
    for one in built:
        place.put(f"{one.folder}/{CURRENT}", f"{one.generation}\n".encode())
    for one in built:
        mine = (f"{one.folder}/{one.generation}/", f"{one.folder}/{CURRENT}")
        place.delete([name for name in place.names(f"{one.folder}/") if not name.startswith(mine)])


def install_shard(place: Place, cut: Cut, index: Path) -> str:
    """Copy a shard that was built into a place to this machine and make it the generation that is searched in an
    index folder; returns its name."""
    source = shard_folder(cut)
    try:
        built = place.get(f"{source}/{CURRENT}").decode("ascii").strip()
    except PlaceMissing as error:
        way_out = f"build it with `gossamer jobs run index-build --shards {cut.shards} -o {place.url}`"
        raise UsageError(f"there is no index of {cut.named} in {place.url}: {way_out}") from error
    folder = IndexFolder(index)
    generation = folder.create("", cut)
    prefix = f"{source}/{built}/"
    for name in place.names(prefix):
        target = index / generation / name.removeprefix(prefix)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place.path(name), target)
    folder.switch(generation)
    return generation


def _send_pages(task: _PageTask) -> _Sent:
    """Task: pages to the tasks of their shards."""
    unread: list[Unread] = []
    with PartWriter(open_place(task.source.work), numbered("pages", task.number), task.shards) as writer:
        for table in task.source.tables(ROW_COLUMNS, unread):
            writer.add(table.select(ROW_COLUMNS), _shards(table.column("key").to_pylist(), task.shards))
    return _Sent(unread)


def _send_links(task: _LinkTask) -> _Sent:
    """Task: the texts of links to the tasks of the pages they lead to, as far as those are on sites of the crawl."""
    place = open_place(task.work)
    sites = _sites(task.work)
    unread: list[Unread] = []
    with PartWriter(place, numbered("anchors", task.number), task.shards) as writer:
        for table in task.source.tables(["source", "target", "anchor", "rel", "tag"], unread):
            pairs = [pair for pair in telling_links(table) if site_of(pair[0]) in sites]
            columns = list(zip(*pairs, strict=True)) or [(), ()]
            arrays = [pa.array(values, pa.string()) for values in columns]
            numbers = _shards([key64(target) for target, _ in pairs], task.shards)
            writer.add(pa.Table.from_arrays(arrays, schema=_LINKS), numbers)
    return _Sent(unread)


@lru_cache(maxsize=2)
def _sites(work: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(open_place(work).get(_SITES), type=list[str]))


def _shards(keys: Sequence[int], shards: int) -> np.ndarray[Any, Any]:
    return np.fromiter((shard_of(key, shards) - 1 for key in keys), np.int32, len(keys))
