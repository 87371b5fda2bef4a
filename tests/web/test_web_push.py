"""Push from end to end over real sockets: our server, a hub, and the frontier's database between them.

Time is a `FakeClock` that the server, the hub and the caller of hubs share, so that a lease can end within a test.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import msgspec
import pytest
from web_kit import PATIENCE, SETTINGS, MemoryService

from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.discover.websub import PushConfig
from gossamer.errors import DatabaseError
from gossamer.frontier import subscriptions
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.subscriptions import Subscription
from gossamer.frontier.views.inspect import find_url
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.site import site_of
from gossamer.serving.pushed import StoredPush
from gossamer.settings import CrawlSettings, NetworkSettings, Settings
from gossamer.supervise.pushing import HubCaller, run_once
from gossamer.testing.clock import FakeClock
from gossamer.web import push as door
from gossamer.web.app import create_app
from gossamer.web.server import WebServer
from kit.hub import Hub, Manners

FEED = "https://news.example.org/feed.xml"
TOPIC = "https://news.example.org/feed"
CRAWL = Settings(crawl=CrawlSettings(workers=1), network=NetworkSettings(allow=("127.0.0.0/8",)))
DAY = 86_400.0


def atom(*urls: str, published: str = "2026-11-15T10:00:00Z") -> bytes:
    entries = "".join(
        f"<entry><id>{url}</id><title>News</title><link href='{url}'/>"
        f"<published>{published}</published><updated>{published}</updated></entry>"
        for url in urls
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        f"<id>{TOPIC}</id><title>News</title><updated>{published}</updated>{entries}</feed>"
    ).encode()


class Town:
    """A crawl with its server, and a hub."""

    def __init__(self, folder: DataFolder, hub: Hub, clock: FakeClock) -> None:
        self.folder, self.hub, self.clock = folder, hub, clock
        self.config = PushConfig(attempts=3)
        self.frontier = open_frontier(folder, CRAWL)
        self.address = ""

    @property
    def db(self) -> Database:
        return self.frontier.db

    @property
    def row(self) -> Subscription:
        (row,) = subscriptions.list_all(self.db)
        return row

    @property
    def callback(self) -> str:
        return f"{self.address}/push/{self.row.id}"

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        settings = msgspec.structs.replace(SETTINGS, rate=1, burst=1)
        service = StoredPush(self.folder, CRAWL, self.config, self.clock)
        server = WebServer(create_app(MemoryService(), settings, push=service), settings)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
        thread.start()
        try:
            assert ready.wait(PATIENCE), "the server did not start"
            self.address = server.address
            self.config = msgspec.structs.replace(self.config, callback=server.address)
            yield
        finally:
            server.stop()
            thread.join(PATIENCE)
            service.close()

    def want(self, hub: str = "", feed: str = FEED, topic: str = TOPIC) -> None:
        with self.db.transaction():
            subscriptions.want(self.db, feed, topic, hub or self.hub.url, self.clock.now())

    def ask(self, allow: tuple[str, ...] = ("127.0.0.0/8",)) -> int:
        settings = msgspec.structs.replace(CRAWL, network=NetworkSettings(allow=allow))
        taken = run_once(self.folder.database, settings, self.config, self.clock)
        self.hub.settle()
        return taken

    def subscribe(self) -> Subscription:
        self.want()
        assert self.ask() == 1
        assert self.row.state == "active", self.row
        return self.row

    def state_of(self, url: str) -> str:
        record = find_url(self.db, url)
        return record.state if record is not None else "unknown"


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    folder, clock = DataFolder(tmp_path), FakeClock()
    folder.create()
    with Hub(clock.now) as hub:
        town = Town(folder, hub, clock)
        seed = Discovered("https://news.example.org/", Via.SEED, Kind.PAGE)
        town.frontier.add_seeds([seed], clock.now())
        with town.serving():
            yield town
        town.db.close()


def url(number: int) -> str:
    return f"https://news.example.org/2026/{number}"


def test_a_pushed_entry_waits_in_the_queue(town: Town) -> None:
    row = town.subscribe()
    assert row.expires_at == town.clock.now() + town.config.lease
    assert town.hub.publish(TOPIC, atom(url(1), url(2))) == [202]
    assert town.state_of(url(1)) == town.state_of(url(2)) == "waiting"
    assert (town.row.received, town.row.received_at, town.row.refused) == (1, town.clock.now(), 0)
    record = find_url(town.db, url(1))
    assert record is not None and record.via == "feed"
    announced = "SELECT announced_at FROM urls WHERE url IN (?, ?)"
    assert town.db.execute(announced, (url(1), url(2))) == [(1_794_736_800.0,)] * 2


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_every_recognised_method_of_signing_is_understood(town: Town, method: str) -> None:
    town.subscribe()
    town.hub.manners = Manners(method=method)
    town.hub.publish(TOPIC, atom(url(1)))
    assert town.state_of(url(1)) == "waiting"


def test_only_entries_of_the_crawls_scope_are_taken(town: Town) -> None:
    town.subscribe()
    body = atom("https://elsewhere.example.com/x", "/relative", "javascript:alert(1)", url(1) + "?utm_source=hub")
    town.hub.publish(TOPIC, body)
    assert town.state_of("https://elsewhere.example.com/x") == "unknown"
    assert town.state_of("https://news.example.org/relative") == "waiting"
    assert town.state_of(url(1)) == "waiting"


@pytest.mark.parametrize("signature", ["wrong", "none"])
def test_a_delivery_without_the_right_signature_is_acknowledged_ignored_and_counted(town: Town, signature: str) -> None:
    town.subscribe()
    town.hub.manners = Manners(signature=signature)
    assert town.hub.publish(TOPIC, atom(url(1))) == [202]
    assert town.state_of(url(1)) == "unknown"
    assert (town.row.received, town.row.refused) == (0, 1) and "sign" in town.row.problem


def test_a_replay_is_ignored_and_counted_and_the_next_news_are_taken(town: Town) -> None:
    town.subscribe()
    town.hub.publish(TOPIC, atom(url(1)))
    assert town.hub.publish(TOPIC, atom(url(1))) == [202]
    assert (town.row.received, town.row.refused) == (1, 1)
    town.hub.publish(TOPIC, atom(url(2)))
    assert town.state_of(url(2)) == "waiting" and town.row.received == 2


def test_what_comes_after_the_lease_is_ignored_and_counted(town: Town) -> None:
    row = town.subscribe()
    town.clock.advance(row.expires_at - town.clock.now())
    town.hub.manners = Manners(keeps_leases=False)
    assert town.hub.publish(TOPIC, atom(url(1))) == [202]
    assert town.state_of(url(1)) == "unknown"
    assert (town.row.received, town.row.refused) == (0, 1) and "lease" in town.row.problem


def test_verifications_that_nobody_asked_for_are_refused_and_counted(town: Town) -> None:
    town.want()
    early = town.hub.verify(town.callback, TOPIC, challenge="c", lease_seconds="86400")
    assert early.status == 404 and town.row.state == "wanted"
    town.ask()
    for mode, topic in (("subscribe", "https://evil.example.com/feed"), ("unsubscribe", TOPIC), ("publish", TOPIC)):
        answer = town.hub.verify(town.callback, topic, mode, challenge="c", lease_seconds="86400")
        assert answer.status == 404 and answer.body == b""
    assert (town.row.state, town.row.refused) == ("active", 4)


def test_a_challenge_comes_back_as_text_that_no_browser_takes_for_a_page(town: Town) -> None:
    town.subscribe()
    query = {
        "hub.mode": "subscribe",
        "hub.topic": TOPIC,
        "hub.challenge": "<script>1</script>é",
        "hub.lease_seconds": "900",
    }
    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        answer = http.get(town.callback, params=query)
    assert answer.status_code == 200 and answer.content == "<script>1</script>é".encode()
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_unknown_address_is_gone_so_that_hubs_stop(town: Town) -> None:
    town.subscribe()
    old = town.callback
    town.want(hub="http://127.0.0.1:9/other")
    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        for address in (old, f"{town.address}/push/", f"{town.address}/push/{'x' * 32}", f"{town.address}/push/a/b"):
            assert http.post(address, content=atom(url(1))).status_code == 410
            assert http.get(address, params={"hub.mode": "subscribe", "hub.topic": TOPIC}).status_code == 404
        assert http.put(town.callback, content=b"x").status_code == 405
    assert town.state_of(url(1)) == "unknown"


def test_a_subscription_is_renewed_before_its_lease_ends_and_not_earlier(town: Town) -> None:
    first = town.subscribe()
    town.clock.advance(town.config.lease * 0.6)
    assert town.ask() == 0
    town.clock.advance(town.config.lease * 0.1)
    assert town.ask() == 1
    assert (town.row.state, town.row.id) == ("active", first.id)
    assert town.row.expires_at == town.clock.now() + town.config.lease
    town.clock.set(first.expires_at + 1)
    town.hub.publish(TOPIC, atom(url(1)))
    assert town.state_of(url(1)) == "waiting"


def test_a_dead_hub_is_asked_ever_more_rarely_then_given_up_then_tried_once_a_day(town: Town) -> None:
    town.want(hub="http://127.0.0.1:9/hub")
    asked = []
    for _ in range(3 * 24 * 60):
        before = town.row.attempts
        if town.clock.now() >= town.row.asked_at + 60 or not before:  # the caller would find nothing to do
            town.ask()
        if town.row.attempts > before:
            asked.append(town.clock.now())
        if town.row.state == "refused":
            town.clock.advance(DAY / 24)
        else:
            town.clock.advance(60)
        if len(asked) == 5:
            break
    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert pauses[:2] == [60, 120] and all(DAY <= pause < DAY * 1.1 for pause in pauses[2:])
    assert town.row.state == "refused" and "connection" in town.row.problem
    assert subscriptions.active_feeds(town.db, town.clock.now()) == set()


def test_a_hub_that_comes_back_is_subscribed_to_again(town: Town) -> None:
    town.want()
    town.hub.manners = Manners(status=500)
    for _ in range(3):
        assert town.ask() == 0
        town.clock.advance(600)
    assert town.row.state == "refused" and "500" in town.row.problem and "does not want" in town.row.problem
    town.hub.manners = Manners()
    assert town.ask() == 0
    town.clock.advance(DAY)
    assert town.ask() == 1 and town.row.state == "active" and town.row.problem == ""


def test_one_request_tells_that_a_hub_is_down(town: Town) -> None:
    for number in range(5):
        town.want(feed=f"{FEED}?{number}", topic=f"{TOPIC}?{number}")
    town.hub.manners = Manners(status=503)
    assert town.ask() == 0
    assert len(town.hub.asked) == 1
    assert {row.attempts for row in subscriptions.list_all(town.db)} == {1}


def test_a_hub_that_never_confirms_is_given_up(town: Town) -> None:
    town.want()
    town.hub.manners = Manners(verifies=False)
    for _ in range(3):
        town.ask()
        assert town.row.state == "asked"
        town.clock.advance(1800)
    town.clock.advance(3600)
    assert town.ask() == 0 and town.row.state == "refused"
    assert town.hub.verify(town.callback, TOPIC, challenge="late", lease_seconds="86400").status == 404


def test_a_hub_that_denies_is_believed(town: Town) -> None:
    town.want()
    town.hub.manners = Manners(denies="members only")
    town.ask()
    assert town.row.state == "refused" and "members only" in town.row.problem


@pytest.mark.parametrize("lease", ["0", "-5", "x", "7"])
def test_a_lease_that_is_a_lie_is_not_confirmed(town: Town, lease: str) -> None:
    town.want()
    town.hub.manners = Manners(lease=lease)
    town.ask()
    assert town.row.state == "asked" and town.row.refused == 1 and not town.hub.subscribers


def test_a_lease_without_end_is_renewed_all_the_same(town: Town) -> None:
    town.want()
    town.hub.manners = Manners(lease="99999999999")
    town.ask()
    town.clock.advance(30 * DAY)
    assert town.ask() == 1


def test_a_lease_that_ended_is_asked_for_again(town: Town) -> None:
    row = town.subscribe()
    town.clock.set(row.expires_at + 1)
    assert town.ask() == 1
    assert town.row.state == "active" and town.row.expires_at > town.clock.now()


def test_a_hub_may_send_us_on_to_another(town: Town) -> None:
    with Hub(town.clock.now) as first:
        first.manners = Manners(status=308, location=town.hub.url)
        town.want(hub=first.url)
        assert town.ask() == 1
    assert town.row.state == "active" and len(town.hub.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303])
def test_other_redirects_are_failures(town: Town, status: int) -> None:
    with Hub(town.clock.now) as first:
        first.manners = Manners(status=status, location=town.hub.url)
        town.want(hub=first.url)
        assert town.ask() == 0
    assert town.hub.asked == [] and town.row.state == "wanted"


def test_a_hub_at_a_private_address_is_never_connected_to(town: Town) -> None:
    guarded = Settings(
        crawl=CrawlSettings(contact="a@example.org"), network=NetworkSettings(resolve={"hub.example.com": "127.0.0.1"})
    )
    by_name = town.hub.url.replace("127.0.0.1", "hub.example.com")
    hubs = (town.hub.url, by_name, town.hub.url.replace("127.0.0.1", "[::ffff:7f00:1]"), "http://169.254.169.254/")
    for number, hub in enumerate(hubs):
        town.want(hub, f"{FEED}?{number}", f"{TOPIC}?{number}")
    assert run_once(town.folder.database, guarded, town.config, town.clock) == 0
    assert town.hub.asked == []
    for row in subscriptions.list_all(town.db):
        assert row.state == "wanted" and ("this machine" in row.problem or "metadata" in row.problem)


def test_a_hub_cannot_send_us_on_to_a_private_address(town: Town) -> None:
    town.hub.manners = Manners(status=307, location="http://10.0.0.1/hub")
    town.want()
    assert town.ask() == 0
    assert "10.0.0.1" in town.row.problem


def test_a_restart_between_any_two_steps_loses_nothing(town: Town) -> None:
    town.want()
    town.hub.manners = Manners(verifies=False)
    town.ask()
    form = town.hub.asked[0]
    with town.serving():  # the server that confirms is not the one whose address was given
        moved = f"{town.address}/push/{town.row.id}"
        answer = town.hub.verify(moved, TOPIC, challenge="c", lease_seconds="86400")
        assert answer.status == 200 and town.row.state == "active"
    secret = form["hub.secret"]
    body = atom(url(1))
    with town.serving(), httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        signature = "sha256=" + hmac.new(secret.encode(), body, "sha256").hexdigest()
        assert http.post(town.callback, content=body, headers={"X-Hub-Signature": signature}).status_code == 202
    assert town.state_of(url(1)) == "waiting"
    with town.serving(), httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        http.post(town.callback, content=body, headers={"X-Hub-Signature": signature})
        assert town.row.received == 1 and town.row.refused == 1


@pytest.mark.parametrize("step", [(SqlFrontier, "add"), (subscriptions, "delivered")])
def test_a_delivery_that_an_accident_cut_short_may_be_sent_again(
    town: Town, monkeypatch: pytest.MonkeyPatch, step: tuple[object, str]
) -> None:
    town.subscribe()

    def break_down(*_: object) -> None:
        raise DatabaseError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(*step, break_down)
        assert town.hub.publish(TOPIC, atom(url(1))) == [503]
    assert town.hub.publish(TOPIC, atom(url(1))) == [202]
    assert town.state_of(url(1)) == "waiting" and (town.row.received, town.row.refused) == (1, 0)


def test_a_body_that_is_too_long_is_not_read(town: Town) -> None:
    town.subscribe()
    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        assert http.post(town.callback, content=b" " * (door.MAX_BODY + 1)).status_code == 413
        pieces = (b" " * 65_536 for _ in range(100))
        assert http.post(town.callback, content=pieces).status_code == 413
    assert (town.row.received, town.row.refused) == (0, 0)


def test_a_body_that_never_ends_is_given_up(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.subscribe()
    monkeypatch.setattr(door, "BODY_SECONDS", 0.2)
    host, _, port = town.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as sock:
        head = f"POST /push/{town.row.id} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\nabc"
        sock.sendall(head.encode())
        assert sock.recv(1000).startswith(b"HTTP/1.1 408")


def test_nonsense_with_a_right_signature_is_taken_for_what_it_is(town: Town) -> None:
    town.subscribe()
    for body in (b"", b"\x00\xff", b"<feed><entry>", b"{}", b"<!DOCTYPE html><title>Sorry</title>"):
        assert town.hub.publish(TOPIC, body) == [202]
    assert town.row.received == 5


def test_hubs_are_not_held_up_by_the_limits_of_readers_and_readers_get_no_further_than_before(town: Town) -> None:
    town.subscribe()
    for number in range(10):  # the server lets a reader ask once a minute
        assert town.hub.publish(TOPIC, atom(url(number))) == [202]
    with httpx.Client(base_url=town.address, timeout=PATIENCE, trust_env=False) as http:
        assert http.post("/", content=b"x").status_code == 405
        assert http.post("/pushy", content=b"x").status_code == 405


def test_the_caller_asks_beside_the_crawl_once_a_minute(town: Town) -> None:
    town.want()
    caller = HubCaller(town.folder.database, CRAWL, town.config, town.clock)
    for _ in range(3):
        caller.tick()
        caller.wait()
    town.hub.settle()
    assert len(town.hub.asked) == 1 and town.row.state == "active"
    town.want(feed=f"{FEED}?2", topic=f"{TOPIC}?2")
    town.clock.advance(60)
    caller.tick()
    caller.wait()
    assert len(town.hub.asked) == 2


def test_without_a_callback_nobody_is_asked(town: Town) -> None:
    town.want()
    town.config = PushConfig()
    assert town.ask() == 0 and town.hub.asked == []


def test_a_paused_crawl_asks_no_hub_and_asks_when_it_goes_on(town: Town) -> None:
    town.want()
    town.frontier.pause_crawl("maintenance", town.clock.now())
    assert town.ask() == 0
    assert town.hub.asked == [] and town.row.attempts == 0
    town.frontier.resume_crawl(town.clock.now())
    assert town.ask() == 1


def test_a_hub_on_a_paused_site_is_left_alone(town: Town) -> None:
    town.want()
    place = site_of(town.hub.url)
    town.frontier.add([Discovered(f"http://{place}/")], town.clock.now())
    town.frontier.pause_site(place, "", town.clock.now())
    assert town.ask() == 0
    assert town.hub.asked == [] and town.row.attempts == 0
