"""Which sink a target names: `folder:PATH`, `webhook:URL`, `postgres:DSN`, `elasticsearch:URL`, `meilisearch:URL`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gossamer.alerts.saved_queries import webhook_guard
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.notify.channel import check_webhook, shown
from gossamer.notify.webhook import Webhooks, system_addresses
from gossamer.settings import Settings
from gossamer.sinks.contract import Sink, id_of
from gossamer.sinks.elasticsearch import Elasticsearch
from gossamer.sinks.hook import Hook
from gossamer.sinks.http_api import HttpApi
from gossamer.sinks.mark_file import MarkFile
from gossamer.sinks.markdown_folder import MarkdownFolder
from gossamer.sinks.meilisearch import Meilisearch

KEY = "GOSSAMER_SYNC_KEY"
"""Environment variable with the API key of a search engine: others see the command line."""


def open_sink(target: str, data: Path, settings: Settings) -> Sink:
    """The sink of a target; marks that it cannot keep itself are in the folder `sync` of the data folder."""
    kind, _, place = target.partition(":")
    if kind not in _KINDS or not place:
        raise UsageError(f"{target[:100]!r} is no target: write {', '.join(f'{name}:…' for name in _KINDS)}")
    return _KINDS[kind](place, data, settings)


def _folder(place: str, data: Path, settings: Settings) -> Sink:
    return MarkdownFolder(Path(place))


def _webhook(place: str, data: Path, settings: Settings) -> Sink:
    url = check_webhook(place)
    if not settings.alerts.secret:
        raise UsageError("no key to sign webhooks: set alerts.secret")
    overrides = settings.network.resolve
    webhooks = Webhooks(
        settings.alerts.secret,
        webhook_guard(settings.alerts),
        lambda host: [overrides[host]] if host in overrides else system_addresses(host),
    )
    return Hook(url, webhooks, _marks(data, f"webhook:{url}", shown(url)), SystemClock())


def _postgres(place: str, data: Path, settings: Settings) -> Sink:
    try:
        from gossamer.sinks.postgres_table import PostgresTable
    except ImportError as error:
        raise UsageError("PostgreSQL needs a package: pip install 'gossamer[postgres]'") from error
    return PostgresTable(place)


def _elasticsearch(place: str, data: Path, settings: Settings) -> Sink:
    api = HttpApi(place, "ApiKey", os.environ.get(KEY, ""))
    return Elasticsearch(api, _marks(data, f"elasticsearch:{api.name}", api.name))


def _meilisearch(place: str, data: Path, settings: Settings) -> Sink:
    api = HttpApi(place, "Bearer", os.environ.get(KEY, ""))
    return Meilisearch(api, _marks(data, f"meilisearch:{api.name}", api.name))


def _marks(data: Path, target: str, name: str) -> MarkFile:
    return MarkFile(data / "sync" / f"{id_of(target)}.json", name)


_KINDS: dict[str, Callable[[str, Path, Settings], Sink]] = {
    "folder": _folder,
    "webhook": _webhook,
    "postgres": _postgres,
    "elasticsearch": _elasticsearch,
    "meilisearch": _meilisearch,
}
