"""A large corpus of real pages as a data folder, made by Gossamer's own crawl, for the benchmarks of search.

    python bench/_corpus.py                       some 350,000 pages, a quarter of an hour on two cores
    python bench/_corpus.py --quick               a tenth of it
    python bench/_corpus.py --small               some 900 pages of the archives, without the network; half a minute
    python bench/_corpus.py --data D --cache C    somewhere else than in the user's cache folder

The pages are documentation packages of Debian in twenty languages (`apt-get download`, unpacked
into the cache and not installed; only their HTML is kept) and the archives of whole sites that
`crawl.py` uses too. nginx serves each under a name and a loopback address of its own; every page
is a seed, so that none is lost for want of a link. The crawler drops copies as ever: what is
left is what a search engine would index.

The other scripts find the result by `find_corpus` and read it by `iter_documents`.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec

from _crawlers import CONTACT, end_cleanly_when_told, find_gossamer
from _cut import Cut
from _data import ARCHIVES
from _nginx import Nginx
from _sites import SOURCES, Served, Source, cache_folder
from _sites import _folder as archive_folder
from gossamer.index import commits
from gossamer.index.folder import IndexFolder, IndexMissingError
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import iter_pages

NETWORK = "127.0.4"
NAME = "corpus"
"""Folder in the cache."""

_OFFICE = "en-us ru zh-cn zh-tw de fr es it ja ko pl pt-br nl sv cs hu tr el fi hi"
_GIMP = "en ru zh-cn de fr es it ja pt-br el"
_REFERENCE = "en de fr it es pt ja zh-cn zh-tw"
_MANUALS = """
debian-handbook installation-guide-amd64 vim-doc apache2-doc linux-doc-6.1 postgresql-doc-15 db5.3-doc derby-doc
python3.11-doc python-django-doc python-scipy-doc python-pandas-doc python-statsmodels-doc python-sympy-doc twisted-doc
rust-web-doc lazarus-doc-2.2 fp-docs-3.2.2 pike8.0-doc openjdk-17-doc ghc-doc libghc-lens-doc erlang-doc racket-doc
scala-doc groovy-doc cmake-doc cppreference-doc-en-html libstdc++-12-doc libboost1.74-doc llvm-14-doc clang-14-doc
libgtk-4-doc opencv-doc qtbase5-doc-html qtdeclarative5-doc-html gnuradio-doc dpdk-doc libreoffice-dev-doc fop-doc
macaulay2-common sagemath-doc singular-doc octave-doc maxima-doc petsc3.18-doc libapache-poi-java-doc
lilypond-doc-html lilypond-doc-html-ja lilypond-doc-html-zh csound-doc docbook-xsl-doc-html
"""
PACKAGES = (
    *(f"libreoffice-help-{language}" for language in _OFFICE.split()),
    *(f"gimp-help-{language}" for language in _GIMP.split()),
    *(f"debian-reference-{language}" for language in _REFERENCE.split()),
    *_MANUALS.split(),
)
QUICK = ("libreoffice-help-en-us", "libreoffice-help-ru", "libreoffice-help-zh-cn", "gimp-help-de", "db5.3-doc")
SMALL = 300
QUICK_ARCHIVES = ("itw66", "learningischange", "ex-animo")

_SETTINGS = """# Written by bench/_corpus.py: a crawl of real sites on loopback, as fast as it goes.
[crawl]
contact = "{contact}"
archive = false
linger = 5.0

[politeness]
delay = 0.0

[budget]
pages_per_site = 1000000
similar_paths = 1000000
copies = 1000000

[network]
allow = ["127.0.0.0/8"]

[network.resolve]
{resolve}
"""


class Document(msgspec.Struct, frozen=True):
    """A page that was kept."""

    url: str
    title: str
    text: str
    lang: str


def main() -> None:
    """Provides the pages, serves and crawls them, and prints what came of it."""
    options = _options()
    end_cleanly_when_told()
    cache = cache_folder(options.cache)
    kind = "-small" if options.small else "-quick" if options.quick else ""
    data = options.data or cache / NAME / f"data{kind}"
    sites = _sites(options, cache)
    pages = sum(len(site.cut.paths) for site in sites)
    print(f"{len(sites)} sites with {pages} pages", file=sys.stderr)
    data.mkdir(parents=True, exist_ok=True)
    (data / "gossamer.toml").write_text(_settings(sites))
    seeds = data / "seeds.txt"
    seeds.write_text("\n".join(url for site in sites for url in _urls(site)) + "\n")
    with _Server(sites):
        command = [find_gossamer(options.gossamer), "crawl", "--data", str(data), "--seeds", str(seeds)]
        # What is only linked to is no page of the corpus where it is a sample.
        command += ["--depth", "0"] if options.small else []
        done = subprocess.run([*command, "--no-archive", "--workers", str(options.workers)], check=False)
    if done.returncode not in (0, 1):  # 1: a seed is forbidden or gone
        raise SystemExit(done.returncode)
    _print_counts(data, pages)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="five packages and three archives")
    add("--small", action="store_true", help=f"three archives, {SMALL} pages of each; no package is downloaded")
    add("--data", type=Path, help=f"the data folder to make ({NAME}/data in the cache)")
    add("--packages", type=lambda text: tuple(text.split(",")), help="Debian packages instead of the list here")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked pages ($XDG_CACHE_HOME/gossamer-bench)")
    add("--workers", type=int, default=os.cpu_count())
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--port", type=int, default=8087)
    return parser.parse_args()


def find_corpus(given: Path | None, cache: Path, quick: bool = False) -> Path:
    """The data folder of the corpus: the one given, or one in the cache; a quick run makes a small one."""
    found = given or cache / NAME / ("data-small" if quick else "data")
    if quick and not given and not (found / "segments").exists():
        made = subprocess.run([sys.executable, __file__, "--small", "--cache", str(cache)], check=False)
        if made.returncode:
            raise SystemExit("no small corpus could be made, see above: name a crawl with --data")
    if not (found / "frontier.db").exists():
        raise SystemExit(f"no corpus in {found}: make it with: python bench/_corpus.py, or name one with --data")
    if not given:
        _index_anew(found)
    return found


def _index_anew(data: Path) -> None:
    """An index in the cache may be of an older version of Gossamer, which no searcher opens."""
    try:
        commits.read(IndexFolder(data / "index").require())
    except IndexMissingError:
        return
    except commits.IndexVersionError:
        print(f"the index in {data} is of another version of Gossamer: indexing anew", flush=True)
        subprocess.run([find_gossamer(""), "index", "--rebuild", "--data", str(data)], check=True)


def iter_documents(data: Path) -> Iterator[Document]:
    """The pages that were kept, in the order in which they were fetched."""
    columns = ("url", "title", "text", "lang")
    for batch in iter_pages(LocalSegments(data / "segments"), _segments(data), columns, ["document"]):
        for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
            yield Document(*(value or "" for value in row))


def _segments(data: Path) -> list[str]:
    with sqlite3.connect(f"file:{data / 'frontier.db'}?mode=ro", uri=True) as database:
        found = database.execute("SELECT id FROM segments WHERE merged_into IS NULL ORDER BY id").fetchall()
    return [name for (name,) in found]


def _sites(options: argparse.Namespace, cache: Path) -> list[Served]:
    folders: dict[Source, Path] = {}
    few = options.quick or options.small
    for source in SOURCES:
        if source.archive and not options.packages and (not few or source.archive in QUICK_ARCHIVES):
            folder = archive_folder(source, cache, options.archives)
            if folder:
                folders[source] = folder
    for package in () if options.small else options.packages or (QUICK if options.quick else PACKAGES):
        source = Source(package, "documentation", "/", package=package)
        folder = _package_folder(package, cache)
        if folder:
            folders[source] = folder
    served = []
    for number, (source, folder) in enumerate(folders.items(), start=1):
        named = msgspec.structs.replace(source, host=source.host or _host(source.name))
        paths = sorted(_paths(folder, directories=bool(source.archive)))
        paths = paths[:: max(1, len(paths) // SMALL)][:SMALL] if options.small else paths
        served.append(Served(named, Cut(str(folder), "/", paths, 0.0, 0.0), f"{NETWORK}.{number}", options.port))
    if not served:
        raise SystemExit("no site is left for a corpus: get archives (--archives) or packages")
    return served


def _host(name: str) -> str:
    """A name that DNS would allow; each its own domain, since copies are looked for within a domain."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".test"


def _package_folder(package: str, cache: Path) -> Path | None:
    """The common folder of a package's HTML files, unpacked once."""
    target = cache / NAME / "packages" / package
    if not target.is_dir():
        scratch = target.with_name(target.name + ".part")
        scratch.mkdir(parents=True, exist_ok=True)
        fetched = subprocess.run(["apt-get", "download", "-q", package], cwd=scratch, capture_output=True, check=False)
        archive = next(scratch.glob("*.deb"), None)
        if archive is None:
            print(f"{package}: left out; {fetched.stderr.decode().strip()}", file=sys.stderr)
            return None
        _unpack_html(archive, scratch)
        archive.unlink()
        scratch.rename(target)
    folders = [folder for folder, _, files in os.walk(target) if any(_is_html(name) for name in files)]
    return Path(os.path.commonpath(folders)) if folders else None


def _unpack_html(archive: Path, target: Path) -> None:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
            for member in tar:
                if member.isreg() and _is_html(member.name):
                    tar.extract(member, target, filter="data")


def _is_html(name: str) -> bool:
    return name.endswith((".html", ".htm", ".xhtml"))


def _paths(folder: Path, directories: bool) -> Iterator[str]:
    """Every page as it is linked: documentation names its index files, sites name folders."""
    for parent, _, files in os.walk(folder):
        place = "" if parent == str(folder) else f"/{os.path.relpath(parent, folder)}"
        for name in files:
            if _is_html(name):
                yield f"{place}/" if directories and name == "index.html" else f"{place}/{name}"


def _urls(site: Served) -> Iterator[str]:
    for path in site.cut.paths:
        yield f"http://{site.host}:{site.port}{quote(path.encode('utf-8', 'surrogateescape'))}"


def _settings(sites: list[Served]) -> str:
    resolve = "\n".join(f'"{site.host}" = "{site.address}"' for site in sites)
    return _SETTINGS.format(contact=CONTACT, resolve=resolve)


class _Server(Nginx):
    """nginx without its cache of open files: each page is asked for once, and they are more than it may open."""

    def _config(self) -> str:
        return re.sub(r"open_file_cache [^;]*;", "", super()._config())


def _print_counts(data: Path, offered: int) -> None:
    with sqlite3.connect(f"file:{data / 'frontier.db'}?mode=ro", uri=True) as database:
        outcomes = database.execute(
            "SELECT outcome, COUNT(*) FROM urls WHERE outcome IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
    print(f"\n{offered} pages were offered; what became of the URLs:\n\n| outcome | URLs |\n|---|---:|")
    for outcome, count in outcomes:
        print(f"| {outcome} | {count} |")
    size = sum(file.stat().st_size for file in data.rglob("*") if file.is_file())
    print(f"\n{data}: {size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
