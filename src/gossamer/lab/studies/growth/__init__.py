"""The cost of a growing table."""

from gossamer.lab.studies.growth.study import run

__all__ = ["run"]
