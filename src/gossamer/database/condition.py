"""Facts that databases report about themselves, each in its own dialect."""

from __future__ import annotations

from gossamer.database.database import Database


def server_version(db: Database) -> tuple[int, str]:
    """The version of a PostgreSQL server, as a comparable number and as a person writes it."""
    number, name = db.execute("SELECT current_setting('server_version_num'), current_setting('server_version')")[0]
    return int(number), str(name)


def server_bytes(db: Database) -> int:
    """Bytes that the database takes on its PostgreSQL server."""
    return int(db.execute("SELECT pg_database_size(current_database())")[0][0])


def file_damage(db: Database) -> str:
    """Damage that SQLite finds in its file, empty for none; it reads the whole file."""
    (found,) = db.execute("PRAGMA quick_check(1)")[0]
    return "" if found == "ok" else str(found)


def give_up_safety(db: Database) -> None:
    """Trade durability for speed: for an SQLite file that only this process opens, and deletes after use."""
    for setting in ("synchronous = OFF", "journal_mode = MEMORY", "locking_mode = EXCLUSIVE"):
        db.execute(f"PRAGMA {setting}")
