"""How the crawl stands, in a word and a sentence: what an operator looks at first.

A pure function of what is known at the moment; whether the state is good, to be looked at, or bad, is its colour.
"""

from __future__ import annotations

import time
from typing import Literal

import msgspec

from gossamer.console.changing import Plan
from gossamer.console.overview_data import Look
from gossamer.console.seed_standing import SeedStanding
from gossamer.console.words import counted, duration

State = Literal[
    "empty", "paused", "crawling", "watching", "starting", "failing", "finished", "nothing", "stopped", "fruitless"
]  # fmt: skip
_SOON = 120.0
"""Seconds after a failed run in which it counts as failing, though it may be starting anew by now."""


class Headline(msgspec.Struct, frozen=True):
    """What stands at the top of the overview."""

    state: State
    kind: Literal["good", "warn", "bad", "plain"]
    title: str
    sentence: str
    startable: bool = False
    """Whether a button can start it."""
    advice: bool = False
    """Whether to say which command crawls, because nobody is there to start it."""


def headline(
    look: Look, plan: Plan, has_seeds: bool, pause_reason: str, seeds: SeedStanding | None = None
) -> Headline:  # fmt: skip
    """How the crawl stands; `seeds`: what became of them, where that is known."""
    if not has_seeds:
        alone = plan.entry is None and not plan.working
        return Headline("empty", "plain", "Nothing to crawl yet", "Add a site to start the crawl.", advice=alone)
    if look.activity == "paused":
        return Headline("paused", "warn", "Paused", f"No requests are sent. Reason: {pause_reason}.", startable=True)
    told = _running(look) if look.activity == "running" else _resting(look, plan)
    return _fruitless(told, seeds) if told.kind == "good" and seeds is not None and seeds.is_fruitless else told


def _fruitless(told: Headline, seeds: SeedStanding) -> Headline:
    """Nothing is good about a crawl all of whose seeds failed, however busy it is."""
    return msgspec.structs.replace(
        told, state="fruitless", kind="bad", title="Every seed failed so far",
        sentence=f"{counted(seeds.failed, 'seed')} failed. See Seeds below for the cause.",
    )  # fmt: skip


def _running(look: Look) -> Headline:
    now = look.standing
    if now.sites_active or now.sites_waiting > now.sites_blocked:
        left = f", at least {duration(look.left)} left" if look.left is not None and look.left >= 1 else ""
        waiting = f"{counted(now.urls_due, 'URL')} waiting{left}." if now.urls_due else "Fetching the last pages."
        return Headline("crawling", "good", "Crawling", waiting)
    if now.sites_blocked:
        resting = f"Pausing between requests to {counted(now.sites_blocked, 'site')}."
        return Headline("crawling", "good", "Crawling", resting)
    return Headline("watching", "good", "Up to date", f"All known URLs are fetched.{_next_visit(look)}")


def _resting(look: Look, plan: Plan) -> Headline:
    entry, alone = plan.entry, plan.entry is None
    if plan.keeper == "always" and entry is not None and entry.paused_at is None:
        last = entry.last
        if last is not None and last.ended_at is not None and last.code and look.at - last.ended_at < _SOON:
            words = last.words.rpartition("\n")[2] or f"exit code {last.code}"
            return Headline("failing", "bad", "The crawl failed", f"{words} Gossamer will start it again.")
        return Headline("starting", "plain", "Starting", "The crawl starts in a moment.")
    startable = not alone
    now, ended = look.standing, f" {clock(look.since, look.at)}" if look.since else ""
    left = now.urls_due - now.revisits_due
    if left > 0:
        sentence = f"The crawl ended{ended} with {counted(left, 'URL')} left to fetch."
        return Headline("stopped", "warn", "Stopped", sentence, startable, alone)
    if not now.pages:
        sentence = f"The crawl ended{ended} without keeping any page."
        return Headline("nothing", "bad", "No pages kept", sentence, startable, alone)
    sentence = f"All known URLs are fetched.{_next_visit(look)}"
    return Headline("finished", "good", f"Finished{ended}", sentence, startable, alone)


def _next_visit(look: Look) -> str:
    due = look.standing.next_due_at
    if due is None:
        return ""
    return f" Next visit {clock(due, look.at)}." if due > look.at else " The next visits are due now."


def clock(at: float, now: float) -> str:
    """A moment as the clock of this machine shows it; with the day where that is not today."""
    then, today = time.localtime(at), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    if abs(at - now) < 6 * 86_400:
        return time.strftime("%A %H:%M", then)
    away = duration(abs(at - now))
    return f"{time.strftime('%d %B', then)} ({f'in {away}' if at > now else f'{away} ago'})"
