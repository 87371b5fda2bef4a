"""The browser asks nobody but us: pages that try every way out, and a trap that must not see any of them.

Once with the kernel's help, and once with Chromium's own flags alone, as on machines where the kernel does not permit
it: each of the two has to hold by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from crawl_kit import run, settings_of, write_settings

from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.fetch.browser import Rendered, Renderer, SubRequest
from gossamer.fetch.browser_config import BrowserConfig
from gossamer.fetch.browser_start import find_chromium
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.testing import FakeWeb

try:
    find_chromium()
except UsageError as error:
    pytest.skip(str(error), allow_module_level=True)

PAGE = "https://app.test/"

WAYS_OUT = """<!DOCTYPE html><html><head><title>Ways out</title>
<link rel="dns-prefetch" href="TRAP/dns"><link rel="preconnect" href="TRAP/preconnect">
<link rel="preload" as="script" href="TRAP/preload"><link rel="prefetch" href="TRAP/prefetch">
<link rel="modulepreload" href="TRAP/modulepreload"><link rel="icon" href="TRAP/icon">
<link rel="manifest" href="TRAP/manifest"><link rel="stylesheet" href="TRAP/style">
<style>@import url("TRAP/import"); body { background: url("TRAP/background") }
@font-face { font-family: f; src: url("TRAP/font") } p { font-family: f }</style>
<script type="speculationrules">{"prerender": [{"source": "list", "urls": ["/prerender", "TRAP/prerender"]}],
"prefetch": [{"source": "list", "urls": ["TRAP/speculation"], "requires": ["anonymous-client-ip-when-cross-origin"]}]}
</script></head><body><p>text</p>
<img src="TRAP/image"><video src="TRAP/video" autoplay></video><audio src="TRAP/audio" autoplay></audio>
<iframe src="TRAP/frame"></iframe><iframe srcdoc="<img src='TRAP/inner'><script>INNER</script>"></iframe>
<iframe src="data:text/html,<script>fetch('TRAP/data-frame')</script>"></iframe>
<object data="TRAP/object"></object><embed src="TRAP/embed"><script src="TRAP/script"></script>
<a id="ping" href="#here" ping="TRAP/ping">ping</a>
<script>
const attempt = (way) => { try { const result = way(); if (result && result.catch) result.catch(() => 0); } catch {} };
const worker = `fetch("TRAP/in-worker"); try { importScripts("TRAP/import-scripts") } catch {}
    try { new WebSocket("SOCKET/in-worker") } catch {} try { new EventSource("TRAP/worker-events") } catch {}
    try { new WebTransport("https://127.0.0.1:PORT/worker-transport") } catch {}
    const asked = new XMLHttpRequest(); asked.open("GET", "TRAP/worker-xhr"); asked.send();`;
const blob = URL.createObjectURL(new Blob([worker], {type: "text/javascript"}));
attempt(() => fetch("TRAP/fetch"));
attempt(() => fetch("TRAP/post", {method: "POST", body: "x", mode: "no-cors"}));
attempt(() => fetch("TRAP/keepalive", {method: "POST", body: "x", keepalive: true, mode: "no-cors"}));
attempt(() => fetch("TRAP/put", {method: "PUT", body: "x"}));
attempt(() => { const asked = new XMLHttpRequest(); asked.open("GET", "TRAP/xhr"); asked.send(); });
attempt(() => { new Image().src = "TRAP/beacon-image"; });
attempt(() => navigator.sendBeacon("TRAP/beacon", "x"));
attempt(() => new WebSocket("SOCKET/socket"));
attempt(() => new EventSource("TRAP/events"));
attempt(() => new WebTransport("https://127.0.0.1:PORT/transport"));
attempt(() => new Worker(blob));
attempt(() => new Worker(blob, {type: "module"}));
attempt(() => new SharedWorker(blob));
attempt(() => new SharedWorker("/shared.js"));
attempt(() => navigator.serviceWorker.register("/worker.js"));
attempt(() => import("TRAP/module"));
attempt(() => window.open("TRAP/window"));
attempt(() => document.getElementById("ping").click());
attempt(() => fetchLater("TRAP/later"));
attempt(() => { const frame = document.createElement("iframe"); document.body.append(frame);
    new frame.contentWindow.RTCPeerConnection(RTC).createDataChannel("x"); });
attempt(() => { const peer = new RTCPeerConnection(RTC); peer.createDataChannel("x");
    peer.createOffer().then(offer => peer.setLocalDescription(offer)); });
attempt(() => CSS.paintWorklet.addModule("TRAP/worklet"));
attempt(() => { const form = document.createElement("form"); form.method = "post"; form.action = "TRAP/form";
    form.target = "_blank"; document.body.append(form); form.submit(); });
</script></body></html>"""
INNER = (
    "try { const p = new RTCPeerConnection(RTC); p.createDataChannel('x');"
    "p.createOffer().then(o => p.setLocalDescription(o)) } catch {}"
    "try { new WebSocket('SOCKET/inner') } catch {} fetch('TRAP/inner-fetch')"
)
RTC = "{iceServers: [{urls: 'stun:127.0.0.1:PORT'}]}"


class Trap:
    """Listens for TCP and UDP on one port, and keeps what came."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        for listen in (self._listen, self._hear):
            threading.Thread(target=listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._tcp.accept()
                peer.settimeout(0.5)
                with peer:
                    self.seen.append("tcp")
                    with contextlib.suppress(OSError):
                        self.seen[-1] += f" {peer.recv(200)!r}"

    def _hear(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.seen.append(f"udp {self._udp.recv(200)!r}")

    def works(self) -> bool:
        """Whether it sees what is sent to it: without that, silence would prove nothing."""
        before = len(self.seen)
        with socket.create_connection(("127.0.0.1", self.port)) as peer:
            peer.sendall(b"knock")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.sendto(b"knock", ("127.0.0.1", self.port))
        deadline = time.monotonic() + 60
        while len(self.seen) < before + 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        return len(self.seen) == before + 2

    def close(self) -> None:
        self._tcp.close()
        self._udp.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


class Crawl:
    """In the crawl's place: notes what pages want, and has nothing."""

    def __init__(self) -> None:
        self.asked: list[SubRequest] = []

    async def fetch(self, sub: SubRequest) -> Response:
        self.asked.append(sub)
        now = SystemClock().now()
        return Response(sub.url, Outcome.ADDRESS_REFUSED, now, now, now, reason="127.0.0.1 is this machine")


def rendered_all(pages: Sequence[str], crawl: Crawl, isolate: bool, **values: float) -> list[Rendered]:
    async def work() -> list[Rendered]:
        config = BrowserConfig(**{"timeout": 60.0, "settle": 2.0, "block": (), **values})
        headers = [("Content-Type", "text/html"), ("Link", "</early>; rel=preload; as=script")]
        found = []
        async with Renderer(config, "Gossamer/0 (test)", isolate=isolate) as renderer:
            for html in pages:
                page = Response(PAGE, Outcome.DOCUMENT, 0, 0, 0, 200, headers=headers, body=html.encode())
                found.append(await renderer.render(PAGE, page, crawl.fetch))
        return found

    return asyncio.run(work())


def rendered(html: str, crawl: Crawl, isolate: bool, **values: float) -> Rendered:
    return rendered_all([html], crawl, isolate, **values)[0]


def aimed_at(html: str, trap: Trap) -> str:
    html = html.replace("INNER", INNER).replace("RTC)", f"{RTC})").replace("PORT", str(trap.port))
    return html.replace("TRAP", f"http://127.0.0.1:{trap.port}").replace("SOCKET", f"ws://127.0.0.1:{trap.port}")


@pytest.mark.parametrize("isolate", [True, False], ids=["kernel", "flags"])
def test_no_way_out_leads_out(trap: Trap, isolate: bool) -> None:
    crawl = Crawl()
    page = rendered(aimed_at(WAYS_OUT, trap), crawl, isolate)
    assert b"<p>text</p>" in page.html
    assert trap.seen == []
    assert trap.works()
    # What goes by requests was asked of the crawl, or refused with a reason: the page did try.
    base = f"http://127.0.0.1:{trap.port}/"
    asked = {sub.url.removeprefix(base) for sub in crawl.asked}
    assert {"fetch", "xhr", "image", "script", "in-worker", "beacon-image", "preload", "module"} <= asked
    refused = {url.removeprefix(base): reason for url, reason in page.refused}
    assert {"frame", "post", "put", "beacon", "events", "object"} <= set(refused)
    assert refused["fetch"] == "127.0.0.1 is this machine"
    assert refused["put"] == "scripts may only send GET requests, not PUT"
    assert refused[f"ws://127.0.0.1:{trap.port}/socket"] == "scripts may not open sockets"


GOING = {
    "by location": ('<script>location.href = "TRAP/there"</script>', True),
    "by a form": ('<form action="TRAP/there"></form><script>document.forms[0].submit()</script>', True),
    "by meta refresh": ('<meta http-equiv="refresh" content="0; url=TRAP/there">', True),
    "by posting a form": (
        '<form method="post" action="TRAP/there"></form><script>document.forms[0].submit()</script>',
        False,
    ),
    "by a window": ('<script>window.open("TRAP/there"); open("TRAP/there", "_top", "noopener")</script>', False),
    "by a frame": ("<iframe srcdoc=\"<script>top.location = 'TRAP/there'</script>\"></iframe>", False),
}


def test_going_elsewhere_is_told_and_not_done(trap: Trap) -> None:
    crawl = Crawl()
    markup = [aimed_at(f"<!DOCTYPE html><body><p>text</p>{html}", trap) for html, _ in GOING.values()]
    there = f"http://127.0.0.1:{trap.port}/there"
    pages = rendered_all(markup, crawl, False, settle=0.5)
    for way, (_, is_target), page in zip(GOING, GOING.values(), pages, strict=True):
        assert page.target.rstrip("?") == there or not is_target, way
        assert page.html or page.target, way
    assert [sub.url for sub in crawl.asked if sub.url.startswith(there)] == []
    assert trap.seen == []


def test_a_page_ends_by_its_limits(trap: Trap) -> None:
    """Requests and bytes are counted over the whole page, and what comes above is refused with the limit's name."""

    class Library(Crawl):
        async def fetch(self, sub: SubRequest) -> Response:
            self.asked.append(sub)
            now = SystemClock().now()
            return Response(sub.url, Outcome.DOCUMENT, now, now, now, 200, body=b"x" * 1000)

    many = "<script>for (let n = 0; n < 30; n++) fetch('/data' + n)</script><p>text</p>"
    crawl = Library()
    page = rendered(many, crawl, True, requests=5, settle=0.3)
    assert len(crawl.asked) == page.requests == 5
    assert {reason.rpartition("(")[2] for _, reason in page.refused} == {"browser.requests)"}
    crawl = Library()
    page = rendered(many, crawl, True, bytes=3000, settle=0.3)
    assert "browser.bytes)" in {reason.rpartition("(")[2] for _, reason in page.refused}
    assert b"<p>text</p>" in page.html


def test_a_private_address_is_refused_by_the_guard_with_its_reason(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOSSAMER_LOG_LEVEL", "debug")
    web = FakeWeb("127.0.83")
    site = web.site("app.test")
    at = f"http://127.0.0.1:{trap.port}"
    site.page("/", f"<body><div id=root></div><script>fetch('{at}/inside'); fetch('http://inside.test/')</script>")
    site.redirect("/led.js", f"{at}/led")
    site.page("/led", "<body><div id=root></div><script src='/led.js'></script>")
    network = {"allow": ["127.0.83.0/24"], "resolve": {**web.resolve, "inside.test": "10.0.0.7"}}
    write_settings(tmp_path, settings_of(web, network=network, browser={"mode": "auto", "timeout": 60.0}))
    with web:
        done = run("crawl", site.url(), site.url("/led"), "--workers", "1", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert trap.seen == []
    for path in ("inside", "led"):
        assert any(f"/{path}" in line and "127.0.0.1 is this machine" in line for line in done.stderr.splitlines())
    assert "did not load http://inside.test/" in done.stderr
