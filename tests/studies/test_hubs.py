from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[1] / "unit" / "graph"))
from graph_kit import graphs

from studies.hubs.hits import base_set, hits


class Links:
    """A list of links that can be asked."""

    def __init__(self, links):
        self.links = np.array(sorted(links, key=lambda link: link[::-1]), np.int64).reshape(-1, 2)

    def into(self, nodes):
        return self._where(1, nodes)

    def out_of(self, nodes):
        return self._where(0, nodes)

    def _where(self, side, nodes):
        found = self.links[np.isin(self.links[:, side], nodes)]
        return found[:, 0], found[:, 1]


def test_the_base_set_is_the_root_and_its_neighbours_but_not_theirs():
    links = Links([(1, 0), (0, 2), (3, 1), (2, 4)])
    assert base_set(links, [0]).tolist() == [0, 1, 2]


def test_a_popular_page_brings_no_more_than_the_cap():
    links = Links([(source, 0) for source in range(1, 200)] + [(7, 300), (200, 1)])
    assert len(base_set(links, [0, 300])) == 2 + 50
    assert base_set(links, [0], most_into=3).tolist() == [0, 1, 2, 3]


def test_the_page_that_hubs_agree_on_is_the_best_authority():
    # pages 0 to 3 are lists; all name 4, three name 5, one names 6
    links = [(hub, 4) for hub in range(4)] + [(hub, 5) for hub in range(3)] + [(0, 6)]
    found = hits(Links(links), [4, 5, 6])
    assert found.nodes.tolist() == list(range(7))
    assert found.authorities.argsort()[::-1][:3].tolist() == [4, 5, 6]
    assert found.hubs.argmax() == 0
    assert found.converged


def test_links_inside_a_site_are_left_out_on_demand():
    menu = [(1, 0), (2, 0), (3, 0)]
    links, site_of = Links([*menu, (4, 5), (6, 5)]), np.array([0, 0, 0, 0, 1, 2, 3])
    across = hits(links, [0, 5], site_of)
    assert across.nodes.tolist() == [0, 4, 5, 6]
    assert across.authorities.tolist() == [0, 0, 1, 0]
    assert hits(links, [0, 5]).nodes.tolist() == list(range(7))


@given(graphs(), st.data())
def test_values_are_those_of_the_eigenvector_with_the_largest_eigenvalue(graph, data):
    nodes, links = graph
    root = data.draw(st.sets(st.integers(0, nodes - 1), min_size=1))
    found = hits(Links(links), list(root), tolerance=1e-9, most_iterations=20_000)
    matrix = np.zeros((len(found.nodes), len(found.nodes)))
    for source, target in links:
        if source != target and source in found.nodes and target in found.nodes:
            matrix[np.searchsorted(found.nodes, source), np.searchsorted(found.nodes, target)] = 1
    if not matrix.any():
        assert not found.authorities.any()
        return
    assert np.isclose(found.authorities.sum(), 1.0)
    assert np.isclose(found.hubs.sum(), 1.0)
    if found.converged:
        product = matrix.T @ matrix @ found.authorities
        assert np.allclose(product, product.sum() * found.authorities, atol=1e-6)
        assert np.isclose(product.sum(), np.linalg.eigvalsh(matrix.T @ matrix).max(), atol=1e-4)


def test_a_root_without_links_has_neither_hubs_nor_authorities():
    found = hits(Links([]), [3, 1])
    assert found.nodes.tolist() == [1, 3]
    assert found.hubs.tolist() == found.authorities.tolist() == [0, 0]
    assert found.converged
