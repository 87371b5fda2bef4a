"""A run asks every judged query once, and two runs can be compared query by query."""

import pytest
from evaluate_kit import ANIMALS, SharedWords

from gossamer.evaluate.runs import differences, run, tally, trec_lines

WITH_TITLES = run("titles", SharedWords(ANIMALS.documents), ANIMALS)
TEXT_ONLY = run("text only", SharedWords(ANIMALS.documents, titles=False), ANIMALS)


def test_the_means_of_a_run_by_hand():
    # "quick fox": a (grade 2), c (1): perfect; "lazy cat": c before b: perfect; "dog": b; "horse" is left out
    assert WITH_TITLES.ranked == {"1": ["a", "c"], "2": ["c", "b"], "3": ["b"]}
    assert WITH_TITLES.mean.scores.ndcg == pytest.approx(1.0)
    assert (WITH_TITLES.mean.queries, WITH_TITLES.mean.left_out) == (3, 1)
    # without titles: query 1 the same; 2: b, c, so 1/log2(3) and 1/2; 3: nothing is found
    assert TEXT_ONLY.ranked == {"1": ["a", "c"], "2": ["b", "c"], "3": []}
    assert TEXT_ONLY.mean.scores.ndcg == pytest.approx((1 + 0.6309 + 0) / 3, abs=1e-4)
    assert TEXT_ONLY.mean.scores.average_precision == pytest.approx((1 + 0.5 + 0) / 3)
    assert TEXT_ONLY.mean.scores.reciprocal_rank == pytest.approx((1 + 0.5 + 0) / 3)
    assert TEXT_ONLY.mean.scores.recall == pytest.approx((1 + 1 + 0) / 3)


def test_queries_without_answers_are_not_asked():
    asked = []

    class Listening:
        def rank(self, query, limit):
            asked.append((query, limit))
            return []

    run("x", Listening(), ANIMALS, depth=7)
    assert asked == [("quick fox", 7), ("lazy cat", 7), ("dog", 7)]


def test_differences_come_the_greatest_first_and_equal_queries_not_at_all():
    found = differences(WITH_TITLES, TEXT_ONLY, ANIMALS, 10)
    assert [one.query for one in found] == ["3", "2"]
    dog, cat = found
    assert (dog.gain, dog.first_relevant, dog.first_relevant_against) == (1.0, 1, 0)
    assert (cat.text, cat.top, cat.top_against) == ("lazy cat", ["c", "b"], ["b", "c"])
    assert [one.gain for one in differences(TEXT_ONLY, WITH_TITLES, ANIMALS, 1)] == [-1.0]


def test_the_tally_counts_better_worse_and_equal():
    assert tally(WITH_TITLES, TEXT_ONLY) == (2, 0, 1)
    assert tally(TEXT_ONLY, WITH_TITLES) == (0, 2, 1)


def test_a_run_is_written_as_trec_eval_reads_it():
    assert list(trec_lines(TEXT_ONLY)) == [
        "1 Q0 a 1 2 text-only",
        "1 Q0 c 2 1 text-only",
        "2 Q0 b 1 2 text-only",
        "2 Q0 c 2 1 text-only",
    ]
