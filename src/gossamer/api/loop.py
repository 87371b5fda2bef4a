"""How far the loops of programs have come in a data folder: what one has not been given, the next one gets.

The file holds the name of the crawl and a position among its changes (`api.changes`). It is written after the loop's
body is done with a page, and when a program dies in the middle, the next loop begins with that page.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from gossamer.api.changes import Position, position_of
from gossamer.errors import StorageError, UsageError

_START = Position(1, 0)


class LoopPlace:
    """The place of the loop over a crawl's pages."""

    def __init__(self, run: Path, crawl: str) -> None:
        """`run`: the folder `run` of the data folder; `crawl`: the name of the crawl, as another may follow there."""
        self._path, self._crawl = run / "loop.json", crawl
        self.position = self._read()

    def move(self, position: Position) -> None:
        """All up to here was given, and the program is done with it."""
        if position == self.position:
            return
        self.position = position
        made = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            made.write_text(json.dumps({"crawl": self._crawl, "position": str(position)}))
            made.replace(self._path)
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}: check its folder") from error

    def _read(self) -> Position:
        with suppress(OSError, ValueError, KeyError, TypeError, UsageError):
            noted = json.loads(self._path.read_text())
            if noted["crawl"] == self._crawl:
                return position_of(noted["position"])
        return _START
