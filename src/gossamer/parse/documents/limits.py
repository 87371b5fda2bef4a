"""What a document may cost, and how reading ends before its end."""

from __future__ import annotations

from gossamer.parse.limits import ParseLimits

MAX_DEPTH = 400
"""Elements inside each other. A table in a table in a text box has some fifty."""
MAX_ELEMENTS = 2_000_000
"""Elements, marks or commands of a document that are read: about three seconds."""


class Bomb(Exception):  # noqa: N818 - it is what was found
    """The document is built to exhaust its reader. The message says how."""


class Unreadable(Exception):  # noqa: N818 - it is what was found
    """There is nothing here to read: a password, another format under a wrong name, damage."""


class Full(Exception):  # noqa: N818 - it is an event
    """Enough was read: the rest is left out."""


class Budget:
    """What is left for a document."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limit = self._bytes = limits.max_unpacked
        self._elements = MAX_ELEMENTS

    def renew_elements(self) -> None:
        """So many may be read again: what comes is worth more than what was read."""
        self._elements = MAX_ELEMENTS

    def take_bytes(self, count: int) -> None:
        """So many bytes were unpacked."""
        self._bytes -= count
        if self._bytes < 0:
            raise Bomb(f"it unpacks to more than {self._limit} bytes (parse.max_unpacked)")

    def take_elements(self, count: int = 1) -> None:
        """So many elements were read."""
        self._elements -= count
        if self._elements < 0:
            raise Full
