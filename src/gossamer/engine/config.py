"""The settings of engines, apart from them: all processes read these, few of them run a job."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from gossamer.errors import UsageError


class EngineConfig(msgspec.Struct, frozen=True):
    """Where jobs run: link graph, ranks, clusters, full index builds."""

    kind: Literal["local", "ray", "spark"] = "local"
    """local: the cores of this machine; ray or spark: a cluster that you started."""
    url: str = ""
    """Address of the cluster, such as `10.0.0.1:6379` or `ray://10.0.0.1:10001` for Ray, `spark://10.0.0.1:7077` or
    `yarn` for Spark."""
    workers: int = 0
    """Job tasks that run at the same time; 0: one per core."""
    work: str = ""
    """Folder or `s3://bucket/prefix` for temporary files of jobs, which all machines reach under this name; empty: the
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
