"""When a crawl ends, told from what waits, how slowly it may be asked, and the pace so far."""

from __future__ import annotations

import pytest

from gossamer.cli.crawling.eta import Work, forecast
from gossamer.cli.crawling.progress import levels_of
from gossamer.frontier.views.backlog import Backlog

NOW = 1_700_000_000.0


def test_the_site_that_needs_longest_decides() -> None:
    sites = [Backlog("quick", 500, 0.1), Backlog("slow", 60, 10.0), Backlog("small", 3, 1.0)]
    found = forecast(Work(done=100, due=563, rate=20.0), sites, NOW)
    assert found is not None
    assert found.seconds == 600.0
    assert found.decides is not None
    assert found.decides.name == "slow"


def test_all_together_go_no_faster_than_lately() -> None:
    sites = [Backlog(f"site{number}", 100, 0.1) for number in range(10)]
    found = forecast(Work(done=0, due=1000, rate=5.0), sites, NOW)
    assert found is not None
    assert found.seconds == 200.0
    assert found.decides is None


def test_a_site_that_rests_is_waited_for() -> None:
    found = forecast(Work(done=5, due=10, rate=0.0), [Backlog("ill", 10, 1.0, ready_at=NOW + 300)], NOW)
    assert found is not None
    assert found.seconds == 310.0


def test_what_is_done_is_a_share_of_what_is_known() -> None:
    found = forecast(Work(done=30, due=70, rate=1.0), [], NOW)
    assert found is not None
    assert (found.share, found.sentence) == (0.3, "about 70 s, 30 % done")


def test_while_more_urls_are_found_it_is_only_a_bound() -> None:
    found = forecast(Work(done=30, due=70, rate=1.0, growing=True), [], NOW)
    assert found is not None
    assert found.sentence == "at least 70 s, at most 30 % done (more URLs are being found)"


@pytest.mark.parametrize("work", [Work(0, 0, 0.0), Work(10, 0, 3.0), Work(0, 5, 0.0), Work(0, 1, 10.0, growing=True)])
def test_where_nothing_tells_the_end_nothing_is_said(work: Work) -> None:
    assert forecast(work, [], NOW) is None


def test_a_limit_of_pages_or_time_ends_it_earlier() -> None:
    sites = [Backlog("site", 1000, 1.0)]
    pages = forecast(Work(50, 1000, 1.0, growing=True, pages_left=150), sites, NOW)
    assert pages is not None
    assert (pages.seconds, pages.share, pages.at_least) == (150.0, 0.25, False)
    time = forecast(Work(50, 1000, 1.0, seconds_left=60.0), sites, NOW)
    assert time is not None
    assert time.seconds == 60.0


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    found = forecast(Work(90, 10, 1.0, pages_left=1000, seconds_left=9999.0), [Backlog("site", 10, 1.0)], NOW)
    assert found is not None
    assert found.seconds == 10.0


def test_levels_are_told_with_their_meaning() -> None:
    assert levels_of({"0": 3, "4": 20, "37": 8}) == (
        "new 0: 3, 4: 20; seen before 5: 8 (level: URLs; 0 is fetched first, 31 last)"
    )
    assert levels_of({}) == "–"
    assert "…" in levels_of({str(level): 1 for level in range(20)})
