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
from gossamer.settings import OWN_SECTIONS, Settings, load


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
    """Settings that options of the last crawl changed."""
    noted = meta.noted(database, meta.OPTIONS)
    return dict(msgspec.json.decode(noted)) if noted else {}


def note_settings(database: Database, settings: Settings, options: Mapping[str, Mapping[str, Any]]) -> None:
    """Record the settings of a crawl and the changes by its options: for later commands, and for workers on other
    machines."""
    # Local settings of each machine stay here; a database's password is among them.
    own = {name: type(getattr(settings, name))() for name in OWN_SECTIONS}
    shared = msgspec.structs.replace(settings, **own)
    with database.transaction():
        meta.note(database, meta.OPTIONS, msgspec.json.encode(options).decode())
        meta.note(database, meta.SETTINGS, msgspec.json.encode(shared).decode())
