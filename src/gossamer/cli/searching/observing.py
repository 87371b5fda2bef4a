"""What a server of a data folder tells those who run it: figures of the crawl, readiness, what is searched for."""

from __future__ import annotations

from pathlib import Path

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.reader import SharedReader
from gossamer.operate.metrics import CrawlCollector
from gossamer.serving.asked import StoredAsked
from gossamer.settings import Settings
from gossamer.web.app import Extension


def observing(data: Path, settings: Settings) -> Extension:
    """The extension of a server that has a crawl."""
    folder, clock = DataFolder(data), SystemClock()
    reader = SharedReader(folder.database)
    asked = StoredAsked(folder, clock) if settings.console.analytics else None
    return Extension(
        routes=(),
        close=asked.close if asked is not None else lambda: None,
        listeners=[asked.answered] if asked is not None else [],
        collectors=[CrawlCollector(folder, settings, clock, reader.ask)] if settings.serve.metrics != "off" else [],
        checks=[lambda: reader.ask(lambda db: db.execute("SELECT 1 FROM meta LIMIT 1"))],
    )
