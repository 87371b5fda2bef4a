"""A site in parts, crawled for real: every page, each once, and the server sees no more than it was told to expect."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
from crawl_kit import exported, run, settings_of, write_settings

from gossamer.partition.assignment import Assignment
from gossamer.testing import FakeWeb, Log, violations

PAGES = 120
DELAY = 0.1


def test_parts_share_a_site_completely_and_without_overlap(tmp_path: Path) -> None:
    """Two workers, three parts: all pages, no page twice, and at most one request per delay and part."""
    web = FakeWeb("127.0.9", process=True, log=tmp_path / "log")
    web.site("big.test", pages=PAGES, links=6, seed=3)
    data = tmp_path / "data"
    with web:
        site = web.url("big.test").split("/")[2]
        parts = {"mode": "sites", "sites": [site], "most_parts": 3}
        write_settings(data, settings_of(web, politeness={"delay": DELAY}, partition=parts))
        done = run("crawl", web.url("big.test"), "--workers", "2", "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        log = [request for request in web.log() if request.path != "/robots.txt"]
    assert len(exported("pages", data)) == PAGES
    assert set(Counter(request.path for request in log).values()) == {1}
    [shown] = json.loads(run("partition", "show", "--json", data=data).stdout)
    plan = msgspec.convert(shown["plan"], Assignment)
    by_part = [Log([one for one in log if plan.part_of(one.url) == part]) for part in range(3)]
    assert min(len(one) for one in by_part) > PAGES / 6
    assert [violations(one, DELAY, DELAY) for one in by_part] == [[], [], []]
    side_by_side = [one for one in violations(Log(log), DELAY, DELAY) if one]
    assert len(side_by_side) > PAGES / 4, "the parts did not work at the same time"
