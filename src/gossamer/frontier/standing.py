"""The state of a strategy that uses links (`priority.strategy.LinkStrategy`), a row per URL.

A fetched page gives something to each page it links to. Gifts to new URLs count for the level in which they enter;
known ones that wait may rise: they enter the better level, and `handing_out` skips and deletes the row they leave
behind. A crawl whose strategy uses URLs alone touches nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import QUEUED
from gossamer.frontier.contract import Visit
from gossamer.frontier.queueing import Queue, enqueue
from gossamer.model.records import LEVELS, Discovered
from gossamer.model.site import key64, site_of
from gossamer.priority.levels import levels_of
from gossamer.priority.product import Product
from gossamer.priority.strategy import Floats, LinkStrategy, Standing

Place = tuple[int, int]
"""Site and key of a URL."""
Row = tuple[float, float, float, float]
"""Score by the URL alone, and the three numbers of a standing."""

_PUT = """INSERT INTO standings (site_id, key, base, cash, history, at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (site_id, key) DO UPDATE SET base = excluded.base, cash = excluded.cash,
    history = excluded.history, at = excluded.at"""


class Gifts(dict[Place, float]):
    """Gifts of a batch's links to the pages they lead to."""


def collect_gifts(db: Database, strategy: Product, visits: Sequence[Visit], now: float) -> Gifts:
    """Let the fetched pages give: write their standings, return the gifts."""
    gifts, links = Gifts(), strategy.links
    if links is None:
        return gifts
    targets = {
        (key64(visit.site), visit.task.key): _targets(visit)
        for visit in visits
        if visit.outcome.meaning.gives and visit.retry_at is None and (links.again or not visit.task.previous)
    }
    rows = _load(db, list(targets))
    known = [place for place in targets if place in rows]
    if not known:
        return gifts
    before = [rows[place] for place in known]
    counts = np.array([max(len(targets[place]), 1) for place in known], float)
    shares, after = links.give(_standing(before), counts, now)
    _save(db, known, [row[0] for row in before], after)
    for place, share in zip(known, shares.tolist(), strict=True):
        for target in targets[place]:
            had = gifts.get(target)
            gifts[target] = share if had is None else had + share if links.joins == "sum" else min(had, share)
    return gifts


def _targets(visit: Visit) -> list[Place]:
    """Receivers of a page's gifts: the pages that it links to, or the one that it redirects to."""
    own = (key64(visit.site), visit.task.key)
    if visit.target:
        return [(key64(site_of(visit.target)), key64(visit.target))]
    return [target for target in visit.outlinks if target != own]


def levels_of_new(
    db: Database, strategy: Product, places: Sequence[Place], found: Sequence[Discovered], gifts: Gifts, now: float
) -> list[int]:
    """The levels of new URLs; their gifts are taken out of `gifts`."""
    if not found:
        return []
    scores = strategy.scores(found)
    links = strategy.links
    if links is not None:
        standing = links.start(found, now)
        standing = _gained(links, standing, [gifts.pop(place, None) for place in places])
        _save(db, places, scores.tolist(), standing)
        scores = scores * links.values(standing)
    levels: list[int] = levels_of(scores).tolist()
    return levels


def raise_known(db: Database, strategy: Product, gifts: Gifts, now: float) -> None:
    """Let known URLs gain, and those that wait rise."""
    links = strategy.links
    if links is None or not gifts:
        return
    rows = _load(db, sorted(gifts))
    places = list(rows)
    if not places:
        return
    base = [row[0] for row in rows.values()]
    after = _gained(links, _standing(list(rows.values())), [gifts[place] for place in places])
    _save(db, places, base, after)
    levels = levels_of(np.array(base) * links.values(after)).tolist()
    _rise(db, dict(zip(places, levels, strict=True)), now)


def _gained(links: LinkStrategy, standing: Standing, given: Sequence[float | None]) -> Standing:
    """The standings with the gifts added."""
    some = np.array([gift is not None for gift in given], bool)
    if not some.any():
        return standing
    gifts = np.array([gift for gift in given if gift is not None], float)
    gained = links.gain(Standing(*(column[some] for column in standing)), gifts)
    columns = []
    for old, new in zip(standing, gained, strict=True):
        column = np.array(old, float)
        column[some] = new
        columns.append(column)
    return Standing(*columns)


def _rise(db: Database, levels: Mapping[Place, int], now: float) -> None:
    """Put waiting first visits into better levels, if they have earned them."""
    by_site: dict[int, list[int]] = {}
    for site_id, key in levels:
        by_site.setdefault(site_id, []).append(key)
    for site_id, keys in sorted(by_site.items()):
        rising: dict[int, list[tuple[int, int]]] = {}
        for chunk in chunks(sorted(keys)):
            waiting = db.execute(
                f"SELECT key, part, level, lowered FROM urls WHERE state = ? AND outcome IS NULL AND kind = 'page' "
                f"AND level < ? AND site_id = ? AND key IN ({marks(chunk)})",
                (QUEUED, LEVELS, site_id, *chunk),
            )
            for key, part, level, lowered in waiting:
                better = min(levels[site_id, key] + lowered, LEVELS - 1)
                if better < level:
                    rising.setdefault(part, []).append((better, key))
        not_before = db.execute("SELECT not_before FROM sites WHERE id = ?", (site_id,))[0][0] if rising else 0.0
        for part, moved in sorted(rising.items()):
            db.many(
                "UPDATE urls SET level = ? WHERE site_id = ? AND key = ?",
                [(better, site_id, key) for better, key in moved],
            )
            enqueue(db, Queue(site_id, part), moved, now, not_before)


def link_values(db: Database, links: LinkStrategy, places: Sequence[Place]) -> Floats:
    """Values of known URLs by the links to them; 1 for those that have no standing."""
    rows = _load(db, places)
    values = np.ones(len(places))
    known = [number for number, place in enumerate(places) if place in rows]
    if known:
        values[known] = links.values(_standing([rows[places[number]] for number in known]))
    return values


def _load(db: Database, places: Sequence[Place]) -> dict[Place, Row]:
    by_site: dict[int, list[int]] = {}
    for site_id, key in places:
        by_site.setdefault(site_id, []).append(key)
    rows: dict[Place, Row] = {}
    for site_id, keys in sorted(by_site.items()):
        for chunk in chunks(sorted(keys)):
            sql = f"SELECT key, base, cash, history, at FROM standings WHERE site_id = ? AND key IN ({marks(chunk)})"
            for key, base, cash, history, at in db.execute(sql, (site_id, *chunk)):
                rows[site_id, key] = (base, cash, history, at)
    return rows


def _save(db: Database, places: Sequence[Place], base: Sequence[float], standing: Standing) -> None:
    columns: list[Floats] = [np.asarray(column, float) for column in standing]
    values = zip(places, base, *(column.tolist() for column in columns), strict=True)
    db.many(_PUT, sorted((*place, *numbers) for place, *numbers in values))


def _standing(rows: Sequence[Row]) -> Standing:
    numbers = np.array(rows, float).reshape(-1, 4)
    return Standing(numbers[:, 1], numbers[:, 2], numbers[:, 3])
