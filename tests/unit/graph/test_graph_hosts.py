from __future__ import annotations

import numpy as np
from graph_kit import arrays, graphs, solved
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph.hosts import rank_sites, site_links, votes
from gossamer.graph.pagerank import Rules


def weights(nodes, links, site_of, sites):
    indptr, sources, _ = arrays(nodes, links)
    return site_links(votes(0, indptr, sources, np.array(site_of), sites), np.array(site_of), sites).toarray()


def test_a_page_has_one_vote_for_a_site_however_many_of_its_pages_it_links_to():
    # pages 0 and 1 of site 0; page 2 of site 1; pages 3 to 5 of site 2
    links = [(0, 2), (1, 2), (0, 3), (0, 4), (0, 5), (3, 4), (2, 2)]
    assert weights(6, links, [0, 0, 1, 2, 2, 2], 3).tolist() == [[0, 0, 0], [2, 0, 0], [1, 0, 0]]


@given(graphs(), st.data())
def test_weights_are_the_pages_that_link_to_another_site(graph, data):
    nodes, links = graph
    site_of = data.draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes))
    pairs = {(source, site_of[target]) for source, target in links if site_of[source] != site_of[target]}
    wanted = np.zeros((4, 4))
    for source, to in pairs:
        wanted[to, site_of[source]] += 1
    assert (weights(nodes, links, site_of, 4) == wanted).all()


@given(graphs(), st.data())
def test_votes_of_several_runs_of_pages_make_the_same_set(graph, data):
    nodes, links = graph
    site_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes)))
    cut = data.draw(st.integers(0, nodes))
    indptr, sources, _ = arrays(nodes, links)
    low = votes(0, indptr[: cut + 1], sources[: indptr[cut]], site_of, 4)
    high = votes(cut, indptr[cut:] - indptr[cut], sources[indptr[cut] :], site_of, 4)
    assert np.unique(np.concatenate([low, high])).tolist() == votes(0, indptr, sources, site_of, 4).tolist()


def test_a_site_passes_its_rank_on_in_proportion_to_the_votes():
    # site 0 has three pages for site 1 and one for site 2: what they get from it is as 3 to 1
    links = [(0, 4), (1, 4), (2, 4), (3, 5)]
    ranks = rank_sites(site_links_of(6, links, [0, 0, 0, 0, 1, 2], 3), Rules(tolerance=1e-12)).values
    floor = ranks[0]  # what a site has to which nobody links
    assert np.isclose((ranks[1] - floor) / (ranks[2] - floor), 3.0)
    assert np.isclose(ranks.mean(), 1.0)


@given(graphs())
def test_when_every_page_is_a_site_of_its_own_sites_rank_like_pages(graph):
    nodes, links = graph
    found = rank_sites(site_links_of(nodes, links, range(nodes), nodes), Rules(tolerance=1e-13))
    assert np.allclose(found.values, solved(nodes, links), atol=1e-10)


def site_links_of(nodes, links, site_of, sites):
    indptr, sources, _ = arrays(nodes, links)
    numbers = np.array(list(site_of))
    return site_links(votes(0, indptr, sources, numbers, sites), numbers, sites)
