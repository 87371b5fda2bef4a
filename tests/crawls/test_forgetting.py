"""A crawl that goes on for years: changes of long ago are forgotten, and nothing that is there now is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from crawl_kit import crawl, exported, run
from index_kit import contents

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import BusyError
from gossamer.frontier import changes
from gossamer.frontier.views.inspect import place_of
from gossamer.index.folder import IndexFolder
from gossamer.indexer.indexing import IndexBehindError, Indexer
from gossamer.store.layout import new_segment_id
from gossamer.tables import forgetting, holds
from gossamer.testing import FakeWeb
from gossamer.upkeep import compacting, due
from gossamer.upkeep.forgetting import KEPT, forget_old_changes

ROUNDS = 4
INSERT = "INSERT INTO segments (id, worker, created_at, pages, bytes, merged_into) VALUES (?, 'compact', 1, 1, 1, ?)"


def words(name: str) -> str:
    return f"All about {name}. " + " ".join(f"{name}x{n}" for n in range(60))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A page that was different at each of four visits, one that is gone at the last, and one that stayed as it was;
    all segments are merged into one."""
    data, web = tmp_path_factory.mktemp("visited") / "data", FakeWeb("127.0.66")
    site = web.site("a.test")
    site.page("/", words("start"), links=["/changing.html", "/steady.html", "/leaving.html"])
    site.page("/steady.html", words("steady"))
    site.page("/leaving.html", words("leaving"))
    with web:
        for round_ in range(ROUNDS):
            site.page("/changing.html", words(f"round{round_}"))
            if round_ == ROUNDS - 1:
                site.remove("/leaving.html")
            if round_:
                for path in ("/changing.html", "/leaving.html"):
                    assert run("recrawl", web.url("a.test", path), data=data).returncode == 0
            crawl(web, data, [] if round_ else [web.url("a.test")], crawl={"index": True})
    folder = DataFolder(data)
    db = folder.open_database()
    with mock.patch.object(due, "plan", lambda sizes: [list(sizes)]):
        assert compacting.compact_once(db, folder.segments, SystemClock().now(), set()) >= ROUNDS
    db.close()
    yield data


@pytest.fixture
def data(crawled: Path, tmp_path: Path) -> Path:
    shutil.copytree(crawled, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def db(data: Path) -> Iterator[Database]:
    db = DataFolder(data).open_database()
    yield db
    db.close()


def later() -> float:
    """When everything that was done so far is old."""
    return SystemClock().now() + KEPT + 60


def stored(data: Path) -> list[Any]:
    """What users get."""
    return [sorted(map(repr, exported(what, data))) for what in ("pages", "urls", "links")]


def rows(db: Database, table: str) -> int:
    return int(db.execute(f"SELECT COUNT(*) FROM {table}")[0][0])


def test_no_page_url_or_link_is_lost(data: Path, db: Database) -> None:
    before, segments = stored(data), rows(db, "segments")
    forgotten = forget_old_changes(DataFolder(data), db, later())
    assert forgotten > 0 and rows(db, "segments") == segments - forgotten
    assert rows(db, "departures") == 0
    assert stored(data) == before


def test_where_a_page_lies_is_known_as_long_as_it_is_somebodys_page(data: Path, db: Database) -> None:
    forget_old_changes(DataFolder(data), db, later())
    used = db.execute("SELECT segment, segment_row FROM urls WHERE segment IS NOT NULL")
    places = [place_of(db, segment, row) for segment, row in used]
    assert len(set(places)) == len(places) > 1 and None not in places


def test_nothing_that_is_young_or_held_is_forgotten(data: Path, db: Database) -> None:
    folder, now = DataFolder(data), SystemClock().now()
    before = rows(db, "segments"), rows(db, "departures")
    assert before[1] > 0
    assert forget_old_changes(folder, db, now) == 0
    holds.take(db, "backup", later())
    with pytest.raises(BusyError, match="forgotten later"):
        forget_old_changes(folder, db, later())
    assert (rows(db, "segments"), rows(db, "departures")) == before
    assert forgetting.forgotten(db) == 0


def test_a_segment_whose_files_were_left_behind_is_still_known_as_replaced(data: Path, db: Database) -> None:
    """Erasing what was taken down has to find such files."""
    [(left,)] = db.execute("SELECT id FROM segments WHERE merged_into IS NOT NULL AND seq = 1")
    (DataFolder(data).root / "segments" / left).mkdir()
    with mock.patch.object(forgetting, "unused_segments", lambda db, is_old: {left}):
        assert forget_old_changes(DataFolder(data), db, later()) == 0


def test_one_that_was_merged_a_moment_ago_stays_however_old_it_is(data: Path, db: Database) -> None:
    """Whoever began to read it before looks for its rows now."""
    old, new = "20200101T000000000-compact-000000", new_segment_id("compact", later() - 30, 0)
    db.many(INSERT, [(old, new), (new, None)])
    forget_old_changes(DataFolder(data), db, later())
    assert place_of(db, old, 5) == (new, 5)
    forget_old_changes(DataFolder(data), db, later() + KEPT)
    assert place_of(db, old, 5) is None


def test_a_segment_through_which_the_way_to_a_page_leads_stays(data: Path, db: Database) -> None:
    """Earlier versions left ways of several steps."""
    [(page, first)] = db.execute("SELECT id, first_row FROM segments WHERE merged_into IS NOT NULL AND seq = 1")
    [(final,)] = db.execute("SELECT id FROM segments WHERE merged_into IS NULL")
    between = "20200101T000000000-compact-000000"
    insert = (
        "INSERT INTO segments (id, worker, created_at, pages, bytes, merged_into) VALUES (?, 'compact', 1, 1, 1, ?)"
    )
    db.execute(insert, (between, final))
    db.execute("UPDATE segments SET merged_into = ? WHERE id = ?", (between, page))
    forget_old_changes(DataFolder(data), db, later())
    assert place_of(db, page, 0) == (final, first)


class TestIndex:
    def test_one_that_has_followed_goes_on(self, data: Path, db: Database) -> None:
        folder, clock = DataFolder(data), SystemClock()
        before = IndexFolder(folder.index).current()
        forget_old_changes(folder, db, later())
        Indexer.open(folder, db, clock).close()
        assert IndexFolder(folder.index).current() == before

    def test_one_that_is_built_anew_has_what_the_old_one_had(self, data: Path, db: Database) -> None:
        before = contents(data)
        forget_old_changes(DataFolder(data), db, later())
        Indexer.rebuild(DataFolder(data), db, SystemClock()).close()
        after = contents(data)
        assert after.pages.keys() == before.pages.keys() and after.terms == before.terms

    def test_one_that_missed_what_is_forgotten_is_built_anew(self, data: Path, db: Database) -> None:
        """It would go on to show what has left."""
        folder, clock = DataFolder(data), SystemClock()
        behind = Indexer.open(folder, db, clock)
        _leave(db)
        forgetting.forget_departures(db, changes.last_change(db))
        with pytest.raises(IndexBehindError, match="rebuilds it"):
            behind.step()
        behind.close()
        assert any("steady" in url for url in contents(data).pages)
        Indexer.open(folder, db, clock).close()
        assert contents(data).pages and not any("steady" in url for url in contents(data).pages)


def _leave(db: Database) -> None:
    """A page is no document any more, and nobody has told the index."""
    with db.transaction():
        [(site, key)] = db.execute("SELECT site_id, key FROM urls WHERE url LIKE '%/steady.html'")
        db.execute("UPDATE urls SET outcome = 'gone' WHERE site_id = ? AND key = ?", (site, key))
        changes.note_departures(db, changes.next_change(db), [(site, key)])
