"""What a figure for monitoring is: its name, and what exactly it says.

Code that gives figures, `docs/metrics.md` and the dashboard all go by these definitions.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Metric(msgspec.Struct, frozen=True):
    """One metric, named as Prometheus has it: base units, and `_total` at the end of what only grows."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    """What is counted or measured, such as `seconds` or `URLs`."""
    sentence: str
    labels: tuple[str, ...] = ()

    @property
    def series(self) -> tuple[str, ...]:
        """The names under which it can be asked for."""
        if self.kind == "histogram":
            return tuple(f"{self.name}_{part}" for part in ("bucket", "sum", "count"))
        return (self.name,)
