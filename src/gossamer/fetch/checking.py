"""Checks whether requests can be sent with the settings, for the many processes that read settings and send none.

So nothing here loads asyncio or the system's certificates, which take longer than all other settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.fetch.access import CookieJar
from gossamer.fetch.limits import FetchConfig
from gossamer.fetch.request import Heads
from gossamer.fetch.target import parse_overrides, parse_proxy


def check_fetch(config: FetchConfig, overrides: Mapping[str, str]) -> None:
    """Raise the `UsageError` that a `Resolver` with these addresses or a `Fetcher` would raise."""
    parse_overrides(overrides)
    config.check()
    proxy = parse_proxy(config.proxy)
    if config.ca_file:
        from gossamer.fetch.connect import tls_context  # asyncio and ssl: processes that fetch nothing do without

        tls_context(config)
    Heads(config, CookieJar(), proxy)
