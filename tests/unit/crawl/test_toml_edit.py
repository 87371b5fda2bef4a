"""Settings that a program changes in a file that a person wrote: what is not changed stays as it was written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.operate.configuration.toml_edit import edited, toml_text
from gossamer.settings import template

WRITTEN = """# Our crawl.
[crawl]
contact = "ada@example.org"  # who answers
# workers = 0

[scope]
hosts = [
    "a.org",  # the first
    "b.org",
]

[sites."intranet.test"]
cookies = {session = "hush"}
"""


def test_a_value_is_changed_where_it_stands_and_the_comments_stay() -> None:
    wanted = tomllib.loads(WRITTEN)
    wanted["crawl"] |= {"contact": "bob@example.org", "workers": 3}
    wanted["scope"] = {"hosts": ["c.org"], "mode": "domain"}
    made = edited(WRITTEN, wanted)
    assert tomllib.loads(made) == wanted
    assert 'contact = "bob@example.org"  # who answers\n# workers = 0\nworkers = 3\n' in made
    assert made.startswith("# Our crawl.\n")
    assert "the first" not in made


def test_a_value_that_is_taken_out_leaves_the_rest() -> None:
    wanted = tomllib.loads(WRITTEN)
    del wanted["scope"]["hosts"], wanted["crawl"]["contact"]
    made = edited(WRITTEN, wanted)
    assert tomllib.loads(made)["crawl"] == {}
    assert "# Our crawl." in made and "intranet.test" in made


@pytest.mark.parametrize(
    "text", ["", WRITTEN, template(), '[[scope.filters]]\nkind = "prefix"\npattern = "/x"\n[crawl]\n']
)
def test_lists_of_tables_are_written_and_read_back(text: str) -> None:
    rules = [
        {"kind": "regex", "action": "deny", "pattern": '[#"]$'},
        {"kind": "prefix", "action": "allow", "pattern": "/"},
    ]
    once = tomllib.loads(text)
    once.setdefault("scope", {})["filters"] = rules
    made = edited(text, once)
    again = tomllib.loads(made)
    assert again["scope"] == once["scope"]
    again["scope"]["filters"] = rules[:1]
    assert tomllib.loads(edited(made, again)) == again


def test_every_default_of_a_new_file_stays_as_a_comment_beside_what_is_set() -> None:
    made = edited(template(), {"politeness": {"delay": 2.5}})
    assert "# delay = 1.0\ndelay = 2.5\n" in made
    assert made.count("#") == template().count("#")


@pytest.mark.parametrize(
    "text",
    [
        'scope.mode = "host"\n',
        'scope = {mode = "host"}\n',
        '["scope"]\nmode = "host"\n',
        "[crawl]\nx = 1\n[scope]\n[crawl.more]\ny = 1\n",
    ],
)
def test_other_ways_of_writing_say_what_is_wanted_all_the_same(text: str) -> None:
    assert tomllib.loads(edited(text, {"scope": {"mode": "domain"}})) == {"scope": {"mode": "domain"}}


def test_a_section_that_is_not_wanted_keeps_its_comments() -> None:
    made = edited("[crawl]\nworkers = 2\n# why not\n\n[scope]\nmode = 'host'\n", {"scope": {"mode": "host"}})
    assert made == "[crawl]\n# why not\n\n[scope]\nmode = 'host'\n"


def test_a_section_that_is_not_wanted_and_has_no_comments_goes() -> None:
    assert (
        edited("[serve]\ntitle = '#'\n\n[sites.'a.b']\nx = 1\n\n[scope]\nx = 1\n", {"scope": {"x": 2}})
        == "[scope]\nx = 2\n"
    )


def test_a_list_of_tables_does_not_end_its_section() -> None:
    rules = [{"kind": "prefix", "pattern": "/"}]
    made = edited("[scope]\n# filters = []\n# mode = ''\n", {"scope": {"filters": rules}})
    assert made == '[scope]\n# filters = []\nfilters = [\n    {kind = "prefix", pattern = "/"},\n]\n# mode = \'\'\n'


def test_what_is_none_is_left_out() -> None:
    wanted = {"crawl": {"contact": None, "watch": True}, "rows": [{"a": 1, "b": None}]}
    for made in (toml_text(wanted), edited(WRITTEN, wanted)):
        assert tomllib.loads(made)["crawl"] == {"watch": True}
        assert tomllib.loads(made)["rows"] == [{"a": 1}]


NAMES = st.sampled_from(["crawl", "scope", "sites", "mode", "hosts", "filters", "a.b"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(0, 9) | st.sampled_from(["", '#"x', "\u2028", "[crawl]\n# mode = 1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TABLES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=3), max_size=3)


@given(st.just(WRITTEN) | TABLES.map(toml_text), TABLES)
def test_whatever_is_edited_says_what_is_wanted(text: str, wanted: dict[str, Any]) -> None:
    found = tomllib.loads(edited(text, wanted))
    assert {name: table for name, table in found.items() if table} == {
        name: table for name, table in wanted.items() if table
    }
