"""Markdown: tables and code counted beside the HTML of documentation, and what Markdown costs a page.

    python bench/page_markdown.py                        50 pages of python3-doc and cmake-doc, and the cost on WCXB
    python bench/page_markdown.py --pages 100 --skip 1   others of them
    python bench/page_markdown.py --wrong                every table and code block that differs
    python bench/page_markdown.py --quick                10 pages, and the cost on 40 pages of each kind

The truth is an independent reading of the page by lxml: all `<pre>` without their line numbers, and all `<table>` of
more than one row, inside the template's main element; cells that span others are followed by empty ones. Our Markdown
is made from the page's bytes as a crawl would make it, and read back by markdown-it-py (CommonMark and its rule for
tables). A code block is right if its lines are those of the `<pre>`, white space included; a table if its header and
all its cells have the words of the page. A header row is one in `<thead>`, or one of `<th>` or bold words only. Rows
without any words count on neither side.

The cost is measured on pages of WCXB's development set and of two archived sites: processor time of each part, and
bytes as zstd packs a column of them, beside those of the plain text.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import lxml.html
import zstandard
from markdown_it import MarkdownIt

from _data import ARCHIVES, DOCUMENTATION, WCXB
from _extraction_data import read_samples
from _figures import Figure, add_usual, conclude, leave_out
from gossamer.model.url import Canonicalizer
from gossamer.parse.charset import decode
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.markdown import Markdown, page_markdown
from gossamer.parse.text import main_text

_PACKAGES = ("python3.11-doc/html", "cmake-doc/html")
_SITES = ("itw66", "ex-animo")
_MAIN = "//div[@role='main']"
_PARSER = MarkdownIt("commonmark").enable("table")
_LIMITS = ParseLimits()
_CANONICALIZER = Canonicalizer()
_WORDS = ("text", "code_inline")
_BATCH = 100
"""Pages whose texts are packed together, as in a row group."""

Table = list[list[str]]
"""The words of each cell, row by row; the first row is the header, empty where there is none."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=WCXB, help="wcxb-dev.tar.zst, for the cost")
    add_usual(parser, "10 pages of documentation, the cost on 40 pages of each kind")
    parser.add_argument("--pages", type=int, help="pages of documentation (50; 10 with --quick)")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many of each step")
    parser.add_argument("--cost", type=int, metavar="N", help="pages whose cost is measured (500; 40 with --quick)")
    parser.add_argument("--wrong", action="store_true", help="show what differs")
    options = parser.parse_args()
    options.pages = options.pages or (10 if options.quick else 50)
    options.cost = (40 if options.quick else 500) if options.cost is None else options.cost
    counts = count_structure(options.pages, options.skip, options.wrong)
    figures = [
        Figure(f"{kind} right", counts[f"{kind} right"] / there, most=1)
        for kind in ("tables", "code blocks")
        if (there := counts[f"{kind} on the pages"])
    ]
    if not figures:
        leave_out("tables and code", "apt-get install python3-doc cmake-doc")
    if options.cost:
        figures += costs(options.data, options.cost)
    if not figures:
        raise SystemExit("neither documentation nor pages are there: see --data")
    conclude(options, figures, counts)


def costs(data: Path, pages: int) -> list[Figure]:
    """What Markdown costs pages of each source that is there."""
    figures = []
    for name, path in (("WCXB", data), *((site, ARCHIVES / f"{site}.tar.zst") for site in _SITES)):
        if not path.exists():
            leave_out(name, f"{path} is not there")
            continue
        if name == "WCXB":
            chosen = [(sample.html, sample.url) for sample in islice(read_samples(path), pages)]
        else:
            chosen = site_pages(path, pages // 2)
        text, markdown = measure_cost(name, chosen)
        beside = {"main text": text}
        figures.append(Figure(f"CPU of the Markdown of a page of {name}", markdown, "ms", beside=beside, most=1000))
    return figures


def count_structure(pages: int, skip: int, show: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for file in documentation(pages, skip):
        html = file.read_bytes()
        truth = lxml.html.fromstring(html.decode()).xpath(_MAIN)[0]
        for number in truth.xpath(".//pre//span[@class='linenos']"):
            number.drop_tree()
        code, tables = read_markdown(made(html, f"https://docs.example/{file.name}")[1].text)
        true_code = [code_lines(pre.text_content()) for pre in truth.iter("pre")]
        true_tables = [true_table(table) for table in truth.iter("table") if len(table.findall(".//tr")) > 1]
        for kind, found, right in (("code blocks", code, true_code), ("tables", tables, true_tables)):
            lacking, more = list((Counter(right) - Counter(found)).elements()), Counter(found) - Counter(right)
            counts[f"{kind} on the pages"] += len(right)
            counts[f"{kind} in Markdown"] += len(found)
            counts[f"{kind} right"] += len(right) - len(lacking)
            if show and (lacking or more):
                print(file, kind, *(f"\n  - {one}" for one in lacking), *(f"\n  + {one}" for one in more.elements()))
        counts["pages"] += 1
    for name, count in counts.items():
        print(f"{name:26}{count:8}")
    return counts


def documentation(pages: int, skip: int) -> Iterator[Path]:
    """Pages with code or tables, spread evenly over the packages."""
    for package in _PACKAGES:
        files = sorted((DOCUMENTATION / package).resolve().rglob("*.html"))
        marked = [file for file in files if b'role="main"' in (html := file.read_bytes()) and _has_structure(html)]
        share = pages // len(_PACKAGES)
        yield from marked[skip :: max(len(marked) // share, 1)][:share]


def _has_structure(html: bytes) -> bool:
    return b"<table" in html or b"<pre" in html


def made(html: bytes, url: str) -> tuple[str, Markdown]:
    """The main text of a page, and its Markdown, without a title."""
    page = decode(html, "text/html", "").text
    text = main_text(Tree(page, _LIMITS.max_tags), url, _LIMITS.max_text_chars).text
    return text, page_markdown(page, text, url, _CANONICALIZER, _LIMITS)


def read_markdown(text: str) -> tuple[list[str], list[tuple[tuple[str, ...], ...]]]:
    """Code blocks and tables by a reference parser."""
    code, tables = [], []
    rows: list[list[str]] = []
    for token in _PARSER.parse(text):
        if token.type in ("fence", "code_block"):
            code.append(code_lines(token.content))
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append("")
        elif token.type == "table_close":
            tables.append(tuple(map(tuple, rows)))
        elif token.type == "inline" and rows and token.level and rows[-1]:
            rows[-1][-1] = words("".join(one.content for one in token.children or () if one.type in _WORDS))
    return code, tables


def code_lines(text: str) -> str:
    return text.removeprefix("\n").rstrip("\n")


def words(text: str) -> str:
    """Without white space and what links to a heading: blocks of a cell become one line."""
    return "".join(text.replace("¶", "").split())


def true_table(table: lxml.html.HtmlElement) -> tuple[tuple[str, ...], ...]:
    grid: list[dict[int, str]] = []
    rows = list(table.iter("tr"))
    for number, row in enumerate(rows):
        while len(grid) <= number:
            grid.append({})
        column = 0
        for cell in row.iterchildren("td", "th"):
            while column in grid[number]:
                column += 1
            for down in range(int(cell.get("rowspan", 1))):
                while len(grid) <= number + down:
                    grid.append({})
                for right in range(int(cell.get("colspan", 1))):
                    grid[number + down][column + right] = words(cell.text_content()) if not down and not right else ""
    width = max(max(row, default=-1) for row in grid) + 1
    filled = [tuple(row.get(column, "") for column in range(width)) for row in grid[: len(rows)]]
    has_header = bool(rows) and (rows[0].getparent().tag == "thead" or all(map(_is_heading, rows[0])))
    head, rest = (filled[0], filled[1:]) if has_header else (("",) * width, filled)
    return (head, *filter(any, rest))


def _is_heading(cell: lxml.html.HtmlElement) -> bool:
    bold = "".join(words(part.text_content()) for part in cell.iter("strong", "b"))
    return cell.tag == "th" or (bold != "" and bold == words(cell.text_content()))


def measure_cost(name: str, pages: list[tuple[bytes, str]]) -> tuple[float, float]:
    """Milliseconds a page of the main text, and of the Markdown on top."""
    taken: Counter[str] = Counter()
    texts, markdowns = [], []
    for html, url in pages:
        began = time.process_time()
        page = decode(html, "text/html", "").text
        text = main_text(Tree(page, _LIMITS.max_tags), url, _LIMITS.max_text_chars).text
        between = time.process_time()
        markdown = page_markdown(page, text, url, _CANONICALIZER, _LIMITS)
        taken["main text"] += between - began
        taken["Markdown"] += time.process_time() - between
        texts.append(text)
        markdowns.append(markdown.text)
        taken["structured"] += markdown.is_structured
    count = len(pages)
    size = sum(len(html) for html, _ in pages) / count
    print(f"\n{count} pages of {name}, {size:,.0f} bytes each; {taken['structured']} with structure")
    for part, column in (("main text", texts), ("Markdown", markdowns)):
        print(
            f"{part:12}{1000 * taken[part] / count:8.2f} ms{sum(map(_size, column)) / count:10,.0f} bytes"
            f"{_packed(column) / count:10,.0f} bytes packed a page"
        )
    return 1000 * taken["main text"] / count, 1000 * taken["Markdown"] / count


def site_pages(archive: Path, limit: int) -> list[tuple[bytes, str]]:
    """Pages of an archived site, spread evenly over it."""
    with archive.open("rb") as file:
        data = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = [member for member in tar if member.isfile() and member.name.endswith(".html")]
        chosen = members[:: max(len(members) // limit, 1)][:limit]
        return [(tar.extractfile(member).read(), f"https://site.example/{member.name}") for member in chosen]


def _size(text: str) -> int:
    return len(text.encode())


def _packed(column: list[str]) -> int:
    batches = (column[start : start + _BATCH] for start in range(0, len(column), _BATCH))
    return sum(len(zstandard.compress("".join(batch).encode(), 1)) for batch in batches)


if __name__ == "__main__":
    main()
