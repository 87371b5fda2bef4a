"""How URLs enter the table: in batches, each new one once, within the budgets.

Nine of ten links point to known URLs. Most of those are in the recently-seen cache and cost a set lookup; the rest are
looked up in the index, site by site in key order, so a batch reads few pages of the file. New ones are appended.

A URL that was refused on entry is judged again when something points to it under rules that allow it (other settings,
or a shorter way to it); so is one that a rule refused on its visit, but not one that robots.txt denied: that would
repeat for as long as pages link to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import QUEUED, REFUSED
from gossamer.frontier.contract import Added, Budgets
from gossamer.frontier.copies.copying import COPYING_RULE, Yields
from gossamer.frontier.depths import follow_anew, note_shorter_ways
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.partitions import Plans
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.queueing import INSERT_QUEUE, count_levels, numbered_rows
from gossamer.frontier.seen import SeenCache, sighting
from gossamer.frontier.standing import Gifts, levels_of_new
from gossamer.frontier.steering import removals
from gossamer.model.counts import counted
from gossamer.model.decision import Decision, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS, Discovered, Kind, Via
from gossamer.model.site import host_of, key64, registrable_domain, site_of

_INSERT_URL = """INSERT INTO urls (site_id, key, url, part, state, kind, via, level, lowered, depth, hops, found_at,
    found_site, found_key, rule, reason, fit, announced_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_REVIVE_URL = """UPDATE urls SET state = ?, kind = ?, via = ?, level = ?, lowered = ?, depth = ?, hops = ?,
    found_at = ?, found_site = ?, found_key = ?, rule = NULL, reason = NULL, fit = ?, announced_at = ?
    WHERE site_id = ? AND key = ?"""
_ADD_SHAPES = """INSERT INTO shapes (site_id, shape, urls) VALUES (?, ?, ?)
    ON CONFLICT (site_id, shape) DO UPDATE SET urls = shapes.urls + excluded.urls"""


_NEW, _TURNED_AWAY, _VISITED = range(3)
"""State of a URL that may be queued: unknown; refused on entry; refused on its visit."""


_Found = tuple[int, str, list[tuple[int, Discovered]]]
"""A site's key and name, and its URLs found, by key."""


class _Item(msgspec.Struct, gc=False):
    """A URL that may be queued."""

    key: int
    found: Discovered
    row: int
    verdict: Decision | None = None
    """The rule that refuses it."""
    template: str = ""
    """Its shape."""
    shape: int = 0
    """The key of its shape."""
    lowered: int = 0
    """Levels by which it waits lower, because pages of its shape were copies."""
    level: int = 0
    """Its level."""
    fit: bool = False
    part: int = 0
    """The part it belongs to, if the site is split."""


class _Record(msgspec.Struct):
    """A site's counters."""

    known: int = 0
    refused: int = 0
    not_before: float = 0.0
    turned_away: int = 0
    """Whether there are URLs that may be revived."""


class _Offer(NamedTuple):
    """The URLs of a batch for one site."""

    site_id: int
    record: _Record
    items: list[_Item]


class _Writes:
    """Rows collected over the sites of a batch, written table by table."""

    def __init__(self) -> None:
        self.prefixes = PrefixTally()
        self.urls: list[tuple[Any, ...]] = []
        self.revived: list[tuple[Any, ...]] = []
        self.shapes: list[tuple[int, int, int]] = []
        self.sites: list[tuple[int, int, int]] = []
        self.queued: dict[tuple[int, int], list[tuple[int, int]]] = {}
        """Levels and keys, by site and part."""
        self.ready: dict[int, float] = {}
        """When each site becomes ready."""
        self._places: dict[str, tuple[int | None, int | None]] = {"": (None, None)}

    def place_of(self, url: str) -> tuple[int | None, int | None]:
        """Site and key of a page on which others were found; a batch asks for each many times."""
        place = self._places.get(url)
        if place is None:
            place = self._places[url] = (key64(site_of(url)), key64(url))
        return place

    def flush(self, db: Database) -> None:
        db.many(_INSERT_URL, self.urls)
        db.many(_REVIVE_URL, self.revived)
        db.many(_ADD_SHAPES, self.shapes)
        self.prefixes.flush(db)
        db.many("UPDATE sites SET known = known + ?, refused = refused + ? WHERE id = ?", self.sites)
        rows = numbered_rows(db, self.queued, self.ready)
        db.many(INSERT_QUEUE, rows)
        count_levels(db, Counter(row[2] for row in rows))


class Intake:
    """Adds discovered URLs; call `add` inside a transaction and `committed` after it."""

    def __init__(
        self, database: Database, budgets: Budgets, shape_of: Callable[[str], str], guidance: Guidance
    ) -> None:
        self._db = database
        self._budgets = budgets
        self._shape_of = shape_of
        self.guidance = guidance
        self.news: dict[str, list[Discovered]] = {}
        """URLs that the last `add` entered, by the page, feed or sitemap that led to them."""
        self.best: dict[int, int] = {}
        """The best level in which it entered anything, by the key of the site."""
        self.seen = SeenCache()
        """Keys that need not be offered again, whatever the rules say now."""
        self._refused = SeenCache(bits=18)
        """Keys that need not be offered again as refused ones."""
        self._plans = Plans(database)
        self._pending: list[int] = []
        self._pending_refused: list[int] = []

    def add(
        self, found: Sequence[Discovered], keys: Sequence[int] | None, now: float, gifts: Gifts | None = None
    ) -> Added:
        """Queue the new ones, remember the refused ones; `gifts` are what fetched pages give to their links."""
        items = self._unseen(found, keys)
        added = Added(known=len(found) - len(items))
        self.news, self.best = {}, {}
        if items:
            writes = _Writes()
            self._plans.refresh()
            sites = _by_site(items)
            records = self._records([site_id for site_id, _, _ in sites])
            known = self._known([(site, key) for site, _, offered in sites if site in records for key, _ in offered])
            anew = self._shorter_ways(sites, known)
            offers = []
            for site_id, name, offered in sites:
                here = known.get(site_id, set())
                offer = self._offer(site_id, name, offered, here, records.get(site_id), now, added)
                if offer is not None:
                    offers.append(offer)
            self._judge(offers, writes)
            self._place(offers, gifts or Gifts(), now)
            for offer in offers:
                self._store(offer, now, added, writes)
            writes.flush(self._db)
            follow_anew(self._db, anew, now)
        return added

    def _shorter_ways(self, sites: Sequence[_Found], known: Mapping[int, set[int]]) -> list[tuple[int, int]]:
        """With a limit of depth: note shorter ways to known URLs; returns those whose links must be followed anew."""
        limit = self.guidance.reach.depth
        if limit is None:
            return []
        offered = {
            (site_id, key): found.depth
            for site_id, _, items in sites for key, found in items if key in known.get(site_id, ())
        }  # fmt: skip
        return note_shorter_ways(self._db, offered, limit)

    def _sighting(self, key: int, found: Discovered) -> int:
        """The key that need not be looked up again: the URL; with a limit of depth, the URL at this depth or deeper."""
        return key if self.guidance.reach.depth is None else sighting(key, found.depth)

    def committed(self) -> None:
        """The transaction is durable: its URLs need not be looked up again."""
        self.seen.update(self._pending)
        self._refused.update(self._pending_refused)
        self._pending, self._pending_refused = [], []

    def rolled_back(self) -> None:
        """The transaction is gone: forget its URLs."""
        self._pending, self._pending_refused = [], []

    def _unseen(self, found: Sequence[Discovered], keys: Sequence[int] | None) -> dict[int, Discovered]:
        """The URLs to look up, each once: its first sighting that is not refused, if there is one."""
        items: dict[int, Discovered] = {}
        refused = self._refused
        if keys is None:
            keys = [key64(item.url) for item in found]
        limited = self.guidance.reach.depth is not None
        for place in self._missing(found, keys) if limited else self.seen.missing(keys):
            key, item = keys[place], found[place]
            if item.refusal is None:
                if key in items and items[key].refusal is not None:
                    del items[key]  # its place must not depend on whether the refused one is remembered
            elif refused.knows(key, item.depth):
                continue
            first = items.setdefault(key, item)
            if limited and item.depth < first.depth and (item.refusal is None or first.refusal is not None):
                items[key] = item
        return items

    def _missing(self, found: Sequence[Discovered], keys: Sequence[int]) -> list[int]:
        """Positions of the URLs that are not surely known at their depth."""
        knows = self.seen.knows
        return [place for place, key in enumerate(keys) if not knows(key, found[place].depth)]

    def _offer(
        self, site_id: int, name: str, offered: list[tuple[int, Discovered]], known: set[int], record: _Record | None,
        now: float, added: Added,
    ) -> _Offer | None:  # fmt: skip
        """The URLs of a site that may be queued."""
        refused = self._refused_rows(site_id, sorted(known)) if record and record.turned_away else {}
        items = []
        for key, found in offered:
            if key not in known:
                items.append(_Item(key, found, _NEW))
            elif key in refused and found.refusal is None:
                items.append(_Item(key, found, refused[key]))
            else:
                added.known += 1
                (self._pending_refused if key in refused else self._pending).append(self._sighting(key, found))
        if not items:
            return None
        record = record or self._new_site(name, now)
        if record is None:
            added.refused += len(items)
            return None
        return _Offer(site_id, record, items)

    def _learn_refusal(self, key: int, found: Discovered, verdict: Decision) -> None:
        """Refusals that need no second lookup: a used-up budget stays so, a shape of copies may open again, and a rule
        holds only for the URLs that it refuses."""
        if found.refusal is not None:
            self._pending_refused.append(self._sighting(key, found))
        elif verdict.rule != COPYING_RULE:
            self._pending.append(self._sighting(key, found))

    def forget(self, keys: Sequence[int]) -> None:
        """Look these up again when they are offered: their visits ended in a refusal."""
        self.seen.discard(keys)

    def _known(self, wanted: Sequence[tuple[int, int]]) -> dict[int, set[int]]:
        """Which keys of which sites are in the table, by its index alone."""
        known: dict[int, set[int]] = {}
        for site_id, key in self._db.find("site_id, key", "urls", ("site_id", "key"), wanted):
            known.setdefault(site_id, set()).add(key)
        return known

    def _refused_rows(self, site_id: int, keys: Sequence[int]) -> dict[int, int]:
        """Which keys were refused, and when: those that may be revived."""
        refused: dict[int, int] = {}
        for chunk in chunks(keys):
            sql = f"SELECT key, outcome FROM urls WHERE state = {REFUSED} AND site_id = ? AND key IN ({marks(chunk)})"
            for key, outcome in self._db.execute(sql, (site_id, *chunk)):
                if outcome != Outcome.ROBOTS_DENIED.value:
                    refused[key] = _TURNED_AWAY if outcome is None else _VISITED
        return refused

    def _records(self, site_ids: Sequence[int]) -> dict[int, _Record]:
        """Counters of the known sites."""
        records: dict[int, _Record] = {}
        for chunk in chunks(site_ids):
            sql = (
                "SELECT id, known, refused, not_before, "
                f"EXISTS (SELECT 1 FROM urls WHERE state = {REFUSED} AND site_id = sites.id) "
                f"FROM sites WHERE id IN ({marks(chunk)})"
            )
            records.update((site_id, _Record(*rest)) for site_id, *rest in self._db.execute(sql, chunk))
        return records

    def _new_site(self, name: str, now: float) -> _Record | None:
        """Make the rows of a site; None if the crawl has enough sites."""
        if self._sites() >= self._budgets.sites:
            return None
        self.make_site(name, now)
        return _Record()

    def make_site(self, name: str, now: float) -> None:
        """Make the rows of a site, if there are none yet."""
        site_id, domain = key64(name), registrable_domain(host_of(name))
        sites = self._sites()
        if not self._db.change(
            "INSERT INTO sites (id, name, domain, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (site_id, name, domain, now),
        ):
            return
        self._db.execute("INSERT INTO parts (site_id, part) VALUES (?, 0) ON CONFLICT DO NOTHING", (site_id,))
        self._db.execute(
            "INSERT INTO meta VALUES ('sites', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (str(sites + 1),),
        )

    def _sites(self) -> int:
        """Number of known sites; kept, because counting takes longer the more there are."""
        kept = self._db.execute("SELECT value FROM meta WHERE key = 'sites'")
        return int(kept[0][0] if kept else self._db.execute("SELECT COUNT(*) FROM sites")[0][0])

    def _judge(self, offers: Sequence[_Offer], writes: _Writes) -> None:
        """The rule that refuses each item, if any; counts the shapes of the others."""
        shapes = self._shapes(offers)
        yields = Yields(self._db, [offer.site_id for offer in offers], self._budgets)
        out = removals.covered(self._db)
        for offer in offers:
            if out:
                _refuse_removed(offer.items, out)
            self._judge_site(offer, shapes.get(offer.site_id, {}), yields, writes)

    def _judge_site(self, offer: _Offer, shapes: dict[int, int], yields: Yields, writes: _Writes) -> None:
        site_id, record, items = offer
        new: Counter[int] = Counter()
        known = record.known
        for item in items:
            verdict = item.verdict or item.found.refusal
            if verdict is None and item.found.kind is Kind.FEED:
                verdict = self._too_many_feeds(site_id)
            if verdict is None and item.row != _VISITED:
                alike = shapes.get(item.shape, 0) + new[item.shape]
                verdict = yields.refusal(site_id, item.shape) or self._over_budget(known, alike)
                if verdict is None:
                    item.lowered = yields.lowered(site_id, item.shape)
                    known += 1
                    new[item.shape] += 1
            item.verdict = verdict
        writes.shapes.extend((site_id, shape, count) for shape, count in sorted(new.items()))

    def _place(self, offers: Sequence[_Offer], gifts: Gifts, now: float) -> None:
        """The levels of the new URLs: computed once, for all of a batch."""
        fits = self.guidance.fits
        places = [(offer.site_id, item) for offer in offers for item in offer.items if item.verdict is None]
        keys = [(site_id, item.key) for site_id, item in places]
        levels = levels_of_new(self._db, self.guidance.strategy, keys, [item.found for _, item in places], gifts, now)
        for (_, item), level in zip(places, levels, strict=True):
            if item.found.kind is Kind.PAGE:
                item.fit = bool(fits(item.found.url))
                item.level = 0 if item.found.via is Via.SEED else min(level + item.lowered, LEVELS - 1)

    def _over_budget(self, known: int, alike: int) -> Decision | None:
        budgets = self._budgets
        if known >= budgets.pages_per_site:
            return refuse("trap.site_budget", f"the site has {counted(known, 'URL')} already (budget.pages_per_site)")
        if alike >= budgets.similar_paths:
            return refuse(
                "trap.similar_paths",
                f"the site has {counted(alike, 'URL')} of this shape already (budget.similar_paths)",
            )
        return None

    def _too_many_feeds(self, site_id: int) -> Decision | None:
        """A site may name a feed for each tag it has."""
        most = self.guidance.feeds.per_site
        feeds = self._db.execute("SELECT COUNT(*) FROM sources WHERE site_id = ? AND kind = 'feed'", (site_id,))[0][0]
        if feeds < most:
            return None
        return refuse("budget.feeds", f"the site has {counted(feeds, 'feed')} already (feeds.per_site)")

    def _shapes(self, offers: Sequence[_Offer]) -> dict[int, dict[int, int]]:
        """How many URLs the sites have of each shape among the items."""
        wanted = set()
        for offer in offers:
            for item in offer.items:
                if item.found.refusal is None:
                    item.template = self._shape_of(item.found.url)
                    item.shape = key64(item.template)
                    wanted.add((offer.site_id, item.shape))
        counts: dict[int, dict[int, int]] = {}
        rows = self._db.find("site_id, shape, urls", "shapes", ("site_id", "shape"), sorted(wanted))
        for site_id, shape, urls in rows:
            counts.setdefault(site_id, {})[shape] = urls
        return counts

    def _store(self, offer: _Offer, now: float, added: Added, writes: _Writes) -> None:
        site_id, record, items = offer
        queued: list[tuple[int, int, int]] = []
        known, refused = record.known, record.refused
        plan = self._plans.of(site_id)
        for item in items:
            if plan is not None:
                item.part = plan.part_of(item.found.url)
            key, found, row, verdict = item.key, item.found, item.row, item.verdict
            if verdict is not None:
                if row != _NEW:
                    added.known += 1
                    self._learn_refusal(key, found, verdict)
                    continue
                refused += 1
                added.refused += 1
                if refused > self._budgets.refused_per_site:
                    continue
                self._learn_refusal(key, found, verdict)
            else:
                queued.append((item.part, item.level, key))
                self._pending.append(self._sighting(key, found))
                refused -= row == _TURNED_AWAY
                if row != _VISITED:
                    known += 1
                    writes.prefixes.entered(site_id, item.template, item.fit)
                    self.news.setdefault(found.referrer, []).append(found)
            place = writes.place_of(found.referrer)
            if row == _NEW:
                writes.urls.append(_url_row(site_id, item, now, place))
            else:
                writes.revived.append(_revived_row(site_id, item, now, place))
        writes.sites.append((known - record.known, refused - record.refused, site_id))
        if queued:
            self.best[site_id] = min(level for _, level, _ in queued)
            writes.ready[site_id] = max(now, record.not_before)
        for part, level, key in queued:
            writes.queued.setdefault((site_id, part), []).append((level, key))
        added.new += len(queued)


def _refuse_removed(items: Sequence[_Item], out: removals.Covered) -> None:
    """A worker may offer URLs that were taken down a moment ago."""
    for item in items:
        what = out.by(item.found.url)
        if what is not None:
            item.verdict = refuse(f"{removals.RULE}{what}", f"taken down: {removals.words_of(what)}")


def _by_site(items: dict[int, Discovered]) -> list[_Found]:
    sites: dict[str, list[tuple[int, Discovered]]] = {}
    for key, item in items.items():
        sites.setdefault(site_of(item.url), []).append((key, item))
    return sorted((key64(name), name, offered) for name, offered in sites.items())


def _url_row(site_id: int, item: _Item, now: float, place: tuple[Any, Any]) -> tuple[Any, ...]:
    found, verdict = item.found, item.verdict
    state = QUEUED if verdict is None else REFUSED
    rule, reason = (verdict.rule, verdict.reason) if verdict else (None, None)
    return (
        site_id, item.key, found.url, item.part, state, found.kind.value, found.via.value, item.level, item.lowered,
        found.depth, found.hops, now, *place, rule, reason, int(item.fit), found.announced_at,
    )  # fmt: skip


def _revived_row(site_id: int, item: _Item, now: float, place: tuple[Any, Any]) -> tuple[Any, ...]:
    found = item.found
    return (
        QUEUED, found.kind.value, found.via.value, item.level, item.lowered, found.depth, found.hops, now, *place,
        int(item.fit), found.announced_at, site_id, item.key,
    )  # fmt: skip
