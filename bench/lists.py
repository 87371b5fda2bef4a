"""Lists: are they known, and do they stay behind the pages that they list? And how often are types and languages told?

    python bench/lists.py                     all pages of three archived sites, 50 articles of each asked for
    python bench/lists.py --quick             a tenth of the pages, 20 articles
    python bench/lists.py --one-title         as if all pages of a site had the same title and no headings
    python bench/lists.py --types             also the types of WCXB's held-out pages
    python bench/lists.py --json figures.json

The addresses of the archived sites say what is a list (tags, categories, days, numbered pages) and what is an article.
Each page is read by our parser; pages with equal texts are left out but for the first, as a crawl does. Then each
site is indexed, and articles are asked for by their whole titles and by two or three neighbouring words of them, lists
by their names. *before* is the same index without the weight of lists (`search.list_weight = 0`). *Not named* are lists
that come first though the query is not their name.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import zstandard

from _data import SHARED, WCXB
from _extraction_data import read_samples
from _figures import Figure, add_usual, conclude, leave_out
from _real_pages import new_reader
from gossamer.index.analysis import surface_words
from gossamer.index.anchors import KEEP, says_something
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import key64
from gossamer.parse.kind import LISTS, find_teasers
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

SEED = 20_261_118
_LARGEST = 1_000_000
"""Bytes of an HTML file."""
_BATCH = 2_000


class Site(msgspec.Struct, frozen=True):
    """An archived site, and what its addresses say."""

    name: str
    base: str
    lists: str
    """Paths of lists, a regular expression."""
    articles: str


SITES = (
    Site("itw66", "https://itw66.ru/", r"(?:tags|categories|page\d+|archives)(?:/|$)|blog/(?:[^/]+/)?$|$",
         r"blog/.+\.html$"),
    Site("ex-animo", "http://mircsgo.ru/", r"(?:tag|category|page|author)/|.*feed/$|$", r"[^/]+/$"),
    Site("learningischange", "https://learningischange.com/",
         r"(?:tag|category|page|author)/|\d{4}/(?:\d\d/){0,2}(?:page/\d+/)?$|$", r"\d{4}/\d\d/\d\d/[^/]+/$"),
)  # fmt: skip


class Page(msgspec.Struct, frozen=True):
    """A page of a site: what its address says and what the parser says."""

    parsed: Parsed
    is_list: bool
    is_article: bool
    reads_as_list: bool
    """By its text alone."""


class Asked(msgspec.Struct):
    """What came first for some queries."""

    queries: int = 0
    lists_first: int = 0
    unnamed_first: int = 0
    """Lists that come first although the query is not their name."""
    right_first: int = 0
    right_in_ten: int = 0


class Figures(msgspec.Struct):
    """All of a site."""

    site: str
    pages: int
    lists: int
    lists_known: int
    lists_by_text: int
    articles: int
    articles_as_lists: int
    articles_known: int
    no_language: int
    dated_lists: int
    asked: dict[str, dict[str, Asked]]
    """Kind of query → before and after."""


def main() -> None:
    """Reads the sites, asks, prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "a tenth of the pages, 20 articles of each site")
    add("--queries", type=int, help="articles of each site that are asked for (50; 20 with --quick)")
    add("--one-title", action="store_true", help="index the pages as if they had all the same title and no headings")
    add("--types", action="store_true", help="also the types of WCXB's held-out pages")
    add("--shared", type=Path, default=SHARED, help="folder with the real data ($GOSSAMER_SHARED)")
    options = parser.parse_args()
    figures = []
    for site in SITES:
        path = options.shared / "data" / "sites" / f"{site.name}.tar.zst"
        if path.exists():
            count = options.queries or (20 if options.quick else 50)
            figures.append(measure(site, path, 10 if options.quick else 1, count, options.one_title))
        else:
            leave_out(site.name, f"{path} is not there")
    if not figures:
        raise SystemExit("none of the archived sites is there: name the folder of real data with --shared")
    print_known(figures)
    print_asked(figures)
    if options.types:
        print_types()
    conclude(options, _figures(figures), figures)


def _figures(sites: list[Figures]) -> list[Figure]:
    """Over all sites."""

    def share(part: str, whole: str) -> float:
        return sum(getattr(one, part) for one in sites) / max(1, sum(getattr(one, whole) for one in sites))

    titles = [one.asked["titles"] for one in sites]
    queries = max(1, sum(asked["after"].queries for asked in titles))
    first = {name: sum(asked[name].lists_first for asked in titles) / queries for name in ("before", "after")}
    return [
        Figure("lists known as lists", share("lists_known", "lists"), most=1),
        Figure("articles taken for lists", share("articles_as_lists", "articles"), most=1),
        Figure("titles of articles that bring a list first", first["after"], "", None, True,
               {"without the weight of lists": first["before"]}, 0, 1),
    ]  # fmt: skip


def measure(site: Site, path: Path, every: int, count: int, one_title: bool) -> Figures:
    """The figures of one site, of each so manyth page."""
    pages = list(read_pages(site, path, every))
    lists, articles = [page for page in pages if page.is_list], [page for page in pages if page.is_article]
    with tempfile.TemporaryDirectory(prefix="lists-") as folder:
        index(Path(folder), pages, one_title)
        asked = ask(Path(folder), pages, count)
    return Figures(
        site=site.name, pages=len(pages), lists=len(lists), lists_known=sum(map(known_as_list, lists)),
        lists_by_text=sum(page.reads_as_list for page in lists), articles=len(articles),
        articles_as_lists=sum(map(known_as_list, articles)),
        articles_known=sum(page.parsed.page_type == "article" for page in articles),
        no_language=sum(not page.parsed.language for page in pages),
        dated_lists=sum(bool(page.parsed.date) for page in lists), asked=asked,
    )  # fmt: skip


def known_as_list(page: Page) -> bool:
    """Whether the parser calls it a list."""
    return page.parsed.page_type in LISTS


def read_pages(site: Site, path: Path, every: int) -> Iterator[Page]:
    """The pages of a site that have a text, each text once."""
    reader, seen = new_reader(), set()
    lists, articles = re.compile(site.lists), re.compile(site.articles)
    with (
        path.open("rb") as packed,
        zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as archive,
    ):
        for member in archive:
            name = member.name.removeprefix("./")
            if not name.endswith((".html", ".htm")) or member.size > _LARGEST or not _drawn(name, every):
                continue
            place = name.removesuffix("index.html")
            parsed = reader.read(
                ParseJob(site.base + place, Kind.PAGE, "text/html", archive.extractfile(member).read())
            )
            if parsed.ok and parsed.text and parsed.text not in seen:
                seen.add(parsed.text)
                teasers = find_teasers(parsed.url, parsed.canonical, parsed.title, parsed.text, parsed.links)
                is_list = lists.match(place) is not None
                yield Page(parsed, is_list, not is_list and articles.match(place) is not None, teasers.is_list)


def _drawn(name: str, every: int) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % every == 0


def index(root: Path, pages: list[Page], one_title: bool) -> None:
    """An index of the pages, with the texts of links to them."""
    folder = IndexFolder(root)
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    anchors: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for link in page.parsed.links:
            anchors[link.url].add(link.anchor)
    taken = [_as_indexed(page.parsed, anchors[page.parsed.url]) for page in pages]
    if one_title:
        taken = [msgspec.structs.replace(page, title="The site", headings=()) for page in taken]
    for position, start in enumerate(range(0, len(taken), _BATCH), 1):
        writer.apply({page.key: build(page) for page in taken[start : start + _BATCH]}, (), position, time.time())


def _as_indexed(one: Parsed, anchors: set[str]) -> IndexPage:
    kept = sorted(filter(says_something, anchors), key=key64)[:KEEP]
    return IndexPage(
        url=one.url, title=one.title, headings=one.headings, text=one.text, lang=one.language or None, anchors=kept,
        date=one.date or None, page_type=one.page_type,
    )  # fmt: skip


def ask(root: Path, pages: list[Page], count: int) -> dict[str, dict[str, Asked]]:
    """Articles by their titles and by parts of them, lists by their names, with and without the weight of lists."""
    draw = random.Random(SEED)
    articles = [page for page in pages if page.is_article and len(page.parsed.title.split()) > 2]
    named = [page for page in pages if page.is_list and page.parsed.title and "/page" not in page.parsed.url]
    articles = draw.sample(articles, min(count, len(articles)))
    kinds = {
        "titles": [(page.parsed.title, page) for page in articles],
        "parts of titles": [(_part(page.parsed.title, draw), page) for page in articles],
        "names of lists": [(page.parsed.title, page) for page in draw.sample(named, min(count, len(named)))],
    }
    lists = {page.parsed.url: name_of(page.parsed.title) for page in pages if page.is_list}
    searchers = {
        "before": Searcher.open(root, RankingConfig(list_weight=0.0)),
        "after": Searcher.open(root, RankingConfig()),
    }
    return {
        kind: {name: _answers(searcher, queries, lists) for name, searcher in searchers.items()}
        for kind, queries in kinds.items()
    }


def name_of(title: str) -> frozenset[str]:
    """The words of a name, without numbers, which count entries or pages."""
    return frozenset(word for word in surface_words(title) if not word.isdigit())


def _part(title: str, draw: random.Random) -> str:
    """Two or three neighbouring words."""
    words, size = title.split(), draw.choice((2, 3))
    start = draw.randrange(max(1, len(words) - size + 1))
    return " ".join(words[start : start + size])


def _answers(searcher: Searcher, queries: list[tuple[str, Page]], lists: dict[str, frozenset[str]]) -> Asked:
    asked = Asked()
    for query, page in queries:
        urls = [hit.url for hit in searcher.search(Request(query=query)).hits]
        asked.queries += 1
        asked.lists_first += bool(urls) and urls[0] in lists
        asked.unnamed_first += bool(urls) and lists.get(urls[0], name_of(query)) != name_of(query)
        asked.right_first += urls[:1] == [page.parsed.url]
        asked.right_in_ten += page.parsed.url in urls
    return asked


def print_known(figures: list[Figures]) -> None:
    """What the parser knows."""
    names = ("site", "pages", "lists", "known as lists", "by their text alone", "with a date", "articles",
             "known as articles", "taken for lists", "pages without a language")  # fmt: skip
    print(_row(*names), _row("---", *["---:"] * (len(names) - 1)), sep="\n")
    for one in figures:
        lists = (_share(one.lists_known, one.lists), _share(one.lists_by_text, one.lists), one.dated_lists)
        articles = (_share(one.articles_known, one.articles), _share(one.articles_as_lists, one.articles))
        print(_row(one.site, one.pages, one.lists, *lists, one.articles, *articles, one.no_language))


def print_asked(figures: list[Figures]) -> None:
    """What came first."""
    names = ("site", "asked by", "queries", "a list first", "→", "not named", "→", "the page first", "→", "in ten", "→")
    print("", _row(*names), _row("---", "---", *["---:"] * (len(names) - 2)), sep="\n")
    for one in figures:
        for kind, asked in one.asked.items():
            fields = Asked.__struct_fields__[1:]
            pairs = [getattr(asked[name], field) for field in fields for name in ("before", "after")]
            print(_row(one.site, kind, asked["after"].queries, *pairs))


def _row(*cells: object) -> str:
    return f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in cells)} |"


def print_types() -> None:
    """How many types are shown on WCXB's held-out pages, and how many of those are right."""
    reader = new_reader()
    pairs = [
        (sample.page_type, reader.read(ParseJob(sample.url, Kind.PAGE, "text/html", sample.html)).page_type)
        for sample in read_samples(WCXB)
        if sample.held_out
    ]
    there, shown = Counter(truth for truth, _ in pairs), Counter(found for _, found in pairs if found)
    right = Counter(truth for truth, found in pairs if truth == found)
    print("", _row("type", "pages", "shown as it", "right", "found"), _row("---", *["---:"] * 4), sep="\n")
    for kind in sorted(there):
        shares = _share(right[kind], shown[kind]), _share(right[kind], there[kind])
        print(_row(kind, there[kind], shown[kind], *shares))
    shares = _share(right.total(), shown.total()), _share(right.total(), len(pairs))
    print(_row("all", len(pairs), shown.total(), *shares))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


if __name__ == "__main__":
    main()
