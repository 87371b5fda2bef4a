"""The cost of a growing table."""

from studies.growth.study import run

__all__ = ["run"]
