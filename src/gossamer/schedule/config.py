"""One line of the plan of `gossamer run`."""

from __future__ import annotations

import msgspec


class Schedule(msgspec.Struct, frozen=True):
    """An entry of the plan of `gossamer run`: a command and its times."""

    run: str = ""
    """A gossamer command without `--data`, such as `crawl --watch`, `rank`, `clusters` or `backup /srv/backup`."""
    every: str = ""
    """Time between two starts, such as `30m`, `6h` or `1d`."""
    at: str = ""
    """Time of day (`03:30`), of a week (`sun 03:30`) or of a month (`1 03:30`), local time."""
    always: bool = False
    """Whether to run it all the time: `gossamer run` starts it at once, and again whenever it ends."""
    serialise: bool = True
    """Whether this entry waits for others with this setting, so that they run one after another. Entries that run
    always neither wait nor are waited for."""
    most: str = ""
    """Longest time of one run, such as `6h`. `gossamer run` then asks it to end, and kills it a minute later. Empty: no
    limit."""
