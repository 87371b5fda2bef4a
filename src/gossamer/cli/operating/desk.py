"""`gossamer desk`: synonyms, best bets and the other rules of the search desk, from files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.compose.search import open_searcher
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import StorageError, UsageError
from gossamer.evaluate.desk_queries import judged_queries, real_queries
from gossamer.evaluate.desk_trial import Trial, try_rules
from gossamer.model.counts import counted, noun
from gossamer.model.moments import timestamp
from gossamer.operate import desk as desk_of_crawl
from gossamer.operate.canonical import canonical_or_error
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import MAX_BYTES, read_desk, write_desk
from gossamer.search.desk.rules import Desk
from gossamer.settings import Settings
from gossamer.tables import desk as table
from gossamer.tables.audit import note as write_line

command = App(name="desk", help="Manage the search desk: synonyms, best bets, hidden pages, boosts, collections.")

File = Annotated[str, Parameter(allow_leading_hyphen=True)]
_SECONDS = 60.0
"""For which `try` searches."""
_MOVES = 5
"""Results of a query that `try` prints."""


@command.command
def show(*, draft: bool = False, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Print the rules that count, as TOML.

    Parameters
    ----------
    draft
        Print the draft instead.
    """
    with closing(DataFolder(data).read()) as db:
        found = desk_of_crawl.standing(db)
    rules = found.draft if draft else found.published
    if json:
        print_json({"version": found.number, "is_draft": draft, "rules": rules})
    else:
        sys.stdout.write(write_desk(rules))


@command.command
def check(file: File, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Check a file of rules. Changes nothing.

    Parameters
    ----------
    file
        A TOML file; `-` reads standard input.
    """
    desk = _read(file, settings_of_crawl(data))
    if json:
        print_json({"rules": sum(1 for _ in desk.labels())})
    else:
        out.print(f"The file is in order: {desk_of_crawl.told(desk)}.", markup=False)


@command.command(name="import")
def import_(file: File, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Put the rules of a file into the draft, in place of what is there. Nothing counts before you publish it.

    Parameters
    ----------
    file
        A TOML file; `-` reads standard input.
    """
    desk = _read(file, settings_of_crawl(data))
    with closing(_open(data)) as db:
        now = SystemClock().now()
        found = desk_of_crawl.edit(db, operator_name(), now, lambda _: desk)
        write_line(db, now, operator_name(), "edit desk", "draft", "\n".join(found.changes))
    if json:
        print_json({"changes": found.changes})
        return
    _print_changes(found.changes, "The draft equals what counts.")


@command.command(name="try")
def try_(file: File = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Show what the draft would change: in the queries of the last four weeks, and in judged ones (console.judged).

    Parameters
    ----------
    file
        A TOML file to try instead of the draft; `-` reads standard input.
    """
    settings, folder = settings_of_crawl(data), DataFolder(data)
    with closing(folder.read()) as db:
        found = desk_of_crawl.standing(db)
        asked = real_queries(db, SystemClock().now())
    desk = _read(file, settings) if file else found.draft
    until = time.monotonic() + _SECONDS
    judged = judged_queries(folder.root, settings)
    trial = try_rules(
        open_searcher(data), Rules(found.published), Rules(desk), asked, judged, lambda: time.monotonic() < until
    )
    print_json(trial) if json else _print_trial(trial)


@command.command
def publish(
    file: File = "", *, note: str = "", data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False
) -> None:
    """Let the draft count. Running servers use it within a second.

    Parameters
    ----------
    file
        A TOML file to publish instead of the draft; `-` reads standard input.
    note
        Why, for the history.
    """
    desk = _read(file, settings_of_crawl(data)) if file else None
    with closing(_open(data)) as db:
        now, who = SystemClock().now(), operator_name()
        number, changes = desk_of_crawl.publish(db, who, now, note, desk)
        write_line(db, now, who, "publish desk", f"version {number}", "\n".join([note, *changes]).strip())
    if json:
        print_json({"version": number, "changes": changes})
    else:
        out.print(f"Version {number} of the rules counts now.", markup=False)
        _print_changes(changes, "")


@command.command
def undo(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Undo the last publication: the version before it counts again."""
    with closing(_open(data)) as db:
        now, who = SystemClock().now(), operator_name()
        before, number, changes = desk_of_crawl.undo(db)
        write_line(db, now, who, "undo desk", f"version {before}", "\n".join([f"version {number} counts", *changes]))
    if json:
        print_json({"version": number, "changes": changes})
    else:
        counts = f"version {number} counts again" if number else "no rules count"
        out.print(f"Version {before} of the rules was taken back: {counts}.", markup=False)
        _print_changes(changes, "")


@command.command
def discard(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Throw the draft away."""
    with closing(_open(data)) as db:
        changes = desk_of_crawl.standing(db).changes
        desk_of_crawl.discard(db)
        if changes:
            write_line(db, SystemClock().now(), operator_name(), "discard desk", "draft", "\n".join(changes))
    if json:
        print_json({"discarded": changes})
    else:
        out.print("The draft equals what counts." if changes else "There was no draft.", markup=False)


@command.command
def history(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the published versions, newest last."""
    with closing(DataFolder(data).read()) as db:
        number, found = table.current(db), table.history(db)[::-1]
    if json:
        print_json({"version": number, "versions": found})
        return
    for one in found:
        mark = "*" if one.number == number else " "
        out.print(f"{mark} {one.number}  {timestamp(one.at)}  {one.who}  {one.note}".rstrip(), markup=False)
    if not found:
        out.print("No rules were ever published.")


def _open(data: Path) -> Database:
    DataFolder(data).read().close()  # there must be a crawl
    return DataFolder(data).open_database()


def _read(name: str, settings: Settings) -> Desk:
    try:
        if name != "-" and Path(name).stat().st_size > MAX_BYTES:
            raise UsageError(f"{name} is larger than {MAX_BYTES >> 20} MiB: it is not a file of rules")
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8: is it a TOML file?") from None
    except OSError as error:
        raise StorageError(f"cannot read {name}: {error.strerror}") from error
    return read_desk(text, "standard input" if name == "-" else name, lambda url: canonical_or_error(url, settings))


def _print_changes(changes: Sequence[str], nothing: str) -> None:
    for line in changes:
        out.print(line, markup=False)
    if not changes and nothing:
        out.print(nothing)


def _print_trial(trial: Trial) -> None:
    for one in trial.changed:
        out.print(f"{one.query}  ({one.times} ×, {one.before} → {counted(one.after, 'result')})", markup=False)
        for move in one.moves[:_MOVES]:
            places = f"{move.before or '–'} → {move.after or '–'}"
            out.print(f"  {move.what:5} {places:>8}  {move.url}", markup=False)
        for rule in one.rules:
            out.print(f"  by {rule}", markup=False)
    changed = len(trial.changed)
    if trial.queries:
        out.print(f"{changed} of {counted(trial.queries, 'query')} {noun(changed, 'changes', 'change')}.", markup=False)
    else:
        out.print("No queries of readers were counted in the last four weeks.")
    if trial.left:
        out.print(f"There was no time for {trial.left} more.", markup=False)
    if trial.judged is not None:
        judged = trial.judged
        out.print(f"{judged.name}: nDCG@10 {judged.before:.4f} → {judged.after:.4f} on {judged.queries} judged queries")
