"""Which engine, by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gossamer.engine.contract import Engine
from gossamer.engine.local import LocalEngine
from gossamer.errors import UsageError


class EngineConfig(msgspec.Struct, frozen=True):
    """Where jobs run: link graph, ranks, clusters, full index builds."""

    kind: Literal["local", "ray", "spark"] = "local"
    """local: the cores of this machine; ray or spark: a cluster that you started."""
    url: str = ""
    """Address of the cluster, such as `10.0.0.1:6379` or `ray://10.0.0.1:10001` for Ray, `spark://10.0.0.1:7077` or
    `yarn` for Spark."""
    workers: int = 0
    """Tasks that run at once; 0: as many as there are cores."""
    work: str = ""
    """Folder or `s3://bucket/prefix` for files between tasks, which all machines reach under this name; empty: the
    folder `jobs` in the data folder."""

    def check(self) -> None:
        """Raise a `UsageError` for what does not go together."""
        if self.kind == "local" and self.url:
            raise UsageError('engine.url is set, but engine.kind is local: set it to "ray" or "spark"')
        if self.kind != "local" and not self.url:
            raise UsageError(f"engine.kind is {self.kind}: engine.url must be the address of the cluster")

    def work_url(self, data: Path) -> str:
        """Where files between tasks lie, for `store.place.open_place`."""
        return self.work or str((data / "jobs").absolute())


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
