"""What clicks of readers do to the order of results: a little, explained, and never by one reader alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from searcher_kit import NOW, SmallIndex, page

from gossamer.errors import UsageError
from gossamer.model.site import key64
from gossamer.search.clicks.acting import NAME
from gossamer.search.clicks.drafting import Trial, drafted, sign_test
from gossamer.search.clicks.estimating import Sum, estimated
from gossamer.search.clicks.evidence import LEAST, PLACES, PRIOR, Chosen, Counted, Model, chosen, gain
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.ranking import RankingConfig
from gossamer.search.remembered import RememberingSearcher
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.settings import Settings
from gossamer.testing import FakeClock

CONFIG = RankingConfig()
TODAY = 20_000
PAGE = 1


def days(place: int = 1, opened: int = 5, shown: int = 8, count: int = 4, age: int = 0) -> list[Counted]:
    """The same counts on some days in a row, the last of them `age` days ago."""
    return [Counted(PAGE, TODAY - age - back, place, shown, opened) for back in range(count)]


def lift(rows: Sequence[Counted], config: RankingConfig = CONFIG, model: Model = PRIOR) -> float:
    found = chosen(rows, model, config, TODAY)
    return found[PAGE].lift if PAGE in found else 0.0


# -- what counts say ------------------------------------------------------------------------------


def test_a_page_that_many_readers_open_on_many_days_gains() -> None:
    found = chosen(days(place=5), PRIOR, CONFIG, TODAY)[PAGE]
    assert 0 < found.lift <= 1 and (found.readers, found.days) == (20, 4)
    assert "20 readers on 4 days" in found.detail


def test_as_many_clicks_further_down_are_worth_more() -> None:
    assert lift(days(place=8)) > lift(days(place=3)) > lift(days(place=1))


def test_as_many_clicks_of_fewer_who_saw_it_are_worth_more() -> None:
    assert lift(days(place=3, shown=8)) > lift(days(place=3, shown=30))


def test_a_page_that_is_opened_as_often_as_others_gains_nothing() -> None:
    rows = days(place=1, opened=6, shown=20)  # 0.3 of those who looked, as usual
    assert lift(rows) < 1e-9
    assert lift(days(place=1, opened=5, shown=20)) == 0.0


@pytest.mark.parametrize("rows", [
    days(place=8, opened=50, shown=50, count=2),      # two days
    days(place=8, opened=LEAST - 1, shown=50, count=80),  # two readers, every day
    days(place=8, opened=1, shown=1, count=90),       # one reader, every day
    days(place=8, opened=3, shown=3, count=3),        # nine readers
])  # fmt: skip
def test_too_few_readers_or_days_change_nothing(rows: list[Counted]) -> None:
    assert lift(rows) == 0.0


def test_the_thresholds_are_settings() -> None:
    rows = days(place=8, opened=3, shown=3, count=3)
    assert lift(rows, RankingConfig(clicks_readers=9)) > 0
    assert lift(days(place=8, count=2), RankingConfig(clicks_days=2)) > 0


def test_readers_of_one_day_count_together_wherever_they_saw_the_page() -> None:
    rows = [Counted(PAGE, TODAY - back, place, 4, 2) for back in range(3) for place in (4, 6)]
    assert lift(rows) > 0


def test_what_was_shown_on_days_that_do_not_count_was_shown_all_the_same() -> None:
    others = [Counted(PAGE, TODAY - back, 3, 10, 1) for back in range(10, 20)]
    assert lift(days(place=3) + others) < lift(days(place=3))


def test_clicks_fade() -> None:
    ages = [lift(days(place=5, age=age)) for age in (0, 30, 60, 300)]
    assert ages == sorted(ages, reverse=True) and ages[-1] < 0.02 < ages[0]
    assert lift(days(place=5, age=30), RankingConfig(clicks_half=5)) < ages[1]
    assert lift(days(place=5, age=1), RankingConfig(clicks_half=0)) == 0.0


COUNTS = st.builds(
    lambda day, place, opened, more: Counted(PAGE, day, place, opened + more, opened),
    st.integers(TODAY - 90, TODAY + 1), st.integers(1, 2 * PLACES), st.integers(0, 10_000), st.integers(0, 10_000),
)  # fmt: skip


@given(st.lists(COUNTS, max_size=40), st.floats(0, 1), st.floats(-50, 200_000))
def test_the_gain_is_a_bounded_share_whatever_was_counted(rows: list[Counted], weight: float, score: float) -> None:
    one = lift(rows)
    assert 0 <= one <= 1
    assert 0 <= gain(score, one, RankingConfig(clicks=weight)) <= max(score, 0) * weight


def test_shares_above_one_are_refused() -> None:
    for name in ("clicks", "clicks_trial"):
        with pytest.raises(UsageError, match=f"search.{name}"):
            Settings(search=RankingConfig(**{name: 1.5})).check()


# -- learning how readers look --------------------------------------------------------------------


def simulated(places: Sequence[float], queries: int, seed: int = 7, sorted_by: float = 1.0) -> list[Sum]:
    """Readers of a search engine that knows the attractiveness of pages more or less, and looks at places as given."""
    dice = np.random.default_rng(seed)
    sums = []
    for query in range(queries):
        attractive = dice.beta(1, 2.5, len(places))
        for _ in range(4):  # the order changes now and then
            order = np.argsort(-(sorted_by * attractive + dice.normal(0, 0.3, len(places))))
            for place, of in enumerate(order, 1):
                shown = int(dice.integers(5, 15))
                opened = int(dice.binomial(shown, attractive[of] * places[place - 1]))
                sums.append(Sum(query * 100 + int(of), query, place, shown, opened))
    return sums


def test_how_readers_look_is_learned_though_better_pages_stand_higher() -> None:
    truth = [1, 0.75, 0.6, 0.5, 0.42, 0.36, 0.3, 0.26, 0.23, 0.2]
    model = estimated(simulated(truth, 400))
    assert max(abs(one - two) for one, two in zip(model.places, truth, strict=True)) < 0.12
    assert 0.15 < model.usual < 0.45
    # Shares of clicks alone would say that nobody looks at the last places.
    counted = {place: [0, 0] for place in range(1, 11)}
    for one in simulated(truth, 400):
        counted[one.place][0] += one.opened
        counted[one.place][1] += one.shown
    naive = counted[10][0] / counted[10][1] / (counted[1][0] / counted[1][1])
    assert abs(model.places[9] - truth[9]) < abs(naive - truth[9])


def test_little_data_changes_little_and_none_nothing() -> None:
    assert estimated([]) == PRIOR
    few = estimated([Sum(1, 1, 1, 3, 0), Sum(2, 1, 8, 3, 3)])
    assert max(abs(one - two) for one, two in zip(few.places, PRIOR.places, strict=True)) < 0.05
    assert abs(few.usual - PRIOR.usual) < 0.02


@given(st.lists(st.builds(Sum, st.integers(0, 3), st.integers(0, 3), st.integers(1, 12), st.integers(0, 10**6),
                          st.integers(0, 10**6)), max_size=30))  # fmt: skip
def test_whatever_was_counted_is_a_model(sums: list[Sum]) -> None:
    model = estimated(sums)
    assert len(model.places) == PLACES and model.places[0] == 1
    assert all(0.05 <= one <= 1 for one in model.places) and 0 < model.usual < 1


# -- interleaving ---------------------------------------------------------------------------------

ORDERS = st.integers(1, 12).flatmap(lambda size: st.tuples(st.permutations(range(size)), st.permutations(range(size))))


@given(ORDERS, st.integers(1, 2**64 - 1))
def test_a_draft_has_every_page_once_and_is_fair(orders: tuple[list[int], list[int]], coins: int) -> None:
    one, other = orders
    order, teams = drafted(one, other, coins)
    assert sorted(order) == sorted(one)
    shared = next((at for at in range(len(one)) if one[at] != other[at]), len(one))
    assert order[:shared] == one[:shared] and set(teams) == set(order[shared:])
    for end in range(len(order) + 1):
        sizes = [sum(teams.get(key) == team for key in order[:end]) for team in ("with", "without")]
        assert abs(sizes[0] - sizes[1]) <= 1


def test_which_order_begins_is_chance() -> None:
    beginning = {drafted([1, 2, 3], [3, 2, 1], coins)[0][0] for coins in (0b0, 0b1)}
    assert beginning == {1, 3}


def test_the_sign_test_is_exact() -> None:
    assert sign_test(0, 0) == 1.0
    assert math.isclose(sign_test(9, 1), 2 * 11 / 1024)
    assert sign_test(5, 5) == 1.0
    assert sign_test(600, 400) < 1e-9
    assert sign_test(9, 1) == sign_test(1, 9)


def test_the_verdict_is_about_what_chance_cannot_explain() -> None:
    assert Trial(30, 10).verdict == "Clicks help."
    assert "search.clicks" in Trial(10, 30).verdict
    assert "chance" in Trial(6, 4).verdict
    assert "yet" in Trial(0, 0, 5).verdict


# -- at work --------------------------------------------------------------------------------------


class Said:
    """What readers chose, as a test says it."""

    def __init__(self, **lifts: float) -> None:
        self.known = {key64(f"http://site.test/{name}"): Chosen(lift, 12, 4, 2.0) for name, lift in lifts.items()}
        self.asked: list[str] = []

    def of(self, query: str, pages: Sequence[int]) -> Mapping[int, Chosen]:
        self.asked.append(query)
        return {key: self.known[key] for key in pages if key in self.known}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    pages = (page(f"/owl{n}", "The owl sleeps in a barn " + "and dreams " * n, f"Owl {n}") for n in range(12))
    index = SmallIndex(
        tmp_path_factory.mktemp("clicks") / "index", *pages, page("/mouse", "A mouse runs.", "Mouse"),
    )  # fmt: skip
    yield index
    index.writer.close()


def searcher(index: SmallIndex, said: Said | None, **config: object) -> Searcher:
    return Searcher(index.folder, RankingConfig(**config), index, FakeClock(NOW), choices=said)  # type: ignore[arg-type]  # settings of several types


def paths(one: Searcher, query: str = "owl", **more: object) -> list[str]:
    hits = one.search(Request(query=query, **more)).hits  # type: ignore[arg-type]  # values of several types
    return [hit.url.removeprefix("http://site.test/") for hit in hits]


def test_a_page_that_readers_choose_moves_up_and_none_comes_in(small: SmallIndex) -> None:
    before = paths(searcher(small, None), size=20)
    name = before[7]
    after = paths(searcher(small, Said(**{name: 1.0, "mouse": 1.0}), clicks=0.5), size=20)
    assert after.index(name) < before.index(name)
    assert sorted(after) == sorted(before) and "mouse" not in after
    assert [one for one in after if one != name] == [one for one in before if one != name]


def test_the_weight_of_the_settings_counts_and_zero_switches_it_off(small: SmallIndex) -> None:
    plain = {hit.url: hit.score for hit in searcher(small, None).search(Request(query="owl", size=20)).hits}
    for weight in (0.02, 0.1, 0.5):
        found = searcher(small, Said(owl3=1.0), clicks=weight).search(Request(query="owl", size=20))
        score = next(hit.score for hit in found.hits if hit.url.endswith("/owl3"))
        assert score == pytest.approx((1 + weight) * plain["http://site.test/owl3"])
    off = Said(owl3=1.0)
    assert paths(searcher(small, off, clicks=0)) == paths(searcher(small, None)) and off.asked == []


def test_other_orders_than_that_of_relevance_do_not_ask(small: SmallIndex) -> None:
    said = Said(owl3=1.0)
    paths(searcher(small, said), sort="date")
    paths(searcher(small, said), ranking="bm25")
    assert said.asked == []


def test_the_explanation_names_the_factor_and_adds_up(small: SmallIndex) -> None:
    one = searcher(small, Said(owl3=0.5))
    why = one.explain(Request(query="owl"), "http://site.test/owl3")
    factor = next(factor for factor in why.factors if factor.name == NAME)
    assert factor.value > 0 and "12 readers on 4 days" in factor.detail
    assert why.score == pytest.approx(sum(factor.value for factor in why.factors))
    hit = next(hit for hit in one.search(Request(query="owl", size=20)).hits if hit.url.endswith("/owl3"))
    assert why.score == pytest.approx(hit.score, rel=1e-5)
    other = one.explain(Request(query="owl"), "http://site.test/owl4")
    assert NAME not in [factor.name for factor in other.factors]
    assert not one.explain(Request(query="mouse"), "http://site.test/owl3").matches


def test_the_desk_has_the_last_word(small: SmallIndex) -> None:
    class Published:
        rules = Rules(read_desk(
            '[[best_bet]]\nqueries = "owl"\nurl = "http://site.test/owl9"\n[[hidden]]\nurl = "http://site.test/owl3"\n',
            "test",
        ), 1)  # fmt: skip

        def current(self) -> Rules:
            return self.rules

    after = paths(searcher(small, Said(owl3=1.0, owl2=1.0), clicks=1.0).under(Published()), size=20)
    assert after[:2] == ["owl9", "owl2"] and "owl3" not in after


def test_a_trial_interleaves_both_orders_for_good(small: SmallIndex) -> None:
    plain = paths(searcher(small, None), size=20)
    said = Said(**{plain[9]: 1.0, plain[7]: 0.9})
    one = searcher(small, said, clicks=1.0)
    moved = paths(one, size=20)
    assert moved[0] == plain[9]
    seen = set()
    for coins in range(1, 5):
        found = one.search(Request(query="owl", size=20, trial=coins)).hits
        teams = [hit.team for hit in found]
        assert sorted(hit.url for hit in found) == sorted(f"http://site.test/{name}" for name in plain)
        assert {"with", "without"} <= set(teams)
        halves = [one.search(Request(query="owl", size=6, page=page, trial=coins)).hits for page in (1, 2)]
        assert [hit.url for half in halves for hit in half] == [hit.url for hit in found]
        seen.add(found[0].url)
    assert len(seen) == 2
    assert all(not hit.team for hit in one.search(Request(query="owl")).hits)
    assert all(not hit.team for hit in searcher(small, None).search(Request(query="owl", trial=1)).hits)


def test_a_second_attempt_is_moved_by_the_clicks_on_its_own_query(small: SmallIndex) -> None:
    said = Said()
    found = searcher(small, said).search(Request(query="owk"))
    assert found.attempt is not None and said.asked == [found.attempt.query]


def test_answers_that_are_given_again_are_moved_as_well(small: SmallIndex) -> None:
    one = RememberingSearcher(small.folder, RankingConfig(clicks=1.0), small, FakeClock(NOW), choices=Said(owl9=1.0))
    assert paths(one) == paths(one) and paths(one)[0] == "owl9"


def test_a_model_survives_being_written_down() -> None:
    model = Model((1.0, *[0.5] * 9), 0.2)
    assert msgspec.json.decode(msgspec.json.encode(model), type=Model) == model
