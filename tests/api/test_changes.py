"""New, changed and removed pages, in the order of the changes, each once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_kit import quick

import gossamer
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.errors import OperationError, UsageError
from gossamer.frontier.steering.operate import recrawl
from gossamer.tables import forgetting
from gossamer.testing import FakeWeb

pytestmark = pytest.mark.long


def text(topic: str) -> str:
    words = " ".join(f"The {topic} number {n} stands at the harbour, and nobody has moved it." for n in range(12))
    return f'<html lang="en"><title>About {topic}</title><body><main><p>{words}</p></main>'


class World:
    """A site of three pages and its folder."""

    def __init__(self, web: FakeWeb, data: Path) -> None:
        self.web, self.data = web, data
        self.site = web.site("c.test")
        self.site.page("/", text("anchor") + '<a href="/a">a</a> <a href="/b">b</a>')
        self.site.page("/a", text("boat"))
        self.site.page("/b", text("crane"))

    def crawl(self) -> gossamer.Folder:
        return gossamer.crawl(self.site.url(), folder=self.data, settings=quick(self.web)).run()

    def visit_again(self) -> None:
        """Have the next crawl fetch everything anew."""
        db = DataFolder(self.data).open_database()
        recrawl(db, self.site.url(), SystemClock().now())
        db.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    web = FakeWeb("127.0.132")
    made = World(web, tmp_path / "data")
    with web:
        yield made


def told(changes: gossamer.Folder, since: int | str = 0) -> list[tuple[str, str]]:
    return [(change.kind, change.url.rpartition("/")[2]) for change in changes.changes(since)]


def test_pages_come_change_and_leave(world: World) -> None:
    folder = world.crawl()
    first = list(folder.changes())
    assert sorted((change.kind, change.url) for change in first) == [
        ("new", world.site.url(path)) for path in ("/", "/a", "/b")
    ]
    assert [change.number for change in first] == sorted(change.number for change in first)
    assert all(change.page is not None and change.page.text for change in first)
    seen = folder.last_change
    assert told(folder, seen) == []

    world.site.page("/a", text("barge"))
    world.site.remove("/b")
    world.site.page("/", text("anchor") + '<a href="/a">a</a> <a href="/d">d</a>')
    world.site.page("/d", text("dock"))
    world.visit_again()
    world.crawl()
    assert sorted(told(folder, seen)) == [("changed", ""), ("changed", "a"), ("new", "d"), ("removed", "b")]
    changed = next(change for change in folder.changes(seen) if change.url == world.site.url("/a"))
    assert changed.page is not None and "barge" in changed.page.text
    before = {change.url: change.page.text_hash for change in first if change.page is not None}
    after = {change.url: change.page.text_hash for change in folder.changes(seen) if change.page is not None}
    assert [url for url in after if before.get(url) == after[url]] == [world.site.url()]
    assert sorted(told(folder)) == [
        ("changed", ""),
        ("changed", "a"),
        ("new", "d"),
    ]  # from the beginning: what there is


def test_each_entry_is_a_place_to_go_on_from(world: World) -> None:
    folder = world.crawl()
    whole = [(change.position, change.url) for change in folder.changes()]
    assert len({position for position, _ in whole}) == len(whole) == 3
    for number, (position, _) in enumerate(whole):
        assert [(one.position, one.url) for one in folder.changes(position)] == whole[number + 1 :]
    with pytest.raises(UsageError, match="since='yesterday' is no change"):
        folder.changes("yesterday")


def test_who_is_too_far_behind_hears_it(world: World) -> None:
    folder = world.crawl()
    first = next(iter(folder.changes()))
    db = DataFolder(world.data).open_database()
    forgetting.forget_departures(db, folder.last_change)
    db.close()
    with pytest.raises(OperationError, match=r"too long ago.*since=0"):
        list(folder.changes(folder.last_change - 1))
    assert len(list(folder.changes())) == 3
    assert len(list(folder.changes(first.position))) == 2  # it began after what was forgotten


def test_a_crawl_can_be_followed_while_it_runs(world: World) -> None:
    crawl = gossamer.crawl(world.site.url(), folder=world.data, settings=quick(world.web))
    found: list[str] = []
    began = threading.Event()

    def follow() -> None:
        began.wait()
        found.extend(change.url for change in crawl.changes(follow=True))

    thread = threading.Thread(target=follow)
    thread.start()
    for _ in crawl:
        began.set()
    thread.join()
    assert len(found) == 3


def test_changes_are_followed_in_an_event_loop(world: World) -> None:
    folder = world.crawl()

    async def first(count: int) -> list[str]:
        found = []
        async for change in folder.changes(follow=True):
            found.append(change.url)
            if len(found) == count:
                break
        return found

    assert len(asyncio.run(first(3))) == 3
