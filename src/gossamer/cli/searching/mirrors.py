"""`gossamer mirrors`: sites that are the same as others, and what an operator says about them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from cyclopts import App

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, open_database
from gossamer.errors import UsageError
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.copies.mirror_table import REJECTED, UNDECIDED, Mirror
from gossamer.model.counts import counted, noun
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.tables.audit import note

command = App(name="mirrors", help="Sites that serve the pages of another site; their URLs lead to that one.")


@command.default
def show(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the mirrors with state and evidence, and pairs of sites that share many pages and yet too few."""
    with closing(DataFolder(data).read()) as db:
        mirrors = mirror_table.list_mirrors(db)
    if json:
        print_json(mirrors)
        return
    for mirror in mirrors:
        out.print(_line(mirror), markup=False)
    if not mirrors:
        out.print("There are no mirrors.")


@command.command
def accept(site: str, main: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """SITE is a mirror of MAIN: its URLs lead there from now on, whatever the crawler finds.

    Parameters
    ----------
    site
        A host, with its port where that is not the default one, or any URL of it.
    main
        The same for the site that stands for both; https://HOST or http://HOST says how it is to be read.
    """
    names = _site(site, data), _site(main, data)
    scheme = main.partition("://")[0].lower() if "://" in main else ""
    with closing(_open(data)) as db:
        now = SystemClock().now()
        mirror = mirror_table.accept(db, *names, scheme, now)
        note(db, now, operator_name(), "accept mirror", mirror.site, mirror.main)
    if json:
        print_json(mirror)
    else:
        out.print(f"{mirror.site} is a mirror of {mirror.scheme}://{mirror.main} ({mirror.state}).", markup=False)


@command.command
def reject(site: str, main: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """SITE is no mirror of MAIN, and never will be; without MAIN the crawler finds no mirrors of SITE at all.

    Parameters
    ----------
    site
        A host, with its port where that is not the default one, or any URL of it.
    main
        The other site.
    """
    name, other = _site(site, data), _site(main, data) if main else ""
    if name == other:
        raise UsageError(f"{name} is one site: name two")
    with closing(_open(data)) as db:
        now = SystemClock().now()
        urls = mirror_table.reject(db, name, other, now)
        note(db, now, operator_name(), "reject mirror", name, other)
    if json:
        print_json({"site": name, "main": other, "queued": urls})
    else:
        out.print(f"{name} is no mirror{f' of {other}' if other else ''}; {_queued(urls)}", markup=False)


@command.command
def forget(site: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Take back what was decided about SITE; the crawler may find out anew.

    Parameters
    ----------
    site
        A host, with its port where that is not the default one, or any URL of it.
    """
    name = _site(site, data)
    with closing(_open(data)) as db:
        now = SystemClock().now()
        rows, urls = mirror_table.forget(db, name, now)
        if rows:
            note(db, now, operator_name(), "forget mirror", name)
    if not rows:
        raise UsageError(f"nothing is decided about {name}: see `gossamer mirrors`")
    if json:
        print_json({"site": name, "forgotten": rows, "queued": urls})
    else:
        out.print(f"What was decided about {name} is forgotten; {_queued(urls)}", markup=False)


def _site(text: str, data: Path) -> str:
    return site_of(canonical_or_error(text, settings_of_crawl(data)))


def _open(data: Path) -> Database:
    folder = DataFolder(data)
    folder.read().close()  # there must be a crawl
    return open_database(folder.database)


def _queued(urls: int) -> str:
    return f"{urls} of its URLs {noun(urls, 'is')} queued again."


def _line(mirror: Mirror) -> str:
    arrow = "and" if mirror.state == UNDECIDED else "is no mirror of" if mirror.state == REJECTED else "→"
    evidence = f"{counted(mirror.same, 'page')} found equal" if mirror.same else "no equal pages found"
    if mirror.compared:
        evidence += f", {mirror.equal} of {mirror.compared} compared"
    return f"{mirror.state:9} {mirror.site} {arrow} {mirror.main or 'any site'}  ({evidence}): {mirror.reason}"
