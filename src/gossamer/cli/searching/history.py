"""`gossamer history URL`: all stored visits of a page, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.text import Text

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.cli.searching.search import plain
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.dedup.difference import Change, Piece, folded
from gossamer.errors import UsageError
from gossamer.frontier.steering.removals import removal_of
from gossamer.frontier.views.inspect import segment_ids
from gossamer.model.counts import counted
from gossamer.operate.canonical import canonical_or_error
from gossamer.store.versions import Version, versions
from gossamer.store.visits import Comparison, compare_pages, visit

_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
_STYLES = {"same": "", "removed": "red strike", "added": "green"}


def command(
    url: str,
    *,
    diff: Annotated[bool, Parameter(negative="")] = False,
    older: Annotated[int | None, Parameter(name="--from")] = None,
    newer: Annotated[int | None, Parameter(name="--to")] = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the stored visits to URL, newest first. With --diff, show what changed.

    Parameters
    ----------
    diff
        Show what changed between the two newest visits that have text.
    older
        Number of the older visit to compare.
    newer
        Number of the newer visit to compare.
    """
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    db, page = folder.read(), canonical_or_error(url, settings)
    removal = removal_of(db, page)
    found = versions(folder.segments, segment_ids(db), page) if removal is None else []
    if diff or older is not None or newer is not None:
        compared = _compared(found, older, newer)
        print_json(compared) if json else _show(compared)
        return
    numbers = range(len(found), 0, -1)
    if json:
        print_json(
            [
                {"number": number, "segment": v.segment, "row": v.row, **msgspec.to_builtins(v.page)}
                for number, v in zip(numbers, found, strict=True)
            ]
        )
        return
    for number, version in zip(numbers, found, strict=True):
        _list(number, version, found[len(found) - number + 1 :])
    if removal is not None:
        out.print(f"Taken down ({removal.reason}): Gossamer does not show its visits.", markup=False)
    elif not found:
        out.print("No visit to this URL is stored.")


def _list(number: int, version: Version, earlier: Sequence[Version]) -> None:
    page = version.page
    when = _time(page.fetched_at)
    text = "" if page.text is None else f"{len(page.text)} characters"
    before = next((one.page.cluster for one in earlier if one.page.cluster is not None), None)
    moved = "" if None in (page.cluster, before) or page.cluster == before else f"  (cluster {before} → {page.cluster})"
    said = plain(page.title or page.reason or "")
    out.print(f"{number:3}  {when}  {page.status:3} {page.outcome:14} {text:18} {said}{moved}", markup=False)


def _compared(found: Sequence[Version], older: int | None, newer: int | None) -> Comparison:
    """Two visits by number, 1 being the oldest; those not named are the newest that are left."""
    texts = {len(found) - place: one for place, one in enumerate(found) if one.page.text is not None}
    for number in (older, newer):
        if number is not None and number not in texts:
            known = ", ".join(map(str, sorted(texts))) or "none"
            raise UsageError(f"visit {number} has no stored text: visits with text: {known}")
    last = newer if newer is not None else max((number for number in texts if number != older), default=0)
    first = older if older is not None else max((number for number in texts if number < last), default=0)
    if not first or not last:
        raise UsageError("fewer than two visits to this page have text: see `gossamer history` without --diff")
    old, new = texts[first], texts[last]
    return compare_pages(
        visit(old.page, old.segment, old.row), visit(new.page, new.segment, new.row), old.page, new.page
    )


def _show(compared: Comparison) -> None:
    out.print(f"From {_time(compared.older.fetched_at)} to {_time(compared.newer.fetched_at)}", style="bold")
    if compared.is_empty:
        out.print("Nothing changed.")
        return
    for fact in compared.facts:
        pieces = [Piece("removed", fact.old), Piece("added", fact.new)]
        out.print(Text(f"{fact.name.replace('_', ' ')}: ") + marked(pieces, out.is_terminal))
    for change in compared.text.changes:
        _show_change(change)


def _show_change(change: Change) -> None:
    if change.kind == "same":
        count = counted(change.paragraphs, "paragraph")
        out.print(f"… {count} unchanged …", style="dim")
        return
    if change.kind == "changed":
        out.print(marked(list(folded(change.pieces)), out.is_terminal))
        return
    for piece in change.pieces:
        for line in piece.text.split("\n"):
            out.print(marked([Piece(piece.kind, line)], out.is_terminal))


def marked(pieces: Sequence[Piece], in_colour: bool) -> Text:
    """A paragraph with its changes: in colour for a terminal, else in brackets."""
    shown = Text()
    for piece in pieces:
        text = plain(piece.text)
        if in_colour:
            shown.append(text, style=_STYLES[piece.kind])
        elif text:
            start, end = _MARKS[piece.kind]
            shown.append(f"{start}{text}{end}")
    return shown


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
