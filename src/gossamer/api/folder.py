"""A data folder, as a program reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.api.changes import Changes
from gossamer.api.explaining import Explanation, explain
from gossamer.api.moments import Moment, day_of, first_day, moment_of
from gossamer.api.pages import Link, Page
from gossamer.api.stored import COLUMNS, Store, links_of
from gossamer.compose.search import open_front_end, open_searcher
from gossamer.data import exporting
from gossamer.data.raw_pages import sites_named
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier import changes
from gossamer.frontier.views.sites import site_names
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.search.results import Request, Since, Sort

if TYPE_CHECKING:
    from gossamer.api.searching import Results
    from gossamer.search.searcher import Searcher
    from gossamer.search.shards.sharded import ShardedSearcher

What = Literal["pages", "links", "urls"]

_MOST = 100
"""Results of one question to the index."""


def open(folder: str | os.PathLike[str] = "gossamer-data") -> Folder:
    """Open the data folder of a crawl, whether or not the crawl is running; nothing in it is changed.

    Raises `gossamer.errors.UsageError` if there is no crawl in it.
    """
    found = Folder(folder)
    found.last_change  # noqa: B018 - whoever names a wrong folder hears it here
    return found


class Folder:
    """What a crawl has stored. Every method reads what is there now; a Folder may be used from any thread."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder).absolute()
        """Where it is."""
        self._store = Store(self.path)

    def __repr__(self) -> str:
        return f"gossamer.open({str(self.path)!r})"

    @property
    def last_change(self) -> int:
        """The number of the crawl's last change: `changes(since=folder.last_change)` begins now."""
        with self._store.database() as db:
            return changes.last_change(db)

    def sites(self) -> list[str]:
        """All sites of the crawl: hosts, with the port if it is not the default one."""
        with self._store.database() as db:
            return site_names(db)

    def page(self, url: str) -> Page | None:
        """The stored page of a URL; None if it is no page of the crawl: then `explain` says why."""
        return self._store.find(url)

    def pages(
        self,
        *,
        site: str = "",
        language: str = "",
        type: str = "",
        category: str = "",
        since: Moment | None = None,
        published_since: Moment | None = None,
        published_before: Moment | None = None,
    ) -> Iterator[Page]:
        """The newest version of every page, in no particular order.

        `site`: a host (`www.example.org`, `127.0.0.1:8000`) or a registrable domain (`example.org`), which stands for
        all its hosts. `language`, `type`, `category`: as in `Page`. `since`: fetched then or later. `published_since`,
        `published_before`: by the day of `Page.date`; pages without a date are left out.
        """
        wanted = _Wanted(language, type, category, since, published_since, published_before)
        with self._store.database() as db:
            sites = _sites(db, site) if site else None
            for segment, table in exporting.stored_pages(self._store.folder, db, sites=sites):
                for row in wanted.rows(table.select(COLUMNS)):
                    yield self._store.page(row, segment)

    def links(
        self, *, site: str = "", target: str = "", since: Moment | None = None, every_visit: bool = False
    ) -> Iterator[Link]:
        """The links of all pages, by their newest visit; `every_visit`: of each stored visit.

        `site`: of pages of this host or registrable domain only. `target`: that point to this URL. `since`: of pages
        fetched then or later.
        """
        address = canonical_or_error(target, self._store.settings) if target else ""
        moment = moment_of(since, "since") if since is not None else None
        with self._store.database() as db:
            sites = set(_sites(db, site)) if site else None
            newest = None if every_visit else _newest_visits(self._link_tables(db))
            for table in self._link_tables(db):
                if address:
                    table = table.filter(pc.equal(table.column("target").cast(pa.string()), address))
                if moment is not None:
                    table = table.filter(pc.greater_equal(table.column("fetched_at"), moment))
                if newest is not None:
                    table = _only_newest(table, newest)
                yield from (link for link in links_of(table) if sites is None or site_of(link.source) in sites)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        page: int = 1,
        site: str = "",
        language: str = "",
        since: Since = "",
        sort: Sort = "relevance",
    ) -> Results:
        """Search the pages, best first; `query` may hold words, "phrases", -not, OR and operators (docs/query.md).

        `limit`: results of a page of results, 1 to 100; `page`: which of them. `site`: a host and what is below it.
        `since`: only pages of the last `day`, `week`, `month` or `year`. `sort`: `relevance`, or `date` for the newest
        first.

        Raises `gossamer.errors.GossamerError` if the folder has no index yet.
        """
        from gossamer.api.searching import ask  # who only reads pages goes without the search

        if not 1 <= limit <= _MOST:
            raise UsageError(f"limit={limit}: it must be from 1 to {_MOST}; further results are on page=2, 3, …")
        request = Request(
            query=query, page=page, size=limit, site=site, lang=language, since=since, sort=sort, facets=False
        )
        return ask(self._searcher, request)

    def explain(self, url: str) -> Explanation:
        """Why a URL was fetched, refused or is waiting, and whether a search finds it."""
        return explain(self._store, url)

    def changes(self, since: int | str = 0, *, follow: bool = False) -> Changes:
        """New, changed and removed pages in the order of the changes: iterate with `for` or `async for`.

        `since`: the number of a change that you have seen whole (0: from the beginning), or the `position` of the last
        entry that you have handled: nothing is missed, and nothing comes twice. `follow`: wait for further changes
        instead of ending.

        Raises `gossamer.errors.OperationError` if the change is more than seven days old and the crawl has forgotten
        which pages left since.
        """
        return Changes(self._store, since, follow)

    def arrow(
        self, what: Literal["pages", "links", "urls"] = "pages", *, markdown: bool = False
    ) -> pa.RecordBatchReader:
        """The pages, the links of every visit, or the whole table of URLs as Arrow record batches, for pandas, Polars
        or DuckDB (docs/python.md). `markdown`: pages with a column of that name."""
        db = self._store.folder.read()
        if what == "pages" and markdown:
            schema, tables = exporting.pages_with_markdown(self._store.folder, db, self._store.settings)
        elif what in ("pages", "links", "urls"):
            schema, tables = getattr(exporting, what)(self._store.folder, db)
        else:
            db.close()
            raise UsageError(f"what={what!r}: choose pages, links or urls")

        def batches() -> Iterator[pa.RecordBatch]:
            with closing(db):
                for table in tables:
                    yield from table.to_batches()

        return pa.RecordBatchReader.from_batches(schema, batches())

    @cached_property
    def _searcher(self) -> Searcher | ShardedSearcher:
        settings = self._store.settings
        return open_front_end(settings)[0] if settings.shards.nodes else open_searcher(self.path)

    def _link_tables(self, db: Database) -> Iterator[pa.Table]:
        return exporting.links(self._store.folder, db)[1]


class _Wanted:
    """Which pages a program asked for."""

    def __init__(
        self, language: str, type: str, category: str, since: Moment | None, first: Moment | None, before: Moment | None
    ) -> None:
        self._equal = {"lang": language.lower(), "page_type": type, "category": category}
        self._since = moment_of(since, "since") if since is not None else None
        self._first = day_of(first, "published_since") if first is not None else ""
        self._before = day_of(before, "published_before") if before is not None else ""

    def rows(self, table: pa.Table) -> Iterator[dict[str, object]]:
        """The rows of a table that fit."""
        for name, value in self._equal.items():
            if value:
                table = table.filter(pc.equal(table.column(name), value))
        if self._since is not None:
            table = table.filter(pc.greater_equal(table.column("fetched_at"), self._since))
        yield from (row for row in table.to_pylist() if self._is_of_the_time(row["date"] or ""))

    def _is_of_the_time(self, date: str) -> bool:
        if not (self._first or self._before):
            return True
        day = first_day(date)
        return bool(day) and day >= self._first and (not self._before or day < self._before)


def _sites(db: Database, name: str) -> list[str]:
    """The sites that a program means; an error if there are none."""
    found = sites_named(db, name)
    if not found:
        raise UsageError(f"site={name!r} is no site of this crawl: `sites()` lists them")
    return found


def _newest_visits(tables: Iterable[pa.Table]) -> pa.Table:
    """Each page that has links, with the time of its newest visit."""
    columns = ["source", "fetched_at"]

    def newest(table: pa.Table) -> pa.Table:
        found = table.group_by("source").aggregate([("fetched_at", "max")])
        return found.select(["source", "fetched_at_max"]).rename_columns(columns)

    some = (table.select(columns) for table in tables)
    found = [newest(one.set_column(0, "source", one.column("source").cast(pa.string()))) for one in some]
    empty = pa.table({"source": pa.array([], pa.string()), "fetched_at": []})
    return newest(pa.concat_tables(found)) if found else empty


def _only_newest(table: pa.Table, newest: pa.Table) -> pa.Table:
    if not table.num_rows:
        return table
    places = pc.index_in(table.column("source").cast(pa.string()), value_set=newest.column("source"))
    return table.filter(pc.equal(newest.column("fetched_at").take(places), table.column("fetched_at")))
