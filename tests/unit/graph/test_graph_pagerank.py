from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from graph_kit import arrays, graphs, solved, web
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph import pagerank
from gossamer.graph.pagerank import Rules, piece_cuts, rank, teleport_to

EXAMPLE = (3, [(0, 1), (0, 2), (1, 0)])
EXACT = Rules(tolerance=1e-13)


def seed_form(iterations):
    return Rules(form="paper", tolerance=0.0, most_iterations=iterations)


@pytest.mark.parametrize(
    ("iterations", "expected"), [(1, "1.000000 0.575000 0.575000"), (2, "0.638750 0.575000 0.575000")]
)
def test_the_worked_example_has_the_printed_values_after_one_and_two_iterations(iterations, expected):
    values = rank(*arrays(*EXAMPLE), seed_form(iterations)).values
    assert " ".join(f"{value:.6f}" for value in values) == expected


def test_the_worked_example_converges_to_the_fixed_point_of_its_equations():
    values = rank(*arrays(*EXAMPLE), Rules(form="paper", tolerance=1e-12)).values
    first = (0.15 + 0.85 * 0.15) / (1 - 0.85 * 0.85 / 2)  # a = .15 + .85 b, b = .15 + .85 a / 2
    second = 0.15 + 0.85 * first / 2
    assert np.allclose(values, [first, second, second], rtol=0, atol=1e-11)
    assert [f"{value:.6f}" for value in values] == ["0.434442", "0.334638", "0.334638"]


def test_the_printed_limit_is_the_tenth_iteration_not_the_fixed_point():
    printed = [0.437921, 0.338731, 0.338731]
    tenth = rank(*arrays(*EXAMPLE), seed_form(10)).values
    assert np.abs(tenth - printed).max() < 1.5e-6  # it kept six decimals between its steps
    for other in (8, 9, 11, 12, 100):
        assert np.abs(rank(*arrays(*EXAMPLE), seed_form(other)).values - printed).max() > 1e-3


@given(graphs())
def test_both_forms_are_the_solution_of_their_equations(graph):
    assert np.allclose(rank(*arrays(*graph), EXACT).values, solved(*graph), atol=1e-10)
    paper = rank(*arrays(*graph), Rules(form="paper", tolerance=1e-13)).values
    assert np.allclose(paper, solved(*graph, dangling=False), atol=1e-10)


@given(graphs(), st.data())
def test_personal_ranks_are_the_solution_with_that_teleport(graph, data):
    chosen = data.draw(st.sets(st.integers(0, graph[0] - 1), min_size=1))
    teleport = teleport_to(list(chosen), graph[0])
    assert np.allclose(rank(*arrays(*graph), EXACT, teleport=teleport).values, solved(*graph, teleport=teleport))


@given(graphs(), st.data(), st.sampled_from(["normalised", "paper"]), st.sampled_from([0.5, 0.85, 0.95]))
def test_every_positive_start_leads_to_the_same_ranks(graph, data, form, damping):
    start = data.draw(st.lists(st.floats(1e-6, 1e6), min_size=graph[0], max_size=graph[0]))
    rules = Rules(form=form, damping=damping, tolerance=1e-11, most_iterations=2000)
    cold, warm = rank(*arrays(*graph), rules), rank(*arrays(*graph), rules, start=start)
    assert cold.converged
    assert warm.converged
    apart = np.abs(cold.values - warm.values).mean()
    assert apart <= (cold.residual + warm.residual) * damping / (1 - damping) + 1e-12


@given(graphs(), st.integers(1, 40))
def test_the_residual_bounds_the_error(graph, iterations):
    found = rank(*arrays(*graph), Rules(tolerance=0.0, most_iterations=iterations))
    assert np.abs(found.values - solved(*graph)).mean() <= found.residual * 0.85 / 0.15 + 1e-12


@given(graphs(), st.floats(1e-9, 1e-2))
def test_the_mean_of_normalised_ranks_is_one(graph, tolerance):
    assert rank(*arrays(*graph), Rules(tolerance=tolerance)).values.mean() == pytest.approx(1.0, abs=1e-12)


def test_a_warm_restart_after_a_small_change_saves_iterations():
    links = web(3000, 8, seed=3)
    before = rank(*arrays(3000, links))
    changed = np.concatenate([links[30:], web(3000, 8, seed=4)[:30]])
    cold, warm = rank(*arrays(3000, changed)), rank(*arrays(3000, changed), start=before.values)
    assert np.abs(cold.values - warm.values).mean() <= 2 * pagerank.TOLERANCE * 0.85 / 0.15
    assert warm.iterations <= cold.iterations - 5


def test_what_has_converged_says_so_and_needs_one_more_iteration_to_see_it():
    graph = arrays(500, web(500, 5, seed=1))
    done = rank(*graph)
    assert done.converged
    assert done.residual <= pagerank.TOLERANCE
    assert rank(*graph, start=done.values).iterations == 1
    early = rank(*graph, Rules(most_iterations=3))
    assert (early.converged, early.iterations) == (False, 3)
    assert early.residual > pagerank.TOLERANCE


def test_threads_and_pieces_change_no_bit(monkeypatch):
    graph = arrays(2000, web(2000, 6, seed=2))
    monkeypatch.setattr(pagerank, "EDGES_OF_A_PIECE", 1000)
    alone = rank(*graph)
    with ThreadPoolExecutor(3) as threads:
        shared = rank(*graph, each=threads.map)
    assert shared.values.tobytes() == alone.values.tobytes()
    monkeypatch.undo()
    assert np.allclose(rank(*graph).values, alone.values, rtol=0, atol=1e-11)


@given(graphs(), st.integers(1, 10))
def test_pieces_cover_every_row_once(graph, edges):
    cuts = piece_cuts(arrays(*graph)[0], edges)
    assert cuts[0] == 0
    assert cuts[-1] == graph[0]
    assert cuts == sorted(set(cuts))


def test_every_iteration_is_told_with_its_residual():
    told = []
    found = rank(*arrays(*EXAMPLE), tell=lambda iteration, residual: told.append((iteration, residual)))
    assert [iteration for iteration, _ in told] == list(range(1, found.iterations + 1))
    assert told[-1][1] == found.residual


def test_a_graph_without_pages_has_no_ranks():
    assert rank(*arrays(0, [])).values.tolist() == []


@pytest.mark.parametrize("start", [[1.0, 1.0], [1.0, -1.0, 1.0], [1.0, float("nan"), 1.0], [0.0, 0.0, 0.0]])
def test_a_start_that_is_none_is_refused(start):
    with pytest.raises(ValueError, match="finite"):
        rank(*arrays(*EXAMPLE), start=start)


@pytest.mark.parametrize("wrong", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": -1.0}, {"most_iterations": 0}])
def test_rules_by_which_nothing_converges_are_refused(wrong):
    with pytest.raises(ValueError, match="damping is from 0"):
        Rules(**wrong)
