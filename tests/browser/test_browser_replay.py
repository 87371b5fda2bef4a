"""An exported WACZ replays in ReplayWeb.page, without the site.

REPLAYWEB_PAGE names the unpacked npm package `replaywebpage`, which is not ours to carry: `npm pack replaywebpage`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser_kit import LIMIT
from playwright.sync_api import Browser, Frame, Page

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import crawl, run

from gossamer.testing import FakeWeb

PLAYER = os.environ.get("REPLAYWEB_PAGE", "")
PAGES = 8

pytestmark = [pytest.mark.long, pytest.mark.skipif(not PLAYER, reason="REPLAYWEB_PAGE names no player")]

_PAGE = """<!doctype html><title>Replay</title><script src="ui.js"></script>
<replay-web-page source="crawl.wacz" url="{url}" embed="{mode}">
</replay-web-page>"""


class _Handler(SimpleHTTPRequestHandler):
    """Serves files and pieces of them: a player reads only what it needs."""

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            return super().do_GET()
        data = path.read_bytes()
        start, end = int(asked[1]), int(asked[2]) if asked[2] else len(data) - 1
        piece = data[start : end + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(piece) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Where the player is, and the address of the site's start page; the site is gone."""
    root = tmp_path_factory.mktemp("replay")
    web = FakeWeb()
    site = web.site("a.test", pages=PAGES)
    site.page("/moved-here", "The page that has moved. " * 30, title="Moved")
    with web:
        site.redirect("/old", site.url("/moved-here"))
        start = web.url("a.test")
        crawl(web, root / "data", [start, site.url("/old")])
    folder = root / "served"
    (folder / "replay").mkdir(parents=True)
    done = run("export", "wacz", "-o", str(folder / "crawl.wacz"), data=root / "data")
    assert done.returncode == 0, done.stderr
    shutil.copy(Path(PLAYER) / "ui.js", folder)
    shutil.copy(Path(PLAYER) / "sw.js", folder / "replay")
    (folder / "replay" / "index.html").write_text(
        '<!doctype html><script src="../ui.js"></script><replay-app-main></replay-app-main>'
    )
    (folder / "index.html").write_text(_PAGE.format(url=start, mode="replayonly"))
    (folder / "old.html").write_text(_PAGE.format(url=f"{start}old", mode="replayonly"))
    (folder / "pages.html").write_text(_PAGE.format(url="", mode="default").replace('url=""', ""))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", start
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    yield page
    context.close()


def replay_frame(page: Page, ending: str) -> Frame:
    """The frame that shows an archived page."""
    for _ in range(int(LIMIT / 250)):
        for frame in page.frames:
            if "mp_/" in frame.url and frame.url.endswith(ending):
                return frame
        page.wait_for_timeout(250)
    raise AssertionError([frame.url for frame in page.frames])


def test_the_start_page_shows_and_its_links_lead_on(page: Page, replayed: tuple[str, str]) -> None:
    address, start = replayed
    page.goto(address)
    frame = replay_frame(page, start)
    frame.wait_for_selector("h1", timeout=LIMIT)
    link = frame.locator("a[href]").first
    target = link.evaluate("link => link.href")
    link.click()
    other = replay_frame(page, target.rpartition("mp_/")[2] or target)
    other.wait_for_selector("h1", timeout=LIMIT)
    assert other.url != f"{address}{start}"


def test_a_redirect_is_replayed(page: Page, replayed: tuple[str, str]) -> None:
    address, start = replayed
    page.goto(f"{address}old.html")
    frame = replay_frame(page, f"{start}moved-here")
    frame.wait_for_selector("text=The page that has moved", timeout=LIMIT)


def test_the_list_of_pages_names_them(page: Page, replayed: tuple[str, str]) -> None:
    """The newest first, as far as there is room."""
    address, _ = replayed
    page.goto(f"{address}pages.html")
    for _ in range(int(LIMIT / 250)):
        if any(frame.get_by_text(f"{PAGES + 1} pages").count() for frame in page.frames):
            return
        page.wait_for_timeout(250)
    raise AssertionError("the list of pages does not show the page")
