"""Writes pages of the docs from the code: `python -m reference.pages NAME`, one of `PAGES`.

`query` takes the page from standard input and writes its table of operators anew."""

from __future__ import annotations

import re
import sys
from typing import Any

from gossamer import settings
from gossamer.model.outcome import COLUMNS, MEANING
from gossamer.operate import metrics as crawl_metrics
from gossamer.search.query.operators import OPERATORS
from gossamer.web import metrics as web_metrics
from reference.api_page import api_page
from reference.verbs_page import cli_page

_OPERATORS = re.compile(r"(<!-- operators: .*? -->\n).*(?=<!-- end of operators -->)", re.DOTALL)


def settings_page() -> str:
    """All settings as a Markdown page."""
    lines = [
        "# Settings",
        "",
        "You set them in the file `gossamer.toml` of the data folder. `gossamer init` writes one that lists them all,",
        "each behind a `#`: remove the `#` to set one. Write each `[section]` only once. This page is generated from",
        "the code (`make docs`).",
    ]
    section = ""
    for setting in settings.describe():
        if setting.section != section:
            section = setting.section
            lines += ["", f"## [{settings.header(section)}]", "", settings.section_sentence(section), ""]
            lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
        cells = (f"`{setting.name}`", f"`{setting.type}`", _default(setting.default), setting.sentence)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _default(value: Any) -> str:
    if value is None:
        return "not set"
    text = settings.toml_value(value)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"


def metrics_page() -> str:
    """All metrics as a Markdown page."""
    lines = [
        "# Metrics",
        "",
        "Generated from the code by `make docs`. How to read them: [observe](observe.md). Labels tell series of one "
        "metric apart. In addition, `/metrics` has the metrics of Prometheus' library for any process (`process_…`).",
    ]
    for title, metrics in (("Of the crawl", crawl_metrics.METRICS), ("Of the server", web_metrics.METRICS)):
        lines += ["", f"## {title}", "", "| metric | type | unit | labels | meaning |", "|---|---|---|---|---|"]
        for metric in metrics:
            labels = ", ".join(f"`{label}`" for label in metric.labels)
            cells = (f"`{metric.name}`", metric.kind, metric.unit, labels, metric.sentence)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def outcomes_page() -> str:
    """All outcomes and the columns of their table as a Markdown page."""
    lines = [
        "# Outcomes",
        "",
        "Every visit to a URL ends with one of these outcomes. `gossamer explain URL` shows the outcome of one URL,",
        "`gossamer status` counts them ([how a crawl ends](operate.md#how-a-crawl-ends)), and the stored",
        "[segments](segments.md) and the metric `gossamer_urls_by_outcome` name them. Numbers in brackets are defaults",
        "of the [settings](settings.md). This page is generated from the code (`make docs`).",
    ]
    for outcome, row in MEANING.items():
        meaning = f"{row.sentence[0].upper()}{row.sentence[1:]}. Counted as *{row.count.value}*."
        lines += ["", f"## {outcome.value}", "", meaning, ""]
        lines += [f"- **What happens next:** {row.next}", f"- **What you can do:** {row.advice}"]
    lines += [
        "",
        "## What follows from an outcome",
        "",
        "The code looks up in this table what to do (`model/outcome.py`). No other module keeps a set of outcomes, so",
        "a column is the whole rule.",
        "",
        "| column | meaning | outcomes |",
        "|---|---|---|",
    ]
    for column, sentence in COLUMNS.items():
        holding = ", ".join(f"`{outcome.value}`" for outcome, row in MEANING.items() if getattr(row, column))
        lines.append(f"| {column} | {sentence} | {holding} |")
    return "\n".join(lines) + "\n"


def query_page(page: str) -> str:
    """The page on queries with its table of operators made anew; the rest of it is written by hand."""
    rows = [f"| {typed} | {finds} |" for operator in OPERATORS for typed, finds in operator.examples]
    table = "\n".join(["| typed | finds pages |", "|---|---|", *rows])
    return _OPERATORS.sub(lambda head: f"{head[1]}\n{table}\n\n", page)


PAGES = {
    "settings": settings_page,
    "metrics": metrics_page,
    "outcomes": outcomes_page,
    "cli": cli_page,
    "api": api_page,
}


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "settings"
    sys.stdout.write(query_page(sys.stdin.read()) if name == "query" else PAGES[name]())
