"""The word and the sentence at the top of the overview: a crawl that is done is green, one that needs help is not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gossamer.console.changing import Plan
from gossamer.console.headline import clock, headline
from gossamer.console.overview_data import Activity, Look
from gossamer.console.pages.overview import notes_of
from gossamer.console.seed_standing import SeedStanding
from gossamer.frontier.views.inspect import Status
from gossamer.supervise.schedule_runs import Standing
from gossamer.tables.schedules import Run

NOW = 1_700_000_000.0
NOBODY = Plan("", None, False)
EMPTY = dict.fromkeys(Status.__struct_fields__, 0) | {
    "errors_by_kind": {}, "outcomes": {}, "queue_by_level": {}, "workers_by_machine": {}, "next_due_at": None,
    "paused": "",
}  # fmt: skip


def look(activity: Activity = "stopped", **standing: Any) -> Look:
    return Look(NOW, Status(**{**EMPTY, **standing}), activity, NOW - 600, 0.0, 0.0)


def kept_by_run(paused_at: float | None = None, last: Run | None = None) -> Plan:
    return Plan("always", Standing("crawl", "crawl --watch", "always", True, None, paused_at, False, last), False)


def test_a_crawl_that_fetched_everything_is_green_and_says_when_it_goes_on() -> None:
    found = headline(look(pages=10, next_due_at=NOW + 3600), NOBODY, True, "")
    assert (found.state, found.kind) == ("finished", "good")
    assert found.title == f"Finished {clock(NOW - 600, NOW)}"
    assert found.sentence == f"All known URLs are fetched. Next visit {clock(NOW + 3600, NOW)}."
    assert found.advice and not found.startable


def test_a_crawl_that_waits_for_the_next_visit_is_up_to_date() -> None:
    found = headline(look("running", pages=10, workers=1, next_due_at=NOW + 3600), NOBODY, True, "")
    assert (found.state, found.kind, found.title) == ("watching", "good", "Up to date")


def test_a_crawl_at_work_says_how_much_waits() -> None:
    found = headline(look("running", workers=1, sites_active=1, urls_due=1234), NOBODY, True, "")
    assert (found.state, found.kind, found.sentence) == ("crawling", "good", "1,234 URLs waiting.")
    slow = replace(look("running", workers=1, sites_active=1, urls_due=600), left=600.0)
    assert headline(slow, NOBODY, True, "").sentence == "600 URLs waiting, at least 10 min left."


@pytest.mark.parametrize(
    ("standing", "state", "kind"),
    [
        ({"pages": 5, "urls_due": 3}, "stopped", "warn"),
        ({"pages": 5, "urls_due": 3, "revisits_due": 3}, "finished", "good"),
        ({"pages": 0, "errors": 2}, "nothing", "bad"),
    ],
)
def test_what_is_left_or_missing_is_not_green(standing: dict[str, int], state: str, kind: str) -> None:
    found = headline(look(**standing), NOBODY, True, "")
    assert (found.state, found.kind) == (state, kind)


def test_without_a_seed_there_is_nothing_to_crawl_whoever_is_there() -> None:
    assert headline(look(), kept_by_run(), False, "").state == "empty"


def test_a_pause_says_why() -> None:
    found = headline(look("paused"), NOBODY, True, "moving house")
    assert found.kind == "warn" and "moving house" in found.sentence


@pytest.mark.parametrize(
    "standing",
    [look("running", sites_active=1, urls_due=9), look("running", sites_blocked=2), look("running"), look(pages=3)],
)
def test_a_crawl_all_of_whose_seeds_failed_says_so_and_is_not_green(standing: Look) -> None:
    found = headline(standing, NOBODY, True, "", SeedStanding(4, failed=4))
    assert (found.state, found.kind, found.title) == ("fruitless", "bad", "Every seed failed so far")
    assert found.sentence == "4 seeds failed. See Seeds below for the cause."
    assert headline(standing, NOBODY, True, "", SeedStanding(4, failed=1, pending=3)).kind == "good"
    assert headline(standing, NOBODY, True, "", SeedStanding(4, failed=3, brought=1)).kind == "good"


def test_a_pause_is_shown_whatever_became_of_the_seeds() -> None:
    assert headline(look("paused"), NOBODY, True, "", SeedStanding(1, failed=1)).state == "paused"


def test_a_crawl_that_is_kept_running_is_starting_or_failing_never_stopped() -> None:
    failed = Run("crawl", NOW - 10, NOW - 5, 1, "first\nthe disk is full")
    assert headline(look(urls_due=3), kept_by_run(), True, "").state == "starting"
    found = headline(look(urls_due=3), kept_by_run(last=failed), True, "")
    assert (found.kind, "the disk is full" in found.sentence) == ("bad", True)
    assert headline(look(urls_due=3), kept_by_run(paused_at=NOW), True, "").startable


def test_no_figure_says_that_nothing_fails_beside_seeds_that_failed() -> None:
    empty = look().standing
    assert notes_of(empty, 0, 0)["errors_note"] == "no failures"
    assert notes_of(empty, 2, 0)["errors_note"] == "2 seeds failed"
    assert notes_of(look(errors=1, pages=3).standing, 2, 0)["errors_note"] == "25 % of the URLs"


def test_what_stands_below_a_figure_is_of_the_same_moment() -> None:
    found = notes_of(look(pages=47, duplicates=2, aliases=1, urls_known=90, workers=4).standing, 0, 12)
    assert found["fetched_note"] == "3 (6 %) duplicates"
    assert (found["due_note"], found["speed_note"]) == ("90 URLs known", "4 workers")
    assert found["pages_note"] == "12 pages searchable"
