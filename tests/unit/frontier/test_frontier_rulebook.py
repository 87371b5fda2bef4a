"""Document rules in the database: replaced by name, counted when they change, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.database.database import Database, open_database
from gossamer.parse.rules import DocumentRule
from gossamer.tables.rulebook import load_rules, remove_rules, rules_for, rules_version, save_rules

NEWS = DocumentRule("a.org", ("/news/{id}",), name="news", text=("#t",), category="новости")
BLOG = DocumentRule("a.org", ("/blog/{id}",), name="blog")
OTHER = DocumentRule("news.b.org", ("/{slug}",))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "frontier.db")
    yield database
    database.close()


def test_rules_come_back_as_they_were_by_domain_and_name(db: Database) -> None:
    assert save_rules(db, [OTHER, NEWS, BLOG], 1.0) == (3, 0)
    assert load_rules(db) == (BLOG, NEWS, OTHER)


def test_a_rule_replaces_the_one_with_its_name_and_the_same_rule_changes_nothing(db: Database) -> None:
    save_rules(db, [NEWS, BLOG], 1.0)
    version = rules_version(db)
    assert save_rules(db, [NEWS, BLOG], 2.0) == (0, 0)
    assert rules_version(db) == version
    changed = DocumentRule("a.org", ("/n/{id}",), name="news")
    assert save_rules(db, [changed, BLOG], 3.0) == (0, 1)
    assert rules_version(db) > version
    assert load_rules(db) == (BLOG, changed)


def test_rules_are_removed_one_by_one_or_by_domain(db: Database) -> None:
    save_rules(db, [NEWS, BLOG, OTHER], 1.0)
    version = rules_version(db)
    assert remove_rules(db, "a.org", "nothing") == 0 and rules_version(db) == version
    assert remove_rules(db, "a.org", "news") == 1 and rules_version(db) > version
    assert remove_rules(db, "a.org") == 1
    assert load_rules(db) == (OTHER,)


def test_the_rules_for_a_url_are_those_of_its_host_and_its_domain(db: Database) -> None:
    everywhere = DocumentRule("b.org", ("/{id}",))
    save_rules(db, [NEWS, OTHER, everywhere], 1.0)
    assert rules_for(db, "https://news.b.org:8080/x") == (everywhere, OTHER)
    assert rules_for(db, "https://www.b.org/x") == (everywhere,)
    assert rules_for(db, "https://c.org/x") == ()
