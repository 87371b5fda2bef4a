"""Filters that the crawler makes itself."""

from gossamer.lab.studies.filters.study import run

__all__ = ["run"]
