"""Settings of rendering: pages that are made by scripts."""

from __future__ import annotations

from typing import Literal

import msgspec


class BrowserConfig(msgspec.Struct, frozen=True):
    """Pages that are empty without their scripts: rendered by Chromium (extra `gossamer[browser]`)."""

    mode: Literal["off", "auto", "on"] = "off"
    """off: never; auto: where a page is empty without its scripts; on: every page. Sites may say otherwise."""
    share: float = 0.2
    """Share of the requests a day that its delay lets a site get, that rendering may cost, in mode auto."""
    pages: int = 500
    """Pages of a site rendered a day at most, in mode auto."""
    timeout: float = 30.0
    """Seconds a page may take to be rendered, all its requests included."""
    settle: float = 0.5
    """Seconds without a request after which a page counts as complete."""
    requests: int = 60
    """Requests a page may make."""
    bytes: int = 20 * 1024 * 1024
    """Bytes a page may load, all requests together."""
    block: tuple[str, ...] = ("image", "media", "font", "stylesheet")
    """Types of resources that are not loaded, by Chromium's names."""
    executable: str = ""
    """Path of a Chromium; empty: the one found on the system, or that of Playwright."""
    tabs: int = 1
    """Pages a worker renders at once."""
    memory: int = 1024
    """Mebibytes that the browser of a worker may use; a page that makes it need more is given up."""
