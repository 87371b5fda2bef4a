"""What is taken down leaves the index at once, also where the indexer is far behind the crawl."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawl_kit import crawl
from index_kit import contents

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.frontier.steering import removing
from gossamer.indexer import indexing
from gossamer.indexer.indexing import Indexer
from gossamer.testing import FakeWeb


def test_an_indexer_that_is_behind_lets_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, web = tmp_path / "data", FakeWeb("127.0.48")
    early, late = web.site("early.test", pages=3, seed=1), web.site("late.test", pages=40, seed=2)
    with web:
        crawl(web, data, [early.generated[0]], crawl={"index": True})
        crawl(web, data, [late.generated[0]], crawl={"index": False}, budget={"batch": 2})
    monkeypatch.setattr(indexing, "_STEP_PAGES", 1)
    folder = DataFolder(data)
    db = folder.open_database()
    assert early.generated[1] in contents(data).pages
    removing.remove(db, f"={early.generated[1]}", "a court said so", SystemClock().now())
    indexer = Indexer.open(folder, db, SystemClock())
    indexer.step()
    assert indexer.behind() > 0, "many pages wait to come in"
    indexer.close()
    assert early.generated[1] not in contents(data).pages
    db.close()
