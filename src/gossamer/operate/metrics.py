"""Metrics of a crawl for Prometheus, read at the moment of the request.

They come from counters that the frontier database keeps with its rows, and from the last commit of the index, so a
request is cheap and nothing is counted twice. `gossamer serve` at /metrics and `gossamer status --prometheus`, for
machines without a server, give the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec
from prometheus_client.core import (
    CollectorRegistry,
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import (
    Metric as Family,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from gossamer import __version__
from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database import schema
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.freshness import Freshness, collection_freshness
from gossamer.frontier.views.inspect import Status, status
from gossamer.indexer.indexed import IndexStanding, index_lag, index_standing
from gossamer.model.metric import Metric
from gossamer.settings import Settings
from gossamer.tables import delays, measures

BOUNDS = tuple(float(2**power) for power in range(22))
"""Upper bounds of the delays in seconds, from one second to 24 days: always the same, so that you can add them up."""

T = TypeVar("T")


def _gauge(name: str, unit: str, sentence: str, *labels: str) -> Metric:
    return Metric(f"gossamer_{name}", "gauge", unit, sentence, labels)


METRICS = (
    _gauge("build_info", "1", "Always 1; its labels are the versions of Gossamer and of the database schema.",
           "version", "schema"),
    _gauge("crawl_up", "0 or 1", "Whether the frontier database could be read; if not, its metrics are missing."),
    _gauge("crawl_paused", "0 or 1", "Whether an operator paused the whole crawl."),
    _gauge("documents", "pages", "Documents kept."),
    _gauge("duplicates", "pages", "Pages with the text of another page, and pages whose canonical link names another."),
    Metric("gossamer_page_requests_total", "counter", "requests",
           "Page requests made, failed and redirected ones included; robots.txt is not counted."),
    _gauge("newest_result_timestamp_seconds", "seconds since 1970", "When results were last stored."),
    _gauge("urls_known", "URLs", "URLs accepted into the table."),
    _gauge("urls_due", "URLs", "URLs waiting in the queue."),
    _gauge("urls_scheduled", "URLs", "URLs to be tried again later."),
    _gauge("urls_refused", "URLs", "URLs refused by filters, trap guards, budgets or robots.txt."),
    _gauge("urls_by_outcome", "URLs", "URLs by the outcome of their last visit.", "outcome"),
    _gauge("urls_failed", "URLs", "URLs whose last visit failed, by the kind of error.", "kind"),
    _gauge("queue_urls", "URLs", "URLs in the queue by level; 0 is fetched first, 32 and above are revisits.", "level"),
    _gauge("sites", "sites", "Sites known."),
    _gauge("sites_active", "sites", "Sites, or parts of split ones, that a worker holds."),
    _gauge("sites_waiting", "sites", "Sites, or parts, that have due URLs and no worker."),
    _gauge("sites_blocked", "sites", "Waiting sites, or parts, whose next request is not due yet."),
    _gauge("sites_paused", "sites", "Sites that an operator paused."),
    _gauge("workers", "processes", "Workers that gave a sign of life within their lease, by machine.", "machine"),
    _gauge("segments", "segments", "Segments of downloads."),
    _gauge("segments_bytes", "bytes", "Size of the segments."),
    _gauge("disk_free_bytes", "bytes", "Free space on the disk of the data folder, or of the segments if less."),
    _gauge("freshness_ratio", "0 to 1", "Expected share of documents that are up to date."),
    _gauge("staleness_seconds", "seconds", "Expected average age of stored copies; 0 for those up to date."),
    Metric("gossamer_publish_to_searchable_seconds", "histogram", "seconds",
           "From a feed's announcement until readers could find the document; the sum adds upper bounds."),
    _gauge("index_up", "0 or 1", "Whether the index can be searched."),
    _gauge("index_documents", "pages", "Pages in the index."),
    _gauge("index_segments", "segments", "Segments of the index."),
    _gauge("index_lag_changes", "changes", "Changes of the crawl that are not in the index yet."),
    _gauge("index_lag_seconds", "seconds", "Age of the oldest stored results that are not in the index yet."),
    _gauge("index_committed_timestamp_seconds", "seconds since 1970", "When the index was last committed."),
    _gauge("alarms", "alarms", "Alarms that are on, by kind.", "kind"),
    _gauge("outbox_messages", "messages",
           "Messages not sent: waiting for the first try, failing (tried and tried again), given up.", "state"),
    _gauge("schedule_last_start_timestamp_seconds", "seconds since 1970", "When a schedule last began to run.",
           "machine", "name"),
    _gauge("schedule_last_duration_seconds", "seconds", "How long the last finished run of a schedule took.",
           "machine", "name"),
    _gauge("schedule_last_exit_code", "exit code", "Exit code of a schedule's last run; 0 is success.",
           "machine", "name"),
)  # fmt: skip
"""All metrics of a crawl, in order of output."""

_BY_NAME = {metric.name: metric for metric in METRICS}


class Ask(Protocol):
    """Puts a question to the frontier database, such as `SharedConnection.ask`."""

    def __call__(self, question: Callable[[Database], T]) -> T:
        """Answer a question."""
        ...


class Figures(msgspec.Struct):
    """All values for one scrape, read at one moment."""

    standing: Status
    freshness: Freshness
    delays: dict[int, int]
    index: IndexStanding
    lag: float
    """Seconds the index is behind."""
    newest: float | None
    alarms: dict[str, int]
    outbox: dict[str, int]
    runs: list[measures.ScheduledRun]


class CrawlCollector(Collector):
    """Gives the metrics of a crawl to a Prometheus registry."""

    def __init__(self, folder: DataFolder, settings: Settings, clock: Clock, ask: Ask) -> None:
        self._folder, self._settings, self._clock, self._ask = folder, settings, clock, ask

    def describe(self) -> list[Family]:
        """Read nothing when the collector is registered: the database may not exist yet."""
        return []

    def collect(self) -> Iterator[Family]:
        """The present values; without a database, only that there is none."""
        yield _family("build_info", {(__version__, str(schema.VERSION)): 1})
        try:
            figures = self._ask(self._read)
        except (GossamerError, OSError):
            yield _family("crawl_up", 0)
            return
        yield _family("crawl_up", 1)
        yield from _of_crawl(figures)
        yield from _of_index(figures)
        yield from _of_operation(figures, self._folder)

    def _read(self, db: Database) -> Figures:
        now = self._clock.now()
        index = index_standing(self._folder, db)
        return Figures(
            standing=status(db, now),
            freshness=collection_freshness(db, self._settings.revisit, now),
            delays=delays.histogram(db),
            index=index,
            lag=index_lag(db, index, now),
            newest=measures.newest_stored(db),
            alarms=measures.open_alarms(db),
            outbox=measures.outbox(db),
            runs=measures.last_runs(db),
        )


def text(collector: Collector) -> str:
    """The metrics in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def _of_crawl(figures: Figures) -> Iterator[Family]:
    standing = figures.standing
    yield _family("crawl_paused", int(bool(standing.paused)))
    yield _family("documents", standing.pages)
    yield _family("duplicates", standing.duplicates + standing.aliases)
    yield _family("page_requests_total", standing.fetched)
    yield from _known("newest_result_timestamp_seconds", figures.newest)
    yield _family("urls_known", standing.urls_known)
    yield _family("urls_due", standing.urls_due)
    yield _family("urls_scheduled", standing.urls_scheduled)
    yield _family("urls_refused", standing.urls_refused)
    yield _family("urls_by_outcome", {(name,): urls for name, urls in standing.outcomes.items()})
    yield _family("urls_failed", {(name,): urls for name, urls in standing.errors_by_kind.items()})
    yield _family("queue_urls", {(level,): urls for level, urls in standing.queue_by_level.items()})
    yield _family("sites", standing.sites)
    yield _family("sites_active", standing.sites_active)
    yield _family("sites_waiting", standing.sites_waiting)
    yield _family("sites_blocked", standing.sites_blocked)
    yield _family("sites_paused", standing.sites_paused)
    elsewhere = {(machine,): count for machine, count in standing.workers_by_machine.items()}
    yield _family("workers", elsewhere or {("",): standing.workers})
    yield _family("segments", standing.segments)
    yield _family("segments_bytes", standing.bytes)
    yield _family("freshness_ratio", figures.freshness.fresh)
    yield _family("staleness_seconds", figures.freshness.age)
    yield _delays(figures.delays)


def _of_index(figures: Figures) -> Iterator[Family]:
    index = figures.index
    yield _family("index_up", int(not index.problem))
    yield _family("index_documents", index.documents)
    yield _family("index_segments", index.segments)
    yield _family("index_lag_changes", index.behind)
    yield _family("index_lag_seconds", figures.lag)
    yield from _known("index_committed_timestamp_seconds", index.committed_at)


def _of_operation(figures: Figures, folder: DataFolder) -> Iterator[Family]:
    with suppress(GossamerError, OSError):  # the database is on a server, and this machine has no folder yet
        yield _family("disk_free_bytes", folder.free_mebibytes() * 1024 * 1024)
    yield _family("alarms", {(kind,): count for kind, count in figures.alarms.items()})
    yield _family("outbox_messages", {(state,): count for state, count in figures.outbox.items()})
    runs = {(run.machine, run.name): run for run in figures.runs}
    yield _family("schedule_last_start_timestamp_seconds", {name: run.began_at for name, run in runs.items()})
    over = {name: run.ended_at - run.began_at for name, run in runs.items() if run.ended_at is not None}
    yield _family("schedule_last_duration_seconds", over)
    codes = {name: run.code for name, run in runs.items() if run.code is not None}
    yield _family("schedule_last_exit_code", codes)


def _delays(classes: Mapping[int, int]) -> Family:
    metric = _BY_NAME["gossamer_publish_to_searchable_seconds"]
    counts = [sum(count for bucket, count in classes.items() if delays.bound(bucket) <= bound) for bound in BOUNDS]
    buckets: list[tuple[str, float]] = [(str(bound), count) for bound, count in zip(BOUNDS, counts, strict=True)]
    buckets.append(("+Inf", sum(classes.values())))
    family = HistogramMetricFamily(metric.name, metric.sentence)
    family.add_metric([], buckets, math.fsum(count * delays.bound(bucket) for bucket, count in classes.items()))
    return family


def _known(name: str, value: float | None) -> Iterator[Family]:
    """A metric that is left out if it has no value."""
    if value is not None:
        yield _family(name, value)


def _family(name: str, values: float | Mapping[Any, float]) -> Family:
    """A metric with its one value, or with a value for each tuple of labels."""
    metric = _BY_NAME[f"gossamer_{name}"]
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.sentence, labels=metric.labels)
    for labels, value in values.items() if isinstance(values, Mapping) else [((), values)]:
        family.add_metric(labels, value)
    return family
