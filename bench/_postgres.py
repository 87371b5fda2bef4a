"""The database server of the tests, for benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from kit.postgres import PostgresServer, has_postgres

__all__ = ["PostgresServer", "has_postgres"]
