"""Real pages of many kinds for an index: collections with judgements, news, stories, whole sites, documentation.

Everything comes from the folder of real data (`--shared`) and from the documentation of the packages that are
installed; what is not there is left out and said.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import zstandard

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.errors import UsageError
from gossamer.evaluate.collections import load
from gossamer.index.document import IndexPage
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig

CLASSICS = ("cranfield", "med", "lisa", "time")
SITES = ("itw66", "ex-animo", "learningischange", "linuxcn", "openoffice-org")
_LARGEST = 1_000_000
"""Bytes of an HTML file."""


class _Story(msgspec.Struct):
    title: str = ""
    text: str = ""
    lang: str = ""
    title_a: str = ""
    title_b: str = ""


def real_pages(shared: Path, documentation: Path, most: int) -> dict[str, list[IndexPage]]:
    """Source → its pages, at most so many of each."""
    data = shared / "data"
    stories = sorted((data / "stories").glob("*.jsonl.zst"))
    passages = sorted((data / "ir").glob("*.json.zst"))
    sources: dict[str, Iterator[IndexPage]] = {
        **{name: _collection(f"{data / 'ir' / 'classic.tar.zst'}:{name}", name) for name in CLASSICS},
        **{
            path.name.removesuffix(".json.zst"): _collection(str(path), path.name.split(".json")[0])
            for path in passages
        },
        **{path.name.partition(".")[0]: _stories(path) for path in stories},
        **{name: _archive(data / "extraction" / f"{name}.tar.zst", name) for name in ("wcxb-dev", "news-dev")},
        **{name: _archive(data / "sites" / f"{name}.tar.zst", name) for name in SITES},
        "documentation": _documentation(documentation),
    }
    found: dict[str, list[IndexPage]] = {}
    for name, pages in sources.items():
        try:
            found[name] = list(islice((page for page in pages if page.text), most))
        except (OSError, UsageError) as error:
            print(f"{name}: left out; {error}", file=sys.stderr)
    return {name: pages for name, pages in found.items() if pages}


def _collection(spec: str, name: str) -> Iterator[IndexPage]:
    """The documents of a collection, and its queries as pages with that title: people ask in such words, too."""
    collection = load(spec)
    for document in collection.documents:
        yield IndexPage(url=f"http://{name}.test/{document.id}", title=document.title, text=document.text,
                        lang=document.lang or None)  # fmt: skip
    for ident, query in collection.queries.items():
        yield IndexPage(url=f"http://{name}.test/asked/{ident}", title=query, text=query)


def _stories(path: Path) -> Iterator[IndexPage]:
    host = path.name.partition(".")[0]
    lines = zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read().splitlines()
    for number, line in enumerate(lines):
        story = msgspec.json.decode(line, type=_Story)
        title, text = story.title or story.title_a, story.text or f"{story.title_a}\n{story.title_b}"
        yield IndexPage(url=f"http://{host}.test/{number}", title=title, text=text.strip() or title, lang=story.lang)


def _archive(path: Path, host: str) -> Iterator[IndexPage]:
    reader = new_reader()
    with (
        path.open("rb") as packed,
        zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as archive,
    ):
        for member in archive:
            if member.isreg() and member.name.endswith((".html", ".htm", ".html.gz")) and member.size < _LARGEST:
                body = archive.extractfile(member).read()
                body = gzip.decompress(body) if member.name.endswith(".gz") else body
                yield from _parsed(reader, f"http://{host}.test/{member.name.removeprefix('./')}", body)


def _documentation(folder: Path) -> Iterator[IndexPage]:
    reader = new_reader()
    for parent, _, files in os.walk(folder):
        for name in sorted(files):
            path = Path(parent, name)
            if name.endswith((".html", ".htm")) and path.is_file() and path.stat().st_size < _LARGEST:
                yield from _parsed(reader, f"http://docs.test/{path.relative_to(folder)}", path.read_bytes())


def new_reader() -> PageParser:
    """Our parser with its defaults."""
    return PageParser(ParserConfig(CanonicalRules(), ScopeConfig(), (), ParseLimits()))


def _parsed(reader: PageParser, url: str, body: bytes) -> Iterator[IndexPage]:
    page = reader.read(ParseJob(url, Kind.PAGE, "text/html", body))
    if page.ok:
        yield IndexPage(url=url, title=page.title, headings=page.headings, text=page.text, lang=page.language or None,
                        date=page.date or None, author=page.author, page_type=page.page_type or "")  # fmt: skip
