"""Checks of a crawl's data: database, segments, index, locks, accounts, alarms, seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import tantivy

from gossamer.data.crawl_settings import options_of
from gossamer.data.locks import is_crawled, is_locked
from gossamer.database import condition, meta, schema
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.views.inspect import segment_ids, status
from gossamer.frontier.views.segments import live_segments
from gossamer.index import checksums, commits, extras
from gossamer.index.folder import IndexFolder
from gossamer.indexer.indexed import index_lag, index_standing
from gossamer.model.counts import counted
from gossamer.notify.channel import is_mail
from gossamer.operate.doctor.checks import Check, Finding, Patient, bad, ok, warn
from gossamer.operate.doctor.meaning import vectors
from gossamer.operate.health import LONGEST_LAG
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import next_step, verdict_of
from gossamer.parse.rules import problem_of
from gossamer.privacy import exposed
from gossamer.scope.filters import Filters
from gossamer.store import layout
from gossamer.store.segment_folder import Segments, segment_bytes
from gossamer.store.segments import check_segment
from gossamer.tables.accounts import accounts
from gossamer.tables.alerts import active
from gossamer.tables.measures import newest_stored
from gossamer.tables.rulebook import load_rules

_SLACK = 120.0
"""Seconds of difference between clocks that are corrected silently."""
_CLOCKS = 300.0
"""Seconds of difference to the database's clock above which a machine is refused."""
_QUICK = 2 * 1024**3
"""Bytes up to which a database or an index is read whole without --deep."""
_OLDEST_SERVER = 140_000
_SEEDS = 10
"""Failed seeds that are named."""
_NAMED = 3
"""Names in one sentence."""


def database(patient: Patient) -> Iterator[Finding]:
    """Whether the database opens, has this version's schema, and is undamaged."""
    if patient.opened is None:
        yield warn("database", f"there is no crawl in {patient.data} yet", "start one with `gossamer crawl SEED`")
    elif isinstance(patient.opened, GossamerError):
        yield bad("database", str(patient.opened), "if it is damaged, restore a backup")
    elif patient.folder.is_shared:
        yield from _server(patient, patient.opened)
    else:
        yield from _file(patient, patient.opened)


def _server(patient: Patient, db: Database) -> Iterator[Finding]:
    number, name = condition.server_version(db)
    if number < _OLDEST_SERVER:
        yield warn("database", f"the server is PostgreSQL {name}", "14 or newer is tested")
    else:
        yield ok("database", f"PostgreSQL {name}, schema {schema.VERSION}")
    ahead = db.clock_ahead(patient.clock.now)
    if abs(ahead) > _CLOCKS:
        yield bad(
            "database",
            f"this machine's clock differs from the database's by {ahead:+.0f} s",
            "set the clock, preferably with NTP",
        )


def _file(patient: Patient, db: Database) -> Iterator[Finding]:
    path = Path(db.where)
    if path.stat().st_size > _QUICK and not patient.deep:
        yield ok("database", f"schema {schema.VERSION}; the file is large: use --deep to read all of it")
        return
    if found := condition.file_damage(db):
        yield bad("database", f"{path} is damaged: {' '.join(found.split())[:200]}", "restore a backup")
    else:
        yield ok("database", f"{path} is undamaged, schema {schema.VERSION}")


def time_of_crawl(patient: Patient) -> Iterator[Finding]:
    """Whether the clock is behind the times that the crawl has stored."""
    last = meta.noted(patient.database, meta.LAST_SEEN) if patient.database else None
    behind = float(last) - patient.clock.now() if last else 0.0
    if behind > _SLACK:
        advice = "set the clock; if the earlier time was wrong, run `gossamer crawl --accept-clock`"
        yield bad("time", f"the clock of this machine is {behind:.0f} s behind the last crawl", advice)


def segments(patient: Patient) -> Iterator[Finding]:
    """Whether every segment is there; with --deep, whether it can be read."""
    if patient.database is None:
        return
    store, counted = patient.folder.segments, segment_ids(patient.database)
    missing = [name for name in counted if not store.size(name, layout.PAGES)]
    if missing:
        yield bad("segments", f"{len(missing)} of {len(counted)} are missing: {_some(missing)}",
                  "mount the disk they are on, or run `gossamer recrawl --segment NAME` for each")  # fmt: skip
    damaged = [] if missing else _cut_short(patient.database, store)
    for name in counted if patient.deep else ():
        try:
            if name not in missing:
                check_segment(store, name)
        except GossamerError as error:
            damaged.append(str(error))
    for sentence in damaged[:_NAMED]:
        yield bad("segments", sentence, "`gossamer recrawl --segment NAME` fetches its pages again")
    if not missing and not damaged:
        yield ok("segments", f"all {len(counted)} are there{' and undamaged' if patient.deep else ''}")


def _cut_short(db: Database, store: Segments) -> list[str]:
    """Segments with fewer bytes than were written."""
    sizes = ((one.id, one.bytes, segment_bytes(store, one.id)) for one in live_segments(db))
    return [
        f"segment {name} has {counted(found, 'byte')}, {expected:,} were written"
        for name, expected, found in sizes
        if found < expected
    ]


def index(patient: Patient) -> Iterator[Finding]:
    """Whether the index opens, belongs to this crawl, is undamaged and up to date."""
    db, settings = patient.database, patient.settings
    if db is None or not settings.crawl.index:
        return
    place = Path(settings.shards.index) if settings.shards.index else patient.folder.index
    try:
        folder = IndexFolder(place).require()
        payload = commits.read(folder).payload
        tantivy.Index.open(str(folder))
    except GossamerError as error:
        yield warn("index", str(error), "`gossamer index` builds it; while a crawl runs, its indexer does")
        return
    except (ValueError, OSError) as error:
        yield bad("index", f"the index in {place} cannot be opened: {' '.join(str(error).split())[:200]}",
                  "`gossamer index --rebuild` builds a new one")  # fmt: skip
        return
    if payload.crawl != meta.crawl_id(db):
        yield bad(
            "index", f"the index in {place} belongs to another crawl", "`gossamer index` builds one for this crawl"
        )
        return
    readable = patient.deep or checksums.size(folder) <= _QUICK
    damaged = [path.name for path in checksums.damaged(folder)] if readable else []
    if damaged:
        yield bad("index", f"the index in {place} is damaged: {_some(damaged)} missing or changed",
                  "`gossamer index --rebuild` makes a new one; also check the disk")  # fmt: skip
        return
    yield _following(patient, db, "" if readable else "; its files are large: use --deep to read all of them")
    yield from _analysers(payload.extras)


def _analysers(used: Sequence[str]) -> Iterator[Finding]:
    """The extras for languages: those the index was built with, against those that are installed."""
    if lacking := extras.missing(used):
        yield warn("index", extras.complaint(lacking), extras.remedy(lacking))
    if idle := [name for name in extras.installed() if name not in used]:
        yield warn("index", f"the index was built without gossamer[{','.join(idle)}], installed since",
                   "`gossamer index --rebuild` uses it for pages in these languages")  # fmt: skip


def _following(patient: Patient, db: Database, remark: str) -> Finding:
    standing = index_standing(patient.folder, db)
    lag = index_lag(db, standing, patient.clock.now())
    if lag > LONGEST_LAG:
        return warn("index", f"{standing.behind} changes are not in the index yet, the oldest for {lag / 60:.0f} min",
                    "`gossamer index` indexes them; while a crawl runs, see the log of its indexer")  # fmt: skip
    return ok(
        "index",
        f"{counted(standing.documents, 'page')} can be searched, {counted(standing.behind, 'change')} behind{remark}",
    )


def locks(patient: Patient) -> Iterator[Finding]:
    """Whether dead workers left something behind."""
    run = patient.data / "run"
    workers = sorted(path.stem for path in run.glob("w*.lock"))
    left = [name for name in workers if not is_locked(patient.folder, name)]
    if left:
        yield warn("locks", f"workers were killed and still hold sites: {_some(left)}",
                   "nothing is lost: the next `gossamer crawl` frees their sites")  # fmt: skip
    else:
        yield ok("locks", "no dead worker holds sites")


def privacy(patient: Patient) -> Iterator[Finding]:
    """Whether other users of this machine can read the folder, which holds passwords and queries."""
    seen = exposed(patient.data)
    if seen:
        yield warn("privacy", f"other users of this machine can read {_some([str(path) for path in seen])}",
                   f"chmod go-rwx {' '.join(str(path) for path in seen)}")  # fmt: skip


def patterns(patient: Patient) -> Iterator[Finding]:
    """Whether this version can use filters and document rules that were written for an earlier one."""
    try:
        Filters(patient.settings.scope.filters)
    except GossamerError as error:
        yield bad("filters", str(error), "change it in scope.filters: `gossamer crawl` does not start with it")
    stored = load_rules(patient.database) if patient.database else ()
    unusable = [f"{rule.label} ({problem})" for rule in stored if (problem := problem_of(rule))]
    for sentence in unusable[:_NAMED]:
        advice = "it takes no pages until you change it: `gossamer rules export`, then `gossamer rules import`"
        yield bad("rules", f"this version cannot use the rule {sentence}", advice)
    if stored and not unusable:
        yield ok("rules", f"all {len(stored)} can be used")


def console_accounts(patient: Patient) -> Iterator[Finding]:
    """Whether anyone can log in."""
    if patient.database is None or not patient.settings.console.enabled:
        return
    known = accounts(patient.database)
    if known:
        yield ok("console", f"{counted(known, 'account')} can log in")
    else:
        yield warn("console", "nobody can log in to the console yet",
                   "`gossamer serve` makes the first account and prints its password")  # fmt: skip


def messages(patient: Patient) -> Iterator[Finding]:
    """Whether mail and webhooks that alerts or alarms need can be sent."""
    alerts = patient.settings.alerts
    saved = [channel for alert in active(patient.database) for channel in alert.channels] if patient.database else []
    channels = [*alerts.operators, *saved]
    mails = [channel for channel in channels if is_mail(channel)]
    if mails and not alerts.smtp_host:
        yield bad("messages", f"mail goes to {len(mails)}, but no mail server is set", "set alerts.smtp_host")
    if len(mails) < len(channels) and not alerts.secret:
        yield bad("messages", "webhooks are set, but no key to sign them with", "set alerts.secret")
    if not alerts.operators:
        yield warn(
            "messages",
            "nobody gets alarms when something goes wrong",
            "set alerts.operators; the console shows alarms, too",
        )
    elif (not mails or alerts.smtp_host) and (len(mails) == len(channels) or alerts.secret):
        yield ok("messages", f"alarms go to {len(alerts.operators)}")


def last_results(patient: Patient) -> Iterator[Finding]:
    """When the crawl last stored results: a fact, no verdict."""
    newest = newest_stored(patient.database) if patient.database else None
    if newest is not None:
        yield ok("crawl", f"results were last stored at {datetime.fromtimestamp(newest, UTC):%Y-%m-%d %H:%M} UTC")


def seeds(patient: Patient) -> Iterator[Finding]:
    """Whether each seed yielded pages."""
    db = patient.database
    if db is None:
        return
    pages = status(db, patient.clock.now()).pages
    verdict = verdict_of(
        db, patient.settings, Commands(patient.data, options_of(db), is_crawled(patient.folder)), pages
    )
    failed = verdict.failed
    for seed in failed[:_SEEDS]:
        yield bad("seeds", f"{seed.url} failed: {seed.cause}", next_step(seed))
    if len(failed) > _SEEDS:
        yield bad("seeds", f"{len(failed) - _SEEDS} more seeds failed", "`gossamer status --json` lists all of them")
    elif not failed and verdict.seeds:
        kept = sum(seed.state == "kept" for seed in verdict.seeds)
        yield ok("seeds", f"{kept} of {len(verdict.seeds)} brought pages, none failed")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


CHECKS: tuple[Check, ...] = (
    database, time_of_crawl, last_results, seeds, segments, index, vectors, locks, privacy, patterns, console_accounts,
    messages,
)  # fmt: skip
