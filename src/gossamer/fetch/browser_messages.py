"""What a worker and the process with its browser say to each other: frames of 4 bytes length and a msgpack payload.

The worker speaks first, with `Setup`; the browser's process answers `Ready`, or `Failed` with a sentence. Then each
`Page` is answered by one `Done`, and before that each `Ask` for a resource by one `Answer`.
"""

from __future__ import annotations

import msgspec

Headers = list[tuple[str, str]]


class Setup(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: how all pages are rendered."""

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
    """Characters of a document that are handed back."""
    isolate: bool = True
    """Whether the kernel is asked to keep the browser from every network; False: its own flags do."""


class Page(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: render this document, which was fetched already."""

    number: int
    url: str
    headers: Headers
    body: bytes


class Answer(msgspec.Struct, frozen=True, tag=True):
    """worker → browser: what a resource is; status 0: it is not to be had."""

    ask: int
    status: int = 0
    headers: Headers = []
    body: bytes = b""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: pages may come."""

    pid: int
    """Chromium's process, which is none of the worker's own children."""
    offline: bool
    """Whether the kernel keeps the browser from every network."""


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
    """What scripts of some sites must send to get data instead of a page (X-Requested-With)."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """browser → worker: a page is rendered, or given up."""

    page: int
    html: str = ""
    """Empty where it was given up."""
    target: str = ""
    """Where a script wanted to go instead."""
    reason: str = ""
    """Why it ended before it was complete."""
    refused: list[tuple[str, str]] = []
    """Requests that were refused in the browser, with the reason."""
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
