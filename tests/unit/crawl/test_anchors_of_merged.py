"""Texts of links reach the index although their segment is merged in the moment in which it is read."""

from __future__ import annotations

import pytest

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.frontier.changes import next_change
from gossamer.frontier.views.inspect import place_of
from gossamer.index.anchors import AnchorStore
from gossamer.index.folder import IndexFolder
from gossamer.indexer import indexing
from gossamer.indexer.indexing import Indexer
from gossamer.model.records import Link, PageRow
from gossamer.model.site import key64
from gossamer.store.compaction import compact
from gossamer.store.layout import new_segment_id
from gossamer.store.segments import SegmentWriter
from gossamer.upkeep.compacting import replace

NOW = 1_700_000_000.0
HOME, TARGET = "http://a.org/", "http://a.org/t"


def write_segment(folder: DataFolder, db: Database) -> str:
    """A commit of one page with one link."""
    writer = SegmentWriter(folder.segments, new_segment_id("w1", NOW, 0), archive=False)
    writer.write_links([(HOME, NOW, [Link(TARGET, "Quarterly heron census")])])
    writer.write_pages([PageRow(HOME, "a.org", "a.org", NOW, "document", 200, text="hello")])
    writer.sync()
    with db.transaction():
        db.execute("INSERT INTO sites (id, name, domain, added_at) VALUES (?, 'a.org', 'a.org', 0)", (key64("a.org"),))
        db.execute(
            "INSERT INTO segments (id, worker, created_at, pages, bytes, seq) VALUES (?, 'w1', ?, 1, ?, ?)",
            (writer.segment_id, NOW, writer.bytes, next_change(db)),
        )
    return writer.segment_id


def texts_in(folder: DataFolder, generation: str) -> list[str]:
    store = AnchorStore(IndexFolder(folder.index).anchors(generation))
    try:
        return list(store.texts(key64(TARGET)) or ())
    finally:
        store.close()


@pytest.mark.parametrize("merges", [0, 1, 3])
def test_the_texts_of_a_segment_that_moves_are_found(
    folder: DataFolder, db: Database, monkeypatch: pytest.MonkeyPatch, merges: int
) -> None:
    left = merges

    def looked_up(database: Database, segment: str, row: int) -> tuple[str, int] | None:
        nonlocal left
        found = place_of(database, segment, row)
        if left and found is not None:
            left -= 1
            done = compact(folder.segments, [found[0]], new_segment_id("compact", NOW, 9 - left))
            replace(db, folder.segments, [found[0]], done, NOW)
        return found

    indexer = Indexer.open(folder, db, SystemClock())
    write_segment(folder, db)
    monkeypatch.setattr(indexing, "place_of", looked_up)
    while indexer.behind():
        indexer.step()
    indexer.close()
    assert texts_in(folder, indexer.generation) == ["Quarterly heron census"]
    assert left == 0
