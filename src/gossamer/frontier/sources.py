"""Feeds, sitemaps and start pages: sources of new URLs, each polled by what it brings (S0.10).

Every poll teaches the source's habit (`revisit.polls`): when it brings news, and how much. The price of a
poll is the same for all, such that the polls of all sources together keep to the budget; it is worked out
anew now and then. A source that brings nothing for long is retired: it is looked at as seldom as any page, and
comes back when it has news.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from gossamer.frontier import subscriptions
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.database import Database
from gossamer.frontier.lists import chunks, marks
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind
from gossamer.model.site import key64
from gossamer.revisit import polls
from gossamer.revisit.config import DAY, FeedConfig
from gossamer.revisit.polls import Habit

_PRICE_AGE = 600.0
"""Seconds for which the price of a poll is good."""
_LEAST_PRICE = 300.0
"""Seconds that the news of a source may wait together before a poll is worth it, however much budget there is:
one with news every ten minutes is polled every ten minutes, one with news every day every other hour."""
_ANSWERS = {Outcome.RESOURCE, Outcome.NOT_MODIFIED, Outcome.DOCUMENT, Outcome.NOINDEX}
"""Outcomes of a poll that tell whether there are news."""
_FAILED = DAY
"""Seconds after which a source is asked again that gave no answer, however often it was tried."""
_PUSHED = 8
"""How many times as long a source waits whose hub tells us of news: only to notice when the hub does so no longer."""
_LISTS = ("listing", "collection")
"""Types of pages that become sources when a visit finds news on them."""
_PUT = """INSERT INTO sources (site_id, key, kind, found, found_at, habit, retired) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (site_id, key) DO UPDATE SET kind = excluded.kind, found = sources.found + excluded.found,
    found_at = CASE WHEN excluded.found_at > 0 THEN excluded.found_at ELSE sources.found_at END,
    habit = excluded.habit, retired = excluded.retired"""

News = Mapping[str, Sequence[Discovered]]
"""What was new, by the URL that led to it."""


class Sources:
    """Plans polls; one object per frontier, called inside the transaction of a report."""

    def __init__(self, db: Database, config: FeedConfig, ceiling: float) -> None:
        """`ceiling`: seconds after which retired sources are looked at again."""
        self._db, self._config, self._ceiling = db, config, ceiling
        self._price, self._priced_at = 0.0, float("-inf")

    def plan_polls(
        self, judged: Sequence[tuple[Visit, Verdict, int]], news: News, now: float
    ) -> dict[tuple[int, int], float]:
        """When the sources among the visited URLs are polled next, by site and key."""
        polled = {
            (site_id, visit.task.key): (visit, _kind_of(visit))
            for visit, verdict, site_id in judged
            if self._is_source(visit, verdict, news)
        }
        if not polled:
            return {}
        habits = self._habits(list(polled))
        pushed = subscriptions.active_feeds(self._db, now)
        due: dict[tuple[int, int], float] = {}
        rows = []
        for place, (visit, kind) in polled.items():
            new = news.get(visit.task.url, ())
            habit = habits.get(place) or polls.start(visit.at)
            if visit.outcome not in _ANSWERS:
                due[place] = now + min(_FAILED, self._config.ceiling)
                continue
            habit = polls.polled(habit, visit.at, [item.announced_at or 0.0 for item in new], listed=visit.listed)
            retired = polls.retirement(habit)
            due[place] = self._next(habit, retired, visit.task.url in pushed, now)
            found_at = visit.at if new else 0.0
            rows.append((*place, kind, len(new), found_at, msgspec.msgpack.encode(habit), retired))
        self._db.many(_PUT, sorted(rows))
        self._db.many(
            "UPDATE urls SET hub = 1 WHERE site_id = ? AND key = ?",
            [
                place
                for place, (visit, _) in sorted(polled.items())
                if visit.task.kind is Kind.PAGE and not visit.task.hub
            ],
        )
        return due

    def _is_source(self, visit: Visit, verdict: Verdict, news: News) -> bool:
        if not self._config.poll or not visit.fetched or visit.retry_at is not None:
            return False
        if verdict.outcome in (Outcome.REDIRECT, Outcome.REFUSED):
            return False
        task = visit.task
        if task.kind is not Kind.PAGE or task.hub or verdict.outcome is Outcome.RESOURCE:
            return True
        if not self._config.hubs or verdict.outcome not in (Outcome.DOCUMENT, Outcome.NOINDEX):
            return False
        return task.depth == 0 or (task.checked_at > 0 and visit.page_type in _LISTS and task.url in news)

    def _next(self, habit: Habit, retired: str, pushed: bool, now: float) -> float:
        if retired:
            return now + self._ceiling
        config = self._config
        due = polls.next_poll(habit, now, self._current_price(now), config.floor, config.ceiling)
        return now + min(_PUSHED * (due - now), config.ceiling) if pushed else due

    def _current_price(self, now: float) -> float:
        if abs(now - self._priced_at) > _PRICE_AGE:
            rows = self._db.execute("SELECT habit FROM sources WHERE retired = ''")
            habits = [_decode(row[0]) for row in rows]
            config = self._config
            budget = max(len(habits), 1) * config.per_day / DAY
            self._price = max(_LEAST_PRICE, polls.price_for(habits, budget, config.floor, config.ceiling))
            self._priced_at = now
        return self._price

    def _habits(self, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Habit]:
        by_site: dict[int, list[int]] = {}
        for site_id, key in places:
            by_site.setdefault(site_id, []).append(key)
        habits: dict[tuple[int, int], Habit] = {}
        for site_id, keys in sorted(by_site.items()):
            for chunk in chunks(sorted(keys)):
                sql = f"SELECT key, habit FROM sources WHERE site_id = ? AND key IN ({marks(chunk)})"
                for key, habit in self._db.execute(sql, (site_id, *chunk)):
                    habits[site_id, key] = _decode(habit)
        return habits


def note_hubs(db: Database, visits: Sequence[Visit], now: float) -> None:
    """Ask the hubs that feeds name to tell us of news, and no longer those that they do not name any more."""
    for visit in visits:
        if visit.outcome is Outcome.RESOURCE and visit.task.kind is not Kind.SITEMAP:
            hub, topic = visit.push
            if hub:
                subscriptions.want(db, visit.task.url, topic, hub, now)
            elif visit.task.checked_at:
                subscriptions.drop(db, visit.task.url)


def _kind_of(visit: Visit) -> str:
    """What it is: a page that turns out to be a feed is one."""
    return (Kind.FEED if visit.outcome is Outcome.RESOURCE and visit.task.kind is Kind.PAGE else visit.task.kind).value


def _decode(habit: bytes) -> Habit:
    return msgspec.msgpack.decode(habit, type=Habit)


class Source(msgspec.Struct, frozen=True):
    """A source as an operator sees it."""

    url: str
    site: str
    kind: str
    """feed, sitemap or page."""
    polls: int
    hits: int
    """Polls that brought something."""
    found: int
    """URLs it was the first to name."""
    found_at: float
    """When it last brought something, 0 for never."""
    polled_at: float
    next_at: float | None
    retired: str
    """Why it is hardly looked at any more; empty where it is."""
    push: str
    """Whether a hub tells us of news: the state of the subscription, or empty."""


def list_sources(db: Database, site: str = "") -> list[Source]:
    """All sources, the most fruitful first."""
    sql = (
        "SELECT u.url, w.name, s.kind, s.habit, s.found, s.found_at, u.due_at, s.retired, "
        "COALESCE((SELECT p.state FROM subscriptions p WHERE p.feed = u.url), '') "
        "FROM sources s JOIN urls u ON u.site_id = s.site_id AND u.key = s.key JOIN sites w ON w.id = s.site_id"
    )
    rows = db.execute(f"{sql} WHERE s.site_id = ?", (key64(site),)) if site else db.execute(sql)
    sources = []
    for url, name, kind, blob, found, found_at, due_at, retired, push in rows:
        habit = _decode(blob)
        sources.append(
            Source(url, name, kind, habit.polls, habit.hits, found, found_at, habit.polled_at, due_at, retired, push)
        )
    return sorted(sources, key=lambda source: (-source.found, source.url))
