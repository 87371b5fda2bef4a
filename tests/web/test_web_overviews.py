"""The overview of the start page: computed aside, kept while the index stays the same, and never in a reader's way."""

from __future__ import annotations

import threading

from web_kit import PATIENCE, MemoryService

from gossamer.errors import CorruptError
from gossamer.search.results import IndexState, Overview
from gossamer.web.overviews import SHORTEST_REST, Overviews


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Slow(MemoryService):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.begun = threading.Event(), threading.Event()

    def overview(self) -> Overview:
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        return super().overview()


def state(position: int) -> IndexState:
    return IndexState(documents=3, segments=1, position=position, committed_at=1.0, generation="g1")


def settled(overviews: Overviews) -> None:
    """Wait for what is being computed."""
    if overviews._running is not None:
        overviews._running.join(PATIENCE)


def test_an_index_that_changed_is_looked_at_again_after_a_rest() -> None:
    service, clock = MemoryService(), Clock()
    overviews = Overviews(service, clock)
    assert overviews.current(state(1)).known_sites == 11
    overviews.current(state(2))  # too early
    assert service.overviews == 1
    clock.at += SHORTEST_REST
    overviews.current(state(1))  # the same
    assert service.overviews == 1
    overviews.current(state(2))
    settled(overviews)
    assert service.overviews == 2


def test_readers_get_the_last_overview_while_the_next_is_computed() -> None:
    service, clock = Slow(), Clock()
    overviews = Overviews(service, clock)
    service.gate.set()
    first = overviews.current(state(1))
    service.gate.clear()
    service.begun.clear()
    clock.at += SHORTEST_REST
    try:
        assert overviews.current(state(2)) is first
        assert service.begun.wait(PATIENCE)
        assert overviews.current(state(3)) is first
        assert service.overviews == 1
    finally:
        service.gate.set()
    settled(overviews)
    assert service.overviews == 2


def test_an_index_that_fails_leaves_the_last_overview() -> None:
    service, clock = MemoryService(), Clock()
    overviews = Overviews(service, clock)
    first = overviews.current(state(1))
    clock.at += SHORTEST_REST
    service.broken = CorruptError("the index is damaged")
    overviews.current(state(2))
    settled(overviews)
    service.broken = None
    clock.at += SHORTEST_REST
    assert overviews.current(state(2)) is first
    settled(overviews)
    assert service.overviews == 2
