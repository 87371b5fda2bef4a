"""Export and import of a configuration: the same comes back, secrets stay, what is wrong changes nothing."""

from __future__ import annotations

import json
import math
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gossamer.data.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.frontier.steering.filters import StoredFilter
from gossamer.operate.configuration import contents as configuration
from gossamer.operate.configuration.applying import bring
from gossamer.operate.configuration.contents import (
    Configuration,
    Decision,
    Removed,
    SavedAlert,
    SiteControl,
    as_text,
    differences,
    from_text,
    merged,
    with_secrets_of,
    without_secrets,
)
from gossamer.operate.configuration.toml_edit import toml_text
from gossamer.parse.rules import DocumentRule
from gossamer.scope.automatic import Evidence

NOW = 1_800_000_000.0
WORDS = st.text("abcdefghij äß漢\"\\'", min_size=1, max_size=20).map(lambda text: " ".join(text.split()) or "x")
HOSTS = st.sampled_from(["a.org", "www.b.org", "c.org:8080", "xn--d-xha.org"])
TIMES = st.floats(0, 2e9, allow_nan=False)
CRAWL = st.fixed_dictionaries({}, optional={
    "workers": st.integers(0, 64), "contact": st.just("ada@example.org"), "watch": st.booleans(),
    "linger": st.floats(0, 1e4), "strategy": st.just("fit * breadth"),
})  # fmt: skip
FILTER_SETTINGS = {"filters": st.just([{"kind": "prefix", "action": "deny", "pattern": "https://a.org/x"}])}
WILDCARDS = {"mode": st.just("list"), "hosts": st.lists(st.just("*.example.org"), max_size=2)}
SETTINGS = st.fixed_dictionaries({}, optional={
    "crawl": CRAWL,
    "scope": st.fixed_dictionaries(WILDCARDS, optional=FILTER_SETTINGS)
    | st.fixed_dictionaries({}, optional=FILTER_SETTINGS),
    "serve": st.fixed_dictionaries({"title": WORDS}),
    "alerts": st.just({"smtp_password": "hush", "operators": ["https://hooks.example.org/hush"]}),
    "sites": st.just({"intranet.org": {"cookies": {"session": "hush"}, "javascript": "off"}}),
    "schedules": st.just({"nightly": {"run": "rank", "at": "03:30"}}),
})  # fmt: skip


def unique(values: st.SearchStrategy[Any], key: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """Lists as the tables keep them: each once, in order."""
    return st.lists(values, max_size=3, unique_by=key).map(lambda found: tuple(sorted(found, key=key)))


FILTERS = st.builds(
    StoredFilter, HOSTS, st.just("prefix"), st.sampled_from(["/a/", "/b/"]),
    st.sampled_from(["proposed", "shadow", "active", "off", "withdrawn"]), st.just("yield"),
    st.builds(Evidence, chance=st.floats(0, 1), note=WORDS, kept=st.booleans()), TIMES, TIMES,
)  # fmt: skip
CONFIGURATIONS = st.builds(
    Configuration,
    paused=st.just("") | WORDS,
    seeds=st.lists(st.sampled_from(["http://a.org/", "https://www.b.org/x?y=1"]), unique=True).map(
        lambda found: tuple(sorted(found))
    ),
    paused_schedules=st.sampled_from([(), ("nightly",)]),
    settings=SETTINGS,
    sites=unique(
        st.builds(SiteControl, HOSTS, WORDS, st.floats(0, 86_400), st.integers(0, 2**40)), lambda one: one.site
    ),
    removals=unique(
        st.builds(Removed, st.sampled_from(["a.org", "//b.org/x", "=https://c.org/y", "http://a.org/z"]), WORDS),
        lambda one: one.what,
    ),
    rules=unique(
        st.builds(
            DocumentRule, st.sampled_from(["a.org", "b.org"]), st.just(("/news/*",)), st.sampled_from(["one", "two"]),
            title=st.sampled_from([(), ("h1",)]),
        ),
        lambda one: (one.domain, one.name),
    ),
    filters=unique(FILTERS, lambda one: (one.site, one.kind, one.pattern)),
    mirrors=unique(
        st.builds(
            Decision, st.sampled_from(["m1.org", "m2.org"]), st.just("main.org"), st.just("https"),
            st.sampled_from(["found", "accepted", "set", "rejected"]), WORDS, TIMES,
        ),
        lambda one: one.site,
    ),
    alerts=unique(
        st.builds(
            SavedAlert, WORDS, st.just('{"query":"spider"}'), WORDS,
            st.sampled_from([(), ("ada@example.org",), ("ada@example.org", "https://hooks.example.org/hush")]),
            st.booleans(), st.booleans(), st.text("0123456789abcdef", min_size=32, max_size=32),
        ),
        lambda one: one.name,
    ).filter(lambda found: len({one.id for one in found}) == len(found)),
)  # fmt: skip


def imported(folder: Path, wanted: Configuration, present: Configuration | None = None) -> Configuration:
    """Bring a configuration into a folder, and read all of it back."""
    bring(DataFolder(folder), present or Configuration(), wanted, NOW)
    return exported(folder)


def exported(folder: Path, secrets: bool = True) -> Configuration:
    data = DataFolder(folder)
    db = data.read()
    try:
        return configuration.read(data, db, secrets)
    finally:
        db.close()


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(CONFIGURATIONS)
def test_what_was_exported_and_imported_is_exported_again(wanted: Configuration) -> None:
    with tempfile.TemporaryDirectory() as place:
        first, second = Path(place) / "first", Path(place) / "second"
        assert imported(first, wanted) == wanted
        # By way of a file, in both forms, to another folder.
        for toml in (True, False):
            assert from_text(as_text(exported(first), toml), "it") == wanted
        assert imported(second, from_text(as_text(exported(first), True), "it")) == wanted
        assert differences(exported(second), wanted) == []


@settings(max_examples=5, phases=[Phase.explicit, Phase.generate])
@given(CONFIGURATIONS, CONFIGURATIONS)
def test_replacing_leaves_nothing_of_what_was_there_and_merging_all_of_it(
    old: Configuration, new: Configuration
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        present = imported(folder, old)
        both = merged(present, new)
        assert imported(folder, both, present) == both
        for name, key in configuration.KEYS.items():
            assert {key(one) for side in (old, new) for one in getattr(side, name)} == {
                key(one) for one in getattr(both, name)
            }
        assert imported(folder, new, both) == new


@settings(max_examples=50)
@given(CONFIGURATIONS)
def test_without_secrets_nothing_secret_is_in_the_file(wanted: Configuration) -> None:
    bare = without_secrets(wanted)
    for toml in (True, False):
        assert "hush" not in as_text(bare, toml)
    assert not any(one.id for one in bare.alerts)
    # Where they came from, they are still known: an import takes none of them away.
    assert differences(with_secrets_of(bare, wanted), wanted) == []


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(PLAIN, VALUES, max_size=4))
def test_tables_survive_toml(tables: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(tables)) == tables


def test_numbers_that_are_none_survive_toml() -> None:
    assert math.isnan(tomllib.loads(toml_text({"x": math.nan}))["x"])


def test_changes_are_told_a_line_each() -> None:
    before = Configuration(settings={"crawl": {"workers": 2, "watch": True}}, seeds=("http://a.org/",), paused="rest")
    after = Configuration(
        settings={"crawl": {"workers": 3}}, seeds=("http://b.org/",), sites=(SiteControl("a.org", "busy"),)
    )
    assert differences(before, after) == [
        "- settings crawl.watch",
        "~ settings crawl.workers",
        "- seeds http://a.org/",
        "+ seeds http://b.org/",
        "+ sites a.org",
        "~ crawl: paused (rest) → not paused",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("gossamer = 7", "another version"),
        ("nonsense = 1", "nonsense"),
        ("{", "not a configuration"),
        ("x =", "not a configuration"),
        ('seeds = "http://a.org/"', "seeds"),
        ("[[rules]]\nname = 'x'", "domain"),
    ],
)
def test_a_file_that_is_wrong_is_told(text: str, said: str) -> None:
    if not said:
        assert from_text(text, "file") == Configuration()
        return
    with pytest.raises(UsageError, match=said):
        from_text(text, "file")


@given(st.text(max_size=80) | st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "replace")))
def test_any_text_is_a_configuration_or_a_sentence(text: str) -> None:
    try:
        from_text(text, "file")
    except UsageError as error:
        assert "\n" not in str(error) or len(str(error)) < 1000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"settings": {"crawl": {"wokers": 3}}}, "did you mean workers"),
        ({"settings": {"crawl": {"workers": -1}}}, "crawl.workers"),
        ({"seeds": ["http://"]}, "seed"),
        ({"seeds": ["http://a.org/", "http://a.org/"]}, "twice"),
        ({"rules": [{"domain": "a.org", "urls": ["/x/*"], "title": ["[["]}]}, "title"),
        ({"alerts": [{"name": "x", "request": "{}", "channels": ["nowhere"]}]}, "nowhere"),
        ({"alerts": [{"name": "x", "request": "otter"}]}, "alert x: its query cannot be read"),
        ({"alerts": [{"name": "x", "request": '{"query": ""}'}]}, "its query is empty"),
        ({"alerts": [{"name": name, "request": '{"query": "a"}', "id": "1"} for name in "xy"]}, "the same id"),
    ],
)
def test_what_is_wrong_changes_nothing(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    good = Configuration(settings={"crawl": {"workers": 2}}, seeds=("http://a.org/",))
    present = imported(tmp_path, good)
    bad = merged(present, msgspec.convert(wrong, Configuration)) if "seeds" not in wrong else msgspec.convert(
        wrong, Configuration
    )  # fmt: skip
    with pytest.raises(UsageError, match=said):
        bring(DataFolder(tmp_path), present, bad, NOW)
    assert exported(tmp_path) == good


def test_the_file_before_is_kept_with_its_comments(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("# why two\n[crawl]\nworkers = 2\n")
    present = Configuration(settings={"crawl": {"workers": 2}})
    bring(DataFolder(tmp_path), present, Configuration(settings={"crawl": {"workers": 3}}), NOW)
    assert "# why two" in (tmp_path / "gossamer.toml.before").read_text()
    assert json.loads(as_text(exported(tmp_path), False))["settings"] == {"crawl": {"workers": 3}}
    assert (tmp_path / "gossamer.toml.before").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        ("postgresql://crawler:hush@db.example.org/crawl", True),
        ("postgresql://db.example.org/crawl?user=crawler&password=hush", True),
        ("postgresql:///crawl?sslpassword=hush", True),
        ("postgresql://db.example.org/crawl?sslmode=require", False),
        ("http://proxy.example.org:3128", False),
    ],
)
def test_a_password_in_an_address_is_a_secret_wherever_it_stands(value: str, is_secret: bool) -> None:
    assert configuration.is_secret("database", value) is is_secret
