"""Every setting in force, and where it came from: for a person who wonders why.

What must stay secret is never shown: whoever reads a page may be a reader, or look over a shoulder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from gossamer import settings as settings_file
from gossamer.data.crawl_settings import last_options, shared_settings
from gossamer.data.folder import DataFolder
from gossamer.settings import (
    OWN_SECTIONS,
    Described,
    Settings,
    describe,
    is_named,
    section_sentence,
    toml_value,
)

Origin = Literal["default", "gossamer.toml", "options of the last crawl", "shared by all machines", "command line"]

MASK = "••••"
_SECRETS = {"smtp_password", "secret", "key", "basic_auth", "cookies", "headers", "password", "token"}
_IN_ADDRESS = re.compile(r"(?<=://)([^/\s:@\"']*):[^/\s\"']*@")
"""A password inside a URL; passwords may hold an `@` that nobody escaped."""
_IN_QUERY = re.compile(r"(?i)((?:password|passwd|secret|token|key)=)[^&\s\"']+")
_BEHIND_HOST = re.compile(r"(https?://[^/\s\"']+/)[^\s\"',]+")
"""Who knows the whole address of a webhook can write to it."""


class Shown(msgspec.Struct, frozen=True):
    """One setting."""

    name: str
    value: str
    origin: Origin
    sentence: str

    @property
    def is_default(self) -> bool:
        """Whether nobody set it."""
        return self.origin == "default"


class Section(msgspec.Struct, frozen=True):
    """The settings of a section."""

    name: str
    sentence: str
    settings: tuple[Shown, ...]


class Sources(msgspec.Struct, frozen=True):
    """What each place says, by section and name."""

    file: Mapping[str, Any]
    options: Mapping[str, Any]
    is_shared: bool


def sources(folder: DataFolder) -> Sources:
    """What `gossamer.toml`, the last crawl and the database of several machines say."""
    path = folder.root / settings_file.FILE_NAME
    file = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    options = last_options(folder) if folder.has_crawl() else {}
    return Sources(file, options, folder.is_shared and shared_settings(folder) is not None)


def in_force(settings: Settings, said: Sources) -> list[Section]:
    """All settings by section, those of sites and schedules by their names."""
    described: dict[str, list[Described]] = {}
    for one in describe():
        described.setdefault(one.section, []).append(one)
    found = []
    for section, fields in described.items():
        if not is_named(section):
            values = getattr(settings, section)
            shown = tuple(_shown(section, one, getattr(values, one.name), said) for one in fields)
            found.append(Section(section, section_sentence(section), shown))
            continue
        for name, values in getattr(settings, section).items():
            given = {one.name: getattr(values, one.name) for one in fields}
            shown = tuple(_named(section, name, one, given[one.name], said) for one in fields)
            found.append(Section(f'{section}."{name}"', section_sentence(section), shown))
    return found


def _shown(section: str, one: Described, value: Any, said: Sources) -> Shown:
    return Shown(one.name, masked(one.name, value), _origin(section, one, value, said), one.sentence)


def _origin(section: str, one: Described, value: Any, said: Sources) -> Origin:
    if said.is_shared and section not in OWN_SECTIONS:
        return "default" if value == one.default else "shared by all machines"
    sources: list[tuple[Origin, Any]] = [("options of the last crawl", said.options), ("gossamer.toml", said.file)]
    for origin, tables in sources:
        if one.name in tables.get(section, {}) and _plain(tables[section][one.name]) == _plain(value):
            return origin
    return "default" if value == one.default else "command line"


def _named(section: str, name: str, one: Described, value: Any, said: Sources) -> Shown:
    is_said = one.name in said.file.get(section, {}).get(name, {})
    origin: Origin = "gossamer.toml" if is_said else "default"
    if said.is_shared and section not in OWN_SECTIONS and value != one.default:
        origin = "shared by all machines"
    return Shown(one.name, masked(one.name, value), origin, one.sentence)


def masked(name: str, value: Any) -> str:
    """A value as TOML writes it, without what must stay secret."""
    plain = _plain(value)
    if name in _SECRETS and plain not in ("", None, [], {}):
        return MASK
    if plain is None:
        return "not set"
    text = _IN_QUERY.sub(rf"\1{MASK}", _IN_ADDRESS.sub(rf"\1:{MASK}@", toml_value(_without_secrets(plain))))
    return _BEHIND_HOST.sub(rf"\1{MASK}", text) if name == "operators" else text


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: MASK if key in _SECRETS and held else _without_secrets(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_without_secrets(held) for held in value]
    return value


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)
