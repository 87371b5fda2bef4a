"""Whether requests can be sent by the settings: every process that reads them finds out, few of them send any.

So nothing here loads asyncio or the certificates of the system, which take longer than all other settings.
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
        from gossamer.fetch.connect import tls_context  # asyncio and ssl: processes that fetch nothing go without

        tls_context(config)
    Heads(config, CookieJar(), proxy)
