"""Small graphs, and their ranks by solving the equations."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gossamer.graph.edges import links_by_target, out_degrees


@st.composite
def graphs(draw, most_nodes=12):
    """Number of nodes and a list of links, some of them repeated or to the page itself."""
    nodes = draw(st.integers(1, most_nodes))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=4 * nodes))


def arrays(nodes, links):
    """The three arrays that `rank` takes."""
    pairs = np.array(links, np.int64).reshape(-1, 2)
    indptr, sources = links_by_target(pairs[:, 0], pairs[:, 1], nodes)
    return indptr, sources, out_degrees(sources, nodes)


def web(nodes, degree, seed):
    """A random graph: most links lead to a page near by, some to popular ones; a fifth of the pages has no links."""
    rng = np.random.default_rng(seed)
    count = nodes * degree
    sources = rng.integers(0, nodes, count) // 5 * 5 + rng.integers(0, 4, count)
    near = (sources + rng.integers(-8, 9, count)) % nodes
    popular = (nodes * rng.power(0.3, count)).astype(np.int64)
    return np.stack([np.minimum(sources, nodes - 1), np.where(rng.random(count) < 0.95, near, popular)], axis=1)


def solved(nodes, links, damping=0.85, teleport=None, dangling=True):
    """The exact ranks: the equations of the definition, solved as such."""
    to = np.ones(nodes) if teleport is None else np.asarray(teleport, float) * nodes / np.sum(teleport)
    passes = np.zeros((nodes, nodes))
    for source, target in {link for link in links if link[0] != link[1]}:
        passes[target, source] = 1.0
    out = passes.sum(axis=0)
    passes /= np.maximum(out, 1)
    if dangling:
        passes[:, out == 0] = (to / nodes)[:, None]
    return np.linalg.solve(np.eye(nodes) - damping * passes, (1 - damping) * to)
