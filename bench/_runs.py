"""One crawl of served sites: run, timed, and judged by the server's log."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from _crawlers import Crawler, Usage, measure
from _nginx import Hit, Nginx
from _report import MIX, Run
from _sites import Served
from _tree import machine_cpu

LONGEST = 900.0
"""Seconds after which a crawl is stopped and counts with what it has got."""


def run_once(
    crawler: Crawler,
    sites: list[Served],
    server: Nginx,
    folder: Path,
    watch: float = 0.0,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Run, list[Hit]]:
    """Crawls the sites with what lies in the folder; `watch` and `stop` are those of `measure`."""
    label = sites[0].name if len(sites) == 1 else MIX
    job = crawler.job(sites, folder)
    server.take_log()
    machine_before, nginx_before = machine_cpu(), server.cpu()
    usage = measure(job, folder, LONGEST, watch, stop)
    nginx_cpu = server.cpu() - nginx_before
    others = max(0.0, machine_cpu() - machine_before - nginx_cpu - usage.cpu)
    hits = server.take_log()
    own = _own_count(job.after)
    if usage.code:
        print(f"{crawler.name} on {label}: exit code {usage.code}\n{usage.said}", file=sys.stderr)
    wanted = {(s.host, path) for s in sites for path in s.cut.paths}
    run = _judge(crawler.name, label, wanted, hits, usage, nginx_cpu, others, own)
    speed = f"{run.crawling:7.2f} s {run.per_second:6.0f} pages/s"
    print(f"{crawler.name:9} {label:11} {run.pages:6} pages {speed}", file=sys.stderr)
    return run, hits


def _judge(
    crawler: str,
    label: str,
    wanted: set[tuple[str, str]],
    hits: list[Hit],
    usage: Usage,
    nginx_cpu: float,
    others_cpu: float,
    own: dict[str, Any],
) -> Run:
    got = [(h.host, h.path) for h in hits if h.is_page]
    distinct = set(got)
    return Run(
        crawler=crawler,
        site=label,
        pages=len(distinct),
        requests=len(hits),
        wall=usage.wall,
        crawling=usage.ended - hits[0].at if hits else 0.0,
        requesting=hits[-1].at - hits[0].at if hits else 0.0,
        cpu=usage.cpu,
        nginx_cpu=nginx_cpu,
        others_cpu=others_cpu,
        missing=len(wanted - distinct),
        extra=len(distinct - wanted),
        repeated=len(got) - len(distinct),
        failed=sum(1 for h in hits if h.status >= 400 and h.path != "/robots.txt"),
        code=usage.code,
        own=own,
        memory=usage.memory,
    )


def _own_count(command: list[str]) -> dict[str, Any]:
    """What the crawler itself says, where it can."""
    if not command:
        return {}
    done = subprocess.run(command, capture_output=True, check=False)
    try:
        said: dict[str, Any] = msgspec.json.decode(done.stdout)
    except msgspec.DecodeError:
        return {}
    return said
