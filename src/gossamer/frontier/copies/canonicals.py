"""Whether a canonical link counts: the page that it names must have the text, as far as that is known.

Templates name the start page, the English page or the first page of a list on every page. If such links counted, the
texts of all other pages would be lost. So a page with a canonical link is a document of its own if the page at the end
of the link has clearly another text (`dedup.near`), or hardly any.

If that page has not been fetched yet, the link counts, and the fingerprint of the text waits in `clusters`, without
pages, under the key of its own page: keys are large, the numbers of clusters small. When the named page comes, the two
are compared, and the page with another text is fetched once more. A page that waits for one that never comes, or that
names it by way of another alias, is compared at its own next visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE
from gossamer.dedup.near.contract import NearMethod, unlike
from gossamer.frontier.contract import Visit
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

CHAIN = 5
"""Steps followed from a canonical target; a longer chain is not accepted."""
LONG = 500
"""Characters of a text that a page without a comparable text (`dedup.near.contract.MIN_WORDS`) cannot represent."""

Place = tuple[int, int]
"""Site and key of a URL."""


class End(NamedTuple):
    """The page at the end of a canonical link, as it is in the table."""

    url: str
    outcome: str | None
    content_hash: str | None
    cluster: int | None


class Canonicals:
    """The canonical links of a batch."""

    def __init__(self, db: Database, method: NearMethod, visits: Sequence[Visit]) -> None:
        self._db, self._method = db, method
        self._read = {visit.task.url: visit for visit in visits if visit.outcome is Outcome.DOCUMENT}
        self._visits = visits
        self._waiting: list[Visit] = []

    def counts(self, visit: Visit, end: End) -> bool:
        """Whether the page's link to `end` counts, until more is known."""
        text, is_comparable = self._text(end), bool(self._method.long_part(visit.fingerprint))
        if text is None:
            if is_comparable:
                self._waiting.append(visit)
            return True
        content_hash, fingerprint = text
        if visit.content_hash and visit.content_hash == content_hash:
            return True
        if self._method.long_part(fingerprint):
            return not unlike(self._method, visit.fingerprint, fingerprint)
        return not is_comparable or (visit.characters or 0) < LONG

    def _text(self, end: End) -> tuple[str, bytes] | None:
        """Hash and fingerprint of the page's text; None if it was not read yet, or is not kept."""
        if end.url in self._read:
            return self._read[end.url].content_hash, self._read[end.url].fingerprint
        if end.outcome != Outcome.DOCUMENT.value:
            return None
        rows = self._db.execute("SELECT fingerprint FROM clusters WHERE id = ?", (end.cluster,)) if end.cluster else []
        return end.content_hash or "", rows[0][0] if rows else b""

    def write(self) -> None:
        """Keep the fingerprints of those that wait, and no others."""
        left = [v.task.key for v in self._visits if v.task.previous == Outcome.ALIAS.value and v.retry_at is None]
        forget(self._db, left)
        self._db.many(
            "INSERT INTO clusters (id, fingerprint, near_keys, pages, site_id, key, published, seen_at, reason) "
            "VALUES (?, ?, ?, 0, ?, ?, '', ?, '') "
            "ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, seen_at = excluded.seen_at",
            sorted((v.task.key, v.fingerprint, b"", key64(v.site), v.task.key, v.at) for v in self._waiting),
        )


def forget(db: Database, keys: Sequence[int]) -> None:
    """Keep no fingerprint that waits under these keys."""
    for chunk in chunks(sorted(keys)) if keys else ():
        db.execute(f"DELETE FROM clusters WHERE pages = 0 AND id IN ({marks(chunk)})", chunk)


def strangers(db: Database, method: NearMethod, read: Sequence[Visit]) -> list[tuple[Place, Place]]:
    """Pages that named one of these, directly or by redirects, before it was read, and have another text; with the URL
    that they name. None of them waits any longer."""
    named = {visit.task.url: ((key64(visit.site), visit.task.key), visit) for visit in read}
    waiting: dict[int, tuple[Place, Place, Visit]] = {}
    for _ in range(CHAIN):
        if not named:
            break
        named, found = _naming(db, named)
        waiting |= found
    different = []
    for chunk in chunks(sorted(waiting)) if waiting else ():
        rows = db.execute(f"SELECT id, fingerprint FROM clusters WHERE pages = 0 AND id IN ({marks(chunk)})", chunk)
        for key, fingerprint in rows:
            place, target, visit = waiting[key]
            if not method.long_part(visit.fingerprint) or unlike(method, fingerprint, visit.fingerprint):
                different.append((place, target))
        forget(db, [row[0] for row in rows])
    return sorted(different)


def _naming(
    db: Database, named: dict[str, tuple[Place, Visit]]
) -> tuple[dict[str, tuple[Place, Visit]], dict[int, tuple[Place, Place, Visit]]]:
    """The redirects to some URLs, and by key the aliases of them that are not in the queue."""
    targets = sorted(place for place, _ in named.values())
    joined = sorted(set(db.find("site_id, key", "aliases", ("target_site", "target_key"), targets)))
    redirects: dict[str, tuple[Place, Visit]] = {}
    aliases: dict[int, tuple[Place, Place, Visit]] = {}
    rows = db.find("site_id, key, url, outcome, target, state", "urls", ("site_id", "key"), joined) if joined else []
    for site_id, key, url, outcome, target, state in rows:
        if target in named and outcome == Outcome.REDIRECT.value:
            redirects[url] = ((site_id, key), named[target][1])
        elif target in named and outcome == Outcome.ALIAS.value and state == DONE:
            aliases[key] = ((site_id, key), *named[target])
    return redirects, aliases
