"""Simulated crawls keep the promises of live ones, on virtual time, and the same way every time."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from msgspec.structs import replace

from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.lab.simulation import simulator
from gossamer.lab.simulation.simulator import Simulated, simulate
from gossamer.lab.simulation.virtual_time import VirtualClock, run_virtually
from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import Facts, RecordedWeb
from gossamer.model.outcome import Outcome
from gossamer.model.site import host_of, site_of
from gossamer.settings import Settings
from studies.one_pass import one_pass
from studies.webs.made_up.news import news_web

START = 1_800_000_000.0
HOUR = 3600.0


def small_web(links: list[list[int]], site: str = "http://a.test", **columns: object) -> RecordedWeb:
    urls = [f"{site}/" if n == 0 else f"{site}/page-{n}" for n in range(len(links))]
    facts = Facts("small", START, START + HOUR, [0])
    hashes = {"text_hash": [f"text {n}" for n in range(len(links))], **columns}
    return RecordedWeb(facts, urls, answer=["document"] * len(urls), links=ragged(links, np.int64), **hashes)


def watching(settings: Settings) -> Settings:
    return replace(settings, crawl=replace(settings.crawl, watch=True))


def times_by(key: object, done: Simulated) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for at, url in done.requests:
        found.setdefault(key(url), []).append(at)
    return found


def test_waiting_takes_no_time_and_the_clock_shows_it_passed() -> None:
    async def a_week() -> float:
        clock = VirtualClock(asyncio.get_running_loop(), START)
        await asyncio.sleep(7 * 24 * HOUR)
        return clock.now()

    assert run_virtually(a_week()) == START + 7 * 24 * HOUR


def test_waiting_for_what_never_happens_is_an_error() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="never happens"):
        run_virtually(forever())


def test_the_same_crawl_twice_makes_the_same_requests_at_the_same_times() -> None:
    web = news_web(3, 0.2, seed=4)
    settings = watching(Settings())
    settings = replace(settings, scope=one_pass(web, "breadth").scope)
    first, second = (simulate(web, settings, seconds=4 * HOUR, seed=7) for _ in range(2))
    assert first.requests == second.requests
    assert first.outcome == second.outcome
    assert len(first.requests) > 100


def test_a_site_and_an_address_are_asked_no_faster_than_the_delay_allows() -> None:
    web = news_web(12, 0.0, seed=2, archive=5)
    shared = {web.facts.addresses.get(host_of(site_of(web.urls[row])), "") for row in web.facts.seeds}
    assert shared != {""}, "some sites of this web share an address"
    done = simulate(web, one_pass(web, "breadth", delay=3.0), pages=300)

    def address(url: str) -> str:
        host = host_of(site_of(url))
        return web.facts.addresses.get(host, host)

    for key in (site_of, address):
        for moments in times_by(key, done).values():
            assert all(later - earlier >= 3.0 - 1e-6 for earlier, later in pairwise(moments))


def test_robots_txt_is_asked_first_and_heeded() -> None:
    web = small_web([[1, 2], [], []])
    web.facts = replace(web.facts, robots={"http://a.test": b"User-agent: *\nDisallow: /page-2\nCrawl-delay: 20\n"})
    done = simulate(web, one_pass(web, "breadth"))
    assert [url for _, url in done.requests] == ["http://a.test/robots.txt", "http://a.test/", "http://a.test/page-1"]
    assert done.requests[2][0] - done.requests[1][0] >= 20.0


def test_a_crawl_ends_after_the_pages_or_the_time_it_was_given() -> None:
    web = small_web([[n + 1] if n < 49 else [] for n in range(50)])
    assert len(simulate(web, one_pass(web, "breadth"), pages=10).row) == 10
    done = simulate(web, one_pass(web, "breadth"), seconds=20.0)
    assert 5 < len(done.row) < 25
    assert done.ended_at - done.started_at < 30.0


def test_a_chore_that_fails_ends_the_crawl_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(simulator, "run_filters", fail)
    web = small_web([[1], []])
    settings = watching(one_pass(web, "breadth", filters=True))
    with pytest.raises(OSError, match="the disk is gone"):
        simulate(web, settings)


def test_copies_errors_and_what_was_never_recorded_come_out_as_in_a_live_crawl() -> None:
    web = small_web([[1, 2, 3, 4], [], [], [], []], text_hash=["start", "same", "same", "", ""])
    web.answer[3], web.status[3] = "gone", 404
    web.answer[4] = ""
    done = simulate(web, one_pass(web, "breadth"))
    outcomes = dict(zip(done.row.tolist(), done.outcome, strict=True))
    assert outcomes == {
        0: Outcome.DOCUMENT, 1: Outcome.DOCUMENT, 2: Outcome.DUPLICATE, 3: Outcome.GONE, 4: Outcome.GONE
    }  # fmt: skip


def test_a_web_of_several_sites_is_crawled_from_one_seed_and_sites_without_an_answer_are_left_alone() -> None:
    web = small_web([[1, 2], [3], [], []])
    web.urls[1], web.urls[2], web.urls[3] = "http://b.test/", "http://outside.test/", "http://b.test/more"
    web.answer[2] = ""
    done = simulate(web, one_pass(web, "breadth"))
    assert sorted(done.row.tolist()) == [0, 1, 3]


def test_a_redirect_that_led_out_of_the_crawl_is_a_redirect_and_no_error() -> None:
    web = small_web([[1, 2], [], []])
    for row, status in ((1, 301), (2, 200)):  # said by the server, and by the page itself
        web.answer[row], web.status[row] = "redirect", status
    done = simulate(web, one_pass(web, "breadth"))
    assert [outcome.value for outcome in done.outcome] == ["document", "redirect", "redirect"]
    assert [url for _, url in done.requests if "a.test" not in url] == []


@pytest.mark.parametrize(("method", "joined"), [("minhash", 1), ("simhash", 1), ("none", 0)])
def test_near_duplicates_find_each_other_unless_the_settings_want_none_found(method: str, joined: int) -> None:
    text = " ".join(f"The sentence with number {n} says something else than the others do." for n in range(60))
    prints = [near_method(DEFAULT).fingerprint(one) for one in ("", text, text + " And one word more.")]
    web = small_web([[1, 2], [], []], fingerprint=prints)
    usual, found = one_pass(web, "breadth"), []
    simulate(
        web, replace(usual, dedup=replace(usual.dedup, near=method)),
        at_end=lambda db: found.extend(db.execute("SELECT url FROM urls WHERE joined <> 0")),
    )  # fmt: skip
    assert len(found) == joined


def test_a_page_is_not_found_before_it_is_born_and_a_change_is_seen_when_it_is_visited_again() -> None:
    births = np.array([-np.inf, START + 2 * HOUR, -np.inf])
    changes = ragged([[START + 2 * HOUR], [], [START + 3 * HOUR]], np.float64)
    web = small_web([[1, 2], [], []], born=births, changes=changes)
    settings = watching(Settings())
    settings = replace(
        settings, revisit=replace(settings.revisit, every=1800.0, floor=600.0),
        feeds=replace(settings.feeds, floor=600.0, per_day=100.0),
    )  # fmt: skip
    done = simulate(web, settings, seconds=8 * HOUR)
    first = float(done.at[done.row == 1].min())
    assert START + 2 * HOUR < first < START + 8 * HOUR
    assert done.again[done.row == 2].sum() >= 2
    assert not done.again[done.row == 2][0]


def test_a_strategy_decides_what_comes_first() -> None:
    web = news_web(2, 0.0, seed=3)
    plain, fitted = (simulate(web, one_pass(web, name)) for name in ("breadth", "fit * breadth"))
    assert sorted(plain.row.tolist()) == sorted(fitted.row.tolist())
    tenth = len(plain.row) // 10
    assert web.useful[fitted.row[:tenth]].sum() > 2 * web.useful[plain.row[:tenth]].sum()


def test_a_site_in_parts_is_crawled_by_the_live_plan_and_no_page_twice() -> None:
    web = small_web([list(range(1, 400)), *([] for _ in range(399))])
    whole = one_pass(web, "breadth")
    split = replace(whole, partition=replace(whole.partition, mode="sites", sites=("a.test",), most_parts=2))
    alone, together = simulate(web, whole), simulate(web, split)
    assert len(set(together.row.tolist())) == len(together.row) == 400
    assert together.ended_at - together.started_at < 0.65 * (alone.ended_at - alone.started_at)
