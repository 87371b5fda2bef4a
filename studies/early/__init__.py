"""Duplicates removed before they are indexed."""

from studies.early.study import run

__all__ = ["run"]
