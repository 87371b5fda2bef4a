"""Data folders of earlier versions open: their tables become those of today, and their rows stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.database import schema
from gossamer.database.database import Database, open_database

_ADDED = {
    3: (
        tuple(
            f"urls.{name}" for name in
            ("fit", "hub", "checked_at", "change_a", "change_b", "bucket", "clicks", "announced_at", "searchable_at")
        ),
        (
            "revisits", "freshness", "change_classes", "standings", "sources", "subscriptions", "deliveries", "delays",
            "prefixes", "filters",
        ),
    ),
    4: (("workers.machine", "parts.not_before"), ("partitions",)),
    5: (
        ("sites.paused", "sites.least_delay", "sites.most_pages"),
        (
            "extraction", "samples", "asked", "accounts", "logins", "login_failures", "audit", "alerts", "alert_hits",
            "messages", "alarms", "schedule_runs", "schedule_pauses", "schedule_entries", "evaluations", "scripted",
        ),
    ),
    6: (("urls.site_version",), ("site_pages", "site_facts")),
    7: ((), ("desk",)),
    8: ((), ("choices", "preferences")),
}  # fmt: skip
"""Columns and tables that the version after this one brought."""


def columns(db: Database) -> dict[str, set[str]]:
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: {row[1] for row in db.execute(f"PRAGMA table_info({name})")} for name in names}


def indexes(db: Database) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")}


def older(path: Path, version: int) -> None:
    """A database as that version wrote it, with one page in it."""
    db = open_database(path)
    for old in sorted(_ADDED, reverse=True):
        if old >= version:
            added_columns, added_tables = _ADDED[old]
            for name in added_tables:
                db.execute(f"DROP TABLE {name}")
            for name in added_columns:
                table, column = name.split(".")
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    for name in ("segments_merged", "segments_counting") if version < 6 else ():
        db.execute(f"DROP INDEX {name}")
    db.execute(
        "INSERT INTO urls (site_id, key, url, part, state, kind, via, level, depth, hops, found_at, outcome) "
        "VALUES (1, 2, 'https://a.org/', 0, 2, 'page', 'seed', 0, 0, 0, 5.0, 'document')"
    )
    db.execute("INSERT INTO parts (site_id, part) VALUES (1, 0)")
    db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(version),))
    db.close()


@pytest.mark.parametrize("version", sorted(_ADDED))
def test_tables_of_an_older_version_become_those_of_today(tmp_path: Path, version: int) -> None:
    older(tmp_path / "old.db", version)
    fresh, upgraded = open_database(tmp_path / "new.db"), open_database(tmp_path / "old.db")
    assert columns(upgraded) == columns(fresh)
    assert indexes(upgraded) == indexes(fresh)
    assert upgraded.execute("SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION),)]
    assert upgraded.execute("SELECT url, outcome, fit, clicks FROM urls") == [("https://a.org/", "document", 0, 0)]


def test_pages_of_a_folder_from_before_revisits_are_visited_again(tmp_path: Path) -> None:
    older(tmp_path / "old.db", 3)
    db = open_database(tmp_path / "old.db")
    assert db.execute("SELECT due_at FROM urls") == db.execute("SELECT due_at FROM revisits") == [(5.0 + 7 * 86_400,)]
    assert db.execute("SELECT ready_at FROM parts") == [(5.0 + 7 * 86_400,)]


def test_every_version_has_a_way_to_the_next() -> None:
    assert sorted(schema.UPGRADES) == list(range(1, schema.VERSION))
