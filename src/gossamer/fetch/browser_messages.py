"""Messages between a worker and the process with its browser: frames of 4 bytes length and a msgpack payload.

The worker speaks first, with `Setup`; the browser's process answers `Ready`, or `Failed` with a sentence. Then it
answers
each `Page` with one `Done`, and before that the worker each `Ask` for a resource with one `Answer`.
"""

from __future__ import annotations

import msgspec

Headers = list[tuple[str, str]]


class Setup(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: how to render all pages."""

    executable: str
    agent: str
    """The User-Agent that scripts see: the same that servers see."""
    sandbox: bool
    timeout: float
    settle: float
    block: tuple[str, ...]
    memory: int
    """Mebibytes."""
    most_html: int
    """Most characters of a document that are returned."""
    isolate: bool = True
    """Whether the kernel is to block every network; False: Chromium's flags do."""


class Page(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: render this document, which was fetched already."""

    number: int
    url: str
    headers: Headers
    body: bytes


class Answer(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: a resource; status 0: it is not available."""

    ask: int
    status: int = 0
    headers: Headers = []
    body: bytes = b""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: ready for pages."""

    pid: int
    """Chromium's process, which is not a child of the worker."""
    offline: bool
    """Whether the kernel blocks every network."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: there is no browser, for this reason."""

    reason: str


class Ask(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: a page wants a resource."""

    number: int
    page: int
    url: str
    kind: str
    """Chromium's name of its type: script, xhr, fetch, …"""
    requested_with: str = ""
    """A header that scripts of some sites must send to get data instead of a page (X-Requested-With)."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: a page is rendered, or given up."""

    page: int
    html: str = ""
    """Empty if it was given up."""
    target: str = ""
    """Where a script wanted to go instead."""
    reason: str = ""
    """Why it ended before it was complete."""
    refused: list[tuple[str, str]] = []
    """Requests that the browser's process refused, with the reason."""
    stuck: bool = False
    """The page does not let go of the browser, which has to be ended."""


ToBrowser = Setup | Page | Answer
FromBrowser = Ready | Failed | Ask | Done

_encoder = msgspec.msgpack.Encoder()


def frame(message: ToBrowser | FromBrowser) -> bytes:
    """A message on its way."""
    payload = _encoder.encode(message)
    return len(payload).to_bytes(4, "little") + payload


def plain(text: str) -> str:
    """Text that can be sent: half characters, which scripts can make, are replaced."""
    return text.encode("utf-8", "replace").decode()
