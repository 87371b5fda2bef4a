"""Which settings an operator may change on the console, and the fields of the form that does it.

Left out on purpose: what opens the machine or its network to a stranger who got hold of a password (addresses that may
be crawled, files, programs, proxies, plug-ins), secrets, and what only matters to the program itself. All of it is
changed in `gossamer.toml`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from gossamer.console.changing import Tables, table_of
from gossamer.console.words import duration
from gossamer.errors import UsageError
from gossamer.settings import Described, Settings, describe

Widget = Literal["text", "number", "choice", "lines"]


class Group(msgspec.Struct, frozen=True):
    """Settings that belong together."""

    title: str
    labels: Mapping[str, str]
    """The names of the settings, and what the form calls them."""
    of_server: bool = False
    """Whether they count when the server starts again, instead of the crawl."""


GROUPS = (
    Group("Contact", {"crawl.contact": "Your mail address or web page"}),
    Group("Scope", {
        "scope.mode": "Which hosts",
        "scope.hosts": "Additional hosts",
        "scope.depth": "Maximum number of links from a seed",
        "scope.skip_files": "Skip pictures, archives and programs",
        "budget.pages_per_site": "Maximum URLs per site",
        "budget.sites": "Maximum sites",
        "browser.mode": "Run the scripts of pages",
    }),
    Group("Speed", {
        "politeness.delay": "Pause between two requests to a site",
        "politeness.ip_delay": "Pause between two requests to an IP address",
        "crawl.workers": "Worker processes",
        "crawl.downloads": "Parallel downloads per worker",
    }),
    Group("Freshness", {
        "revisit.every": "Average time between two visits to a page",
        "revisit.floor": "Shortest time between two visits",
        "revisit.ceiling": "Longest time between two visits",
        "feeds.poll": "Poll feeds and start pages",
        "feeds.floor": "Shortest time between two polls of a feed",
        "feeds.ceiling": "Longest time between two polls of a feed",
        "feeds.per_day": "Average polls of a feed per day",
    }),
    Group("Order and selection", {
        "crawl.strategy": "Strategy: what to fetch first",
        "filters.mode": "Automatic filters",
        "dedup.near": "Find near-duplicates",
        "dedup.mirrors": "Find hosts that serve the same pages",
        "rank.every": "Time between two rankings",
    }),
    Group("Limits", {
        "budget.retries": "Attempts for a failing URL",
        "budget.patience": "Attempts if the server asks to wait",
        "fetch.total_timeout": "Maximum time for a download",
        "fetch.max_bytes": "Maximum size of a download",
        "crawl.min_free_disk": "Stop the crawl below this free disk space",
    }),
    Group("Search page and console", {
        "serve.title": "Name of the search page",
        "serve.clicks": "Count clicks on results",
        "serve.rate": "Requests per reader and minute",
        "serve.burst": "Requests per reader in a burst",
        "console.session": "Duration of a login",
        "console.analytics": "Count queries",
    }, of_server=True),
)  # fmt: skip
"""The form, from top to bottom."""

_DESCRIBED = {f"{one.section}.{one.name}": one for one in describe()}
_YES, _NO = "yes", "no"


class Field(msgspec.Struct, frozen=True):
    """One setting as a form shows it."""

    name: str
    """With its section: `politeness.delay`."""
    label: str
    widget: Widget
    value: str
    """As it stands in the file; empty for the default."""
    default: str
    sentence: str
    choices: tuple[str, ...] = ()
    hint: str = ""
    """The value in words that a person reads."""


class Fields(msgspec.Struct, frozen=True):
    """The fields of a group."""

    group: Group
    fields: tuple[Field, ...]


def fields(settings: Settings, tables: Mapping[str, Any]) -> list[Fields]:
    """The whole form: what the file says, and the defaults of what it does not say."""
    return [
        Fields(group, tuple(_field(name, label, settings, tables) for name, label in group.labels.items()))
        for group in GROUPS
    ]


def _field(name: str, label: str, settings: Settings, tables: Mapping[str, Any]) -> Field:
    one = _DESCRIBED[name]
    value = getattr(getattr(settings, one.section), one.name)
    is_said = one.name in tables.get(one.section, {})
    in_words = "seconds" in one.sentence.lower() and isinstance(value, (int, float)) and value >= 120
    return Field(
        name, label, _widget(one), _text(value) if is_said else "",
        _text(one.default) if one.default not in (None, (), "") else "", one.sentence, _choices(one),
        f"now {duration(value)}" if in_words else "",
    )  # fmt: skip


def _widget(one: Described) -> Widget:
    if _choices(one):
        return "choice"
    if one.type.removesuffix(" | None") in ("int", "float"):
        return "number"
    return "lines" if one.type.startswith("tuple") else "text"


def _choices(one: Described) -> tuple[str, ...]:
    if one.type == "bool":
        return _YES, _NO
    if one.type.startswith("Literal["):
        return tuple(ast.literal_eval(f"[{one.type[len('Literal[') : -1]}]"))
    return ()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return _YES if value else _NO
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return str(value).removesuffix(".0")


class Change(msgspec.Struct, frozen=True):
    """A setting that gets another value."""

    name: str
    text: str
    """What was typed; empty for the default."""
    before: str

    @property
    def words(self) -> str:
        """For the audit log."""
        before, after = (" ".join(text.split()) or "default" for text in (self.before, self.text))
        return f"{self.name}: {before} → {after}"


def changes(form: Mapping[str, str], settings: Settings, tables: Mapping[str, Any]) -> list[Change]:
    """What a form changes of what the file says; names that are not in the form are refused."""
    known = {field.name: field for part in fields(settings, tables) for field in part.fields}
    found = []
    for name, text in form.items():
        if name not in known:
            raise UsageError(f"the form has no setting {name!r}. Nothing was changed")
        text = "\n".join(filter(None, map(str.strip, text.splitlines())))
        if text != known[name].value:
            found.append(Change(name, text, known[name].value))
    return found


def apply(wanted: list[Change], tables: Tables) -> None:
    """Put changes into the tables of the file."""
    for one in wanted:
        described = _DESCRIBED[one.name]
        table = table_of(tables, described.section)
        if one.text:
            table[described.name] = _parsed(one, described)
        else:
            table.pop(described.name, None)


def _parsed(one: Change, described: Described) -> Any:
    text = one.text
    if described.type == "bool":
        if text not in (_YES, _NO):
            raise UsageError(f"{one.name} must be yes or no. Nothing was changed")
        return text == _YES
    if described.type.startswith("tuple"):
        return text.split("\n")
    if _widget(described) == "number":
        try:
            return int(text) if described.type.startswith("int") else float(text)
        except ValueError as error:
            kind = "a whole number" if described.type.startswith("int") else "a number"
            raise UsageError(f"{one.name}: {text!r} is not {kind}. Nothing was changed") from error
    return text
