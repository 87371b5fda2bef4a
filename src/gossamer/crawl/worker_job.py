"""What a worker process is told: apart from it, so that whoever starts one does not load a worker."""

from __future__ import annotations

import msgspec

from gossamer.settings import Settings


class Job(msgspec.Struct, frozen=True):
    """What a worker is told."""

    data: str
    settings: Settings
    name: str = ""
    debug: bool = False
