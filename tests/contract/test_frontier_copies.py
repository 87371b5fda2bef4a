"""A shape of URLs that brings nothing but copies is not followed for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontier_kit import LEASE, MAKERS, NAMES, Crew, Make, page, pages

from gossamer.frontier.contract import Budgets

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
