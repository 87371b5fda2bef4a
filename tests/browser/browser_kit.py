"""What the tests in a browser share: how long they wait, and what must not happen in a page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import ConsoleMessage, Dialog, Page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)  # fmt: skip
"""Names of others are unknown at once: no page waits for somebody's name server."""
LIMIT = 240_000.0
"""Milliseconds that a busy machine gets for whatever is waited for."""
VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
    report(`${event.violatedDirective} blocked ${event.blockedURI} ${event.sample}`))
"""


class Watch:
    """What went wrong in the pages of a test."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self.problems: list[str] = []

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str) -> None:
        if not url.startswith(self._base_url):
            self.problems.append(f"request to {url}")
