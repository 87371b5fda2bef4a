"""A cut of a real site: a closed set of its pages, so that every crawler fetches the same ones.

Real sites differ in ways that would make crawlers fetch different things: broken
links, images, sitemaps, query strings that name one file ten times. A cut removes
the difference and keeps the work:

- its pages are found breadth first from the start page, up to a limit, over links
  that robots.txt and `rel=nofollow` permit; pages with a meta refresh are left out;
- a reference of a page in the cut to anything else of the same site (a page beyond the
  limit, an image, a feed, a broken link) is pointed to the host `x.invalid`. It must
  still be found, resolved and refused by each crawler, but costs no request;
- the site's own absolute addresses become addresses of the benchmark's server;
- robots.txt is kept without its Sitemap lines. A page's text and number of links stay.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import deque
from functools import lru_cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import msgspec
from protego import Protego

ELSEWHERE = b"http://x.invalid"
FORMAT = 4
"""Part of a cut's folder name: raise it when this file changes what is written."""

_OWN = "http://own.invalid"
_REFERENCE = re.compile(rb"""\b(href|src)(\s*=\s*)("[^"\n]*"|'[^'\n]*'|[^\s"'<>]+)""", re.I)
_ANCHOR = re.compile(rb"<a(?:rea)?\s[^>]*>", re.I)
_NOFOLLOW = re.compile(rb"""\brel\s*=\s*["']?[^"'>]*\bnofollow""", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_META = re.compile(rb"<meta\s[^>]*>", re.I)
_BASE = re.compile(rb"""<base\s[^>]*?href\s*=\s*["']?([^"'\s>]+)""", re.I)


class Cut(msgspec.Struct, frozen=True):
    """A folder ready to be served."""

    folder: str
    start: str
    """Path of the first page."""
    paths: list[str]
    """Every page's path, percent-decoded."""
    mean_bytes: float
    mean_links: float
    """Links (`<a href>`) a page."""


def make_cut(source: Path, start: str, limit: int, own: tuple[str, ...], address: str, target: Path) -> Cut:
    """Writes the cut of a folder. `own`: the prefixes the site calls itself; `address` replaces them."""
    cutter = _Cutter(source, own, address)
    paths = cutter.reach(start, limit)
    scratch = target.with_name(target.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    sizes = [cutter.write(path, paths, scratch / "www") for path in paths]
    if cutter.robots_text:
        kept = [line for line in cutter.robots_text.splitlines() if not line.lower().startswith("sitemap")]
        (scratch / "www" / "robots.txt").write_text("\n".join(kept) + "\n")
    count = len(paths)
    cut = Cut(str(target / "www"), start, sorted(paths), sum(sizes) / count, sum(map(cutter.links, paths)) / count)
    (scratch / "cut.json").write_bytes(msgspec.json.encode(cut))
    scratch.rename(target)
    return cut


def load_cut(target: Path) -> Cut | None:
    """A cut made earlier."""
    file = target / "cut.json"
    return msgspec.convert(json.loads(file.read_text()), Cut) if file.exists() else None


class _Cutter:
    def __init__(self, source: Path, own: tuple[str, ...], address: str) -> None:
        self.source = source
        self.own = own
        self.address = address
        robots = source / "robots.txt"
        self.robots_text = robots.read_text(errors="replace") if robots.exists() else ""
        self._robots = Protego.parse(self.robots_text)
        self._links: dict[str, int] = {}
        self.resolve = lru_cache(maxsize=200_000)(self._resolve)
        self.file = lru_cache(maxsize=None)(self._file)

    def links(self, path: str) -> int:
        """How many links a page that was reached has."""
        return self._links[path]

    def reach(self, start: str, limit: int) -> dict[str, Path]:
        """Pages breadth first from the start: path → file."""
        first = self.file(start)
        if first is None:
            raise FileNotFoundError(f"{self.source} has no page {start}")
        found, queue = {start: first}, deque([start])
        while queue:
            path = queue.popleft()
            for link in self._follow(path, found[path].read_bytes()):
                file = self.file(link)
                if file and link not in found and len(found) < limit:
                    found[link] = file
                    queue.append(link)
        return found

    def _follow(self, path: str, body: bytes) -> list[str]:
        base = _base(body)
        anchors = [m.group() for m in _ANCHOR.finditer(_COMMENT.sub(b"", body))]
        self._links[path] = sum(1 for a in anchors if b"href" in a.lower())
        if any(b"nofollow" in m.lower() for m in _META.findall(body)):
            return []
        hrefs = [_REFERENCE.search(a) for a in anchors if not _NOFOLLOW.search(a)]
        links = [self.resolve(path, base, m.group(3)) for m in hrefs if m]
        return [link for link in links if link]

    def _resolve(self, path: str, base: bytes, raw: bytes) -> str | None:
        """The path of a reference into this site without query; None for other references."""
        value = unescape(raw.strip(b"\"' \t\r\n").decode("utf-8", "replace"))
        for prefix in self.own:
            if value.startswith(prefix):
                value = _OWN + (value[len(prefix) :] or "/")
        try:
            parts = urlsplit(urljoin(urljoin(_OWN + path, base.decode("ascii", "replace")), value))
        except ValueError:
            return None
        return unquote(parts.path) or "/" if f"{parts.scheme}://{parts.netloc}" == _OWN else None

    def _file(self, path: str) -> Path | None:
        """The HTML file a server answers a path with, where a crawler may ask for it."""
        file = self.source / path.lstrip("/") / ("index.html" if path.endswith("/") else "")
        if ".." in path or file.suffix not in (".html", ".htm") or not file.is_file():
            return None
        allowed = all(self._robots.can_fetch(_OWN + path, agent) for agent in ("gossamer", "Scrapy", "wget2"))
        metas = _META.findall(file.read_bytes()) if allowed else [b"refresh"]
        return None if any(b"refresh" in m.lower() for m in metas) else file

    def write(self, path: str, paths: dict[str, Path], folder: Path) -> int:
        """Writes a page with its references settled; returns its size."""
        body = paths[path].read_bytes()
        base = _base(body)
        settled = _REFERENCE.sub(lambda m: self._settle(m, path, base, paths), body)
        place = folder / path.lstrip("/") / ("index.html" if path.endswith("/") else "")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(settled)
        return len(settled)

    def _settle(self, m: re.Match[bytes], path: str, base: bytes, paths: dict[str, Path]) -> bytes:
        raw = m.group(3).strip(b"\"'")
        link = self.resolve(path, base, m.group(3))
        if link is None or raw.lstrip().startswith(b"#"):
            return m.group()
        if link not in paths or b"?" in raw:
            raw = ELSEWHERE + b"/" + raw.split(b"://")[-1].lstrip(b"./")
        else:
            for prefix in self.own:
                if raw.startswith(prefix.encode()):
                    raw = self.address.encode() + (raw[len(prefix) :] or b"/")
        return m.group(1) + m.group(2) + b'"' + raw + b'"'


def _base(body: bytes) -> bytes:
    m = _BASE.search(_COMMENT.sub(b"", body[:20_000]))
    return m.group(1) if m else b""
