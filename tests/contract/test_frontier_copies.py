"""A shape of URLs that brings nothing but copies is not followed for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontier_kit import LEASE, MAKERS, NAMES, Crew, Make, make_sql, page, pages, requeue_all

from gossamer.frontier.contract import Budgets
from gossamer.model.outcome import Outcome

SITE = "www.one.org"


@pytest.fixture(params=MAKERS, ids=NAMES)
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Crew:
    make: Make = request.param
    return Crew(make(tmp_path, Budgets(lease=LEASE, copies=5)))


def visited(crew: Crew, texts: list[str]) -> None:
    """Visit pages of one shape that have these texts."""
    crew.add(*pages(SITE, len(texts)))
    hand = crew.worker("hand")
    hand.take()
    for number, text in enumerate(texts):
        hand.did(f"https://{SITE}/{number}", content_hash=text)


def test_a_few_copies_close_nothing(crew: Crew) -> None:
    visited(crew, ["same"] * 6)
    assert crew.add(page(f"https://{SITE}/77")).new == 1, "five copies of one document are not twenty"


def test_a_shape_of_copies_is_closed(crew: Crew) -> None:
    visited(crew, ["same"] * 21)
    refused = crew.add(page(f"https://{SITE}/77"), page(f"https://{SITE}/other/77"))
    assert (refused.refused, refused.new) == (1, 1), "only the shape that copies is refused"


def test_a_shape_with_documents_among_its_copies_stays_open(crew: Crew) -> None:
    visited(crew, ["same"] * 21 + ["another", "third"])
    assert crew.add(page(f"https://{SITE}/77")).new == 1


STUB = "page-0123456789abcdef-0123456789abcdef0123456789abcdef"
"""The hash of a page with hardly any text (`dedup.short`)."""


def test_equal_pages_without_a_text_are_one_in_a_site_and_two_on_two_hosts(crew: Crew) -> None:
    urls = ["https://www.one.org/1", "https://www.one.org/2", "https://old.one.org/1"]
    crew.add(*map(page, urls))
    hand = crew.worker("hand")
    hand.take()
    verdicts = [hand.did(url, content_hash=STUB) for url in urls]
    assert [verdict.outcome.value for verdict in verdicts] == ["document", "duplicate", "document"]
    assert verdicts[1].target == urls[0]


def test_equal_texts_are_one_on_all_hosts_of_a_domain(crew: Crew) -> None:
    urls = ["https://www.one.org/1", "https://old.one.org/1"]
    crew.add(*map(page, urls))
    hand = crew.worker("hand")
    hand.take()
    assert [hand.did(url, content_hash="text").outcome.value for url in urls] == ["document", "duplicate"]


def test_a_stub_that_gets_a_text_leaves_its_place_to_its_copies(crew: Crew) -> None:
    first, second = "https://www.one.org/1", "https://www.one.org/2"
    crew.add(page(first), page(second))
    hand = crew.worker("hand")
    hand.take()
    hand.did(first, content_hash=STUB)
    assert hand.did(second, content_hash=STUB).target == first
    requeue_all(crew.frontier, [first], crew.now)
    assert hand.did(first, content_hash="text").outcome.value == "document"
    assert hand.did(second, content_hash=STUB).outcome.value == "document", "it was fetched again and is a page now"


def test_what_will_be_a_copy_is_foreseen_and_decided_only_in_the_report(tmp_path: Path) -> None:
    crew = Crew(make_sql(tmp_path, Budgets(lease=LEASE)))
    urls = [f"https://{SITE}/{name}" for name in ("first", "copy", "alias", "other", "lost")]
    crew.add(*map(page, urls))
    hand = crew.worker("hand")
    hand.take()
    tasks = {task.url: task for task in hand.tasks(*urls)}
    hand.did(urls[0], content_hash="text")
    gone = page(f"https://{SITE}/gone")
    crew.add(gone)
    hand.did(gone.url, Outcome.GONE)
    visits = [
        hand.visit(tasks[urls[1]], content_hash="text"),
        hand.visit(tasks[urls[2]], content_hash="its own", canonical=urls[0]),
        hand.visit(tasks[urls[3]], content_hash="another"),
        hand.visit(tasks[urls[4]], content_hash="a third", canonical=gone.url),
    ]
    assert crew.frontier.foresee(visits) == [True, True, False, False]
    assert [hand.report(visit)[0].outcome.value for visit in visits] == ["duplicate", "alias", "document", "document"]
