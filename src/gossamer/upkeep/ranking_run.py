"""Runs the rank job on the crawl of a data folder: link graph, ranks of pages and sites, texts of links.

Graph and ranks are in the data folder, or where `engine.work` says, so that all machines of a cluster reach them. They
are views of the segments: a run writes new ones beside the old, switches `ranks/current`, and deletes the old ones.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import numpy as np

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.holding import held
from gossamer.database.database import Database
from gossamer.engine.contract import Engine
from gossamer.errors import CorruptError, UsageError
from gossamer.frontier.steering.removals import removed_prefixes
from gossamer.frontier.views.inspect import segment_ids
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.graph.config import RankConfig
from gossamer.graph.pagerank import Rules
from gossamer.jobs.anchor_texts import collect_anchor_texts
from gossamer.jobs.graph_files import (
    CURRENT,
    GraphFiles,
    GraphInfo,
    RankFiles,
    RankInfo,
    drop_generations,
    read_array,
    read_current,
)
from gossamer.jobs.link_graph import GraphSource, build_graph
from gossamer.jobs.link_work import places_in
from gossamer.jobs.pagerank import rank_graph
from gossamer.model.site import key64
from gossamer.store.durable import SegmentMissingError
from gossamer.store.place import Place, PlaceMissing

Say = Callable[[str], None]
"""Called with the present step, in a few words."""

_TRIES = 5
"""How often the graph starts over because a segment was merged although it was held."""
_RUN = "run.json"


class ColdStart(msgspec.Struct, frozen=True):
    """The last ranking that started from nothing, for comparison."""

    iterations: int
    rules: Rules
    personalise: str


class RankRun(msgspec.Struct, frozen=True):
    """A ranking and its input."""

    graph: GraphInfo
    ranks: RankInfo
    personalise: str
    texts: int
    """Texts of links that were kept."""
    cold: ColdStart | None
    """The last ranking from nothing with the same settings; None if there was none."""


def run_ranking(
    folder: DataFolder, db: Database, engine: Engine, place: Place, config: RankConfig, now: float,
    cold: bool = False, say: Say = lambda _words: None,
) -> RankRun:  # fmt: skip
    """Make graph and ranks; with `cold` the ranks do not start from the last ones."""
    generation = f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S%f}"
    _drop_all_but(place, _current(place))  # left by rankings that were killed or failed
    # Segments are read twice, and a running crawl merges the small ones every few seconds.
    with held(folder, SystemClock()):
        graph, source = _graph(folder, db, engine, place, generation, now, say)
        limit = config.anchors
        texts = collect_anchor_texts(engine, graph, source.segments, limit, _stages(say)) if limit else 0
    before = None if cold else _earlier(place)
    rules = Rules(config.form, config.damping, config.tolerance, config.iterations)
    seeds = _seeds(db, graph) if config.personalise == "seeds" else ()
    files = rank_graph(
        engine, place, graph.prefix, generation, now, rules, seeds=seeds, earlier=before,
        tell=lambda iteration, residual: say(f"ranking: iteration {iteration}, mean change {residual:.1e}"),
    )  # fmt: skip
    last = _last_cold(place, before)
    if not files.info.warm:
        last = ColdStart(files.info.iterations, rules, config.personalise)
    if last is not None:
        place.put(f"{files.prefix}{_RUN}", msgspec.json.encode(last))
    _drop_all_but(place, generation)
    comparable = last if last is not None and (last.rules, last.personalise) == (rules, config.personalise) else None
    return RankRun(graph.info, files.info, config.personalise, texts, comparable)


def _graph(
    folder: DataFolder, db: Database, engine: Engine, place: Place, generation: str, now: float, say: Say
) -> tuple[GraphFiles, GraphSource]:
    """The graph of the current segments."""
    for left in reversed(range(_TRIES)):
        source = GraphSource(folder.segments.url, segment_ids(db), removed_prefixes(db))
        if not source.names:
            raise UsageError(f"nothing is stored in {folder.root} yet: crawl first, then rank")
        try:
            graph = build_graph(engine, place, generation, source, now, _stages(say))
        except SegmentMissingError:
            if not left or segment_ids(db) == source.names:
                raise
            continue
        if graph.info.nodes:
            return graph, source
        place.delete(list(place.names(graph.prefix)))
        raise UsageError(f"{folder.root} holds no pages yet, only visits without one: continue the crawl, then rank")
    raise AssertionError


def _current(place: Place) -> str:
    try:
        return place.get(CURRENT).decode().strip()
    except PlaceMissing:
        return ""


def _drop_all_but(place: Place, generation: str) -> None:
    for kind in ("graph", "ranks"):
        drop_generations(place, kind, generation)


def _earlier(place: Place) -> RankFiles | None:
    """The last ranks; None if they are damaged."""
    try:
        found = read_current(place)
        if found is not None:
            found.keys(), found.ranks()
    except (CorruptError, PlaceMissing):
        return None
    return found


def _last_cold(place: Place, before: RankFiles | None) -> ColdStart | None:
    if before is None:
        return None
    try:
        return msgspec.json.decode(place.get(f"{before.prefix}{_RUN}"), type=ColdStart)
    except (PlaceMissing, msgspec.DecodeError):
        return None


def _seeds(db: Database, graph: GraphFiles) -> list[str]:
    """The crawl's seeds, or the pages they lead to."""
    urls = sorted(seed_urls(db))
    leads, ends = (read_array(graph.place, f"{graph.prefix}{name}.npy") for name in ("leads", "leads_to"))
    led = places_in(leads, np.array([key64(url) for url in urls], np.int64))
    found = graph.urls(ends[led[led >= 0]]) if (led >= 0).any() else []
    return sorted({*urls, *found})


def _stages(say: Say) -> Callable[[str, int, int], None]:
    return lambda stage, done, total: say(f"{stage}: {done} of {total}" if total > 1 else stage)
