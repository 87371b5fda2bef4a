"""Near duplicates."""

from studies.duplicates.study import run

__all__ = ["run"]
