"""Applies a configuration to a data folder: checks all of it before it changes anything.

Each part is applied as an operator would have done it by hand: rules are tested against known URLs, removals take
pages down, seeds enter the queue. You can repeat an import that failed half-way; parts that already match stay.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gossamer.data.folder import DataFolder
from gossamer.data.guidance import guidance_of
from gossamer.data.machine import machine_name
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.discover.seeds import Seed
from gossamer.errors import UsageError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.steering import controls, filters, removing, restoring
from gossamer.frontier.steering.fitting import refit
from gossamer.model.decision import Decision as Verdict
from gossamer.model.url import Canonicalizer
from gossamer.notify.channel import check_channel
from gossamer.operate import desk
from gossamer.operate.configuration.contents import KEYS, Configuration, Decision, SavedAlert, SiteControl, read_tables
from gossamer.operate.configuration.toml_edit import edited, toml_text
from gossamer.operate.takedown import drop_from_index
from gossamer.parse.rules.toml import check_rule
from gossamer.search.desk.reading import read_desk
from gossamer.search.query.language import parse
from gossamer.search.results import Request
from gossamer.settings import FILE_NAME, Settings, load
from gossamer.store import durable
from gossamer.supervise.seeding import add_seeds, drop_seeds
from gossamer.tables import alerts, configured, rulebook, schedules

_BORROWER = "config"

T = TypeVar("T")


def check(wanted: Configuration) -> None:
    """Raise a `UsageError` if the configuration cannot be applied."""
    for name, key in KEYS.items():
        keys = [key(one) for one in getattr(wanted, name)]
        if len(set(keys)) < len(keys):
            twice = next(one for one in keys if keys.count(one) > 1)
            raise UsageError(f"{name}: {twice} appears twice")
    for rule in wanted.rules:
        check_rule(rule, f"rule {rule.label}")
    _check_alerts(wanted.alerts)
    canonical = Canonicalizer()
    for url in wanted.seeds:
        parsed = canonical.parse(url)
        if isinstance(parsed, Verdict):
            raise UsageError(f"seed {url}: {parsed.reason}")
    read_desk(wanted.desk, "desk")
    _checked_settings(wanted.settings)


def _check_alerts(wanted: Sequence[SavedAlert]) -> None:
    ids = [one.id for one in wanted if one.id]
    for one in wanted:
        if ids.count(one.id) > 1:
            raise UsageError(f"alert {one.name}: another alert has the same id")
        for channel in one.channels:
            check_channel(channel)
        try:
            request = msgspec.json.decode(one.request, type=Request)
        except msgspec.MsgspecError as error:
            raise UsageError(f"alert {one.name}: its query cannot be read: {error}") from error
        if parse(request.query).is_empty:
            raise UsageError(f"alert {one.name}: its query is empty")


def _checked_settings(tables: Mapping[str, Any]) -> Settings:
    with tempfile.TemporaryDirectory(prefix="gossamer-settings-") as folder:
        (Path(folder) / FILE_NAME).write_text(toml_text(tables), encoding="utf-8")
        try:
            return load(Path(folder))
        except UsageError as error:
            raise UsageError(str(error).replace(str(Path(folder) / FILE_NAME), "settings")) from error


def save_settings(root: Path, tables: Mapping[str, Any]) -> Settings:
    """Check settings and write them to `gossamer.toml`; a `UsageError` says what is wrong with them."""
    checked = _checked_settings(tables)
    _write_settings(root, tables)
    return checked


def bring(folder: DataFolder, present: Configuration, wanted: Configuration, now: float) -> None:
    """Change a data folder from its present configuration to the wanted one."""
    check(wanted)
    _write_settings(folder.root, wanted.settings)
    settings = load(folder.root)
    folder.create()
    frontier = open_frontier(folder, settings)
    try:
        _Bringer(folder, frontier, settings, present, wanted, now).run()
    finally:
        frontier.db.close()


def _write_settings(root: Path, tables: Mapping[str, Any]) -> None:
    """Keeps comments where possible, and the previous file beside the new one."""
    if read_tables(root) == tables:
        return
    path = root / FILE_NAME
    with durable.storing(path):
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text:
            before = path.with_suffix(".toml.before")
            before.unlink(missing_ok=True)
            before.touch(0o600)  # it may hold passwords
            before.write_text(text, encoding="utf-8")
        new = path.with_suffix(".toml.new")
        new.touch(0o600)
        new.write_text(edited(text, tables), encoding="utf-8")
        durable.sync_file(new)
        new.replace(path)


class _Bringer:
    """One import that has passed its checks."""

    def __init__(
        self, folder: DataFolder, frontier: CrawlFrontier, settings: Settings, present: Configuration,
        wanted: Configuration, now: float,
    ) -> None:  # fmt: skip
        self._folder, self._frontier, self._settings = folder, frontier, settings
        self._db: Database = frontier.db
        self._present, self._wanted, self._now = present, wanted, now

    def run(self) -> None:
        """Apply all parts."""
        self._rules()
        self._filters()
        self._mirrors()
        self._seeds()
        self._sites()
        self._removals()
        self._alerts()
        self._desk()
        self._pauses()

    def _rules(self) -> None:
        gone = _gone(self._present.rules, self._wanted.rules)
        for rule in gone:
            rulebook.remove_rules(self._db, rule.domain, rule.name)
        new, replaced = rulebook.save_rules(self._db, self._wanted.rules, self._now)
        if new or replaced or gone:
            guidance = guidance_of(self._settings, rulebook.load_rules(self._db))
            for domain in sorted({rule.domain for rule in (*gone, *self._wanted.rules)}):
                refit(self._db, domain, guidance, self._now)

    def _filters(self) -> None:
        wanted = {KEYS["filters"](one): one for one in self._wanted.filters}
        for one in self._present.filters:
            if wanted.get(KEYS["filters"](one)) != one:
                if one.state == filters.ACTIVE:
                    filters.end(self._db, one, filters.WITHDRAWN, self._now)
                configured.forget_filter(self._db, one)
        filters.save(self._db, self._wanted.filters)

    def _mirrors(self) -> None:
        gone = _gone(self._present.mirrors, self._wanted.mirrors)
        with self._db.transaction():
            for one in gone:
                mirror_table.end(self._db, _mirror(one), self._now)
            for one in self._wanted.mirrors:
                if one not in self._present.mirrors:
                    mirror_table.write(self._db, _mirror(one))

    def _seeds(self) -> None:
        gone = [url for url in self._present.seeds if url not in self._wanted.seeds]
        drop_seeds(self._db, self._settings, gone, self._now)
        new = [Seed(url, "an imported configuration") for url in self._wanted.seeds if url not in self._present.seeds]
        if new:
            add_seeds(self._frontier, self._settings, new, self._now)

    def _sites(self) -> None:
        for gone in _gone(self._present.sites, self._wanted.sites):
            if gone.site not in {one.site for one in self._wanted.sites}:
                self._control(SiteControl(gone.site))
        for one in self._wanted.sites:
            if one not in self._present.sites:
                self._control(one)

    def _control(self, one: SiteControl) -> None:
        if not configured.is_known(self._db, one.site):
            # To create the row of an unknown site, borrow the site for a moment.
            self._frontier.register(_BORROWER, self._now)
            self._frontier.borrow(_BORROWER, one.site, self._now)
            self._frontier.retire(_BORROWER, self._now)
        controls.limit_site(self._db, one.site, one.least_delay, one.most_pages, self._now)
        if one.paused:
            controls.pause_site(self._db, one.site, one.paused, self._now)
        else:
            controls.resume_site(self._db, one.site, self._now)

    def _removals(self) -> None:
        kept = {one.what for one in self._wanted.removals}
        for one in self._present.removals:
            if one.what not in kept:
                restoring.restore(self._db, one.what, self._now)
        new = [one for one in self._wanted.removals if one not in self._present.removals]
        for one in new:
            removing.remove(self._db, one.what, one.reason, self._now)
        if new:
            drop_from_index(self._folder, self._db, self._settings, self._now)

    def _alerts(self) -> None:
        wanted = {one.name: one for one in self._wanted.alerts}
        for before in self._present.alerts:
            after = wanted.get(before.name)
            if after is not None and replace(after, paused=before.paused) == before:
                del wanted[before.name]  # filters it has found so far stay
                if after.paused != before.paused:
                    (alerts.pause if after.paused else alerts.resume)(self._db, before.id)
            else:
                alerts.remove(self._db, before.id)
        for one in wanted.values():
            self._add_alert(one)

    def _add_alert(self, one: SavedAlert) -> None:
        made = alerts.add(self._db, one.name, one.request, one.channels, one.made_by, self._now, one.again)
        if one.paused:
            alerts.pause(self._db, made.id)
        if one.id:
            configured.rename_alert(self._db, made.id, one.id)

    def _desk(self) -> None:
        rules = read_desk(self._wanted.desk, "desk")
        if rules != desk.standing(self._db).published:
            desk.publish(self._db, "gossamer", self._now, "an imported configuration", rules)

    def _pauses(self) -> None:
        machine = machine_name(self._folder)
        for name in self._present.paused_schedules:
            if name not in self._wanted.paused_schedules:
                schedules.resume(self._db, machine, name)
        for name in self._wanted.paused_schedules:
            schedules.pause(self._db, machine, name, self._now)
        if self._wanted.paused:
            controls.pause_crawl(self._db, self._wanted.paused, self._now)
        elif self._present.paused:
            controls.resume_crawl(self._db, self._now)


def _gone(present: Sequence[T], wanted: Sequence[T]) -> list[T]:
    """Rows in the database that the new configuration does not contain."""
    return [one for one in present if one not in wanted]


def _mirror(one: Decision) -> mirror_table.Mirror:
    return mirror_table.Mirror(one.site, one.main, one.scheme, one.state, one.reason, one.decided_at)
