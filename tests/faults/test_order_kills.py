"""SIGKILL of workers while links raise URLs and pages are visited again: no counter, row or page is lost or doubled."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import descendants, exported, kill, run, settings_of, start, workers_of, write_settings
from inside import gossamer
from table_kit import problems
from time_kit import DAY, later

from gossamer.testing import FakeWeb

HOSTS, PAGES = 3, 60
KILLS, LEAST = 4, 2
RULES = '[[rule]]\ndomain = "o0.test"\nname = "page"\nurls = "/p/{id}.html"\n'


def killed_crawl(data: Path, seeds: list[str], chance: random.Random) -> int:
    """Crawl to the end; workers, and once the main process, are killed on the way. How many were."""
    arguments = ("crawl", *seeds, "--strategy", "fit * opic", "--workers", "2", "--quiet")
    main, kills = start(*arguments, data=data), 0
    try:
        while True:
            time.sleep(chance.uniform(0.2, 0.7))
            if main.poll() is not None:
                assert main.returncode <= 0, main.communicate()[1]
                main.communicate()
                if main.returncode == 0 and kills >= LEAST:
                    return kills
                if main.returncode == 0:  # over too soon: all of it once more
                    assert run("recrawl", *seeds, data=data).returncode == 0
                main = start(*arguments, data=data)
            elif kills < KILLS:
                victims = [main.pid] if kills == 2 else workers_of(main.pid)[:1]
                kills += sum(kill(pid) for pid in victims)
    finally:
        for pid in [*descendants(main.pid), main.pid]:
            kill(pid)


@pytest.mark.timeout(1800)
def test_kills_leave_queue_counters_and_revisits_in_order(tmp_path: Path) -> None:
    data, chance = tmp_path / "data", random.Random(20261115)
    web = FakeWeb("127.0.71", process=True, log=tmp_path / "log")
    sites = [web.site(f"o{n}.test", pages=PAGES, links=8, seed=n) for n in range(HOSTS)]
    seeds = [site.url("/") for site in sites]
    expected = {url for site in sites for url in site.generated}
    with web:
        sections: dict[str, dict[str, Any]] = {
            "politeness": {"delay": 0.03}, "crawl": {"commit_seconds": 0.1}, "budget": {"per_site": 10},
        }  # fmt: skip
        write_settings(data, settings_of(web, **sections))
        assert gossamer("rules", "import", "-", data=data, stdin=RULES).code == 0
        assert killed_crawl(data, seeds, chance) >= LEAST
        assert problems(data) == []
        assert {page["url"] for page in exported("pages", data)} == expected
        first = len(web.log())
        with later(30 * DAY):
            assert killed_crawl(data, seeds, chance) >= LEAST
            assert run("status", "--check", data=data).returncode == 0
        again = Counter(request.url for request in web.log()[first:] if request.path != "/robots.txt")
    assert problems(data) == []
    assert again.keys() == expected
    assert Counter(page["url"] for page in exported("pages", data)) == Counter(expected)
    for site in sites:
        assert gossamer("stats", site.url("/"), "--recount", "--json", data=data).json["wrong"] == []
