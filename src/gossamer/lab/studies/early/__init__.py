"""Duplicates removed before they are indexed."""

from gossamer.lab.studies.early.study import run

__all__ = ["run"]
