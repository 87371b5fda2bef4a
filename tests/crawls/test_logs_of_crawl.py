"""A whole crawl whose log is for programs: every line of every process is one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

from crawl_kit import run, settings_of, write_settings

from gossamer.testing import FakeWeb


def test_every_process_of_a_crawl_writes_json_and_tells_what_an_operator_looks_for(tmp_path: Path) -> None:
    web, data = FakeWeb(), tmp_path / "data"
    site = web.site("log.test", pages=5, links=2, seed=3)
    with web:
        sections = {"crawl": {"index": True, "workers": 1, "linger": 1.0}, "logs": {"format": "json", "level": "info"}}
        write_settings(data, settings_of(web, **sections))
        done = run("crawl", site.url("/"), "--json", data=data)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines()]
    roles = {event["process"].split()[0] for event in events}
    assert {"crawl", "worker", "indexer"} <= roles
    worker = next(event["worker"] for event in events if event["message"].endswith("started") and "worker" in event)
    assert f"worker {worker}" in {event["process"] for event in events}
    final = json.loads(done.stdout)
    assert sum(event["results"] for event in events if event["message"].startswith("committed")) == final["fetched"]
    assert sum(event["pages"] for event in events if event["message"].startswith("indexed")) == final["pages"] == 5
    assert [event["pages"] for event in events if event["message"] == "the crawl ends"] == [final["pages"]]
