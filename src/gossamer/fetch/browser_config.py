"""Settings of rendering: pages that are made by scripts."""

from __future__ import annotations

from typing import Literal

import msgspec


class BrowserConfig(msgspec.Struct, frozen=True):
    """Rendering of pages that are empty without their scripts, by Chromium (extra `gossamer[browser]`)."""

    mode: Literal["off", "auto", "on"] = "off"
    """off: render no page; auto: render pages that are empty without their scripts; on: render every page. The setting
    `javascript` of a site overrides it."""
    share: float = 0.2
    """In mode auto: the share that rendering may use of the requests per day that the delay of a site allows."""
    pages: int = 500
    """In mode auto: most pages of a site to render per day."""
    timeout: float = 30.0
    """Most seconds for rendering a page, with all its requests."""
    settle: float = 0.5
    """A page is complete after this many seconds without a request."""
    requests: int = 60
    """Most requests of a page."""
    bytes: int = 20 * 1024 * 1024
    """Most bytes that a page may load, over all its requests."""
    block: tuple[str, ...] = ("image", "media", "font", "stylesheet")
    """Types of resources not to load, by Chromium's names."""
    executable: str = ""
    """Path of Chromium; empty: the Chromium of the system, or of Playwright."""
    tabs: int = 1
    """Pages that a worker renders at the same time."""
    memory: int = 1024
    """Mebibytes that the browser of a worker may use; it gives up a page that needs more."""
