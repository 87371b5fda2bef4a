"""A server in a process of its own: it outlives kills and takes no time from the crawler's.

The parent writes pickled apps to the child's standard input; the child serves the
newest and answers each with one line. When the input ends, because the parent
stopped it or died, the child ends too.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import uvloop

from gossamer.demo.local import Hosts, drain
from gossamer.demo.server import App, Server
from gossamer.errors import OperationError, UsageError
from gossamer.testing.log import LogWriter


class ServerProcess:
    """The parent's end."""

    def __init__(self, app: App, hosts: Hosts, log: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._child = subprocess.Popen(
            [sys.executable, "-c", "from gossamer.testing.process import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # a signal to the crawler's process group is not for us
        )
        self.pid = self._child.pid
        try:
            self._tell((hosts.addresses, hosts.port, str(log)))
            self.replace(app)
        except BaseException:
            self.stop()
            raise

    def replace(self, app: App) -> None:
        """Serves another app from now on."""
        self._tell(app)
        answer = cast(BinaryIO, self._child.stdout).readline().decode().strip()
        if answer != "serving":
            raise OperationError(f"the web server's process failed: {answer or 'it ended'}")

    def _tell(self, value: object) -> None:
        try:
            data = pickle.dumps(value)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(f"in a process, handlers must be module-level functions: {error}") from error
        pipe = cast(BinaryIO, self._child.stdin)
        try:
            pipe.write(data)
            pipe.flush()
        except BrokenPipeError as error:
            raise OperationError("the web server's process has ended") from error

    def stop(self) -> None:
        """Ends the process and waits for it."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


async def _serve(pipe: BinaryIO) -> None:
    addresses, port, log = pickle.load(pipe)
    server = Server(pickle.load(pipe), LogWriter(Path(log)))
    try:
        await server.listen(addresses, port)
    except OSError as error:
        print(f"port {port} cannot be used on {addresses}: {error}", flush=True)
        return
    print("serving", flush=True)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    threading.Thread(target=_listen_to_parent, args=(pipe, server, loop, stop), daemon=True).start()
    await stop.wait()
    server.close()
    await drain()


def _listen_to_parent(pipe: BinaryIO, server: Server, loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    try:
        while True:
            server.app = pickle.load(pipe)
            print("serving", flush=True)
    except (EOFError, OSError, pickle.UnpicklingError):
        loop.call_soon_threadsafe(stop.set)


def main() -> None:
    """The child's whole life."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(sys.stdin.buffer))
