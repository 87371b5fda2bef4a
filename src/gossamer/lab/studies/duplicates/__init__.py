"""Near duplicates."""

from gossamer.lab.studies.duplicates.study import run

__all__ = ["run"]
