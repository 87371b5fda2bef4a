"""An internet for the commands of the documentation: a university and a newspaper, on public addresses, with https.

Only for use in network and mount namespaces of its own (`run_page.py` is started there): the addresses are added to
the loopback interface, the names to an `/etc/hosts` that only these processes see. So commands run as they are
written, with names, ports and guards as on the real web, and reach nothing else.
"""

from __future__ import annotations

import asyncio
import datetime
import itertools
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gossamer.demo.message import Ask, Reply
from gossamer.demo.server import Server
from gossamer.testing.pages import Graph

HOSTS = {
    "www.example.edu": "23.215.0.1",
    "library.example.edu": "23.215.0.2",
    "physics.example.edu": "23.215.0.3",
    "www.example.org": "23.215.0.4",
    "news.example.com": "23.215.0.5",
    "shop.example.com": "23.215.0.6",
    "wiki.intra.example.edu": "10.3.2.1",
}
LAMPS = {"desk": (19.9, "Office"), "floor": (49, "Living room"), "night": (9.5, "Bedroom"), "wall": (35, "Office")}
PAGES = 12
"""Generated pages of each host."""
_ARTICLES = 6
_VISITS = itertools.count(1)
PUBLISH = "/newsroom/publish"
"""Whoever asks the newspaper for this publishes its next article; readers of the tutorial publish their own."""
NEXT_ARTICLE = "/2026/11/07/rocket-launch-7.html"
published_at: list[float] = []
"""When that was."""


def answer(ask: Ask) -> Reply:
    """What the internet serves."""
    if ask.host not in HOSTS:
        return Reply("<title>Nobody</title>", 404)
    if ask.path == "/robots.txt":
        return Reply("User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n", content_type="text/plain")
    if ask.host == "news.example.com":
        return _news(ask.path)
    if ask.host == "shop.example.com":
        return _shop(ask.path)
    graph = Graph(ask.host, PAGES, 6, len(ask.host), _elsewhere(ask.host))
    index = graph.index(ask.path)
    if index is None:
        return Reply("<title>Not found</title>", 404)
    return Reply(_changing(graph.html(index)) if index == 1 else graph.html(index))


def _changing(html: str) -> str:
    """A page that is another one at every visit."""
    return html.replace("<p>", f"<p>How a rocket engine is tested, and that was test number {next(_VISITS)}. ", 1)


def _elsewhere(host: str) -> tuple[str, ...]:
    """The university's hosts name each other, and each a page that its robots.txt forbids."""
    family = [name for name, address in HOSTS.items() if name.endswith(".example.edu") and address.startswith("23.")]
    if host not in family:
        return ()
    return (*(f"https://{name}/" for name in family if name != host), f"https://{host}/private/catalogue.html")


def _news(path: str) -> Reply:
    if path == PUBLISH:
        published_at[:] = published_at or [time.time()]
        return Reply("<title>Published</title>")
    articles = [f"/2026/11/{day:02d}/rocket-launch-{day}.html" for day in range(1, _ARTICLES + 1)]
    articles += [NEXT_ARTICLE] * len(published_at)
    if path == "/":
        links = "".join(f'<li><a href="{one}">Rocket launch {one[9:11]}</a></li>' for one in articles)
        feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        return Reply(f"<!doctype html><html lang=en><head><title>News</title>{feed}</head><ul>{links}</ul></html>")
    if path == "/feed.xml":
        items = "".join(
            f"<item><title>Rocket launch {one[9:11]}</title><link>https://news.example.com{one}</link>"
            f"<pubDate>{_date_of(one)}</pubDate></item>"
            for one in articles
        )
        body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
        return Reply(body, content_type="application/rss+xml")
    if path not in articles:
        return Reply("<title>Not found</title>", 404)
    day = path[9:11]
    text = f"On day {day} a rocket engine was lit and the launch went well. " * 6
    if path == NEXT_ARTICLE:
        text = "Ships in the bay saw the rocket rise after its launch, and its first stage come back to the pier. " * 4
    return Reply(
        f"<!doctype html><html lang=en><head><title>Rocket launch {day}</title>"
        f'<meta property="article:published_time" content="2026-11-{day}T09:00:00Z"></head>'
        f"<body><main><h1>Rocket launch {day}</h1><p>{text}</p></main></body></html>"
    )


def _shop(path: str) -> Reply:
    links = "".join(f'<li><a href="/lamps/{name}">{name}</a></li>' for name in LAMPS)
    if path == "/":
        return Reply(f"<!doctype html><html lang=en><title>Lamps</title><h1>All our lamps</h1><ul>{links}</ul></html>")
    name = path.removeprefix("/lamps/")
    if name not in LAMPS:
        return Reply("<title>Not found</title>", 404)
    price, room = LAMPS[name]
    return Reply(
        f"<!doctype html><html lang=en><title>The {name} lamp</title>"
        f'<script type="application/ld+json">{{"@type": "Product", "offers": {{"price": {price}}}}}</script>'
        f"<ol class=breadcrumb><li>Lamps</li><li>{room}</li></ol><h1>The {name} lamp</h1>"
        f"<p>The {name} lamp gives a warm light to every {room}. We have sold {name} lamps for {len(name)} years.</p>"
    )


def _date_of(article: str) -> str:
    if article == NEXT_ARTICLE:
        return formatdate(published_at[0], usegmt=True)
    return f"{article[9:11]} Nov 2026 09:00:00 GMT"


@contextmanager
def small_internet(folder: Path) -> Iterator[dict[str, str]]:
    """Serve it; yields the environment that a command needs to trust its certificates."""
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in HOSTS.items()))
    for address in HOSTS.values():
        subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"], check=True)
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    certificate, key, authority = _certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(context, ready, stop)), daemon=True)
    thread.start()
    assert ready.wait(120), "the small internet did not start"
    try:
        yield {"SSL_CERT_FILE": str(authority)}
    finally:
        stop.set()
        thread.join(120)


async def _serve(context: ssl.SSLContext, ready: threading.Event, stop: threading.Event) -> None:
    server = Server(answer)
    await server.listen(HOSTS.values(), 80)

    async def unwrapped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """TLS is taken off here; the rest is the same server."""
        inner_reader, inner_writer = await asyncio.open_connection(writer.get_extra_info("sockname")[0], 80)
        await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))

    fronts = [await asyncio.start_server(unwrapped, address, 443, ssl=context) for address in HOSTS.values()]
    ready.set()
    while not stop.is_set():
        await asyncio.sleep(0.1)
    for front in fronts:
        front.close()
    server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def _certificates(folder: Path) -> tuple[Path, Path, Path]:
    """A certificate for all hosts with its key, and the authority that signed it: itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "small internet")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem", folder / "authority.pem"
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    paths[0].write_bytes(pem)
    paths[2].write_bytes(pem)
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    os.chmod(paths[1], 0o600)  # noqa: PTH101 - as short as it is clear
    return paths
