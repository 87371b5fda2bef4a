"""One site over several crawlers."""

from studies.partition.study import run

__all__ = ["run"]
