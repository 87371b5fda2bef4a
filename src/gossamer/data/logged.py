"""Sets up logs by the settings of a data folder, for processes that know a folder and nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from gossamer import logs
from gossamer.settings import FILE_NAME, LogSettings


def configure_logs(data: Path, role: str) -> None:
    """Write logs by the settings of this folder, or by the defaults if they cannot be read, which others report."""
    wanted = log_settings(data)
    logs.configure(wanted.format, wanted.level, role)


def log_settings(data: Path) -> LogSettings:
    """The section [logs] alone: it has to be known before anything can go wrong with the rest."""
    try:
        tables = tomllib.loads((data / FILE_NAME).read_text(encoding="utf-8"))
        return msgspec.convert(tables.get("logs", {}), LogSettings)
    except (OSError, ValueError):
        return LogSettings()
