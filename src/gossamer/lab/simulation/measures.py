"""Measures of a simulated crawl: pure functions of its log and of the web.

A log is two arrays in order of time, one entry per request: `at`, and `rows` of the recorded web, `NOWHERE` for URLs
that
are not in it. The web says what a request yielded: a URL that was not yet born answered 404, a copy had no new text.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.lab.webs.web import NOWHERE, Floats, Ints, RecordedWeb

Mask = npt.NDArray[np.bool_]


class Delays(msgspec.Struct, frozen=True):
    """How long new pages waited; those that were never downloaded are censored."""

    rows: Ints
    """The pages, by birth."""
    seconds: Floats
    """From birth to the first download; to the end of the crawl if there was none."""
    downloaded: Mask

    @property
    def found(self) -> float:
        """Share of the new pages that were downloaded."""
        return float(self.downloaded.mean()) if len(self.rows) else 1.0

    def quantile(self, share: float) -> float:
        """Seconds until this share of new pages is downloaded, `inf` if the crawl is too short to say. By Kaplan and
        Meier (1958): a page that was born late and never downloaded counts for as long as it could have been, so that
        the last hours of a crawl do not look like failures."""
        # Of pages with the same waiting time, the downloaded ones come first: the others were still waiting then.
        order = np.lexsort((~self.downloaded, self.seconds))
        waiting = np.arange(len(order), 0, -1)
        left = np.cumprod(np.where(self.downloaded[order], 1.0 - 1.0 / waiting, 1.0))
        # A share that was reached to the last digit counts as reached.
        reached = np.flatnonzero(1.0 - left >= share - 1e-12)
        return float(self.seconds[order][reached[0]]) if len(reached) else float("inf")


class Freshness(msgspec.Struct, frozen=True):
    """The state of the copies at several times."""

    times: Floats
    copies: Ints
    """Pages that had been downloaded."""
    fresh: Floats
    """Share of them whose copy is the current version; 1 if there is no copy."""
    age: Floats
    """Mean of the seconds since a copy went out of date; a fresh copy counts as 0."""


def first_useful(web: RecordedWeb, rows: Ints) -> Mask:
    """Which requests were the first to yield the text of a useful page."""
    texts = np.where(rows == NOWHERE, NOWHERE, _useful_texts(web)[rows])
    _, first = np.unique(texts, return_index=True)
    found = np.zeros(len(rows), bool)
    found[first[texts[first] != NOWHERE]] = True
    return found


def delays(
    web: RecordedWeb, at: Floats, rows: Ints, *, which: Mask | None = None, until: float | None = None
) -> Delays:
    """Waiting times of the pages (all, or those of a mask) that were born between the web's start and the crawl's end.
    By default, the crawl ends with its last request."""
    end = until if until is not None else float(at[-1]) if len(at) else web.facts.started_at
    mask = (web.pages if which is None else web.pages & which) & (web.born > web.facts.started_at) & (web.born <= end)
    born = np.flatnonzero(mask)
    born = born[np.argsort(web.born[born], kind="stable")]
    counts = (rows != NOWHERE) & (at >= web.born[rows]) & (at <= end)
    first = np.full(len(web), np.inf)
    np.minimum.at(first, rows[counts], at[counts])
    downloaded = np.isfinite(first[born])
    return Delays(born, np.where(downloaded, first[born], end) - web.born[born], downloaded)


def freshness_over_time(
    web: RecordedWeb, at: Floats, rows: Ints, times: Floats, *, which: Mask | None = None
) -> Freshness:
    """Freshness and age of the copies of pages (all, or those of a mask) at some times. Each visit makes a copy that
    holds until the next visit and goes out of date with the next change; the number of copies at a moment is the number
    made less the number replaced, from two sorted arrays."""
    counts = (web.pages if which is None else web.pages & which)[rows] & (rows != NOWHERE) & (at >= web.born[rows])
    made, replaced, overtaken = _copies(web, at[counts], rows[counts])
    stale = overtaken < replaced
    copies = _until(made, times) - _until(replaced, times)
    outdated = _until(overtaken[stale], times) - _until(replaced[stale], times)
    # Seconds since the start of the web: the sums lose no digits to half a century.
    zero = web.facts.started_at
    moments = _sum_until(overtaken[stale], overtaken[stale] - zero, times)
    moments -= _sum_until(replaced[stale], overtaken[stale] - zero, times)
    some = np.maximum(copies, 1)
    age = np.where(outdated > 0, outdated * (times - zero) - moments, 0.0) / some
    return Freshness(times, copies, 1.0 - outdated / some, np.maximum(age, 0.0))


def _useful_texts(web: RecordedWeb) -> Ints:
    """The useful page that has the text of each row that fits; `NOWHERE` for rows without use."""
    found = np.full(len(web), NOWHERE, np.int64)
    useful = np.flatnonzero(web.useful)
    found[useful] = useful
    originals = {text: row for row in useful.tolist() if (text := web.text_hash[row])}
    for row in np.flatnonzero(web.pages & ~web.noindex & (web.fit == 1) & ~web.useful).tolist():
        found[row] = originals[web.text_hash[row]]
    return found


def _copies(web: RecordedWeb, at: Floats, rows: Ints) -> tuple[Floats, Floats, Floats]:
    """When copies were made, when the next one replaced them, and when the page first changed (`inf`: never)."""
    order = np.lexsort((at, rows))
    at, rows = at[order], rows[order]
    replaced = np.append(np.where(rows[1:] == rows[:-1], at[1:], np.inf), [np.inf] * (len(rows) > 0))
    visited = np.zeros(len(web), bool)
    visited[rows] = True
    matters = np.repeat(visited, web.changes.counts)
    changed_rows, changed_at = web.changes.rows[matters], web.changes.values[matters]
    # Changes and visits in one order; a change at the moment of a visit is seen by it.
    is_visit = np.repeat([False, True], [len(changed_rows), len(rows)])
    merged = np.lexsort((is_visit, np.concatenate((changed_at, at)), np.concatenate((changed_rows, rows))))
    places = np.flatnonzero(is_visit[merged])
    following = np.cumsum(~is_visit[merged])[places]
    changed_rows, changed_at = np.append(changed_rows, NOWHERE), np.append(changed_at, np.inf)
    overtaken = np.where(changed_rows[following] == rows, changed_at[following], np.inf)
    return at, replaced, overtaken


def _until(moments: Floats, times: Floats) -> Ints:
    return np.searchsorted(np.sort(moments), times, side="right")


def _sum_until(moments: Floats, values: Floats, times: Floats) -> Floats:
    """Sum of the values whose moments have come."""
    order = np.argsort(moments, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(values[order])))
    found: Floats = sums[np.searchsorted(moments[order], times, side="right")]
    return found
