"""Finds mirrors inside the transaction that reports visits.

A *sign* is a page that turns out to be the copy of a page of another site at the same path: equal in text (a duplicate
within one domain), like it (a document that joins its cluster), or by a canonical link. Signs are counted by pair of
sites as they come, each text once; a batch without copies costs nothing. The start page gives none: parked domains
share it by the thousand.

Signs do not show the paths where two sites differ. So when a pair has enough of them, a sample of the paths that both
sites were ever read at is compared; if that is not enough (`dedup.mirrors`), the pair is checked again when it has
twice as many signs. All lookups are bounded.

A main site that has moved to its mirror shows it by redirects to the same paths there: then the two change places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.dedup.mirrors import MIN_SAME, MIN_TURNED, Declared, Evidence, SiteFacts, declare, follow
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.copies.mirror_compare import compare, is_twin
from gossamer.frontier.copies.mirror_table import FOUND, Mirror, active, end, is_rejected, main_of, scheme_of, write
from gossamer.model.counts import counted, noun
from gossamer.model.outcome import LEADING_ON, Outcome
from gossamer.model.site import key64, site_of

_MEMBERS = 8
"""Pages of a cluster that are read if the new page represents it."""
_LOOKS = 4
"""Pairs of sites checked in one transaction; others are checked when they have another sign."""

_Pair = tuple[int, int]


class _Signs(msgspec.Struct):
    """New signs of a pair of sites, and how many of them are canonical links to each of the two."""

    same: int = 0
    named: Counter[int] = msgspec.field(default_factory=Counter)


def find_mirrors(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict], now: float) -> None:
    """Count the signs of a recorded batch; declare the mirrors that they prove."""
    twins = list(_twins(db, visits, verdicts))
    if twins:
        for one, other in _count(db, _new_signs(twins, active(db)))[:_LOOKS]:
            _look(db, one, other, now)
    redirected = Counter(
        (visit.site, site_of(verdict.target))
        for visit, verdict in zip(visits, verdicts, strict=True)
        if verdict.outcome is Outcome.REDIRECT and is_twin(visit.task.url, verdict.target)
    )
    for (main, mirror), pages in sorted(redirected.items()):
        _turn(db, main, mirror, pages, now)


def _new_signs(twins: Iterable[tuple[Visit, Verdict, str]], mains: Mapping[str, str]) -> dict[_Pair, _Signs]:
    """By pair of sites; without mirrors, whose pages under way name the main site only because we rewrote them."""
    signs: dict[_Pair, _Signs] = {}
    for visit, verdict, twin in twins:
        other = site_of(twin)
        if follow(mains, visit.site) == follow(mains, other):
            continue
        mine, its = key64(visit.site), key64(other)
        pair = signs.setdefault((min(mine, its), max(mine, its)), _Signs())
        pair.same += 1
        pair.named[its] += verdict.outcome is Outcome.ALIAS
    return signs


def _turn(db: Database, main: str, mirror: str, pages: int, now: float) -> None:
    """If many pages of a main site redirect to its mirror, the mirror becomes main."""
    row = main_of(db, mirror)
    if row is None or (row.main, row.state) != (main, FOUND) or main_of(db, main) is not None:
        return
    pair = sorted((key64(main), key64(mirror)))
    sql = "UPDATE mirror_signs SET turned = turned + ? WHERE site_id = ? AND other_id = ? RETURNING turned"
    rows = db.execute(sql, (pages, *pair))
    if rows and rows[0][0] >= MIN_TURNED:
        db.execute("UPDATE mirror_signs SET turned = 0 WHERE site_id = ? AND other_id = ?", pair)
        end(db, row, now)
        reason = f"{counted(rows[0][0], 'page')} of {main} {noun(rows[0][0], 'redirects', 'redirect')} to {mirror}"
        write(db, Mirror(main, mirror, scheme_of(db, mirror), FOUND, reason, now))


def _twins(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict]) -> Iterator[tuple[Visit, Verdict, str]]:
    """Pages read for the first time that are copies, each with the page of another site at the same path."""
    joined = []
    for visit, verdict in zip(visits, verdicts, strict=True):
        if visit.task.previous in LEADING_ON:
            continue
        if verdict.outcome.meaning.copy:
            if is_twin(visit.task.url, verdict.target):
                yield visit, verdict, verdict.target
        elif verdict.outcome is Outcome.DOCUMENT and verdict.joined and not verdict.is_copy:
            joined.append((visit, verdict))
    represented = _representatives(db, [verdict.cluster for _, verdict in joined if verdict.cluster is not None])
    for visit, verdict in joined:
        likes = [represented.get(verdict.cluster or 0, "")]
        if likes == [visit.task.url]:
            likes = _members(db, verdict.cluster)
        twin = next((url for url in likes if is_twin(visit.task.url, url)), None)
        if twin is not None:
            yield visit, verdict, twin


def _representatives(db: Database, clusters: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for chunk in chunks(sorted(set(clusters))):
        rows = db.execute(
            "SELECT c.id, u.url FROM clusters c JOIN urls u ON u.site_id = c.site_id AND u.key = c.key "
            f"WHERE c.id IN ({marks(chunk)})",
            chunk,
        )
        found.update((number, url) for number, url in rows)
    return found


def _members(db: Database, cluster: int | None) -> list[str]:
    rows = db.execute(
        "SELECT u.url FROM members m JOIN urls u ON u.site_id = m.site_id AND u.key = m.key "
        "WHERE m.cluster = ? LIMIT ?",
        (cluster, _MEMBERS),
    )
    return [url for (url,) in rows]


def _count(db: Database, signs: dict[_Pair, _Signs]) -> list[_Pair]:
    """Add to the signs of pairs; returns those to check."""
    due = []
    for (one, other), new in sorted(signs.items()):
        rows = db.execute(
            "INSERT INTO mirror_signs (site_id, other_id, same, named, other_named, look_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (site_id, other_id) DO UPDATE SET same = mirror_signs.same + excluded.same, "
            "named = mirror_signs.named + excluded.named, "
            "other_named = mirror_signs.other_named + excluded.other_named "
            "RETURNING same, look_at",
            (one, other, new.same, new.named[one], new.named[other], MIN_SAME),
        )
        if rows[0][0] >= rows[0][1]:
            due.append((one, other))
    return due


def _look(db: Database, one_id: int, other_id: int, now: float) -> None:
    """Compare two sites, and declare one a mirror of the other if it is."""
    names: dict[int, str] = dict(db.execute("SELECT id, name FROM sites WHERE id IN (?, ?)", (one_id, other_id)))
    one, other = names[one_id], names[other_id]
    same, named, other_named = db.execute(
        "UPDATE mirror_signs SET look_at = 2 * same WHERE site_id = ? AND other_id = ? "
        "RETURNING same, named, other_named",
        (one_id, other_id),
    )[0]
    mains = active(db)
    if is_rejected(db, one, other) or follow(mains, one) == follow(mains, other):
        return
    compared, equal, exact = compare(db, one, other)
    db.execute(
        "UPDATE mirror_signs SET compared = ?, equal = ? WHERE site_id = ? AND other_id = ?",
        (compared, equal, one_id, other_id),
    )
    facts = _facts(db, one, named), _facts(db, other, other_named)
    found = declare(Evidence(*facts, same, compared, equal, exact))
    if found is not None:
        _declare(db, found, mains, now)


def _declare(db: Database, found: Declared, mains: Mapping[str, str], now: float) -> None:
    site, main = found.site, found.main
    if site in mains:  # the site that represents it represents the other one, too
        site, main = main, site
    if site not in mains and follow({**mains, site: main}, site) is not None:
        write(db, Mirror(site, main, scheme_of(db, main), FOUND, found.reason, now))


def _facts(db: Database, site: str, named: int) -> SiteFacts:
    first_seen = db.execute("SELECT added_at FROM sites WHERE id = ?", (key64(site),))[0][0]
    is_seed = bool(db.execute("SELECT 1 FROM seeds WHERE site = ? LIMIT 1", (site,)))
    is_secure = scheme_of(db, site) == "https"
    documents = db.execute("SELECT urls FROM outcomes WHERE site_id = ? AND outcome = 'document'", (key64(site),))
    return SiteFacts(site, first_seen, named, is_seed, is_secure, documents[0][0] if documents else 0)
