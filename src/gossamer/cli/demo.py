"""`gossamer demo`: a small bundled web, served on loopback, crawled, and reported on. Offline."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from gossamer import settings as settings_file
from gossamer.cli.common import Debug, err, out
from gossamer.cli.crawl import run_crawl
from gossamer.crawl import exporting
from gossamer.crawl.folder import DataFolder
from gossamer.demo.web import DemoWeb
from gossamer.discover.seeds import read_seeds
from gossamer.errors import OperationError
from gossamer.frontier.database import Database
from gossamer.frontier.inspect import all_urls


def command(*, data: Path | None = None, delay: float = 0.05, debug: Debug = False) -> None:
    """Serve a small bundled web, crawl it, and report what was kept and what was refused.

    Parameters
    ----------
    data
        Keep the crawl in this folder; default: a temporary one, deleted at the end.
    delay
        Seconds between two requests to a site.
    """
    folder = data or Path(tempfile.mkdtemp(prefix="gossamer-demo-"))
    try:
        with DemoWeb() as web:
            changes: dict[str, dict[str, Any]] = {
                "network": {"allow": [web.network], "resolve": web.resolve},
                "politeness": {"delay": delay},
                "crawl": {"linger": 10.0},
            }
            settings = settings_file.load(folder, changes)
            out.print(f"Serving {len(web.seeds)} hosts on {web.network}, port {web.port}; crawling politely …")
            run_crawl(settings, folder, read_seeds(web.seeds, [], None), debug=debug, options=changes)
            _report(DataFolder(folder), web)
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


def _report(folder: DataFolder, web: DemoWeb) -> None:
    db = folder.read()
    _, tables = exporting.pages(folder, db)
    documents = [row for table in tables for row in table.select(["url", "title", "lang"]).to_pylist()]
    out.print("\nDocuments by language: " + ", ".join(
        f"{lang or 'unknown'} {sum(row['lang'] == lang for row in documents)}"
        for lang in sorted({row["lang"] for row in documents}, key=str)
    ))  # fmt: skip
    _examples(db)
    problems = web.expected.problems(row["url"] for row in documents)
    for problem in problems:
        err.print(problem, markup=False)
    if problems:
        raise OperationError(f"the crawl differs from what the demo web holds in {len(problems)} places")
    out.print(f"\nAll {web.expected.documents} documents of the demo web were found, each once.")


def _examples(db: Database) -> None:
    """One URL of each fate, with the reason."""
    shown: set[str] = set()
    out.print("\nOne URL of each fate:")
    for record in all_urls(db):
        fate = record.rule or record.outcome or record.state
        if fate not in shown:
            shown.add(fate)
            out.print(f"  {fate:18} {record.url}  {record.reason or record.target or ''}"[:160], markup=False)
