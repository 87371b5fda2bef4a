"""A site that tries to lead the crawler inside, in every way a site can; and what is inside, with its ears open.

Run by test_ssrf_suite.py in network and mount namespaces of its own: `ssrf_attack.py FOLDER MODE`. The attacker sits on
a public address, the victims on loopback, private, link-local, metadata and IPv6 addresses of the same machine. Prints
JSON: which victims were connected to, and what became of each lure.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import PATIENCE, exported, start, wait_until, write_settings

from gossamer.demo.message import Ask, Reply
from gossamer.demo.server import Server

ATTACKER = "23.215.0.9"
VICTIMS = ("127.0.0.1", "127.9.9.9", "10.0.0.5", "192.168.7.7", "169.254.169.254", "100.64.0.9", "::1", "fd00:ec2::254")
NAMES = {
    "attacker.example": ATTACKER, "inside.example": "127.0.0.1", "router.example": "192.168.7.7",
    "both.example": "10.0.0.5", "rebound.example": ATTACKER, "six.example": "::1", "mapped.example": "::ffff:127.0.0.1",
}  # fmt: skip
LURES = (
    "http://127.0.0.1/secret", "http://127.1/secret", "http://2130706433/secret", "http://0x7f.0.0.1/secret",
    "http://0177.0.0.1/secret", "http://0x7f000001/secret", "http://127.0.0.1./secret", "http://127.9.9.9/secret",
    "http://localhost/secret", "http://app.localhost/secret", "http://0/secret", "http://0.0.0.0/secret",
    "http://10.0.0.5/secret", "http://192.168.7.7/secret", "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.9/secret", "http://[::1]/secret", "http://[::ffff:127.0.0.1]/secret", "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/secret", "http://[2002:7f00:1::]/secret", "http://[fd00:ec2::254]/secret", "http://[::]/",
    "http://①②⑦.⓪.⓪.①/secret", "http://127。0。0。1/secret", "http://attacker.example@127.0.0.1/secret",
    "http://attacker.example:80@127.0.0.1/secret", "http://127.0.0.1:80\\@attacker.example/secret",
    "http://127.0.0.1%2f@attacker.example/secret", "http:127.0.0.1/secret", "http:/\\127.0.0.1/secret",
    "//127.0.0.1/secret", "http://inside.example/secret", "http://router.example/secret", "http://both.example/secret",
    "http://six.example/secret", "http://mapped.example/secret", "http://rebound.example/later",
    "http://INSIDE.example./secret", "file:///etc/passwd", "gopher://127.0.0.1:80/_GET", "ftp://127.0.0.1/",
)  # fmt: skip
HOPS = tuple(lure for lure in LURES if lure.startswith("http"))


ASKED: list[tuple[float, str]] = []
"""When the attacker was asked, and for what."""
LOOK = 10.0
"""Seconds for which lures are followed, or not."""


def answer(ask: Ask) -> Reply:
    """The attacker's site."""
    path = ask.path
    ASKED.append((time.monotonic(), path))
    if path.startswith("/later"):
        # A chain of slow pages: there is always one more, whenever the name changes.
        number = int(path[7:] or 0)
        links = f'<p>Page {number}.</p><a href="/later/{number + 1}">on</a>'
        return Reply(links, 200, [("Connection", "close")], delay=0.3)
    if path == "/robots.txt":
        return Reply("Sitemap: http://127.0.0.1/sitemap.xml\nSitemap: /sitemap.xml\nHost: 127.0.0.1\n",
                     content_type="text/plain")  # fmt: skip
    if path == "/sitemap.xml":
        urls = "".join(f"<url><loc>{_xml(lure)}</loc></url>" for lure in LURES)
        return Reply(f"<urlset>{urls}</urlset>", content_type="application/xml")
    if path == "/feed.xml":
        items = "".join(f"<item><link>{_xml(lure)}</link></item>" for lure in LURES)
        hub = '<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="http://127.0.0.1/hub"/>'
        return Reply(f"<rss version='2.0'><channel>{hub}{items}</channel></rss>", content_type="application/rss+xml")
    if path.startswith("/hop/"):
        status = (301, 302, 303, 307, 308)[int(path[5:]) % 5]
        return Reply("", status, [("Location", _header(HOPS[int(path[5:])]))])
    if path.startswith("/meta/"):
        return Reply(f'<meta http-equiv="refresh" content="0;url={_html(HOPS[int(path[6:])])}">', 200)
    if path == "/chain":
        return Reply("", 302, [("Location", "/hop/0")])
    return Reply(_start_page())


def _start_page() -> str:
    links = "".join(f'<a href="{_html(lure)}">x</a>' for lure in LURES)
    links += "".join(f'<a href="/hop/{n}">hop</a><a href="/meta/{n}">meta</a>' for n in range(len(HOPS)))
    more = '<link rel="canonical" href="http://127.0.0.1/secret"><link rel="alternate" type="application/rss+xml" '
    more += 'href="/feed.xml"><link rel="hub" href="http://127.0.0.1/hub">'
    frames = "".join(f'<iframe src="{_html(lure)}"></iframe><img src="{_html(lure)}">' for lure in LURES)
    return f"<html><head><title>Attack</title>{more}</head><body><p>Words.</p>{links}<a href=/chain>c</a>{frames}"


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _html(text: str) -> str:
    return _xml(text).replace('"', "&quot;")


def _header(text: str) -> str:
    return text.encode().decode("latin-1")


class Victims:
    """Servers inside; each connection to one is noted, whatever comes over it, and for whom it was meant."""

    def __init__(self) -> None:
        self.connected: list[str] = []
        self.meant: list[str] = []
        self._sockets: list[socket.socket] = []
        for address in VICTIMS:
            with contextlib.suppress(OSError) if ":" in address else contextlib.nullcontext():  # IPv6 may be missing
                self._listen(address)

    def _listen(self, address: str) -> None:
        listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, 80))
        listening.listen(50)
        self._sockets.append(listening)
        threading.Thread(target=self._accept, args=(address, listening), daemon=True).start()

    def _accept(self, address: str, listening: socket.socket) -> None:
        while True:
            peer, _ = listening.accept()
            self.connected.append(address)
            peer.settimeout(1)
            with contextlib.suppress(OSError):
                self.meant += re.findall(r"(?im)^host: (\S+)", peer.recv(4096).decode("latin-1"))
            with contextlib.suppress(OSError):
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nsecret")
            peer.close()


def prepare(folder: Path) -> Path:
    """Addresses and names; returns the file of names, which may be changed later."""
    for address in (ATTACKER, *VICTIMS):
        length = 128 if ":" in address else 32
        subprocess.run(["ip", "addr", "add", f"{address}/{length}", "dev", "lo"], check=False, capture_output=True)
    hosts = folder / "hosts"
    lines = [f"{address} {name}" for name, address in NAMES.items()]
    hosts.write_text("\n".join(["127.0.0.1 localhost", f"{ATTACKER} both.example", *lines]) + "\n")
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    return hosts


def rebind(hosts: Path) -> None:
    """A name that was outside when it was judged leads inside from now on."""
    text = hosts.read_text().replace(f"{ATTACKER} rebound.example", "127.0.0.1 rebound.example")
    with hosts.open("r+") as file:  # in place: another file would not be the mounted one
        file.write(text)
        file.truncate()


def crawl_until(seen: Callable[[float], bool], data: Path, *seeds: str) -> tuple[int, str]:
    """Crawl until enough was seen, given when it began; the crawl has no end of its own. Exit code and last words."""
    began = time.monotonic()
    process = start("crawl", *seeds, "--quiet", data=data)
    try:
        wait_until(lambda: seen(began) or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=PATIENCE)
    return process.returncode, words


def main(folder: Path, mode: str) -> None:
    """Crawl the attacker: `guarded`, as everybody does; `open`, where the operator allowed all of it."""
    import asyncio

    hosts, victims = prepare(folder), Victims()
    started = threading.Event()

    async def serve() -> None:
        server = Server(answer)
        await server.listen([ATTACKER], 80)
        started.set()
        await asyncio.sleep(3600)

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    assert started.wait(60)
    data = folder / "data"
    inside = [
        "127.0.0.1",
        "127.9.9.9",
        "localhost",
        "app.localhost",
        "0.0.0.0",
        "10.0.0.5",
        "192.168.7.7",
        "100.64.0.9",
    ]
    inside += ["169.254.169.254", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00:ec2::254]"]
    allowed = ["0.0.0.0/0", "::/0"] if mode == "open" else []
    write_settings(
        data,
        {
            "crawl": {"contact": "test@example.org", "linger": 2.0, "index": False},
            "scope": {"mode": "list", "hosts": [*NAMES, *inside, "[::]"]},
            "network": {"allow": allowed},
            "politeness": {"delay": 0.0, "backoff_first": 0.2},
            "fetch": {"connect_timeout": 2.0},
        },
    )

    def lured(_: float) -> bool:
        """The attacker has been crawled for a while, and so has the name that leads inside later."""
        later = sum(path.startswith("/later") for _, path in ASKED)
        inside_seen = mode != "open" or len(set(victims.connected)) >= 5
        return later > 5 and inside_seen and time.monotonic() > ASKED[0][0] + LOOK

    beginning = time.monotonic()
    first, words = crawl_until(lured, data, "http://attacker.example/")
    start_up = ASKED[0][0] - beginning
    rebind(hosts)

    def led_inside(began: float) -> bool:
        """Where nobody inside is to be connected to, there is nothing to be seen but the time."""
        if mode == "open":
            return "rebound.example" in victims.meant
        return time.monotonic() > began + start_up + LOOK

    second, more_words = crawl_until(led_inside, data)
    rows = exported("urls", data)
    print(
        json.dumps(
            {
                "code": first or second,
                "words": (words + more_words)[-2000:],
                "connected": sorted(set(victims.connected)),
                "meant": sorted(set(victims.meant)),
                "kept": [row["url"] for row in rows if row["outcome"] == "document"],
                "urls": [row["url"] for row in rows],
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
