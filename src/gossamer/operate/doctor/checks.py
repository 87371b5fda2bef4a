"""`gossamer doctor`: checks everything that can be wrong around a crawl, and changes nothing.

A check is a small function that looks at one thing and yields findings: ok, warn or bad, a sentence, and advice. A
check that crashes is a finding, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig

State = Literal["ok", "warn", "bad"]


class Finding(msgspec.Struct, frozen=True):
    """The result of a check."""

    check: str
    state: State
    sentence: str
    advice: str = ""
    """What to do; empty if all is well."""


class Patient:
    """The data folder to check, its settings and its database, as far as they can be opened."""

    def __init__(
        self, data: Path, load: Callable[[Path], Settings], clock: Clock, deep: bool = False, network: bool = False
    ) -> None:
        """`load` reads a folder's settings. `deep`: read all stored files; `network`: connect to other machines."""
        self.data, self.clock, self.deep, self.network = data, clock, deep, network
        self._load = load

    @cached_property
    def loaded(self) -> Settings | GossamerError:
        """The settings, or the error that keeps them from being read."""
        try:
            return self._load(self.data)
        except GossamerError as error:
            return error

    @property
    def settings(self) -> Settings:
        """The settings, or the defaults if they cannot be read; another check reports that."""
        return self.loaded if isinstance(self.loaded, Settings) else Settings()

    @cached_property
    def folder(self) -> DataFolder:
        """The folder; if the settings do not say where the crawl is, the folder itself."""
        try:
            return DataFolder(self.data)
        except GossamerError:
            return DataFolder(self.data, StorageConfig())

    @cached_property
    def opened(self) -> Database | GossamerError | None:
        """The database for reading, the error if it cannot be read, or None if there is no crawl yet."""
        try:
            return self.folder.read() if self.folder.has_crawl() else None
        except GossamerError as error:
            return error

    @property
    def database(self) -> Database | None:
        """The database, if it can be read."""
        return self.opened if isinstance(self.opened, Database) else None

    def close(self) -> None:
        """Close the database."""
        if self.database is not None:
            self.database.close()


Check = Callable[[Patient], Iterable[Finding]]


def examine(patient: Patient, checks: Iterable[Check]) -> Iterator[Finding]:
    """Run all checks."""
    for check in checks:
        name = check.__name__.replace("_", " ").strip()
        try:
            yield from check(patient)
        except GossamerError as error:
            yield Finding(name, "bad", str(error), "fix that and run this again")
        except Exception as error:  # a check that fails must not stop the others
            sentence = f"this check crashed: {type(error).__name__}: {error}"
            yield Finding(name, "bad", " ".join(sentence.split()), "fix what the error names, or report it as a bug")


def ok(check: str, sentence: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", sentence)


def warn(check: str, sentence: str, advice: str) -> Finding:
    """It works, but an operator should look."""
    return Finding(check, "warn", sentence, advice)


def bad(check: str, sentence: str, advice: str) -> Finding:
    """It does not work, or will not for long."""
    return Finding(check, "bad", sentence, advice)
