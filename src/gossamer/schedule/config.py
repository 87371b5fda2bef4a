"""One line of the plan of `gossamer run`."""

from __future__ import annotations

import msgspec


class Schedule(msgspec.Struct, frozen=True):
    """What is run, and when: `[schedules.NAME]`."""

    run: str = ""
    """A gossamer command without `--data`, such as `crawl --watch`, `rank`, `clusters` or `backup /srv/backup`."""
    every: str = ""
    """Time between two starts, such as `30m`, `6h` or `1d`."""
    at: str = ""
    """Time of day (`03:30`), of a week (`sun 03:30`) or of a month (`1 03:30`), local time."""
    always: bool = False
    """Whether it is to run all the time: started at once, and again when it ends."""
    serialise: bool = True
    """Whether it waits for other work of the plan that does not run all the time."""
    most: str = ""
    """Time that one run may take, such as `6h`: it is told to end then, and killed a minute later. Empty: any time."""
