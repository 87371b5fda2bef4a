"""Commands in a network and a process table of their own.

What is started in there reaches nothing but itself, and nothing of it is left when the command has ended or took too
long: with the first process of a process table all others end.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONTRACT = HERE.parent / "contract"
_ALONE = ["unshare", "-r", "-n", "-p", "-f", "--kill-child=SIGKILL", "--mount-proc"]


def run_alone(*arguments: str, seconds: float, python: str = sys.executable, **environment: str) -> str:
    """Run Python with these arguments, loopback up; its output. Fails the test where it fails or takes too long."""
    if not _is_allowed():
        pytest.skip("this system allows no network namespace (unshare -rn)")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "RAY_"))}
    # A folder of its own, gone with the rest; short, since sockets lie in it and their paths may not be long.
    with tempfile.TemporaryDirectory(prefix="g", dir="/tmp", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [*_ALONE, "sh", "-c", 'ip link set lo up && "$0" "$@"; exit $?', python, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**inherited, "PYTHONPATH": f"{HERE}{os.pathsep}{CONTRACT}", "TMPDIR": folder, **environment},
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            pytest.fail(f"not done after {seconds} s:\n{output}")
        finally:
            process.kill()
    assert process.returncode == 0, output
    return output


@functools.cache
def _is_allowed() -> bool:
    command = [*_ALONE, "sh", "-c", "ip link set lo up"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
