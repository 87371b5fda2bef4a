"""How the crawler finds mirrors, inside the transaction that reports its visits.

A *sign* is a page that turns out to be the copy of a page of another site at the same path: equal in text (a duplicate
within one domain), like it (a document that joins its cluster), or by its own word (a canonical link). Signs are
counted by pair of sites as they come, each text once; a batch without copies costs nothing. The start page gives none:
parked domains share it by the thousand.

Signs tell nothing of the paths where two sites differ. So when a pair has enough of them, a sample of the paths that
both sites have been read at is compared side by side, whenever those were read; where that is not enough
(`dedup.mirrors`), the pair is looked at again when it has twice as many signs. All lookups are bounded.

A main site that has moved to its mirror shows it by redirects to the same paths there: then the two change places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from gossamer.dedup.mirrors import MIN_SAME, MIN_TURNED, Declared, Evidence, SiteFacts, declare, follow
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.database import Database, Row
from gossamer.frontier.duplicates import JOINED, STANDS
from gossamer.frontier.mirror_table import FOUND, Mirror, active, end, is_rejected, main_of, scheme_of, write
from gossamer.frontier.queueing import chunks, marks
from gossamer.frontier.schema import DONE
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, origin_of, site_of

_READ_BEFORE = {outcome.value for outcome in STANDS}
_DIFFERENT, _ALIKE, _EQUAL = range(3)
_DOCUMENT = Outcome.DOCUMENT.value
_WITHOUT_TEXT = {Outcome.GONE.value} | {outcome.value for outcome in JOINED}
_SCANNED = 4000
"""URLs of a site looked through for the sample; keys are hashes, so the first ones are as good as any."""
_COMPARED = 500
"""Visited ones among them that are compared."""
_MEMBERS = 8
"""Pages of a cluster looked at where the new page represents it."""
_LOOKS = 4
"""Pairs of sites looked at in one transaction; others are looked at when they have another sign."""

_Pair = tuple[int, int]


class _Page(msgspec.Struct, frozen=True):
    """A page that was visited."""

    url: str
    outcome: str
    content_hash: str | None
    cluster: int | None
    target: str


class _Signs(msgspec.Struct):
    """New signs of a pair of sites, and how many of them are canonical links to each of the two."""

    same: int = 0
    named: Counter[int] = msgspec.field(default_factory=Counter)


def find_mirrors(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict], now: float) -> None:
    """Count the signs of a recorded batch; declare the mirrors that they prove."""
    signs: dict[_Pair, _Signs] = {}
    for visit, verdict, twin in _twins(db, visits, verdicts):
        mine, its = key64(visit.site), key64(site_of(twin))
        pair = signs.setdefault((min(mine, its), max(mine, its)), _Signs())
        pair.same += 1
        pair.named[its] += verdict.outcome is Outcome.ALIAS
    for one, other in _count(db, signs)[:_LOOKS]:
        _look(db, one, other, now)
    redirected = Counter(
        (visit.site, site_of(verdict.target))
        for visit, verdict in zip(visits, verdicts, strict=True)
        if verdict.outcome is Outcome.REDIRECT and _is_twin(visit.task.url, verdict.target)
    )
    for (main, mirror), pages in sorted(redirected.items()):
        _turn(db, main, mirror, pages, now)


def _turn(db: Database, main: str, mirror: str, pages: int, now: float) -> None:
    """Pages of a main site redirect to its mirror: when many do, the mirror becomes main."""
    row = main_of(db, mirror)
    if row is None or (row.main, row.state) != (main, FOUND):
        return
    pair = sorted((key64(main), key64(mirror)))
    sql = "UPDATE mirror_signs SET turned = turned + ? WHERE site_id = ? AND other_id = ? RETURNING turned"
    rows = db.execute(sql, (pages, *pair))
    if rows and rows[0][0] >= MIN_TURNED:
        db.execute("UPDATE mirror_signs SET turned = 0 WHERE site_id = ? AND other_id = ?", pair)
        end(db, row, now)
        reason = f"{rows[0][0]} pages of {main} redirect to {mirror}"
        write(db, Mirror(main, mirror, scheme_of(db, mirror), FOUND, reason, now))


def _twins(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict]) -> Iterator[tuple[Visit, Verdict, str]]:
    """The pages read for the first time that are copies, each with the page of another site at the same path."""
    joined = []
    for visit, verdict in zip(visits, verdicts, strict=True):
        if visit.task.previous in _READ_BEFORE:
            continue
        if verdict.outcome in (Outcome.DUPLICATE, Outcome.ALIAS):
            if _is_twin(visit.task.url, verdict.target):
                yield visit, verdict, verdict.target
        elif verdict.outcome is Outcome.DOCUMENT and verdict.joined and not verdict.is_copy:
            joined.append((visit, verdict))
    represented = _representatives(db, [verdict.cluster for _, verdict in joined if verdict.cluster is not None])
    for visit, verdict in joined:
        likes = [represented.get(verdict.cluster or 0, "")]
        if likes == [visit.task.url]:
            likes = _members(db, verdict.cluster)
        twin = next((url for url in likes if _is_twin(visit.task.url, url)), None)
        if twin is not None:
            yield visit, verdict, twin


def _is_twin(url: str, other: str) -> bool:
    """Whether two URLs are the same but for their sites; a start page is nobody's twin."""
    path = _path_of(url)
    return path != "/" and path == _path_of(other) and site_of(url) != site_of(other)


def _path_of(url: str) -> str:
    return url[len(origin_of(url)) :] if url else ""


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
    """Add to the signs of pairs; those that are to be looked at."""
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
    """Compare two sites, and declare one a mirror of the other if that is what they are."""
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
    compared, equal, exact = _compare(db, one, other)
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
    if site in mains:  # what stands for it already stands for the other one, too
        site, main = main, site
    if site not in mains and follow({**mains, site: main}, site) is not None:
        write(db, Mirror(site, main, scheme_of(db, main), FOUND, found.reason, now))


def _compare(db: Database, one: str, other: str) -> tuple[int, int, int]:
    """Of a sample of the paths that both sites have been read at: how many, and at how many the texts are equal or
    nearly so, and equal to the letter."""
    if _visited(db, other) < _visited(db, one):
        one, other = other, one  # of the smaller site more pages have a twin
    pages, likes = _sample(db, one), []
    seen: set[int] = set()
    for path, twin in sorted(_pages_at(db, other, list(pages)).items()):
        page = pages[path]
        like = _likeness(page, twin)
        cluster = page.cluster if page.cluster == twin.cluster else None
        if like is None or cluster in seen:
            continue  # a text that stands at many paths counts once
        if cluster is not None:
            seen.add(cluster)
        likes.append(like)
    return len(likes), len(likes) - likes.count(_DIFFERENT), likes.count(_EQUAL)


def _likeness(page: _Page, twin: _Page) -> int | None:
    """How alike two pages at one path are; None where that cannot be told or says nothing."""
    if _is_twin(page.url, page.target) and site_of(page.target) == site_of(twin.url):
        return _EQUAL
    if _is_twin(twin.url, twin.target) and site_of(twin.target) == site_of(page.url):
        return _EQUAL
    outcomes = {page.outcome, twin.outcome}
    if outcomes == {_DOCUMENT}:
        if page.content_hash and page.content_hash == twin.content_hash:
            return _EQUAL
        if page.cluster is not None and page.cluster == twin.cluster:
            return _ALIKE
        return _DIFFERENT if page.content_hash and twin.content_hash else None
    # One has a text of its own; the other has none, or that of a page elsewhere.
    return _DIFFERENT if _DOCUMENT in outcomes and outcomes & _WITHOUT_TEXT else None


_PAGES = "SELECT url, outcome, content_hash, cluster, COALESCE(target, ''), state FROM urls WHERE site_id = ?"


def _sample(db: Database, site: str) -> dict[str, _Page]:
    """Some pages of a site that have been visited, by path."""
    pages = _by_path(db.execute(f"{_PAGES} ORDER BY key LIMIT ?", (key64(site), _SCANNED)))
    return dict(islice(pages.items(), _COMPARED))


def _pages_at(db: Database, site: str, paths: Sequence[str]) -> dict[str, _Page]:
    """The pages of a site that have been visited at these paths."""
    keys = sorted(key64(f"{scheme}://{site}{path}") for path in paths for scheme in ("http", "https"))
    found: dict[str, _Page] = {}
    for chunk in chunks(keys):
        found.update(_by_path(db.execute(f"{_PAGES} AND key IN ({marks(chunk)})", (key64(site), *chunk)), found))
    return found


def _by_path(rows: Iterable[Row], found: Mapping[str, _Page] | None = None) -> dict[str, _Page]:
    """Each path once: where it was read over http and https, the one that is a document."""
    pages = dict(found or {})
    for *fields, state in rows:
        page = _Page(*fields)
        path = _path_of(page.url)
        if state == DONE and path != "/" and (page.outcome == _DOCUMENT or path not in pages):
            pages[path] = page
    return pages


def _facts(db: Database, site: str, named: int) -> SiteFacts:
    first_seen = db.execute("SELECT added_at FROM sites WHERE id = ?", (key64(site),))[0][0]
    is_seed = bool(db.execute("SELECT 1 FROM seeds WHERE site = ? LIMIT 1", (site,)))
    is_secure = scheme_of(db, site) == "https"
    return SiteFacts(site, first_seen, named, is_seed, is_secure, _tally(db, site).get(_DOCUMENT, 0))


def _visited(db: Database, site: str) -> int:
    return sum(_tally(db, site).values())


def _tally(db: Database, site: str) -> dict[str, int]:
    return dict(db.execute("SELECT outcome, urls FROM outcomes WHERE site_id = ?", (key64(site),)))
