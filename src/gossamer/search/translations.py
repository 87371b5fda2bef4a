"""One page in several languages: results link to the others, and those on the same page of results are shown as one.

Pages list their translations themselves (hreflang), and may list anything. So a result links only to pages that are in
the index, and takes another result's place only if both list each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from gossamer.model.site import key64
from gossamer.search.results import Hit

Held = Callable[[Sequence[int]], Collection[int]]
"""Which of some keys are those of pages in the index; all keys of a page of results are asked for at once."""


def linked(hits: Sequence[Hit], held: Held, collapses: bool) -> tuple[Hit, ...]:
    """Results with links to translations in the index. If it `collapses`, the first of several translations stays: the
    words of the query fit it best."""
    wanted = {key64(alternate.url) for hit in hits for alternate in hit.alternates}
    if not wanted:
        return tuple(hits)
    present = frozenset(held(sorted(wanted)))
    shown: list[Hit] = []
    for hit in hits:
        there = tuple(alternate for alternate in hit.alternates if key64(alternate.url) in present)
        found = hit if len(there) == len(hit.alternates) else msgspec.structs.replace(hit, alternates=there)
        if not collapses or not any(_list_each_other(first, found) for first in shown):
            shown.append(found)
    return tuple(shown)


def _list_each_other(first: Hit, other: Hit) -> bool:
    return _lists(first, other.url) and _lists(other, first.url)


def _lists(hit: Hit, url: str) -> bool:
    return any(alternate.url == url for alternate in hit.alternates)
