"""The measures give what one works out by hand, and obey their laws."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.evaluate.metrics import (
    Scores,
    average_precision,
    first_relevant,
    mean,
    ndcg,
    recall,
    reciprocal_rank,
    scores,
)

JUDGED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": -1}
RANKED = ["d", "a", "x", "c", "e"]


def test_ndcg_by_hand():
    # places 1 to 5 have grades 0, 3, -, 1, -1 (counts as 0):
    #   3 / log2(3) + 1 / log2(5) = 1.8928 + 0.4307 = 2.3235
    # the best order has grades 3, 2, 1:
    #   3 / log2(2) + 2 / log2(3) + 1 / log2(4) = 3 + 1.2619 + 0.5 = 4.7619
    assert ndcg(RANKED, JUDGED) == pytest.approx(2.3235 / 4.7619, abs=1e-4)
    # of the first two places: 3 / log2(3) = 1.8928; the best: 3 + 1.2619 = 4.2619
    assert ndcg(RANKED, JUDGED, 2) == pytest.approx(1.8928 / 4.2619, abs=1e-4)


def test_the_grade_itself_is_the_gain():
    # not 2^grade - 1: one document of grade 4 against one of grade 1, the better one second
    assert ndcg(["low", "high"], {"low": 1, "high": 4}) == pytest.approx((1 + 4 / log2(3)) / (4 + 1 / log2(3)))


def test_average_precision_by_hand():
    # three are relevant; `a` stands second (1 of 2), `c` fourth (2 of 4), `b` is missing: (1/2 + 2/4 + 0) / 3
    assert average_precision(RANKED, JUDGED) == pytest.approx(1 / 3)


def test_recall_by_hand():
    assert recall(RANKED, JUDGED) == pytest.approx(2 / 3)
    assert recall(RANKED, JUDGED, 3) == pytest.approx(1 / 3)


def test_reciprocal_rank_by_hand():
    assert reciprocal_rank(RANKED, JUDGED) == 0.5
    assert reciprocal_rank(["x", "d"], JUDGED) == 0.0
    assert first_relevant(RANKED, JUDGED) == 2
    assert first_relevant([], JUDGED) == 0


def test_a_document_ranked_twice_counts_once():
    assert scores(["a", "a", "b"], JUDGED) == scores(["a", "b"], JUDGED)


def test_queries_without_a_relevant_document_are_left_out_of_means_and_counted():
    assert scores(["a"], {"a": 0, "b": -1}) is None
    one, other = Scores(1.0, 0.5, 1.0, 1.0), Scores(0.5, 0.0, 0.0, 0.5)
    found = mean([one, None, other, None])
    assert found.scores == Scores(0.75, 0.25, 0.5, 0.75)
    assert (found.queries, found.left_out) == (2, 2)
    assert mean([]).queries == 0


DOCUMENTS = st.permutations("abcdefghij").flatmap(lambda all_: st.integers(0, 10).map(lambda n: all_[:n]))
GRADES = st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(-1, 4))
MEASURES = [ndcg, average_precision, recall, reciprocal_rank]


@pytest.mark.parametrize("measure", MEASURES)
@given(ranked=DOCUMENTS, grades=GRADES)
def test_every_measure_lies_between_0_and_1(measure, ranked, grades):
    assert 0 <= measure(ranked, grades) <= 1 + 1e-9


@pytest.mark.parametrize("measure", MEASURES)
@given(grades=GRADES.filter(lambda grades: max(grades.values(), default=0) > 0))
def test_the_best_order_has_1(measure, grades):
    assert measure(sorted(grades, key=lambda document: -grades[document]), grades) == pytest.approx(1)


@pytest.mark.parametrize("measure", MEASURES)
@given(ranked=DOCUMENTS.filter(lambda ranked: len(ranked) > 1), grades=GRADES, data=st.data())
def test_moving_a_better_document_up_never_hurts(measure, ranked, grades, data):
    place = data.draw(st.integers(1, len(ranked) - 1))
    moved = list(ranked)
    moved[place - 1], moved[place] = moved[place], moved[place - 1]
    if grades.get(ranked[place], 0) < grades.get(ranked[place - 1], 0):
        moved, ranked = ranked, moved
    assert measure(moved, grades) >= measure(ranked, grades) - 1e-9
