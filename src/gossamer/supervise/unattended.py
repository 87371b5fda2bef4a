"""Runs a plan for years: what `gossamer run` does.

Every entry is a process of its own, on a leash (`gossamer.cli.leash`): it ends when this one does, even by a kill. What
is to run always is started again when it ends, after a wait that grows while it keeps dying. What has a time is started
when that comes; where it is serialised, after the work that is under way. What was missed, and what was running when
this process was killed, is seen in the tables: a restart goes on. A crawl that has no seed yet waits for one; what runs
always is ended and started anew where somebody asks for it, so that it takes up new settings.
"""

from __future__ import annotations

import logging
import math
import signal
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from gossamer.clock import Clock
from gossamer.database.database import Database
from gossamer.errors import DatabaseError, GossamerError
from gossamer.frontier.views.seed_list import has_seeds
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import longest, words
from gossamer.schedule.times import rhythm
from gossamer.supervise.alert_child import AlertProcess
from gossamer.supervise.schedule_runs import Standing, standing
from gossamer.supervise.tasks import Task
from gossamer.tables import schedules

log = logging.getLogger(__name__)

_TICK = 0.2
_LOOK = 1.0
"""Seconds between two looks into the tables: for pauses, wishes, and what is due."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0
"""Seconds before something that died is started again: doubled each time."""
_CLOCK_SET = 1.0
"""Seconds from which on a clock that goes back was set."""
_STABLE = 120.0
"""Seconds after which something that runs always is no longer thought to be dying."""
_LATE = 60.0
"""Seconds that a run which took too long has to end in good order."""

Tell = Callable[[str, str], None]
"""Takes the name of an entry and a line that it said."""


class Unattended:
    """The plan of one data folder, under way."""

    def __init__(
        self, root: Path, machine: str, db: Database, plan: Mapping[str, Schedule], clock: Clock, tell: Tell,
        seedless: Collection[str] = (),
    ) -> None:  # fmt: skip
        """`seedless`: entries that crawl and name no seed; they wait until the database has one."""
        self._root, self._machine, self._db = root, machine, db
        self._plan, self._clock, self._tell = dict(plan), clock, tell
        self._seedless = set(seedless)
        self._tasks: dict[str, Task] = {}
        self._deaths: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._latest: dict[str, float] = {}
        """By when, in monotonic time, a run must have ended."""
        self._late: set[str] = set()
        self._stopping = False
        self._looked_at = 0.0
        self._alerts = AlertProcess(root, db)

    def stop(self) -> None:
        """End everything in good order; a database that is away is not waited for."""
        self._stopping = True
        self._db.hurry()

    def run(self, grace: float, stopping: Callable[[], object] = lambda: None) -> None:
        """Until told to stop, which `stopping` says; then at most `grace` seconds more."""
        now = self._clock.now()
        for name in self._db.patiently(lambda: schedules.bury(self._db, self._machine, now)):
            log.warning("%s was running when `gossamer run` was killed", name)
        times = {name: rhythm(entry) for name, entry in self._plan.items()}
        self._db.patiently(lambda: schedules.note_plan(self._db, self._machine, times, now))
        self._db.patiently(lambda: schedules.pull_back(self._db, self._machine, now))
        try:
            next_look = 0.0
            while not self._stopping:
                self._end_late()
                try:
                    self._bury()
                    if time.monotonic() >= next_look:
                        self._look()
                        # Between two crawls, too, messages are tried again and alarms are raised.
                        self._db.patiently(self._alerts.tick)
                        next_look = time.monotonic() + _LOOK
                except DatabaseError as error:  # a writer that stands still, a server that is away: it may come back
                    log.warning("waiting for the database: %s", error)
                    next_look = time.monotonic() + _LOOK
                time.sleep(_TICK)
            stopping()
        finally:
            self._end_all(grace)
            self._alerts.finish()

    def _look(self) -> None:
        now = self._clock.now()
        found = self._db.patiently(lambda: standing(self._db, self._machine, self._plan, now))
        if now < self._looked_at - _CLOCK_SET or any(_is_ahead(one, now) for one in found):
            self._db.patiently(lambda: schedules.pull_back(self._db, self._machine, now))
        self._looked_at = now
        if self._seedless:
            seeded: bool = self._db.patiently(lambda: has_seeds(self._db))
            self._seedless = set() if seeded else self._seedless
        found = [one for one in found if one.name not in self._seedless]
        for one in found:
            if one.always:
                self._keep(one)
        due = [one for one in found if not one.always and one.name not in self._tasks and _is_due(one, now)]
        # Whoever has waited longest is first; a wish goes before all of them.
        for one in sorted(due, key=lambda one: (not one.wanted, one.next_at or 0.0, one.name)):
            if not (self._plan[one.name].serialise and self._is_busy()):
                self._start(one.name)

    def _is_busy(self) -> bool:
        """Whether serialised work is under way."""
        return any(not self._plan[name].always and self._plan[name].serialise for name in self._tasks)

    def _keep(self, one: Standing) -> None:
        """Have an entry run that is to run always, unless it is paused; anew, where somebody asks for it."""
        task = self._tasks.get(one.name)
        if task is not None and (one.paused_at is not None or one.wanted):
            task.ask_to_end()
            return
        rested = one.wanted or time.monotonic() >= self._not_before.get(one.name, 0.0)
        if one.paused_at is None and task is None and rested:
            self._start(one.name)

    def _start(self, name: str) -> None:
        now = self._clock.now()
        began = self._db.patiently(lambda: schedules.begin(self._db, self._machine, name, now))
        command = [*words(self._plan[name]), "--data", str(self._root)]
        try:
            self._tasks[name] = Task(name, command, began, self._tell)
            self._latest[name] = time.monotonic() + (longest(self._plan[name]) or math.inf)
        except OSError as error:  # no process to be had just now: the others go on
            self._note_end(name, began, 1, f"cannot start it: {error}")

    def _end_late(self) -> None:
        """Whoever takes too long is told to end, then killed: others may be waiting for it."""
        for name, task in self._tasks.items():
            late = time.monotonic() - self._latest.get(name, math.inf)
            if late > _LATE:
                task.send_kill()
            elif late > 0 and not task.is_told_to_end:
                log.warning("%s has run for longer than %s (most); asking it to end", name, self._plan[name].most)
                self._late.add(name)
                task.ask_to_end()

    def _bury(self) -> None:
        for name, task in list(self._tasks.items()):
            code = task.poll()
            if code is None:
                continue
            words = task.words()
            if task.is_told_to_end and code == -signal.SIGTERM:
                # It ended before it could listen to signals: as good an end as any other that was asked for.
                code, words = 0, words or "ended on request"
            if name in self._late:
                words = f"{words}\nended because it ran for longer than {self._plan[name].most} (most)".strip()
            self._note_end(name, task.began_at, code, words, task.is_told_to_end)
            self._late.discard(name)
            del self._tasks[name]

    def _note_end(self, name: str, began_at: float, code: int, words: str, is_told: bool = False) -> None:
        run = schedules.Run(name, began_at, self._clock.now(), code, words)
        try:
            self._db.patiently(lambda: schedules.finish(self._db, self._machine, run))
        except GossamerError as error:
            if not self._stopping:
                raise
            # The others have to be ended all the same; the next start sees that nobody noted this.
            log.warning("cannot record how %s ended: %s", name, error)
        last = words.rpartition("\n")[2]
        if is_told and code <= 0:  # the signal that ended it was ours
            return
        if self._plan[name].always and not is_told:
            self._wait_before_next(name, began_at, code, last)
        elif code:
            log.warning("%s failed with exit code %d: %s", name, code, last)

    def _wait_before_next(self, name: str, began_at: float, code: int, last: str) -> None:
        stable = self._clock.now() - began_at > _STABLE
        deaths = self._deaths[name] = 1 if stable else self._deaths.get(name, 0) + 1
        wait = rest_after(deaths)
        self._not_before[name] = time.monotonic() + wait
        log.warning("%s ended with exit code %d; starting it again in %.0f s: %s", name, code, wait, last)

    def _end_all(self, grace: float) -> None:
        self._stopping = True
        for task in self._tasks.values():
            task.ask_to_end()
        deadline = time.monotonic() + grace
        while self._tasks and time.monotonic() < deadline:
            self._bury()
            time.sleep(_TICK / 4)
        for task in self._tasks.values():
            log.warning("%s did not end within %.0f s; killing it (no committed data is lost)", task.name, grace)
            task.kill()
        self._bury()


def _is_ahead(one: Standing, now: float) -> bool:
    """Whether its last run is of a time that has not come yet: the clock was set back since."""
    return one.last is not None and one.last.ended_at is not None and one.last.began_at > now + _CLOCK_SET


def _is_due(one: Standing, now: float) -> bool:
    return one.wanted or (one.next_at is not None and one.next_at <= now)


def rest_after(deaths: int) -> float:
    """Seconds until something that died so often in a row is started again."""
    return min(_FIRST_WAIT * 2.0 ** min(deaths - 1, 20), _LONGEST_WAIT)
