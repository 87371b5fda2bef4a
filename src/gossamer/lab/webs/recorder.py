"""Turns the data folder of any crawl, also of one that is running, into a recorded web.

What is recorded is what the database and the segments know of one moment:

- rows are the URLs of the table, in the order in which they were found; links to others lead out of the crawl and are
  left out. What the operator removed is not recorded, what was refused or never visited has no answer;
- what a URL answers is what its last visit brought; one that failed for the moment, or said that nothing had changed,
  counts only where there is no other;
- `changes` lie half-way between a visit that brought another text than before and the visit before it;
- `born` is known of a URL that a watched feed or sitemap announced after the crawl began: the time it gives; and of one
  that was first seen on a page, feed or sitemap which had been visited before without it: the time of that visit. All
  others were there from the beginning;
- the entries of feeds and sitemaps are not stored: theirs are the URLs that were first found there, and the feeds
  of a page are those first found on it;
- texts of copies and of noindex pages are not stored: their fingerprint is that of a page with the same hash, if there
  is one. A page-wide `nofollow` is not stored: the links of such a page are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.frontier.views.inspect import all_robots, segment_ids
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.frontier.views.sites import site_addresses
from gossamer.lab.webs.files import fit_of
from gossamer.lab.webs.known_urls import KINDS, KnownUrls, keys_of, read_known
from gossamer.lab.webs.ragged import Ragged
from gossamer.lab.webs.stored_visits import NEVER, Sighted, Visits, read_fingerprints, read_links, read_visits
from gossamer.lab.webs.web import NOWHERE, Facts, Floats, Ints, RecordedWeb
from gossamer.model.outcome import PAGES, REFUSALS, Outcome
from gossamer.model.records import Kind, Via
from gossamer.parse.rules import DocumentRule
from gossamer.robots.verdict import RobotsState
from gossamer.store.durable import SegmentMissingError
from gossamer.tables.rulebook import load_rules

_TRIES = 5
"""How often to read a crawl again after a segment was merged meanwhile."""
_PAGE, _SITEMAP, _FEED = (KINDS[kind.value] for kind in (Kind.PAGE, Kind.SITEMAP, Kind.FEED))


class _Table(msgspec.Struct, frozen=True):
    """What the database says, all of one moment."""

    known: KnownUrls
    segments: list[str]
    rules: tuple[DocumentRule, ...]
    seeds: list[int]
    robots: dict[str, bytes]
    addresses: dict[str, str]


def record(folder: DataFolder, name: str = "") -> RecordedWeb:
    """The recorded web of a data folder; `name`: default that of the folder."""
    name = name or folder.root.resolve().name
    with closing(folder.read()) as db:
        for _ in range(_TRIES - 1):
            try:
                return _record(folder, _read(db), name)
            except SegmentMissingError:
                continue
        return _record(folder, _read(db), name)


def _read(db: Database) -> _Table:
    with db.snapshot():
        known = read_known(db)
        seeds = known.rows(keys_of(seed_urls(db)))
        states = [(origin, msgspec.msgpack.decode(state, type=RobotsState)) for origin, state in all_robots(db)]
        return _Table(
            known, segment_ids(db), load_rules(db), seeds[seeds != NOWHERE].tolist(),
            {origin: state.body for origin, state in states if state.good_at},
            site_addresses(db),
        )  # fmt: skip


def _record(folder: DataFolder, table: _Table, name: str) -> RecordedWeb:
    known = table.known
    visits = read_visits(folder.segments, table.segments, known)
    last = visits.last(len(known))
    links, sighted = read_links(folder.segments, table.segments, known, _of_last(visits.time, last, NEVER))
    started, ended = (float(time) / 1e6 for time in (visits.time.min(initial=NEVER), visits.time.max(initial=0)))
    outcome = _texts(visits, "outcome", last)
    answer = [_answer(text) for text in outcome]
    kind = _kinds(known, answer)
    text_hash = _texts(visits, "content_hash", last)
    validates = np.zeros(len(known), bool)
    validates[visits.row[visits.validates]] = True
    canonical = _of_last(visits.canonical, last, NOWHERE)
    facts = Facts(
        name, min(started, ended), ended, table.seeds, table.robots, table.addresses, list(table.rules),
        source=_source(len(table.addresses), started, ended),
    )  # fmt: skip
    return RecordedWeb(
        facts,
        known.urls,
        answer=answer,
        links=_with_entries(known, links, visits.first_at(len(known))),
        kind=kind,
        status=_of_last(_numbers(visits, "status"), last, 0).astype(np.int16),
        size=_of_last(_numbers(visits, "size"), last, 0),
        duration=_of_last(_numbers(visits, "duration"), last, 0),
        media_type=_texts(visits, "media_type", last),
        fit=fit_of(known.urls, table.rules),
        noindex=_is(outcome, Outcome.NOINDEX),
        validates=validates,
        redirect=np.where(_is(outcome, Outcome.REDIRECT), _of_last(visits.target, last, NOWHERE), NOWHERE),
        canonical=np.where(canonical == np.arange(len(known)), NOWHERE, canonical),
        text_hash=text_hash,
        fingerprint=_fingerprints(folder, table.segments, visits, last, text_hash),
        page_type=_texts(visits, "page_type", last),
        feeds=_feeds(known),
        born=_births(known, visits, sighted, started),
        changes=visits.changes(len(known)),
    )


def _of_last(values: npt.NDArray[Any], last: Ints, otherwise: int) -> npt.NDArray[Any]:
    """Of each URL the value of its last visit."""
    return np.append(values, otherwise)[last]


def _numbers(visits: Visits, column: str) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = visits.columns[column].to_numpy()
    return numbers


def _texts(visits: Visits, column: str, last: Ints) -> list[str]:
    places = pa.array(last, mask=last == NOWHERE)
    texts: list[str] = visits.columns[column].take(places).fill_null("").to_pylist()
    return texts


def _is(outcomes: Sequence[str], outcome: Outcome) -> npt.NDArray[np.bool_]:
    return np.array([text == outcome.value for text in outcomes], bool)


def _answer(outcome: str) -> str:
    """The server's answer, deduced from the crawl's outcome."""
    if outcome in PAGES:
        return Outcome.DOCUMENT.value
    # A server that only ever said "not modified" has given no answer for a first visit.
    return "" if outcome in REFUSALS or outcome == Outcome.NOT_MODIFIED.value else outcome


def _kinds(known: KnownUrls, answer: Sequence[str]) -> npt.NDArray[np.int8]:
    """The table's kinds; the URLs found there show that a page is a feed or sitemap."""
    kind = known.kind.copy()
    named = known.found_on != NOWHERE
    resource = _is(answer, Outcome.RESOURCE)
    for number, via in ((_SITEMAP, Via.SITEMAP), (_FEED, Via.FEED)):
        finders = known.found_on[named & known.is_via(via)]
        kind[finders] = np.where(resource[finders] & (kind[finders] == _PAGE), number, kind[finders])
    return kind


def _with_entries(known: KnownUrls, links: Ragged, first_at: Ints) -> Ragged:
    """Links of pages, and URLs that feeds and sitemaps named, newest first; those of one moment in the order in which
    they were fetched, since URLs of a level are fetched in their order on the page."""
    listed = np.flatnonzero((known.found_on != NOWHERE) & (known.is_via(Via.FEED) | known.is_via(Via.SITEMAP)))
    dated = np.where(np.isnan(known.announced_at), known.found_at, known.announced_at)
    listed = listed[np.lexsort((first_at[listed], -dated[listed]))]
    return _lists(
        len(known),
        np.concatenate((links.rows, known.found_on[listed])),
        np.concatenate((links.values, listed)),
    )


def _feeds(known: KnownUrls) -> Ragged:
    named = np.flatnonzero((known.kind == _FEED) & (known.found_on != NOWHERE) & known.is_via(Via.LINK))
    return _lists(len(known), known.found_on[named], named)


def _lists(rows: int, row: Ints, values: Ints) -> Ragged:
    order = np.argsort(row, kind="stable")
    return Ragged(np.searchsorted(row[order], np.arange(rows + 1)).astype(np.int64), values[order])


def _births(known: KnownUrls, visits: Visits, sighted: Sighted, started: float) -> Floats:
    """See the module's text."""
    seen_at, seen_on = (known.found_at * 1e6).astype(np.int64), np.full(len(known), NOWHERE, np.int64)
    listed = np.flatnonzero((known.found_on != NOWHERE) & (known.is_via(Via.FEED) | known.is_via(Via.SITEMAP)))
    visited = visits.found_at(known.found_on[listed], known.found_at[listed])
    seen_at[listed], seen_on[listed] = np.minimum(visited, seen_at[listed]), known.found_on[listed]
    linked = sighted.at < seen_at
    seen_at, seen_on = np.where(linked, sighted.at, seen_at), np.where(linked, sighted.on, seen_on)
    is_news = _of_last(visits.first_at(len(known)), seen_on, NEVER) < seen_at
    born = np.where(is_news, seen_at / 1e6, -np.inf)
    return np.where(known.announced_at > started, np.minimum(known.announced_at, seen_at / 1e6), born)


def _fingerprints(
    folder: DataFolder, segments: Sequence[str], visits: Visits, last: Ints, text_hash: Sequence[str]
) -> list[bytes]:
    """Of the stored texts; pages without one share that of their hash."""
    rows = np.flatnonzero(last != NOWHERE)
    places = visits.place[last[rows]]
    order = np.argsort(places)
    found = [b""] * len(last)
    for row, fingerprint in zip(
        rows[order].tolist(), read_fingerprints(folder.segments, segments, places[order]), strict=True
    ):
        found[row] = fingerprint
    by_hash = {text: fingerprint for text, fingerprint in zip(text_hash, found, strict=True) if text and fingerprint}
    return [one or by_hash.get(text, b"") for text, one in zip(text_hash, found, strict=True)]


def _source(sites: int, started: float, ended: float) -> str:
    if not ended:
        return "a crawl that has fetched nothing"
    first, last = (datetime.fromtimestamp(time, UTC).date().isoformat() for time in (started, ended))
    when = f"on {first}" if first == last else f"from {first} to {last}"
    return f"a crawl of {sites} site{'s' if sites != 1 else ''} {when}"
