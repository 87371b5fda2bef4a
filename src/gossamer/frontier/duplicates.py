"""Which of the visited pages are documents, decided inside the transaction.

A text belongs to the first page of the registrable domain that claims it; the
unique key of `texts` makes the claim atomic, so of two workers with the same
text exactly one wins. Claims carry segment and worker: when a segment is
withdrawn, so are its claims.

A canonical link joins a page to its target, unless that would lose the text:
the target was refused, failed, or points back (however indirectly) at the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.database import Database
from gossamer.frontier.intake import CHUNK, marks
from gossamer.frontier.schema import REFUSED, REMOVED
from gossamer.model.outcome import Outcome
from gossamer.model.site import host_of, key64, registrable_domain, site_of

_STANDS = {"document", "not_modified", "duplicate", "alias", "redirect", "noindex", None}
"""Outcomes of a canonical target that can stand for the page (None: not visited yet)."""
_CHAIN = 5


def judge(db: Database, visits: Sequence[Visit], segment: str, worker: str) -> list[Verdict]:
    """The verdict for each visit; claims the texts of the documents."""
    verdicts = [Verdict(visit.outcome, visit.target) for visit in visits]
    for visit, verdict in zip(visits, verdicts, strict=True):
        if visit.outcome is Outcome.DOCUMENT and visit.canonical and _stands_for(db, visit):
            verdict.outcome, verdict.target = Outcome.ALIAS, visit.canonical
    documents = [
        (visit, verdict)
        for visit, verdict in zip(visits, verdicts, strict=True)
        if verdict.outcome is Outcome.DOCUMENT and visit.content_hash
    ]
    _release_old_claims(db, visits, verdicts)
    _claim(db, [visit for visit, _ in documents], segment, worker)
    owners = _owners(db, [visit for visit, _ in documents])
    for visit, verdict in documents:
        key, url = owners[domain_key(visit.site), visit.content_hash]
        if key != visit.task.key:
            verdict.outcome, verdict.target = Outcome.DUPLICATE, url
    return verdicts


def domain_key(site: str) -> int:
    """The key of a site's registrable domain."""
    return key64(registrable_domain(host_of(site)))


def _stands_for(db: Database, visit: Visit) -> bool:
    """Whether the canonical target can stand for the page."""
    if visit.task.keep_alias or visit.canonical == visit.task.url:
        return False
    target: str | None = visit.canonical
    for _ in range(_CHAIN):
        if target is None or target == visit.task.url:
            return False
        row = db.execute(
            "SELECT state, outcome, target FROM urls WHERE site_id = ? AND key = ?",
            (key64(site_of(target)), key64(target)),
        )
        if not row:
            return True
        state, outcome, following = row[0]
        if state in (REFUSED, REMOVED) or outcome not in _STANDS:
            return False
        if outcome != "alias":
            return True
        target = following
    return False


def _release_old_claims(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict]) -> None:
    """A page whose text changed or went away no longer owns its old text."""
    db.many(
        "DELETE FROM texts WHERE domain = ? AND content_hash = ? AND site_id = ? AND key = ?",
        [
            (domain_key(visit.site), visit.task.content_hash, key64(visit.site), visit.task.key)
            for visit, verdict in zip(visits, verdicts, strict=True)
            if visit.task.content_hash and lost_its_text(visit, verdict)
        ],
    )


def lost_its_text(visit: Visit, verdict: Verdict) -> bool:
    """Whether a page that was a document is so no longer with the same text."""
    if visit.task.previous != "document" and not visit.task.content_hash:
        return False
    if verdict.outcome is Outcome.NOT_MODIFIED or visit.retry_at is not None:
        return False
    return verdict.outcome is not Outcome.DOCUMENT or visit.content_hash != visit.task.content_hash


def _claim(db: Database, visits: Sequence[Visit], segment: str, worker: str) -> None:
    rows = [
        (domain_key(visit.site), visit.content_hash, key64(visit.site), visit.task.key, segment, worker)
        for visit in visits
    ]
    # Stable: of two equal texts in one batch the first one fetched stays.
    rows.sort(key=lambda row: row[:2])
    db.many(
        "INSERT INTO texts (domain, content_hash, site_id, key, segment, worker) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (domain, content_hash) DO NOTHING",
        rows,
    )


def _owners(db: Database, visits: Sequence[Visit]) -> dict[tuple[int, str], tuple[int, str]]:
    wanted: dict[int, list[str]] = {}
    for visit in visits:
        wanted.setdefault(domain_key(visit.site), []).append(visit.content_hash)
    owners: dict[tuple[int, str], tuple[int, str]] = {}
    for domain, hashes in wanted.items():
        for start in range(0, len(hashes), CHUNK):
            chunk = hashes[start : start + CHUNK]
            rows = db.execute(
                "SELECT t.content_hash, t.key, u.url FROM texts t "
                "JOIN urls u ON u.site_id = t.site_id AND u.key = t.key "
                f"WHERE t.domain = ? AND t.content_hash IN ({marks(chunk)})",
                (domain, *chunk),
            )
            owners.update(((domain, row[0]), (row[1], row[2])) for row in rows)
    return owners
