"""The published rules of the search desk, for saved queries: they find what the search page finds."""

from __future__ import annotations

import logging

import msgspec

from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.search.desk.acting import NO_RULES, Rules
from gossamer.search.desk.effects import Effects
from gossamer.search.desk.reading import read_desk
from gossamer.tables import desk as table

log = logging.getLogger(__name__)


class PublishedDesk:
    """The rules that count, read again when others do. Rules that cannot be understood are reported once, and those
    before them go on to count."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._rules = NO_RULES
        self._refused = -1

    def current(self) -> Rules:
        """The rules that count now."""
        number = table.current(self._db)
        if number not in (self._rules.version, self._refused):
            self._read(number)
        return self._rules

    def _read(self, number: int) -> None:
        found = table.version(self._db, number) if number else None
        try:
            self._rules = Rules(read_desk(found.rules, f"version {number}"), number) if found is not None else NO_RULES
        except GossamerError as error:
            log.error("alerts cannot use the rules of the search desk, so the ones before still count: %s", error)
            self._refused = number


def for_alerts(effects: Effects) -> Effects:
    """What rules decide about which pages match, without what only orders them: a best bet is no answer to a query
    whose words it does not have."""
    return msgspec.structs.replace(effects, pinned=(), boosted=())
