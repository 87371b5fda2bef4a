"""Subscriptions in the database: each state leads to the right next one, and nothing is counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.database.database import Database, open_database
from gossamer.frontier import subscriptions
from gossamer.frontier.subscriptions import ACTIVE, ASKED, ENDED, REFUSED, WANTED, Subscription

FEED, TOPIC, HUB = "https://a.org/feed.xml", "https://a.org/feed", "https://hub.org/"
NOW, DAY = 1_000_000.0, 86_400.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "frontier.db")
    yield database
    database.close()


def want(db: Database, feed: str = FEED, topic: str = TOPIC, hub: str = HUB, now: float = NOW) -> bool:
    with db.transaction():
        return subscriptions.want(db, feed, topic, hub, now)


def only(db: Database) -> Subscription:
    (row,) = subscriptions.list_all(db)
    return row


def active(db: Database, until: float = NOW + DAY) -> Subscription:
    want(db)
    subscriptions.asked(db, only(db).id, NOW)
    assert subscriptions.activate(db, only(db).id, until, NOW)
    return only(db)


def due(db: Database, now: float = NOW, limit: int = 100, per_hub: int = 100) -> list[str]:
    found = subscriptions.to_ask(db, now, limit, lambda row: row.asked_at, per_hub)
    return [row.topic for row in found]


def test_wanting_the_same_again_changes_nothing(db: Database) -> None:
    assert want(db)
    before = active(db)
    assert not want(db)
    assert only(db) == before


def test_ids_and_secrets_cannot_be_guessed_and_fit_the_protocol(db: Database) -> None:
    for number in range(50):
        want(db, f"https://a.org/{number}.xml", f"https://a.org/{number}")
    rows = subscriptions.list_all(db)
    assert len({row.id for row in rows}) == len({row.secret for row in rows}) == 50
    assert all(len(row.id) >= 32 and 32 <= len(row.secret) < 200 for row in rows)


def test_another_hub_starts_anew_and_the_old_address_is_unknown(db: Database) -> None:
    before = active(db)
    assert want(db, hub="https://other.org/")
    after = only(db)
    assert (after.state, after.hub) == (WANTED, "https://other.org/")
    assert after.id != before.id and after.secret != before.secret
    assert subscriptions.find(db, before.id) is None


def test_a_feed_with_another_name_keeps_one_subscription(db: Database) -> None:
    active(db)
    assert want(db, topic="https://a.org/renamed")
    assert only(db).topic == "https://a.org/renamed"


def test_a_foreign_feed_cannot_take_a_topic_over_but_its_own_site_can(db: Database) -> None:
    mine = active(db)
    assert not want(db, feed="https://evil.org/feed", hub="https://evil.org/hub")
    assert only(db) == mine
    subscriptions.drop(db, FEED)
    assert want(db, feed="https://evil.org/feed", hub="https://evil.org/hub")
    assert not want(db, feed="https://worse.org/feed", hub="https://worse.org/hub")
    assert want(db)
    assert (only(db).feed, only(db).hub) == (FEED, HUB)


def test_a_feed_without_a_hub_is_not_subscribed_to_any_more(db: Database) -> None:
    active(db)
    assert subscriptions.drop(db, FEED) == 1 and subscriptions.list_all(db) == []
    assert subscriptions.drop(db, FEED) == 0


def test_a_subscription_goes_from_wanted_over_asked_to_active(db: Database) -> None:
    want(db)
    id = only(db).id
    assert only(db).state == WANTED and subscriptions.active_feeds(db, NOW) == set()
    assert not subscriptions.activate(db, id, NOW + DAY, NOW)  # nobody was asked yet
    subscriptions.asked(db, id, NOW)
    assert (only(db).state, only(db).attempts) == (ASKED, 1)
    assert subscriptions.activate(db, id, NOW + DAY, NOW + 1)
    assert (only(db).state, only(db).attempts, only(db).expires_at) == (ACTIVE, 0, NOW + DAY)
    assert subscriptions.active_feeds(db, NOW) == {FEED} and subscriptions.active_feeds(db, NOW + DAY) == set()


def test_a_hub_that_fails_too_often_is_given_up_with_its_last_words(db: Database) -> None:
    want(db)
    id = only(db).id
    for tries in (1, 2):
        subscriptions.asked(db, id, NOW + tries)
        subscriptions.failed(db, id, f"broken {tries}", 3)
        assert (only(db).state, only(db).attempts, only(db).problem) == (WANTED, tries, f"broken {tries}")
    subscriptions.asked(db, id, NOW + 3)
    subscriptions.failed(db, id, "broken 3", 3)
    assert (only(db).state, only(db).problem) == (REFUSED, "broken 3")


def test_a_hub_that_confirms_before_it_fails_has_confirmed(db: Database) -> None:
    want(db)
    id = only(db).id
    subscriptions.asked(db, id, NOW)
    subscriptions.activate(db, id, NOW + DAY, NOW)
    subscriptions.failed(db, id, "no answer", 1)
    assert (only(db).state, only(db).problem) == (ACTIVE, "")


def test_a_renewal_that_fails_leaves_the_subscription_active_until_its_lease_ends(db: Database) -> None:
    id = active(db).id
    subscriptions.asked(db, id, NOW + 100)
    subscriptions.failed(db, id, "no answer", 6)
    assert (only(db).state, only(db).attempts, only(db).problem) == (ACTIVE, 1, "no answer")
    assert subscriptions.expire(db, NOW + DAY - 1, 6, 60) == 0
    assert subscriptions.expire(db, NOW + DAY, 6, 60) == 1
    assert (only(db).state, only(db).problem) == (ENDED, "no answer")


def test_what_a_hub_took_but_never_confirmed_is_given_up_in_the_end(db: Database) -> None:
    want(db)
    id = only(db).id
    for tries in range(3):
        subscriptions.asked(db, id, NOW + tries)
    assert subscriptions.expire(db, NOW + 30, 3, 60) == 0
    assert subscriptions.expire(db, NOW + 62, 3, 60) == 1
    assert only(db).state == REFUSED


def test_a_hub_may_end_what_it_confirmed(db: Database) -> None:
    subscriptions.denied(db, active(db).id, "topic closed", NOW + 5, 6)
    assert (only(db).state, only(db).attempts) == (REFUSED, 6) and "topic closed" in only(db).problem
    assert subscriptions.active_feeds(db, NOW + 5) == set()
    assert not subscriptions.activate(db, only(db).id, NOW + DAY, NOW + 6)


def test_the_longest_due_is_asked_first_and_no_hub_takes_all_turns(db: Database) -> None:
    for number in range(5):
        want(db, f"https://a.org/{number}.xml", f"https://a.org/{number}", now=NOW - number)
    want(db, "https://b.org/feed", "https://b.org/feed", "https://small.org/", NOW)
    want(db, "https://c.org/feed", "https://c.org/feed", "https://small.org/", NOW + 1)
    assert due(db, per_hub=2) == ["https://a.org/4", "https://a.org/3", "https://b.org/feed"]
    assert due(db, limit=1) == ["https://a.org/4"]


def test_a_delivery_counts_once_and_only_within_the_lease(db: Database) -> None:
    row = active(db)
    assert subscriptions.why_not(db, row, "d1", NOW + 1) == ""
    subscriptions.delivered(db, row.id, "d1", NOW + 1)
    assert (only(db).received, only(db).received_at) == (1, NOW + 1)
    assert "before" in subscriptions.why_not(db, row, "d1", NOW + 2)
    assert subscriptions.why_not(db, row, "d2", NOW + 2) == ""
    assert "lease" in subscriptions.why_not(db, row, "d2", NOW + DAY)
    subscriptions.expire(db, NOW + DAY, 6, 60)
    assert "lease" in subscriptions.why_not(db, only(db), "d2", NOW + DAY)


def test_an_asked_or_refused_subscription_takes_nothing(db: Database) -> None:
    want(db)
    assert subscriptions.why_not(db, only(db), "d", NOW)
    subscriptions.asked(db, only(db).id, NOW)
    assert subscriptions.why_not(db, only(db), "d", NOW)


def test_refusals_are_counted_with_the_last_reason(db: Database) -> None:
    id = active(db).id
    subscriptions.note_refused(db, id, "the signature is wrong")
    subscriptions.note_refused(db, id, "x" * 5000)
    assert only(db).refused == 2 and 0 < len(only(db).problem) < 1000


def test_old_deliveries_and_those_of_gone_subscriptions_are_forgotten(db: Database) -> None:
    id = active(db).id
    subscriptions.delivered(db, id, "old", NOW)
    subscriptions.delivered(db, id, "new", NOW + 40 * DAY)
    assert subscriptions.prune(db, NOW + 40 * DAY) == 1
    subscriptions.drop(db, FEED)
    assert subscriptions.prune(db, NOW + 40 * DAY) == 1
    assert db.execute("SELECT COUNT(*) FROM deliveries") == [(0,)]
