"""Reference pages that are made from the code are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.cli.verbs import VERBS
from gossamer.search.query.operators import BY_NAME
from gossamer.settings import Settings, describe
from reference.pages import PAGES, query_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_the_one_made_from_the_code(name: str) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert page.strip() == PAGES[name]().strip(), "run `make docs`"


def test_the_page_on_queries_has_every_operator_and_all_its_names() -> None:
    page = (DOCS / "query.md").read_text(encoding="utf-8")
    assert query_page(page) == page, "run `make docs`"
    typed = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in BY_NAME if not any(re.search(rf"\b{name}:[^\s`]", one) for one in typed)] == []


def test_the_page_of_the_command_line_has_every_verb_and_its_sub_commands() -> None:
    page = PAGES["cli"]()
    for verb in (*VERBS, "rules import", "partition plan", "lab replay"):
        assert re.search(rf"^#+ gossamer {verb}\n\n[A-Z].+\.$", page, re.MULTILINE), verb


def test_code_is_shown_as_it_stands() -> None:
    """Inside backticks Markdown shows an entity as it is written."""
    for name, page in PAGES.items():
        assert re.findall(r"`[^`\n]*&\w+;[^`\n]*`", page()) == [], name


def test_a_setting_without_a_default_is_not_set() -> None:
    page = PAGES["settings"]()
    assert re.search(r"^\| `ip_delay` \| .* \| not set \| ", page, re.MULTILINE)
    assert '"None"' not in page


def test_every_option_of_the_command_line_has_a_sentence() -> None:
    """A word in capitals is explained by the sentence of its verb; an option must say what it does."""
    options = re.findall(r"^\| `-.*$", PAGES["cli"](), re.MULTILINE)
    assert len(options) > 100
    assert [line for line in options if not re.search(r"\w.* \|$", line.split(" | ")[-1])] == []


def test_the_page_of_outcomes_names_settings_that_exist_and_verbs_that_work() -> None:
    page = PAGES["outcomes"]()
    settings = {f"{setting.section}.{setting.name}" for setting in describe()}
    named = set(re.findall(r"`([a-z]+\.[a-z_]+)`", page)) - {"gossamer.toml"}
    assert named and named <= settings
    assert set(re.findall(r"`gossamer (\w+)", page)) <= set(VERBS)


def test_the_page_of_outcomes_tells_the_defaults() -> None:
    page, settings = PAGES["outcomes"](), Settings()
    assert set(re.findall(r"`budget.retries` tries \((\d+)\)", page)) == {str(settings.budget.retries)}
    assert set(re.findall(r"`budget.patience` tries \((\d+)\)", page)) == {str(settings.budget.patience)}
    assert set(re.findall(r"`revisit.ceiling` \((\d+) days\)", page)) == {f"{settings.revisit.ceiling / 86_400:.0f}"}
