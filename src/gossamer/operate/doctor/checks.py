"""`gossamer doctor`: everything that can be wrong around a crawl, looked at one by one. Nothing is changed.

A check is a small function that looks at one thing and gives findings: ok, warn or bad, a sentence, and what to do.
A check that fails itself is a finding, too: what cannot be looked at cannot be trusted.
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
    """What a check found."""

    check: str
    state: State
    sentence: str
    advice: str = ""
    """What to do; empty where all is well."""


class Patient:
    """What is examined: a data folder, its settings and its database, as far as they can be opened."""

    def __init__(
        self, data: Path, load: Callable[[Path], Settings], clock: Clock, deep: bool = False, network: bool = False
    ) -> None:
        """`load`: the settings in force in a folder. `deep`: read all that is stored; `network`: ask other machines."""
        self.data, self.clock, self.deep, self.network = data, clock, deep, network
        self._load = load

    @cached_property
    def loaded(self) -> Settings | GossamerError:
        """The settings, or why there are none."""
        try:
            return self._load(self.data)
        except GossamerError as error:
            return error

    @property
    def settings(self) -> Settings:
        """The settings; the defaults where they cannot be read, which is a finding of its own."""
        return self.loaded if isinstance(self.loaded, Settings) else Settings()

    @cached_property
    def folder(self) -> DataFolder:
        """The folder; where its settings do not say where the crawl lies, it lies in the folder."""
        try:
            return DataFolder(self.data)
        except GossamerError:
            return DataFolder(self.data, StorageConfig())

    @cached_property
    def opened(self) -> Database | GossamerError | None:
        """The database for reading, why it cannot be read, or None where there is no crawl yet."""
        try:
            return self.folder.read() if self.folder.has_crawl() else None
        except GossamerError as error:
            return error

    @property
    def database(self) -> Database | None:
        """The database, where it can be read."""
        return self.opened if isinstance(self.opened, Database) else None

    def close(self) -> None:
        """Let go of the database."""
        if self.database is not None:
            self.database.close()


Check = Callable[[Patient], Iterable[Finding]]


def examine(patient: Patient, checks: Iterable[Check]) -> Iterator[Finding]:
    """All findings, one after the other."""
    for check in checks:
        name = check.__name__.replace("_", " ").strip()
        try:
            yield from check(patient)
        except GossamerError as error:
            yield Finding(name, "bad", str(error), "put that right and run this again")
        except Exception as error:  # a check must not keep the others from being made
            sentence = f"this check failed itself: {type(error).__name__}: {error}"
            yield Finding(name, "bad", " ".join(sentence.split()), "look at what it names; else report it as a bug")


def ok(check: str, sentence: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", sentence)


def warn(check: str, sentence: str, advice: str) -> Finding:
    """It works, but somebody should look."""
    return Finding(check, "warn", sentence, advice)


def bad(check: str, sentence: str, advice: str) -> Finding:
    """It does not work, or will not for long."""
    return Finding(check, "bad", sentence, advice)
