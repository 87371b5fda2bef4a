"""A process of the local engine: runs one task after the other until its socket is closed.

A thread reads the socket, so that the end of the engine's process is noticed in the middle of a task, too: then
this one ends at once, and nothing is left behind. That is safe at any moment, since tasks show only whole files.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection

from gossamer import logs
from gossamer.courtesy import give_way
from gossamer.engine.tasks import attempt


def main() -> None:
    """Serve the socket whose number is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the engine's to handle
    logs.inherit("job task")
    give_way()
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, tasks), daemon=True).start()
    while True:
        outcome = attempt(tasks.get())
        try:
            connection.send_bytes(outcome)
        except OSError:
            os._exit(0)


def _read(connection: Connection, tasks: queue.SimpleQueue[bytes]) -> None:
    while True:
        try:
            tasks.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)


if __name__ == "__main__":
    main()
