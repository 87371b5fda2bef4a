"""What `gossamer crawl` does: recover, add seeds, start workers and the indexer, watch, end.

Workers are processes. One that dies is buried (its sites are freed at once, its
unfinished segment deleted) and replaced; one that fails with an error for a person
(disk full, database gone) ends the crawl. The crawl is over when no worker holds a
site and nothing but polls becomes due within `crawl.linger` seconds, or within an hour where a
site is only slow (a long Crawl-delay); one that watches
ends when it is told to, and one that is paused waits to be resumed. It does not wait long for
sites that have never answered: they are most likely mistyped, and whoever named them wants to
know. Paused sites hold nobody up: what waits there waits for the next crawl.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence

from gossamer.clock import Clock, SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.recovery import recover
from gossamer.errors import GossamerError, OperationError, StorageError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.knowledge import learn_the_rest, sites_to_judge_again
from gossamer.frontier.politeness import LONGEST_PACE
from gossamer.frontier.sources import only_polls_until
from gossamer.frontier.views.inspect import Status, is_paced, next_due_where_answered, status
from gossamer.settings import Settings
from gossamer.supervise.alert_child import AlertProcess
from gossamer.supervise.children import Child
from gossamer.supervise.chores import PROCESS, Chore
from gossamer.supervise.crew import Crew
from gossamer.supervise.phase import Phase
from gossamer.supervise.pushing import HubCaller
from gossamer.supervise.sampling import Sampler
from gossamer.upkeep.due import MERGE_EVERY, merging_is_due, thinning_every
from gossamer.upkeep.forgetting import FORGET_EVERY

log = logging.getLogger(__name__)

_TICK = 0.1
_LONGEST_PAUSE = 5.0
"""Seconds between two looks at most: one look may have waited for a database that was away."""
_CHECK_EVERY = 5.0
_REREADING = "gossamer.crawl.again.process"
_REREAD_EVERY = 60.0
"""Seconds between two looks for sites that are known better than when their first pages were read."""
SPLIT_EVERY = 30.0
"""Seconds between two looks for sites that are worth splitting, or have become uneven."""
_DEATHS = 50
"""Deaths in a row, without a page in between, after which something must be wrong for good."""

PATIENCE = 13.0
"""Seconds that a crawl waits for sites that have never answered, where nothing else is left: two more tries by the
usual back-off of 5 and 10 s. `crawl.linger` is for sites that have."""

_CLOCK_SET = 120.0
"""Seconds by which a clock may drift without a word."""

Watcher = Callable[[Status], None]


def is_over(settings: Settings, frontier: CrawlFrontier, standing: Status, now: float) -> bool:
    """Whether a crawl has nothing left to do."""
    if standing.sites_active:
        return False
    if frontier.page_limit_reached():
        return True
    if settings.crawl.watch or standing.paused:
        return False
    until = now + settings.crawl.linger
    if standing.next_due_at is None:
        return True
    if standing.next_due_at <= now or is_paced(frontier.db, now + LONGEST_PACE):
        return False
    if standing.next_due_at > until:
        return True
    # A busy site has a poll every few minutes: waiting for those has no end.
    return only_polls_until(frontier.db, until) or not _is_worth_waiting(frontier, standing.next_due_at, now, until)


def _is_worth_waiting(frontier: CrawlFrontier, due: float, now: float, until: float) -> bool:
    """Whether something is due soon, or a while later on a site that has ever answered."""
    if due <= now + PATIENCE:
        return True
    answered = next_due_where_answered(frontier.db)
    return answered is not None and answered <= until


class Supervisor:
    """Runs a crawl on this machine until it is done or told to stop."""

    def __init__(
        self,
        settings: Settings,
        folder: DataFolder,
        frontier: CrawlFrontier,
        clock: Clock,
        debug: bool = False,
        companions: Sequence[Child] = (),
    ) -> None:
        self._settings, self._folder, self._frontier, self._clock = settings, folder, frontier, clock
        self._crew = Crew(settings, folder, debug)
        self._stops = 0
        """How often it was told to stop: once, it finishes what is under way; twice, it does not."""
        self._indexing = self._early = False
        self._deaths = 0
        self._last_fetched = -1
        self._wall, self._clock_wrong_by = SystemClock(), 0.0
        self._children = list(companions)
        if settings.crawl.index:
            self._children.append(Child("indexer", "gossamer.indexer.indexer_process", [str(folder.root)]))
        self._sampler = Sampler(frontier.db, folder, settings.revisit, clock)
        self._alerts = AlertProcess(folder.root, frontier.db)
        self._hubs = HubCaller(folder.database, settings, settings.push, clock)
        filters = settings.filters.every if settings.filters.mode != "off" else 0.0
        splits = SPLIT_EVERY if settings.partition.mode != "off" else 0.0
        thinning = thinning_every(settings.storage.keep_old)
        settled = (_REREADING, "settled")
        self._chores = [
            Chore("search for filters", "filter", folder, filters),
            Chore("search for sites to split", "split", folder, splits),
            Chore("merging of segments", "merge", folder, MERGE_EVERY, self._merging_is_due),
            Chore("thinning out", "thin", folder, thinning),
            Chore("forgetting of old changes", "forget", folder, FORGET_EVERY),
            Chore("judging of pages again", "reread", folder, _REREAD_EVERY, self._rereading_is_due, settled),
            Chore("ranking", "rank", folder, settings.rank.every),
        ]

    def stop(self) -> None:
        """End the crawl in good order; a database that is away is not waited for. Told again, end at once: the next
        crawl fetches again what is under way, and indexes what is not in the index yet."""
        self._stops += 1
        self._frontier.db.hurry()

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        if self._indexing:
            return Phase.INDEXING
        return Phase.STOPPING if self._stops else Phase.CRAWLING

    @property
    def was_told(self) -> bool:
        """Whether somebody told it to stop."""
        return self._stops > 0

    @property
    def ended_early(self) -> bool:
        """Whether it ended although there was more to do: it was told to, or a limit was reached."""
        return self._early or self.was_told

    def run(self, until: float | None = None, watch: Watcher | None = None) -> Status:
        """Crawl; returns how it stood at the end."""
        self._frontier.db.outlast()
        log.info("the crawl begins", extra={"data": str(self._folder.root), "workers": self._settings.workers})
        try:
            self._check_disk()
            for _ in range(self._settings.workers):
                self._crew.start()
            self._loop(until, watch)
            self._crew.stop(lambda: self._is_waited_for(watch))
            self._judge_again(watch)
        finally:
            self._crew.kill()
            for chore in self._chores:
                chore.kill()
            recover(self._folder, self._frontier, self._clock.now())
            for child in self._children:
                child.ask_to_finish()
        self._merge()
        self._wait_for_children(watch)
        self._alerts.finish()
        standing = status(self._frontier.db, self._clock.now())
        fields = {"pages": standing.pages, "fetched": standing.fetched, "due": standing.urls_due}
        log.info("the crawl ends", extra=fields)
        self._sampler.finish(standing)
        return standing

    def _loop(self, until: float | None, watch: Watcher | None) -> None:
        next_check = time.monotonic() + _CHECK_EVERY
        looking = 0.0
        while not self._stops:
            # Looking costs more the more sites there are: never more than a twentieth of the time.
            self._sleep(min(max(_TICK, 20 * looking), _LONGEST_PAUSE))
            self._bury_dead()
            for child in self._children:
                child.watch()
            now, started = self._clock.now(), time.monotonic()
            standing = status(self._frontier.db, now)
            looking = time.monotonic() - started
            now = self._clock.now()  # that look may have waited: what is due by now is not far in the future
            self._note_progress(standing)
            self._sampler.tick(standing)
            if watch is not None:
                watch(standing)
            late = until is not None and now >= until
            if late or is_over(self._settings, self._frontier, standing, now):
                self._early = late or self._frontier.page_limit_reached()
                return
            self._hubs.tick()
            self._alerts.tick()
            for chore in self._chores:
                chore.tick()
            if time.monotonic() >= next_check:
                self._check_disk()
                self._check_clock()
                next_check = time.monotonic() + _CHECK_EVERY

    def _is_waited_for(self, watch: Watcher | None) -> bool:
        """Whether workers that stop still have time."""
        self._wait(watch)
        return self._stops < 2

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stops and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _TICK))

    def _bury_dead(self) -> None:
        for _ in self._crew.bury_dead():
            self._deaths += 1
            if self._deaths > _DEATHS:
                raise OperationError(f"workers died {_DEATHS} times without fetching a page: see the messages above")
            for done in recover(self._folder, self._frontier, self._clock.now()):
                log.info("%s", done)
            self._crew.start()

    def _note_progress(self, standing: Status) -> None:
        if standing.fetched > self._last_fetched:
            self._last_fetched, self._deaths = standing.fetched, 0

    def _check_disk(self) -> None:
        free = self._folder.free_mebibytes()
        if free < self._settings.crawl.min_free_disk:
            self._crew.stop()
            raise StorageError(
                f"only {free} MiB are free on the disk of {self._folder.root} (crawl.min_free_disk): "
                "the crawl stopped; free some space and start it again"
            )

    def _check_clock(self) -> None:
        """Tell once when the system's clock was set: the crawl goes on by its own, so that nobody is asked too soon."""
        wrong = self._wall.wrong_by()
        if abs(wrong - self._clock_wrong_by) > _CLOCK_SET:
            self._clock_wrong_by = wrong
            words = "the system clock is %+.0f s off the clock of this crawl, which keeps its own until you restart it"
            log.warning(words, wrong, extra={"seconds": round(wrong)})

    def _rereading_is_due(self) -> bool:
        return bool(sites_to_judge_again(self._frontier.db, self._clock.now()))

    def _judge_again(self, watch: Watcher | None) -> None:
        """Let the first pages be as good as the last. Whoever stops a crawl waits for nothing that can wait."""
        if self._stops or not (self._settings.site.learn or self._settings.fields):
            return
        for chore in self._chores:
            chore.kill()  # one that judges pages again, too, would be in the way
        if self._settings.site.learn:
            learn_the_rest(self._frontier.db, self._clock.now())
        if sites_to_judge_again(self._frontier.db):
            rereading = Child("judging of pages again", _REREADING, [str(self._folder.root)])
            rereading.watch()
            while rereading.is_running and not self._stops:
                self._wait(watch)
            rereading.wait(0 if self._stops else None)

    def _merging_is_due(self) -> bool:
        return merging_is_due(self._folder, self._frontier.db, self._clock.now())

    def _merge(self) -> None:
        """Leave few segments behind; whoever stops a crawl waits for nothing that can be done later."""
        if not self._stops and self._merging_is_due():
            merging = Child("merging of segments", PROCESS, ["merge", str(self._folder.root)])
            merging.watch()
            self._children.append(merging)

    def _wait_for_children(self, watch: Watcher | None) -> None:
        """The index takes in what is left; whoever cannot wait kills the crawl and loses nothing."""
        self._indexing = True
        enough = min(self._stops, 1)
        for child in self._children:
            while child.is_running and self._stops <= enough:
                self._wait(watch)
            child.wait(0 if self._stops > enough else None)

    def _wait(self, watch: Watcher | None) -> None:
        """A moment; who watches sees how the crawl stands meanwhile."""
        time.sleep(_TICK)
        if watch is not None:
            with contextlib.suppress(GossamerError):  # a database that is away is not waited for any more
                watch(status(self._frontier.db, self._clock.now()))
