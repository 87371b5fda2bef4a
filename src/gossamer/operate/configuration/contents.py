"""The decisions of people about a crawl, as one file: settings, rules, filters, mirrors, seeds, limits, removals,
alerts, the search desk.

It holds no pages and nothing that the crawler finds out by itself, so you can read it, keep it under version control,
and apply it to another data folder. An export that you import again changes nothing. It contains no secrets unless you
ask for them: passwords, webhooks, and the unguessable names of feeds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gossamer.data.folder import DataFolder
from gossamer.data.machine import machine_name
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.steering import controls, filters, removals
from gossamer.frontier.steering.filters import StoredFilter
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.notify.channel import is_mail
from gossamer.operate import desk
from gossamer.operate.configuration.toml_edit import toml_text
from gossamer.parse.rules import DocumentRule
from gossamer.search.desk.reading import read_desk, write_desk
from gossamer.search.desk.rules import differences as desk_differences
from gossamer.settings import FILE_NAME
from gossamer.tables import alerts, rulebook, schedules

FORMAT = 1

SECRETS = frozenset({"smtp_password", "secret", "key", "basic_auth", "cookies", "headers", "password", "token"})
"""Settings whose values are secret."""
_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s]*@|://\S*[?&](?:ssl)?password=", re.I)


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision about two sites (`gossamer mirrors`)."""

    site: str
    main: str
    scheme: str
    state: str
    reason: str
    decided_at: float


class SavedAlert(msgspec.Struct, frozen=True, omit_defaults=True):
    """A saved query."""

    name: str
    request: str
    made_by: str = ""
    channels: tuple[str, ...] = ()
    again: bool = False
    paused: bool = False
    id: str = ""
    """Anyone who knows it can read the feed, so it is a secret."""


class SiteControl(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pause or limit of a site."""

    site: str
    paused: str = ""
    least_delay: float = 0.0
    most_pages: int = 0


class Removed(msgspec.Struct, frozen=True):
    """A removal."""

    what: str
    reason: str


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All decisions."""

    gossamer: int = FORMAT
    paused: str = ""
    """Why the whole crawl is paused; empty if it is not."""
    seeds: tuple[str, ...] = ()
    paused_schedules: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    """The tables of `gossamer.toml`, schedules included."""
    sites: tuple[SiteControl, ...] = ()
    removals: tuple[Removed, ...] = ()
    rules: tuple[DocumentRule, ...] = ()
    filters: tuple[StoredFilter, ...] = ()
    mirrors: tuple[Decision, ...] = ()
    alerts: tuple[SavedAlert, ...] = ()
    desk: str = ""
    """The published rules of the search desk, as TOML."""


KEYS: dict[str, Callable[[Any], str]] = {
    "seeds": str,
    "paused_schedules": str,
    "sites": lambda one: one.site,
    "removals": lambda one: one.what,
    "rules": lambda one: one.label,
    "filters": lambda one: f"{one.site} {one.kind} {one.pattern}",
    "mirrors": lambda one: f"{one.site} → {one.main or 'any'}",
    "alerts": lambda one: one.name,
}
"""The lists of a configuration, and the key of their entries."""

T = TypeVar("T")


def read(folder: DataFolder, db: Database, secrets: bool = False) -> Configuration:
    """The configuration of a data folder."""
    pause = controls.paused(db)
    decided = [one for one in mirror_table.list_mirrors(db) if one.state != mirror_table.UNDECIDED]
    found = Configuration(
        paused=pause.reason if pause else "",
        seeds=tuple(sorted(seed_urls(db))),
        paused_schedules=tuple(sorted(schedules.pauses(db, machine_name(folder)))),
        settings=read_tables(folder.root),
        sites=tuple(SiteControl(site, *msgspec.structs.astuple(one)) for site, one in controls.steered_sites(db)),
        removals=tuple(sorted((Removed(one.what, one.reason) for one in removals.all_removals(db)), key=_by_what)),
        rules=rulebook.load_rules(db),
        filters=tuple(filters.list_filters(db)),
        mirrors=tuple(Decision(*(getattr(one, name) for name in Decision.__struct_fields__)) for one in decided),
        alerts=tuple(
            SavedAlert(one.name, one.request, one.made_by, one.channels, one.again, one.paused, one.id)
            for one in alerts.list_alerts(db)
        ),
        desk=write_desk(desk.standing(db).published),
    )
    return found if secrets else without_secrets(found)


def _by_what(one: Removed) -> str:
    return one.what


def read_tables(root: Path) -> dict[str, Any]:
    """The settings in the file of a data folder."""
    path = root / FILE_NAME
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error


# -- secrets --------------------------------------------------------------------------------------


def without_secrets(configuration: Configuration) -> Configuration:
    """The same without passwords, webhooks and names of feeds."""
    kept = tuple(
        replace(one, id="", channels=tuple(filter(is_mail, one.channels))) for one in configuration.alerts
    )  # fmt: skip
    return replace(configuration, settings=_open_part(configuration.settings), alerts=kept)


def _open_part(table: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = _open_part(value)
            if key not in SECRETS and (inner or not value):
                found[key] = inner
        elif not is_secret(key, value):
            found[key] = value
    return found


def is_secret(key: str, value: Any) -> bool:
    """Whether a setting is exported only on request."""
    texts = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    hook = key == "operators" and any(not is_mail(text) for text in texts)
    return key in SECRETS or hook or any(_WITH_PASSWORD.search(text) for text in texts)


def with_secrets_of(given: Configuration, present: Configuration) -> Configuration:
    """Fill the gaps of an export without secrets with the secrets of this data folder."""
    known = {one.name: one for one in present.alerts}
    merged = []
    for one in given.alerts:
        before = known.get(one.name)
        if before is not None and not one.id:
            hooks = tuple(channel for channel in before.channels if not is_mail(channel))
            own = tuple(channel for channel in one.channels if channel not in hooks)
            one = replace(one, id=before.id, channels=own + hooks)
        merged.append(one)
    secret = _secret_part(present.settings)
    return replace(given, alerts=tuple(merged), settings=merged_tables(secret, given.settings))


def _secret_part(table: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and key not in SECRETS:
            if inner := _secret_part(value):
                found[key] = inner
        elif is_secret(key, value):
            found[key] = value
    return found


# -- two of them ----------------------------------------------------------------------------------


def merged(present: Configuration, given: Configuration) -> Configuration:
    """Both; if they disagree, `given` wins."""
    lists = {name: _union(getattr(present, name), getattr(given, name), key) for name, key in KEYS.items()}
    settings = merged_tables(present.settings, given.settings)
    off = tuple(one for one in present.filters if one.state == filters.OFF)
    lists["filters"] = _union(lists["filters"], off, KEYS["filters"])  # what an operator switched off stays so
    rules = given.desk or present.desk
    return replace(given, paused=given.paused or present.paused, settings=settings, desk=rules, **lists)


def _union(present: Sequence[T], given: Sequence[T], key: Callable[[T], str]) -> tuple[T, ...]:
    both = {key(one): one for one in (*present, *given)}
    return tuple(both[name] for name in sorted(both))


def merged_tables(present: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge tables key by key; other values replace."""
    both = dict(present)
    for key, value in given.items():
        before = both.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = merged_tables(before, value)
        both[key] = value
    return both


def differences(before: Configuration, after: Configuration) -> list[str]:
    """The changes an import makes, a line each: `+` added, `-` removed, `~` changed."""
    lines = _changes("settings", _flat(before.settings), _flat(after.settings))
    for name, key in KEYS.items():
        old, new = ({key(one): one for one in getattr(side, name)} for side in (before, after))
        lines += _changes(name, old, new)
    if before.paused != after.paused:
        lines.append(f"~ crawl: {_paused(before)} → {_paused(after)}")
    rules = [read_desk(one.desk, "desk") for one in (before, after)]
    lines += [f"{line[:1]} desk {line[2:]}" for line in desk_differences(*rules)]
    return lines


def _changes(section: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = [f"- {section} {name}" for name in sorted(old.keys() - new.keys())]
    for name in sorted(new):
        if name not in old:
            lines.append(f"+ {section} {name}")
        elif old[name] != new[name]:
            lines.append(f"~ {section} {name}")
    return lines


def _flat(table: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        found |= _flat(value, name) if isinstance(value, Mapping) and value else {name: value}
    return found


def _paused(one: Configuration) -> str:
    return f"paused ({one.paused})" if one.paused else "not paused"


# -- as text --------------------------------------------------------------------------------------


def as_text(configuration: Configuration, toml: bool) -> str:
    """As TOML or JSON, for a file."""
    value = msgspec.to_builtins(configuration)
    if toml:
        return toml_text({key: one for key, one in value.items() if one not in ((), [], {}, "")})
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


def from_text(text: str, source: str) -> Configuration:
    """Read what `as_text` wrote, in either form; a `UsageError` says what is wrong with it."""
    try:
        is_json = text.lstrip().startswith("{")
        value = msgspec.json.decode(text) if is_json else tomllib.loads(text)
        found = msgspec.convert(value, Configuration)
    except (tomllib.TOMLDecodeError, msgspec.MsgspecError, RecursionError) as error:
        problem = str(error).replace("`$.", "`")
        raise UsageError(f"{source} is not a configuration of `gossamer config export`: {problem}") from error
    if found.gossamer != FORMAT:
        raise UsageError(
            f"{source} was exported by another version of Gossamer (format {found.gossamer}, this one reads {FORMAT})"
        )
    return found
