"""The engines that the contract is put to."""

from __future__ import annotations

import os
from pathlib import Path

from gossamer.engine.config import EngineConfig
from gossamer.engine.contract import Engine, InlineEngine
from gossamer.engine.opening import open_engine

CLUSTER_KIND = os.environ.get("GOSSAMER_TEST_ENGINE", "")
CLUSTER_URL = os.environ.get("GOSSAMER_TEST_ENGINE_URL", "")
KINDS = (CLUSTER_KIND,) if CLUSTER_KIND else ("inline", "local")


def made(kind: str) -> Engine:
    if kind == "inline":
        return InlineEngine()
    return open_engine(EngineConfig(kind=kind, url=CLUSTER_URL, workers=0 if CLUSTER_URL else 3))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
