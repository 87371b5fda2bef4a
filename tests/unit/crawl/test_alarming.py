"""When something counts as wrong: each check by its figures, and all of them together on a real folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.alerts import alarming
from gossamer.alerts.alert_process import Duty
from gossamer.data.folder import DataFolder
from gossamer.data.locks import sender_lock
from gossamer.frontier.extraction import Drop
from gossamer.frontier.views.vitals import Activity, QuietFeed
from gossamer.notify.config import AlertConfig
from gossamer.revisit import polls
from gossamer.revisit.polls import Habit
from gossamer.settings import Settings
from gossamer.tables import alarms, outbox
from gossamer.testing import FakeClock
from kit.receiver import Receiver

NOW = 1_700_000_000.0
HOUR, DAY = 3_600.0, 86_400.0
AFTER = 900.0

MOVING = Activity(workers=2, began_at=NOW - DAY, stored_at=NOW - 1000, ready=3, paused=False)


@pytest.mark.parametrize(
    ("changes", "stalled"),
    [
        ({}, True),
        ({"stored_at": NOW - 800}, False),
        ({"ready": 0}, False),
        ({"paused": True}, False),
        ({"workers": 0}, False),
        ({"began_at": NOW - 60}, False),
    ],
)
def test_a_crawl_is_stalled_where_it_could_store_pages_and_does_not(changes: dict[str, float], stalled: bool) -> None:
    activity = msgspec.structs.replace(MOVING, **changes)
    assert bool(alarming.crawl_stalled(NOW, activity, AFTER)) is stalled


def test_the_disk_is_low_below_the_mark() -> None:
    assert not alarming.disk_low(2048, 2048, 256)
    (sign,) = alarming.disk_low(2047, 2048, 256)
    assert "2,047 MiB" in sign.sentence and "256 MiB" in sign.sentence


def test_the_index_is_behind_where_stored_pages_wait_for_it() -> None:
    assert not alarming.index_behind(NOW, None)
    assert not alarming.index_behind(NOW, NOW - 60)
    assert alarming.index_behind(NOW, NOW - HOUR)


def test_the_service_level_is_judged_by_its_last_hour_and_only_where_there_is_enough() -> None:
    quick, slow = 24, 60  # classes of delays, four a doubling: 64 s and 9 hours
    assert alarming.searchable_late({slow: 5}, 900.0) is None, "too few to tell"
    assert alarming.searchable_late({quick: 97, slow: 3}, 900.0) == []
    (sign,) = alarming.searchable_late({quick: 80, slow: 20}, 900.0) or []
    assert "100 announced documents" in sign.sentence


def habit_of(gap: float, news: int, last: float) -> Habit:
    """A feed with news every `gap` seconds, polled often, until `last`."""
    habit = polls.start(last - news * gap)
    for n in range(news + 1):
        at = last - (news - n) * gap
        habit = polls.polled(habit, at, [at - 60.0], listed=[at - 60.0])
    return habit


def quiet(habit: Habit, seconds: float, step: float) -> Habit:
    """The feed is polled on, and brings nothing."""
    end = habit.polled_at + seconds
    while habit.polled_at + step <= end:
        habit = polls.polled(habit, habit.polled_at + step, [], listed=[0.0])
    return habit


def test_a_feed_is_silent_after_many_times_its_usual_longest_pause() -> None:
    hourly = habit_of(HOUR, 50, NOW - 10 * DAY)
    daily = habit_of(DAY, 50, NOW - 10 * DAY)

    def silent(habit: Habit, days: float) -> bool:
        after = quiet(habit, days * DAY, HOUR)
        return bool(alarming.feeds_silent([QuietFeed("https://a.test/feed", after, after.polled_at)], 4.0))

    assert not silent(hourly, 0.4)
    assert silent(hourly, 4)
    assert not silent(daily, 6)
    assert silent(daily, 60)


def test_a_feed_that_does_not_answer_any_more_is_silent_too() -> None:
    habit = habit_of(HOUR, 50, NOW - 10 * DAY)
    assert alarming.feeds_silent([QuietFeed("https://a.test/feed", habit, NOW)], 4.0)
    assert not alarming.feeds_silent([QuietFeed("https://a.test/feed", habit, habit.polled_at)], 4.0), "nobody asked it"


def test_a_feed_without_habits_cannot_break_them() -> None:
    habit = habit_of(HOUR, 2, NOW - 10 * DAY)
    assert not alarming.feeds_silent([QuietFeed("https://a.test/feed", habit, NOW)], 4.0)


def test_many_of_a_kind_are_one_alarm() -> None:
    drops = [Drop(f"s{n}.test", 0.9, 0.1, 100) for n in range(30)]
    assert len(alarming.extraction_fell(drops[:5])) == 5
    (sign,) = alarming.extraction_fell(drops)
    assert sign.subject == "" and "30 sites" in sign.sentence
    (one,) = alarming.extraction_fell(drops[:1])
    assert "90% of 100 pages" in one.sentence and "10%" in one.sentence


def test_a_failing_channel_is_named_without_its_secret() -> None:
    (sign,) = alarming.sending_fails([("https://hooks.test/secret", 3, "no answer")])
    assert "secret" not in sign.sentence + sign.subject


def test_a_real_folder_in_order_raises_nothing_and_a_full_disk_is_told_and_over(tmp_path: Path) -> None:
    folder, clock = DataFolder(tmp_path), FakeClock(NOW)
    folder.create()
    db = folder.open_database()
    with Receiver() as receiver:
        config = AlertConfig(
            operators=(receiver.url,), secret="key", allow_networks=("127.0.0.0/8",), disk_low=10**9, slo_p95=1.0
        )
        Duty(folder, db, Settings(alerts=config), clock).turn()
        assert [alarm.kind for alarm in alarms.present(db)] == [alarming.DISK]
        well = Duty(folder, db, Settings(alerts=msgspec.structs.replace(config, disk_low=0)), clock)
        for _ in range(12):
            clock.advance(61)
            well.turn()
        assert not alarms.present(db) and not outbox.list_messages(db)
    kinds = [msgspec.json.decode(post.body)["kind"] for post in receiver.posts]
    assert kinds == ["alarm", "over"]
    db.close()


def test_one_process_sends_for_a_folder(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with sender_lock(folder) as first, sender_lock(DataFolder(tmp_path)) as second:
        assert (first, second) == (True, False)
    with sender_lock(folder) as again:
        assert again
