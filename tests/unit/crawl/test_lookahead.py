"""Downloads stay close to the commits, however fast or slow both are."""

from gossamer.crawl.lookahead import LEAST, SECONDS, SHARE, LookAhead
from gossamer.testing import FakeClock


def crawl(ahead: LookAhead, clock: FakeClock, *, seconds: float, rate: float, took: float = 0.01) -> None:
    """Commits twice a second what a crawl of that rate fetches."""
    for _ in range(int(seconds * 2)):
        ahead.committed(int(rate / 2), took, clock.advance(0.5))


def test_a_worker_that_has_committed_nothing_may_begin() -> None:
    ahead = LookAhead(FakeClock().now())
    assert ahead.pages == LEAST
    assert 0 < ahead.batch < LEAST


def test_a_long_crawl_is_one_second_ahead() -> None:
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    crawl(ahead, clock, seconds=60, rate=200)
    assert ahead.pages == 200 * SECONDS


def test_a_young_crawl_risks_no_larger_share_of_its_work() -> None:
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    crawl(ahead, clock, seconds=4, rate=200)
    assert ahead.pages == 800 * SHARE


def test_a_crawl_that_becomes_slow_is_fewer_pages_ahead() -> None:
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    crawl(ahead, clock, seconds=60, rate=200)
    crawl(ahead, clock, seconds=5, rate=40)
    assert ahead.pages == 40 * SECONDS


def test_a_slow_site_is_never_held_up() -> None:
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    crawl(ahead, clock, seconds=600, rate=2)
    assert ahead.pages == LEAST


def test_slow_commits_do_not_make_the_crawl_slow() -> None:
    """Four commits a second and a half each keep ahead what was fetched in three seconds."""
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    for _ in range(4):
        ahead.committed(150, 1.5, clock.advance(1.5))
    assert ahead.pages == 100 * 3


def test_pages_are_fetched_while_others_are_committed() -> None:
    clock = FakeClock()
    ahead = LookAhead(clock.now())
    for _ in range(100):
        assert 0 < ahead.near < ahead.batch < ahead.pages
        ahead.committed(ahead.batch, 0.01, clock.advance(0.1))


def test_two_commits_at_one_instant_are_no_error() -> None:
    ahead = LookAhead(FakeClock().now())
    ahead.committed(5, 0.0, FakeClock().now())
    ahead.committed(5, 0.0, FakeClock().now())
    assert ahead.pages == LEAST
