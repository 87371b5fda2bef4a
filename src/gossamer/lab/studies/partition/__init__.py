"""One site over several crawlers."""

from gossamer.lab.studies.partition.study import run

__all__ = ["run"]
