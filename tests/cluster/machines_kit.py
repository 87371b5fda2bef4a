"""Machines of a test: network namespaces with cables to switches, each machine with an address of its own.

A process belongs to the machine that its parent thread was on when it was started (`Machine.inside`). A cable that is
pulled at the switch tells neither side: what is sent is lost, as between two halves of a network that was cut.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from namespace_kit import run_alone

# PostgreSQL refuses to run as root; an ordinary user who may do everything to networks of its own is good for all.
_AS_USER = ["unshare", "-U", "--map-user=1000", "--map-group=1000", "--keep-caps", "-n"]
_START = "import os, sys; os.execvp('unshare', sys.argv[1:])"
_LOOPBACK = ["sh", "-c", 'ip link set lo up && exec "$0" "$@"']
_NEW_NETWORK = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def run_as_user(*arguments: str, seconds: float) -> str:
    """`run_alone` as an ordinary user who can make machines; skips where the system does not allow that."""
    if not _is_allowed():
        pytest.skip("this system allows no network namespaces below one of its own (unshare -U -n)")
    return run_alone("-c", _START, *_AS_USER, *_LOOPBACK, sys.executable, *arguments, seconds=seconds)


@functools.cache
def _is_allowed() -> bool:
    made = "ip link add switch type bridge && ip link add one type veth peer name other && unshare -n true"
    command = ["unshare", "-r", "-n", "-p", "-f", "--mount-proc", *_AS_USER, "sh", "-c", made]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


class Switch:
    """What cables of machines end at."""

    def __init__(self, name: str) -> None:
        self.name = name
        _ip("link", "add", name, "type", "bridge")
        _ip("link", "set", name, "up")


class Machine:
    """A network namespace; it lasts as long as this object, or a process on it."""

    def __init__(self, name: str) -> None:
        self.name = name
        home = _here()
        _check(_libc.unshare(_NEW_NETWORK))
        self._network = _here()
        _ip("link", "set", "lo", "up")
        _check(_libc.setns(home, _NEW_NETWORK))
        os.close(home)

    def connect(self, switch: Switch, *addresses: str) -> None:
        """A new cable; addresses as 10.0.0.1/24."""
        cable, network = f"{self.name}-{switch.name}", Path(f"/proc/{os.getpid()}/fd/{self._network}")
        _ip("link", "add", cable, "type", "veth", "peer", "name", switch.name, "netns", str(network))
        _ip("link", "set", cable, "master", switch.name, "up")
        with self.inside():
            for address in addresses:
                _ip("address", "add", address, "dev", switch.name)
            _ip("link", "set", switch.name, "up")

    def pull(self, switch: Switch) -> None:
        """Pull a cable out, at the switch."""
        _ip("link", "set", f"{self.name}-{switch.name}", "nomaster")

    def plug(self, switch: Switch) -> None:
        """Put it in again."""
        _ip("link", "set", f"{self.name}-{switch.name}", "master", switch.name)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What this thread opens or starts is on the machine."""
        home = _here()
        _check(_libc.setns(self._network, _NEW_NETWORK))
        try:
            yield
        finally:
            _check(_libc.setns(home, _NEW_NETWORK))
            os.close(home)


def _here() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _check(result: int) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
