"""The figures of `sites.py` side by side: what the page alone gives, and what the site adds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from _site_lists import ListHits
from _site_repeats import Repeats
from _site_themes import Pairs
from _site_truth import Closeness
from _site_types import Types


class SiteResult(msgspec.Struct, frozen=True):
    """One crawl of one archived site, measured."""

    site: str
    level: str
    seconds: float
    pages: int
    repeats: Repeats
    closeness: Closeness
    kept_back: Closeness
    """Of the half that is looked at once."""
    lists: ListHits
    articles: Types
    list_types: Types


class ThemeResult(msgspec.Struct, frozen=True):
    """One crawl of one blog in two themes, measured."""

    name: str
    level: str
    seconds: float
    pages: int
    pairs: Pairs


class Row(msgspec.Struct, frozen=True):
    """A figure by level; `digits` after the point, `unit` behind the number."""

    name: str
    values: list[float]
    digits: int = 0
    unit: str = ""
    better: int = 0
    """1: more is better, -1: less is, 0: neither."""


def print_report(sites: Sequence[SiteResult], themes: Sequence[ThemeResult], final: bool) -> None:
    """Prints a table a site, and one a variant of the two themes."""
    for name in dict.fromkeys(result.site for result in sites):
        group = [result for result in sites if result.site == name]
        _print_table(name, [result.level for result in group], site_rows(group, final))
    for name in dict.fromkeys(result.name for result in themes):
        pair = [result for result in themes if result.name == name]
        _print_table(name, [result.level for result in pair], theme_rows(pair))


def site_rows(group: Sequence[SiteResult], final: bool) -> list[Row]:
    """The figures of a site."""
    first, kept = group[0], [r.kept_back for r in group]
    rows = [
        Row("documents", [r.pages for r in group]),
        Row("seconds", [r.seconds for r in group]),
        Row("repeating lines, share of all text", [100 * r.repeats.characters for r in group], 1, " %", -1),
        Row("pages with repeating lines", [100 * r.repeats.pages for r in group], 1, " %", -1),
        *_closeness_rows(f"{first.closeness.pages} pages", [r.closeness for r in group]),
        *(_closeness_rows(f"{first.kept_back.pages} pages looked at once", kept) if final else ()),
        Row("lists among the first ten hits", [100 * r.lists.among for r in group], 1, " %", -1),
        Row("a list is the first hit", [100 * r.lists.first for r in group], 0, " %", -1),
        Row("a list is before the article", [100 * r.lists.before for r in group], 0, " %", -1),
        Row("the article is the first hit", [100 * r.lists.found for r in group], 0, " %", 1),
    ]
    for name, types in (("articles", [r.articles for r in group]), ("lists", [r.list_types for r in group])):
        rows += [
            Row(f"types right, {types[0].pages} {name}", [100 * t.right for t in types], 1, " %", 1),
            Row(f"types not shown, {name}", [100 * t.untyped for t in types], 1, " %"),
        ]
    return rows


def _closeness_rows(name: str, values: Sequence[Closeness]) -> list[Row]:
    return [
        Row(f"F1, {name}", [v.f1 for v in values], 3, "", 1),
        Row("precision", [v.precision for v in values], 3, "", 1),
        Row("recall", [v.recall for v in values], 3, "", 1),
    ]


def theme_rows(group: Sequence[ThemeResult]) -> list[Row]:
    """The figures of the two themes."""
    return [
        Row("documents", [r.pages for r in group]),
        Row("seconds", [r.seconds for r in group]),
        Row(f"pairs stored of {group[0].pairs.articles}", [r.pairs.stored for r in group]),
        Row("pairs found", [100 * r.pairs.found for r in group], 1, " %", 1),
        Row("clusters with different articles", [r.pairs.wrong for r in group], 0, "", -1),
    ]


def _print_table(name: str, levels: Sequence[str], rows: Sequence[Row]) -> None:
    has_change = len(levels) > 1
    print(f"\n| {name} | " + " | ".join(levels) + (" | change |" if has_change else " |"))
    print("|---|" + "---:|" * (len(levels) + has_change))
    for row in rows:
        print(row_text(row))


def row_text(row: Row) -> str:
    """A row of the table: a change for the worse is marked with a cross."""
    cells = [f"{value:,.{row.digits}f}{row.unit}" for value in row.values]
    if len(row.values) > 1:
        change = row.values[-1] - row.values[0]
        cells.append(f"{change:+,.{row.digits}f}" + (" ✗" if round(change * row.better, row.digits) < 0 else ""))
    return f"| {row.name} | " + " | ".join(cells) + " |"
