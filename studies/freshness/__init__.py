"""Copies that grow old."""

from studies.freshness.study import run

__all__ = ["run"]
