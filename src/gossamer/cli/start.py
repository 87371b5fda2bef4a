"""What the `gossamer` script calls: a verb that starts many processes has them warmed up while it loads itself."""

from __future__ import annotations

import sys

_CRAWLS = ("crawl", "work")


def run() -> None:
    """Run the command line."""
    if sys.argv[1:2] and sys.argv[1] in _CRAWLS and "--help" not in sys.argv:
        from gossamer.supervise.nursery import warm_up

        warm_up()
    from gossamer.cli.main import run

    run()
