"""What each kind of process loads: a library that it does not need costs every start time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.settings import Settings

CONFIGURATION = {
    "gossamer.index", "gossamer.index.shards", "gossamer.search", "gossamer.search.ranking", "gossamer.search.shards",
    "gossamer.search.shards.config",
}  # fmt: skip
"""What the settings need of an index and of a search: structs that import nothing heavy."""
OUTSIDE_THE_FETCH_LOOP = (
    "gossamer.alerts", "gossamer.console", "gossamer.index", "gossamer.indexer", "gossamer.operate", "gossamer.search",
    "gossamer.serving", "gossamer.supervise", "gossamer.upkeep", "gossamer.web",
)  # fmt: skip
STATE = ("gossamer.database", "gossamer.frontier", "gossamer.store", "gossamer.tables")
SPARED = {
    "gossamer.settings": ("asyncio", "httptools", "numpy", "pyarrow", "scipy", "sqlite3", "ssl", "tantivy"),
    "gossamer.data.folder": ("asyncio", "httptools", "numpy", "pyarrow", "scipy", "tantivy"),
    "gossamer.cli.start": ("asyncio", "cyclopts", "msgspec", "numpy", "rich"),
    "gossamer.supervise.nursery": ("asyncio", "cyclopts", "gossamer.settings", "numpy", "rich"),
    "gossamer.cli.main": ("asyncio", "httptools", "numpy", "pyarrow", "scipy", "tantivy"),
    "gossamer.cli.operating.pause": ("asyncio", "gossamer.search", "numpy", "pyarrow", "scipy", "tantivy"),
    "gossamer.cli.crawling.crawl": ("gossamer.crawl.worker", "gossamer.jobs", "gossamer.search", "pyarrow", "scipy"),
    "gossamer.upkeep.due": ("asyncio", "gossamer.crawl", "httptools", "numpy", "pyarrow", "scipy", "tantivy"),
    "gossamer.crawl.worker_process": (*OUTSIDE_THE_FETCH_LOOP, "http.client", "pyarrow.compute", "scipy", "tantivy"),
    "gossamer.crawl.parser_process": (*STATE, "asyncio", "gossamer.settings", "pyarrow", "sqlite3", "tantivy"),
    "gossamer.indexer.indexer_process": (
        "asyncio", "gossamer.alerts", "gossamer.crawl", "gossamer.jobs", "gossamer.search", "gossamer.web", "httptools",
        "rapidfuzz", "scipy",
    ),
    "gossamer.alerts.alert_process": ("asyncio", "gossamer.crawl", "gossamer.web", "numpy", "pyarrow", "scipy"),
    "gossamer.upkeep.process": ("asyncio", "gossamer.crawl", "numpy", "pyarrow", "scipy", "tantivy"),
    "gossamer.upkeep.compacting": ("asyncio", "gossamer.crawl", "gossamer.jobs", "scipy", "tantivy"),
    "gossamer.cli.searching.search": ("asyncio", "gossamer.crawl", "httptools", "numpy", "pyarrow", "scipy"),
    "gossamer.cli.searching.serve": ("gossamer.jobs", "numpy", "pyarrow", "scipy", "turbohtml"),
    "gossamer.cli.operating.status": (
        "asyncio", "gossamer.supervise.supervisor", "httptools", "numpy", "pyarrow", "scipy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("module", SPARED)
def test_a_process_does_not_load_what_it_does_not_need(module: str) -> None:
    assert not _heavy(_loaded(f"import {module}"), SPARED[module])


def test_reading_and_checking_the_settings_loads_nothing_heavy(tmp_path: Path) -> None:
    text = (
        '[sites."a.org"]\ncookies = {seen = "1"}\n[network]\nresolve = {"a.org" = "10.0.0.1"}\nallow = ["10.0.0.0/8"]\n'
    )
    (tmp_path / "gossamer.toml").write_text(text, encoding="utf-8")
    loaded = _loaded(f"from pathlib import Path; from gossamer.settings import load; load(Path({str(tmp_path)!r}))")
    assert not _heavy(loaded, SPARED["gossamer.settings"])


def test_the_strategy_that_is_not_checked_is_right() -> None:
    Settings()._check_strategy()  # `check` leaves it out where it is the default


def _loaded(code: str) -> set[str]:
    """The modules of a new interpreter that ran this."""
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.split())


def _heavy(loaded: set[str], spared: tuple[str, ...]) -> list[str]:
    return sorted(
        name for name in loaded - CONFIGURATION if any(name == one or name.startswith(f"{one}.") for one in spared)
    )
