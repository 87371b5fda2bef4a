"""What is known of each site (`site/`), kept inside the transaction that records its pages.

`site_pages` holds the sample of a site: the sketches of its documents with the smallest keys, `site.sketch.SAMPLE` at
most. A page comes in or not by its key alone, so the sample is the same whatever order pages came in, and whichever
workers fetched them. `site_facts` holds what was learned from it.

A site is learned anew when its sample has doubled, and later when half of it is new. Facts that differ little from the
old ones are thrown away, because each version makes the crawl judge pages again (`rereading`). Copies do not count: a
trap that shows one article a hundred times would make its text look like furniture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.frontier.contract import KnownFacts, Verdict, Visit
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.site.facts import FEWEST, Facts, difference, learn
from gossamer.site.sketch import SAMPLE, Sketch
from gossamer.site.templates import Template

_WORTH_IT = 0.05
"""Share of the sampled pages' furniture that must differ for a new version."""
SETTLING = 300.0
"""Seconds without a lesson after which a running crawl judges pages again: each lesson may be the last but one."""
FIRST_KEY = -(2**63)
"""Before the key of every page."""
_facts = msgspec.msgpack.Decoder(Facts)
_sketches = msgspec.msgpack.Decoder(Sketch)


class Learning(msgspec.Struct):
    """A row of `site_facts`."""

    version: int = 0
    pages: int = 0
    """Pages of the sample when it was last learned from."""
    news: int = 0
    """Sketches that came in since then."""
    learned_at: float = 0.0
    facts: bytes = b""
    reread: int | None = None
    """The key after which pages are to be judged again; None: all were."""

    @property
    def is_due(self) -> bool:
        """Whether enough is new."""
        return self.news >= max(FEWEST, min(self.pages, SAMPLE // 2))


class Knowledge:
    """Takes in what pages show of their sites; one for each frontier."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._limits: dict[int, int] = {}
        """Of sites with a full sample: a key that is surely too large for it."""
        self.learned: dict[str, KnownFacts] = {}
        """Sites that the last report learned something about."""

    def take_in(self, judged: Sequence[tuple[Visit, Verdict, int]], now: float) -> None:
        """Take in a batch, inside its transaction."""
        self.learned = {}
        shown: dict[int, tuple[str, dict[int, bytes]]] = {}
        for visit, verdict, site_id in judged:
            new = visit.sketch and verdict.outcome is Outcome.DOCUMENT and not verdict.joined
            if new and visit.task.key <= self._limits.get(site_id, visit.task.key):
                shown.setdefault(site_id, (visit.site, {}))[1][visit.task.key] = visit.sketch
        for site_id, (site, sketches) in sorted(shown.items()):
            self._take_in(site_id, site, sketches, now)

    def _take_in(self, site_id: int, site: str, sketches: Mapping[int, bytes], now: float) -> None:
        _store(self._db, site_id, sketches, now)
        limit = _cut(self._db, site_id)
        if limit is not None:
            self._limits[site_id] = limit
        news = sum(limit is None or key <= limit for key in sketches)
        learning = learning_of(self._db, site_id)
        learning.news += news
        if learning.is_due:
            version = learning.version
            _learn(self._db, site_id, learning, now)
            if learning.version != version:
                self.learned[site] = KnownFacts(learning.version, learning.facts)
        if news:
            _write(self._db, site_id, learning)


def _store(db: Database, site_id: int, sketches: Mapping[int, bytes], now: float) -> None:
    db.many(
        "INSERT INTO site_pages (site_id, key, sketch, at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (site_id, key) DO UPDATE SET sketch = excluded.sketch, at = excluded.at",
        [(site_id, key, sketch, now) for key, sketch in sorted(sketches.items())],
    )


def _cut(db: Database, site_id: int) -> int | None:
    """Keep the smallest keys only; the largest of these if the sample is full."""
    rows = db.execute(
        f"SELECT key FROM site_pages WHERE site_id = ? ORDER BY key LIMIT 1 OFFSET {SAMPLE - 1}", (site_id,)
    )
    if not rows:
        return None
    limit: int = rows[0][0]
    db.execute("DELETE FROM site_pages WHERE site_id = ? AND key > ?", (site_id, limit))
    return limit


def _learn(db: Database, site_id: int, learning: Learning, now: float, at_the_end: bool = False) -> None:
    """Learn from the sample; a new version only if it says something else. At the end of a crawl any difference counts,
    so that what is known then depends on the pages alone, not on the order in which they came."""
    rows = db.execute("SELECT sketch FROM site_pages WHERE site_id = ? ORDER BY key", (site_id,))
    sample = [_sketches.decode(bytes(row[0])) for row in rows]
    old = _facts.decode(learning.facts) if learning.facts else Facts()
    found = learn(sample, None if at_the_end else old)
    learning.pages, learning.news, learning.learned_at = found.pages, 0, now
    if found.tells != old.tells:
        if at_the_end or difference(old, found, sample) >= _WORTH_IT:
            learning.version += 1
            learning.facts, learning.reread = msgspec.msgpack.encode(found), FIRST_KEY
            return
        learning.news = 1  # the end of the crawl looks again
    if found.templates != old.templates:  # they say what is fetched first: no page is judged by them
        learning.version += 1
        learning.facts = msgspec.msgpack.encode(found.telling_as(old))


def learning_of(db: Database, site_id: int) -> Learning:
    """The state of a site; empty if nothing is known of it."""
    sql = "SELECT version, pages, news, learned_at, facts, reread FROM site_facts WHERE site_id = ?"
    rows = db.execute(sql, (site_id,))
    if not rows:
        return Learning()
    version, pages, news, learned_at, facts, reread = rows[0]
    return Learning(version, pages, news, learned_at, bytes(facts), reread)


def _write(db: Database, site_id: int, learning: Learning) -> None:
    db.execute(
        "INSERT INTO site_facts (site_id, version, pages, news, learned_at, facts, reread) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (site_id) DO UPDATE SET version = excluded.version, pages = excluded.pages, "
        "news = excluded.news, learned_at = excluded.learned_at, facts = excluded.facts, reread = excluded.reread",
        (site_id, *msgspec.structs.astuple(learning)),
    )


def learn_the_rest(db: Database, now: float) -> None:
    """Learn from what came in since the last time, however little: for the end of a crawl. Each site is a transaction
    of its own, since a crawl may have thousands."""
    for (site_id,) in db.execute("SELECT site_id FROM site_facts WHERE pages > 0 AND news > 0 ORDER BY site_id"):
        with db.transaction():
            learning = learning_of(db, site_id)
            _learn(db, site_id, learning, now, at_the_end=True)
            _write(db, site_id, learning)


def facts_since(db: Database, known: Mapping[str, int]) -> dict[str, KnownFacts]:
    """What is known of sites by now, where it is newer than the versions given."""
    ids = {key64(site): site for site in known}
    found: dict[int, int] = {}
    for chunk in chunks(sorted(ids)):
        sql = f"SELECT site_id, version FROM site_facts WHERE version > 0 AND site_id IN ({marks(chunk)})"
        found.update(dict(db.execute(sql, chunk)))
    newer = [site_id for site_id, version in found.items() if version > known[ids[site_id]]]
    return {ids[site_id]: KnownFacts(found[site_id], learning_of(db, site_id).facts) for site_id in newer}


def templates_of(known: KnownFacts) -> tuple[Template, ...]:
    """How the URLs of a site look."""
    return _facts.decode(known.facts).templates if known.facts else ()


def facts_of(db: Database, site: str) -> Facts:
    """What is known of a site."""
    facts = learning_of(db, key64(site)).facts
    return _facts.decode(facts) if facts else Facts()


def judge_all_again(db: Database) -> int:
    """Have the documents of all sites judged again, because something else is taken out of pages now; returns how many
    sites there are. What is known of them stays as it is."""
    with db.transaction():
        sites = [
            row[0]
            for row in db.execute(
                "SELECT id FROM sites WHERE EXISTS "
                "(SELECT 1 FROM urls WHERE urls.site_id = sites.id AND urls.outcome = 'document') ORDER BY id"
            )
        ]
        for site_id in sites:
            learning = learning_of(db, site_id)
            learning.version, learning.reread = learning.version + 1, FIRST_KEY
            learning.facts = learning.facts or msgspec.msgpack.encode(Facts())
            _write(db, site_id, learning)
    return len(sites)


def sites_to_judge_again(db: Database, settled_at: float = math.inf) -> list[int]:
    """Sites some of whose pages were read before the site was known as it is now. `settled_at`: the time by which what
    is known has settled: only sites of which nothing was learned for `SETTLING` seconds before."""
    sql = "SELECT site_id FROM site_facts WHERE reread IS NOT NULL AND learned_at <= ? ORDER BY site_id"
    return [row[0] for row in db.execute(sql, (settled_at - SETTLING,))]
