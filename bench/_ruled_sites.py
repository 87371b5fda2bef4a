"""Whole sites with document rules, for benchmarks that ask what of a crawl is useful.

A cut (`_sites.prepare`) keeps every crawler to the same pages; here it is the crawler's choice that is
measured, so each site is served as it is, archives, tags and errors included, under its own name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from _cut import Cut
from _data import ARCHIVES
from _sites import SOURCES, Served, Source, cache_folder, unpack

RULES = {
    "learning": ("learningischange.com", ["/{year}/{month}/{day}/{slug}/"], []),
    "itw66": ("itw66.ru", ["/blog/{slug}/{slug}.html"], []),
    "mircsgo": ("mircsgo.ru", ["/{slug}/"], ["/page/", "/category/", "/tag/"]),
    "linuxcn": ("undefined.today", ["/article-{id}-{id}.html"], []),
}
"""Domain, patterns of articles, exceptions."""

_TEXTUAL = {".html", ".htm", ".xml", ".txt", ""}


def serve_whole(name: str, number: int, scratch: Path, port: int, archives: Path = ARCHIVES, cache: str = "") -> Served:
    """A copy of a site in which its own absolute links name the benchmark's port; `number` chooses its address."""
    source = next(source for source in SOURCES if source.name == name)
    domain = RULES[name][0]
    unpacked = cache_folder(cache) / "unpacked" / source.archive
    if not unpacked.is_dir():
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        unpack(archives / f"{source.archive}.tar.zst", unpacked)
    target = scratch / "www" / name
    if not target.is_dir():
        shutil.copytree(unpacked, target)
        _rename_own_links(target, source.own, f"http://{domain}:{port}")
    there = Source(name, source.character, source.start, host=domain)
    return Served(there, Cut(str(target), source.start, [], 0.0, 0.0), f"127.0.2.{100 + number}", port)


def write_rules(name: str, folder: Path) -> Path:
    """The site's document rules as a file for `gossamer rules import`."""
    domain, urls, not_urls = RULES[name]
    path = folder / f"{name}.toml"
    path.write_text(
        f"[[rule]]\ndomain = {json.dumps(domain)}\nurls = {json.dumps(urls)}\nnot_urls = {json.dumps(not_urls)}\n"
    )
    return path


def _rename_own_links(folder: Path, own: Iterable[str], address: str) -> None:
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix in _TEXTUAL:
            before = after = file.read_bytes()
            for prefix in own:
                after = after.replace(prefix.encode(), address.encode())
            if after != before:
                file.write_bytes(after)
