"""PageRank of a stored graph, on any engine.

On the cores of this machine it is computed in this process: the links are mapped files, threads share one vector of
ranks, and no file is written before the result. Processes would need a vector each, and the way through files. A graph
in one block is always computed so.

On other machines each iteration is a stage with a task per block. The ranks lie in one file per block and iteration:
a task reads them all, computes its block from its links, writes its file, and returns how much changed and what its
pages without links hold. Both ways cut blocks into the same pieces and add up exactly, so the result is the same to the
last bit wherever it was computed.

A task that is run twice writes the same bytes. Files are kept for one more iteration than needed, for a task
that is still on its way, and all of them are deleted in the end.
"""

from __future__ import annotations

import itertools
import math
import os
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.engine.contract import Engine, collect
from gossamer.errors import UsageError
from gossamer.graph.edges import distinct
from gossamer.graph.hosts import rank_sites, site_links, votes
from gossamer.graph.pagerank import Ranked, Rules, Tell, first_ranks, iterate, proportional, teleport_to
from gossamer.jobs.graph_files import GraphFiles, RankFiles, RankInfo, read_array, write_array, write_ranks
from gossamer.jobs.rank_steps import Step, advance, count_votes, pieces_of_block, read_slice, slice_name, votes_name
from gossamer.model.site import key64
from gossamer.store.place import Place

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OF_THIS_MACHINE = frozenset({"inline", "local"})
"""Engines whose tasks would run on this machine."""
NEW_PAGE = 0.15
"""Start value of a page that has no earlier rank: the least there is; most new pages have few links to them."""
_LEAST = 1e-9
"""Least start value of a page: a personalised rank may be 0, and a start of nothing but zeros leads nowhere."""
_PAGES_AT_ONCE = 4_000_000
"""Pages whose votes for sites are merged at a time."""


def rank_graph(
    engine: Engine,
    place: Place,
    prefix: str,
    generation: str,
    made_at: float,
    rules: Rules | None = None,
    *,
    seeds: Sequence[str] = (),
    earlier: RankFiles | None = None,
    tell: Tell | None = None,
) -> RankFiles:
    """Rank the pages and sites of a graph, and make these ranks the current ones.

    With `seeds` (canonical URLs) a reader who follows no link goes back to these; `earlier` ranks save iterations.
    """
    rules = rules or Rules()
    graph = GraphFiles(place, prefix)
    chosen = _nodes_of(graph, seeds)
    teleport = None if chosen is None else teleport_to(chosen, graph.info.nodes)
    start = None if earlier is None else warm_start(graph.keys(), earlier)
    pages = page_ranks(engine, graph, rules, teleport=teleport, start=start, tell=tell)
    hosts = host_ranks(engine, graph, rules, chosen)
    info = RankInfo(
        form=rules.form,
        damping=rules.damping,
        tolerance=rules.tolerance,
        iterations=pages.iterations,
        residual=pages.residual,
        converged=pages.converged,
        pages=graph.info.nodes,
        made_at=made_at,
        warm=earlier is not None,
        graph=graph.prefix,
    )
    values = proportional(pages.values) if len(pages.values) else pages.values
    return write_ranks(place, generation, info, graph.keys(), values, hosts)


def page_ranks(
    engine: Engine,
    graph: GraphFiles,
    rules: Rules,
    *,
    teleport: Floats | None = None,
    start: Floats | None = None,
    tell: Tell | None = None,
) -> Ranked:
    """The ranks of a graph's pages."""
    if engine.name not in _OF_THIS_MACHINE and len(graph.info.blocks) > 1:
        return _by_tasks(engine, graph, rules, teleport, start, tell)
    to = None if teleport is None else proportional(teleport)
    pieces = [piece for number in range(len(graph.info.blocks)) for piece in pieces_of_block(graph, number, to)]
    workers = min(engine.workers, len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(workers) as threads:
        each = threads.map if workers > 1 else map
        return iterate(pieces, np.maximum(graph.out(), 1), rules, start, each, tell)


def host_ranks(engine: Engine, graph: GraphFiles, rules: Rules, chosen: Ints | None = None) -> dict[str, float]:
    """The rank of each site; with `chosen` pages, by a reader who goes back to their sites."""
    names, site_of = graph.sites(), graph.site_numbers()
    if not names:
        return {}
    if len(graph.info.blocks) > 1:
        weights = _site_links_by_blocks(engine, graph)
    else:
        block = graph.block(0)
        weights = site_links(votes(0, block.indptr, block.sources, site_of, len(names)), site_of, len(names))
    teleport = None if chosen is None else teleport_to(site_of[chosen], len(names))
    # sites are few and their ranks printed: the papers' form would only lose what flows into sites without links
    ranked = rank_sites(weights, msgspec.structs.replace(rules, form="normalised"), teleport=teleport)
    return dict(zip(names, ranked.values.tolist(), strict=True))


def warm_start(keys: Ints, earlier: RankFiles) -> Floats:
    """A start for the pages with these keys: their earlier ranks, and little for new ones."""
    known, ranks = earlier.keys(), earlier.ranks()
    start = np.full(len(keys), NEW_PAGE)
    if len(known):
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        same = known[places] == keys
        start[same] = np.maximum(ranks[places[same]], _LEAST)
    return start


def _nodes_of(graph: GraphFiles, urls: Sequence[str]) -> Ints | None:
    """The nodes of some URLs, those not in the graph left out; None if no URL is given."""
    if not urls:
        return None
    keys = graph.keys()
    wanted = np.array(sorted({key64(url) for url in urls}), np.int64)
    found: Ints = np.flatnonzero(np.isin(keys, wanted))
    if not len(found):
        raise UsageError("none of the seeds is a page of the link graph: use others, or rank without seeds")
    return found


def _by_tasks(
    engine: Engine, graph: GraphFiles, rules: Rules, teleport: Floats | None, start: Floats | None, tell: Tell | None
) -> Ranked:
    place, nodes, blocks = graph.place, graph.info.nodes, len(graph.info.blocks)
    work = f"work/pagerank-{secrets.token_hex(8)}/"
    try:
        dangling = _begin(graph, work, first_ranks(start, nodes, rules.form))
        if teleport is not None:
            write_array(place, f"{work}teleport.npy", proportional(teleport))
        residual, iteration = math.inf, 0
        while iteration < rules.most_iterations and residual > rules.tolerance:
            step = Step(
                place=place.url,
                graph=graph.prefix,
                made_at=graph.info.made_at,
                work=work,
                block=0,
                iteration=iteration,
                base=rules.base(dangling, nodes),
                damping=rules.damping,
                personal=teleport is not None,
            )
            parts = collect(engine, advance, [msgspec.structs.replace(step, block=n) for n in range(blocks)])
            residual = math.fsum(change for part in parts for change, _ in part) / nodes
            dangling = math.fsum(held for part in parts for _, held in part)
            place.delete([slice_name(work, iteration - 1, number) for number in range(blocks)])
            iteration += 1
            if tell is not None:
                tell(iteration, residual)
        values = np.concatenate([read_slice(place, work, iteration, number) for number in range(blocks)])
        return Ranked(values, iteration, residual, residual <= rules.tolerance)
    finally:
        place.delete(list(place.names(work)))


def _begin(graph: GraphFiles, work: str, ranks: Floats) -> float:
    """Write the first ranks; returns what pages without links hold."""
    held = []
    for number, (first, end) in enumerate(itertools.pairwise([*graph.info.blocks, graph.info.nodes])):
        graph.place.put(slice_name(work, 0, number), ranks[first:end].tobytes())
        held += [float(ranks[piece.rows][piece.dangling].sum()) for piece in pieces_of_block(graph, number, None)]
    return math.fsum(held)


def _site_links_by_blocks(engine: Engine, graph: GraphFiles) -> Any:
    """Votes for sites, by a task per block; votes from several blocks are merged a run of pages at a time."""
    place, sites, site_of = graph.place, graph.info.sites, graph.site_numbers()
    work = f"work/hosts-{secrets.token_hex(8)}/"
    tasks = [(place.url, graph.prefix, graph.info.made_at, work, number) for number in range(len(graph.info.blocks))]
    try:
        collect(engine, count_votes, tasks)
        found = [read_array(place, votes_name(work, number)) for number in range(len(tasks))]
        total = site_links(np.empty(0, np.int64), site_of, sites)
        for first in range(0, graph.info.nodes, _PAGES_AT_ONCE):
            bounds = np.array([first, first + _PAGES_AT_ONCE], np.int64) * sites
            cuts = [np.searchsorted(part, bounds) for part in found]
            merged = distinct(np.concatenate([part[low:high] for part, (low, high) in zip(found, cuts, strict=True)]))
            total = total + site_links(merged, site_of, sites)
        return total
    finally:
        place.delete(list(place.names(work)))
