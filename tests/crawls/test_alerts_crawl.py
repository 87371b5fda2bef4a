"""Alerts, end to end: what is told is what search finds, once, whoever is killed and whichever receiver is away."""

from __future__ import annotations

import hmac
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import PATIENCE, crawl, run, start, wait_until, write_settings
from inside import fails, gossamer

from gossamer.database.database import open_database
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.tables import alerts
from gossamer.testing import FakeWeb, Site
from kit.mail import MailServer
from kit.receiver import Receiver

SECRET = "a long random text"
TOPICS = ("spider", "otter", "kestrel", "lichen", "glacier", "harbour")
QUERIES = {
    "a word": ["otter"],
    "another form": ["glaciers"],
    "either": ["spider OR kestrel"],
    "a phrase": ['"harbour at dusk"'],
    "without": ["otter -noon"],
    "in titles": ["intitle:kestrel"],
    "a place": ["otter", "--site", "new.test"],
    "a path": ["otter site:new.test/b"],
    "a language": ["lang:de"],
    "filters alone": ["site:new.test/a after:2020"],
    "nobody": ["zeppelin"],
}
"""Name → query and options; each is answered without looser matches."""


def page(topic: str, n: int, links: str = "") -> str:
    time = ("dawn", "noon", "dusk")[n % 3]
    text = f"Number {n}: the {topic} at {time} is seen by few people, and the {topic} of number {n} stays until late."
    return (
        f'<html lang="en"><head><title>The {topic} of part {n}</title>'
        f'<meta property="article:published_time" content="{2015 + n}-03-0{1 + n % 9}"></head>'
        f"<body><main><p>{text} Nobody has counted them since the year {1900 + n}.</p></main>{links}</body></html>"
    )


def german(n: int) -> str:
    text = (
        f"Der Fischotter Nummer {n} lebt am Ufer des Flusses und ist nur in der Dämmerung zu sehen, wenn es ruhig ist."
    )
    return f'<html lang="de"><head><title>Der Otter {n}</title></head><body><main><p>{text}</p></main></body></html>'


def fill(site: Site) -> None:
    """Pages of all topics, and two in German, linked from the start page."""
    paths = []
    for n in range(12):
        path = f"/{'ab'[n % 2]}/{n}.html"
        site.page(path, page(TOPICS[n % len(TOPICS)], n))
        paths.append(path)
    for n in (1, 2):
        site.page(f"/de/{n}.html", german(n))
        paths.append(f"/de/{n}.html")
    links = " ".join(f'<a href="{path}">part {path}</a>' for path in paths)
    site.page("/", page("otter", 99, links))


class Watched(NamedTuple):
    data: Path
    old: Site
    new: Site
    mail: MailServer
    receiver: Receiver

    def hits(self, name: str) -> set[str]:
        return {
            hit["url"] for hit in gossamer("alerts", "hits", name, "--limit", "1000", "--json", data=self.data).json
        }


def settings_for(mail: MailServer) -> dict[str, Any]:
    return {
        "smtp_host": "127.0.0.1",
        "smtp_port": mail.port,
        "smtp_security": "none",
        "sender": "gossamer@a.test",
        "secret": SECRET,
        "allow_networks": ["127.0.0.1/32"],
        "disk_low": 0,
    }


def add(data: Path, name: str, *given: str) -> dict[str, Any]:
    done = gossamer("alerts", "add", name, *given, "--json", data=data)
    assert done.code == 0, done.err
    return dict(done.json)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """One site was crawled before the alerts were made, another one after it."""
    data = tmp_path_factory.mktemp("alerts") / "data"
    web = FakeWeb("127.0.61")
    old, new = web.site("old.test"), web.site("new.test")
    fill(old)
    fill(new)
    with web, MailServer() as mail, Receiver() as receiver:
        sections = {"crawl": {"index": True, "workers": 1}, "alerts": settings_for(mail)}
        crawl(web, data, [old.url("/")], **sections)
        for name, query in QUERIES.items():
            add(data, name, *query)
        add(data, "told", "otter", "--mail", "me@a.test", "--mail", "you@a.test", "--webhook", receiver.url)
        done = run("crawl", new.url("/"), "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        yield Watched(data, old, new, mail, receiver)


def found_by_search(watched: Watched, query: list[str]) -> set[str]:
    words, *options = query
    filters = dict(zip((option.removeprefix("--") for option in options[::2]), options[1::2], strict=True))
    urls = Searcher.open(watched.data / "index").urls(Request(query=words, similar=True, **filters), 1000)
    return {url for url in urls if url.startswith(watched.new.url(""))}


@pytest.mark.parametrize("name", QUERIES)
def test_an_alert_finds_exactly_the_new_pages_that_search_finds(watched: Watched, name: str) -> None:
    expected = found_by_search(watched, QUERIES[name])
    assert watched.hits(name) == expected
    assert bool(expected) == (name != "nobody")


def test_one_mail_to_each_names_every_page(watched: Watched) -> None:
    assert sorted(mail.recipients[0] for mail in watched.mail.mails) == ["me@a.test", "you@a.test"]
    text = watched.mail.mails[0].message.get_content()
    assert all(url in text for url in watched.hits("told"))
    assert not any(line.startswith(watched.old.url("")) for line in text.splitlines())


def test_the_webhook_is_told_every_page_once_and_can_verify_it(watched: Watched) -> None:
    told = []
    for post in watched.receiver.posts:
        signed = post.headers["x-gossamer-timestamp"].encode() + b"." + post.body
        expected = hmac.new(SECRET.encode(), signed, "sha256").hexdigest()
        assert post.headers["x-gossamer-signature"] == f"sha256={expected}"
        told += [item["url"] for item in json.loads(post.body)["items"]]
    assert sorted(told) == sorted(watched.hits("told"))
    assert told


def test_everything_was_taken_and_written_down(watched: Watched) -> None:
    assert gossamer("alerts", "outbox", data=watched.data).out == "The outbox is empty.\n"
    lines = gossamer("audit", "--json", data=watched.data).json
    assert any(line["action"] == "add alert" and line["subject"] == "told" for line in lines)


def test_a_new_index_of_old_pages_tells_nothing(watched: Watched) -> None:
    before = {name: watched.hits(name) for name in QUERIES}
    mails, posts = len(watched.mail.mails), len(watched.receiver.posts)
    assert run("index", "--rebuild", data=watched.data).returncode == 0
    assert {name: watched.hits(name) for name in QUERIES} == before
    assert gossamer("alerts", "outbox", data=watched.data).out == "The outbox is empty.\n"
    assert (len(watched.mail.mails), len(watched.receiver.posts)) == (mails, posts)


def test_what_cannot_be_an_alert_is_refused_with_a_sentence(watched: Watched) -> None:
    data = watched.data
    fails(gossamer("alerts", "add", "told", "x", data=data), 2, "already")
    fails(gossamer("alerts", "add", "empty", "", data=data), 2, "query is empty")
    fails(gossamer("alerts", "add", "wrong", "x", "--mail", "nobody", data=data), 2, "not a mail address")
    fails(gossamer("alerts", "add", "wrong", "x", "--webhook", "ftp://a.test/", data=data), 2, "webhook")
    fails(gossamer("alerts", "hits", "missing", data=data), 2, "no alert")
    fails(gossamer("alerts", "test", "operators", data=data), 2, "alerts.operators")
    names = {row["name"] for row in gossamer("alerts", "list", "--json", data=data).json["alerts"]}
    assert names == {*QUERIES, "told"}


def test_a_test_message_tells_of_every_channel_what_came_of_it(watched: Watched) -> None:
    assert gossamer("alerts", "test", "told", data=watched.data).out.count("delivered") == 3
    done = gossamer("alerts", "test", "http://169.254.169.254/", data=watched.data)
    assert done.code == 1 and "metadata" in done.out


# --- away, killed, changed -----------------------------------------------------------------------------


def hits_in(data: Path) -> list[tuple[str, str]]:
    db = open_database(data / "frontier.db")
    try:
        return [(row[0], row[1]) for row in db.execute("SELECT alert, url FROM alert_hits ORDER BY 1, 2")]
    finally:
        db.close()


def items_waiting(data: Path) -> list[str]:
    waiting = gossamer("alerts", "outbox", "--json", data=data).json
    return sorted(item["url"] for message in waiting for item in json.loads(message["body"])["items"])


def test_a_receiver_that_was_away_gets_everything_once_under_the_first_id(tmp_path: Path) -> None:
    data, web = tmp_path / "data", FakeWeb("127.0.62")
    site = web.site("away.test")
    fill(site)
    with web, MailServer() as mail:
        with Receiver() as gone:
            port = gone.port
        alerts = settings_for(mail)
        crawl(web, data, [site.url("/missing")], crawl={"index": True, "workers": 1}, alerts=alerts)
        add(data, "otters", "otter", "--webhook", f"http://127.0.0.1:{port}/hook")
        assert run("crawl", site.url("/"), "--quiet", data=data).returncode == 0
        (waiting,) = gossamer("alerts", "outbox", "--json", data=data).json
        assert waiting["attempts"] == 1 and waiting["problem"]
        expected = items_waiting(data)
        assert len(expected) == 5
        with Receiver(port) as back:
            assert gossamer("alerts", "outbox", "--retry", "all", data=data).code == 0
            for _ in range(2):
                assert run("crawl", "--quiet", data=data).returncode == 1, "its first seed is missing, as it was"
        (post,) = back.posts
        assert post.headers["x-gossamer-delivery"] == waiting["id"] == json.loads(post.body)["id"]
        assert sorted(item["url"] for item in json.loads(post.body)["items"]) == expected
    assert gossamer("alerts", "outbox", data=data).out == "The outbox is empty.\n"


KILLED = """
import os, signal, sys
from pathlib import Path
import {module} as module
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.indexer.indexing import Indexer

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

module.{what} = die
folder = DataFolder(Path(sys.argv[1]))
indexer = Indexer.open(folder, folder.open_database(), SystemClock())
while indexer.behind():
    indexer.step()
"""


@pytest.fixture(scope="module")
def unindexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with an alert, whose pages are not in the index yet."""
    data, web = tmp_path_factory.mktemp("unindexed") / "data", FakeWeb("127.0.63")
    site = web.site("killed.test")
    fill(site)
    with web, MailServer() as mail:
        crawl(web, data, [site.url("/missing")], crawl={"index": False, "workers": 1}, alerts=settings_for(mail))
        assert run("index", data=data).returncode == 0
        add(data, "otters", "otter", "--mail", "me@a.test")
        assert run("crawl", site.url("/"), "--quiet", data=data).returncode == 0
    assert not hits_in(data)
    return data


@pytest.mark.parametrize(
    ("module", "what"),
    [
        ("gossamer.alerts.alerting", "alerts.note_matched"),  # in the transaction of the hits
        ("gossamer.index.writer", "IndexWriter._publish"),  # hits and messages are written, the index is not
        ("gossamer.indexer.indexing", "announced"),  # after the commit
    ],
)
def test_an_indexer_killed_around_the_matching_loses_and_doubles_nothing(
    unindexed: Path, tmp_path: Path, module: str, what: str
) -> None:
    data = tmp_path / "data"
    shutil.copytree(unindexed, data)
    script = KILLED.format(module=module, what=what)
    done = subprocess.run([sys.executable, "-c", script, str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert bool(hits_in(data)) == (what != "alerts.note_matched")
    for _ in range(2):
        assert gossamer("index", data=data).code == 0
    expected = sorted(Searcher.open(data / "index").urls(Request(query="otter", similar=True), 1000))
    assert sorted(url for _, url in hits_in(data)) == expected == items_waiting(data)
    assert len(expected) == 5


def test_an_alert_that_cannot_be_read_keeps_no_page_from_the_index_and_no_other_alert_from_its_hits(
    unindexed: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(unindexed, data)
    db = open_database(data / "frontier.db")
    alerts.add(db, "broken", "otter", [], "somebody", 1.0)
    db.close()
    done = gossamer("index", data=data)
    assert done.code == 0, done.err
    found = Searcher.open(data / "index").urls(Request(query="otter", similar=True), 1000)
    assert len(found) == len(hits_in(data)) == 5


def test_an_indexer_that_follows_sends_what_it_found_before_it_ends(unindexed: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(unindexed, data)
    with MailServer() as mail:
        write_settings(data, {"alerts": settings_for(mail)})
        following = start("index", "--follow", data=data)
        try:
            wait_until(lambda: hits_in(data))
        finally:
            following.send_signal(signal.SIGINT)
            words = following.communicate(timeout=PATIENCE)
        assert following.returncode == 0, words
        (taken,) = mail.mails
    assert taken.message["Subject"] == "otters: 5 new pages"
    assert gossamer("alerts", "outbox", data=data).out == "The outbox is empty.\n"


def test_a_changed_page_is_told_again_only_where_that_is_wanted(tmp_path: Path) -> None:
    data, web = tmp_path / "data", FakeWeb("127.0.64")
    site = web.site("changing.test")
    site.page("/", page("spider", 1, '<a href="/known.html">x</a>'))
    site.page("/known.html", page("otter", 2))
    with web:
        crawl(web, data, [site.url("/")], crawl={"index": True, "workers": 1})
        add(data, "new", "otter OR kestrel")
        add(data, "changes", "otter OR kestrel", "--changes")
        site.page("/known.html", page("otter", 3))
        site.page("/fresh.html", page("kestrel", 4))
        web.changed()
        assert gossamer("recrawl", site.url("/known.html"), data=data).code == 0
        assert run("crawl", site.url("/fresh.html"), "--quiet", data=data).returncode == 0
        known, fresh = site.url("/known.html"), site.url("/fresh.html")

        def hits(name: str) -> dict[str, float]:
            return {hit["url"]: hit["at"] for hit in gossamer("alerts", "hits", name, "--json", data=data).json}

        assert set(hits("new")) == {fresh}, "the page that was there before is no news"
        first = hits("changes")
        assert set(first) == {known, fresh}
        site.page("/known.html", page("otter", 5))
        web.changed()
        assert gossamer("recrawl", known, data=data).code == 0
        assert run("crawl", "--quiet", data=data).returncode == 0
        again = hits("changes")
        assert again[known] > first[known] and again[fresh] == first[fresh]
        assert set(hits("new")) == {fresh}


def test_a_paused_alert_misses_what_comes_and_goes_on_when_resumed(tmp_path: Path) -> None:
    data, web = tmp_path / "data", FakeWeb("127.0.65")
    site = web.site("resting.test")
    for n, path in enumerate(("/one.html", "/two.html", "/three.html")):
        site.page(path, page("otter", n + 1))
    with web:
        crawl(web, data, [site.url("/missing")], crawl={"index": True, "workers": 1})
        add(data, "otters", "otter")
        for path, verb in (("/one.html", "pause"), ("/two.html", "resume"), ("/three.html", "")):
            assert run("crawl", site.url(path), "--quiet", data=data).returncode == 0
            if verb:
                assert gossamer("alerts", verb, "otters", data=data).code == 0
    urls = {url for _, url in hits_in(data)}
    assert urls == {site.url("/one.html"), site.url("/three.html")}
