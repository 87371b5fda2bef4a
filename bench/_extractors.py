"""The contestants of `extraction.py`: each takes the bytes of a page and returns its main text.

Each parses by itself, from bytes, with its own way to find the encoding; resiliparse and readability,
which take text, are given what our decoder makes of the bytes. Options are those a user would start with.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.url import Canonicalizer
from gossamer.parse.charset import decode
from gossamer.parse.document import ParseContext, parse_document
from gossamer.parse.html import Tree
from gossamer.parse.structured import read_structured
from gossamer.parse.text import METHODS, MainText, main_text

Extractor = Callable[[bytes, str], str]
MAX_TAGS, MAX_CHARS = 300_000, 2_000_000
PACKAGES = {
    "trafilatura": "trafilatura",
    "resiliparse": "resiliparse",
    "readability": "readability-lxml",
    "newspaper": "newspaper4k",
}
OURS = tuple(f"gossamer {method}" for method in METHODS)
_CONTEXT = ParseContext(Canonicalizer(), lambda urls, now: ([], []), time.time())


def ours(html: bytes, url: str, method: str) -> MainText:
    """What a crawl does with a page for the sake of its main text."""
    tree = Tree(decode(html, "text/html", "").text, MAX_TAGS)
    structured = read_structured(tree, url)
    return main_text(tree, url, MAX_CHARS, structured.types, method, structured.body)


def crawled(html: bytes, url: str) -> Parsed:
    """What a crawl makes of a page, but for its links."""
    return parse_document(ParseJob(url or "https://site.example/", Kind.PAGE, "text/html", html), _CONTEXT)


def find_extractors(names: list[str]) -> dict[str, Extractor]:
    """Those of the named extractors that are installed."""
    found: dict[str, Extractor] = {}
    for name in names:
        try:
            found[name] = _BUILDERS[name]()
        except ImportError as error:
            print(f"{name} is left out: {error}; pip install {PACKAGES.get(name, name)}")
    return found


def versions(names: list[str]) -> str:
    """Name and version of each contestant that is a package."""
    return ", ".join(f"{PACKAGES[name]} {version(PACKAGES[name])}" for name in names if name in PACKAGES)


def _our_method(method: str) -> Callable[[], Extractor]:
    return lambda: lambda html, url: ours(html, url, method).text


def _trafilatura() -> Extractor:
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return lambda html, url: trafilatura.extract(html, url=url or None) or ""


def _resiliparse() -> Extractor:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, url: extract_plain_text(decode(html, "text/html", "").text, main_content=True)


def _readability() -> Extractor:
    import lxml.html
    from readability import Document

    logging.getLogger("readability").setLevel(logging.CRITICAL)

    def extract(html: bytes, url: str) -> str:
        summary = lxml.html.fromstring(Document(decode(html, "text/html", "").text).summary())
        return "\n".join(summary.itertext())

    return extract


def _newspaper() -> Extractor:
    import newspaper

    logging.getLogger("newspaper").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore")

    def extract(html: bytes, url: str) -> str:
        article = newspaper.Article(url or "http://site.example/", fetch_images=False)
        article.download(input_html=html.decode("utf-8", "replace"))
        article.parse()
        return article.text

    return extract


_BUILDERS: dict[str, Callable[[], Extractor]] = {
    "gossamer": lambda: lambda html, url: crawled(html, url).text,
    **{name: _our_method(method) for name, method in zip(OURS, METHODS, strict=True)},
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "readability": _readability,
    "newspaper": _newspaper,
}
CONTESTANTS = tuple(_BUILDERS)
