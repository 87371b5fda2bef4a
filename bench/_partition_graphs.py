"""Link graphs of the real sites, read from their files once and kept in the cache folder.

A graph is what a crawl of the whole site would find: pages breadth first from the start page, over links that
robots.txt and `rel=nofollow` permit. With `Cut` pages only, it is the graph of what `--live` crawls.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np

from _cut import _Cutter
from _sites import SOURCES, Source
from _sites import _folder as site_folder
from gossamer.partition.links import SiteGraph

FORMAT = 1
"""Part of a file's name: raise it when this script reads links in another way."""
DOCS = Path("/usr/share/doc")
PYTHON = Source("python", "manual", "/index.html", "python3.11-doc", str(DOCS / "python3.11-doc/html"))
SITES = (*SOURCES, PYTHON)


def load_graphs(names: Iterable[str], pages: int, cache: Path, archives: Path) -> dict[str, SiteGraph]:
    """The graphs of the named sites, of so many pages at most."""
    wanted = list(names)
    known = {source.name: source for source in SITES}
    if unknown := set(wanted) - set(known):
        raise SystemExit(f"no site is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    found = {}
    for name in wanted:
        folder = site_folder(known[name], cache, archives)
        if folder:
            found[name] = _load(known[name], folder, pages, cache)
    return found


def _load(source: Source, folder: Path, pages: int, cache: Path) -> SiteGraph:
    file = cache / "graphs" / f"{source.name}-{pages}-v{FORMAT}.npz"
    if not file.exists():
        print(f"{source.name}: reading the links of {folder}", file=sys.stderr)
        file.parent.mkdir(parents=True, exist_ok=True)
        paths, sources, targets = _read(source, folder, pages)
        scratch = file.with_suffix(".part.npz")
        np.savez_compressed(scratch, paths=msgspec.json.encode(paths), sources=sources, targets=targets)
        scratch.rename(file)
    with np.load(file) as stored:
        paths = msgspec.json.decode(stored["paths"].item(), type=list[str])
        urls = [f"http://{source.name}.test{quote(path)}" for path in paths]
        return SiteGraph(urls, stored["sources"], stored["targets"], 0, ())


def _read(source: Source, folder: Path, limit: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    cutter = _Cutter(folder, source.own, "")
    numbers, queue = {source.start: 0}, deque([source.start])
    sources, targets = array("q"), array("q")
    while queue:
        path = queue.popleft()
        file = cutter.file(path)
        assert file, path
        for link in dict.fromkeys(cutter._follow(path, file.read_bytes())):
            if link not in numbers and cutter.file(link) and len(numbers) < limit:
                numbers[link] = len(numbers)
                queue.append(link)
            if link in numbers and link != path:
                sources.append(numbers[path])
                targets.append(numbers[link])
    return list(numbers), np.array(sources, np.int64), np.array(targets, np.int64)
