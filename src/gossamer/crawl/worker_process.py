"""The process of a worker: started by the supervisor or by `gossamer work`.

The supervisor writes a `Job` to standard input and keeps the pipe open. When the pipe ends, the supervisor has ended
(perhaps killed) and the worker stops in good order. If it fails, its last words go to standard output, one line for a
person; until then, signs of life do (`signs`).
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import traceback
from pathlib import Path

import msgspec

from gossamer import logs
from gossamer.clock import SystemClock
from gossamer.courtesy import give_way
from gossamer.crawl.alive.signs import Job, give_signs
from gossamer.crawl.parser_fork import fork_parsers
from gossamer.crawl.worker import Worker, run_worker
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError


async def _serve(worker: Worker) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    loop.add_reader(0, _ended, worker)
    signs = asyncio.create_task(give_signs())
    try:
        await worker.run()
    finally:
        signs.cancel()


def _ended(worker: Worker) -> None:
    """The supervisor closed the pipe, or died."""
    asyncio.get_running_loop().remove_reader(0)
    worker.stop()


def main() -> None:
    """Read the job, work, exit with 0 after an order to stop. The only argument is the number of parsers."""
    forked = fork_parsers(int(sys.argv[1]))
    size = int.from_bytes(_read_exactly(4), "little")
    job = msgspec.msgpack.decode(_read_exactly(size), type=Job)
    logs.configure(job.settings.logs.format, job.settings.logs.level, f"worker {job.name}".strip())
    give_way(job.settings.crawl.nice)
    # Records die by reference count; the search for cycles among thousands of links costs a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    worker = Worker(job.settings, DataFolder(Path(job.data)), SystemClock(), job.name, forked)
    try:
        run_worker(_serve(worker))
    except GossamerError as error:
        if job.debug:
            traceback.print_exc()
        print(error, flush=True)
        sys.exit(error.exit_code)
    except Exception as error:
        if job.debug:
            traceback.print_exc()
        print(f"a worker failed ({type(error).__name__}: {error}): this is a bug; please report the output of --debug")
        sys.exit(1)


def _read_exactly(size: int) -> bytes:
    """Not a byte more: the rest is for the event loop."""
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit(1)
        data += piece
    return data


if __name__ == "__main__":
    main()
    os._exit(0)  # everything is committed and closed; skip the slow clean-up of memory
