"""`gossamer qrank`: train the model that guesses a page's importance from its URL, and ask it."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from rich.table import Table
from rich.text import Text

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
from gossamer.cli.searching.rank import rank_crawl
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.stored_ranks import rank_place
from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.ranked_pages import RankedPages
from gossamer.priority.qrank.explain import Explanation, explained
from gossamer.priority.qrank.model import Model, default_model, load_model
from gossamer.priority.qrank.training import LEAST_PAGES, Trained, train_from_rows
from gossamer.settings import Settings, toml_value
from gossamer.store.durable import storing, sync_file, sync_folder

command = App(name="qrank", help="Train and try the model that guesses the importance of pages from their URLs.")

_MODEL = "qrank.model"
_MOVES = 8
"""Features that are shown to a person."""


@command.command
def train(
    *files: str,
    output: Path | None = None,
    seed: Annotated[int, Parameter(help="Start value of the random numbers.")] = 1,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Train a model on pages with known ranks, by default the pages of the data folder.

    Parameters
    ----------
    files
        Files with a URL, a tab and a rank per line, compressed with gzip or not; or HOST=FILE for files whose lines
        begin with a path of that host and end with its rank. Without files: PageRank over the stored links of the
        crawl.
    output
        The file to write; default: qrank.model in the data folder.
    """
    if seed < 0:
        raise UsageError("--seed must be at least 0")
    own = None if files else _own(data)
    trained = train_from_rows(own.by_lot(seed) if own else (row for name in files for row in _rows(name)), seed)
    target = output or data / _MODEL
    _write(target, trained.model)
    if json:
        print_json(_as_json(trained, own, target))
    else:
        _print_trained(trained, own, target)


@command.command
def show(*urls: str, model: Path | None = None, json: Json = False, debug: Debug = False) -> None:
    """Guess how important URLs are among the pages of their sites, and explain why.

    Parameters
    ----------
    urls
        URLs as you write them in a browser. Gossamer does not fetch them.
    model
        A file that `gossamer qrank train` wrote; default: the model that comes with Gossamer.
    """
    if not urls:
        raise UsageError("name a URL, as in `gossamer qrank show https://example.org/news/`")
    asked = _read_model(model) if model else default_model()
    answers = [explained(asked, canonical_or_error(url, Settings())) for url in urls]
    if json:
        print_json(answers)
        return
    for answer in answers:
        _print_answer(answer)


def _own(data: Path) -> RankedPages:
    """The crawl's own pages, ranked anew."""
    settings = settings_of_crawl(data)
    rank_crawl(data, settings, settings.rank)
    ranked = RankedPages(rank_place(data, settings))
    if ranked.graph.info.nodes < LEAST_PAGES:
        raise UsageError(
            f"{data} has {counted(ranked.graph.info.nodes, 'page')}, too few to train on: "
            f"crawl at least {LEAST_PAGES}, or name files"
        )
    return ranked


def _rows(name: str) -> Iterator[tuple[str, float]]:
    """URLs and ranks of a file: the first and the last column."""
    host, _, rest = name.partition("=")
    path, before = (Path(name), "") if not rest or Path(name).exists() else (Path(rest), _origin(host))
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _row(line, before, f"{path}, line {number}")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {path}: {reason}") from error


def _origin(host: str) -> str:
    return (host if "://" in host else f"https://{host}").rstrip("/")


def _row(line: str, before: str, where: str) -> tuple[str, float]:
    url, *others = line.rstrip("\r\n").split("\t")
    try:
        rank = float(others[-1])
    except (IndexError, ValueError) as error:
        raise UsageError(f"{where}: expected a URL, a tab and a rank: {line.strip()[:80]!r}") from error
    if before and not url.startswith("/"):
        raise UsageError(f"{where}: {url[:80]!r} is not a path: a file after HOST= has paths of that host")
    if not before and "://" not in url:
        raise UsageError(f"{where}: {url[:80]!r} is not an absolute URL: for paths, write HOST=FILE")
    return before + url, rank


def _read_model(path: Path) -> Model:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        return load_model(data)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _write(target: Path, model: bytes) -> None:
    """Put a model in place of the one before; a power cut leaves one of them."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    with storing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(model)
            sync_file(partial)
            partial.replace(target)
            sync_folder(target.parent)
        finally:
            partial.unlink(missing_ok=True)


def _as_json(trained: Trained, own: RankedPages | None, target: Path) -> dict[str, object]:
    figures = {name: getattr(trained, name) for name in ("pages", "sites", "held_out", "other_pages")}
    crawl = {"pages": own.graph.info.nodes, "links": own.graph.info.edges} if own else None
    return {**msgspec.to_builtins(figures), "crawl": crawl, "model": str(target.resolve())}


def _print_trained(trained: Trained, own: RankedPages | None, target: Path) -> None:
    if own:
        graph = own.graph.info
        out.print(
            f"PageRank of {counted(graph.nodes, 'page')} by {counted(graph.edges, 'link')} between them", markup=False
        )
    _print_figures(trained)
    out.print(
        f"Trained on {counted(trained.pages, 'page')} of {counted(trained.sites, 'site')}; wrote {target}",
        markup=False,
    )
    if trained.held_out is None:
        err.print("note: one site does not show how good the model is on other sites", markup=False)
    out.print("To use it with the strategy `qrank`, write in gossamer.toml:", markup=False)
    out.print(f"[priority]\nmodel = {toml_value(str(target.resolve()))}", markup=False)


def _print_figures(trained: Trained) -> None:
    """Rank correlations of guesses about what was held out."""
    table = Table(box=None, pad_edge=False)
    table.add_column("site")
    for name in ("pages", "its other pages", "as an unknown site"):
        table.add_column(name, justify="right")
    strange = {one.site: one.correlation for one in trained.held_out.each} if trained.held_out else {}
    for one in trained.other_pages.each:
        cells = str(one.pages), f"{one.correlation:.2f}", f"{strange[one.site]:.2f}" if strange else ""
        table.add_row(Text(one.site or "(small sites)"), *cells)
    mean = f"{trained.held_out.correlation:.2f}" if trained.held_out else ""
    table.add_row("mean", str(trained.pages), f"{trained.other_pages.correlation:.2f}", mean)
    out.print("Correlation of guessed and true order, on pages and on sites outside the training set:", markup=False)
    out.print(table)


def _print_answer(answer: Explanation) -> None:
    out.print(answer.url, markup=False)
    out.print(f"  place {answer.place:.2f}, importance {answer.importance:.2f}  (both 0 to 1)", markup=False)
    if answer.moves:
        out.print(f"  compared with {answer.start}, whose place is {answer.start_place:.2f}:", markup=False)
    for move in answer.moves[:_MOVES]:
        out.print(f"  {move.effect:+.3f}  {move.feature} {move.start:.2f} → {move.value:.2f}", markup=False)
