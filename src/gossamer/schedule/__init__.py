"""When something is to be done next: pure arithmetic on times, without a clock of its own."""

from gossamer.schedule.plan import check

__all__ = ["check"]
