"""Link ranks of a site that lies in a folder as HTML files: makes `NAME.pages.tsv.gz` for `training/qrank.py`.

    python training/link_ranks.py --out DIR NAME=FOLDER [NAME=FOLDER ...]

Each line: path, pages that link to it, pages it links to, PageRank × pages (damping .85; pages without links give to
all alike). A link that names a host counts when it is the site's own: the host under which most paths of such links
exist in the folder.
"""

from __future__ import annotations

import argparse
import gzip
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np

PAGE = re.compile(r"\.(html?|php|shtml|asp|xhtml)$", re.IGNORECASE)
LINK = re.compile(
    rb"<(?:a|area|frame|iframe)\s[^>]*?(?:href|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE
)
MOST_BYTES = 400_000
DAMPING = 0.85
_ABSOLUTE = ("http:", "https:", "//")


class Folder:
    """The pages of a folder and the links between them."""

    def __init__(self, root: Path) -> None:
        files = sorted(file for file in root.rglob("*") if PAGE.search(file.name) and file.is_file())
        self.paths = ["/" + file.relative_to(root).as_posix() for file in files]
        self._numbers = {path: number for number, path in enumerate(self.paths)}
        self._links = [links_of(file.read_bytes()[:MOST_BYTES]) for file in files]
        self._hosts = self._own_hosts()

    def arcs(self) -> np.ndarray:
        """From, to: each pair once, no page to itself."""
        pairs = {
            (source, target)
            for source, path in enumerate(self.paths)
            for link in self._links[source]
            if (target := self._target(link, posixpath.dirname(path))) not in (None, source)
        }
        return np.array(sorted(pairs), np.int64).reshape(-1, 2)

    def _own_hosts(self) -> set[str]:
        hosts: Counter[str] = Counter()
        for links in self._links:
            for host, path in filter(None, map(_host_and_path, links)):
                hosts[host] += len(path) > 1 and self._number(path) is not None
        best, hits = next(iter(hosts.most_common(1)), ("", 0))
        bare = best.removeprefix("www.")
        return {bare, f"www.{bare}"} if hits > max(20, len(self.paths) * 0.3) else set()

    def _target(self, link: str, folder: str) -> int | None:
        if link.startswith(_ABSOLUTE):
            host, path = _host_and_path(link) or ("", "")
            return self._number(path or "/") if host in self._hosts else None
        path = link.partition("?")[0]
        if not path or ":" in link.partition("/")[0]:
            return None
        return self._number(posixpath.normpath(posixpath.join(folder, path)))

    def _number(self, path: str) -> int | None:
        path = unquote(path)
        bare = path.rstrip("/")
        names = (path, f"{bare}/index.html", f"{path}.html", f"{bare}/index.htm", f"{bare}/index.php")
        return next((self._numbers[name] for name in names if name in self._numbers), None)


def links_of(page: bytes) -> set[str]:
    """The different links of a page, without fragments."""
    found = {_text(match).partition("#")[0] for match in LINK.finditer(page)}
    return {link for link in found if link and not link.startswith(("mailto:", "javascript:", "data:", "tel:"))}


def page_rank(arcs: np.ndarray, count: int) -> np.ndarray:
    """PageRank × pages."""
    sources, targets = arcs.T
    out = np.bincount(sources, minlength=count)
    ranks = np.ones(count)
    for _ in range(100):
        shares = np.divide(ranks, out, out=np.zeros(count), where=out > 0)
        given = np.bincount(targets, shares[sources], count) + ranks[out == 0].sum() / count
        ranks = 1 - DAMPING + DAMPING * given
    return ranks


def write_rows(folder: Folder, target: Path) -> None:
    """The file; the same folder gives the same bytes."""
    with target.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.writelines(line.encode() for line in lines(folder))


def lines(folder: Folder) -> Iterator[str]:
    """The lines of the file."""
    arcs, count = folder.arcs(), len(folder.paths)
    to, out = (np.bincount(arcs[:, side], minlength=count) for side in (1, 0))
    for path, *numbers, rank in zip(folder.paths, to, out, page_rank(arcs, count), strict=True):
        yield f"{path}\t{numbers[0]}\t{numbers[1]}\t{rank:.5g}\n"


def _text(match: re.Match[bytes]) -> str:
    return next(filter(None, match.groups()), b"").decode("utf-8", "replace").strip().replace("&amp;", "&")


def _host_and_path(link: str) -> tuple[str, str] | None:
    if not link.startswith(_ABSOLUTE):
        return None
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    return parts.netloc, parts.path


def main() -> None:
    """Writes a file for each folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("sites", nargs="+", metavar="NAME=FOLDER")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for site in args.sites:
        name, _, folder = site.partition("=")
        pages = Folder(Path(folder))
        write_rows(pages, args.out / f"{name}.pages.tsv.gz")
        print(f"{name}: {len(pages.paths)} pages")


if __name__ == "__main__":
    main()
