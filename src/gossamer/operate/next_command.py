"""The command that a person should type next, with the options that they gave before.

Options are not remembered from one crawl to the next, so a command that is to succeed has to repeat them.
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
"""What the options of a crawl changed in the settings, by section and name."""


class Commands(msgspec.Struct, frozen=True):
    """How a person speaks to one data folder."""

    data: Path | None = None
    """The folder, None for the one that is taken without `--data`."""
    options: Options = {}
    """What the last `gossamer crawl` changed by its options."""
    running: bool = False
    """Whether a crawl is at work there: a second one is refused, but seeds can be added to it."""

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
        """Another verb."""
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
