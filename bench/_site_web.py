"""Archived sites served whole from their folders, each under its own name, by the server of the test kit.

A page is read when it is asked for, and its links to the site's own address are pointed to this server's port on the
way out, so that nothing is copied. Names of pages are those of the archive: a folder answers with its `index.html`,
and a file without a suffix is a page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec
from protego import Protego

from _site_table import Site
from _sites import SOURCES, cache_folder, unpack
from gossamer.demo.message import Ask, Reply
from gossamer.demo.server import App
from gossamer.testing.web import LoopbackWeb

_TYPES = {".xml": "application/xml", ".txt": "text/plain"}
_PAGES = (".html", ".htm", "")
_NOT_FOUND = Reply("<!DOCTYPE html><title>Not found</title><h1>No such page</h1>", 404)


class Folder(msgspec.Struct, frozen=True):
    """What a host serves."""

    root: Path
    own: tuple[str, ...] = ()
    """What the pages call their site."""
    address: str = ""
    """What they should call it here."""


class Folders(msgspec.Struct, frozen=True):
    """The app: a folder for each host."""

    hosts: dict[str, Folder]

    def __call__(self, ask: Ask) -> Reply:
        """Answers with a file, with the way to a folder, or with 404."""
        folder = self.hosts.get(ask.host)
        place = unquote(ask.path, errors="surrogateescape")
        if folder is None or ".." in place or "\0" in place:
            return _NOT_FOUND
        file = folder.root / place.lstrip("/")
        if file.is_dir():
            if not place.endswith("/"):
                return Reply("moved", 301, [("Location", f"{ask.path}/")])
            file /= "index.html"
        if not file.is_file() or (place.endswith("/") and file.name != "index.html"):
            return _NOT_FOUND
        body = file.read_bytes()
        if file.suffix in (*_PAGES, *_TYPES):
            for prefix in folder.own:
                body = body.replace(prefix.encode(), folder.address.encode())
        return Reply(body, content_type=_TYPES.get(file.suffix, "text/html"), compress=False)


class FolderWeb(LoopbackWeb):
    """Folders by host name, on loopback, from a process of its own."""

    def __init__(self, folders: Mapping[str, Folder], network: str = "127.0.5") -> None:
        super().__init__(network, process=True)
        for host in folders:
            self.hosts.add(host)
        self._folders = {
            host: msgspec.structs.replace(folder, address=f"http://{self.hosts.site(host)}")
            for host, folder in folders.items()
        }

    def app(self) -> App:
        """The folders."""
        return Folders(self._folders)


def is_there(site: Site, archives: Path, cache: str) -> bool:
    """Whether a site's archive is there, or was unpacked earlier."""
    source = next(source for source in SOURCES if source.name == site.name)
    places = (archives / f"{source.archive}.tar.zst", cache_folder(cache) / "unpacked" / source.archive)
    return any(place.exists() for place in places)


def site_folder(site: Site, archives: Path, cache: str) -> Folder:
    """The archive of a site, unpacked once into the cache folder."""
    source = next(source for source in SOURCES if source.name == site.name)
    target = cache_folder(cache) / "unpacked" / source.archive
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        unpack(archives / f"{source.archive}.tar.zst", target)
    return Folder(target, source.own)


def sample_paths(root: Path, count: int) -> list[str]:
    """So many pages of a folder that its robots.txt allows, always the same ones."""
    robots = root / "robots.txt"
    allowed = Protego.parse(robots.read_text(errors="replace") if robots.exists() else "")
    paths = sorted(page_paths(root), key=by_hash)
    return list(islice((path for path in paths if allowed.can_fetch(f"http://own.invalid{path}", "gossamer")), count))


def page_paths(root: Path) -> Iterator[str]:
    """The paths of all pages of a folder, as a server is asked for them."""
    for file in root.rglob("*"):
        if file.suffix in _PAGES and file.is_file() and file.name != "CNAME":
            path = f"/{file.relative_to(root)}"
            path = path.removesuffix("index.html") if file.name == "index.html" else path
            yield quote(path.encode("utf-8", "surrogateescape"), safe="/%:@!$&'()*+,;=~")


def by_hash(path: str) -> str:
    """A key by which paths are in the same, arbitrary order each time."""
    return hashlib.sha256(path.encode()).hexdigest()
