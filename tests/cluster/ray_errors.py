"""What people are told about a cluster that cannot be used: run by test_ray_contract.py, alone in a network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ray_kit import ADDRESS, Cluster, cluster

from gossamer.engine.config import EngineConfig
from gossamer.engine.opening import open_engine
from gossamer.errors import OperationError, UsageError


@pytest.fixture(scope="module")
def machines() -> Iterator[Cluster]:
    with cluster() as found:
        found.add(cores=1)
        yield found


def joined(url: str = ADDRESS) -> None:
    open_engine(EngineConfig(kind="ray", url=url)).close()


def test_nobody_listens() -> None:
    with pytest.raises(OperationError, match=r"no Ray cluster answers at 127\.0\.0\.1:6390 \(Connection refused\)"):
        joined("127.0.0.1:6390")


def test_who_listens_does_not_answer() -> None:
    with (
        socket.create_server(("127.0.0.1", 6391)),
        pytest.raises(OperationError, match=r"no Ray cluster answers at 127\.0\.0\.1:6391 \(timed out\)"),
    ):
        joined("127.0.0.1:6391")


def test_somebody_else_listens() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 6392), SimpleHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(OperationError, match=r"what listens at 127\.0\.0\.1:6392 is not a Ray cluster"):
            joined("127.0.0.1:6392")
        other.shutdown()


@pytest.mark.parametrize("url", ["", "somewhere", "http://127.0.0.1:6379", "127.0.0.1:port"])
def test_not_an_address(url: str) -> None:
    with pytest.raises(UsageError, match=r"engine\.url"):
        joined(url)


def test_another_version_of_ray(machines: Cluster) -> None:
    script = f"import ray; ray.__version__ = '1.0'; from ray_errors import joined; joined({ADDRESS!r})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "OperationError: the cluster at 127.0.0.1:6379 runs another version of Ray or Python" in run.stderr


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("raise ModuleNotFoundError(\"No module named 'gossamer'\")", "gossamer is not installed .* on "),
        ("__version__ = '0.0.1'", r"gossamer is 0\.0\.1 on "),
    ],
)
def test_a_machine_without_this_version_of_the_package(
    machines: Cluster, tmp_path: Path, package: str, message: str
) -> None:
    (tmp_path / "gossamer").mkdir()
    (tmp_path / "gossamer" / "__init__.py").write_text(package)
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    other = machines.add(cores=1, PYTHONPATH=path)
    try:
        with pytest.raises(OperationError, match=message):
            joined()
    finally:
        machines.kill(other)
