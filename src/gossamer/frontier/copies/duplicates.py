"""Which of the visited pages are documents, decided inside the transaction.

A text belongs to the first page of the registrable domain that claims it; the unique key of `texts` makes the claim
atomic, so of two workers with the same text exactly one wins. Claims carry segment and worker: when a segment is
withdrawn, so are its claims. A page with hardly any text is claimed by all that it shows (`dedup.short`), and within
its site only: two hosts of a domain may have the same stub.

A canonical link joins a page to its target, unless that would lose the text: the target is not in the table, was
refused or removed, failed, has clearly another text (`copies.canonicals`), or leads back to the page by any chain of
aliases, redirects and duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from gossamer.database.database import Database
from gossamer.database.schema import REFUSED, REMOVED
from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.short import is_page_hash
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.copies.canonicals import CHAIN, Canonicals, End
from gossamer.model.outcome import JOINED, LEADING_ON, Outcome
from gossamer.model.site import host_of, key64, registrable_domain, site_of

_LONGEST_LOOP = 10
"""Redirects followed to find out whether they lead back; a longer loop ends at `crawl.max_redirects`."""
SAME_PAGE = "hardly any text, but the same title, links and content"
"""The reason of a duplicate that has not the text, but everything else in common with the other page."""


def judge(
    db: Database, method: NearMethod, visits: Sequence[Visit], removed: Collection[int], segment: str, worker: str
) -> list[Verdict]:
    """Judge each visit, and claim the texts of the documents. `removed`: keys of URLs that were taken out while they
    were fetched; nothing of them is kept."""
    verdicts: list[Verdict] = []
    joined: dict[str, str] = {}
    canonicals = Canonicals(db, method, [visit for visit in visits if visit.task.key not in removed])
    redirects = {visit.task.url: visit.target for visit in visits if visit.outcome is Outcome.REDIRECT}
    for visit in visits:
        verdict = Verdict(visit.outcome, visit.target)
        if visit.task.key in removed:
            verdict = Verdict(Outcome.REFUSED)
        elif visit.outcome is Outcome.REDIRECT and (loop := _redirect_loop(db, visit, redirects)):
            visit.reason = loop_reason(loop)
            verdict = Verdict(Outcome.BAD_REDIRECT)
        elif points_elsewhere(visit) and (end := _end(db, visit.canonical, visit.task.url, joined)):
            if canonicals.counts(visit, end):
                verdict = Verdict(Outcome.ALIAS, visit.canonical)
            else:
                visit.reason = visit.reason or f"its canonical link names a page with another text: {end.url[:200]}"
        if verdict.outcome.meaning.joined:
            joined[visit.task.url] = verdict.target
        verdicts.append(verdict)
    canonicals.write()
    judged = list(zip(visits, verdicts, strict=True))
    _release_old_claims(db, judged)
    _mark_duplicates(
        db, [(v, r) for v, r in judged if r.outcome is Outcome.DOCUMENT and v.content_hash], segment, worker
    )
    return verdicts


def foresee(db: Database, visits: Sequence[Visit]) -> list[bool]:
    """Which visits will most likely be judged copies. Only `judge` decides, inside the transaction; until then others
    may take or release a text."""
    owners = _owners(db, [visit for visit in visits if visit.outcome is Outcome.DOCUMENT and visit.content_hash])
    found: dict[int, bool] = {}
    for place, visit in sorted(enumerate(visits), key=lambda one: one[1].at):
        found[place] = False
        if visit.outcome is not Outcome.DOCUMENT:
            continue
        if points_elsewhere(visit) and _may_stand(db, visit.canonical, visit.task.url):
            found[place] = True
        elif visit.content_hash:
            own = key64(visit.site), visit.task.key
            found[place] = owners.setdefault(claim_of(visit.site, visit.content_hash), own) != own
    return [found[place] for place in range(len(visits))]


def points_elsewhere(visit: Visit) -> bool:
    """Whether the page is a document that asks to be joined to another."""
    return visit.outcome is Outcome.DOCUMENT and visit.canonical != "" and not visit.task.keep_alias


def claim_of(site: str, content_hash: str) -> tuple[int, str]:
    """The key of `texts`: the area within which a page of this hash is kept once, domain or site, and the hash."""
    return (key64(site) if is_page_hash(content_hash) else _domain_key(site)), content_hash


@lru_cache(maxsize=65_536)
def _domain_key(site: str) -> int:
    return key64(registrable_domain(host_of(site)))


def stands(db: Database, target: str, page: str) -> bool:
    """Whether the chain from `target` ends at a page that can represent `page`."""
    return _end(db, target, page, {}) is not None


def _may_stand(db: Database, target: str, page: str) -> bool:
    """The same, or `target` is not in the table yet: the batch that names it brings it."""
    known = db.execute("SELECT 1 FROM urls WHERE site_id = ? AND key = ?", (key64(site_of(target)), key64(target)))
    return not known or stands(db, target, page)


def _end(db: Database, target: str, page: str, joined: dict[str, str]) -> End | None:
    """The page at the end of the chain from `target` if it can represent `page`; `joined`: targets of pages that are
    judged and not yet recorded."""
    for _ in range(CHAIN):
        if not target or target == page:
            return None
        row = db.execute(
            "SELECT state, outcome, target, content_hash, cluster FROM urls WHERE site_id = ? AND key = ?",
            (key64(site_of(target)), key64(target)),
        )
        if not row:
            return None
        state, outcome, following, content_hash, cluster = row[0]
        if target in joined:
            target = joined[target]
        elif state in (REFUSED, REMOVED) or (outcome is not None and outcome not in LEADING_ON):
            return None
        elif outcome not in JOINED:
            return End(target, outcome, content_hash, cluster)
        else:
            target = following
    return None


def _redirect_loop(db: Database, visit: Visit, redirects: dict[str, str]) -> list[str]:
    def following(url: str) -> str | None:
        if url in redirects:
            return redirects[url]
        row = db.execute(
            "SELECT target FROM urls WHERE site_id = ? AND key = ? AND outcome = 'redirect'",
            (key64(site_of(url)), key64(url)),
        )
        return row[0][0] if row else None

    return loop_of(visit.task.url, visit.target, following)


def loop_of(page: str, target: str, following: Callable[[str], str | None]) -> list[str]:
    """The URLs of a redirect that leads back to its page, the page first and last; empty if it does not."""
    walked = [page]
    next_one: str | None = target
    while next_one and len(walked) <= _LONGEST_LOOP:
        walked.append(next_one)
        if next_one == page:
            return walked
        next_one = following(next_one)
    return []


def loop_reason(loop: Sequence[str]) -> str:
    """The loop as a reason for people."""
    return f"redirects in a loop: {' → '.join(url[:200] for url in loop)}"


def _release_old_claims(db: Database, judged: Sequence[tuple[Visit, Verdict]]) -> None:
    """A page whose text changed or went away gives up its old text."""
    db.many(
        "DELETE FROM texts WHERE domain = ? AND content_hash = ? AND site_id = ? AND key = ?",
        [
            (*claim_of(visit.site, visit.task.content_hash), key64(visit.site), visit.task.key)
            for visit, verdict in judged
            if visit.task.content_hash and lost_its_text(visit, verdict)
        ],
    )


def lost_its_text(visit: Visit, verdict: Verdict) -> bool:
    """Whether a page that was a document no longer has the same text."""
    if visit.task.previous != "document" and not visit.task.content_hash:
        return False
    if verdict.outcome is Outcome.NOT_MODIFIED or visit.retry_at is not None:
        return False
    return verdict.outcome is not Outcome.DOCUMENT or visit.content_hash != visit.task.content_hash


def _mark_duplicates(db: Database, documents: Sequence[tuple[Visit, Verdict]], segment: str, worker: str) -> None:
    _claim(db, [visit for visit, _ in documents], segment, worker)
    owners = _owners(db, [visit for visit, _ in documents])
    for visit, verdict in documents:
        owner = owners[claim_of(visit.site, visit.content_hash)]
        if owner != (key64(visit.site), visit.task.key):
            url = db.execute("SELECT url FROM urls WHERE site_id = ? AND key = ?", owner)
            verdict.outcome, verdict.target = Outcome.DUPLICATE, url[0][0]
            visit.reason = SAME_PAGE if is_page_hash(visit.content_hash) else ""
        elif visit.reason == SAME_PAGE:  # of an earlier attempt at this transaction
            visit.reason = ""


def _claim(db: Database, visits: Sequence[Visit], segment: str, worker: str) -> None:
    rows = [
        (*claim_of(visit.site, visit.content_hash), key64(visit.site), visit.task.key, segment, worker)
        # Of two equal texts in one batch the first one fetched stays, whichever was parsed first.
        for visit in sorted(visits, key=lambda visit: visit.at)
    ]
    rows.sort(key=lambda row: row[:2])
    db.many(
        "INSERT INTO texts (domain, content_hash, site_id, key, segment, worker) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (domain, content_hash) DO NOTHING",
        rows,
    )


def _owners(db: Database, visits: Sequence[Visit]) -> dict[tuple[int, str], tuple[int, int]]:
    wanted = sorted({claim_of(visit.site, visit.content_hash) for visit in visits})
    rows = db.find("domain, content_hash, site_id, key", "texts", ("domain", "content_hash"), wanted)
    return {(domain, text): (site_id, key) for domain, text, site_id, key in rows}
