"""The settings by which the crawl of a data folder runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.database import meta
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.plugins import HOOKS, OF_PROGRAM, RULES, STRATEGIES
from gossamer.settings import OWN_SECTIONS, CrawlSettings, Settings, load

_PLUGINS = (
    ("scope", "rules", RULES.names),
    ("parse", "hooks", HOOKS.names),
    ("crawl", "strategy", STRATEGIES.names),
)
"""Settings that name plug-ins."""


def settings_of_crawl(data: Path) -> Settings:
    """The settings of a folder, with the changes by options of the last `gossamer crawl`."""
    folder = DataFolder(data)
    own = load(data, last_options(folder) if folder.has_crawl() else {})
    shared = shared_settings(folder) if folder.is_shared else None
    if shared is None:
        return own
    # One crawl, one set of settings; each machine keeps only its own local ones.
    return msgspec.structs.replace(shared, **{name: getattr(own, name) for name in OWN_SECTIONS})


def shared_settings(folder: DataFolder) -> Settings | None:
    """The settings that the machine which started the crawl recorded for all."""
    with closing(folder.read()) as database:
        noted = meta.noted(database, meta.SETTINGS)
    try:
        return msgspec.json.decode(noted, type=Settings) if noted else None
    except msgspec.DecodeError as error:
        raise UsageError(f"another version started the crawl ({error}): use that version here, too") from error


def last_options(folder: DataFolder) -> dict[str, dict[str, Any]]:
    """Settings that options of the last crawl changed."""
    with closing(folder.read()) as database:
        return options_of(database)


def options_of(database: Database) -> dict[str, dict[str, Any]]:
    """Settings that options of the last crawl changed, without the plug-ins of a program that this one knows nothing
    of."""
    noted = meta.noted(database, meta.OPTIONS)
    options: dict[str, dict[str, Any]] = msgspec.json.decode(noted) if noted else {}
    for section, name, point in (
        ("scope", "rules", RULES),
        ("parse", "hooks", HOOKS),
        ("crawl", "strategy", STRATEGIES),
    ):
        if OF_PROGRAM in str(options.get(section, {}).get(name, "")):
            _leave_out_unknown(options[section], name, set(point.names()))
    return options


def _leave_out_unknown(values: dict[str, Any], name: str, known: set[str]) -> None:
    value = values.pop(name)
    found = [one.strip() for one in value.split("*")] if isinstance(value, str) else value
    if kept := [one for one in found if not one.startswith(OF_PROGRAM) or one in known]:
        values[name] = " * ".join(kept) if isinstance(value, str) else kept


def note_settings(database: Database, settings: Settings, options: Mapping[str, Mapping[str, Any]]) -> None:
    """Record the settings of a crawl and the changes by its options: for later commands, and for workers on other
    machines."""
    # Local settings of each machine stay here; a database's password is among them.
    own = {name: type(getattr(settings, name))() for name in OWN_SECTIONS}
    shared = msgspec.structs.replace(_without_program(settings), **own)
    with database.transaction():
        meta.note(database, meta.OPTIONS, msgspec.json.encode(options).decode())
        meta.note(database, meta.SETTINGS, msgspec.json.encode(shared).decode())


def _without_program(settings: Settings) -> Settings:
    """The settings without the plug-ins of the program that runs the crawl: the next crawl may be another's."""
    strategy = settings.crawl.strategy
    if OF_PROGRAM in strategy:
        strategy = " * ".join(_not_of_program(tuple(name.strip() for name in strategy.split("*"))))
    return msgspec.structs.replace(
        settings,
        crawl=msgspec.structs.replace(settings.crawl, strategy=strategy or CrawlSettings().strategy),
        scope=msgspec.structs.replace(settings.scope, rules=_not_of_program(settings.scope.rules)),
        parse=msgspec.structs.replace(settings.parse, hooks=_not_of_program(settings.parse.hooks)),
    )


def _not_of_program(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if not name.startswith(OF_PROGRAM))
