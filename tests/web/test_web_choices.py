"""Clicks as a factor of the ranking, from the browser to the order of results: a real server, index and database."""

from __future__ import annotations

import contextlib
import html
import re
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from clicks_kit import NEVER, crawl
from web_kit import PATIENCE, SETTINGS

from gossamer.cli.searching.evaluate import command as evaluate
from gossamer.cli.searching.preferred import show_trial
from gossamer.clock import SystemClock
from gossamer.compose.search import open_service
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.errors import UsageError
from gossamer.model.site import key64
from gossamer.operate.takedown import take_down
from gossamer.search.clicks.acting import NAME
from gossamer.search.clicks.evidence import LEAST, PRIOR
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.serving.choices import StoredChoices, StoredEvidence, known_model, name_of
from gossamer.serving.clicks import StoredClicks
from gossamer.settings import ServeSettings, Settings
from gossamer.tables import choices as table
from gossamer.tables.asked import day_of
from gossamer.tables.choices import KEPT_DAYS, SLICES, Seen, Times
from gossamer.testing.clock import FakeClock
from gossamer.web.app import create_app
from gossamer.web.clicks import today as memory
from gossamer.web.clicks.today import Today
from gossamer.web.server import WebServer
from tests.unit.search.searcher_kit import SmallIndex, page

DAY = 86_400.0
QUERY = "owl"
OURS = {"content-type": "text/uri-list", "sec-fetch-site": "same-origin"}


class Town:
    """A search engine with twelve pages about owls, and people who use it; a day passes when a test says so."""

    def __init__(self, root: Path, **search: object) -> None:
        self.clock = FakeClock(20_000 * DAY + 3600)
        pages = [page(f"/owl{n}", "The owl sleeps in a barn " + "and dreams " * n, f"Owl {n}") for n in range(12)]
        self.index = SmallIndex(root / "index", *pages)
        self.folder = DataFolder(root / "data")
        self.folder.create()
        frontier = open_frontier(self.folder, Settings())
        crawl(frontier, [one.url for one in pages], self.clock.now())
        frontier.db.close()
        self.under(**search)

    def under(self, **search: object) -> None:
        """Begin anew with these settings of the search, as after a restart."""
        self.config = msgspec.convert(search, RankingConfig)
        self.choices = StoredChoices(self.folder, self.config, self.clock, NEVER)
        self.clicks = StoredClicks(self.folder, Settings().revisit, self.clock, NEVER)
        evidence = StoredEvidence(self.folder, self.config, self.clock)
        self.searcher = Searcher(self.index.folder, self.config, clock=self.clock, choices=evidence)

    @contextlib.contextmanager
    def serving(self, **changes: object) -> Iterator[httpx.Client]:
        """A real server, and a proxy whose word it takes for who asks."""
        settings = msgspec.structs.replace(SETTINGS, proxies=("127.0.0.1",), **changes)
        app = create_app(self.searcher, settings, self.clock, clicks=self.clicks, choices=self.choices)
        server, ready = WebServer(app, settings), threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
        thread.start()
        try:
            assert ready.wait(PATIENCE), "the server did not start"
            with httpx.Client(base_url=server.address, timeout=PATIENCE, trust_env=False) as http:
                yield http
        finally:
            server.stop()
            thread.join(PATIENCE)

    def order(self, query: str = QUERY) -> list[str]:
        return [hit.url for hit in self.searcher.search(Request(query=query, size=20)).hits]

    def rows(self) -> list[dict[str, int]]:
        """What the database counts, after what has come together was written."""
        self.choices.write()
        with contextlib.closing(sqlite3.connect(self.folder.database)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute("SELECT * FROM choices ORDER BY day, place")]

    def counted(self, url: str) -> tuple[int, int]:
        """How many readers were shown a page, and opened it."""
        mine = [row for row in self.rows() if row["page"] == key64(url)]
        return sum(row["shown"] for row in mine), sum(row["opened"] for row in mine)

    def remember(self, url: str, days: int, place: int, shown: int, opened: int, ago: int = 0) -> None:
        """Counts of earlier days."""
        site, today = key64("site.test"), day_of(self.clock.now()) - ago
        counts = {
            Seen(site, key64(url), name_of(QUERY), today - back, place): Times(shown, opened) for back in range(days)
        }
        with contextlib.closing(self.folder.open_database()) as db:
            table.record(db, counts, {})


class Person:
    """Somebody at an address."""

    def __init__(self, http: httpx.Client, address: str, **headers: str) -> None:
        self.http, self.headers = http, {"x-forwarded-for": address, **headers}
        self.urls: list[str] = []
        self.tell = ""

    def asks(self, query: str = QUERY, **more: str) -> list[str]:
        """Search; what is shown."""
        page = self.http.get("/search", params={"q": query, **more}, headers=self.headers)
        assert page.status_code == 200
        self.urls = [html.unescape(one) for one in re.findall(r'<h2><a href="([^"]+)"', page.text)]
        told = re.search(r'data-clicks="([^"]+)"', page.text)
        self.tell = html.unescape(told[1]) if told else ""
        pings = set(re.findall(r' ping="([^"]+)"', page.text))
        assert pings == ({html.escape(self.tell)} if self.tell else set())
        return self.urls

    def opens(self, url: str) -> None:
        """What the script of the page does."""
        assert self.http.post(self.tell, content=url, headers={**self.headers, **OURS}).status_code == 204

    def opens_without_javascript(self, url: str, **headers: str) -> None:
        """What the browser does by itself."""
        sent = {"content-type": "text/ping", "ping-to": url, "sec-fetch-site": "same-origin", **headers}
        assert self.http.post(self.tell, content="PING", headers={**self.headers, **sent}).status_code == 204


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    one = Town(tmp_path)
    yield one
    one.index.writer.close()


def people(http: httpx.Client, number: int, first: int = 1) -> list[Person]:
    return [Person(http, f"198.51.100.{first + n}") for n in range(number)]


def a_day(town: Town, http: httpx.Client, url: str, readers: int = 5) -> None:
    """So many readers ask and open one page; then it is another day."""
    for person in people(http, readers):
        assert url in person.asks()
        person.opens(url)
    town.choices.write()
    town.clock.advance(DAY)


# -- from clicks to ranks -------------------------------------------------------------------------


def test_a_page_that_many_readers_open_on_many_days_moves_up_and_says_why(town: Town) -> None:
    before = town.order()
    url = before[7]
    with town.serving() as http:
        for _ in range(2):
            a_day(town, http, url)
        assert town.order() == before  # two days are too few
        a_day(town, http, url)
        after = town.order()
        assert after.index(url) < 7
        assert [one for one in after if one != url] == [one for one in before if one != url]
        why = http.get("/api/v1/explain", params={"q": QUERY, "url": url}).json()
        factor = next(one for one in why["factors"] if one["name"] == NAME)
        assert "15 readers on 3 days" in factor["detail"]
        assert 0 < factor["value"] <= 0.1 * (why["score"] - factor["value"])
        page = http.get("/explain", params={"q": QUERY, "url": url}).text
        assert NAME in page and "15 readers on 3 days" in page
        assert [hit["url"] for hit in http.get(f"/api/v1/search?q={QUERY}&size=20").json()["hits"]] == after


def test_other_queries_do_not_move(town: Town) -> None:
    before, barn = town.order(), town.order("barn")
    town.remember(before[7], days=5, place=8, shown=9, opened=9)
    assert town.order() != before and town.order("barn") == barn
    assert town.order("  OWL ") == town.order()  # it is the same query however it is typed


def test_at_the_eighth_place_as_many_clicks_gain_more_than_at_the_first(town: Town) -> None:
    town.remember("http://site.test/owl1", days=4, place=1, shown=8, opened=5)
    town.remember("http://site.test/owl2", days=4, place=8, shown=8, opened=5)
    evidence = StoredEvidence(town.folder, town.config, town.clock)
    found = evidence.of(QUERY, [key64(f"http://site.test/owl{n}") for n in range(12)])
    assert found[key64("http://site.test/owl2")].lift > found[key64("http://site.test/owl1")].lift > 0
    assert len(found) == 2


def test_clicks_fade_and_are_forgotten(town: Town) -> None:
    before = town.order()
    town.remember(before[9], days=5, place=8, shown=9, opened=9)
    lifts = []
    for _ in range(4):
        known = StoredEvidence(town.folder, town.config, town.clock).of(QUERY, [key64(before[9])])
        lifts.append(sum(one.lift for one in known.values()))
        town.clock.advance(28 * DAY)
    assert lifts == sorted(lifts, reverse=True) and lifts[0] > 1.5 * lifts[2] > 0
    assert lifts[3] < lifts[2] and town.order() == before
    with town.serving() as http:
        for person in people(http, LEAST):
            person.asks()
    town.under()
    for _ in range(SLICES):  # each write throws a part of the old rows away
        town.choices.shown(day_of(town.clock.now()), 1, (key64("site.test"), key64(before[0])), 1)
        town.choices.write()
    assert {row["day"] for row in town.rows()} == {day_of(town.clock.now())}


def test_two_switches(town: Town, tmp_path: Path) -> None:
    before = town.order()
    town.remember(before[9], days=5, place=8, shown=9, opened=9)
    town.under(clicks=0.0)
    assert town.order() == before and town.choices.share == 0
    town.under(clicks=0.1, clicks_trial=0.5)
    assert town.order() != before and town.choices.share == 0.5
    for is_on, weight in ((True, 0.1), (False, 0.1), (True, 0.0)):
        settings = Settings(serve=ServeSettings(clicks=is_on), search=RankingConfig(clicks=weight))
        searcher = open_service(tmp_path / "data", settings)
        assert (searcher._choices is not None) == (is_on and weight > 0)


def test_a_database_that_is_away_changes_no_answer(town: Town) -> None:
    before = town.order()
    town.remember(before[9], days=5, place=8, shown=9, opened=9)
    town.folder.database.rename(town.folder.database.with_suffix(".away"))
    for rest in ("-wal", "-shm"):
        Path(f"{town.folder.database}{rest}").unlink(missing_ok=True)
    town.under()
    assert town.order() == before


# -- nobody alone ---------------------------------------------------------------------------------


def test_one_reader_who_clicks_ten_thousand_times_changes_nothing(town: Town) -> None:
    before, loud = town.order(), "203.0.113.9"
    url, today = before[9], Today(town.choices)
    for _ in range(50):  # on 50 days, 200 times a day
        now = town.clock.now()
        token = today.token(QUERY, now)
        results = town.searcher.search(Request(query=QUERY))
        for quiet in ("198.51.100.1", "198.51.100.2"):  # others ask as well, so that the query is counted
            today.shown(quiet, results, now)
        counted = 0
        for _ in range(200):
            today.shown(loud, results, now)
            counted += today.opened(loud, token, url, now)
        assert counted == 1
        town.choices.write()
        town.clock.advance(DAY)
    assert town.counted(url) == (150, 50)
    assert town.order() == before


def test_over_the_network_it_is_the_same(town: Town) -> None:
    before = town.order()
    with town.serving() as http:
        for person in people(http, LEAST, first=50):
            person.asks()
        for day in range(3):
            for n in range(40):  # a household has 2^64 addresses
                loud = Person(http, f"2001:db8:1:2::{n}")
                if n % 10 == 0:
                    loud.asks()
                    tell = loud.tell
                loud.tell = tell
                loud.opens(before[9])
            if day == 0:
                assert town.counted(before[9]) == (4, 1)
            town.clock.advance(DAY)
    assert town.order() == before


def test_what_was_not_shown_cannot_be_opened(town: Town) -> None:
    with town.serving() as http:
        for person in people(http, LEAST):
            shown = person.asks()
        reader, stranger = Person(http, "198.51.100.1"), Person(http, "198.51.100.200")
        reader.asks()
        hidden = next(url for url in town.order() if url not in shown)
        reader.opens(hidden)
        stranger.tell = reader.tell
        stranger.opens(shown[0])
        for forged in ("/click", "/click?c=", "/click?c=AAAAAAAAAAA", f"/click?c={'A' * 3000}", "/click?c=%00%ff"):
            reader.tell = forged
            reader.opens(shown[0])
        assert {row["opened"] for row in town.rows()} == {0}
        town.clock.advance(DAY)
        old = reader.tell = stranger.tell
        reader.asks()
        assert reader.tell != old  # what stands for a query is another each day
        reader.tell = old
        reader.opens(shown[0])
        assert {row["opened"] for row in town.rows()} == {0}


def test_a_reader_has_so_many_queries_a_day_and_the_server_so_much_room(
    town: Town, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(memory, "MOST_QUERIES", 3)
    results = town.searcher.search(Request(query=QUERY))
    today, now = Today(town.choices, most=5), town.clock.now()
    for n in range(10):
        today.shown("a", msgspec.structs.replace(results, request=Request(query=f"owl {n}")), now)
    assert len(today) == 3
    for name in "bcdef":
        today.shown(name, results, now)
    assert len(today) == 5
    assert sum("do not count" in record.message for record in caplog.records) == 1
    today.shown("a", results, now + DAY)
    assert len(today) == 1


# -- counting -------------------------------------------------------------------------------------


def test_readers_are_counted_once_for_a_query_a_page_and_a_day(town: Town) -> None:
    with town.serving() as http:
        for person in people(http, 4):
            for _ in range(3):
                shown = person.asks()
            person.asks("OWL ")
            person.opens(shown[1])
            person.opens(shown[1])
        assert [town.counted(url) for url in shown[:3]] == [(4, 0), (4, 4), (4, 0)]
        assert [row["place"] for row in town.rows()] == list(range(1, 11))
        town.clock.advance(DAY)
        for person in people(http, 4):
            person.asks()
        assert town.counted(shown[0]) == (8, 0)


def test_without_javascript_the_browser_tells_by_itself(town: Town) -> None:
    with town.serving() as http:
        for person in people(http, LEAST):
            url = person.asks()[2]
            person.opens_without_javascript(url)
        assert town.counted(url) == (LEAST, LEAST)
        town.clicks.write()
        with contextlib.closing(town.folder.read()) as db:
            assert db.execute("SELECT clicks FROM urls WHERE key = ?", (key64(url),)) == [(LEAST,)]
        assert url not in person.tell and QUERY not in person.tell  # proxies log addresses


@pytest.mark.parametrize("headers", [
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site", "ping-from": "http://127.0.0.1/"},
    {"dnt": "1"}, {"sec-gpc": "1"}, {"content-type": "text/plain"}, {"ping-to": "javascript:alert(1)"},
])  # fmt: skip
def test_a_ping_of_a_foreign_page_does_not_count(town: Town, headers: dict[str, str]) -> None:
    with town.serving() as http:
        for person in people(http, LEAST):
            url = person.asks()[2]
            person.opens_without_javascript(url, **headers)
        assert town.counted(url) == (LEAST, 0)


def test_on_plain_http_the_page_that_pings_says_who_it_is(town: Town) -> None:
    with town.serving() as http:
        readers = people(http, LEAST)
        for person in readers:
            url = person.asks()[2]
        for page_of, counted in (("https://evil.test/search", 0), ("", 0), (f"{http.base_url}/search?q=owl", 1)):
            sent = {"content-type": "text/ping", "ping-to": url, "ping-from": page_of, "origin": "null"}
            http.post(person.tell, content="PING", headers={**person.headers, **sent})
            assert town.counted(url) == (LEAST, counted)


@pytest.mark.parametrize("wish", ["dnt", "sec-gpc"])
def test_who_does_not_want_to_be_followed_is_not(town: Town, wish: str) -> None:
    with town.serving() as http:
        for person in people(http, 5):
            person.headers[wish] = "1"
            shown = person.asks()
            assert person.tell == ""
            person.tell = "/click"
            person.opens(shown[0])
        assert town.rows() == []


@pytest.mark.parametrize("more", [
    {"page": "2"}, {"sort": "date"}, {"similar": "1"}, {"typing": "1"}, {"q": "nothing at all"},
])  # fmt: skip
def test_what_says_nothing_about_places_is_not_counted(town: Town, more: dict[str, str]) -> None:
    with town.serving() as http:
        for person in people(http, 5):
            person.asks(**more)  # type: ignore[arg-type]  # a query among them
        http.head("/search?q=owl")
        http.get("/api/v1/search?q=owl")
        assert town.rows() == []


def test_results_for_a_corrected_query_count_for_that_query(town: Town) -> None:
    with town.serving() as http:
        for person in people(http, LEAST):
            person.opens(person.asks("owk")[0])
        rows = town.rows()
        assert {row["query"] for row in rows} == {name_of(QUERY)} and sum(row["opened"] for row in rows) == LEAST


# -- no trace -------------------------------------------------------------------------------------


def test_a_query_that_few_ask_leaves_no_trace(town: Town) -> None:
    with town.serving() as http:
        first, second, third = people(http, LEAST)
        for person in (first, second, first):
            person.asks("barn owl")
            person.opens(person.urls[0])
        assert town.rows() == []
        third.asks("barn owl")
        assert town.counted(third.urls[0]) == (3, 2)
        first.asks("dreams")
        assert {row["query"] for row in town.rows()} == {name_of("barn owl")}


def test_nothing_about_readers_is_in_the_database_or_the_log(
    town: Town, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    town.under(clicks_trial=1.0)
    with town.serving() as http:
        for n in range(LEAST + 1):
            person = Person(http, f"203.0.113.{70 + n}", **{
                "user-agent": "telltale-browser", "cookie": "id=telltale", "referer": "https://telltale.example/",
            })  # fmt: skip
            person.opens(person.asks("barn telltale owl")[0])
        town.clicks.write()
        rows = town.rows()
    assert rows and set(rows[0]) == {"page", "query", "day", "place", "shown", "opened"}
    assert {row["day"] for row in rows} == {day_of(town.clock.now())}  # a day, and no time
    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"telltale" not in content and b"203.0.113." not in content, path
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("gossamer")]
    assert not any("telltale" in line or "203.0.113." in line for line in ours)


def test_what_is_remembered_names_nobody_and_is_thrown_away(town: Town) -> None:
    results, now = town.searcher.search(Request(query=QUERY)), town.clock.now()
    one, other = Today(town.choices), Today(town.choices)
    for today in (one, other):
        today.shown("203.0.113.77", results, now)
    assert set(one._looks).isdisjoint(other._looks) and one._key != other._key
    assert one.token(QUERY, now) != other.token(QUERY, now)
    key, names = one._key, set(one._looks)
    one.shown("203.0.113.77", results, now + DAY)
    assert one._key != key and names.isdisjoint(one._looks) and len(one) == 1


# -- what leaves ----------------------------------------------------------------------------------


def test_a_takedown_takes_what_readers_chose_along(town: Town) -> None:
    with town.serving() as http:
        readers = people(http, LEAST)
        for person in readers:
            shown = person.asks()
            person.opens(shown[4])
        assert town.counted(shown[4]) == (LEAST, LEAST)
        with contextlib.closing(town.folder.open_database()) as db:
            take_down(town.folder, db, Settings(), f"={shown[4]}", "asked to", town.clock.now())
        assert town.counted(shown[4]) == (0, 0)
        late = Person(http, "198.51.100.99")
        late.asks()
        late.opens(shown[4])  # the index of this test does not follow
        assert town.counted(shown[4]) == (0, 0)
        assert town.counted(shown[3]) == (LEAST + 1, 0)


# -- does it help? --------------------------------------------------------------------------------


def test_a_trial_says_which_order_readers_prefer(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    before = town.order()
    town.remember(before[9], days=5, place=10, shown=9, opened=9)
    town.under(clicks=1.0, clicks_trial=1.0)
    better = town.order()
    assert better[0] == before[9]
    firsts = set()
    with town.serving() as http:
        for n, person in enumerate(people(http, 24)):
            shown = person.asks()
            firsts.add(shown[0])
            assert person.asks() == shown  # a reader gets the same order all day
            # Most like what others liked. A reader counts once, whatever they do later.
            person.opens(before[9] if n < 20 else before[0])
            if n == 0:
                for url in shown[4:8]:
                    person.opens(url)
                person.opens(person.asks("owl barn")[1])
        assert firsts == {before[0], before[9]}
        town.choices.write()
    with contextlib.closing(town.folder.read()) as db:
        found = table.preferences(db, 0)
    assert sum(found.values()) == 24 and found["with"] >= 12 > found.get("without", 0)


def test_the_trial_is_reported_on_the_command_line(
    town: Town, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for outcome, times in (("with", 30), ("without", 9), ("tie", 4), ("tie", -1)):
        town.choices.preferred(day_of(SystemClock().now()), outcome, times)
    town.choices.write()
    show_trial(town.folder.root, json=True)
    assert '"wins": 30' in (said := capsys.readouterr().out) and '"losses": 9' in said and '"ties": 3' in said
    show_trial(town.folder.root, json=False)
    said = capsys.readouterr().out
    assert "30 readers preferred the order with clicks" in said and "Clicks help." in said
    evaluate(clicks=True, data=town.folder.root)
    assert capsys.readouterr().out == said
    for wrong in ({}, {"collection": "queries.json", "clicks": True}):
        with pytest.raises(UsageError, match="--clicks"):
            evaluate(**wrong)  # type: ignore[arg-type]  # a name, and a flag


def test_only_a_share_takes_part(town: Town) -> None:
    town.under(clicks_trial=0.3)
    today = Today(town.choices)
    drawn = sum(today.coins(f"reader {n}", QUERY, town.clock.now()) > 0 for n in range(1000))
    assert 200 < drawn < 400
    town.under()
    assert Today(town.choices).coins("reader", QUERY, town.clock.now()) == 0


# -- learning -------------------------------------------------------------------------------------


def test_once_a_day_the_server_learns_how_readers_look(town: Town) -> None:
    for n, url in enumerate(town.order()[:10], 1):
        town.remember(url, days=80, place=n, shown=100, opened=30 if n < 4 else 1)
    with contextlib.closing(town.folder.read()) as db:
        assert known_model(db) == PRIOR
    town.choices.shown(day_of(town.clock.now()), 1, (key64("site.test"), key64("http://site.test/owl1")), 1)
    town.choices.write()
    with contextlib.closing(town.folder.read()) as db:
        model = known_model(db)
    assert model != PRIOR and model.places[0] == 1.0
    with contextlib.closing(town.folder.open_database()) as db:
        table.keep_model(db, '{"places": "of another version"}')
        assert known_model(db) == PRIOR


def test_old_rows_are_not_learned_from(town: Town) -> None:
    town.remember("http://site.test/owl1", days=3, place=1, shown=100, opened=90, ago=KEPT_DAYS + 5)
    with contextlib.closing(town.folder.read()) as db:
        assert table.sample(db, 0, day_of(town.clock.now()) - KEPT_DAYS, 100) == []
