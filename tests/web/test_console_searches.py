"""What readers look for: counted by the server, shown on the console, and why something is not found."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import msgspec
import pytest
from console_kit import ConsoleUnderTest, small_console
from web_kit import PATIENCE, SETTINGS, MemoryService

from gossamer.clock import SystemClock
from gossamer.compose.search import open_service
from gossamer.compose.serve import observing
from gossamer.console.why_nothing import why
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.tables import asked, choices
from gossamer.tables.asked import DAY, Times, day_of
from gossamer.testing import FakeClock
from gossamer.web.app import create_app
from gossamer.web.server import WebServer

NOW = 1_800_000_000.0
TODAY = day_of(NOW)
HOSTILE = "<script>window.owned=1</script> \"'&"


def count(data: Path, day: int, counts: Mapping[str, Times]) -> None:
    database = DataFolder(data).open_database()
    try:
        asked.record(database, day, counts)
    finally:
        database.close()


@pytest.fixture(scope="module")
def console(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console whose day does not end."""
    with small_console(crawled, FakeClock(NOW)) as under_test:
        yield under_test


@pytest.fixture(scope="module")
def searched(console: ConsoleUnderTest) -> ConsoleUnderTest:
    """A console whose readers have asked something."""
    count(console.data, TODAY, {"spiders": Times(7), "zebra": Times(3, 3), HOSTILE: Times(2, 2)})
    count(console.data, TODAY - 3, {"spiders": Times(1), "last week": Times(5)})
    count(console.data, TODAY - 20, {"last month": Times(9, 1)})
    return console


# -- the page -------------------------------------------------------------------------------------


def test_the_most_asked_and_those_in_vain_are_shown_over_three_windows(searched: ConsoleUnderTest) -> None:
    shown = {days: searched.reader.get(f"/console/searches?days={days}").text for days in ("1", "7", "30")}
    assert all("spiders" in page and "zebra" in page for page in shown.values())
    assert ["last week" in page for page in shown.values()] == [False, True, True]
    assert ["last month" in page for page in shown.values()] == [False, False, True]
    assert searched.reader.get("/console/searches?days=junk").text == searched.reader.get("/console/searches").text


def test_without_a_search_there_is_a_sentence_and_no_empty_box(crawled: Path) -> None:
    with small_console(crawled, FakeClock(NOW)) as fresh:
        page = fresh.reader.get("/console/searches").text
    assert "No searches yet." in page and "Every query had results" not in page
    assert 'class="panel"' not in page


def test_a_query_leads_to_the_search_page_and_one_in_vain_to_the_reason(searched: ConsoleUnderTest) -> None:
    page = searched.reader.get("/console/searches?days=1").text
    assert 'href="/search?q=spiders"' in page and 'href="/search?q=zebra"' in page
    assert 'href="/console/searches/why?q=zebra"' in page
    assert 'href="/console/searches/why?q=spiders"' not in page


def test_what_somebody_typed_is_text_and_never_markup(searched: ConsoleUnderTest) -> None:
    for page in (
        searched.reader.get("/console/searches?days=1").text,
        searched.reader.get("/console/searches/why", params={"q": HOSTILE}).text,
    ):
        assert "<script>window" not in page and "&lt;script&gt;" in page


def test_the_chart_has_every_day(searched: ConsoleUnderTest) -> None:
    chart = searched.reader.get("/console/searches/chart.json").json()
    assert chart["at"][-1] == TODAY * DAY and len(chart["at"]) == 90
    assert (chart["series"]["searches"][-1], chart["series"]["in_vain"][-1]) == (12, 5)
    assert chart["series"]["searches"][-4] == 6 and chart["series"]["searches"][-2] == 0


def test_nobody_sees_it_without_a_login(searched: ConsoleUnderTest) -> None:
    for path in ("/console/searches", "/console/searches/why?q=a", "/console/searches/chart.json"):
        answer = searched.anybody.get(path, follow_redirects=False)
        assert answer.status_code in (303, 401) and "zebra" not in answer.text


# -- clicks ---------------------------------------------------------------------------------------


def test_readers_preferences_are_shown_where_clicks_are_counted(searched: ConsoleUnderTest, crawled: Path) -> None:
    assert "Clicks of readers" not in searched.reader.get("/console/searches").text
    with small_console(crawled, FakeClock(NOW), clicks=True) as console:
        page = console.reader.get("/console/searches").text
        assert "counts up to 10.0 % more" in page and "search.clicks_trial" in page
        with contextlib.closing(console.folder.open_database()) as db:
            choices.record(db, {}, {(TODAY, "with"): 30, (TODAY, "without"): 9, (TODAY - 100, "without"): 500})
        page = console.reader.get("/console/searches").text
        assert "Clicks help." in page and "0.001" in page and ">30<" in page and "500" not in page


# -- why is nothing found -------------------------------------------------------------------------


def test_the_part_that_nothing_matches_is_the_reason() -> None:
    reason = why(MemoryService(), "rocket xyzzy")
    assert reason.total == 0
    assert {part.query: part.total > 0 for part in reason.parts} == {"rocket": True, "xyzzy": False}
    assert reason.sentence == "Nothing in the index matches xyzzy."


def test_parts_that_never_meet_are_the_reason() -> None:
    reason = why(MemoryService(), "gossamer kerosene")
    assert reason.total == 0 and all(part.total for part in reason.parts)
    assert reason.sentence == "Each part finds pages, but no page has all parts."


def test_one_word_that_is_nowhere_is_told_with_another_spelling() -> None:
    reason = why(MemoryService(), "spidres")
    assert (reason.total, reason.parts) == (0, ())
    assert reason.sentence == "No page in the index matches the query."


def test_filters_are_told_apart_from_words(crawled: Path) -> None:
    service = open_service(crawled, settings_of_crawl(crawled))
    assert why(service, "gossamer").sentence == "The query finds pages now."
    reason = why(service, "gossamer site:nowhere.test")
    assert reason.total == 0
    totals = {part.what: part.total for part in reason.parts}
    assert totals["without filters and excluded words"] > 0
    assert totals["the filters alone"] == 0
    assert "site:nowhere.test" in reason.sentence


def test_the_page_of_the_reason_leads_on(console: ConsoleUnderTest) -> None:
    page = console.reader.get("/console/searches/why", params={"q": "gossamer xyzzy"}).text
    assert "The query finds pages, but none with xyzzy." in page
    assert 'href="/search?q=xyzzy"' in page and 'action="/console/url"' in page
    assert console.reader.get("/console/searches/why").status_code == 200


def test_looking_for_the_reason_is_not_counted(console: ConsoleUnderTest) -> None:
    before = console.reader.get("/console/searches/chart.json").json()
    console.reader.get("/console/searches/why", params={"q": "nobody asks this"})
    assert console.reader.get("/console/searches/chart.json").json() == before


# -- counting -------------------------------------------------------------------------------------


@contextlib.contextmanager
def server(data: Path) -> Iterator[httpx.Client]:
    """The server of a data folder as `gossamer serve` puts it together, without its console."""
    settings = msgspec.structs.replace(settings_of_crawl(data), serve=SETTINGS)
    app = create_app(open_service(data, settings), SETTINGS, extensions=[observing(data, settings)])
    running = WebServer(app, SETTINGS)
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        with httpx.Client(base_url=running.address, timeout=PATIENCE, trust_env=False) as http:
            yield http
    finally:
        running.stop()
        thread.join(PATIENCE)


def today() -> int:
    return day_of(SystemClock().now())


def counted(data: Path) -> dict[str, tuple[int, int]]:
    """What was asked so far, on whichever day: a test may run over midnight."""
    db = DataFolder(data).read()
    try:
        return {one.query: (one.times, one.in_vain) for one in asked.top(db, 0, today())}
    finally:
        db.close()


def test_searches_of_page_and_api_are_counted_when_the_server_ends(crawled: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    with server(data) as http:
        for path in ("/search?q=Gossamer", "/api/v1/search?q=gossamer", "/search?q=xyzzy", "/search?q=gossamer&page=2",
                     "/feed.atom?q=feeds+are+polled", "/suggest?q=go"):  # fmt: skip
            assert http.get(path).status_code == 200
        assert http.get("/metrics").text.count("\ngossamer_documents ") == 1
        assert http.get("/readyz").status_code == 200
    assert counted(data) == {"gossamer": (2, 0), "xyzzy": (1, 1)}


def test_nothing_about_who_asked_is_kept(crawled: Path, tmp_path: Path) -> None:
    data, began = Path(shutil.copytree(crawled, tmp_path / "data")), today()
    with server(data) as http:
        http.get("/search?q=gossamer", headers={"user-agent": "telltale-agent", "cookie": "telltale=1"})
    db = DataFolder(data).read()
    [(day, *others)] = db.execute("SELECT * FROM asked")
    db.close()
    assert began <= day <= today() and others == ["gossamer", 1, 0]


def test_nothing_is_counted_where_analytics_is_off(crawled: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    (data / "gossamer.toml").write_text("[console]\nanalytics = false\n")
    with server(data) as http:
        http.get("/search?q=gossamer")
    assert counted(data) == {}


def test_a_server_whose_database_is_gone_searches_but_is_not_ready(crawled: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    with server(data) as http:
        for name in ("frontier.db", "frontier.db-wal", "frontier.db-shm"):
            (data / name).unlink(missing_ok=True)
        answer = http.get("/readyz")
        assert answer.status_code == 503 and "in the log" in answer.json()["reasons"][0]
        assert "gossamer_crawl_up 0.0" in http.get("/metrics").text
        assert http.get("/search?q=gossamer").status_code == 200
