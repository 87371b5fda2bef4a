"""A canonical link counts unless the page that it names has clearly another text, whichever of the two comes first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frontier_kit import LEASE, MAKERS, NAMES, SQL_MAKERS, Crew, Hand, Make, page, prints, requeue_all

from gossamer.frontier.contract import Budgets, Verdict
from gossamer.frontier.copies.canonicals import LONG
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

START, GERMAN, FRENCH = "https://one.org/", "https://one.org/de", "https://one.org/fr"


@pytest.fixture(params=MAKERS, ids=NAMES)
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Crew:
    make: Make = request.param
    return Crew(make(tmp_path, Budgets(lease=LEASE, copies=1000)))


def started(crew: Crew, *urls: str) -> Hand:
    crew.add(*(page(url) for url in urls))
    hand = crew.worker("hand")
    hand.take()
    return hand


def read(hand: Hand, url: str, text: str, canonical: str = "", characters: int | None = None) -> Verdict:
    hand.crew.wait(1)
    found = [page(canonical)] if canonical else []
    return hand.did(
        url, content_hash=text, canonical=canonical, found=found, characters=characters, **prints(text)
    )  # fmt: skip


def queued(hand: Hand) -> list[str]:
    """The URLs that the worker gets next."""
    return [task.url for task in hand.refill("one.org")]


def waiting(crew: Crew, url: str) -> bool:
    """Whether the fingerprint of a page waits for the page that it names."""
    frontier = crew.frontier
    if not isinstance(frontier, SqlFrontier):
        return url in frontier._waiting
    return bool(frontier.db.execute("SELECT 1 FROM clusters WHERE id = ? AND pages = 0", (key64(url),)))


def test_a_page_is_no_alias_of_one_with_another_text(crew: Crew) -> None:
    hand = started(crew, START, GERMAN)
    read(hand, START, "t1")
    assert read(hand, GERMAN, "t2", canonical=START).outcome is Outcome.DOCUMENT


@pytest.mark.parametrize("text", ["t1", "t1b", "short"])
def test_a_page_is_an_alias_of_one_with_the_same_text_or_nearly_or_if_it_has_hardly_any(crew: Crew, text: str) -> None:
    hand = started(crew, START, GERMAN)
    read(hand, START, "t1")
    assert read(hand, GERMAN, text, canonical=START) == Verdict(Outcome.ALIAS, START)


@pytest.mark.parametrize(("characters", "outcome"), [(LONG, Outcome.DOCUMENT), (LONG - 1, Outcome.ALIAS)])
def test_a_page_with_hardly_any_text_does_not_represent_a_long_one(
    tmp_path: Path, characters: int, outcome: Outcome
) -> None:
    crew = Crew(MAKERS[-1](tmp_path, Budgets(lease=LEASE)))
    hand = started(crew, START, GERMAN)
    read(hand, START, "short")
    assert read(hand, GERMAN, "t1", canonical=START, characters=characters).outcome is outcome


def test_both_in_one_batch_are_compared_at_once(crew: Crew) -> None:
    hand = started(crew, START, GERMAN, FRENCH)
    german, french, start = hand.tasks(GERMAN, FRENCH, START)
    visits = [hand.read(german, "t1b"), hand.read(french, "t2"), hand.read(start, "t1")]
    visits[0].canonical = visits[1].canonical = START
    assert [verdict.outcome for verdict in hand.report(*visits)] == [Outcome.ALIAS, Outcome.DOCUMENT, Outcome.DOCUMENT]


def test_a_page_with_another_text_is_fetched_again_once_the_page_it_names_is_known(crew: Crew) -> None:
    hand = started(crew, GERMAN, FRENCH)
    assert read(hand, GERMAN, "t2", canonical=START) == Verdict(Outcome.ALIAS, START)
    assert read(hand, FRENCH, "t1b", canonical=START) == Verdict(Outcome.ALIAS, START)
    assert waiting(crew, GERMAN) and waiting(crew, FRENCH)
    read(hand, START, "t1")
    assert not waiting(crew, GERMAN) and not waiting(crew, FRENCH)
    assert queued(hand) == [GERMAN]
    assert read(hand, GERMAN, "t2", canonical=START).outcome is Outcome.DOCUMENT


def test_the_text_waits_behind_a_redirect(crew: Crew) -> None:
    end = "https://one.org/home"
    hand = started(crew, GERMAN)
    read(hand, GERMAN, "t2", canonical=START)
    hand.did(START, Outcome.REDIRECT, target=end, found=[page(end)])
    read(hand, end, "t1")
    assert queued(hand) == [GERMAN]


def test_a_page_that_lost_its_canonical_link_waits_for_nothing(crew: Crew) -> None:
    hand = started(crew, GERMAN)
    read(hand, GERMAN, "t2", canonical=START)
    requeue_all(crew.frontier, [GERMAN], crew.now)
    assert read(hand, GERMAN, "t2").outcome is Outcome.DOCUMENT
    assert not waiting(crew, GERMAN)
    read(hand, START, "t1")
    assert queued(hand) == []


@pytest.mark.parametrize("make", SQL_MAKERS, ids=NAMES[1:])
def test_nothing_of_a_page_that_is_taken_down_waits(tmp_path: Path, make: Callable[..., SqlFrontier]) -> None:
    crew = Crew(make(tmp_path, Budgets(lease=LEASE)))
    hand = started(crew, GERMAN)
    read(hand, GERMAN, "t2", canonical=START)
    assert waiting(crew, GERMAN)
    assert isinstance(crew.frontier, SqlFrontier)
    operate.remove(crew.frontier.db, "=" + GERMAN, "asked for", crew.now)
    assert not waiting(crew, GERMAN)
