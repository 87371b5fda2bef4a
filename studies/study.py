"""What every study is given, and the list of them.

Studies need data: sites, graphs and histories of real webs. `--webs` names the folder; it is laid out like this, and
what is not there is made up or left out, which the report says:

    sites/NAME.tar.zst          a site as files
    graph/NAME.pages.tsv.gz     path, in-degree, out-degree, PageRank
    graph/further/…             the same of sites to learn from, not to test with
    history/NAME.tsv.gz         time, A/M/D, page
    recorded/NAME.web.parquet   made by `gossamer lab record`
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import msgspec

from gossamer.errors import UsageError
from studies.reports.report import Report

STUDIES: dict[str, str] = {
    "useful": "Useful share of the downloads under several strategies.",
    "merge": "Time and rewrites of an index under a trickle of updates.",
    "early": "Indexing work saved by removing duplicates before it.",
    "filters": "What automatic filters take out of the URL table, and what they lose.",
    "partition": "One site over several crawlers: acceleration, overlap, coverage.",
    "priority": "Mean PageRank of the pages downloaded so far, for all strategies.",
    "qrank": "Error of the importance that is told from a URL alone.",
    "freshness": "Freshness and age against the budget, for all revisit policies.",
    "duplicates": "Precision and recall of the near-duplicate methods.",
    "growth": "Cost of a page against the size of the URL table.",
}
"""Name and sentence of each study; the module or folder `studies/NAME` has it."""


class Options(msgspec.Struct, frozen=True):
    """How a study is run."""

    quick: bool = False
    """Less data, the same questions: all studies together in under ten minutes."""
    seed: int = 1
    """Where chance comes in: same seed, same result."""
    webs: Path | None = None
    """Folder with real data, see the module's text."""
    cache: Path = Path.home() / ".cache" / "gossamer-lab"
    """Where webs that were read from files are kept between runs."""
    tell: Callable[[str], None] = lambda _text: None
    """Takes a line of progress."""


def run_study(name: str, options: Options) -> Report:
    """Run one study; `UsageError` where there is none of that name."""
    if name not in STUDIES:
        raise UsageError(f"there is no study called {name!r}: known are {', '.join(STUDIES)}")
    report: Report = import_module(f"studies.{name}").run(options)
    return report
