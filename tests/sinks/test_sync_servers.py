"""Databases and search engines end equal to the crawl, however often the process that fills them is killed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from engines import Engines
from sink_kit import KILLS, Crawls, Killer, expected, started

from gossamer.cli.main import main
from kit.postgres import PostgresServer, has_postgres

pytestmark = pytest.mark.long


@pytest.fixture
def postgres() -> Iterator[str]:
    if not has_postgres():
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer()
    yield server.database()
    server.stop()


def test_postgresql_ends_equal(crawls: Crawls, postgres: str) -> None:
    killer = Killer()
    target = f"postgres:{postgres}"
    with psycopg.connect(postgres, autocommit=True) as db:
        while killer.kills < KILLS:
            db.execute("DROP TABLE IF EXISTS gossamer_pages, gossamer_sync")
            killer.until_done(target, crawls.before)
            killer.until_done(target, crawls.after)
            rows = db.execute("SELECT url, markdown FROM gossamer_pages").fetchall()
            assert dict(rows) == expected(crawls.after)
        found = db.execute("SELECT title, status FROM gossamer_pages WHERE url LIKE '%/p0'").fetchone()
        assert found == ("barge 0", 200)


@pytest.mark.parametrize("kind", ["elasticsearch", "meilisearch"])
def test_search_engines_end_equal(crawls: Crawls, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_SYNC_KEY", "word")
    killer = Killer()
    with Engines() as engines:
        target = f"{kind}:{engines.url}/pages"
        while killer.kills < KILLS:
            engines.empty()
            for data in crawls:
                shutil.rmtree(data / "sync", ignore_errors=True)
            killer.until_done(target, crawls.before)
            shutil.move(crawls.before / "sync", crawls.after / "sync")
            killer.until_done(target, crawls.after)
            assert {one["url"]: one["markdown"] for one in engines.documents.values()} == expected(crawls.after)


@pytest.mark.parametrize("kind", ["elasticsearch", "meilisearch"])
def test_an_engine_that_is_busy_gets_the_pages_at_the_next_run(crawls: Crawls, tmp_path: Path, kind: str) -> None:
    data = tmp_path / "data"
    shutil.copytree(crawls.before, data, ignore=shutil.ignore_patterns("sync"))
    with Engines() as engines:
        target = f"{kind}:{engines.url.replace('://', '://me:secret@')}/pages"
        engines.refuse = True
        assert main(["sync", target, "--data", str(data)]) == 1
        engines.refuse = False
        assert main(["sync", target, "--data", str(data)]) == 0
        assert {one["url"] for one in engines.documents.values()} == expected(data).keys()
        assert engines.keys == {"Basic bWU6c2VjcmV0"}
        shutil.rmtree(data / "sync")  # as after a restore
        assert main(["sync", target, "--data", str(data)]) == 2


def test_who_follows_waits_for_an_engine_and_hears_of_a_takedown(crawls: Crawls, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(crawls.before, data, ignore=shutil.ignore_patterns("sync"))
    with Engines() as engines:
        engines.refuse = True
        process = started(f"elasticsearch:{engines.url}/pages", data, "--follow")
        try:
            assert until(lambda: engines.keys)
            engines.refuse = False
            assert until(lambda: urls(engines) == expected(data).keys())
            gone = min(urls(engines))
            assert main(["remove", gone, "--reason", "a court said so", "--data", str(data)]) == 0
            assert until(lambda: urls(engines) == expected(data).keys())
            assert gone not in urls(engines)
            assert main(["sync", f"elasticsearch:{engines.url}/pages", "--data", str(data)]) == 1  # one at a time
        finally:
            process.kill()
            process.join()


def urls(engines: Engines) -> set[str]:
    with engines.lock:
        return {one["url"] for one in engines.documents.values()}


def until(is_so: Callable[[], object]) -> bool:
    """Whether it becomes so; a busy machine gets minutes."""
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return bool(is_so())
