"""The machines of a Ray cluster that the user started; this module alone imports Ray.

Only tasks are used: no actors, no Ray Data, no object that two tasks share. So what Ray must be trusted with is small:
run this somewhere, and again where the machine died. It notices that after 13 to 66 seconds, unless its health checks
are set tighter. A cluster listens on all interfaces without asking who calls: keep it in a closed network.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlsplit

# Read when Ray is imported: nothing is reported to anybody, and its notices do not get into what a command prints.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gossamer import __version__
from gossamer.engine.tasks import attempt, died, pack, title, unpack
from gossamer.errors import OperationError, UsageError

A = TypeVar("A")
R = TypeVar("R")

_KNOCK = 5.0
"""Seconds the cluster has to answer a first call: Ray itself would try for minutes."""

_PROBE = 60.0
"""Seconds each machine has to say which version it has; it starts a process for it."""

_DEATHS = 4
"""Times a task is begun at most: more than on one machine, since here a machine may die that did nothing wrong."""

_AHEAD = 2
"""Tasks under way for each that can run: so that none waits for the way to and fro, and no queue grows."""


class RayEngine:
    """Runs tasks on a cluster; joins it now, and leaves it at `close`."""

    name = "ray"

    def __init__(self, url: str, workers: int = 0) -> None:
        self._joined = not ray.is_initialized()
        if self._joined:
            _join(url)
        try:
            nodes = _probed(url)
            cores = int(sum(node["Resources"]["CPU"] for node in nodes))
            self.workers = min(workers or cores, cores)
            self.single_machine = len({node["NodeManagerAddress"] for node in nodes}) == 1
        except BaseException:
            self.close()
            raise
        self._attempt = ray.remote(attempt).options(
            num_cpus=1, max_retries=_DEATHS - 1, retry_exceptions=False, scheduling_strategy="SPREAD"
        )

    def run(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
        """The results as they come; what is unfinished when the caller stops listening is cancelled."""
        places = iter(range(len(arguments)))
        under_way: dict[Any, int] = {}
        try:
            while True:
                for place in islice(places, self.workers * _AHEAD - len(under_way)):
                    under_way[self._attempt.remote(pack(function, arguments, place))] = place
                if not under_way:
                    return
                (ready, *_), _ = ray.wait(list(under_way), num_returns=1)
                place = under_way.pop(ready)
                yield place, unpack(_outcome(ready, title(function, place, len(arguments))))
        finally:
            for unwanted in under_way:
                ray.cancel(unwanted, force=True)

    def close(self) -> None:
        """Leave the cluster, which goes on; one that the caller had joined before is not left."""
        if self._joined:
            ray.shutdown()


def _join(url: str) -> None:
    _knock(url)
    try:
        ray.init(address=url, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        ray.shutdown()
        message = " ".join(str(error).split())
        if "ersion mismatch" in message:
            raise OperationError(
                f"the cluster at {url} runs another version of Ray or Python than this machine: "
                f"install the same on all ({message})"
            ) from error
        if isinstance(error, ImportError):
            raise UsageError(f"{url}: what starts with ray:// needs more of Ray: pip install 'ray[client]'") from error
        raise OperationError(f"cannot join the Ray cluster at {url}: {message or type(error).__name__}") from error


def _knock(url: str) -> None:
    parts = urlsplit(url if "://" in url else f"ray://{url}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"engine.url: {url}: {error}") from error
    if not host or not port or parts.scheme != "ray":
        raise UsageError(f"engine.url: {url!r} is not the address of a Ray cluster, such as 10.0.0.1:6379")
    try:
        with socket.create_connection((host, port), _KNOCK) as connection:
            is_alive = "RAY_USE_TLS" in os.environ or _speaks_http2(connection)
    except OSError as error:
        raise OperationError(
            f"no Ray cluster answers at {url} ({error.strerror or error}): is it started (ray start --head)?"
        ) from error
    if not is_alive:
        raise OperationError(f"what listens at {url} is not a Ray cluster")


def _speaks_http2(connection: socket.socket) -> bool:
    """Whether the other side greets as gRPC does, which Ray speaks: with a frame of settings (type 4)."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    return connection.recv(9, socket.MSG_WAITALL)[3:4] == b"\4"


def _probed(url: str) -> list[dict[str, Any]]:
    """The machines that run tasks. Each must have the package, in the same version: no job finds out in the middle."""

    def version() -> str:  # travels as code, not by its name: a machine without the package can run it, too
        try:
            import gossamer
        except ImportError as error:
            return f"not installed ({error})"
        return gossamer.__version__

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]  # type: ignore[no-untyped-call]  # Ray's
    asked = [
        ray.remote(version)
        .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote()
        for node in nodes
    ]
    if not (found := [node for node, answer in zip(nodes, asked, strict=True) if _is_ours(node, answer)]):
        raise OperationError(f"the Ray cluster at {url} has no machine that runs tasks")
    return found


def _is_ours(node: dict[str, Any], answer: Any) -> bool:
    """Whether a machine can be used; False where it died just now."""
    machine = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
    try:
        version = ray.get(answer, timeout=_PROBE)
    except GetTimeoutError as error:
        raise OperationError(f"{machine} of the Ray cluster does not answer within {_PROBE:.0f} s") from error
    except RayTaskError as error:
        raise OperationError(f"{machine} of the Ray cluster cannot run a task: {_first_line(error.cause)}") from error
    except RayError:
        return False
    if version != __version__:
        raise OperationError(f"gossamer is {version} on {machine} and {__version__} here: install the same on all")
    return True


def _outcome(ready: Any, name: str) -> bytes:
    try:
        outcome: bytes = ray.get(ready)
    except RayTaskError as error:
        raise OperationError(
            f"{name} could not be begun: {_first_line(error.cause)}; is gossamer {__version__} on every machine?"
        ) from error
    except RayError as error:
        raise died(name, _first_line(error), _DEATHS) from error
    return outcome


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
