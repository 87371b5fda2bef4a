"""Every setting: name, type, unit, default and one sentence, in one place.

`gossamer.toml` in the data folder has one table per section below; an unknown
key is an error, and so is a value of the wrong type. Command-line options win
over the file, the file wins over the defaults. The sentences are the docstrings
of the fields: `gossamer init` and `docs/settings.md` are made from them.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from gossamer.discover.websub import PushConfig
from gossamer.engine.config import EngineConfig
from gossamer.errors import UsageError
from gossamer.fetch.browser_config import BrowserConfig
from gossamer.fetch.checking import check_fetch
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.identity import check_contact
from gossamer.fetch.limits import FetchConfig, SiteAccess
from gossamer.frontier.contract import Budgets
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.graph.config import RankConfig
from gossamer.model.meant import hint
from gossamer.model.url import CanonicalRules
from gossamer.notify.channel import check_channel
from gossamer.notify.config import AlertConfig
from gossamer.parse.fields.config import FieldConfig, check_fields
from gossamer.parse.limits import ParseLimits
from gossamer.partition.config import PartitionConfig
from gossamer.plugins import HOOKS, RULES, STRATEGIES
from gossamer.priority.config import PriorityConfig
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.robots.verdict import RobotsConfig
from gossamer.schedule import check as check_schedules
from gossamer.schedule.config import Schedule
from gossamer.scope.automatic import FilterConfig
from gossamer.scope.chain import ScopeConfig, build_chain
from gossamer.scope.filters import FilterRule
from gossamer.scope.reach import Reach, Sitemaps
from gossamer.scope.traps import TrapLimits
from gossamer.search.ranking import RankingConfig
from gossamer.search.shards.config import ShardsConfig
from gossamer.store.config import StorageConfig

FILE_NAME = "gossamer.toml"

OWN_SECTIONS = ("engine", "serve", "console", "alerts", "logs", "storage", "shards", "schedules")
"""Sections that hold for one machine; of a crawl that several machines share, all others are the same for all."""
_NAMED: dict[str, tuple[type[msgspec.Struct], str]] = {
    "sites": (SiteAccess, '"www.example.org"'),
    "schedules": (Schedule, "nightly"),
    "fields": (FieldConfig, "price"),
}
"""Sections of which there is one for each name, with an example of a name."""
_INTERNAL = {("fetch", "user_agent"), ("fetch", "access"), ("politeness", "parts"), ("politeness", "site_rate")}
"""Fields that are filled in from other settings, not set by themselves."""


class CrawlSettings(msgspec.Struct, frozen=True):
    """The processes of a crawl, and how they work."""

    contact: str = ""
    """Your mail address, or the URL of a page about your crawl. Every request carries it; without it the crawl may
    only fetch from this machine (loopback)."""
    workers: int = 0
    """Worker processes; 0: one per core."""
    parsers: int = 2
    """Parser processes per worker; with two, the crawl of one large site uses more than one core."""
    parse_timeout: float = 20.0
    """Seconds of processor time that a parser may spend on a page; the limit of elapsed time is six times as long."""
    stuck_after: float = 90.0
    """Kill and replace a worker that gives no sign of life for this many seconds."""
    stop_within: float = 90.0
    """Seconds that a stopping worker has to finish its downloads and pages. The next crawl fetches the unfinished ones
    again."""
    parse_memory: int = 2048
    """Mebibytes of address space that a parser may use."""
    sites: int = 400
    """Sites that a worker crawls at the same time."""
    downloads: int = 128
    """Downloads that a worker runs at the same time."""
    commit_seconds: float = 0.5
    """Seconds between two commits of a worker while pages arrive, at most: a worker that fetches faster than it commits
    does so sooner."""
    commit_pages: int = 400
    """A worker commits at once when it has this many pages; fewer while a kill would cost a twentieth of its work."""
    commit_bytes: int = 64 * 1024 * 1024
    """A worker commits at once when it has this many bytes of bodies."""
    hold_bytes: int = 256 * 1024 * 1024
    """A worker starts no download while it holds more than this many bytes of bodies."""
    linger: float = 120.0
    """Seconds that a crawl waits for retries before it ends and leaves them to the next crawl; at most 13 for sites
    that have never answered."""
    watch: bool = False
    """Whether a crawl continues when nothing is left to fetch: it visits pages again and polls feeds until you stop
    it."""
    archive: bool = True
    """Whether to keep raw responses as WARC."""
    index: bool = True
    """Whether to index pages while the crawl runs, so that searches find them within seconds."""
    strategy: str = "fit * breadth"
    """Which URLs to fetch first: breadth, random, fit, backlinks, opic, fica, earlier, qrank, qrank-links, or a
    strategy of a plug-in. `*` multiplies scores; only one of the strategies may use links."""
    max_redirects: int = 10
    """How many redirects in a row to follow."""
    nice: int = 10
    """How much workers, parsers and jobs give way to other processes, such as the server: 0 not at all, 19 most. The
    indexer gives way half as much."""
    min_free_disk: int = 256
    """The crawl stops when fewer mebibytes than this are free on the disk."""


class ScopeSettings(msgspec.Struct, frozen=True):
    """Which URLs belong to the crawl."""

    mode: Literal["host", "domain", "list"] = "host"
    """host: the hosts of the seeds; domain: their registrable domains; list: the hosts of `hosts`. With host and
    domain, a host that a seed redirects to belongs to the crawl, too."""
    hosts: tuple[str, ...] = ()
    """The hosts of the mode `list`, or further hosts of the other modes; `*.example.org` includes all its
    subdomains."""
    filters: tuple[FilterRule, ...] = ()
    """Filters that allow or refuse URLs by prefix, suffix or regular expression. The first one that matches decides."""
    rules: tuple[str, ...] = ()
    """Names of scope rules from plug-ins, which may refuse URLs."""
    skip_files: bool = True
    """Whether to refuse URLs that end like images, archives, programs and similar files."""
    depth: int | None = None
    """How many links to follow from a seed: 0 fetches only the seeds, 1 also the pages they link to. Redirects do not
    count; a URL in a sitemap or feed is one link away. Not set: no limit."""
    sitemaps: Sitemaps = "yes"
    """yes: follow sitemaps and links; no: read no sitemaps; only: fetch the pages that sitemaps list, follow no
    links."""


class NetworkSettings(msgspec.Struct, frozen=True):
    """Which addresses the crawl may connect to."""

    allow: tuple[str, ...] = ()
    """Private networks (CIDR) that the crawl may enter, such as `127.0.0.0/8` or `10.1.0.0/16`."""
    resolve: dict[str, str] = {}
    """Addresses of hosts by name, to use instead of asking the DNS."""


class ServeSettings(msgspec.Struct, frozen=True):
    """The server of the search page and the API."""

    host: str = "127.0.0.1"
    """Address to listen on; `0.0.0.0`: reachable from other machines."""
    port: int = 8017
    """Port to listen on; 0: any free port."""
    title: str = "Gossamer"
    """Name of the search engine on the search page and in browsers that add it."""
    base_url: str = ""
    """URL by which readers reach the server, such as `https://search.example.org`; empty: from the request."""
    threads: int = 4
    """Searches that run at the same time; others wait."""
    remembered: int = 64
    """Mebibytes of answers that the server gives again while index, rules of the search desk and link ranks stay as
    they are; 0: it works out each answer."""
    rate: int = 120
    """Requests that one IP address may make per minute in the long run; 0: no limit."""
    burst: int = 60
    """Requests that one IP address may make at once before the rate applies."""
    proxies: tuple[str, ...] = ()
    """Networks (CIDR) of reverse proxies whose X-Forwarded-For the server trusts."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may ask the API, such as `https://www.example.org`, to show results themselves (see
    docs/embed.md); `*`: all."""
    clicks: bool = False
    """Whether to count which results readers open, to visit those pages more often, and to move them up a little (see
    docs/clicks.md). Gossamer stores nothing about the reader."""
    metrics: Literal["off", "local", "all"] = "local"
    """Who may read /metrics. off: nobody; local: clients on this machine; all: everybody who reaches the server."""


class ConsoleSettings(msgspec.Struct, frozen=True):
    """The operator's console of `gossamer serve`."""

    enabled: bool = True
    """Whether to serve the console at /console, behind a login."""
    session: float = 12 * 3600.0
    """Seconds without activity after which an operator has to log in again."""
    attempts: int = 10
    """After this many wrong passwords in a row, for an account or from an IP address, each further login takes
    longer."""
    secure_cookies: bool = False
    """Whether browsers send the cookie over https only; always on if serve.base_url begins with https."""
    analytics: bool = True
    """Whether to count queries, so that you see which find nothing. Gossamer does not store who asked."""
    judged: str = ""
    """File of queries with known answers, as for `gossamer evaluate`, below the data folder or anywhere; the search
    desk tries changes on it."""


class LogSettings(msgspec.Struct, frozen=True):
    """Log messages on standard error."""

    format: Literal["plain", "json"] = "plain"
    """plain: for people; json: one JSON object per line, for programs that collect logs."""
    level: Literal["debug", "info", "warning", "error"] = "warning"
    """The lowest level to log."""


class DedupSettings(msgspec.Struct, frozen=True):
    """How the crawl recognises near-duplicates and mirrors."""

    near: Literal["minhash", "supershingles", "simhash", "none"] = "minhash"
    """Method that finds near-duplicates during the crawl; none: find only equal texts."""
    mirrors: bool = True
    """Whether to find hosts that serve the same pages, and crawl only one of them; false: use only the mirrors that you
    accepted."""


class SiteSettings(msgspec.Struct, frozen=True):
    """How the crawl judges a page by its whole site."""

    learn: bool = True
    """Whether to learn which lines, elements and parts of titles the pages of a site share, and leave them out of each
    page's text and title; false: judge each page alone."""
    order: bool = True
    """Whether to fetch first what looks like the documents of its site, by the URLs of the documents so far; for sites
    without document rules. Needs `site.learn`."""


class Settings(msgspec.Struct, frozen=True):
    """All settings, a section each."""

    crawl: CrawlSettings = CrawlSettings()
    scope: ScopeSettings = ScopeSettings()
    traps: TrapLimits = TrapLimits()
    urls: CanonicalRules = CanonicalRules()
    politeness: PolitenessConfig = PolitenessConfig()
    budget: Budgets = Budgets()
    priority: PriorityConfig = PriorityConfig()
    revisit: RevisitConfig = RevisitConfig()
    feeds: FeedConfig = FeedConfig()
    push: PushConfig = PushConfig()
    filters: FilterConfig = FilterConfig()
    partition: PartitionConfig = PartitionConfig()
    robots: RobotsConfig = RobotsConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseLimits = ParseLimits()
    dedup: DedupSettings = DedupSettings()
    site: SiteSettings = SiteSettings()
    network: NetworkSettings = NetworkSettings()
    rank: RankConfig = RankConfig()
    search: RankingConfig = RankingConfig()
    serve: ServeSettings = ServeSettings()
    console: ConsoleSettings = ConsoleSettings()
    alerts: AlertConfig = AlertConfig()
    browser: BrowserConfig = BrowserConfig()
    logs: LogSettings = LogSettings()
    engine: EngineConfig = EngineConfig()
    shards: ShardsConfig = ShardsConfig()
    storage: StorageConfig = StorageConfig()
    sites: dict[str, SiteAccess] = {}
    """Cookies, login, headers and scripts for single sites: `[sites."intranet.example.org"]`."""
    schedules: dict[str, Schedule] = {}
    """What `gossamer run` does, and when: `[schedules.nightly]`."""
    fields: dict[str, FieldConfig] = {}
    """Fields of your own: `[fields.price]`."""

    @property
    def workers(self) -> int:
        """Worker processes, with 0 resolved to the number of cores."""
        return self.crawl.workers or len(os.sched_getaffinity(0))

    @property
    def reach(self) -> Reach:
        """How far from the seeds the crawl goes, and whether by links or by sitemaps."""
        return Reach(self.scope.depth, self.scope.sitemaps)

    @property
    def polite(self) -> PolitenessConfig:
        """The rules of politeness, with what holds for sites that are split."""
        return msgspec.structs.replace(self.politeness, site_rate=self.partition.site_rate)

    def check(self) -> None:
        """Raise a `UsageError` for what a type cannot rule out."""
        self._check_numbers()
        if self.crawl.contact:
            check_contact(self.crawl.contact)
        if self.crawl.strategy != CrawlSettings().strategy:
            self._check_strategy()
        if self.revisit.floor > self.revisit.ceiling:
            raise UsageError("revisit.floor is greater than revisit.ceiling: lower it, or raise revisit.ceiling")
        if self.feeds.floor > self.feeds.ceiling:
            raise UsageError("feeds.floor is greater than feeds.ceiling: lower it, or raise feeds.ceiling")
        self.push.check()
        for channel in self.alerts.operators:
            _check_operator(channel)
        self.parse.check()
        self.engine.check()
        self.rank.check()
        self.search.check()
        self.storage.check()
        self.shards.check()
        check_schedules(self.schedules)
        check_fields(self.fields)
        for rule in self.scope.rules:
            RULES.get(rule)
        for hook in self.parse.hooks:
            HOOKS.get(hook)
        # Built here to be thrown away: a worker must not be the first to find out.
        AddressPolicy(self.network.allow, self.crawl.contact)
        fetch = msgspec.structs.replace(self.fetch, user_agent="Gossamer", access=self.sites)
        check_fetch(fetch, self.network.resolve)
        build_chain(ScopeConfig(self.scope.mode, self.scope.hosts, filters=self.scope.filters))

    def _check_strategy(self) -> None:
        # NumPy: with the strategy that is the default, only processes that score URLs load it.
        from gossamer.priority.product import build
        from gossamer.priority.strategy import Context

        # Any rank will do to see whether the strategies exist and go together; the file is read later.
        context = Context(self.priority, ranks={0: 1.0} if self.priority.ranks else {})
        build(self.crawl.strategy, lambda name: STRATEGIES.get(name)(context))

    def _check_numbers(self) -> None:
        for section in self.__struct_fields__:
            part = getattr(self, section)
            for name in getattr(part, "__struct_fields__", ()):
                value = getattr(part, name)
                least = _AT_LEAST.get(f"{section}.{name}", 0)
                # Written so that `nan` fails, too.
                if isinstance(value, (int, float)) and not value >= least:
                    raise UsageError(f"{section}.{name} is {value}: it must be at least {least}")
                most = _AT_MOST.get(f"{section}.{name}", math.inf)
                if isinstance(value, int) and value > most:
                    raise UsageError(f"{section}.{name} is {value}: it must be at most {most}")
                if value == math.inf:  # JSON, in which settings are noted, has none
                    raise UsageError(f"{section}.{name} is infinite: write a number")


def _check_operator(channel: str) -> None:
    try:
        check_channel(channel)
    except UsageError as error:
        raise UsageError(f"alerts.operators: {error}") from None


_AT_LEAST: dict[str, float] = {
    "crawl.parsers": 1,
    "crawl.sites": 1,
    "crawl.downloads": 1,
    "crawl.parse_timeout": 0.1,
    "crawl.stuck_after": 5.0,
    "crawl.commit_seconds": 0.01,
    "crawl.commit_pages": 1,
    "crawl.commit_bytes": 1,
    "crawl.hold_bytes": 1,
    "budget.batch": 1,
    "budget.per_site": 1,
    "budget.retries": 1,
    "budget.patience": 1,
    "budget.lease": 2,
    "revisit.every": 1,
    "crawl.stop_within": 0,
    "revisit.floor": 1,
    "feeds.floor": 1,
    "feeds.per_day": 0.001,
    "partition.most_parts": 1,
    "rank.iterations": 1,
    "serve.threads": 1,
    "serve.burst": 1,
}
"""The least value of the settings that cannot be 0."""

_AT_MOST: dict[str, int] = {
    "crawl.workers": 1024,
    "crawl.parsers": 64,
    "crawl.nice": 19,
    "browser.tabs": 64,
    "engine.workers": 1024,
    "partition.most_parts": 1024,
    "serve.threads": 256,
    "serve.port": 65535,
    "alerts.smtp_port": 65535,
}
"""Processes, threads and ports: a zero too many must not bring the machine down. `Crew` also looks at its memory."""


def load(data: Path, changes: dict[str, dict[str, Any]] | None = None) -> Settings:
    """The settings of a data folder, with changes by section and name from the command line."""
    path = data / FILE_NAME
    tables = _read(path) if path.exists() else {}
    for section, values in (changes or {}).items():
        if isinstance(tables.setdefault(section, {}), dict):
            tables[section].update(values)
    try:
        settings = msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        _check_each_field(tables.get("fields"), path)
        raise UsageError(f"{path if path.exists() else 'settings'}: {_plain(str(error))}") from error
    _check_unknown(tables, path)
    settings = _with_own_ranks(settings, data)
    settings.check()
    return settings


def _check_each_field(tables: Any, path: Path) -> None:
    """Name the field whose section has a value of a wrong type."""
    for name, values in tables.items() if isinstance(tables, dict) else ():
        try:
            msgspec.convert(values, FieldConfig)
        except msgspec.ValidationError as error:
            problem = str(error).replace("`$.", "`").replace(" - at ", " at ")
            raise UsageError(f"{path}: [fields.{name}]: {problem}") from error


def _with_own_ranks(settings: Settings, data: Path) -> Settings:
    """The strategy `earlier` goes by the ranks of its own data folder, where no others are named."""
    if settings.priority.ranks or not re.search(r"\bearlier\b", settings.crawl.strategy):
        return settings
    ranks = settings.engine.work or str(data.absolute())
    return msgspec.structs.replace(settings, priority=msgspec.structs.replace(settings.priority, ranks=ranks))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error


def _plain(message: str) -> str:
    if wrong := _WRONG_VALUE.fullmatch(message):
        value, section, name = wrong.groups()
        choices = get_args(get_type_hints(_kind(section))[name])
        return f"{section}.{name} is {value!r}: {hint(value, choices)}"
    return message.replace("`$.", "`").replace(" - at ", " at ")


_WRONG_VALUE = re.compile(r"Invalid enum value '(.*)' - at `\$\.(\w+)\.(\w+)`")


def _check_unknown(tables: dict[str, Any], path: Path) -> None:
    for section, values in tables.items():
        if section not in Settings.__struct_fields__:
            known = [f"[{name}]" for name in Settings.__struct_fields__]
            raise UsageError(f"{path}: unknown section [{section}]: {hint(f'[{section}]', known)}")
        if section in _NAMED:
            kind, _ = _NAMED[section]
            for name, one in values.items():
                _check_keys(one, kind, f'[{section}."{name}"]', path)
        else:
            internal = {name for part, name in _INTERNAL if part == section}
            _check_keys(values, type(getattr(Settings(), section)), f"[{section}]", path, internal)
    for rule in tables.get("scope", {}).get("filters", ()):
        _check_keys(rule, FilterRule, "a filter of [scope]", path)


def _check_keys(
    values: dict[str, Any], section: type[msgspec.Struct], where: str, path: Path, internal: Collection[str] = ()
) -> None:
    known = tuple(name for name in section.__struct_encode_fields__ if name not in internal)
    for key in values:
        if key not in known:
            raise UsageError(f"{path}: unknown setting {key} in {where}: {hint(key, known)}")


class Described(msgspec.Struct, frozen=True):
    """One setting as documentation shows it."""

    section: str
    name: str
    type: str
    default: Any
    sentence: str


def describe() -> Iterator[Described]:
    """All settings with their sentences, in order."""
    for section in Settings.__struct_fields__:
        kind = _kind(section)
        sentences = _field_sentences(kind)
        for field in msgspec.structs.fields(kind):
            if (section, field.name) in _INTERNAL:
                continue
            default = field.default if field.default is not msgspec.NODEFAULT else None
            if field.default_factory is not msgspec.NODEFAULT:
                default = field.default_factory()
            yield Described(
                section, field.encode_name, _type_name(kind, field.name), default, sentences.get(field.name, "")
            )


def header(section: str) -> str:
    """A section's name as it stands in a file, with a name of one's own where there may be several."""
    return f"{section}.{_NAMED[section][1]}" if section in _NAMED else section


def is_named(section: str) -> bool:
    """Whether there is such a section for each name."""
    return section in _NAMED


def _kind(section: str) -> type[msgspec.Struct]:
    return _NAMED[section][0] if section in _NAMED else type(getattr(Settings(), section))


def section_sentence(section: str) -> str:
    """What a section is about."""
    return " ".join((_kind(section).__doc__ or "").split("\n\n")[0].split())


def _type_name(kind: type, name: str) -> str:
    for klass in kind.__mro__:
        if name in getattr(klass, "__annotations__", {}):
            return str(klass.__annotations__[name])
    return ""


def _field_sentences(kind: type) -> dict[str, str]:
    """The docstring under each field, read from the source."""
    body = ast.parse(inspect.getsource(sys.modules[kind.__module__])).body
    found = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    sentences = {}
    for node, after in zip(found.body, found.body[1:], strict=False):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            sentences[node.target.id] = " ".join(str(after.value.value).split())
    return sentences


def template() -> str:
    """A `gossamer.toml` with every setting, its sentence and its default, commented out."""
    lines = ["# Settings of this crawl. Every line shows a default: remove the # and change it.", ""]
    section = ""
    for setting in describe():
        if setting.section != section:
            section = setting.section
            prefix = "# " if section in _NAMED else ""
            lines += ["", f"# {section_sentence(section)}", f"{prefix}[{header(section)}]"]
        lines.append(f"# {setting.sentence}")
        lines.append(f"# {setting.name} = {'# not set' if setting.default is None else toml_value(setting.default)}")
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (int, float)):
        return repr(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
