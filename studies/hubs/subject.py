"""Hubs and authorities around what a search finds, in the graph of the last ranking of a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.cli.common import out
from gossamer.cli.searching.rank import show_pages
from gossamer.compose.search import open_searcher
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.stored_ranks import rank_place
from gossamer.jobs.link_work import places_in
from gossamer.model.counts import counted
from gossamer.model.site import key64
from gossamer.operate.ranked_pages import RankedPage, RankedPages, highest
from gossamer.search.results import Request
from studies.hubs.hits import Hits, hits

_ROOT_SET = 200
"""Pages found for a query that hubs and authorities are looked for around."""


class Subject(msgspec.Struct, frozen=True):
    """Hubs and authorities of a query."""

    found: int
    """Pages that were found and are in the graph."""
    pages: int
    """Those, and their neighbours."""
    inside_sites: bool
    """Links inside a site counted, because there were no others."""
    hubs: list[RankedPage]
    authorities: list[RankedPage]


def subject_of(data: Path, query: str, count: int) -> Subject:
    """Hubs and authorities of a query in a data folder."""
    ranked = RankedPages(rank_place(data, settings_of_crawl(data)))
    return subject(ranked, open_searcher(data).urls(Request(query=query, similar=True), _ROOT_SET), count)


def subject(ranked: RankedPages, urls: Sequence[str], count: int) -> Subject:
    """Hubs and authorities around pages that were found for a query."""
    places = places_in(ranked.graph.keys(), np.array([key64(url) for url in urls], np.int64))
    root = places[places >= 0]
    result = hits(ranked.graph, root, ranked.graph.site_numbers())
    inside = not result.authorities.any()
    if inside:
        result = hits(ranked.graph, root)
    best = (_best(ranked, result, values, count) for values in (result.hubs, result.authorities))
    return Subject(len(root), len(result.nodes), inside, *best)


def _best(ranked: RankedPages, result: Hits, values: NDArray[np.float64], count: int) -> list[RankedPage]:
    places = highest(values, count)
    places = places[values[places] > 0]
    nodes = result.nodes[places]
    shown = zip(ranked.graph.urls(nodes), values[places].tolist(), nodes.tolist(), strict=True)
    return [RankedPage(url, value, ranked.text_of(node)) for url, value, node in shown]


def show(query: str, subject: Subject) -> None:
    """Print hubs and authorities."""
    if not subject.found:
        out.print(f"Nothing that is in the link graph was found for {query}.", markup=False)
        return
    out.print(f"{counted(subject.found, 'page')} found, {subject.pages} with their neighbours", markup=False)
    if subject.inside_sites:
        out.print("No link leads from one site to another here: links inside a site count.", style="dim")
    show_pages("authorities: what good hubs link to", subject.authorities)
    show_pages("hubs: what links to good authorities", subject.hubs)
