import pytest

from gossamer.clock import Clock
from gossamer.testing import FakeClock


def test_time_stands_still_until_it_is_moved():
    clock: Clock = FakeClock(100.0)
    assert clock.now() == clock.now() == 100.0


def test_advance_moves_time_and_returns_it():
    clock = FakeClock(100.0)
    assert clock.advance(7 * 86_400) == clock.now() == 100.0 + 7 * 86_400


def test_time_goes_back_only_on_purpose():
    clock = FakeClock(100.0)
    with pytest.raises(ValueError, match="cannot advance"):
        clock.advance(-1)
    clock.set(50.0)
    assert clock.now() == 50.0
