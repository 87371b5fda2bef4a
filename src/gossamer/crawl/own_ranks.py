"""PageRank of the pages of one's own crawl: what `gossamer qrank train` learns from where no file is named.

Pages are the documents that count, and the URLs that lead elsewhere (redirects, canonical links), which pass on
what they are given. A page has the links of its latest version. The segments are read twice, first for the time
of each page's latest version, so that of a link only one number stays in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gossamer.crawl.folder import DataFolder
from gossamer.frontier.database import Database
from gossamer.frontier.inspect import segment_ids
from gossamer.frontier.schema import REMOVED
from gossamer.model.site import key64
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import open_links

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_LINKS = 20_000_000
"""Links that are kept, at 24 bytes each while they are sorted."""
MOST_PAGES = 500_000
"""Pages whose URLs are returned, drawn by lot."""
PAGES_OF_A_SITE = 4000
"""The same for each site: what is learnt from one."""
DAMPING = 0.85
_TOLERANCE = 1e-9
_MOST_STEPS = 300
_TRIES = 5
"""How often the segments are read again of which one was merged into another meanwhile."""
_DOCUMENTS = f"FROM urls WHERE outcome = 'document' AND segment IS NOT NULL AND state <> {REMOVED}"
_LEADING = f"FROM urls WHERE target IS NOT NULL AND target <> '' AND outcome <> 'document' AND state <> {REMOVED}"


class OwnRanks(msgspec.Struct, frozen=True):
    """URLs with their ranks, and how much of the crawl they were made of."""

    rows: list[tuple[str, float]]
    """URL and PageRank × pages."""
    pages: int
    links: int
    left_out: int
    """Links that were too many to be kept."""


def own_ranks(
    folder: DataFolder, db: Database, most_links: int = MOST_LINKS, most_pages: int = MOST_PAGES, seed: int = 1
) -> OwnRanks:
    """The link ranks of a crawl's documents; of a crawl with more pages, of some by lot."""
    keys, sites, documents, leads = _nodes(db)
    for _ in range(_TRIES - 1):
        try:
            arcs, left_out = _arcs(folder, segment_ids(db), keys, leads, most_links)
            break
        except SegmentMissingError:
            continue
    else:
        arcs, left_out = _arcs(folder, segment_ids(db), keys, leads, most_links)
    ranks = page_rank(arcs // max(len(keys), 1), arcs % max(len(keys), 1), len(keys))
    chosen = _by_lot(sites, np.flatnonzero(documents), most_pages, seed)
    by_key = dict(zip(keys[chosen].tolist(), ranks[chosen].tolist(), strict=True))
    rows = [(url, by_key[key]) for key, url in db.iterate(f"SELECT key, url {_DOCUMENTS}") if key in by_key]
    return OwnRanks(sorted(rows), int(documents.sum()), len(arcs), left_out)


def page_rank(sources: Ints, targets: Ints, count: int) -> Floats:
    """PageRank × pages; what pages without links have goes to all alike."""
    out = np.bincount(sources, minlength=count)
    dangling = out == 0
    parts = 1.0 / np.maximum(out, 1)
    ranks = np.ones(count)
    for _ in range(_MOST_STEPS):
        given = np.bincount(targets, (ranks * parts)[sources], count) + ranks[dangling].sum() / max(count, 1)
        before, ranks = ranks, 1.0 - DAMPING + DAMPING * given
        if np.abs(ranks - before).sum() <= _TOLERANCE * count:
            break
    return ranks


def _nodes(db: Database) -> tuple[Ints, Ints, NDArray[np.bool_], Ints]:
    """Keys in ascending order, sites, whether each is a document, and the keys where those lead that are none."""
    documents = np.array(list(db.iterate(f"SELECT key, site_id {_DOCUMENTS}")), np.int64).reshape(-1, 2)
    leading = [
        (key, site, key64(target)) for key, site, target in db.iterate(f"SELECT key, site_id, target {_LEADING}")
    ]
    others = np.array(leading, np.int64).reshape(-1, 3)
    keys = np.concatenate([documents[:, 0], others[:, 0]])
    keys, first = np.unique(keys, return_index=True)
    sites = np.concatenate([documents[:, 1], others[:, 1]])[first]
    leads = np.concatenate([np.zeros(len(documents), np.int64), others[:, 2]])[first]
    return keys, sites, first < len(documents), leads


def _arcs(folder: DataFolder, segments: Sequence[str], keys: Ints, leads: Ints, most: int) -> tuple[Ints, int]:
    """Source × pages + target of each link, each once, and how many links were too many."""
    latest = np.full(len(keys), np.iinfo(np.int64).min)
    for table in _groups(folder, segments, ["source", "fetched_at"]):
        sources = _places(keys, _keys(table, "source"))
        known = sources >= 0
        np.maximum.at(latest, sources[known], _times(table)[known])
    targets = _places(keys, leads)
    led = np.flatnonzero((leads != 0) & (targets >= 0))
    pieces, room, left_out = [led * len(keys) + targets[led]], most, 0
    for table in _groups(folder, segments, ["source", "target", "rel", "fetched_at"]):
        links = _current(table, keys, latest)
        pieces.append(links[:room])
        room -= len(pieces[-1])
        left_out += len(links) - len(pieces[-1])
    return np.unique(np.concatenate(pieces)), left_out


def _current(table: pa.Table, keys: Ints, latest: Ints) -> Ints:
    """The links between pages in a row group that stand on their latest version and may be followed."""
    followed = pc.invert(pc.match_substring(table.column("rel"), "nofollow")).to_numpy(zero_copy_only=False)
    sources, targets = (_places(keys, _keys(table, column)) for column in ("source", "target"))
    kept = followed.astype(bool) & (sources >= 0) & (targets >= 0) & (sources != targets)
    kept &= _times(table) == latest[sources]
    return np.unique(sources[kept] * len(keys) + targets[kept])


def _groups(folder: DataFolder, segments: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
    for segment in segments:
        yield from open_links(folder.segments, segment).groups(columns)


def _times(table: pa.Table) -> Ints:
    times: Ints = table.column("fetched_at").cast(pa.int64()).to_numpy()
    return times


def _keys(table: pa.Table, column: str) -> Ints:
    encoded = table.column(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    keys = np.array([key64(text) for text in encoded.dictionary.to_pylist()], np.int64)
    found: Ints = keys[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def _places(keys: Ints, wanted: Ints) -> Ints:
    """Where keys are among the sorted ones, -1 for those that are not."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[found] == wanted, found, -1)


def _by_lot(sites: Ints, pages: Ints, most: int, seed: int) -> Ints:
    """At most so many pages, and of each site no more than are learnt from."""
    mixed = np.random.default_rng(seed).permutation(pages)
    order = mixed[np.argsort(sites[mixed], kind="stable")]
    _, first, numbers = np.unique(sites[order], return_index=True, return_inverse=True)
    within = np.arange(len(order)) - first[numbers]
    kept = order[within < PAGES_OF_A_SITE]
    return kept if len(kept) <= most else np.random.default_rng(seed).choice(kept, most, replace=False)
