"""The process of the nursery: it loads what workers and parsers need, then forks one process for each order.

It has no thread, so a fork is a whole process. It ends when its owner does; what it forked notices that by itself.
"""

from __future__ import annotations

import contextlib
import gc
import os
import runpy
import select
import signal
import socket
import sys
import traceback

import msgspec

from gossamer.courtesy import show_command
from gossamer.crawl import parser_process, worker_process
from gossamer.supervise.nursery import READY, Order

LOADED = (worker_process, parser_process)
"""What is worth loading once: the others begin with most of it."""


def main() -> None:
    """Serve the owner at the other end of the socket, whose number is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to handle
    parser_process.rehearse()
    gc.collect()
    gc.freeze()  # else the first search for cycles would write to every page that is shared
    _serve(socket.socket(fileno=int(sys.argv[1])))


def _serve(owner: socket.socket) -> None:
    children: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([owner.fileno(), *children], [], [])
        for pidfd in ready:
            if pidfd in children:
                _tell_end(pidfd, *children.pop(pidfd))
        if owner.fileno() in ready:
            message, fds, _, _ = socket.recv_fds(owner, 1 << 20, 3)
            if not message:
                return
            pid = _fork(msgspec.msgpack.decode(message, type=Order), fds)
            pidfd = os.pidfd_open(pid)
            socket.send_fds(owner, [str(pid).encode()], [pidfd])
            children[pidfd] = pid, fds[1]


def _tell_end(pidfd: int, pid: int, status: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(BrokenPipeError):  # nobody asks any more
        os.write(status, str(code).encode())
    os.close(status)
    os.close(pidfd)


def _fork(order: Order, fds: list[int]) -> int:
    pid = os.fork()
    if pid == 0:
        _be_child(order, *fds)
    source, _, output = fds
    os.close(source)
    os.close(output)
    return pid


def _be_child(order: Order, source: int, status: int, output: int) -> None:
    """Become what `python -m` would have started."""
    code = 1
    try:
        os.setsid()
        os.dup2(source, 0)
        os.dup2(output, 1)
        os.write(status, READY)
        # The pipes of others: whose other end is held open here would never see the end of its input.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(order.environment)
        show_command(order.module, *order.arguments)
        sys.argv = [order.module, *order.arguments]
        sys.modules.pop(order.module, None)  # else a warning that it is loaded already
        runpy.run_module(order.module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):  # nobody listens any more, or it is closed
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
    os._exit(0)
