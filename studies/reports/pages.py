"""Reports as pages: HTML for a browser, Markdown for a forge; made by templates in which everything is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gossamer.lab.tables import Table, flush_right, shown
from studies.reports import tables
from studies.reports.prose import in_html, in_markdown
from studies.reports.report import Figure, Report
from studies.reports.stored import Run, Stored

FOLDER = Path(__file__).parent / "templates"
MOST_ROWS = 40
"""Rows of a table that stand on a page; the file beside it has all."""


def study_html(stored: Stored) -> str:
    """The page of a study."""
    return _render(_HTML, "study.html", stored=stored, report=stored.report, run=stored.run)


def study_markdown(stored: Stored) -> str:
    """The same as a README."""
    return _render(_MARKDOWN, "study.md", stored=stored, report=stored.report, run=stored.run)


def index_html(studies: Sequence[Stored]) -> str:
    """The page that leads to all studies of a folder."""
    return _render(_HTML, "index.html", studies=studies, **_counts(studies))


def index_markdown(studies: Sequence[Stored]) -> str:
    """The same as a README."""
    return _render(_MARKDOWN, "index.md", studies=studies, **_counts(studies))


def _render(environment: Environment, template: str, **values: Any) -> str:
    return environment.get_template(template).render(**values).rstrip() + "\n"


def _counts(studies: Sequence[Stored]) -> dict[str, int]:
    goals = [goal for one in studies for goal in one.report.goals]
    return {"goals": len(goals), "met": sum(goal.met for goal in goals)}


def _parts(report: Report) -> list[tuple[str, str]]:
    """What the index tells of a study."""
    parts = [("Seed", report.seed), ("Ours", report.ours), ("Data", report.data), ("Why they differ", report.differs)]
    return [(head, text) for head, text in parts if text]


def _alternative(figure: Figure) -> str:
    """What a figure shows, for those who do not see it."""
    return f"{figure.title}: " + "; ".join(dict.fromkeys(_described(panel.y, panel.x) for panel in figure.panels))


def _described(y: str, x: str) -> str:
    return f"{y} against {x}" if x else y


def _table_in_markdown(table: Table) -> Markup:
    return Markup(tables.markdown_text(table, MOST_ROWS).rstrip())


def _line(text: str) -> Markup:
    """One line of an indented block, where nothing is markup."""
    return Markup(" ".join(text.split()))


def _code(text: str) -> Markup:
    """A line as code within a sentence; the fence is longer than any in it."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return Markup(f"{fence}{_line(text)}{fence}") if len(fence) == 1 else Markup(f"{fence} {_line(text)} {fence}")


def _took(run: Run) -> str:
    return f"{run.seconds:.0f} s" if run.seconds < 100 else f"{run.seconds / 60:.0f} min"


def _environment(**options: Any) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        auto_reload=False, **options,
    )  # fmt: skip
    environment.globals["most_rows"] = MOST_ROWS
    environment.filters.update(
        shown=shown, flush_right=flush_right, alternative=_alternative, took=_took,
        table=_table_in_markdown, line=_line, code=_code, prose=in_html, parts=_parts,
    )  # fmt: skip
    return environment


def _finished(value: Any) -> Any:
    return value if isinstance(value, Markup) else in_markdown(str(value))


_HTML = _environment(autoescape=True)
_MARKDOWN = _environment(autoescape=False, finalize=_finished)
