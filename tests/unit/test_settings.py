"""Settings: every one documented, each wrong one named, the command line over the file over the defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.settings import FILE_NAME, Settings, describe, header, is_named, load, template, toml_value
from reference.pages import settings_page

ALL = list(describe())
PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=6,
)


def test_the_defaults_are_valid() -> None:
    Settings().check()
    assert load(Path("/nonexistent")) == Settings()


@pytest.mark.parametrize("setting", ALL, ids=lambda one: f"{one.section}.{one.name}")
def test_every_setting_has_a_type_and_a_sentence(setting: Any) -> None:
    assert setting.type
    assert re.fullmatch(r"[A-Z`a-z].*\.", setting.sentence), setting.sentence


def test_the_template_has_every_setting_once_and_its_lines_are_the_defaults(tmp_path: Path) -> None:
    text = template()
    for setting in ALL:
        assert len(re.findall(rf"^# {setting.name} = ", text, re.MULTILINE)) >= 1
    # As the file says: remove the #.
    live = [line.removeprefix("# ") for line in text.splitlines() if re.match(r"# \w+ = (?!# not set)|# \[|\[", line)]
    (tmp_path / FILE_NAME).write_text("\n".join(live))
    loaded = load(tmp_path)
    assert msgspec.structs.replace(loaded, sites={}, schedules={}, fields={}) == Settings()
    names = [list(one) for one in (loaded.sites, loaded.schedules, loaded.fields)]
    assert names == [["www.example.org"], ["nightly"], ["price"]]


def test_command_line_wins_over_file_and_file_over_defaults(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("[crawl]\nworkers = 3\nparsers = 2\n[politeness]\ndelay = 7.0\n")
    settings = load(tmp_path, {"crawl": {"workers": 5}, "scope": {"mode": "domain"}})
    assert (settings.crawl.workers, settings.crawl.parsers, settings.crawl.sites) == (5, 2, Settings().crawl.sites)
    assert (settings.politeness.delay, settings.scope.mode) == (7.0, "domain")


def test_no_workers_means_as_many_as_cores() -> None:
    assert Settings().workers >= 1
    assert msgspec.convert({"crawl": {"workers": 3}}, Settings).workers == 3


NUMBERS = [one for one in ALL if isinstance(one.default, (int, float)) and not isinstance(one.default, bool)]


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda one: f"{one.section}.{one.name}")
def test_no_number_may_be_negative(tmp_path: Path, setting: Any) -> None:
    value = type(setting.default)(-1)
    with pytest.raises(UsageError, match=rf"{setting.section}\.{setting.name}"):
        load(tmp_path, {setting.section: {setting.name: value}})


STARTED = [one for one in NUMBERS if one.name in ("workers", "parsers", "tabs", "threads", "most_parts", "port")]


@pytest.mark.parametrize("setting", STARTED, ids=lambda one: f"{one.section}.{one.name}")
def test_a_zero_too_many_does_not_start_a_million_processes(tmp_path: Path, setting: Any) -> None:
    with pytest.raises(UsageError, match=rf"{setting.section}\.{setting.name} is 1000000: it must be at most \d+"):
        load(tmp_path, {setting.section: {setting.name: 1_000_000}})


@pytest.mark.parametrize("setting", ALL, ids=lambda one: f"{one.section}.{one.name}")
def test_a_misspelt_setting_is_told_with_the_right_one(tmp_path: Path, setting: Any) -> None:
    (tmp_path / FILE_NAME).write_text(f"[{header(setting.section)}]\n{setting.name}x = 1\n")
    with pytest.raises(UsageError, match=rf"unknown setting {setting.name}x .*did you mean {setting.name}\?"):
        load(tmp_path)


@pytest.mark.parametrize(
    "setting", [one for one in ALL if not is_named(one.section)], ids=lambda one: f"{one.section}.{one.name}"
)
def test_a_value_of_the_wrong_type_is_told_with_its_place(tmp_path: Path, setting: Any) -> None:
    with pytest.raises(UsageError, match=rf"{setting.section}\.{setting.name}"):
        load(tmp_path, {setting.section: {setting.name: {"wrong": [object]} if setting.default != {} else 3}})


@given(VALUES)
def test_values_survive_toml(value: Any) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def test_the_settings_page_of_the_docs_is_the_one_made_from_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    assert page.read_text(encoding="utf-8").strip() == settings_page().strip(), "run `make docs`"


def test_a_number_without_an_end_is_refused(tmp_path: Path) -> None:
    """It could not be noted: the console then took the crawl for one of another version, and showed no settings."""
    (tmp_path / FILE_NAME).write_text("[politeness]\ndelay = inf\n")
    with pytest.raises(UsageError, match=r"politeness\.delay is infinite"):
        load(tmp_path)
