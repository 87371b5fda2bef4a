"""Tries rules that somebody types in a separate process with limited time and memory.

A selector runs in C: no thread can stop it, and all others wait. So a slow rule costs this process only, and the server
keeps answering.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from threading import Lock

import msgspec

from gossamer.courtesy import give_way
from gossamer.errors import GossamerError
from gossamer.operate.rule_trial import Trial, try_rules
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule, RuleBook

SECONDS = 2
"""Processor time for a trial: a thousand times what an ordinary page takes."""
PATIENCE = 60.0
"""Seconds after which a trial ends even if it got hardly any processor time, on a busy machine."""
_MEMORY = 2 << 30
_NICE = 5


class TrialError(GossamerError):
    """A trial did not finish."""


class TrialJob(msgspec.Struct, frozen=True):
    """Rules to try, and the URLs and page to try them on."""

    stored: tuple[DocumentRule, ...]
    """Stored rules."""
    draft: tuple[DocumentRule, ...]
    """Rules to try, each in place of the stored one with its domain and name."""
    urls: list[str]
    limits: ParseLimits
    now: float
    page: str = ""
    """The page to cut; empty for none."""
    html: str = ""
    source: str = ""


class TrialAnswer(msgspec.Struct):
    """The result of a trial."""

    fitting: list[str] = []
    """URLs to which a rule of the draft applies."""
    taken: list[str] = []
    """URLs that a rule of the draft fits, but to which a stored rule applies first."""
    others: list[str] = []
    trial: Trial | None = None


class Trials:
    """Tries one draft at a time, and refuses another one meanwhile instead of queueing it."""

    def __init__(self) -> None:
        self._lock = Lock()

    def run(self, job: TrialJob) -> TrialAnswer:
        """Run a trial in a process; raises a `TrialError` if it does not finish."""
        if not self._lock.acquire(blocking=False):
            raise TrialError("another trial is running: try again in a few seconds")
        try:
            return _run(job)
        finally:
            self._lock.release()


def _run(job: TrialJob) -> TrialAnswer:
    try:
        done = subprocess.run(
            (sys.executable, "-m", "gossamer.operate.trial_process"),
            input=msgspec.msgpack.encode(job), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TrialError(
            f"the trial took longer than {PATIENCE:.0f} seconds because the machine is busy: try again"
        ) from None
    if done.returncode:
        raise TrialError(
            f"the trial took more than {SECONDS} seconds of computing or {_MEMORY >> 30} GB of memory: write simpler "
            "selectors (without :has and :nth-of-type) or shorter patterns"
        )
    return msgspec.msgpack.decode(done.stdout, type=TrialAnswer)


def try_draft(job: TrialJob) -> TrialAnswer:
    """Apply the rules of a draft, together with the stored ones, to URLs and a page."""
    book, draft = RuleBook([*job.stored, *job.draft]), RuleBook(job.draft)
    mine = {(rule.domain, rule.name) for rule in job.draft}
    found = TrialAnswer()
    for url in job.urls:
        rule = book.match(url)
        if rule is not None and (rule.domain, rule.name) in mine:
            found.fitting.append(url)
        else:
            (found.taken if draft.fits(url) else found.others).append(url)
    if job.page:
        found.trial = try_rules(book, job.page, job.html, job.source, job.limits, job.now)
    return found


def main() -> None:
    """Read one job from standard input and write its answer to standard output."""
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=TrialJob)
    give_way(_NICE)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    sys.stdout.buffer.write(msgspec.msgpack.encode(try_draft(job)))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
    os._exit(0)  # skip the slow clean-up of the trees
