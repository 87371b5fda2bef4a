"""The real sites of the benchmark: where they come from, and cuts of them ready to be served.

Two sources: documentation packages of Debian (`apt-get install …`), served from where
they were installed, and archives `NAME.tar.zst` of whole sites, unpacked once into a
cache folder (`$XDG_CACHE_HOME/gossamer-bench`, or `--cache`). A site that is not there
is left out with a sentence that says how to get it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from _cut import FORMAT, Cut, load_cut, make_cut
from _data import DOCUMENTATION, INSTALLED
from _figures import leave_out
from studies.webs.catalogue import unpack

NETWORK = "127.0.2"


class Source(msgspec.Struct, frozen=True):
    """A site as it lies on the disk."""

    name: str
    character: str
    """What kind of pages it has."""
    start: str
    package: str = ""
    folder: str = ""
    """Where the package puts it."""
    archive: str = ""
    own: tuple[str, ...] = ()
    """What its pages call the site, where they use absolute links."""
    host: str = ""
    """The name it must be served under; empty: its address."""


class Served(msgspec.Struct, frozen=True):
    """A site of this run."""

    source: Source
    cut: Cut
    address: str
    port: int
    scheme: str = "http"

    @property
    def name(self) -> str:
        """Its short name."""
        return self.source.name

    @property
    def host(self) -> str:
        """What crawlers call it."""
        return self.source.host or self.address

    @property
    def seed(self) -> str:
        """The URL to begin with."""
        return f"{self.scheme}://{self.host}:{self.port}{self.cut.start}"


SOURCES = (
    Source("lazarus", "API, tiny pages", "/lcl/index.html", "lazarus-doc-2.2", str(DOCUMENTATION / "lazarus/2.2.6")),
    Source("postgresql", "manual", "/index.html", "postgresql-doc-15", str(DOCUMENTATION / "postgresql-doc-15/html")),
    Source("gimp-ru", "manual, Russian", "/index.html", "gimp-help-ru", str(INSTALLED / "gimp/2.0/help/ru")),
    Source("cmake", "manual, side bars", "/index.html", "cmake-doc", str(DOCUMENTATION / "cmake-data/html")),
    Source(
        "openoffice",
        "50 languages, old HTML",
        "/",
        archive="openoffice-org",
        own=("http://www.openoffice.org", "https://www.openoffice.org"),
    ),
    Source(
        "linuxcn",
        "news, Chinese",
        "/",
        archive="linuxcn",
        own=("https://undefined.today", "https://linuxcn.undefined.today"),
    ),
    Source("itw66", "blog, Russian", "/", archive="itw66", own=("http://itw66.ru", "https://itw66.ru")),
    Source(
        "mircsgo",
        "news, Russian, by name",
        "/",
        archive="ex-animo",
        own=("http://mircsgo.ru",),
        host="mircsgo.ru",
    ),
    Source("rust", "API, link-heavy", "/std/index.html", "rust-web-doc", str(DOCUMENTATION / "rust-web-doc/html")),
    Source(
        "learning",
        "blog, link-heavy",
        "/",
        archive="learningischange",
        own=("http://learningischange.com", "https://learningischange.com"),
    ),
)

QUICK = ("lazarus", "postgresql", "cmake", "linuxcn", "itw66", "mircsgo")


def cache_folder(given: str = "") -> Path:
    """Where unpacked sites, cuts and Scrapy's environment are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(given or Path(base) / "gossamer-bench")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def prepare(names: Iterable[str], pages: int, port: int, cache: Path, archives: Path) -> list[Served]:
    """Cuts of the named sites, each with a loopback address of its own."""
    known = {source.name: source for source in SOURCES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no site is called {', '.join(unknown)}; there are {', '.join(known)}")
    served = []
    for number, source in enumerate(SOURCES, start=1):
        folder = _folder(source, cache, archives) if source.name in names else None
        if folder:
            address = f"{NETWORK}.{number}"
            served.append(Served(source, _cut(source, folder, pages, port, cache), address, port))
    return served


def _folder(source: Source, cache: Path, archives: Path) -> Path | None:
    if source.package:
        if Path(source.folder).is_dir():
            return Path(source.folder)
        leave_out(source.name, f"get it with: apt-get install {source.package}")
        return None
    packed = archives / f"{source.archive}.tar.zst"
    target = cache / "unpacked" / source.archive
    if not target.is_dir():
        if not packed.exists():
            leave_out(source.name, f"{packed} is not there (see --archives)")
            return None
        unpack(packed, target)
    return target


def _cut(source: Source, folder: Path, pages: int, port: int, cache: Path) -> Cut:
    # Absolute links name the port, so that a cut is good for one port only.
    target = cache / "cuts" / f"{source.name}-{pages}-{port}-v{FORMAT}"
    target.parent.mkdir(exist_ok=True)
    found = load_cut(target)
    if found is None:
        print(f"{source.name}: cutting {pages} pages from {folder}", file=sys.stderr)
        address = f"http://{source.host}:{port}" if source.host else ""
        found = make_cut(folder, source.start, pages, source.own, address, target)
    return found
