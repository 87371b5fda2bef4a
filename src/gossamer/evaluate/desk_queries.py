"""The queries on which the search desk tries its rules: those of the last weeks, and the operator's judged ones."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gossamer.database.database import Database
from gossamer.evaluate.collections import Collection, load
from gossamer.evaluate.desk_trial import Real, check_judged
from gossamer.operate.canonical import canonical_or_error
from gossamer.settings import Settings
from gossamer.tables import asked
from gossamer.tables.asked import day_of

WEEKS = 4
"""How far back readers' queries are taken."""
_TOP, _IN_VAIN = 400, 200
"""The most asked, and those most often in vain."""


def real_queries(db: Database, now: float) -> list[Real]:
    """What readers asked in the last weeks, most asked first."""
    until = day_of(now)
    since = until - 7 * WEEKS + 1
    found = {one.query: one.times for one in asked.top(db, since, until, _TOP)}
    found |= {one.query: one.times for one in asked.top_in_vain(db, since, until, _IN_VAIN)}
    return [Real(query, times) for query, times in sorted(found.items(), key=lambda one: (-one[1], one[0]))]


def judged_queries(root: Path, settings: Settings) -> Collection | None:
    """The queries of `console.judged`, with the URLs that answer them as the index knows them; none where the setting
    is empty."""
    name = settings.console.judged
    if not name:
        return None
    place = root / name
    found = check_judged(load(str(place) if place.exists() else name), f"console.judged ({name})")
    judgements = {
        query: {canonical_or_error(url, settings): grade for url, grade in answers.items()}
        for query, answers in found.judgements.items()
    }
    return msgspec.structs.replace(found, judgements=judgements)
