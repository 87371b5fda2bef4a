"""Reads a data folder for the API: every question with a connection of its own, so any thread may ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.api.pages import Link, More, Page
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.page_markdown import MarkdownMaker
from gossamer.data.raw_pages import decoded_html
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier import changes
from gossamer.frontier.steering.removals import removal_of
from gossamer.frontier.views.inspect import place_of
from gossamer.model.site import key64, site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.settings import Settings
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import open_links, open_pages, read_response

T = TypeVar("T")

_TRIES = 5
"""How often to look again for a segment that was merged while it was read."""

COLUMNS = (
    *("url", "title", "text", "lang", "date", "updated", "author", "description", "headings", "page_type", "category"),
    *("site", "site_name", "image", "canonical", "media_type", "status", "depth", "fetched_at"),
    *("content_hash", "warc_offset", "warc_length"),
)  # fmt: skip
"""The columns of a page that a program gets."""


class Store:
    """A data folder, read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = DataFolder(root)

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return Store, (self.root,)

    @property
    def settings(self) -> Settings:
        """The settings of the crawl, which may change."""
        return settings_of_crawl(self.root)

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The frontier database, for reading."""
        with closing(self.folder.read()) as db:
            yield db

    def page(self, row: Mapping[str, Any], segment: str) -> Page:
        """The page of a stored row."""
        text = {name: row[name] or "" for name in ("title", "text", "date", "updated", "author", "description")}
        more = {name: row[name] or "" for name in ("category", "site_name", "image", "canonical")}
        return Page(
            url=row["url"],
            **text,
            **more,
            language=row["lang"] or "",
            headings=tuple(row["headings"] or ()),
            type=row["page_type"] or "",
            site=row["site"],
            media_type=row["media_type"],
            status=row["status"],
            depth=row["depth"],
            fetched_at=row["fetched_at"],
            text_hash=row["content_hash"] or "",
            more=self._more(dict(row), segment),
        )

    def find(self, url: str) -> Page | None:
        """The stored page of a URL; None where it is no document."""
        address = canonical_or_error(url, self.settings)
        with self.database() as db:
            if (removal := removal_of(db, address)) is not None:
                raise UsageError(
                    f"{address} was taken down ({removal.reason}): Gossamer does not show its stored pages"
                )
            return again_if_merged(lambda: self._find(db, address))

    def _find(self, db: Database, address: str) -> Page | None:
        place = self._place(db, address)
        if place is None:
            return None
        name, number = place
        for _, row in open_pages(self.folder.segments, name).values([number], COLUMNS):
            return self.page(row, name)
        return None

    def _place(self, db: Database, address: str) -> tuple[str, int] | None:
        written = changes.documents(db, key64(site_of(address)), [key64(address)]).get(key64(address))
        return place_of(db, *written) if written is not None else None

    def _more(self, row: dict[str, Any], segment: str) -> More:
        return More(partial(self._markdown, row, segment), partial(self._links, row, segment),
                    partial(self._html, row, segment))  # fmt: skip

    def _html(self, row: dict[str, Any], segment: str) -> str | None:
        if row["warc_offset"] is None:
            return None
        return self._where_it_is(row, segment, self._decoded)

    def _decoded(self, row: Mapping[str, Any], segment: str) -> str | None:
        response = read_response(self.folder.segments, segment, row["warc_offset"], row["warc_length"])
        return decoded_html(response, self._limits)

    def _markdown(self, row: dict[str, Any], segment: str) -> str:
        return self._where_it_is(row, segment, self._made)

    def _made(self, row: Mapping[str, Any], segment: str) -> str:
        title, text = row["title"] or "", row["text"] or ""
        return self._maker.make(segment, row["url"], title, text, row["warc_offset"], row["warc_length"]).text

    def _links(self, row: dict[str, Any], segment: str) -> tuple[Link, ...]:
        return self._where_it_is(row, segment, self._stored_links)

    def _stored_links(self, row: Mapping[str, Any], segment: str) -> tuple[Link, ...]:
        file, found = open_links(self.folder.segments, segment), list[Link]()
        for group in range(len(file.starts) - 1):
            if file.may_hold(group, "source", row["url"]):
                table = file.read_group(group)
                own = pc.equal(table.column("source").cast(pa.string()), row["url"])
                found += [link for link in links_of(table.filter(own)) if link.fetched_at == row["fetched_at"]]
        return tuple(found)

    def _where_it_is(self, row: dict[str, Any], segment: str, read: Callable[[Mapping[str, Any], str], T]) -> T:
        """What is read of a stored row; its segment may have been merged into another since."""
        try:
            return read(row, segment)
        except SegmentMissingError:
            with self.database() as db:
                place = self._place(db, row["url"])
            if place is None:
                raise
            for _, newer in open_pages(self.folder.segments, place[0]).values([place[1]], COLUMNS):
                return read(newer, place[0])
            raise

    @cached_property
    def _limits(self) -> Any:
        return self.settings.parse

    @cached_property
    def _maker(self) -> MarkdownMaker:
        with self.database() as db:
            return MarkdownMaker(self.folder, self.settings, db)


def links_of(table: pa.Table) -> Iterator[Link]:
    """The links in a table of stored ones."""
    for row in table.to_pylist():
        yield Link(row["source"], row["target"], row["anchor"], row["rel"], row["tag"], row["fetched_at"])


def again_if_merged(read: Callable[[], T]) -> T:
    """What is read of segments; read again where one was merged into another meanwhile."""
    for _ in range(_TRIES - 1):
        try:
            return read()
        except SegmentMissingError:
            continue
    return read()
