"""When something counts as wrong: figures in, signs out. `look` gathers the figures.

Each check says what is wrong in a sentence with figures and what to do. A check whose figures cannot be had says
nothing, so that its alarms stay as they are.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence

from gossamer.data.folder import DataFolder
from gossamer.data.index_place import index_place
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.extraction import Drop, extraction_drops
from gossamer.frontier.views import vitals
from gossamer.frontier.views.vitals import Activity, QuietFeed
from gossamer.index import commits
from gossamer.index.folder import IndexFolder
from gossamer.model.counts import counted, noun
from gossamer.notify.channel import shown
from gossamer.settings import Settings
from gossamer.tables import delays, outbox, samples
from gossamer.tables.alarms import Sign

log = logging.getLogger(__name__)

_DAY, _HOUR = 86_400.0, 3_600.0
_EULER = 0.577
_LEAST_HITS = 5
"""Polls with news before a feed has habits that it could break."""
_SHORTEST_SILENCE = 6 * _HOUR
_MOST_SUBJECTS = 20
"""Alarms of one kind; where there are more, one sentence tells of them all."""
_LEAST_ANNOUNCED = 20
"""Announced documents of an hour before their delays count."""
_BEHIND = 600.0
"""Seconds for which stored pages may wait for the index."""
_TRIES = 3
"""Failed tries of a message after which its channel counts as failing."""

STALLED, DISK, EXTRACTION, FEED = "crawl stalled", "disk low", "extraction drop", "feed silent"
SLO, INDEX, SENDING = "searchable late", "index behind", "sending fails"


def crawl_stalled(now: float, activity: Activity, after: float) -> list[Sign]:
    """No page for a while, although there are some to fetch and somebody to fetch them."""
    idle = now - max(activity.stored_at, activity.began_at)
    if not activity.workers or activity.paused or not activity.ready or idle < after:
        return []
    more = " or more" if activity.ready >= vitals.MOST_READY else ""
    due = f"although URLs are due at {activity.ready:,}{more} {noun(activity.ready, 'site')}"
    sentence = f"The crawl has stored no page for {_lasting(idle)}, {due}. Check the workers' log and the network."
    return [Sign(STALLED, "", sentence)]


def disk_low(free: int, low: int, stops: int) -> list[Sign]:
    """Free mebibytes below the mark."""
    if free >= low:
        return []
    return [Sign(DISK, "", f"The disk has {free:,} MiB free. The crawl stops at {stops:,} MiB. Free some space.")]


def index_behind(now: float, waiting_since: float | None) -> list[Sign]:
    """Stored pages that wait for the index, because the indexer is too slow or failed."""
    if waiting_since is None or now - waiting_since < _BEHIND:
        return []
    waited = f"The index is {_lasting(now - waiting_since)} behind the crawl"
    return [Sign(INDEX, "", f"{waited}. Check the indexer's log, or run `gossamer index`.")]


def searchable_late(classes: Mapping[int, int], most: float) -> list[Sign] | None:
    """The service level of the last hour: from publication to the search page; None where there is too little."""
    recent = delays.summary(classes)
    if recent.documents < _LEAST_ANNOUNCED:
        return None
    if recent.p95 <= most:
        return []
    among = f"5 % of the {counted(recent.documents, 'announced document')} of the last hour"
    sentence = f"{among} took longer than {_lasting(recent.p95)} to become searchable. The goal is {_lasting(most)}."
    return [Sign(SLO, "", sentence)]


def feeds_silent(feeds: Sequence[QuietFeed], times: float) -> list[Sign]:
    """Feeds that brought nothing for many times their usual longest pause, or do not answer for so long.

    For news that come at random, the longest of n pauses is about (ln n + 0.58) mean pauses. What was expected during
    the silence counts as it was then: the belief in a feed fades while it is silent."""
    signs = []
    for feed in feeds:
        habit = feed.habit
        silence = max(habit.polled_at, feed.tried_at) - habit.news_at
        if habit.hits < _LEAST_HITS or silence < _SHORTEST_SILENCE:
            continue
        usual = math.log(habit.hits) + _EULER
        expected = max(habit.silence, habit.rate * silence) / habit.batch
        if expected >= times * usual:
            longer = f"about {expected / usual:.0f} times its usual longest pause"
            sentence = f"The feed {feed.url} has had no news for {_lasting(silence)}, {longer}."
            signs.append(Sign(FEED, feed.url, sentence))
    return _bounded(FEED, signs, "feeds are silent")


def sending_fails(channels: Sequence[tuple[str, int, str]]) -> list[Sign]:
    """Channels that do not take what is sent."""
    return [
        Sign(SENDING, shown(channel), f"{shown(channel)} does not accept messages ({waiting} waiting): {problem}")
        for channel, waiting, problem in channels
    ]


def extraction_fell(drops: Sequence[Drop]) -> list[Sign]:
    """Sites whose pages suddenly give no text."""
    signs = []
    for one in drops:
        empty = (
            f"{one.share:.0%} of {counted(one.pages, 'page')} "
            f"fetched in the last day have no text, up from {one.before:.0%}"
        )
        advice = "Check whether the site has changed, and its rules"
        signs.append(Sign(EXTRACTION, one.site, f"{one.site}: {empty}. {advice}."))
    return _bounded(EXTRACTION, signs, "sites have more pages without text than before")


def look(db: Database, folder: DataFolder, settings: Settings, now: float) -> tuple[list[str], list[Sign]]:
    """All checks: the kinds that could be looked for, and what was seen."""
    config = settings.alerts
    checks: dict[str, Callable[[], list[Sign] | None]] = {
        STALLED: lambda: crawl_stalled(now, vitals.activity(db, now), config.stalled_after),
        DISK: lambda: disk_low(folder.free_mebibytes(), config.disk_low, settings.crawl.min_free_disk),
        INDEX: lambda: index_behind(now, _waiting_since(db, folder, settings)),
        SLO: lambda: searchable_late(_recent_delays(db, now), config.slo_p95),
        FEED: lambda: feeds_silent(vitals.fruitful_feeds(db, now - _SHORTEST_SILENCE), config.feed_silent),
        EXTRACTION: lambda: extraction_fell(
            extraction_drops(db, int(now // _DAY), config.extraction_drop, config.extraction_pages)
        ),
        SENDING: lambda: sending_fails(outbox.failing(db, _TRIES)),
    }
    looked_for, signs = [], []
    for kind, check in checks.items():
        try:
            found = check()
        except (GossamerError, OSError) as error:
            log.warning("cannot check for the alarm %s: %s", kind, error)
            continue
        if found is not None:
            looked_for.append(kind)
            signs += found
    return looked_for, signs


def _waiting_since(db: Database, folder: DataFolder, settings: Settings) -> float | None:
    """Since when stored pages wait for the index of this machine; None where they do not, or there is to be none."""
    generations = IndexFolder(index_place(folder, settings.shards).root)
    generation = generations.current()
    if generation is None:
        return vitals.unindexed_since(db, 0) if settings.crawl.index else None
    return vitals.unindexed_since(db, commits.read(generations.tantivy(generation)).payload.position)


def _recent_delays(db: Database, now: float) -> dict[int, int]:
    before = samples.as_of(db, now - _HOUR)
    return samples.grown(before.delays, delays.histogram(db)) if before is not None else {}


def _bounded(kind: str, signs: list[Sign], what: str) -> list[Sign]:
    if len(signs) <= _MOST_SUBJECTS:
        return signs
    names = ", ".join(sign.subject for sign in signs[:3])
    return [Sign(kind, "", f"{len(signs):,} {what}: {names}, …")]


def _lasting(seconds: float) -> str:
    for unit, length in (("days", _DAY), ("hours", _HOUR), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
