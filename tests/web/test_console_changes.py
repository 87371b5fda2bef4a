"""An operator changes the crawl on the console: seeds, filters, settings; checked as on the command line, written down,
and brought into force by whoever runs the crawl."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from console_kit import ConsoleUnderTest, console_of
from msgspec.structs import replace

from gossamer.clock import SystemClock
from gossamer.console.settings_form import GROUPS
from gossamer.data.locks import run_lock
from gossamer.database.database import Database
from gossamer.discover.seeds import Seed
from gossamer.frontier.views import seed_list
from gossamer.settings import NetworkSettings, Settings, load
from gossamer.tables import audit, schedules


@pytest.fixture
def own(crawled: Path, tmp_path: Path) -> Iterator[ConsoleUnderTest]:
    """A console of one's own: its settings change."""
    data = tmp_path / "data"
    shutil.copytree(crawled, data)
    with console_of(data) as under_test:
        yield under_test


@contextmanager
def changing(console: ConsoleUnderTest) -> Iterator[Database]:
    db = console.folder.open_database()
    try:
        yield db
    finally:
        db.close()


def file(console: ConsoleUnderTest) -> dict[str, Any]:
    return tomllib.loads((console.data / "gossamer.toml").read_text())


def last_line(console: ConsoleUnderTest) -> tuple[str, str, str, str]:
    with changing(console) as db:
        line = audit.entries(db)[0]
    return line.who, line.action, line.subject, line.detail


def told(page: httpx.Response) -> str:
    return unescape(page.text)


@contextmanager
def somebody_runs_the_plan(console: ConsoleUnderTest) -> Iterator[None]:
    """As `gossamer run` without schedules is seen by others: its lock, its plan, a crawl under way."""
    with run_lock(console.folder):
        with changing(console) as db:
            schedules.note_plan(db, "", {"crawl": "always", "serve": "always"}, 1_700_000_000.0)
            schedules.begin(db, "", "crawl", 1_700_000_000.0)
        yield


def at_work(console: ConsoleUnderTest) -> None:
    """A worker is there, and will be for the whole test."""
    now = SystemClock().now()
    with changing(console) as db:
        db.execute(
            "INSERT INTO workers (id, started_at, expires_at, reserved, fetched, machine) VALUES ('w', ?, ?, 0, 0, '')",
            (now, now + 3600),
        )


def is_wanted(console: ConsoleUnderTest) -> bool:
    with changing(console) as db:
        return any(one.wanted_at is not None for one in schedules.entries(db, "") if one.name == "crawl")


# -- seeds ----------------------------------------------------------------------------------------


def test_a_site_is_added_and_taken_out_again(own: ConsoleUnderTest) -> None:
    page = own.send("/console/seeds/add", {"urls": "http://127.0.0.1:8099/start\n127.0.0.1:8098", "kind": "page"})
    assert page.status_code == 200 and "Added: 2 seeds." in told(page) and "gossamer run --data" in told(page)
    assert "http://127.0.0.1:8098/" in page.text
    assert last_line(own)[:3] == ("operator", "add seed", "http://127.0.0.1:8099/start http://127.0.0.1:8098/")
    page = own.send("/console/seeds/remove", {"url": "http://127.0.0.1:8098/"})
    assert "Removed the seed" in told(page)
    assert last_line(own)[1:3] == ("remove seed", "http://127.0.0.1:8098/")
    with changing(own) as db:
        assert not seed_list.is_seed(db, "http://127.0.0.1:8098/")
        assert seed_list.is_seed(db, "http://127.0.0.1:8099/start")
    assert own.send("/console/seeds/remove", {"url": "http://127.0.0.1:8098/"}).status_code == 400


def test_a_known_site_beside_a_new_one_is_not_said_to_be_added(own: ConsoleUnderTest) -> None:
    known = "http://127.0.0.1:8099/start"
    own.send("/console/seeds/add", {"urls": known})
    page = own.send("/console/seeds/add", {"urls": f"{known}\nhttp://127.0.0.1:8098/"})
    assert "Added: 1 seed. Already known: 1 seed." in told(page)


def test_the_overview_knows_at_once_which_seeds_there_are(own: ConsoleUnderTest) -> None:
    url = "http://127.0.0.1:8099/start"
    assert url not in own.operator.get("/console").text
    own.send("/console/seeds/add", {"urls": url})
    assert url in own.operator.get("/console").text
    own.send("/console/seeds/remove", {"url": url})
    assert url not in own.operator.get("/console").text


def test_a_site_that_could_not_be_crawled_is_refused_with_the_reason(own: ConsoleUnderTest) -> None:
    with changing(own) as db:
        before = seed_list.count_seeds(db)
    for urls, reason in (
        ("", "enter a site"),
        ("https://www.example.org/", "enter your mail address or web page"),
        ("/etc/passwd", "not a URL"),  # on the command line it would be a file
        ("-", "line 1"),
        ("javascript:alert(1)", "line 1"),
    ):
        page = own.send("/console/seeds/add", {"urls": urls})
        assert page.status_code == 400 and reason.lower() in told(page).lower(), urls
    page = own.send("/console/seeds/add", {"urls": "http://10.1.2.3/", "contact": "ada@example.org"})
    assert page.status_code == 400 and "10.1.2.3" in told(page)
    assert "--allow-network" not in told(page)  # nobody can give an option here
    line = 'write allow = ["127.0.0.0/8", "10.1.2.3/32"] under [network] in '
    assert f"{line}{own.data / 'gossamer.toml'}" in told(page) and "restart the crawl" in told(page)
    assert ">http://10.1.2.3/: 10.1.2.3 is private" in page.text
    assert "contact" not in file(own)["crawl"]  # nothing was added, so nothing was written
    with changing(own) as db:
        assert seed_list.count_seeds(db) == before


def test_the_first_site_beyond_this_machine_asks_who_crawls_and_keeps_the_answer(own: ConsoleUnderTest) -> None:
    assert 'name="contact"' in own.operator.get("/console/seeds").text
    refused = own.send("/console/seeds/add", {"urls": "www.example.org", "contact": "nonsense"})
    assert refused.status_code == 400 and "contact" not in file(own)["crawl"]
    page = own.send("/console/seeds/add", {"urls": "www.example.org", "contact": "ada@example.org"})
    assert page.status_code == 200 and "https://www.example.org/" in page.text
    assert file(own)["crawl"]["contact"] == "ada@example.org"
    assert last_line(own)[3] == "1 new, 0 refused, contact ada@example.org"


def test_a_host_without_a_scheme_is_crawled_by_http_where_https_does_not_answer(
    own: ConsoleUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[Seed], str, float]] = []

    def choose(seeds: list[Seed], settings: Settings, longest: float) -> tuple[list[Seed], list[str]]:
        asked.append((seeds, settings.crawl.contact, longest))
        plain = [replace(seed, url=seed.url.replace("https:", "http:")) for seed in seeds]
        return plain, ["http://uni.example/ is crawled: https does not answer there (refused)."]

    monkeypatch.setattr("gossamer.console.seeding.choose_schemes", choose)
    page = own.send("/console/seeds/add", {"urls": "uni.example\nhttp://uni.example", "contact": "ada@example.org"})
    (seeds, contact, longest), *more = asked
    assert ([seed.guessed for seed in seeds], contact, longest, more) == ([True, False], "ada@example.org", 10.0, [])
    assert "Added: http://uni.example/. http://uni.example/ is crawled: https does not answer" in told(page)
    assert last_line(own)[1:4] == ("add seed", "http://uni.example/", "1 new, 0 refused, contact ada@example.org")


def test_a_site_that_waits_for_changed_settings_is_not_promised_within_seconds(own: ConsoleUnderTest) -> None:
    at_work(own)
    site = {"urls": "http://127.0.0.1:8099/start"}
    assert "The crawl starts fetching it within seconds." in told(own.send("/console/seeds/add", site))
    assert "Restart the crawl" not in own.operator.get("/console").text
    started = replace(load(own.data), network=NetworkSettings(allow=("127.0.0.1/32",)))
    with changing(own) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (msgspec.json.encode(started).decode(),))
    page = own.send("/console/seeds/add", site)
    assert "does not use the new values of network.allow" in told(page) and "within seconds" not in told(page)
    assert "Stop the running <code>gossamer crawl</code> and start it again" in page.text
    with somebody_runs_the_plan(own):
        assert "Restart the crawl to apply them" in told(own.send("/console/seeds/add", site))
        for path in ("/console", "/console/seeds", "/console/settings"):
            page = own.operator.get(path)
            assert "changed since the crawl started" in page.text and ">Restart the crawl</button>" in page.text, path
            assert ">Restart the crawl</button>" not in own.reader.get(path).text
        again = own.send("/console/settings/restart", {"to": "overview"})
        assert again.url.path == "/console" and "The crawl restarts" in told(again) and is_wanted(own)


def test_a_contact_that_is_new_restarts_the_crawl_that_is_kept_running(own: ConsoleUnderTest) -> None:
    at_work(own)
    with somebody_runs_the_plan(own):
        page = own.send("/console/seeds/add", {"urls": "https://www.example.org/", "contact": "ada@example.org"})
        assert "The crawl restarts to apply this" in told(page) and is_wanted(own)


def test_a_site_is_paused_and_resumed_from_the_list_of_seeds(own: ConsoleUnderTest) -> None:
    with changing(own) as db:
        site = seed_list.list_seeds(db, 1)[0].site
    page = own.send("/console/site/pause", {"name": site, "to": "seeds"})
    assert page.url.path == "/console/seeds" and f"Paused {site}" in told(page)
    assert f"Resumed {site}" in told(own.send("/console/site/resume", {"name": site, "to": "seeds"}))


# -- filters --------------------------------------------------------------------------------------


def test_a_filter_is_added_switched_off_moved_and_removed(own: ConsoleUnderTest) -> None:
    first = {"kind": "prefix", "action": "deny", "pattern": "/print/"}
    second = {"kind": "suffix", "action": "allow", "pattern": ".pdf"}
    page = own.send("/console/filters/add", {**first, "place": "last"})
    assert "Added: deny prefix /print/." in told(page)
    own.send("/console/filters/add", {**second, "place": "last"})
    assert file(own)["scope"]["filters"] == [first, second]
    own.send("/console/filters/change", {"do": "up", "number": "2", "pattern": ".pdf"})
    assert file(own)["scope"]["filters"] == [second, first]
    own.send("/console/filters/change", {"do": "off", "number": "2", "pattern": "/print/"})
    assert file(own)["scope"]["filters"] == [second, {**first, "off": True}]
    assert load(own.data).scope.filters[1].off
    own.send("/console/filters/change", {"do": "on", "number": "2", "pattern": "/print/"})
    stale = own.send("/console/filters/change", {"do": "remove", "number": "1", "pattern": "/print/"})
    assert stale.status_code == 400 and "has changed" in told(stale)
    own.send("/console/filters/change", {"do": "remove", "number": "1", "pattern": ".pdf"})
    assert file(own)["scope"]["filters"] == [first]
    assert last_line(own)[:3] == ("operator", "filter remove", "allow suffix .pdf")


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "regex", "action": "deny", "pattern": "("},
        {"kind": "glob", "action": "deny", "pattern": "x"},
        {"kind": "prefix", "action": "deny", "pattern": ""},
        {"kind": "prefix", "action": "eat", "pattern": "/x"},
    ],
)
def test_a_filter_that_makes_no_sense_changes_nothing(own: ConsoleUnderTest, rule: dict[str, str]) -> None:
    before = (own.data / "gossamer.toml").read_text()
    assert own.send("/console/filters/add", rule).status_code == 400
    assert (own.data / "gossamer.toml").read_text() == before


def test_a_filter_is_not_added_twice(own: ConsoleUnderTest) -> None:
    rule = {"kind": "prefix", "action": "deny", "pattern": "/print/"}
    assert own.send("/console/filters/add", rule).status_code == 200
    again = own.send("/console/filters/add", {**rule, "name": "again", "place": "first"})
    assert again.status_code == 400 and "already exists" in told(again)
    assert len(file(own)["scope"]["filters"]) == 1


def test_what_a_filter_says_is_text(own: ConsoleUnderTest) -> None:
    page = own.send(
        "/console/filters/add", {"kind": "prefix", "action": "deny", "pattern": "/<script>alert(1)</script>"}
    )
    assert page.status_code == 200 and "<script>alert" not in page.text and "&lt;script&gt;" in page.text


# -- settings -------------------------------------------------------------------------------------


def test_settings_are_changed_checked_and_written_down(own: ConsoleUnderTest) -> None:
    page = own.send(
        "/console/settings/save",
        {"politeness.delay": "2.5", "scope.hosts": "a.test\n b.test ", "feeds.poll": "no", "crawl.workers": "1"},
    )
    assert page.status_code == 200, page.text
    assert "Saved: politeness.delay, scope.hosts, feeds.poll." in told(page)
    assert file(own)["politeness"]["delay"] == 2.5
    assert file(own)["scope"]["hosts"] == ["a.test", "b.test"] and file(own)["feeds"]["poll"] is False
    who, action, subject, detail = last_line(own)
    assert (who, action) == ("operator", "change settings") and "crawl.workers" not in subject
    assert "politeness.delay: 0 → 2.5" in detail and "scope.hosts: default → a.test b.test" in detail
    own.send("/console/settings/save", {"politeness.delay": ""})
    assert load(own.data).politeness.delay == 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("politeness.delay", "-1"), ("politeness.delay", "nan"), ("politeness.delay", "fast"), ("crawl.workers", "1.5"),
        ("scope.mode", "everything"), ("feeds.poll", "perhaps"), ("crawl.strategy", "no-such-thing"),
        ("revisit.floor", "99999999"), ("network.allow", "10.0.0.0/8"), ("browser.executable", "/bin/sh"),
        ("storage.database", "x"), ("alerts.secret", "x"), ("nonsense", "x"),
    ],
)  # fmt: skip
def test_a_setting_that_is_wrong_or_not_to_be_changed_here_changes_nothing(
    own: ConsoleUnderTest, name: str, value: str
) -> None:
    before = (own.data / "gossamer.toml").read_text()
    page = own.send("/console/settings/save", {name: value, "crawl.downloads": "7"})
    assert page.status_code == 400 and name.split(".")[-1] in told(page)
    assert (own.data / "gossamer.toml").read_text() == before


def test_a_sentence_that_begins_with_a_setting_is_not_capitalised_and_backticks_are_code(own: ConsoleUnderTest) -> None:
    page = own.send("/console/settings/save", {"politeness.delay": "-3"})
    assert "politeness.delay is -3.0" in page.text and "Politeness.delay" not in page.text
    settings = own.operator.get("/console/settings").text
    assert "`" not in settings and "<code>list</code>" in settings


def test_changed_settings_are_taken_up_by_the_crawl_that_is_kept_running(own: ConsoleUnderTest) -> None:
    with somebody_runs_the_plan(own):
        assert "The crawl restarts" in told(own.send("/console/settings/save", {"politeness.delay": "0.25"}))
        assert is_wanted(own)
    assert "at the next start" in told(own.send("/console/settings/save", {"politeness.delay": "0.5"}))
    with somebody_runs_the_plan(own):
        page = own.send("/console/settings/save", {"serve.title": "Our pages"})
        assert "when the server restarts" in told(page) and not is_wanted(own)


def test_readers_change_nothing_and_see_no_form(own: ConsoleUnderTest) -> None:
    before = (own.data / "gossamer.toml").read_text()
    for path, fields in (
        ("/console/seeds/add", {"urls": "http://127.0.0.1:8099/"}),
        ("/console/seeds/remove", {"url": "x"}),
        ("/console/filters/add", {"kind": "prefix", "action": "deny", "pattern": "/x"}),
        ("/console/filters/change", {"do": "remove", "number": "1"}),
        ("/console/settings/save", {"politeness.delay": "9"}),
        ("/console/settings/restart", {"x": ""}),
        ("/console/start", {"x": ""}),
    ):
        assert own.send(path, fields, client=own.reader).status_code == 403, path
        assert own.operator.post(path, data=fields).status_code == 403, path  # without the token of a form
    for path in ("/console/seeds", "/console/filters", "/console/settings"):
        assert f'action="{path}' not in own.reader.get(path).text.replace(f'method="get" action="{path}', "")
    assert (own.data / "gossamer.toml").read_text() == before


def test_a_file_that_cannot_be_written_is_said_to_be_so(own: ConsoleUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.console.changing.os.access", lambda *_: False)
    assert "has no permission to write" in told(own.operator.get("/console/settings"))
    assert own.send("/console/settings/save", {"politeness.delay": "9"}).status_code == 400


def test_every_setting_of_the_form_exists_once_and_is_shown(own: ConsoleUnderTest) -> None:
    names = [name for group in GROUPS for name in group.labels]
    assert len(set(names)) == len(names)
    page = own.operator.get("/console/settings").text
    assert all(f'name="{name}"' in page for name in names)


# -- start ----------------------------------------------------------------------------------------


def test_the_crawl_is_started_by_whoever_runs_the_plan(own: ConsoleUnderTest) -> None:
    refused = own.send("/console/start")
    assert refused.status_code == 400 and "gossamer run --data" in told(refused)
    with run_lock(own.folder):
        with changing(own) as db:
            schedules.note_plan(db, "", {"crawl": "always", "serve": "always"}, 1_700_000_000.0)
            schedules.pause(db, "", "crawl", 1_700_000_000.0)
        assert "Start the crawl" in own.operator.get("/console").text
        assert "The crawl starts." in told(own.send("/console/start"))
        with changing(own) as db:
            assert schedules.pauses(db, "") == {}
        assert "Starting" in own.operator.get("/console").text


def test_a_crawl_that_keeps_failing_is_red_and_says_why(own: ConsoleUnderTest) -> None:
    now = SystemClock().now()
    with run_lock(own.folder):
        with changing(own) as db:
            schedules.note_plan(db, "", {"crawl": "always", "serve": "always"}, now)
            began = schedules.begin(db, "", "crawl", now - 1)
            schedules.finish(db, "", schedules.Run("crawl", began, now, 1, "a line\n<b>the disk is full</b>"))
        page = own.operator.get("/console").text
    assert 'class="hero bad"' in page and "&lt;b&gt;the disk is full" in page
