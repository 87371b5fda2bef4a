"""The pages of `known_items.py`: which of a documentation site are taken, and what our parser reads of them.

A site gives all its pages if they are few enough. Else it gives first the pages that queries name, then the pages of
the same class or family (the methods of a class are what its own page is mistaken for), then others by the hash of
their path. What was read is kept in the cache folder, under a name that changes with the pages and with the parser.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import unescape
from pathlib import Path
from urllib.parse import quote

import msgspec
import zstandard

import gossamer
from _data import DOCUMENTATION
from _figures import leave_out
from _real_pages import new_reader
from gossamer.index.anchors import KEEP, says_something
from gossamer.index.document import IndexPage
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import key64
from gossamer.model.url import Canonicalizer


class Site(msgspec.Struct, frozen=True):
    """A documentation site as a package of Debian installs it."""

    name: str
    package: str
    folder: str
    without: tuple[str, ...] = ()
    """Folders that are left out."""


SITES = {
    site.name: site
    for site in (
        Site("lazarus", "lazarus-doc-2.2", "lazarus/2.2.6"),
        Site("postgresql", "postgresql-doc-15", "postgresql-doc-15/html"),
        Site("cmake", "cmake-doc", "cmake-doc/html"),
        # `core` and `alloc` tell again what `std` tells; `src` has listings.
        Site("rust", "rust-web-doc", "rust-web-doc/html", ("core/", "alloc/", "src/")),
    )
}
QUICK = ("postgresql", "cmake")
READ_BY = ("parse", "compiled", "model", "scope", "crawl/reading.py", "crawl/page_parsing.py", "index/anchors.py")
"""What of the package decides about the pages."""
_REMEMBERED = 8
"""Readings of a site, and indexes."""
_CANONICALIZER = Canonicalizer()


class Page(msgspec.Struct, frozen=True, array_like=True):
    """A page as the index takes it."""

    url: str
    title: str
    full_title: str
    """As its `<title>` says, with the site's part."""
    headings: list[str]
    text: str
    lang: str
    date: str
    page_type: str
    anchors: list[str]

    def as_indexed(self) -> IndexPage:
        """The same for the index."""
        return IndexPage(
            url=self.url, title=self.title, headings=self.headings, text=self.text, lang=self.lang or None,
            date=self.date or None, page_type=self.page_type, anchors=self.anchors,
        )  # fmt: skip


def read_sites(named: dict[str, set[str]], most: int, cache: Path, fresh: bool) -> dict[str, list[Page]]:
    """Site → its pages, of the sites that are installed."""
    found = {}
    for name, paths in named.items():
        site = SITES[name]
        folder = DOCUMENTATION / site.folder
        if folder.is_dir():
            found[name] = _cached(name, folder, choose(folder, paths, site.without, most), cache, fresh)
        else:
            leave_out(name, f"get it with: apt-get install {site.package}")
    return found


def url_of(site: str, path: str) -> str:
    """The address of a page."""
    found = _CANONICALIZER.parse(f"http://{site}.test/{quote(path)}")
    assert isinstance(found, str), found
    return found


def choose(folder: Path, named: Collection[str], without: tuple[str, ...], most: int) -> list[str]:
    """Paths of a site's pages, at most so many: named ones, then their families, then others."""
    paths = {path for path in _paths(folder) if not path.startswith(without)}
    families = {_family(path) for path in named}
    ranked = sorted(paths, key=lambda path: (path not in named, _family(path) not in families, _hash(path)))
    return ranked[: max(most, len(paths.intersection(named)))]


def _paths(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".html", ".htm")):
                yield str(Path(parent, name).relative_to(folder))


def _family(path: str) -> tuple[str, str]:
    """`stdctrls/tbutton.html`, `tbutton-3.html` and `tbutton.click.html` are one family."""
    place, _, name = path.rpartition("/")
    return place, re.split(r"[.-]", name, maxsplit=1)[0]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _cached(site: str, folder: Path, paths: Sequence[str], cache: Path, fresh: bool) -> list[Page]:
    sizes = [(path, (folder / path).stat().st_size) for path in paths]
    name = _hash(f"{gossamer.__version__} {code()} {Page.__struct_fields__} {sizes}")[:16]
    kind = f"{site}-{len(paths)}"
    place = cache / "known-items" / f"{kind}-{name}.msgpack.zst"
    if place.exists() and not fresh:
        return msgspec.msgpack.decode(zstandard.decompress(place.read_bytes()), type=list[Page])
    print(f"{site}: reading {len(paths)} pages", file=sys.stderr)
    pages = _read(site, folder, paths)
    place.parent.mkdir(exist_ok=True)
    for old in older(place.parent, f"{kind}-*.zst"):
        old.unlink()
    scratch = place.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(zstandard.compress(msgspec.msgpack.encode(pages)))
    scratch.rename(place)
    return pages


def older(folder: Path, pattern: str) -> list[Path]:
    """All but the newest, of which there may be some: a branch beside this one may have another parser."""
    return sorted(folder.glob(pattern), key=lambda file: -file.stat().st_mtime)[_REMEMBERED:]


def code(places: Iterable[str] = READ_BY) -> str:
    """A hash of parts of the package: of those that read pages."""
    root = Path(gossamer.__file__).parent
    found = hashlib.sha256()
    for place in places:
        files = sorted((root / place).rglob("*.py*")) if (root / place).is_dir() else [root / place]
        for file in files:
            if file.suffix in (".py", ".pyx") and file.is_file():
                found.update(file.read_bytes())
    return found.hexdigest()


def _read(site: str, folder: Path, paths: Iterable[str]) -> list[Page]:
    """The pages that a crawl would keep: with a text, each text once, not forbidden, not a redirect."""
    reader, seen = new_reader(), set()
    anchors: dict[str, set[str]] = defaultdict(set)
    kept: list[tuple[Parsed, str]] = []
    for path in paths:
        body = (folder / path).read_bytes()
        parsed = reader.read(ParseJob(url_of(site, path), Kind.PAGE, "text/html", body))
        redirects = bool(parsed.refresh) and parsed.refresh != parsed.url
        if parsed.ok and not parsed.nofollow and not redirects:
            for link in parsed.links:
                if says_something(link.anchor):
                    anchors[link.url].add(link.anchor)
        if parsed.ok and parsed.text and not parsed.noindex and not redirects and parsed.text not in seen:
            seen.add(parsed.text)
            kept.append((parsed, _full_title(body)))
    return [_page(one, title, sorted(anchors[one.url], key=key64)[:KEEP]) for one, title in kept]


def _full_title(body: bytes) -> str:
    found = re.search(rb"<title[^>]*>(.*?)</title>", body, re.DOTALL | re.IGNORECASE)
    return " ".join(unescape(found[1].decode("utf-8", "replace")).split()) if found else ""


def _page(one: Parsed, title: str, anchors: list[str]) -> Page:
    return Page(one.url, one.title, title, one.headings, one.text, one.language, one.date, one.page_type, anchors)
