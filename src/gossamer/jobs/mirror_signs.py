"""The tasks of the search for mirrors: where two sites have the same pages.

Pages that were read meet by path; the *sign* that two of them give about their sites goes to the task of the pair. At a
path where very many sites have the same page (`/legal.html` of a hosting company), each site is paired with the few
that
follow it in the alphabet: enough to find mirrors, which are few, and never the square of the sites.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.database.schema import DONE
from gossamer.dedup.mirrors import MIN_SAME
from gossamer.engine.exchange import partition_of, write_parts
from gossamer.frontier.copies.mirror_compare import ALIKE, EQUAL, Page, likeness
from gossamer.jobs.context import get_table, part_table
from gossamer.model.outcome import TEXTLESS, Outcome
from gossamer.model.site import key64, origin_of, site_of
from gossamer.store.place import open_place

_PAGES = pa.schema(
    [(name, pa.string()) for name in ("path", "url", "outcome", "content_hash", "target")] + [("cluster", pa.int64())]
)
_SIGNS = pa.schema(
    [
        ("one", pa.string()),
        ("other", pa.string()),
        ("path", pa.string()),
        ("like", pa.int8()),
        ("cluster", pa.int64()),
        ("one_named", pa.int8()),
        ("other_named", pa.int8()),
    ]
)
_TELLING = pa.array([Outcome.DOCUMENT.value, *TEXTLESS.listed])
_NEXT = 8
"""Sites that each is paired with among those that have the same page at a path."""
Pair = tuple[str, str]


class MirrorTask(msgspec.Struct, frozen=True):
    """What a task is to do."""

    work: str
    files: list[str]
    part: int
    parts: int
    name: str
    pairs: list[Pair] = []


class Signs(msgspec.Struct):
    """The evidence for a pair of sites, and how many pages of each the other names as canonical."""

    same: int = 0
    compared: int = 0
    exact: int = 0
    one_named: int = 0
    other_named: int = 0


def pages_by_path(task: MirrorTask) -> int:
    """Task: the pages of a key range that were read, to the tasks of their paths."""
    place = open_place(task.work)
    table = get_table(place, task.files[0], ["url", "outcome", "content_hash", "target", "cluster", "state"])
    table = table.filter(pc.and_(pc.equal(table["state"], DONE), pc.is_in(table["outcome"], _TELLING)))
    paths = pa.array([url[len(origin_of(url)) :] for url in table["url"].to_pylist()], pa.string())
    table = table.append_column("path", paths).select(_PAGES.names).cast(_PAGES)
    table = table.filter(pc.not_equal(table["path"], "/"))  # parked domains share it by the thousand
    keys = np.fromiter(map(key64, table["path"].to_pylist()), np.int64, table.num_rows)
    write_parts(place, task.name, table, partition_of(keys, task.parts), task.parts)
    return int(table.num_rows)


def compare_paths(task: MirrorTask) -> None:
    """Task: the pairs of sites that are alike at some paths; with `pairs` those only, and where they differ, too."""
    place = open_place(task.work)
    rows = part_table(place, task.files, task.part, _PAGES).sort_by([("path", "ascending"), ("url", "ascending")])
    partners = _partners(task.pairs)
    signs = []
    for path, pages in _sites_by_path(rows.to_pylist()):
        pairs = _known_pairs(pages, partners) if task.pairs else _likely_pairs(pages)
        signs += [sign for pair in sorted(pairs) if (sign := _sign(path, pages, *pair, bool(task.pairs)))]
    table = pa.Table.from_pylist(signs, _SIGNS)
    keys = np.fromiter((_pair_key(sign["one"], sign["other"]) for sign in signs), np.int64, len(signs))
    write_parts(place, task.name, table, partition_of(keys, task.parts), task.parts)


def _pair_key(one: str, other: str) -> int:
    return key64(f"{one}\n{other}")


def _sites_by_path(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Page]]]:
    """The pages of each path, by site: if one was read over http and https, the one that is a document."""
    last, pages = "", dict[str, Page]()
    for row in rows:
        if row["path"] != last:
            if len(pages) > 1:
                yield last, pages
            last, pages = row["path"], {}
        page = Page(row["url"], row["outcome"], row["content_hash"], row["cluster"], row["target"] or "")
        site = site_of(page.url)
        if site not in pages or page.outcome == Outcome.DOCUMENT.value:
            pages[site] = page
    if len(pages) > 1:
        yield last, pages


def _likely_pairs(pages: Mapping[str, Page]) -> set[Pair]:
    """Pairs of sites that have the same text, or nearly so, or of which one points to the other."""
    alike: dict[tuple[str, object], list[str]] = defaultdict(list)
    pairs: set[Pair] = set()
    for site, page in sorted(pages.items()):
        if page.outcome != Outcome.DOCUMENT.value:
            target = site_of(page.target) if page.target else ""
            if target in pages and target != site:
                pairs.add(_ordered(site, target))
            continue
        if page.text:
            alike["text", page.text].append(site)
        if page.cluster is not None:
            alike["cluster", page.cluster].append(site)
    for sites in alike.values():
        pairs |= {(one, other) for place, one in enumerate(sites) for other in sites[place + 1 : place + 1 + _NEXT]}
    return pairs


def _partners(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    partners: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        partners[one].append(other)
    return partners


def _known_pairs(pages: Mapping[str, Page], partners: Mapping[str, list[str]]) -> set[Pair]:
    return {(one, other) for one in pages if one in partners for other in partners[one] if other in pages}


def _ordered(one: str, other: str) -> Pair:
    return (one, other) if one <= other else (other, one)


def _sign(path: str, pages: Mapping[str, Page], one: str, other: str, is_known: bool) -> dict[str, Any] | None:
    mine, its = pages[one], pages[other]
    like = likeness(mine, its)
    if like is None or (like not in (ALIKE, EQUAL) and not is_known):
        return None
    return {
        "one": one,
        "other": other,
        "path": path,
        "like": like,
        "cluster": mine.cluster if mine.cluster == its.cluster else None,
        "one_named": int(its.outcome == Outcome.ALIAS.value and site_of(its.target) == one),
        "other_named": int(mine.outcome == Outcome.ALIAS.value and site_of(mine.target) == other),
    }


def count_pairs(task: MirrorTask) -> list[tuple[Pair, Signs]]:
    """Task: add up the signs of pairs; a text at many paths counts once."""
    table = part_table(open_place(task.work), task.files, task.part, _SIGNS)
    found: dict[Pair, Signs] = defaultdict(Signs)
    seen: set[tuple[Pair, int]] = set()
    for row in table.sort_by([("path", "ascending")]).to_pylist():
        pair = row["one"], row["other"]
        signs = found[pair]
        signs.one_named += row["one_named"]
        signs.other_named += row["other_named"]
        if row["cluster"] is not None:
            if (pair, row["cluster"]) in seen:
                continue
            seen.add((pair, row["cluster"]))
        signs.compared += 1
        signs.same += row["like"] in (ALIKE, EQUAL)
        signs.exact += row["like"] == EQUAL
    if task.pairs:
        return sorted(found.items())
    # Nobody needs the many pairs that share a page or two.
    return sorted((pair, signs) for pair, signs in found.items() if signs.same >= MIN_SAME)
