"""A small adapter for sites that have Spark, on YARN for example; this module alone imports pyspark.

A stage is one Spark job. Spark runs again what an executor had that died; the results come together at the end of the
stage.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError

from gossamer import __version__
from gossamer.engine.tasks import attempt, died, pack, title, unpack
from gossamer.errors import OperationError

A = TypeVar("A")
R = TypeVar("R")

_SLICES = 8
"""Pieces of a stage for each that can run at once, at most: each costs Spark a good part of a second."""

_DEATH = re.compile(r"Task (\d+) in stage \S+ failed (\d+) times.*?: (Python worker[\w ]*|Executor\w* .*)")
"""How Spark says that the process of a slice died too often."""


class SparkEngine:
    """Runs tasks on a Spark cluster; joins it now, and leaves it at `close`."""

    name = "spark"

    def __init__(self, url: str, workers: int = 0) -> None:
        self._owned = SparkContext._active_spark_context is None
        self._context = _context(url)
        self.workers = workers or int(self._context.defaultParallelism)
        self.single_machine = url.startswith("local")

    def run(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
        """The results in order, when all are there."""
        if not arguments:
            return
        tasks = [pack(function, arguments, place) for place in range(len(arguments))]
        slices = min(len(tasks), self.workers * _SLICES)
        try:
            outcomes = self._context.parallelize(tasks, slices).map(attempt).collect()
        except Py4JJavaError as error:
            raise _explained(error, function, len(tasks), slices) from error
        for place, outcome in enumerate(outcomes):
            yield place, unpack(outcome)

    def close(self) -> None:
        """Leave the cluster, which goes on; a context that the caller had made before is not stopped."""
        if self._owned:
            self._context.stop()


def _context(url: str) -> Any:
    logging.getLogger("py4j").setLevel(logging.ERROR)
    settings = SparkConf().setMaster(url).setAppName("gossamer").set("spark.ui.enabled", "false")
    settings = settings.set("spark.ui.showConsoleProgress", "false")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        settings = settings.set(f"spark.executorEnv.{name}", "1")
    if url.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nobody outside has to reach it
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        context = SparkContext.getOrCreate(settings)
    except PySparkRuntimeError as error:
        raise OperationError(f"Spark does not start: is Java 17 or newer installed? ({_line(str(error))})") from error
    except Py4JJavaError as error:
        raise OperationError(f"cannot join the Spark cluster at {url}: {_line(str(error.java_exception))}") from error
    context.setLogLevel("OFF")  # what goes wrong is raised
    return context


def _explained(error: Py4JJavaError, function: Callable[[A], R], count: int, slices: int) -> OperationError:
    message = str(error.java_exception)
    if "No module named 'gossamer'" in message:
        return OperationError(f"gossamer is not installed on every machine of the Spark cluster: install {__version__}")
    if found := _DEATH.search(message):
        slice_ = int(found[1])
        first, others = slice_ * count // slices, (slice_ + 1) * count // slices - slice_ * count // slices - 1
        name = title(function, first, count) + (f" (or one of the {others} after it)" if others else "")
        return died(name, found[3], int(found[2]))
    return OperationError(f"the Spark cluster could not run the stage: {_line(message)}")


def _line(message: str) -> str:
    return " ".join(message.split())[:300]
