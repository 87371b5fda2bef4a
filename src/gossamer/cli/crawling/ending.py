"""The last lines of a crawl: what there is now, and what to do next. Pure."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from gossamer.cli.common import DEFAULT_DATA, duration
from gossamer.frontier.views.inspect import Status
from gossamer.model.counts import counted, noun


class Run(msgspec.Struct, frozen=True):
    """What the last lines need to know of a run, beside how the crawl stands."""

    seconds: float
    pages_before: int = 0
    """Pages that were kept before it began."""
    early: bool = False
    """Whether it ended before everything was done: by Ctrl-C, `--for` or `--pages`."""
    index: bool = True
    """Whether the pages are in the index."""
    data: Path = DEFAULT_DATA
    again: str = ""
    """The command that goes on, with the options of this run: the next one does not remember them."""


def last_lines(status: Status, run: Run, now: float) -> list[str]:
    """For a person who waits for the end of a crawl."""
    lines = [f"{'Stopped' if run.early else 'Finished'}: {_pages(status, run)} in {duration(run.seconds)}."]
    if status.pages:
        them = noun(status.pages, "it", "them")
        next_step, words = (f"Search {them}", "search WORDS") if run.index else (f"Make {them} searchable", "index")
        lines[0] += f" {next_step}: {_command(words, run)}"
    if rest := _rest(status, run, now):
        lines.append(rest)
    return lines


def _pages(status: Status, run: Run) -> str:
    new = status.pages - run.pages_before
    count = counted(status.pages, "page") if status.pages else "no pages"
    return f"{count} ({new} new)" if run.pages_before and new >= 0 else count


def _rest(status: Status, run: Run, now: float) -> str:
    again = f"`{run.again or _command('crawl', run)}`"
    due = counted(status.urls_due, "URL")
    if status.urls_due and run.early:
        return f"{due} left. Run {again} to continue"
    wait = duration(max((status.next_due_at or now) - now, 0.0))
    if status.urls_due and status.next_due_at is not None:
        return f"{due} left on sites that need a pause. Run {again} in {wait} to continue"
    if status.urls_due:
        return f"{due} left on sites that are paused or at their limit. Run {again} to try again"
    if status.urls_scheduled:
        return f"{counted(status.urls_scheduled, 'URL')} failed. Run {again} in {wait} to try again"
    return ""


def _command(words: str, run: Run) -> str:
    data = "" if run.data == DEFAULT_DATA else f" --data {shlex.quote(str(run.data))}"
    return f"gossamer {words}{data}"
