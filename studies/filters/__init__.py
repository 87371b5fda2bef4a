"""Filters that the crawler makes itself."""

from studies.filters.study import run

__all__ = ["run"]
