"""The command that a person should type next, with the options that they gave before.

A crawl does not remember the options of the last one, so the command has to repeat them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

_REPEATED = {
    ("crawl", "contact"): "--contact",
    ("crawl", "workers"): "--workers",
    ("crawl", "strategy"): "--strategy",
    ("scope", "mode"): "--scope",
    ("scope", "hosts"): "--host",
    ("scope", "depth"): "--depth",
    ("scope", "sitemaps"): "--sitemaps",
    ("politeness", "delay"): "--delay",
    ("network", "allow"): "--allow-network",
    ("network", "resolve"): "--resolve",
    ("browser", "mode"): "--javascript",
    ("fetch", "ca_file"): "--ca-file",
}
"""Settings that an option of `gossamer crawl` with a value changes."""
_SWITCHES = {
    ("crawl", "archive", False): "--no-archive",
    ("crawl", "index", False): "--no-index",
    ("crawl", "watch", True): "--watch",
}

Options = Mapping[str, Mapping[str, Any]]
"""Settings that the options of a crawl changed, by section and name."""


class Commands(msgspec.Struct, frozen=True):
    """Builds commands for one data folder."""

    data: Path | None = None
    """The folder; None for the default one, without `--data`."""
    options: Options = {}
    """Settings that the options of the last `gossamer crawl` changed."""
    running: bool = False
    """Whether a crawl is running: it refuses a second one, but takes more seeds."""

    def crawl(self, *seeds: str, **more: Mapping[str, Any]) -> str:
        """Crawl these seeds as before, with further changes of the settings by section."""
        if self.running and not more:
            return self._line(["inject", *seeds] if seeds else ["status"])
        words = ["crawl", *seeds]
        for (section, name), option in _REPEATED.items():
            given = [*_values(self.options, section, name), *_values(more, section, name)]
            if option in ("--host", "--allow-network", "--resolve"):
                words += [word for value in dict.fromkeys(given) for word in (option, value)]
            elif given:
                words += [option, given[-1]]
        words += [
            switch
            for (section, name, value), switch in _SWITCHES.items()
            if {**self.options.get(section, {}), **more.get(section, {})}.get(name) is value
        ]  # fmt: skip
        return self._line(words)

    def verb(self, *words: str) -> str:
        """Any other command."""
        return self._line(words)

    def _line(self, words: Sequence[str]) -> str:
        folder = [] if self.data is None else ["--data", str(self.data)]
        return shlex.join(["gossamer", *words, *folder])


def _values(changes: Options, section: str, name: str) -> list[str]:
    value = changes.get(section, {}).get(name)
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{key}={one}" for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return [f"{value:g}" if isinstance(value, float) else str(value)]
