"""Figures of a crawl for Prometheus: each is what the database says, by its definition and under its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gossamer.cli.main import main
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.machine import machine_name
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.frontier.contract import Batch, Place, SiteReport, Visit
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import controls
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.model.site import key64
from gossamer.operate.health import problems
from gossamer.operate.metrics import METRICS, CrawlCollector, text
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig
from gossamer.tables import delays
from gossamer.testing import FakeClock
from kit.postgres import PostgresServer

NOW = 1_790_000_000.0
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.create()
    return made


@pytest.fixture
def frontier(folder: DataFolder) -> Iterator[SqlFrontier]:
    made = open_frontier(folder, Settings())
    yield made
    made.db.close()


def crawl(frontier: SqlFrontier, outcomes: dict[str, Outcome], now: float = NOW) -> None:
    """Visit these URLs, each with this outcome, and leave no worker behind."""
    frontier.add([Discovered(url) for url in outcomes], now)
    frontier.register("w1", now)
    for lease in frontier.take("w1", now, 100, 100):
        visits = [
            Visit(Place(lease.site), task, outcomes[task.url], now, content_hash=task.url, row=place)
            for place, task in enumerate(lease.tasks)
        ]
        sites = [SiteReport(Place(lease.site), lease.token, lease.clock)]
        frontier.report("w1", Batch(f"s-{lease.site}", visits, sites=sites), now)
        frontier.release("w1", sites, [], now)
    frontier.retire("w1", now)


def scraped(folder: DataFolder, now: float = NOW, settings: Settings | None = None) -> Samples:
    def ask(question):
        db = folder.read()
        try:
            return question(db)
        finally:
            db.close()

    page = text(CrawlCollector(folder, settings or Settings(), FakeClock(now), ask))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def value(samples: Samples, metric: str, /, **labels: str) -> float:
    return samples[f"gossamer_{metric}", tuple(sorted(labels.items()))]


def test_figures_are_those_of_the_database(folder: DataFolder, frontier: SqlFrontier) -> None:
    crawl(frontier, {
        "http://a.test/": Outcome.DOCUMENT, "http://a.test/2": Outcome.DOCUMENT, "http://a.test/3": Outcome.GONE,
        "http://b.test/": Outcome.SERVER_ERROR,
    })  # fmt: skip
    frontier.add([Discovered("http://a.test/later")], NOW)
    samples = scraped(folder)
    assert value(samples, "crawl_up") == 1
    assert value(samples, "documents") == 2
    assert value(samples, "page_requests_total") == 4
    assert value(samples, "urls_known") == 5
    assert value(samples, "urls_by_outcome", outcome="document") == 2
    assert value(samples, "urls_failed", kind="gone") == 1
    assert value(samples, "sites") == 2
    assert value(samples, "urls_due") == 1
    assert sum(n for (name, _), n in samples.items() if name == "gossamer_queue_urls") == 1
    assert value(samples, "newest_result_timestamp_seconds") == NOW
    assert value(samples, "workers", machine="") == 0
    assert value(samples, "disk_free_bytes") > 0


def test_every_figure_has_a_definition_and_every_definition_a_figure(folder: DataFolder, frontier: SqlFrontier) -> None:
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT, "http://a.test/2": Outcome.GONE})
    frontier.add([Discovered("http://a.test/later")], NOW)
    db = frontier.db
    db.execute(
        "INSERT INTO alarms (kind, subject, since, until, sentence, seen_at) VALUES ('disk', '', 1, NULL, 'low', 1)"
    )
    db.execute("INSERT INTO schedule_runs (machine, name, began_at, ended_at, code) VALUES ('', 'nightly', 5, 65, 0)")
    samples = scraped(folder)
    given = {name for name, _ in samples}
    defined = {series for metric in METRICS for series in metric.series}
    assert given - defined == set()
    # Without an index nothing was committed.
    assert defined - given == {"gossamer_index_committed_timestamp_seconds"}
    labels = {metric.name: set(metric.labels) for metric in METRICS if metric.kind != "histogram"}
    assert all({label for label, _ in pairs} == labels[name] for name, pairs in samples if name in labels)
    assert value(samples, "alarms", kind="disk") == 1
    assert value(samples, "schedule_last_duration_seconds", machine="", name="nightly") == 60


def test_a_database_that_cannot_be_read_is_a_figure_too(tmp_path: Path) -> None:
    samples = scraped(DataFolder(tmp_path / "none"))
    assert value(samples, "crawl_up") == 0
    assert {name for name, _ in samples} == {"gossamer_crawl_up", "gossamer_build_info"}


def test_delays_are_a_histogram_whose_quantiles_can_be_told(folder: DataFolder, frontier: SqlFrontier) -> None:
    crawl(frontier, {f"http://a.test/{n}": Outcome.DOCUMENT for n in range(4)})
    frontier.db.execute("UPDATE urls SET announced_at = ?", (NOW,))
    places = [(key64("a.test"), key64(f"http://a.test/{n}")) for n in range(4)]
    for place, seconds in zip(places, (10, 20, 20, 1000), strict=True):
        delays.note_searchable(frontier.db, [place], NOW + seconds)
    samples = scraped(folder)
    buckets = {
        float(dict(labels)["le"]): count
        for (name, labels), count in samples.items()
        if name == "gossamer_publish_to_searchable_seconds_bucket"
    }
    assert (buckets[8.0], buckets[16.0], buckets[32.0], buckets[512.0], buckets[1024.0]) == (0, 1, 3, 3, 4)
    assert value(samples, "publish_to_searchable_seconds_count") == 4
    assert 1050 <= value(samples, "publish_to_searchable_seconds_sum") <= 1.2 * 1050
    assert list(buckets.values()) == sorted(buckets.values())


def test_pauses_workers_and_the_outbox_are_told(folder: DataFolder, frontier: SqlFrontier) -> None:
    frontier.add([Discovered("http://a.test/"), Discovered("http://b.test/")], NOW)
    frontier.register("w1", NOW)
    controls.pause_crawl(frontier.db, "maintenance", NOW)
    controls.pause_site(frontier.db, "a.test", "asked to", NOW)
    row = (
        "INSERT INTO messages (id, channel, about, body, made_at, due_at, attempts) VALUES (?, 'x', '', '{}', 1, ?, ?)"
    )
    frontier.db.many(row, [("1", 5.0, 0), ("2", 5.0, 3), ("3", None, 9), ("4", None, 9)])
    samples = scraped(folder)
    assert (value(samples, "crawl_paused"), value(samples, "sites_paused")) == (1, 1)
    assert value(samples, "workers", machine="") == 1
    states = {state: value(samples, "outbox_messages", state=state) for state in ("waiting", "failing", "given up")}
    assert states == {"waiting": 1, "failing": 1, "given up": 2}


def test_names_from_outside_cannot_break_the_format(folder: DataFolder, frontier: SqlFrontier) -> None:
    name = 'a"b\\c\nd'
    frontier.db.execute("INSERT INTO schedule_runs (machine, name, began_at) VALUES ('', ?, 5)", (name,))
    assert value(scraped(folder), "schedule_last_start_timestamp_seconds", machine="", name=name) == 5


def test_a_crawl_on_a_server_gives_the_same_figures(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        folder = DataFolder(tmp_path, StorageConfig(database=server.database()))
        folder.create()
        frontier = open_frontier(folder, Settings())
        crawl(frontier, {"http://a.test/": Outcome.DOCUMENT, "http://a.test/2": Outcome.GONE})
        frontier.register("w2", NOW)
        frontier.db.execute("INSERT INTO schedule_runs (machine, name, began_at) VALUES ('m', 'nightly', 5)")
        frontier.db.close()
        samples = scraped(folder)
    finally:
        server.stop()
    assert (value(samples, "documents"), value(samples, "urls_failed", kind="gone")) == (1, 1)
    assert value(samples, "workers", machine=machine_name(folder)) == 1
    assert value(samples, "schedule_last_start_timestamp_seconds", machine="m", name="nightly") == 5
    assert value(samples, "outbox_messages", state="waiting") == 0


def test_the_status_verb_prints_the_same_text(
    folder: DataFolder, frontier: SqlFrontier, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT}, SystemClock().now())
    assert main(["status", "--prometheus", "--data", str(folder.root)]) == 0
    said = capsys.readouterr().out
    assert "\ngossamer_documents 1.0\n" in said and said.startswith("# HELP gossamer_build_info ")


# -- is it well? ----------------------------------------------------------------------------------


def said(folder: DataFolder, db: Database, now: float, **changes: object) -> str:
    return " ".join(problems(folder, db, Settings(**changes), now))


def test_a_crawl_that_stores_pages_or_rests_is_well(folder: DataFolder, frontier: SqlFrontier) -> None:
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT})
    assert "the crawl stalls" not in said(folder, frontier.db, NOW + 86_400)
    frontier.add([Discovered("http://b.test/")], NOW)
    assert "the crawl stalls" not in said(folder, frontier.db, NOW + 86_400), "nobody runs it"


def test_a_crawl_stalls_where_workers_could_ask_and_nothing_is_stored(
    folder: DataFolder, frontier: SqlFrontier
) -> None:
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT})
    frontier.add([Discovered("http://b.test/")], NOW)
    frontier.register("w2", NOW)
    db, later = frontier.db, NOW + 1000
    db.execute("UPDATE workers SET expires_at = ?", (later + 60,))
    # The new one, and the other, whose start page is due again.
    assert "the crawl stalls: it stored nothing for 17 min although 2 sites can get requests" in said(folder, db, later)
    assert "the crawl stalls" not in said(folder, db, NOW + 800)
    controls.pause_crawl(db, "maintenance", NOW)
    assert "the crawl stalls" not in said(folder, db, later)


def test_workers_that_have_just_begun_are_not_blamed_for_the_night(folder: DataFolder, frontier: SqlFrontier) -> None:
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT})
    morning = NOW + 40_000
    frontier.add([Discovered("http://b.test/")], morning)
    frontier.register("w2", morning)
    assert "the crawl stalls" not in said(folder, frontier.db, morning + 10)


def test_a_disk_that_fills_up_is_told(folder: DataFolder, frontier: SqlFrontier) -> None:
    alerts = Settings().alerts.__class__(disk_low=10**9)
    assert "the disk is low" in said(folder, frontier.db, NOW, alerts=alerts)
    assert "disk" not in said(folder, frontier.db, NOW, alerts=Settings().alerts.__class__(disk_low=0))


def test_a_missing_index_is_told_where_there_is_something_to_search(folder: DataFolder, frontier: SqlFrontier) -> None:
    assert "index" not in said(folder, frontier.db, NOW)
    crawl(frontier, {"http://a.test/": Outcome.DOCUMENT})
    assert "the index cannot be searched: there is no index" in said(folder, frontier.db, NOW)
    without = Settings().crawl.__class__(index=False)
    assert "index" not in said(folder, frontier.db, NOW, crawl=without)


def test_the_status_verb_fails_with_a_sentence_where_the_crawl_is_not_well(
    folder: DataFolder, frontier: SqlFrontier, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(folder.root)]
    (folder.root / "gossamer.toml").write_text("[alerts]\ndisk_low = 1\n")
    assert main(["status", "--healthy", *arguments]) == 0
    assert "the crawl is healthy" in capsys.readouterr().out
    (folder.root / "gossamer.toml").write_text("[alerts]\ndisk_low = 1000000000\n")
    for option in ("--healthy", "--check"):
        assert main(["status", option, *arguments]) == 1
        assert "the disk is low" in capsys.readouterr().err
