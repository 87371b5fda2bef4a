"""Which filters a site's URLs suggest: pure generators, and the columns they count in.

Two rules, each with its evidence:

- `prefix`, that of the papers: the site has u_d ≥ n_d useful URLs, the prefix has none (u_p = 0) and more URLs than the
  site has useful ones (s_p > u_d).
- `yield`: prefixes and shapes, also much smaller ones. If the group were like the rest of the site, of which a share q
  is useful, none of its n URLs would be so with a probability of (1-q)^n; below `chance` that is ruled out.

*Useful* is a URL that fits a document rule. On a site without rules it is a document that is no near-duplicate; that is
known only after its visit, so n counts visits, of which failures, duplicates and near-duplicates are the useless ones.
(For parameters see `scope.parameters`.)

No group that holds a sitemap or feed is proposed: their links are not in the graph that proves reachability.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.model.site import key64
from gossamer.scope.automatic import FilterConfig, FilterKind, groups_of
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts, ancestors

FIT, VISITED, DOCUMENT, FAILED, DUPLICATE, NEAR, RESOURCE = (1 << bit for bit in range(7))
"""Facts about a URL, as bits; RESOURCE is a sitemap or feed."""

_COUNTED = (FIT, VISITED, DOCUMENT, FAILED, DUPLICATE, NEAR)
"""The flags that `Counts` counts, in its order."""

_MOST = 100
"""Proposals of one site that are checked at a time, the largest first."""


class Proposal(msgspec.Struct, frozen=True):
    """A filter that may be made, and why."""

    kind: FilterKind
    pattern: str
    made_by: str
    """prefix (the rule of the papers), yield or parameter."""
    counts: Counts
    """Of the URLs that it matches."""
    chance: float = 0.0
    """Probability that such a group of the site's URLs has no useful one by mere chance."""
    same: int = 0
    """For a parameter: pages that were the same with it and without it."""


def useful_of(counts: Counts, ruled: bool) -> int:
    """Useful URLs; `ruled`: the site has document rules."""
    return counts.fit if ruled else counts.documents - counts.near


def tried_of(counts: Counts, ruled: bool) -> int:
    """URLs of which it is known whether they are useful: with rules all, else those visited."""
    return counts.known if ruled else counts.visited


def propose_prefix(sums: Mapping[str, Counts], config: FilterConfig, ruled: bool = True) -> list[Proposal]:
    """The rule of the papers, on the sums of all prefixes (`statistics.roll_up`); none is below another."""
    site_useful = useful_of(sums["/"], ruled) if "/" in sums else 0
    if site_useful < config.useful:
        return []
    chosen: dict[str, Proposal] = {}
    for prefix, counts in sorted(sums.items(), key=lambda item: len(item[0])):
        useless = useful_of(counts, ruled) == 0 and counts.known > site_useful
        if useless and chosen.keys().isdisjoint(ancestors(prefix)):
            chosen[prefix] = Proposal("prefix", prefix, "prefix", counts)
    return _largest_first(chosen.values())


def propose_yield(
    groups: Iterable[tuple[FilterKind, str, Counts]], site: Counts, config: FilterConfig, ruled: bool
) -> list[Proposal]:
    """The stronger rule, on the counts of groups of any kind; they may overlap."""
    useful, tried = useful_of(site, ruled), tried_of(site, ruled)
    if useful < config.useful:
        return []
    found = []
    for kind, pattern, counts in groups:
        here = tried_of(counts, ruled)
        if useful_of(counts, ruled) or here < config.known:
            continue
        chance = no_useful_by_chance(useful, tried, here)
        if chance < config.chance:
            found.append(Proposal(kind, pattern, "yield", counts, chance))
    return _largest_first(found)


def no_useful_by_chance(useful: int, tried: int, sample: int) -> float:
    """Probability that a sample of a site's URLs holds none of its useful ones."""
    return float((1.0 - useful / tried) ** sample) if tried else 1.0


def _largest_first(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The most useless URLs first; among equals the wider kind and the shorter pattern."""
    order = ("prefix", "shape", "parameter")
    return sorted(proposals, key=lambda one: (-one.counts.known, order.index(one.kind), len(one.pattern), one.pattern))[
        :_MOST
    ]


class Groups(msgspec.Struct, frozen=True):
    """The groups of a site's URLs; one filter would refuse each."""

    keys: npt.NDArray[np.int64]
    """Numbers of the groups (`key_of`), ascending."""
    counts: npt.NDArray[np.int64]
    """A row per group, a column per counter of `Counts`."""
    _starts: npt.NDArray[np.int64]
    _members: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.keys)

    def counts_of(self, group: int) -> Counts:
        """Counts of a group."""
        return Counts(*self.counts[group].tolist())

    def members(self, group: int) -> npt.NDArray[np.int32]:
        """Where the URLs of a group are in the columns."""
        return self._members[self._starts[group] : self._starts[group + 1]]

    def find(self, kind: FilterKind, pattern: str) -> int | None:
        """The group that a filter would refuse; None if no URL matches it."""
        place = int(np.searchsorted(self.keys, key_of(kind, pattern)))
        return place if place < len(self.keys) and self.keys[place] == key_of(kind, pattern) else None


class SiteColumns:
    """Facts about each URL of a site, in columns: 9 bytes a URL, and 12 for each of its groups."""

    def __init__(self) -> None:
        self._keys, self._flags = array("q"), array("B")
        self._members, self._groups = array("i"), array("q")

    def add(self, key: int, url: str, flags: int) -> None:
        """One more URL."""
        place = len(self._keys)
        self._keys.append(key)
        self._flags.append(flags)
        for kind, pattern in groups_of(path_shape(url)):
            self._members.append(place)
            self._groups.append(key_of(kind, pattern))

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> npt.NDArray[np.int64]:
        """The URLs' keys, in the order in which they were added."""
        return np.array(self._keys, np.int64)

    def has(self, flag: int) -> npt.NDArray[np.bool_]:
        """Which URLs have a flag."""
        wanted: npt.NDArray[np.bool_] = (np.array(self._flags, np.uint8) & flag) != 0
        return wanted

    def total(self) -> Counts:
        """Of the whole site."""
        return Counts(len(self), *(int(self.has(flag).sum()) for flag in _COUNTED))

    def groups(self) -> Groups:
        """All groups."""
        groups, members = np.array(self._groups, np.int64), np.array(self._members, np.int32)
        order = np.argsort(groups, kind="stable")
        groups, members = groups[order], members[order]
        starts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1]))) if len(groups) else groups[:0]
        flags = np.array(self._flags, np.uint8)[members]
        ends = np.append(starts, len(groups))
        counts = [np.diff(ends), *(np.add.reduceat((flags & flag) != 0, starts, dtype=np.int64) for flag in _COUNTED)]
        return Groups(groups[starts], np.column_stack(counts), ends, members)


def key_of(kind: FilterKind, pattern: str) -> int:
    """The number of the group that a filter refuses."""
    return key64(f"{kind} {pattern}")


def name_of(group: int, url: str) -> tuple[FilterKind, str]:
    """Kind and pattern of a group by its number, found from one of its URLs."""
    return next(found for found in groups_of(path_shape(url)) if key_of(*found) == group)
