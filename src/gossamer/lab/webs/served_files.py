"""The answers of a plain web server for the files of a folder, and what the live parser makes of them.

Queries are ignored, a folder answers with its `index.html` and redirects if its slash is missing, `page.html.gz` is
served
as `page.html`. Everything here is small and encodable, so that several processes can read for one.
"""

from __future__ import annotations

import gzip
import mimetypes
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.model.outcome import Outcome, of_status
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import site_of
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule
from gossamer.scope.chain import ScopeConfig

TextMethod = Literal["model", "furniture", "token-range"]
_KINDS = {"sitemap": 1, "feed": 2}


class ServedFiles(msgspec.Struct, frozen=True):
    """A folder and its addresses."""

    folder: Path
    origin: str
    own: tuple[str, ...] = ()
    """Further prefixes that the site's pages call it by."""
    rules: tuple[DocumentRule, ...] = ()
    text: TextMethod = "model"

    def ours(self, url: str) -> str:
        """A URL as one of the site's; `""` if it is not."""
        for prefix in (self.origin, *self.own):
            if url.startswith(prefix):
                rest = url[len(prefix) :]
                if not rest or rest[0] in "/?" or prefix.endswith("/"):
                    return f"{self.origin}/{rest.removeprefix('/')}"
        return ""

    def file(self, url: str) -> Path | None:
        """The file or folder of a URL of the site."""
        path = unquote(urlsplit(url).path)
        place = self.folder / path.lstrip("/")
        try:
            if ".." in place.parts:
                return None
            if place.is_dir():
                index = _or_packed(place / "index.html") if path.endswith("/") else None
                return index or place
            return None if path.endswith("/") else _or_packed(place)
        except (OSError, ValueError):  # a name that is too long, or has a NUL
            return None


class Answer(msgspec.Struct):
    """The server's answer for one URL, and the parser's result; URLs are the site's own."""

    outcome: str
    status: int
    size: int = 0
    media_type: str = ""
    kind: int = 0
    noindex: bool = False
    redirect: str = ""
    canonical: str = ""
    text_hash: str = ""
    fingerprint: bytes = b""
    page_type: str = ""
    links: list[str] = []
    feeds: list[str] = []


def ask(site: ServedFiles, url: str) -> Answer:
    """Fetch and read a URL of the site."""
    file = site.file(url)
    path = urlsplit(url).path
    if file is None:
        return _without_page(404)
    if file.is_dir():
        return (
            _without_page(403)
            if path.endswith("/")
            else _without_page(301, urlsplit(url)._replace(path=path + "/").geturl())
        )
    body, name = file.read_bytes(), file.name
    if name.endswith(".gz") and not path.endswith(".gz"):
        body, name = _unpacked(body), name.removesuffix(".gz")
    declared = mimetypes.guess_type(name)[0] or "application/octet-stream"
    parsed = _reader(site).read(ParseJob(url, Kind.PAGE, declared, body))
    answer = _of_parsed(site, url, parsed)
    answer.size, answer.media_type = len(body), parsed.media_type
    return answer


@lru_cache(maxsize=4)
def _reader(site: ServedFiles) -> PageParser:
    scope = ScopeConfig(hosts=tuple(dict.fromkeys(site_of(prefix) for prefix in (site.origin, *site.own))))
    limits = ParseLimits(text=site.text)
    return PageParser(ParserConfig(CanonicalRules(), scope, (), limits, documents=site.rules))


def _of_parsed(site: ServedFiles, url: str, parsed: Parsed) -> Answer:
    if not parsed.ok:
        outcome = Outcome.UNSUPPORTED_TYPE if parsed.unsupported else Outcome.PARSE_FAILED
        return Answer(outcome.value, 200)
    if parsed.method in _KINDS:
        newest_first = sorted(parsed.entries, key=lambda entry: -(entry.published_at or 0.0))
        named = [*parsed.nested, *(entry.url for entry in newest_first)]
        return Answer(Outcome.RESOURCE.value, 200, kind=_KINDS[parsed.method], links=_ours(site, url, named))
    if parsed.refresh and parsed.refresh != url:
        return Answer(Outcome.REDIRECT.value, 200, redirect=site.ours(parsed.refresh))
    canonical = site.ours(parsed.canonical)
    return Answer(
        Outcome.DOCUMENT.value,
        200,
        noindex=parsed.noindex,
        canonical=canonical if canonical != url else "",
        text_hash=parsed.content_hash,
        fingerprint=parsed.fingerprint,
        page_type=parsed.page_type,
        links=_ours(site, url, parsed.follow),
        feeds=_ours(site, url, parsed.feeds),
    )


def _ours(site: ServedFiles, url: str, targets: Iterable[str]) -> list[str]:
    """The site's own among some URLs, each once, without the page itself."""
    found = dict.fromkeys(map(site.ours, targets))
    return [target for target in found if target and target != url]


def _without_page(status: int, redirect: str = "") -> Answer:
    return Answer(of_status(status).value, status, redirect=redirect)


def _or_packed(place: Path) -> Path | None:
    packed = place.with_name(place.name + ".gz")
    return place if place.is_file() else packed if packed.is_file() else None


def _unpacked(body: bytes) -> bytes:
    try:
        return gzip.decompress(body)
    except (OSError, EOFError, zlib.error):
        return b""
