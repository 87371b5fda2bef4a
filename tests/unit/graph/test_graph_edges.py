from __future__ import annotations

import numpy as np
from graph_kit import arrays, graphs
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph.edges import distinct, link_matrix


@given(graphs())
def test_each_link_between_two_pages_counts_once(graph):
    nodes, links = graph
    indptr, sources, out = arrays(nodes, links)
    found = [
        (int(source), target) for target in range(nodes) for source in sources[indptr[target] : indptr[target + 1]]
    ]
    wanted = sorted({link for link in links if link[0] != link[1]}, key=lambda link: (link[1], link[0]))
    assert found == wanted
    assert out.tolist() == [sum(source == node for source, _ in wanted) for node in range(nodes)]


def test_matrices_copy_no_links_and_may_share_their_ones():
    indptr, sources, _ = arrays(3, [(0, 1), (0, 2), (1, 0)])
    ones = np.ones(100)
    shared = link_matrix(indptr, sources, 3, ones)
    assert np.shares_memory(shared.data, ones)
    assert np.shares_memory(shared.indices, sources)
    assert (shared.toarray() == link_matrix(indptr, sources, 3).toarray()).all()


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)))
def test_distinct_values_are_a_sorted_set(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))
