"""`gossamer work`: a single worker, beside others or on another machine."""

from __future__ import annotations

import asyncio
import signal

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, out, settings_of_crawl
from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.worker import Worker, run_worker


def command(*, data: Data = DEFAULT_DATA, name: str = "", debug: Debug = False) -> None:
    """Run one worker on the crawl in the data folder until it is stopped (Ctrl-C).

    Parameters
    ----------
    name
        The worker's name; default: a new one.
    """
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    folder.read().close()
    worker = Worker(settings, folder, SystemClock(), name)
    out.print(f"Working on {data}; Ctrl-C stops in good order.", markup=False)
    run_worker(_serve(worker))


async def _serve(worker: Worker) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    await worker.run()
