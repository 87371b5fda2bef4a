"""How a crawl ends: the sum of its requests, the pages of each seed, and the command to type next for a failed seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.common import DEFAULT_DATA, duration, out
from gossamer.frontier.views.inspect import Status
from gossamer.operate.next_command import Commands, Options
from gossamer.operate.verdict import SeedVerdict, Verdict, next_step

_SHOWN = 20
"""Seeds of a kind that are listed."""
_LISTED = 1000
"""Most seeds with pages in the answer for programs; it has all failed seeds."""

_WORDS = {
    "kept": ("kept", "kept"),
    "duplicates": ("duplicate", "duplicates"),
    "aliases": ("alias", "aliases"),
    "noindex": ("noindex", "noindex"),
    "redirects": ("redirect", "redirects"),
    "lists": ("feed or sitemap", "feeds and sitemaps"),
    "unread": ("file of another type", "files of other types"),
    "errors": ("error", "errors"),
    "again": ("repeated request", "repeated requests"),
}


def commands_for(data: Path, options: Options, running: bool = False) -> Commands:
    """How a person speaks to a data folder; `running`: a crawl is at work there, and goes on."""
    return Commands(None if data == DEFAULT_DATA else data, options, running)


def sum_of_requests(status: Status) -> str:
    """What was fetched as a sum, such as `3 = 1 kept + 2 errors`."""
    found = {name: count for name, count in status.fetched_as.items() if count}
    parts = [f"{count} {_WORDS[name][count != 1]}" for name, count in found.items()]
    return f"{status.fetched} = {' + '.join(parts)}" if parts else "0"


def lines_of(verdict: Verdict, commands: Commands, now: float) -> list[str]:
    """The verdict for a person: seeds that failed first, each with what to do."""
    shown = [*verdict.failed, *(seed for seed in verdict.seeds if seed.state != "failed")]
    lines: list[str] = []
    for seed in shown[:_SHOWN]:
        lines += _lines(seed, now)
    if len(shown) > _SHOWN:
        lines.append(f"… and {len(shown) - _SHOWN} more seeds: see `{commands.verb('status', '--json')}`")
    if verdict.others:
        earlier = "1 earlier seed" if len(verdict.others) == 1 else f"{len(verdict.others)} earlier seeds"
        look, drop = commands.verb("status"), commands.verb("remove", "URL")
        lines.append(f"{earlier} failed: see `{look}`. Drop a seed with `{drop}`.")
    return lines


def print_verdict(verdict: Verdict, commands: Commands, now: float) -> None:
    """The end of a crawl, seed by seed."""
    for line in lines_of(verdict, commands, now):
        out.print(line, markup=False)


def as_json(verdict: Verdict) -> Mapping[str, Any]:
    """The verdict for programs."""
    kept = [seed for seed in verdict.seeds if seed.state == "kept"]
    left_out = {seed.url for seed in kept[_LISTED:]}
    return {
        "ok": verdict.ok,
        "sentence": verdict.sentence,
        "failed": len(verdict.failed),
        "seeds": msgspec.to_builtins([seed for seed in verdict.seeds if seed.url not in left_out]),
        "others": msgspec.to_builtins(verdict.others),
    }


def _lines(seed: SeedVerdict, now: float) -> list[str]:
    if seed.state != "failed":
        return [f"{seed.url}: {_standing(seed)}"]
    again = ""
    if seed.tries_again_at is not None:
        wait = duration(seed.tries_again_at - now)
        again = f" It stays in the queue: a crawl can try it again in {wait}."
    return [f"{seed.url} failed: {seed.cause}.{again}", f"    {next_step(seed)}"]


def _standing(seed: SeedVerdict) -> str:
    if seed.state == "kept":
        pages = "1 page" if seed.pages == 1 else f"{seed.pages} pages"
        to = f" (it leads to {seed.leads_to})" if seed.leads_to else ""
        return pages + to + (f"; {seed.cause}" if seed.cause else "")
    return seed.cause + (f": {seed.command}" if seed.command else "")
