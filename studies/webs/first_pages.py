"""A smaller web out of a larger one that was read from files: the pages found first, as if there had been no more room.

Reading a site takes minutes, this takes moments, and the result is the same.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.lab.webs.ragged import Ragged
from gossamer.lab.webs.web import NOWHERE, Ints, RecordedWeb
from gossamer.model.outcome import Outcome

_WITHOUT_FILE = ("", Outcome.GONE.value)


def first_pages(web: RecordedWeb, pages: int) -> RecordedWeb:
    """The closed set of the first so many URLs that a file answers, with the broken links of these."""
    has_file = np.array([answer not in _WITHOUT_FILE for answer in web.answer], bool)
    if has_file.sum() <= pages:
        return web
    kept = has_file & (np.cumsum(has_file) <= pages)
    for lists in (web.links, web.feeds):
        named = lists.values[kept[lists.rows]]
        kept[named[~has_file[named]]] = True
    for column in (web.redirect, web.canonical):
        named = column[kept & (column != NOWHERE)]
        kept[named[~has_file[named]]] = True
    kept[[row for row in web.facts.seeds if not has_file[row]]] = True
    return _only(web, kept)


def _only(web: RecordedWeb, kept: npt.NDArray[np.bool_]) -> RecordedWeb:
    rows = np.flatnonzero(kept)
    number = np.full(len(web) + 1, NOWHERE, np.int64)  # the last one is for NOWHERE
    number[rows] = np.arange(len(rows))
    seeds = [row for row in number[web.facts.seeds].tolist() if row != NOWHERE]

    def chosen(column: list[str]) -> list[str]:
        return [column[row] for row in rows.tolist()]

    return RecordedWeb(
        msgspec.structs.replace(web.facts, seeds=seeds),
        chosen(web.urls),
        answer=chosen(web.answer),
        links=_lists(web.links, rows, number),
        kind=web.kind[rows],
        status=web.status[rows],
        size=web.size[rows],
        duration=web.duration[rows],
        media_type=chosen(web.media_type),
        fit=web.fit[rows],
        noindex=web.noindex[rows],
        validates=web.validates[rows],
        redirect=number[web.redirect[rows]],
        canonical=number[web.canonical[rows]],
        text_hash=chosen(web.text_hash),
        fingerprint=[web.fingerprint[row] for row in rows.tolist()],
        page_type=chosen(web.page_type),
        feeds=_lists(web.feeds, rows, number),
        born=web.born[rows],
        changes=_lists(web.changes, rows, None),
    )


def _lists(lists: Ragged, rows: Ints, number: Ints | None) -> Ragged:
    """The lists of some rows; `number`: what rows in them are called now."""
    places = np.concatenate([np.empty(0, np.int64), *(np.arange(*lists.starts[row : row + 2]) for row in rows)])
    values, counts = lists.values[places], lists.counts[rows]
    if number is not None:
        values = number[values]
        inside = values != NOWHERE
        counts = np.bincount(np.repeat(np.arange(len(rows)), counts)[inside], minlength=len(rows))
        values = values[inside]
    return Ragged(np.concatenate(([0], np.cumsum(counts))).astype(np.int64), values)
