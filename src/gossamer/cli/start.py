"""What the `gossamer` script calls: a verb that starts many processes has them warmed up while it loads itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_CRAWLS = ("crawl", "demo", "work")


def run() -> None:
    """Run the command line."""
    prepare(sys.argv[1:])
    from gossamer.cli.main import run

    run()


def prepare(arguments: Sequence[str]) -> None:
    """Begin with what takes longest for this command."""
    if arguments and arguments[0] in _CRAWLS and not {"--help", "-h"} & set(arguments):
        from gossamer.supervise.nursery import warm_up

        warm_up()
