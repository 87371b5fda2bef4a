"""Copies that grow old."""

from gossamer.lab.studies.freshness.study import run

__all__ = ["run"]
