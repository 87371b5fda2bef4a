"""The search desk: rules are drafted, published and taken back. Console and command line do it by these functions.

Nothing counts before it is published. A publication keeps the version before it, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.search.desk.reading import checked, read_desk, write_desk
from gossamer.search.desk.rules import EMPTY, Desk, differences
from gossamer.tables import desk as table
from gossamer.tables.desk import Version

_LONGEST_NOTE = 300

Canonical = Callable[[str], str]
"""The URL of a page as the index knows it."""


class Standing(msgspec.Struct, frozen=True):
    """What counts, and what somebody works on."""

    number: int
    """The version that counts; 0: there are no rules."""
    published: Desk
    draft: Desk
    version: Version | None = None
    """Who published what counts, and when."""
    drafted: Version | None = None
    """Who changed the draft last, and when; none: nobody has since the last publication."""

    @property
    def changes(self) -> list[str]:
        """What the draft would change, a line each."""
        return differences(self.published, self.draft)


def standing(db: Database) -> Standing:
    """How the desk stands."""
    number = table.current(db)
    version, drafted = (table.version(db, number) if number else None), table.draft(db)
    published = desk_of(version)
    return Standing(number, published, desk_of(drafted) if drafted else published, version, drafted)


def desk_of(version: Version | None) -> Desk:
    """The rules of a version."""
    if version is None:
        return EMPTY
    return read_desk(version.rules, f"version {version.number} of the search desk")


def edit(
    db: Database, who: str, now: float, change: Callable[[Desk], Desk], canonical: Canonical | None = None
) -> Standing:
    """Change the draft; returns how the desk stands then. A `UsageError` says what would be wrong with it."""
    with db.transaction():
        before = standing(db)
        after = checked(change(before.draft), "the draft", canonical)
        if after == before.published:
            table.drop_draft(db)
        elif after != before.draft:
            table.save_draft(db, who, now, write_desk(after))
        return standing(db)


def discard(db: Database) -> None:
    """Throw the draft away: it is what counts again."""
    with db.transaction():
        table.drop_draft(db)


def publish(db: Database, who: str, now: float, note: str = "", desk: Desk | None = None) -> tuple[int, list[str]]:
    """Let the draft count, or the rules of a file; returns the version, and what it changed."""
    with db.transaction():
        before = standing(db)
        rules = before.draft if desk is None else desk
        changes = differences(before.published, rules)
        if rules == before.published:
            raise UsageError("nothing to publish: the rules are the same as those that count")
        number = table.add(db, who, now, " ".join(note.split())[:_LONGEST_NOTE], write_desk(rules))
        if desk is None:
            table.drop_draft(db)
    return number, changes


def undo(db: Database) -> tuple[int, int, list[str]]:
    """Let the version before count; returns the versions before and after, and what that changed. What was taken back
    becomes the draft, unless there is one."""
    with db.transaction():
        before = standing(db)
        if before.version is None:
            raise UsageError("nothing to undo: no rules are published")
        number = before.version.previous
        table.let_count(db, number)
        if before.drafted is None:
            taken = before.version
            table.save_draft(db, taken.who, taken.at, taken.rules)
        return before.number, number, differences(before.published, standing(db).published)


def publish_again(db: Database, who: str, now: float, number: int) -> tuple[int, list[str]]:
    """Publish the rules of an older version as a new one. The draft stays."""
    old = table.version(db, number) if number > 0 else None
    if old is None:
        raise UsageError(f"there is no version {number} of the search desk: see its history")
    return publish(db, who, now, f"as version {number}", desk_of(old))


def told(desk: Desk) -> str:
    """How many rules there are, for a person."""
    words = {"synonym": "synonym", "best_bet": "best bet", "hidden": "hidden page", "boost": "boost",
             "stop_words": "stop word", "collection": "collection"}  # fmt: skip
    found = [counted(rules, name) for kind, name in words.items() if (rules := getattr(desk, kind))]
    return ", ".join(found) or "no rules"
