"""The memory of known URLs, with and without the depth at which they are known."""

from __future__ import annotations

import pytest

from gossamer.frontier.seen import SeenCache, sighting
from gossamer.model.site import key64, packed_keys

KEYS = [key64(f"https://a.test/{number}") for number in range(200)]


@pytest.fixture
def seen() -> SeenCache:
    return SeenCache(bits=16)


def test_a_key_without_depth_is_known_at_every_depth(seen: SeenCache) -> None:
    key = KEYS[0]
    assert not seen.knows(key, 0)
    seen.update([key])
    assert key in seen
    assert seen.knows(key, 0)
    assert seen.knows(key, 70_000)


@pytest.mark.parametrize("key", KEYS[:20])
def test_a_sighting_is_known_at_its_depth_and_deeper(seen: SeenCache, key: int) -> None:
    seen.update([sighting(key, 3)])
    assert [seen.knows(key, depth) for depth in range(6)] == [False, False, False, True, True, True]
    seen.update([sighting(key, 1)])
    assert seen.knows(key, 1)
    assert not seen.knows(KEYS[100], 1)


def test_what_is_forgotten_is_known_at_no_depth(seen: SeenCache) -> None:
    seen.update([sighting(key, 2) for key in KEYS[:5]])
    seen.discard(KEYS[:3])
    assert [seen.knows(key, 9) for key in KEYS[:5]] == [False] * 3 + [True] * 2


@pytest.mark.parametrize("depth", [0, 1, 3, 40])
def test_the_links_of_a_page_are_asked_for_at_once_with_the_same_answers(seen: SeenCache, depth: int) -> None:
    seen.update(KEYS[:50])
    seen.update([sighting(key, 2 + number % 5) for number, key in enumerate(KEYS[50:120])])
    asked = [*KEYS, -(2**63), 2**63 - 1, 0]
    expected = [(at, key) for at, key in enumerate(asked) if not seen.knows(key, depth)]
    assert seen.unknown(packed_keys(asked), depth) == expected
    assert seen.unknown(b"", depth) == []
