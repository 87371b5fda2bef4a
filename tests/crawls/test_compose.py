"""A Python program crawls, indexes, searches and serves a data folder; the library prints nothing."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import httpx
import msgspec
import pytest
from crawl_kit import PATIENCE, settings_of

from gossamer.compose.crawl import CrawlOrder, crawl_verdict, open_crawl
from gossamer.compose.index import hold_index
from gossamer.compose.search import open_searcher
from gossamer.compose.serve import open_server
from gossamer.data.folder import DataFolder
from gossamer.discover.seeds import read_seeds
from gossamer.errors import BusyError, UsageError
from gossamer.frontier.views.inspect import Status
from gossamer.indexer.indexer_process import catch_up
from gossamer.operate.next_command import Commands
from gossamer.search.results import Request
from gossamer.settings import load
from gossamer.testing import FakeWeb
from gossamer.web.server import WebServer


def test_a_program_crawls_searches_and_serves(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    web = FakeWeb("127.0.97")
    site = web.site("small.test")
    site.page("/", '<html><body><main><p>A page about lighthouses.</main><a href="/next">next</a></body></html>')
    site.page("/next", "<html><body><main><p>A page about harbours and rockets.</main></body></html>")
    with web:
        settings = load(data, settings_of(web, crawl={"workers": 1}))
        order = CrawlOrder(settings, data, read_seeds([site.url("/")], [], None))
        seen: list[Status] = []
        with open_crawl(order) as crawl:
            with pytest.raises(BusyError), open_crawl(order):
                pass
            ended = crawl.run(seen.append)
    verdict = crawl_verdict(order, ended, Commands())
    assert (ended.standing.pages, ended.pages_before, ended.early, ended.was_told) == (2, 0, False, False)
    assert seen and verdict.ok
    with hold_index(DataFolder(data), settings) as held, closing(held.open(True, lambda done, total: None)) as indexer:
        catch_up(indexer)
    assert [hit.url for hit in open_searcher(data).search(Request(query="rockets")).hits] == [site.url("/next")]
    warned: list[str] = []
    server = open_server(
        data, msgspec.structs.replace(settings, serve=load(data, {"serve": {"port": 0}}).serve), False, warned.append
    )
    assert server.login is not None and not server.login.has_account and warned == []
    listening, ready = WebServer(server.app, server.settings), threading.Event()
    thread = threading.Thread(target=listening.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        assert "rockets" in httpx.get(f"{listening.address}/search?q=rockets", trust_env=False).text
    finally:
        listening.stop()
        thread.join(PATIENCE)
    assert capfd.readouterr() == ("", "")


def test_nothing_to_crawl_is_an_error_of_ours(tmp_path: Path) -> None:
    order = CrawlOrder(load(tmp_path), tmp_path)
    with pytest.raises(UsageError, match="nothing to crawl"), open_crawl(order):
        pass
