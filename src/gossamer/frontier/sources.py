"""Feeds, sitemaps and start pages: sources of new URLs, each polled as often as it tends to have news (S0.10).

Every poll teaches the source's habit (`revisit.polls`): when it has news, and how much. The price of a poll is the same
for all, such that all polls together keep to the budget; it is recomputed now and then. A source without news for long
is retired: it is polled as seldom as any page, and comes back when it has news.

Polls leave room for pages: those of a site take a quarter of its requests at most, and while very many new URLs wait,
those of all sites take a quarter of all requests at most.

A plan holds for the limits it was made by. The start of a crawl calls `replan`, so that no plan is beyond the present
limits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE
from gossamer.frontier import subscriptions
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.politeness import PolitenessConfig, SiteClock, gap
from gossamer.frontier.queueing import move_revisits
from gossamer.frontier.steering import controls
from gossamer.model.outcome import Outcome
from gossamer.model.page_types import LISTS
from gossamer.model.records import LEVELS, Discovered, Kind
from gossamer.model.site import key64
from gossamer.revisit import polls
from gossamer.revisit.config import DAY, FeedConfig
from gossamer.revisit.poll_budget import price_for
from gossamer.revisit.polls import Habit

_PRICE_AGE = 600.0
"""Seconds for which the price of a poll is good."""
_SHARE = 0.25
"""The share of requests that polls may take."""
_CROWD = 10_000
"""Waiting new URLs from which polls keep to their share of all requests."""
_LEAST_PER_DAY = 24.0
"""Polls a day that a source gets even then."""
_SLACK = 1.0
"""Seconds; plans that are closer than that to the right time stay."""
_PUSHED = 8
"""How many times as long a source with a hub waits: only to notice if the hub stops sending news."""
_PUT = """INSERT INTO sources (site_id, key, kind, found, found_at, habit, retired) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (site_id, key) DO UPDATE SET kind = excluded.kind, found = sources.found + excluded.found,
    found_at = CASE WHEN excluded.found_at > 0 THEN excluded.found_at ELSE sources.found_at END,
    habit = excluded.habit, retired = excluded.retired"""

News = Mapping[str, Sequence[Discovered]]
"""New URLs, by the URL that led to them."""


class Sources:
    """Plans polls; one object per frontier, called inside the transaction of a report."""

    def __init__(self, db: Database, config: FeedConfig, ceiling: float, politeness: PolitenessConfig) -> None:
        """`ceiling`: seconds after which retired sources are polled again."""
        self._db, self._config, self._ceiling, self._politeness = db, config, ceiling, politeness
        self._price, self._priced_at = 0.0, float("-inf")
        self._requests = 0
        """Requests of the whole crawl when the price was computed."""

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
        floors = self._floors({site_id for site_id, _ in polled})
        pushed = subscriptions.active_feeds(self._db, now)
        due: dict[tuple[int, int], float] = {}
        rows = []
        for place, (visit, kind) in polled.items():
            new = news.get(visit.task.url, ())
            if not _tells_news(visit.outcome):
                due[place] = visit.at + self._retry_after(habits.get(place), visit.at, floors[place[0]])
                continue
            habit = habits.get(place) or polls.start(visit.at, quiet=_lists_everything(visit))
            dates = [item.announced_at or 0.0 for item in new]
            habit = polls.polled(habit, visit.at, dates, listed=visit.listed, size=visit.size)
            retired = polls.retirement(habit)
            due[place] = self._next(habit, retired, visit.task.url in pushed, floors[place[0]], now)
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
        if not self._config.poll or not visit.fetched or visit.rests or visit.retry_at is not None:
            return False
        if verdict.outcome is Outcome.REDIRECT or verdict.outcome.meaning.refusal:
            return False
        task = visit.task
        if task.kind is not Kind.PAGE or task.hub or verdict.outcome is Outcome.RESOURCE:
            return True
        # Copies, too: a start page whose canonical link names `/index.html` lists news itself.
        if not self._config.hubs or not verdict.outcome.meaning.page:
            return False
        return task.depth == 0 or (task.checked_at > 0 and visit.page_type in LISTS and task.url in news)

    def _next(self, habit: Habit, retired: str, pushed: bool, floor: float, now: float) -> float:
        if retired:
            return habit.polled_at + self._ceiling
        ceiling = max(self._config.ceiling, floor)
        due = polls.next_poll(habit, now, self._current_price(now), floor, ceiling)
        return now + min(_PUSHED * (due - now), ceiling) if pushed else due

    def _retry_after(self, habit: Habit | None, failed_at: float, floor: float) -> float:
        return polls.retry_after(habit, failed_at, floor, max(self._config.ceiling, floor))

    def _floors(self, site_ids: Collection[int]) -> dict[int, float]:
        """Seconds between two polls of a source, such that all polls of its site leave room for pages."""
        floors = dict.fromkeys(site_ids, self._config.floor)
        for chunk in chunks(sorted(site_ids)):
            sql = (
                "SELECT w.id, w.crawl_delay, w.least_delay, COUNT(*) FROM sites w JOIN sources s ON s.site_id = w.id "
                f"WHERE s.retired = '' AND w.id IN ({marks(chunk)}) GROUP BY w.id, w.crawl_delay, w.least_delay"
            )
            for site_id, crawl_delay, least_delay, sources in self._db.execute(sql, chunk):
                delay = gap(SiteClock(crawl_delay, least_delay=least_delay), self._politeness)
                floors[site_id] = max(self._config.floor, sources * delay / _SHARE)
        return floors

    def _current_price(self, now: float) -> float:
        if abs(now - self._priced_at) > _PRICE_AGE:
            rows = self._db.execute("SELECT habit FROM sources WHERE retired = ''")
            habits = [_decode(row[0]) for row in rows]
            budget = self._budget(max(len(habits), 1), now)
            price = price_for(habits, budget, self._config.floor, self._config.ceiling)
            self._price, self._priced_at = max(polls.LEAST_PRICE, price), now
        return self._price

    def _budget(self, sources: int, now: float) -> float:
        """Polls a second of all sources together."""
        waiting, requests = self._db.execute(
            "SELECT (SELECT COALESCE(SUM(queued), 0) FROM levels WHERE level < ?), "
            "(SELECT COALESCE(SUM(fetched), 0) FROM sites)",
            (LEVELS,),
        )[0]
        made, self._requests = requests - self._requests, requests
        wanted = sources * self._config.per_day / DAY
        passed = now - self._priced_at
        if waiting < _CROWD or not 0 < passed < math.inf:
            return wanted
        least = sources * min(_LEAST_PER_DAY, self._config.per_day) / DAY
        return min(wanted, max(_SHARE * float(made) / passed, least))

    def replan(self, now: float) -> int:
        """Bring all plans within the present limits, earlier or later; returns how many were not."""
        if not self._config.poll:
            return 0
        rows = self._db.execute(
            "SELECT s.site_id, s.key, u.part, u.url, u.due_at, u.fetched_at, s.habit, s.retired FROM sources s "
            "JOIN urls u ON u.site_id = s.site_id AND u.key = s.key WHERE u.due_at IS NOT NULL AND u.state = ?",
            (DONE,),
        )
        floors = self._floors({row[0] for row in rows})
        pushed = subscriptions.active_feeds(self._db, now)
        moved = []
        for site_id, key, part, url, planned, fetched_at, blob, retired in rows:
            habit = _decode(blob)
            if fetched_at > habit.polled_at + _SLACK:  # the last answer was none
                latest = fetched_at + self._retry_after(habit, fetched_at, floors[site_id])
            else:
                latest = self._next(habit, retired, url in pushed, floors[site_id], now)
            due = max(min(planned, latest), min(fetched_at + floors[site_id], latest))
            if abs(due - planned) > _SLACK:
                moved.append((site_id, part, key, planned, due))
        move_revisits(self._db, moved)
        return len(moved)

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
    """Subscribe to the hubs that feeds name, and end subscriptions to those that they no longer name."""
    for visit in visits:
        if visit.outcome is Outcome.RESOURCE and visit.task.kind is not Kind.SITEMAP:
            hub, topic = visit.push
            if hub:
                subscriptions.want(db, visit.task.url, topic, hub, now)
            elif visit.task.checked_at:
                subscriptions.drop(db, visit.task.url)


def _tells_news(outcome: Outcome) -> bool:
    """Whether a poll with this result shows if there is news."""
    return outcome is Outcome.NOT_MODIFIED or outcome.meaning.validated


def _kind_of(visit: Visit) -> str:
    """Its kind: a page that turns out to be a feed is one, and stays one while it does not change."""
    unchanged = visit.outcome is Outcome.NOT_MODIFIED and visit.task.previous == Outcome.RESOURCE.value
    is_feed = visit.task.kind is Kind.PAGE and (visit.outcome is Outcome.RESOURCE or unchanged)
    return (Kind.FEED if is_feed else visit.task.kind).value


def _lists_everything(visit: Visit) -> bool:
    """A sitemap that is no news sitemap: it lists all pages, and may be large."""
    return visit.task.kind is Kind.SITEMAP and not visit.listed


def _decode(habit: bytes) -> Habit:
    return msgspec.msgpack.decode(habit, type=Habit)


def only_polls_until(db: Database, until: float) -> bool:
    """Whether only polls become due until then, on sites that may get requests."""
    return not db.execute(
        "SELECT 1 FROM parts p JOIN sites s ON s.id = p.site_id "
        f"WHERE p.owner IS NULL AND p.ready_at <= ? AND {controls.READY} AND ("
        "EXISTS (SELECT 1 FROM queue q WHERE q.site_id = p.site_id AND q.part = p.part) OR "
        "EXISTS (SELECT 1 FROM schedule c WHERE c.site_id = p.site_id AND c.part = p.part AND c.due_at <= ?) OR "
        "EXISTS (SELECT 1 FROM revisits r WHERE r.site_id = p.site_id AND r.part = p.part AND r.due_at <= ? AND "
        "NOT EXISTS (SELECT 1 FROM sources o WHERE o.site_id = r.site_id AND o.key = r.key))) LIMIT 1",
        (until, until, until),
    )


class Source(msgspec.Struct, frozen=True):
    """A source as an operator sees it."""

    url: str
    site: str
    kind: str
    """feed, sitemap or page."""
    polls: int
    hits: int
    """Polls that had news."""
    found: int
    """URLs it was the first to name."""
    found_at: float
    """When it last had news; 0 for never."""
    polled_at: float
    next_at: float | None
    retired: str
    """Why it is hardly polled any more; empty if it is."""
    push: str
    """The state of the subscription at its hub, or empty."""
    problem: str = ""
    """Why its last answer could not be read, or not to its end; empty if it could."""


def list_sources(db: Database, site: str = "") -> list[Source]:
    """All sources, the most fruitful first."""
    sql = (
        "SELECT u.url, w.name, s.kind, s.habit, s.found, s.found_at, u.due_at, s.retired, "
        "COALESCE((SELECT p.state FROM subscriptions p WHERE p.feed = u.url), ''), "
        "CASE WHEN s.kind = 'page' OR substr(u.reason, 1, 10) = 'status 304' THEN '' ELSE COALESCE(u.reason, '') END "
        "FROM sources s JOIN urls u ON u.site_id = s.site_id AND u.key = s.key JOIN sites w ON w.id = s.site_id"
    )
    rows = db.execute(f"{sql} WHERE s.site_id = ?", (key64(site),)) if site else db.execute(sql)
    sources = []
    for url, name, kind, blob, found, found_at, due_at, retired, push, problem in rows:
        habit = _decode(blob)
        polled = habit.polls, habit.hits, found, found_at, habit.polled_at
        sources.append(Source(url, name, kind, *polled, due_at, retired, push, problem))
    return sorted(sources, key=lambda source: (-source.found, source.url))
