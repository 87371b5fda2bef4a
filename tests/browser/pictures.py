"""Pictures of the product for README and docs, taken from the demo web: `python tests/browser/pictures.py FOLDER`.

It crawls the demo web, serves it with the console, and takes each picture in light and in dark. `make pictures` takes
those of `docs/pictures` anew; a test takes them into a folder of its own.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

sys.path += [str(Path(__file__).parent.parent / name) for name in ("web", "crawls")]
from browser_kit import CHROMIUM, FLAGS, LIMIT
from crawl_kit import run
from inside import gossamer
from whole_server_kit import whole_server

from gossamer.demo.web import DemoWeb

Scheme = Literal["light", "dark"]
SIZE: ViewportSize = {"width": 1280, "height": 800}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PICTURES = ("start", "results", "explain", "console", "console-url")
PASSWORD = "pictures-of-webs-5"
LEFT_OUT = ("zhizhu.test",)
"""Sites in scripts for which a machine that takes pictures seldom has fonts."""
MOST_BYTES = 120_000
SECONDS = 600
"""What a busy machine gets for the crawl."""


def take(folder: Path, browser: Browser) -> list[Path]:
    """Write all pictures into a folder."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="gossamer-pictures-") as work,
        chdir(work),  # the console names the folder as it was given
        _demo(Path("gossamer-data")) as (data, hidden),
        whole_server(data) as server,
    ):
        return [path for scheme in SCHEMES for path in _take(browser, server.address, scheme, hidden, folder)]


def _take(browser: Browser, address: str, scheme: Scheme, hidden: str, folder: Path) -> list[Path]:
    page = browser.new_page(base_url=address, viewport=SIZE, color_scheme=scheme)
    page.set_default_timeout(LIMIT)
    taken = [_save(page, folder / f"{name}-{scheme}.webp") for name in _visit(page, hidden)]
    page.close()
    return taken


@contextmanager
def _demo(data: Path) -> Iterator[tuple[Path, str]]:
    """The demo web, crawled and ranked, and a page of it that robots.txt forbids."""
    with _web() as web:
        resolve = [f"--resolve={host}={address}" for host, address in web.resolve.items()]
        seeds = [seed for seed in web.seeds if not any(name in seed for name in LEFT_OUT)]
        crawl = ["crawl", *seeds, "--quiet", "--delay=0.05", f"--allow-network={web.network}", *resolve]
        done = run(*crawl, data=data, timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        for command in (["rank"], ["accounts", "add", "operator", "--role", "operator"]):
            ended = gossamer(*command, data=data, stdin=f"{PASSWORD}\n")
            assert ended.code == 0, ended.err
        yield data, web.url("weaver.test", "/search?q=silk").replace(":80/", "/")


def _web() -> DemoWeb:
    """On port 80 where this user may have it, so that addresses look as they do elsewhere."""
    try:
        return DemoWeb(port=80)
    except OSError:
        return DemoWeb()


def _visit(page: Page, hidden: str) -> Iterator[str]:
    """Opens one page after the other, and says what picture it is for."""
    page.goto("/")
    expect(page.locator(".examples a").first).to_be_visible()
    yield "start"
    page.goto("/search?q=spider")
    expect(page.locator(".hits article").first).to_be_visible()
    yield "results"
    page.get_by_role("link", name="Why here?").first.click()
    expect(page.locator("table.factors")).to_be_visible()
    yield "explain"
    page.goto("/console")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    yield "console"
    page.goto(f"/console/url?url={hidden.replace('?', '%3F').replace('=', '%3D')}")
    expect(page.get_by_text("robots.txt").first).to_be_visible()
    yield "console-url"


def _save(page: Page, path: Path) -> Path:
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    shot = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    shot.convert("RGB").save(path, "WEBP", quality=85, method=6)
    return path


if __name__ == "__main__":
    with sync_playwright() as playwright:
        for one in take(Path(sys.argv[1]), playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)):
            print(f"{one} {one.stat().st_size:,} bytes")
