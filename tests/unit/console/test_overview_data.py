"""What the overview says: whether the crawl runs, how fast it goes, whether news were found in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.console import series, words
from gossamer.console.context import Crawl
from gossamer.console.overview_data import Watch, overview, service_levels
from gossamer.console.pages.overview import errors_of, levels_of
from gossamer.database.database import Database, open_database
from gossamer.errors import BusyError
from gossamer.frontier.steering import controls
from gossamer.model.records import LEVELS
from gossamer.model.site import key64
from gossamer.settings import Settings
from gossamer.tables import samples
from gossamer.tables.samples import DAY, HOUR, MINUTE, Figures
from gossamer.testing import FakeClock
from gossamer.web.service import Services

NOW = 1_700_000_000.0 // HOUR * HOUR
GOAL = 900.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "frontier.db")
    database.execute("PRAGMA synchronous = OFF")
    yield database
    database.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def crawl(db: Database, tmp_path: Path, clock: FakeClock) -> Crawl:
    services: Any = Services(search=None)
    return Crawl(tmp_path, Settings, services, clock)


def add_site(db: Database, name: str, **columns: Any) -> int:
    row = {"id": key64(name), "name": name, "domain": name, "added_at": NOW, **columns}
    db.execute(f"INSERT INTO sites ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    return key64(name)


def add_worker(db: Database, name: str, machine: str = "", started_at: float = NOW - 60) -> None:
    values = (name, started_at, NOW + 3600, 0, 5, machine)
    db.execute(
        "INSERT INTO workers (id, started_at, expires_at, reserved, fetched, machine) VALUES (?,?,?,?,?,?)", values
    )


def test_a_crawl_without_workers_is_stopped_since_its_last_sample(db: Database, crawl: Crawl) -> None:
    assert (Watch(crawl).look().activity, Watch(crawl).look().since) == ("stopped", None)
    samples.note(db, Figures(NOW - 500), last=True)
    look = Watch(crawl).look()
    assert (look.activity, look.since) == ("stopped", NOW - 500)


def test_a_crawl_with_workers_runs_since_the_first_of_them(db: Database, crawl: Crawl) -> None:
    add_worker(db, "a", started_at=NOW - 60)
    add_worker(db, "b", started_at=NOW - 600)
    look = Watch(crawl).look()
    assert (look.activity, look.since) == ("running", NOW - 600)


def test_a_paused_crawl_is_paused_whoever_is_at_work_and_says_why(db: Database, crawl: Crawl) -> None:
    add_worker(db, "a")
    controls.pause_crawl(db, "the network is being mended", NOW - 30)
    look = Watch(crawl).look()
    assert (look.activity, look.since) == ("paused", NOW - 30)
    assert overview(db, crawl, NOW).pause_reason == "the network is being mended"


def test_a_pause_shows_at_once_although_the_figures_are_of_a_moment_ago(db: Database, crawl: Crawl) -> None:
    watch = Watch(crawl)
    before = watch.look()
    controls.pause_crawl(db, "", NOW)
    paused = watch.look()
    assert (before.activity, paused.activity, paused.since) == ("stopped", "paused", NOW)
    assert paused.standing is before.standing
    controls.resume_crawl(db, NOW)
    assert watch.look().activity == "stopped"


def test_the_speed_is_what_was_fetched_between_looks(db: Database, crawl: Crawl, clock: FakeClock) -> None:
    site = add_site(db, "a.test", fetched=100)
    watch = Watch(crawl)
    assert watch.look().speed is None
    for second in range(1, 6):
        db.execute("UPDATE sites SET fetched = ? WHERE id = ?", (100 + 20 * second, site))
        clock.advance(2.0)
        look = watch.look()
    assert look.speed == pytest.approx(10.0)
    for _ in range(30):
        clock.advance(2.0)
        look = watch.look()
    assert look.speed == 0.0


def test_the_first_look_knows_the_speed_from_the_last_sample(db: Database, crawl: Crawl) -> None:
    add_site(db, "a.test", fetched=400)
    samples.note(db, Figures(NOW - 40, fetched=200))
    assert Watch(crawl).look().speed == pytest.approx(5.0)


def test_a_removed_site_does_not_stop_the_speed(db: Database, crawl: Crawl, clock: FakeClock) -> None:
    site, watch = add_site(db, "a.test", fetched=100), Watch(crawl)
    for fetched in (100, 40, 60, 80):
        db.execute("UPDATE sites SET fetched = ? WHERE id = ?", (fetched, site))
        clock.advance(2.0)
        look = watch.look()
    assert look.speed == pytest.approx(10.0)


def test_all_who_look_at_the_same_time_share_one_look(db: Database, crawl: Crawl, clock: FakeClock) -> None:
    site, watch = add_site(db, "a.test"), Watch(crawl)
    first = watch.look()
    db.execute("UPDATE sites SET fetched = 9 WHERE id = ?", (site,))
    assert watch.look().standing is first.standing
    clock.advance(2.0)
    assert watch.look().standing.fetched == 9


def test_a_clock_that_is_set_back_does_not_freeze_the_figures(db: Database, crawl: Crawl, clock: FakeClock) -> None:
    site, watch = add_site(db, "a.test"), Watch(crawl)
    watch.look()
    db.execute("UPDATE sites SET fetched = 9 WHERE id = ?", (site,))
    clock.set(NOW - DAY)
    look = watch.look()
    assert (look.standing.fetched, look.speed) == (9, None)


def announce(db: Database, **documents: int) -> None:
    for bucket, count in documents.items():
        db.execute("INSERT INTO delays VALUES (?, ?)", (int(bucket[1:]), count))


def test_each_window_has_a_service_level_of_its_own(db: Database) -> None:
    samples.note(db, Figures(NOW - 8 * DAY, delays={}))
    samples.note(db, Figures(NOW - 2 * DAY, delays={60: 100}))
    samples.note(db, Figures(NOW - 2 * HOUR, delays={20: 50, 60: 100}))
    announce(db, b20=90, b60=100)
    hour, day, week = service_levels(db, GOAL, NOW)
    assert [(one.window, one.delays.documents, one.met) for one in (hour, day, week)] == [
        ("hour", 40, True),
        ("day", 90, True),
        ("week", 190, False),
    ]
    assert week.within == pytest.approx(90 / 190)


def test_a_window_without_news_is_neither_met_nor_missed(db: Database) -> None:
    announce(db, b20=3)
    samples.note(db, Figures(NOW - 2 * DAY, delays={20: 3}))
    assert [one.met for one in service_levels(db, GOAL, NOW)] == [None, None, None]


def test_the_speed_chart_breaks_where_the_crawl_did_not_run(db: Database) -> None:
    for minute in (0, 1, 2, 30, 31):
        samples.note(db, Figures(NOW + minute * MINUTE, fetched=600 * minute))
    chart = series.chart(db, "speed", "hour", NOW + 40 * MINUTE, GOAL)
    assert chart is not None
    assert chart.series["fetched"] == [10.0, 10.0, None, 10.0]


def test_a_counter_that_falls_is_no_negative_speed(db: Database) -> None:
    samples.note(db, Figures(NOW, pages=50))
    samples.note(db, Figures(NOW + 60, pages=10))
    chart = series.chart(db, "speed", "hour", NOW + 120, GOAL)
    assert chart is not None and chart.series["kept"] == [0.0]


def test_the_news_chart_has_a_gap_where_nothing_was_announced(db: Database) -> None:
    for number, classes in enumerate(({}, {20: 4}, {20: 4}, {20: 4, 40: 4})):
        samples.note(db, Figures(NOW + number * 300, delays=classes))
    chart = series.chart(db, "news", "hour", NOW + 1000, GOAL)
    assert chart is not None
    assert (chart.series["p95"], chart.goal) == ([32.0, None, 1024.0], GOAL)


def test_there_is_no_chart_of_another_name(db: Database) -> None:
    assert series.chart(db, "passwords", "hour", NOW, GOAL) is None
    assert series.chart(db, "speed", "century", NOW, GOAL) is None


def test_visits_to_pages_seen_before_are_one_line_of_the_queue() -> None:
    queue = {"2": 5, "0": 1, str(LEVELS): 7, str(LEVELS + 1): 3}
    assert levels_of(queue) == {"Level 0": 1, "Level 2": 5, "Revisits": 10}


def test_errors_are_told_in_words_with_their_share(db: Database, crawl: Crawl) -> None:
    site = add_site(db, "a.test")
    db.many("INSERT INTO outcomes VALUES (?, ?, ?)", [(site, "timeout", 3), (site, "gone", 1), (site, "document", 96)])
    assert errors_of(Watch(crawl).look()) == [
        ("timeout", "the server took too long", 3, 0.75),
        ("gone", "the server says there is no such page", 1, 0.25),
    ]


def test_who_is_at_work_is_told_by_machine_with_the_sites_they_hold(db: Database, crawl: Crawl) -> None:
    add_worker(db, "a1", "north")
    add_worker(db, "a2", "north")
    add_worker(db, "b1", "south")
    for number, owner in enumerate(("a1", "a2", "a2", "b1", None)):
        db.execute("INSERT INTO parts (site_id, part, owner) VALUES (?, 0, ?)", (number, owner))
    found = overview(db, crawl, NOW).machines
    assert [(one.name, one.workers, one.sites) for one in found] == [("north", 2, 3), ("south", 1, 1)]


def test_the_disk_is_told_apart_by_what_lies_on_it(db: Database, crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "index" / "g1").mkdir(parents=True)
    (tmp_path / "index" / "g1" / "part").write_bytes(b"x" * 5000)
    disk = Watch(crawl).disk()
    assert disk.index == 5000
    assert disk.database >= (tmp_path / "frontier.db").stat().st_size
    assert disk.free > 0


def test_a_crawl_that_cannot_be_read_is_an_error_not_a_lie(db: Database, crawl: Crawl, tmp_path: Path) -> None:
    db.close()
    (tmp_path / "frontier.db").unlink()
    with pytest.raises(Exception, match="no crawl") as caught:
        Watch(crawl).look()
    assert not isinstance(caught.value, BusyError)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (5, "5 s"), (89, "89 s"), (90, "1.5 min"), (3600, "60 min"), (9000, "2.5 h"), (90 * 86400, "90 days")],
)
def test_durations_have_one_unit(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("name a site, such as a.org", "Name a site, such as a.org"),
        ("line 1: not a URL", "Line 1: not a URL"),
        ("http://127.0.0.3/: this machine", "http://127.0.0.3/: this machine"),
        ("politeness.delay is -3.0", "politeness.delay is -3.0"),
        ("`gossamer run` was started", "`gossamer run` was started"),
        ("localhost:8080 is paused", "localhost:8080 is paused"),
        ("", ""),
    ],
)
def test_only_plain_words_are_capitalised(sentence: str, shown: str) -> None:
    assert words.capitalised(sentence) == shown


def test_what_is_not_all_is_never_shown_as_all() -> None:
    assert [words.percent(share) for share in (1.0, 0.99999, 0.5, 0.00001, 0.0)] == [
        "100 %", "> 99.9 %", "50 %", "< 0.1 %", "0 %"
    ]  # fmt: skip


@pytest.mark.parametrize(("age", "window"), [(None, "hour"), (30 * MINUTE, "hour"), (DAY, "day")])
def test_a_young_crawl_is_drawn_by_the_hour(db: Database, age: float | None, window: str) -> None:
    if age is not None:
        samples.note(db, Figures(NOW - age))
        samples.note(db, Figures(NOW))
    assert series.window_of(db, "", NOW) == window
    assert series.window_of(db, "week", NOW) == "week"


def test_a_history_begins_with_two_points(db: Database) -> None:
    for minute in range(3):
        assert not samples.are_several(db)
        samples.note(db, Figures(NOW + minute * MINUTE))
    assert samples.are_several(db)
