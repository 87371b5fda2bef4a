"""The real sites that studies use: where they come from, and their recorded webs.

Three sources: archives of whole sites (`sites/NAME.tar.zst` of `--webs`), documentation packages of Debian, read from
where they were installed, and recordings (`recorded/*.web.parquet` of `--webs`). A site is read once and kept in the
cache folder; one that is not on the machine is left out with a line that says how to get it.
"""

from __future__ import annotations

import glob
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from gossamer.errors import UsageError
from gossamer.lab.webs.files import web_of_files
from gossamer.lab.webs.web import FORMAT, SUFFIX, RecordedWeb, load_web, save_web
from gossamer.parse.rules import DocumentRule
from studies.study import Options
from studies.webs.documentation import PACKAGES
from studies.webs.first_pages import first_pages

MOST_PAGES = 30_000
_READING = 1
"""Part of a file's name in the cache: raise it when sites are read in another way."""
_ENDING = f"-v{FORMAT}.{_READING}{SUFFIX}"


class SiteSource(msgspec.Struct, frozen=True):
    """A site as files."""

    name: str
    character: str
    """What kind of pages it has."""
    start: str = "/"
    package: str = ""
    """Debian package that brings it, or else"""
    archive: str = ""
    """the archive it lies in."""
    folder: str = ""
    """Where the package puts it; of an archive all is taken."""
    own: tuple[str, ...] = ()
    """What its pages call the site, where they use absolute links."""
    origin: str = ""
    """Its address; default: `http://NAME.test`."""
    rules: tuple[DocumentRule, ...] = ()

    @property
    def address(self) -> str:
        """Scheme and host of its pages."""
        return self.origin or f"http://{self.name}.test"


def _documents(domain: str, *urls: str, but: tuple[str, ...] = ()) -> tuple[DocumentRule, ...]:
    return (DocumentRule(domain, urls, not_urls=but),)


ARCHIVED = (
    SiteSource(
        "learningischange",
        "blog with daily archives, link-heavy",
        archive="learningischange",
        own=("https://learningischange.com",),
        origin="http://learningischange.com",
        rules=_documents("learningischange.com", "/{year}/{month}/{day}/{slug}/"),
    ),
    SiteSource(
        "itw66",
        "blog, Russian",
        archive="itw66",
        own=("https://itw66.ru",),
        origin="http://itw66.ru",
        rules=_documents("itw66.ru", "/blog/{slug}/{slug}.html"),
    ),
    SiteSource(
        "mircsgo",
        "news, Russian",
        archive="ex-animo",
        own=("https://mircsgo.ru",),
        origin="http://mircsgo.ru",
        rules=_documents("mircsgo.ru", "/{slug}/", but=("/page/", "/category/", "/tag/")),
    ),
    SiteSource(
        "linuxcn",
        "news, Chinese, deep archives",
        archive="linuxcn",
        own=("https://undefined.today", "https://linuxcn.undefined.today", "http://linuxcn.undefined.today"),
        origin="http://undefined.today",
        rules=_documents("undefined.today", "/article-{id}-{id}.html"),
    ),
    SiteSource(
        "openoffice",
        "50 languages, old HTML",
        archive="openoffice-org",
        own=("https://www.openoffice.org",),
        origin="http://www.openoffice.org",
    ),
)
DOCUMENTED = tuple(
    SiteSource(name, character, start, package, folder=str(Path("/usr/share/doc") / folder))
    for name, package, folder, start, character in PACKAGES
)
SITES = (*ARCHIVED, *DOCUMENTED)
"""All of them."""


def site_webs(
    options: Options, names: Sequence[str] | None = None, *, most_pages: int = MOST_PAGES
) -> Iterator[RecordedWeb]:
    """The webs of the named sites, or of all and what was recorded, in the order of `SITES`, as far as they are here;
    no more than `most_pages` of each site that is read from files."""
    known = {source.name: source for source in SITES}
    recordings = recorded(options)
    wanted = [*known, *(name for name in recordings if name not in known)] if names is None else names
    for name in wanted:
        if name in recordings:
            yield load_web(recordings[name])
        elif name not in known:
            raise UsageError(f"there is no site called {name!r}: known are {', '.join([*known, *recordings])}")
        elif (web := _web(known[name], options, most_pages)) is not None:
            yield web


def recorded(options: Options) -> dict[str, Path]:
    """Name → file of the recordings that were given."""
    files = sorted((options.webs / "recorded").glob(f"*{SUFFIX}")) if options.webs else []
    return {file.name.removesuffix(SUFFIX): file for file in files}


def _web(source: SiteSource, options: Options, most_pages: int) -> RecordedWeb | None:
    if (kept := _kept(source, options, most_pages)) is not None:
        return first_pages(load_web(kept), most_pages)
    folder = folder_of(source, options)
    if folder is None:
        return None
    options.tell(f"{source.name}: reading {folder}")
    web = web_of_files(
        folder,
        source.address,
        name=source.name,
        own=source.own,
        start=source.start,
        pages=most_pages,
        rules=source.rules,
        # That of a package speaks of the place where it was taken from.
        robots=not source.package,
        # Where pages have no rules, what their text is matters little: whether it is that of another.
        text="model" if source.rules else "furniture",
    )
    save_web(web, options.cache / f"{source.name}-{most_pages}{_ENDING}")
    return web


def _kept(source: SiteSource, options: Options, most_pages: int) -> Path | None:
    """The smallest file with enough pages of a site that was read before."""
    files = options.cache.glob(f"{glob.escape(source.name)}-*{_ENDING}")
    sizes = {file.name.removeprefix(f"{source.name}-").removesuffix(_ENDING): file for file in files}
    enough = [(int(size), file) for size, file in sizes.items() if size.isdecimal() and int(size) >= most_pages]
    return min(enough)[1] if enough else None


def folder_of(source: SiteSource, options: Options) -> Path | None:
    """The folder with a site's files, unpacked where it was packed; None, and a line, where it is not here."""
    if source.package:
        # The first page, not the folder: a program's own package may have put its changelog there.
        if (Path(source.folder) / source.start.lstrip("/")).exists():
            return Path(source.folder)
        options.tell(f"{source.name}: left out; get it with: apt-get install {source.package}")
        return None
    target = options.cache / "unpacked" / source.archive
    if target.is_dir():
        return target
    packed = options.webs / "sites" / f"{source.archive}.tar.zst" if options.webs else None
    if packed is None or not packed.exists():
        options.tell(f"{source.name}: left out; --webs names no folder with sites/{source.archive}.tar.zst")
        return None
    options.tell(f"{source.name}: unpacking {packed}")
    unpack(packed, target)
    return target


def unpack(packed: Path, target: Path) -> None:
    """Unpack an archive into a folder that appears when it is complete."""
    scratch = target.with_name(target.name + ".part")
    scratch.mkdir(parents=True, exist_ok=True)
    # The archives were packed with a window of 128 MiB, more than the decoder takes by default.
    reader = zstandard.ZstdDecompressor(max_window_size=2**27)
    with (
        packed.open("rb") as raw,
        reader.stream_reader(raw) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        tar.extractall(scratch, filter="data")
    scratch.rename(target)
