"""A database as an earlier version of this program left it."""

from __future__ import annotations

from gossamer.database import schema
from gossamer.database.database import Database


def back_to_version_5(db: Database) -> None:
    """Take out of the tables what the upgrades from version 5 on bring."""
    upgrade = [text for version in range(5, schema.VERSION) for text in schema.UPGRADES[version]]
    tables = [text.split()[2] for text in upgrade if text.startswith("CREATE TABLE")]
    indexes = [text.split() for text in upgrade if text.startswith("CREATE INDEX")]
    columns = [text.split() for text in upgrade if "ADD COLUMN" in text]
    for statement in (
        *(f"ALTER TABLE {words[2]} DROP COLUMN {words[5]}" for words in columns),
        *(f"DROP INDEX {words[2]}" for words in indexes if words[4] not in tables),
        *(f"DROP TABLE {name}" for name in tables),
        "UPDATE meta SET value = '5' WHERE key = 'schema'",
    ):
        db.execute(statement)
