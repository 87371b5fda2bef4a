"""Alerts, outbox and alarms, on both databases: nothing is lost, doubled or told without an end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gossamer.alerts.gathering import MOST_WAITING, Gatherer, decoded
from gossamer.alerts.sending import send_due, tell_alarms
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.changes import next_change
from gossamer.notify.channel import NotTakenError
from gossamer.notify.message import Item, Message
from gossamer.tables import alarms, alerts, outbox
from gossamer.tables.alarms import Sign
from gossamer.tables.alerts import Alert, AlertHit
from gossamer.testing import FakeClock

NOW = 1_700_000_000.0
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MAIL, HOOK = "me@a.test", "https://a.test/hook"


def saved(db: Database, name: str = "spiders", channels: Sequence[str] = (MAIL,)) -> Alert:
    return alerts.add(db, name, '{"query":"x"}', channels, "me", NOW)


def move(db: Database, changes: int = 1) -> None:
    """The crawl goes on."""
    with db.transaction():
        for _ in range(changes):
            next_change(db)


def pages(count: int, first: int = 0) -> list[Item]:
    return [Item(f"https://a.test/{n}", f"Page {n}", "…", "", NOW) for n in range(first, first + count)]


def tell(db: Database, alert: Alert, items: Sequence[Item], now: float = NOW) -> None:
    with db.transaction():
        Gatherer(db, now).tell(alert, items)


def bodies(db: Database) -> list[Message]:
    return [decoded(one.body) for one in outbox.list_messages(db)]


class Channel:
    """What was delivered, and whether it is up."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, Message]] = []
        self.down = ""

    def __call__(self, channel: str, message: Message, delivery: str) -> None:
        if self.down:
            raise NotTakenError(self.down)
        self.got.append((channel, delivery, message))


# --- alerts --------------------------------------------------------------------------------------------


def test_an_alert_comes_back_as_it_was_saved_and_its_id_cannot_be_guessed(db: Database) -> None:
    one = alerts.add(db, "  a\nname ", '{"query":"x"}', [MAIL, HOOK, MAIL], "me", NOW, again=True)
    assert alerts.find(db, one.id) == one == alerts.named(db, "a name") == alerts.named(db, one.id)
    assert one.channels == (MAIL, HOOK) and one.again and not one.paused
    assert len(one.id) >= 32 and one.id != saved(db, "other").id
    with pytest.raises(UsageError, match="already"):
        saved(db, "a name")
    with pytest.raises(UsageError, match="no alert"):
        alerts.named(db, "nobody")


def test_matching_begins_where_the_crawl_stands_when_the_first_alert_is_saved(db: Database) -> None:
    move(db, 7)
    one = saved(db)
    assert (alerts.matched(db, "1/1"), one.since) == (7, 7)
    with db.transaction():
        alerts.note_matched(db, "1/2", 9)
    assert (alerts.matched(db, "1/2"), alerts.matched(db, "2/2")) == (9, 7)
    move(db, 5)
    saved(db, "second")
    assert alerts.matched(db, "1/2") == 9, "the first alert is not told less because there is another one"


def test_what_comes_while_no_alert_is_active_is_never_told(db: Database) -> None:
    one = saved(db)
    move(db, 3)
    alerts.pause(db, one.id)
    assert not alerts.active(db)
    move(db, 4)
    alerts.resume(db, one.id)
    (again,) = alerts.active(db)
    assert (again.since, alerts.matched(db, "1/1")) == (7, 7)


def test_resuming_what_is_active_skips_nothing(db: Database) -> None:
    one = saved(db)
    move(db, 3)
    alerts.resume(db, one.id)
    assert alerts.active(db)[0].since == 0


def test_a_page_is_one_hit_of_an_alert_and_the_newest_come_first(db: Database) -> None:
    one = saved(db)
    hits = [AlertHit(one.id, n, NOW + n, f"https://a.test/{n}", f"Page {n}", "…", "") for n in range(3)]
    with db.transaction():
        alerts.note_hits(db, hits)
        alerts.note_hits(db, [AlertHit(one.id, 0, NOW + 9, "https://a.test/0", "Changed", "…", "")])
    assert [hit.title for hit in alerts.hits(db, one.id, 10)] == ["Changed", "Page 2", "Page 1"]
    assert alerts.told(db, one.id, [0, 2, 5]) == {0, 2}
    assert alerts.found(db)[one.id].pages == 3


def test_removing_an_alert_takes_its_hits_and_what_was_not_sent_with_it(db: Database) -> None:
    one, other = saved(db), saved(db, "other")
    for alert in (one, other):
        tell(db, alert, pages(1))
        with db.transaction():
            alerts.note_hits(db, [AlertHit(alert.id, 1, NOW, "https://a.test/", "x", "", "")])
    alerts.remove(db, one.id)
    assert alerts.find(db, one.id) is None and not alerts.hits(db, one.id, 10)
    assert [message.about for message in outbox.list_messages(db)] == [other.id]
    assert alerts.hits(db, other.id, 10)


def test_old_hits_leave_and_pages_that_were_taken_down_are_forgotten(db: Database) -> None:
    one, other = saved(db), saved(db, "other")
    with db.transaction():
        for alert in (one, other):
            alerts.note_hits(
                db, [AlertHit(alert.id, n, NOW + n, f"https://a.test/{n}", "x", "", "") for n in range(30)]
            )
    assert alerts.prune(db, kept=10) == 40
    assert [hit.key for hit in alerts.hits(db, one.id, 100)] == list(range(29, 19, -1))
    with db.transaction():
        assert alerts.forget(db, [29, 25, 3]) == 4
    assert {29, 25}.isdisjoint(hit.key for hit in alerts.hits(db, other.id, 100))
    assert alerts.told(db, one.id, [29, 28]) == {28}


# --- gathering -----------------------------------------------------------------------------------------


def test_hits_within_a_minute_go_into_one_mail(db: Database) -> None:
    one, got, clock = saved(db), Channel(), FakeClock(NOW)
    for n in range(3):
        tell(db, one, pages(2, 2 * n), NOW + 15 * n)
    assert send_due(db, got, clock).taken == 0, "it still gathers"
    clock.advance(61)
    assert send_due(db, got, clock).taken == 1
    tell(db, one, pages(1, 9), clock.now())
    clock.advance(61)
    send_due(db, got, clock)
    assert [len(message.items) for _, _, message in got.got] == [6, 1]
    assert got.got[0][2].title == "spiders: 6 new pages"


def test_a_mail_names_a_hundred_pages_and_counts_the_rest(db: Database) -> None:
    one = saved(db)
    tell(db, one, pages(260))
    tell(db, one, pages(40, 260))
    (message,) = bodies(db)
    assert (len(message.items), message.more, message.title) == (100, 200, "spiders: 300 new pages")


def test_a_webhook_is_told_of_every_page_a_hundred_at_a_time(db: Database) -> None:
    one = saved(db, channels=[HOOK])
    tell(db, one, pages(150))
    tell(db, one, pages(80, 150))
    messages = bodies(db)
    assert max(len(message.items) for message in messages) == 100
    assert sorted(item.url for message in messages for item in message.items) == sorted(p.url for p in pages(230))
    assert not any(message.more for message in messages)


def test_the_outbox_of_a_dead_receiver_is_bounded(db: Database) -> None:
    one = saved(db, channels=[HOOK])
    with db.transaction():
        for _ in range(MOST_WAITING):
            outbox.put(db, HOOK, one.id, "{}", NOW, NOW)
    tell(db, one, pages(250))
    waiting = outbox.list_messages(db, 5000)
    assert len(waiting) == MOST_WAITING + 1
    told = decoded(max(waiting, key=lambda message: len(message.body)).body)
    assert (len(told.items), told.more) == (100, 150)


def test_what_a_sender_has_claimed_is_not_added_to(db: Database) -> None:
    """Or a page would be lost: the sender has read the message already, and deletes it when it is taken."""
    one = saved(db)
    tell(db, one, pages(1), NOW)
    (claimed,) = outbox.claim(db, NOW, 10, gathered=True)
    tell(db, one, pages(1, 1), NOW + 1)
    outbox.taken(db, claimed.id)
    (left,) = bodies(db)
    assert [item.url for item in left.items] == ["https://a.test/1"]


# --- outbox --------------------------------------------------------------------------------------------


def put(db: Database, channel: str = MAIL, at: float = NOW) -> str:
    with db.transaction():
        return outbox.put(db, channel, "", '{"kind":"test","title":"t","text":"x"}', at, at)


def test_a_message_is_delivered_once_when_its_channel_is_back_under_the_same_id(db: Database) -> None:
    id, got, clock = put(db), Channel(), FakeClock(NOW)
    got.down = "nobody there"
    for _ in range(5):
        assert send_due(db, got, clock).failed == 1
        assert send_due(db, got, clock) == (0, 0), "not before its wait is over"
        (waiting,) = outbox.list_messages(db)
        assert waiting.due_at is not None and waiting.problem == "nobody there"
        clock.set(waiting.due_at)
    got.down = ""
    assert send_due(db, got, clock).taken == 1
    assert send_due(db, got, clock) == (0, 0)
    assert [delivery for _, delivery, _ in got.got] == [id]
    assert not outbox.list_messages(db)


def test_waits_double_up_to_a_day_and_end_after_five_days_with_the_problem_kept(db: Database) -> None:
    put(db)
    got, clock, waits = Channel(), FakeClock(NOW), []
    got.down = "gone for good"
    while True:
        assert send_due(db, got, clock).failed == 1
        (waiting,) = outbox.list_messages(db)
        if waiting.due_at is None:
            break
        waits.append(waiting.due_at - clock.now())
        assert bool(outbox.failing(db, 3)) == (len(waits) >= 3)
        clock.set(waiting.due_at)
    assert waits[:4] == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]
    assert max(waits) == DAY
    assert 5 * DAY <= clock.now() - NOW <= 6 * DAY
    assert waiting.problem == "gone for good"
    assert outbox.failing(db, 3) == [], "an alarm is about what still waits"
    assert outbox.retry(db, clock.now(), waiting.id) == 1
    got.down = ""
    assert send_due(db, got, clock).taken == 1


def test_a_sender_that_dies_after_its_claim_loses_nothing(db: Database) -> None:
    id, got, clock = put(db), Channel(), FakeClock(NOW)
    assert [message.id for message in outbox.claim(db, NOW, 10)] == [id]  # and then it is killed
    assert send_due(db, got, clock) == (0, 0), "somebody may have it in hand"
    clock.advance(10 * MINUTE)
    assert send_due(db, got, clock).taken == 1
    assert got.got[0][1] == id


def test_a_channel_that_is_down_holds_up_nobody_and_is_tried_once_a_round(db: Database) -> None:
    tried: list[str] = []

    def deliver(channel: str, message: Message, delivery: str) -> None:
        tried.append(channel)
        if channel == HOOK:
            raise NotTakenError("down")

    for channel in (HOOK, HOOK, HOOK, MAIL, MAIL):
        put(db, channel)
    assert send_due(db, deliver, FakeClock(NOW)) == (2, 3)
    assert sorted(tried) == sorted([HOOK, MAIL, MAIL])


def test_what_was_given_up_is_shown_for_a_month(db: Database) -> None:
    put(db, at=NOW - 10 * DAY)
    (message,) = outbox.claim(db, NOW, 1)
    outbox.failed(db, message, "no", NOW)
    assert outbox.list_messages(db)[0].due_at is None
    assert outbox.prune(db, NOW + 10 * DAY) == 0
    assert outbox.prune(db, NOW + 21 * DAY) == 1


def test_a_broken_body_does_not_stop_the_others(db: Database) -> None:
    with db.transaction():
        outbox.put(db, HOOK, "", "no json", NOW, NOW)
    put(db)
    got = Channel()
    assert send_due(db, got, FakeClock(NOW)) == (1, 1)


# --- alarms --------------------------------------------------------------------------------------------

LOW = Sign("disk low", "", "12 MiB are free.")


def test_an_alarm_is_told_once_and_once_more_when_it_is_over(db: Database) -> None:
    for minute in range(5):
        tell_alarms(db, [MAIL], ["disk low"], [LOW], NOW + minute * MINUTE)
    assert [message.kind for message in bodies(db)] == ["alarm"]
    assert [alarm.sentence for alarm in alarms.present(db)] == ["12 MiB are free."]
    for minute in range(5, 30):
        tell_alarms(db, [MAIL], ["disk low"], [], NOW + minute * MINUTE)
    assert sorted(message.kind for message in bodies(db)) == ["alarm", "over"]
    assert not alarms.present(db)
    (past,) = alarms.history(db)
    assert past.since == NOW and past.until == NOW + 14 * MINUTE


def test_an_alarm_that_comes_and_goes_tells_a_handful_of_times_a_day(db: Database) -> None:
    now = NOW
    while now < NOW + DAY:  # eleven minutes there, eleven minutes away
        there = int((now - NOW) // (11 * MINUTE)) % 2 == 0
        tell_alarms(db, [MAIL], ["disk low"], [LOW] if there else [], now)
        now += MINUTE
    assert 2 <= len(bodies(db)) <= 8
    assert len(alarms.present(db)) <= 1


def test_subjects_have_alarms_of_their_own_and_what_was_not_looked_for_stays(db: Database) -> None:
    signs = [Sign("feed silent", feed, f"{feed} is silent.") for feed in ("https://a.test/f", "https://b.test/f")]
    tell_alarms(db, [], ["feed silent", "disk low"], [*signs, LOW], NOW)
    tell_alarms(db, [], ["disk low"], [LOW], NOW + HOUR)
    assert len(alarms.present(db)) == 3
    tell_alarms(db, [], ["feed silent", "disk low"], [signs[0]], NOW + 2 * HOUR)
    assert [alarm.subject for alarm in alarms.present(db)] == ["https://a.test/f"]
    assert not bodies(db), "there is nobody to tell"


def test_a_channel_is_not_told_that_it_takes_nothing(db: Database) -> None:
    sign = Sign("sending fails", MAIL, "me@a.test does not take messages.")
    tell_alarms(db, [MAIL, HOOK, "not an address"], ["sending fails"], [sign], NOW)
    assert [message.channel for message in outbox.list_messages(db)] == [HOOK]
