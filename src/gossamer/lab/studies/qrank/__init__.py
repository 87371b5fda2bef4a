"""Importance told from a URL alone."""

from gossamer.lab.studies.qrank.study import run

__all__ = ["run"]
