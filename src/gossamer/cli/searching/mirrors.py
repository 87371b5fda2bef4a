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
from gossamer.model.counts import counted
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.tables.audit import note

command = App(name="mirrors", help="List mirrors, and decide which sites are mirrors of others.")


@command.default
def show(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the mirrors with state and evidence, and the pairs of sites that share many pages but not enough."""
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
    """Decide that SITE is a mirror of MAIN. From now on its URLs lead to MAIN.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    main
        The main site, in the same form. https://HOST or http://HOST sets the scheme to fetch it by.
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
    """Decide that SITE is not a mirror of MAIN. Without MAIN: not a mirror of any site.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    main
        The other site, in the same form.
    """
    name, other = _site(site, data), _site(main, data) if main else ""
    if name == other:
        raise UsageError(f"both arguments name {name}: name two different sites")
    with closing(_open(data)) as db:
        now = SystemClock().now()
        urls = mirror_table.reject(db, name, other, now)
        note(db, now, operator_name(), "reject mirror", name, other)
    if json:
        print_json({"site": name, "main": other, "queued": urls})
    else:
        out.print(f"{name} is not a mirror{f' of {other}' if other else ''}. {_queued(urls)}", markup=False)


@command.command
def forget(site: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Take back the decision about SITE, so that the crawl decides again.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    """
    name = _site(site, data)
    with closing(_open(data)) as db:
        now = SystemClock().now()
        rows, urls = mirror_table.forget(db, name, now)
        if rows:
            note(db, now, operator_name(), "forget mirror", name)
    if not rows:
        raise UsageError(f"there is no decision about {name}: see `gossamer mirrors`")
    if json:
        print_json({"site": name, "forgotten": rows, "queued": urls})
    else:
        out.print(f"Took back the decision about {name}. {_queued(urls)}", markup=False)


def _site(text: str, data: Path) -> str:
    return site_of(canonical_or_error(text, settings_of_crawl(data)))


def _open(data: Path) -> Database:
    folder = DataFolder(data)
    folder.read().close()  # there must be a crawl
    return open_database(folder.database)


def _queued(urls: int) -> str:
    return f"Queued {urls} of its URLs again."


def _line(mirror: Mirror) -> str:
    arrow = "and" if mirror.state == UNDECIDED else "is not a mirror of" if mirror.state == REJECTED else "→"
    evidence = counted(mirror.same, "equal page") if mirror.same else "no equal pages"
    if mirror.compared:
        evidence += f", {mirror.equal} of {mirror.compared} compared"
    return f"{mirror.state:9} {mirror.site} {arrow} {mirror.main or 'any site'}  ({evidence}): {mirror.reason}"
