"""What the tests of streams and sinks share: a crawl of a small site that changes once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gossamer
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.frontier.steering.operate import recrawl
from gossamer.testing import FakeWeb

PAGES = 24


def text(topic: str) -> str:
    words = " ".join(f"The {topic} number {n} stands at the harbour, and nobody has moved it." for n in range(12))
    return f'<html lang="en"><title>About {topic}</title><body><main><h1>{topic}</h1><p>{words}</p></main>'


class World:
    """A site and the data folder of its crawl."""

    def __init__(self, web: FakeWeb, data: Path) -> None:
        self.web, self.data = web, data
        self.site = web.site("s.test")
        links = " ".join(f'<a href="/p{n}">{n}</a>' for n in range(PAGES))
        self.site.page("/", text("anchor") + links)
        for n in range(PAGES):
            self.site.page(f"/p{n}", text(f"boat {n}"))
        self._settings: dict[str, dict[str, Any]] = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
            "politeness": {"delay": 0.0, "backoff_first": 0.2},
            "crawl": {"linger": 3.0, "workers": 1, "parsers": 1, "parse_timeout": 240.0},
            "fetch": {"connect_timeout": 60.0, "idle_timeout": 60.0, "total_timeout": 240.0},
            "alerts": {"secret": "a key of the test", "allow_networks": ["127.0.0.0/8"]},
        }

    def crawl(self) -> gossamer.Folder:
        return gossamer.crawl(self.site.url(), folder=self.data, settings=self._settings).run()

    def change(self) -> gossamer.Folder:
        """A quarter of the pages changes, a quarter leaves, some come; then everything is fetched anew."""
        for n in range(0, PAGES, 4):
            self.site.page(f"/p{n}", text(f"barge {n}") + f'<a href="/new{n}">new</a>')
            self.site.page(f"/new{n}", text(f"dock {n}"))
            self.site.remove(f"/p{n + 1}")
        db = DataFolder(self.data).open_database()
        recrawl(db, self.site.url(), SystemClock().now())
        db.close()
        return self.crawl()
