"""`gossamer categories`: train the classifier, look at it, ask it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from rich.table import Table
from rich.text import Text

from gossamer.categories.model import Model, Opinion
from gossamer.categories.report import CategoryReport, Report
from gossamer.categories.training import PRECISION, train
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
from gossamer.data import classifier
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.examples import examples_from_files, examples_from_rules, read_local, stored_texts

command = App(name="categories", help="Sort pages into categories that you teach by examples.")

_WORDS_IN_A_LINE = 8


@command.command(name="train")
def train_command(
    *files: Path,
    from_rules: Annotated[bool, Parameter(negative="")] = False,
    precision: float = PRECISION,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Train the classifier on examples, measure it, and save it in the data folder.

    Workers that start later give new pages a category. Older pages get theirs when you rebuild the index.

    Parameters
    ----------
    files
        Files with a JSON object per line, `{"category": "sport", "title": "…", "text": "…"}` or
        `{"category": "sport", "url": "…"}` for a crawled page; or folders that have a subfolder of text or HTML files
        for each category.
    from_rules
        Learn from the crawled pages whose document rule names a category.
    precision
        Share of answers that should be right. The classifier gives no answer if it is less sure than that.
    """
    if not 0.0 < precision <= 1.0:
        raise UsageError("--precision must be greater than 0 and at most 1")
    if not files and not from_rules:
        raise UsageError("name files or folders with examples, or learn from document rules with --from-rules")
    folder = DataFolder(data)
    settings = settings_of_crawl(data)
    examples, warnings = examples_from_files(files, folder, lambda url: canonical_or_error(url, settings))
    if from_rules:
        examples += examples_from_rules(folder)
    model = train(examples, precision=precision)
    report = msgspec.structs.replace(model.report, warnings=(*warnings, *model.report.warnings))
    classifier.save_model(folder, model)
    if json:
        print_json(report)
    else:
        _print_report(report)


@command.command
def show(
    category: str | None = None, /, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False
) -> None:
    """Show the categories: examples, measured precision and recall, most typical words.

    Parameters
    ----------
    category
        Only this category, with more words and the categories that the classifier confuses it with.
    """
    model = classifier.load_model(DataFolder(data))
    if category is None:
        print_json(model.report) if json else _print_report(model.report)
        return
    at = _place(model, category)
    taken_for = {name: count for name, count in zip(model.categories, model.report.confusion[at], strict=True) if count}
    one = model.report.categories[at]
    if json:
        print_json({**msgspec.to_builtins(one), "guessed": taken_for})
        return
    out.print(_summary(one), markup=False)
    out.print(f"words: {', '.join(one.words)}", markup=False)
    order = sorted(taken_for, key=lambda name: -taken_for[name])
    out.print(f"guessed: {', '.join(f'{name} {taken_for[name]}' for name in order)}", markup=False)


@command.command
def test(target: str, /, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Show which category a page gets, how sure the classifier is, and which words decide.

    Parameters
    ----------
    target
        A file of a type that Gossamer reads, or the URL of a crawled page.
    """
    folder = DataFolder(data)
    model = classifier.load_model(folder)
    title, text = _page(target, folder, data)
    opinion = model.explain(title, text)
    if json:
        print_json({"title": title, "threshold": model.report.threshold, **msgspec.to_builtins(opinion)})
    else:
        _print_opinion(opinion, model.report.threshold)


def _page(target: str, folder: DataFolder, data: Path) -> tuple[str, str]:
    if Path(target).is_file():
        page = read_local(Path(target))
        if not page.ok:
            raise UsageError(f"cannot read {target}: {page.problem}")
        return page.title, page.text
    url = canonical_or_error(target, settings_of_crawl(data))
    with closing(folder.read()) as db:
        for stored in stored_texts(folder, db, url.__eq__):
            return stored.title, stored.text
    raise UsageError(f"there is no file {target}, and no stored document with that URL: see `gossamer explain {url}`")


def _place(model: Model, category: str) -> int:
    folded = [name.casefold() for name in model.categories]
    if category.casefold() not in folded:
        raise UsageError(f"there is no category {category!r}: choose one of {', '.join(model.categories)}")
    return folded.index(category.casefold())


def _summary(one: CategoryReport) -> str:
    sites = f" of {counted(one.sites, 'site')}" if one.sites else ""
    return (
        f"{one.name}: {counted(one.examples, 'example')}{sites}, precision {one.precision:.2f}, recall {one.recall:.2f}"
    )


def _print_report(report: Report) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("category")
    for name in ("examples", "precision", "recall"):
        table.add_column(name, justify="right")
    table.add_column("words")
    for one in report.categories:
        words = Text(" ".join(one.words[:_WORDS_IN_A_LINE]))
        table.add_row(Text(one.name), str(one.examples), f"{one.precision:.2f}", f"{one.recall:.2f}", words)
    out.print(table)
    unit = "sites" if report.folds_by == "site" else "pages"
    out.print(
        f"Measured on {unit} outside the training set "
        f"({counted(report.folds, 'fold')}, {counted(report.examples, 'example')}): "
        f"{report.accuracy:.0%} of the guesses are right; {report.answered:.0%} of the pages get an answer, and "
        f"{report.precision:.0%} of the answers are right",
        markup=False,
    )
    for warning in report.warnings:
        err.print(f"note: {warning}", markup=False)


def _print_opinion(opinion: Opinion, threshold: float) -> None:
    if opinion.category:
        out.print(f"{opinion.category}  ({opinion.confidence:.0%} sure)", markup=False)
    else:
        out.print(
            f"unsure: most likely {opinion.best} ({opinion.confidences[opinion.best]:.0%}, "
            f"needs {threshold:.0%}); {counted(opinion.known, 'known word')}",
            markup=False,
        )
    for name, confidence in list(opinion.confidences.items())[:5]:
        out.print(f"{confidence:6.1%}  {name}", markup=False)
    for label, words in (("for it", opinion.words), ("against it", opinion.against)):
        if words:
            out.print(f"{label}: {', '.join(f'{word} {value:+.2f}' for word, value in words)}", markup=False)
