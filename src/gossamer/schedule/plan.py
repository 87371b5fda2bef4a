"""What may stand in a plan: each entry has one kind of time, and a command that a machine can run by itself.

The settings are read below the command line, so what is checked here is the shape of a command: its verb, and
options that make no sense unattended. `gossamer run` has the verb itself look at the rest before it starts anything.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from gossamer.errors import UsageError
from gossamer.schedule.config import Schedule
from gossamer.schedule.times import parse_at, parse_every

SERVICES = frozenset({"mcp", "serve", "work"})
"""Verbs that never end by themselves."""
REFUSED = {
    "run": "it is what runs the plan",
    "schedules": "it changes the plan",
    "demo": "it is for looking at",
    "init": "it is done once, by hand",
    "restore": "it is done once, by hand",
    "accounts": "it asks for a password",
    "completion": "it is for a shell that somebody types in",
}
"""Verbs that do not belong into a plan, with the reason."""
VERBS = frozenset({
    "alerts", "audit", "backup", "categories", "clusters", "config", "crawl", "desk", "doctor", "evaluate",
    "explain", "export", "feeds", "filters", "history", "import", "index", "inject", "jobs", "lab", "limit", "mcp",
    "mirrors", "page", "partition", "pause", "qrank", "rank", "recrawl", "remove", "resume", "rules", "search",
    "serve", "stats", "status", "sync", "work",
})  # fmt: skip
"""Verbs that may be run by a plan."""
DEFAULT: dict[str, Schedule] = {
    "crawl": Schedule(run="crawl --watch --quiet", always=True),
    "serve": Schedule(run="serve", always=True),
}
"""What is run where the settings name nothing."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def words(schedule: Schedule) -> list[str]:
    """The words of an entry's command, without `gossamer`; none for an idle entry."""
    try:
        found = shlex.split(schedule.run)
    except ValueError as error:
        raise UsageError(f"run = {schedule.run!r}: {error}: check its quotation marks") from error
    return found[1:] if found[:1] == ["gossamer"] else found


def longest(schedule: Schedule) -> float | None:
    """Seconds that one run may take; None for any time."""
    return parse_every(schedule.most, "a length of time") if schedule.most else None


def check(schedules: Mapping[str, Schedule]) -> None:
    """Raise a `UsageError` that names the entry which cannot be run, and why."""
    for name, schedule in schedules.items():
        try:
            if not _NAME.fullmatch(name):
                raise UsageError("its name should be letters, digits, `.`, `_` and `-`")
            _check_one(schedule)
        except UsageError as error:
            raise UsageError(f"[schedules.{name}]: {error}") from error
    _check_crawls(schedules)


def _check_one(schedule: Schedule) -> None:
    if schedule.every:
        parse_every(schedule.every)
    if schedule.at:
        parse_at(schedule.at)
    command = words(schedule)
    if not command:
        return
    if sum((bool(schedule.every), bool(schedule.at), schedule.always)) != 1:
        raise UsageError("give exactly one of every, at and always")
    if schedule.most:
        if schedule.always:
            raise UsageError("most is for what ends: leave it out, or give a time instead of always")
        longest(schedule)
    _check_command(command, schedule.always)


def _check_command(command: list[str], always: bool) -> None:
    verb, *arguments = command
    if verb in REFUSED:
        raise UsageError(f"`{verb}` cannot be in a plan: {REFUSED[verb]}")
    if verb not in VERBS:
        raise UsageError(f"there is no command {verb!r}: see `gossamer --help`")
    for option in arguments:
        if option.split("=")[0] in ("--data", "--open"):
            raise UsageError(f"leave {option.split('=')[0]} out of `{verb}`: `gossamer run` says where the data lies")
    if "-" in arguments:
        raise UsageError(f"`{verb} -` reads from standard input: name a file instead")
    follows = verb in ("export", "sync") and "--follow" in arguments
    watches = verb == "crawl" and "--watch" in arguments and not _has(arguments, "--for")
    endless = verb in SERVICES or follows or watches
    if endless and not always:
        raise UsageError(f"`{' '.join(command)}` never ends: use always = true instead of a time")


def _has(arguments: list[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in arguments)


def _check_crawls(schedules: Mapping[str, Schedule]) -> None:
    """There is one crawl at a time in a data folder: one that never ends leaves no time for another."""
    crawls = [name for name, one in schedules.items() if words(one)[:1] == ["crawl"]]
    endless = [name for name in crawls if schedules[name].always]
    if endless and len(crawls) > 1:
        other = next(name for name in crawls if name != endless[0])
        raise UsageError(
            f"[schedules.{other}]: [schedules.{endless[0]}] crawls all the time, and a data folder has one crawl at a "
            "time: leave one of them out, or put its seeds into the other"
        )
