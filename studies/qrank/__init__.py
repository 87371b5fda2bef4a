"""Importance told from a URL alone."""

from studies.qrank.study import run

__all__ = ["run"]
