"""Saving a query for a person: everything they gave is checked before it is kept."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressPolicy
from gossamer.model.fields import CustomFields
from gossamer.notify.channel import check_channel, is_mail, target_of
from gossamer.notify.config import AlertConfig
from gossamer.notify.message import one_line
from gossamer.search.query.language import parse, render
from gossamer.search.query.operators import OPERATORS
from gossamer.search.results import Request
from gossamer.tables import alerts
from gossamer.tables.alerts import Alert

_MOST_CHANNELS = 20
_FILTERS = {one.chosen.name: one.chosen.label for one in OPERATORS if one.chosen} | {"since": "dated within a"}


def save_query(
    db: Database, config: AlertConfig, name: str, request: Request, channels: Sequence[str], made_by: str, now: float,
    again: bool = False, fields: CustomFields = (),
) -> tuple[Alert, tuple[str, ...]]:  # fmt: skip
    """Save a query; what it finds from now on goes to the channels, and into its feed. With it come sentences about
    how the query was understood. A `UsageError` where something cannot be meant. `fields`: the operator's own."""
    query = parse(request.query, fields)
    if query.is_empty:
        raise UsageError("the query is empty: enter words, or a filter such as site:example.org")
    given = [check_channel(channel) for channel in channels]
    if len(given) > _MOST_CHANNELS:
        raise UsageError(f"an alert can have at most {_MOST_CHANNELS} channels: use a mailing list for more")
    check_sendable(config, given)
    kept = msgspec.structs.replace(request, query=render(query), page=1, size=10, sort="relevance", facets=False)
    encoded = msgspec.json.encode(kept).decode()
    return alerts.add(db, one_line(name), encoded, given, made_by, now, again), query.notices


def check_sendable(config: AlertConfig, channels: Sequence[str]) -> None:
    """A `UsageError` where the settings have no way to such a channel."""
    if any(is_mail(channel) for channel in channels) and not config.smtp_host:
        raise UsageError("no mail server: set alerts.smtp_host in gossamer.toml first")
    if not all(is_mail(channel) for channel in channels) and not config.secret:
        raise UsageError("no key to sign webhooks: set alerts.secret in gossamer.toml to a long random text first")
    guard = webhook_guard(config)
    for channel in channels:
        if not is_mail(channel):
            _check_address(target_of(channel).host, guard)


def webhook_guard(config: AlertConfig) -> AddressPolicy:
    """What judges the addresses of webhooks; without a contact nobody is crawled, but whoever is told wants to be."""
    return AddressPolicy(config.allow_networks, contact="the operator", way_in='write alerts.allow_networks = ["{}"]')


def _check_address(host: str, guard: AddressPolicy) -> None:
    """An address that is written out can be judged at once; a name is judged when a message is sent."""
    address = "127.0.0.1" if host == "localhost" else host
    verdict = guard.check(address)
    if not verdict.allowed and verdict.rule != "address.syntax":
        raise UsageError(f"Gossamer may not send to the webhook's host {host}: {verdict.reason} (gossamer.toml)")


def request_of(alert: Alert) -> Request:
    """The request of a saved query."""
    return msgspec.json.decode(alert.request, type=Request)


def described(request: Request) -> str:
    """A request in one line, for a person."""
    chosen = [f"{words} {value}" for name, words in _FILTERS.items() if (value := getattr(request, name))]
    return " · ".join([request.query, *chosen])
