"""Stored pages with their HTML, for work on rules.

Raw responses are in the archive of their segment, unless the crawl keeps none (`crawl.archive`) or the page asked not
to
be archived.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec
import pyarrow as pa

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.fetch.decode import decode as decode_content
from gossamer.fetch.limits import Trouble
from gossamer.frontier.steering.removals import removal_of
from gossamer.frontier.views.inspect import place_of, segment_ids
from gossamer.frontier.views.segments import document_rows_of
from gossamer.frontier.views.sites import site_domains
from gossamer.model.records import Kind, ParseJob
from gossamer.model.site import host_of, site_of
from gossamer.parse.charset import decode as decode_charset
from gossamer.parse.document_types import of_media
from gossamer.parse.documents.reading import document_html
from gossamer.parse.limits import ParseLimits
from gossamer.parse.sniff import Parser, choose_parser, media_type, true_type
from gossamer.store.archive import StoredResponse
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import open_pages, read_response
from gossamer.store.versions import versions

_COLUMNS = ["url", "title", "text", "page_type", "warc_offset", "warc_length"]
_TRIES = 5
"""How often to look again for segments that were merged while they were read."""


class StoredPage(msgspec.Struct, frozen=True):
    """A document of the crawl, and the place of its raw response."""

    url: str
    title: str
    text: str
    page_type: str
    segment: str
    offset: int | None
    length: int | None


class Html(msgspec.Struct, frozen=True):
    """A page as it came, decoded."""

    text: str
    source: str
    """Where it was read."""


def sites_named(db: Database, name: str) -> list[str]:
    """The crawled sites that a person means by a host, with or without port, or by a registrable domain."""
    return [site for site, domain in site_domains(db) if name in (site, host_of(site), domain)]


def documents_of(folder: DataFolder, db: Database, sites: list[str], limit: int) -> list[StoredPage]:
    """Up to `limit` documents of some sites, evenly spread over the time in which they were found."""
    for _ in range(_TRIES - 1):
        try:
            return _documents_of(folder, db, sites, limit)
        except SegmentMissingError:
            continue
    return _documents_of(folder, db, sites, limit)


def _documents_of(folder: DataFolder, db: Database, sites: list[str], limit: int) -> list[StoredPage]:
    places = [place for site in sites for place in document_rows_of(db, site)]
    step = max(1, -(-len(places) // limit))
    wanted: dict[str, list[int]] = defaultdict(list)
    for segment, row in places[::step]:
        if (place := place_of(db, segment, row)) is not None:
            wanted[place[0]].append(place[1])
    return [page for segment, rows in sorted(wanted.items()) for page in _read(folder, segment, sorted(rows))]


def _read(folder: DataFolder, segment: str, rows: list[int]) -> list[StoredPage]:
    file = open_pages(folder.segments, segment)
    pages = []
    for group, start in enumerate(file.starts[:-1]):
        here = [row - start for row in rows if start <= row < file.starts[group + 1]]
        table = file.read_group(group, _COLUMNS).take(pa.array(here, pa.int64())) if here else None
        for row in table.to_pylist() if table is not None else ():
            title, text, page_type = (row[name] or "" for name in ("title", "text", "page_type"))
            place = segment, row["warc_offset"], row["warc_length"]
            pages.append(StoredPage(row["url"], title, text, page_type, *place))
    return pages


def html_of(folder: DataFolder, page: StoredPage, limits: ParseLimits) -> str | None:
    """The HTML of a stored page; None if it is not in the archive, cannot be decoded, or is a file without any."""
    if page.offset is None:
        return None
    response = read_response(folder.segments, page.segment, page.offset, page.length)
    try:
        body = _body(response, limits)
        kind = of_media(true_type(media_type(response.header("content-type")), body, response.url))
        if kind is not None and kind.is_own:
            return document_html_of(response, limits) or None
        return _text(response, body)
    except Trouble:
        return None


def newest_html(folder: DataFolder, db: Database, url: str, limits: ParseLimits) -> Html:
    """The newest archived HTML of a canonical URL."""
    if (removal := removal_of(db, url)) is not None:
        raise UsageError(f"{url} was taken down ({removal.reason}): Gossamer does not show its stored pages")
    for version in versions(folder.segments, segment_ids(db), url):
        offset = version.page.warc_offset
        if offset is None or not 200 <= version.page.status < 300:
            continue
        response = read_response(folder.segments, version.segment, offset, version.page.warc_length)
        try:
            return Html(_decoded(response, limits), f"the archive, as fetched at {response.fetched_at}")
        except Trouble as error:
            raise UsageError(f"the stored response of {url} cannot be decoded: {error}") from None
    raise UsageError(f"no HTML of {url} is stored: crawl it with crawl.archive on, or name a file and its --url")


def decoded_html(response: StoredResponse, limits: ParseLimits) -> str | None:
    """The text of a response that holds an HTML page; None if it holds something else or cannot be decoded."""
    try:
        body = _body(response, limits)
    except Trouble:
        return None
    is_html = choose_parser(media_type(response.header("content-type")), body) is Parser.HTML
    return _text(response, body) if is_html else None


def document_html_of(response: StoredResponse, limits: ParseLimits) -> str:
    """What an office document, a book or the like says, as simple HTML; empty if the response holds something else."""
    try:
        body = _body(response, limits)
    except Trouble:
        return ""
    return document_html(ParseJob(response.url, Kind.PAGE, response.header("content-type"), body), limits)


def html_from_bytes(body: bytes, url: str, limits: ParseLimits) -> str:
    """The text of a local file that holds a page of a URL."""
    return decode_charset(body[: limits.max_bytes], "text/html", host_of(site_of(url)).rpartition(".")[2]).text


def _decoded(response: StoredResponse, limits: ParseLimits) -> str:
    return _text(response, _body(response, limits))


def _body(response: StoredResponse, limits: ParseLimits) -> bytes:
    encodings = [value for name, value in response.headers if name.lower() == "content-encoding"]
    return decode_content(response.wire_body, encodings, limits.max_bytes, partial=True)


def _text(response: StoredResponse, body: bytes) -> str:
    top_level = host_of(site_of(response.url)).rpartition(".")[2]
    return decode_charset(body, response.header("content-type"), top_level).text
