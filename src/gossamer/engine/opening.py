"""Which engine, by the settings."""

from __future__ import annotations

from typing import Protocol

from gossamer.engine.config import EngineConfig
from gossamer.engine.contract import Engine
from gossamer.engine.local import LocalEngine
from gossamer.errors import UsageError


def open_engine(config: EngineConfig) -> Engine:
    """The engine that the settings name; the caller closes it."""
    config.check()
    if config.kind == "local":
        return LocalEngine(config.workers)
    engine = _open_ray(config) if config.kind == "ray" else _open_spark(config)
    if not engine.single_machine and not config.work:
        engine.close()
        raise UsageError(
            f"the cluster at {config.url} has several machines: engine.work must name a folder or s3://bucket/prefix "
            "that all of them reach"
        )
    return engine


class _Remote(Engine, Protocol):
    single_machine: bool


def _open_ray(config: EngineConfig) -> _Remote:
    try:
        from gossamer.engine.ray import RayEngine
    except ImportError as error:
        raise UsageError(f"engine.kind is ray: pip install 'gossamer[cluster]' ({error})") from error
    return RayEngine(config.url, config.workers)


def _open_spark(config: EngineConfig) -> _Remote:
    try:
        from gossamer.engine.spark import SparkEngine
    except ImportError as error:
        raise UsageError(f"engine.kind is spark: pip install pyspark ({error})") from error
    return SparkEngine(config.url, config.workers)
