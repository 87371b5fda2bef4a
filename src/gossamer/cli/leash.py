"""A gossamer command that ends in good order when its standard input ends: `python -m gossamer.cli.leash VERB …`.

Whoever starts it holds the other end of that pipe. However they die, the kernel closes it; so nothing that
`gossamer run` started outlives it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from threading import Thread

from gossamer.cli.main import main
from gossamer.cli.start import prepare
from gossamer.courtesy import give_way

_GRACE = 600.0
"""Seconds after which a command that does not end is killed; nothing committed is lost."""
_AT_ONCE = (["serve"], ["crawl"], ["work"], ["index"])
"""Verbs that somebody waits for, or whose processes see to it themselves (`crawl.nice`)."""
_NICE = 10
"""How much all others give way to them."""


def end_with_input() -> None:
    """Waits for the end of standard input, then has this process end."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    if sys.argv[1:2] not in _AT_ONCE:
        give_way(_NICE)
    prepare(sys.argv[1:])
    Thread(target=end_with_input, daemon=True).start()
    sys.exit(main(sys.argv[1:]))
