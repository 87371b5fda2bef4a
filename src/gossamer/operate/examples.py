"""Collects examples to train the classifier from: files, folders, stored pages.

`gossamer.categories` learns from them; this module reads the disk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from gossamer.categories.examples import Example, examples_from_pages
from gossamer.categories.tokens import MAX_CHARS
from gossamer.crawl.parser_config import ParserConfig
from gossamer.data.exporting import pages as stored_pages
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.model.counts import counted, noun
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.model.url import CanonicalRules
from gossamer.parse.document_types import TYPES
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import RuleBook
from gossamer.scope.chain import ScopeConfig
from gossamer.tables.rulebook import load_rules

_TYPES = {f".{ending}": one.media[0] for one in TYPES for ending in one.endings}


class StoredText(msgspec.Struct, frozen=True):
    """A document of the crawl, as far as the classifier uses it."""

    url: str
    title: str
    text: str


def stored_texts(folder: DataFolder, db: Database, wanted: Callable[[str], bool]) -> Iterator[StoredText]:
    """The newest version of each document whose URL is wanted, with as much text as the classifier uses."""
    for table in stored_pages(folder, db)[1]:
        chosen = [at for at, url in enumerate(table.column("url").to_pylist()) if wanted(url)]
        for row in table.select(["url", "title", "text"]).take(chosen).to_pylist() if chosen else ():
            yield StoredText(row["url"], row["title"] or "", (row["text"] or "")[:MAX_CHARS])


def examples_from_rules(folder: DataFolder) -> list[Example]:
    """Stored documents to which a document rule gives a category."""
    with closing(folder.read()) as db:
        book = RuleBook(load_rules(db))
        if not any(rule.category for rule in book):
            raise UsageError("no document rule names a category: add `category = …` to some rules, or name files")

        def category_of(url: str) -> str:
            rule = book.match(url)
            return rule.category if rule is not None else ""

        pages = stored_texts(folder, db, lambda url: bool(category_of(url)))
        return list(examples_from_pages(pages, category_of, _domain))


class Line(msgspec.Struct, frozen=True):
    """A labelled page in JSON: with its text, or with the URL of a stored page."""

    category: str
    text: str = ""
    title: str = ""
    url: str = ""


def examples_from_files(
    paths: Iterable[Path], folder: DataFolder, canonical: Callable[[str], str]
) -> tuple[list[Example], list[str]]:
    """Labelled pages from JSON files and from folders with a folder per category, and remarks on files and lines that
    were left out. `canonical` turns a URL into the form that is stored."""
    examples: list[Example] = []
    warnings: list[str] = []
    asked: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if path.is_dir():
            examples += _examples_of_folder(path, warnings)
            continue
        for line in _lines(path):
            if line.text or line.title:
                site = _domain(canonical(line.url)) if line.url else ""
                examples.append(Example(line.category, line.title, line.text, site))
            else:
                asked[canonical(line.url)].append(line.category)
    if asked:
        examples += _examples_of_urls(folder, asked, warnings)
    return examples, warnings


def _lines(path: Path) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(Line)
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    line = decoder.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise UsageError(f"{path} line {number}: {error}: {_FORM}") from error
                if not (line.text or line.title or line.url):
                    raise UsageError(f"{path} line {number}: it has neither text nor url: {_FORM}")
                yield line
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}: name a file of JSON lines or a folder") from error


_FORM = 'write {"category": "sport", "title": "…", "text": "…"} or {"category": "sport", "url": "…"} in each line'


def _examples_of_urls(folder: DataFolder, asked: dict[str, list[str]], warnings: list[str]) -> Iterator[Example]:
    with closing(folder.read()) as db:
        missing = dict.fromkeys(asked)
        for page in stored_texts(folder, db, asked.__contains__):
            missing.pop(page.url, None)
            for category in asked[page.url]:
                yield Example(category, page.title, page.text, _domain(page.url))
        if missing:
            warnings.append(
                f"{counted(missing, 'URL')} {noun(len(missing), 'is')} "
                f"left out: there is no stored document for {next(iter(missing))} …"
            )


def _examples_of_folder(root: Path, warnings: list[str]) -> Iterator[Example]:
    """Every folder in `root` is a category."""
    unread = []
    for path in sorted(path for path in root.rglob("*") if path.suffix.lower() in _TYPES and path.is_file()):
        inside = path.relative_to(root).parts
        if len(inside) < 2:
            unread.append(f"{path} (not in the folder of a category)")
            continue
        page = read_local(path)
        if page.ok:
            yield Example(inside[0], page.title, page.text)
        else:
            unread.append(f"{path} ({page.problem})")
    if unread:
        warnings.append(f"{counted(unread, 'file')} {noun(len(unread), 'is')} left out: {unread[0]} …")


def read_local(path: Path) -> Parsed:
    """Parse a local file; its suffix determines the type."""
    from gossamer.crawl.reading import PageParser  # parsers are slow to load, and most commands need none

    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    config = ParserConfig(CanonicalRules(), ScopeConfig(), (), ParseLimits(), near="none")
    name = "".join(char if char.isalnum() or char in "-." else "_" for char in path.name)
    job = ParseJob(f"http://localhost/{name}", Kind.PAGE, _TYPES.get(path.suffix.lower(), ""), body)
    return PageParser(config).read(job)


def _domain(canonical_url: str) -> str:
    return registrable_domain(host_of(site_of(canonical_url)))
