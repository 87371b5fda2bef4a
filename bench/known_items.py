"""Known items: does the page that somebody looks for come first?

    python bench/known_items.py                    four documentation sites in one index, half of the 200 queries
    python bench/known_items.py --final            all queries, also those that are kept aside while the ranking changes
    python bench/known_items.py --misses           what was not first, and what came first
    python bench/known_items.py --alone            without the others, for a quick look after a change
    python bench/known_items.py --fresh            reads and indexes anew what is kept from earlier runs
    python bench/known_items.py --quick            two sites of 500 pages, 40 queries

The queries (`known_items.tsv`: site, kind, query, right pages) were written by hand from the pages, before anything was
tuned, as people type: names of classes and functions, two to five words of what somebody wants to do, messages and
settings, concepts, words in another form than in the title, whole questions, identifiers with their punctuation. A row
names more than one page where they answer equally well. A hash of the query decides which half is kept aside.

*titles* are whole titles, drawn at random from each site among those that no other of its pages has; *titles in full*
are those of the same pages with the site's part that our parser leaves out (`… — CMake 3.25.1 Documentation`).
*classes* are names whose own page competes with the pages of their methods. Beside ours: SQLite FTS5 (porter, a title
counts five times; all words, then any), and BM25 as in Lucene (`_lucene.py`), which has title and text in one field.

*@1*, *@3*, *@10*: the share of queries with a right page among the first so many results.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from urllib.parse import unquote

import msgspec

from _figures import Figure, add_usual, conclude, leave_out
from _known_pages import QUICK, READ_BY, SITES, Page, code, older, read_sites, url_of
from _lucene import LuceneRanker
from _sites import cache_folder
from gossamer.evaluate.values import Doc
from gossamer.index.document import build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

QUERIES = Path(__file__).with_name("known_items.tsv")
SEED = 20_261_119
DEPTHS = (1, 3, 10)
OURS, FTS5, LUCENE = "gossamer", "SQLite FTS5", "BM25 as in Lucene"
TITLES, FULL_TITLES = "titles", "titles in full"
DRAWN = (TITLES, FULL_TITLES)
_GOALS = {1: 0.75, 3: 0.88, 10: 0.95}
_CLASSES_GOAL, _TITLES_GOAL = 28 / 30, 0.95
_INDEXED_BY = ("index", "site")
"""What else of the package decides about the index."""
_BATCH = 2_000
_DEEPEST = max(DEPTHS)

Ranker = Callable[[str], list[str]]
"""Query → URLs, best first."""


class Item(msgspec.Struct, frozen=True):
    """A query and the pages that are right."""

    site: str
    kind: str
    query: str
    paths: tuple[str, ...]

    @property
    def is_kept(self) -> bool:
        """Whether it is kept aside until the end."""
        return hashlib.sha256(self.query.encode()).digest()[0] % 2 == 1

    @property
    def urls(self) -> list[str]:
        """The addresses of the right pages."""
        return [url_of(self.site, path) for path in self.paths]


class Answer(msgspec.Struct, frozen=True):
    """What somebody answered to a query."""

    item: Item
    found: list[str]

    @property
    def place(self) -> int:
        """Of the first right page, from 1; 0 if it is not among the results."""
        right = set(self.item.urls)
        return next((place for place, url in enumerate(self.found, start=1) if url in right), 0)


Answers = dict[str, list[Answer]]
"""Who answered → the answers, in the order of the queries."""


def main() -> None:
    """Reads the sites, asks everybody, prints the tables."""
    options = _options()
    items = [item for item in load() if item.site in options.sites]
    named = {site: {path for item in items if item.site == site for path in item.paths} for site in options.sites}
    most = options.pages or (500 if options.quick else 6_000)
    cache = cache_folder(options.cache)
    sites = read_sites(named, most, cache, options.fresh)
    there = with_pages(items, {page.url for pages in sites.values() for page in pages})
    items = chosen(there, options.final, 40 if options.quick else len(there))
    if not items:
        raise SystemExit("no query has its page here: name installed sites with --sites")
    items += draw_titles(sites, 20 if options.quick else 100)
    pages = [page for found in sites.values() for page in found]
    print(f"{len(pages):,} pages of {', '.join(sites)}; {len(items)} queries\n")
    answers, milliseconds = ask(pages, items, indexed(pages, cache, options.fresh), options.alone)
    print_table("kind", answers, lambda item: item.kind)
    print_table("site", answers, lambda item: "" if item.kind in DRAWN else item.site)
    if options.final:
        print_table("half", answers, lambda item: "" if item.kind in DRAWN else "kept" if item.is_kept else "open")
    if options.misses:
        print_misses(answers[OURS])
    conclude(options, _figures(answers, milliseconds), _details(answers))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "two sites, 500 pages each, 40 queries and 20 titles")
    add("--sites", type=lambda text: tuple(text.split(",")), help=f"of {','.join(SITES)}")
    add("--pages", type=int, help="pages of a site at most (6,000; 500 with --quick)")
    add("--final", action="store_true", help="also the queries that are kept aside")
    add("--misses", action="store_true", help="show what was not first, and what came first")
    add("--alone", action="store_true", help="without SQLite and BM25")
    add("--fresh", action="store_true", help="read and index the pages anew")
    add("--cache", default="", help="folder for pages and indexes ($XDG_CACHE_HOME/gossamer-bench)")
    options = parser.parse_args()
    options.sites = options.sites or (QUICK if options.quick else tuple(SITES))
    if unknown := set(options.sites) - set(SITES):
        parser.error(f"no site is called {', '.join(sorted(unknown))}")
    return options


def load() -> list[Item]:
    """The queries, in the order of the file."""
    rows = (line.split("\t") for line in QUERIES.read_text(encoding="utf-8").splitlines())
    return [Item(site, kind, query, tuple(paths)) for site, kind, query, *paths in rows]


def with_pages(items: Iterable[Item], urls: set[str]) -> list[Item]:
    """The queries that have a right page; how many have none is said."""
    there, missing = [], Counter[str]()
    for item in items:
        if urls.intersection(item.urls):
            there.append(item)
        else:
            missing[item.site] += 1
    for site, count in missing.items():
        leave_out(f"{count} queries about {site}", "their pages are not there")
    return there


def chosen(items: Sequence[Item], final: bool, most: int) -> list[Item]:
    """Those that may be looked at; of all kinds if there may be only a few."""
    open_ones = [item for item in items if final or not item.is_kept]
    step = max(1.0, len(open_ones) / most)
    return [open_ones[int(number * step)] for number in range(min(most, len(open_ones)))]


def draw_titles(sites: dict[str, list[Page]], count: int) -> list[Item]:
    """Whole titles as queries, as many of each site, each on one page of it only."""
    draw, items = random.Random(SEED), []
    for site, pages in sites.items():
        known = Counter(_plain(page.title) for page in pages)
        unique = [page for page in pages if _plain(page.title) and known[_plain(page.title)] == 1]
        drawn = draw.sample(unique, min(len(unique), count // len(sites)))
        paths = [(unquote(page.url.partition(".test/")[2]),) for page in drawn]
        items += [Item(site, TITLES, page.title, path) for page, path in zip(drawn, paths, strict=True)]
        items += [
            Item(site, FULL_TITLES, page.full_title, path)
            for page, path in zip(drawn, paths, strict=True)
            if _plain(page.full_title) not in ("", _plain(page.title))
        ]
    return sorted(items, key=lambda item: DRAWN.index(item.kind))


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def ask(pages: Sequence[Page], items: Sequence[Item], root: Path, alone: bool) -> tuple[Answers, dict[str, float]]:
    """Everybody's answers, and the median milliseconds of those that are fit for it."""
    answers, milliseconds = {}, {}
    answers[OURS], milliseconds[OURS] = _answers(ours(root), items)
    if not alone:
        answers[FTS5], milliseconds[FTS5] = _answers(fts5(pages), items)
        lucene = LuceneRanker([Doc(page.url, page.title, page.text) for page in pages], "en")
        answers[LUCENE], _ = _answers(lambda query: lucene.rank(query, _DEEPEST), items)  # its time is Python's
    return answers, milliseconds


def _answers(ranker: Ranker, items: Sequence[Item]) -> tuple[list[Answer], float]:
    ranker(items[0].query)  # the first query opens files
    answers, took = [], []
    for item in items:
        started = time.perf_counter()
        found = ranker(item.query)
        took.append(1000 * (time.perf_counter() - started))
        answers.append(Answer(item, found))
    return answers, median(took)


def indexed(pages: Sequence[Page], cache: Path, fresh: bool) -> Path:
    """An index of all pages, the one of an earlier run if neither they nor what writes indexes have changed."""
    about = hashlib.sha256(code((*READ_BY, *_INDEXED_BY)).encode())
    for page in pages:
        about.update(msgspec.msgpack.encode(page))
    root = cache / "known-items" / f"index-{about.hexdigest()[:16]}"
    if fresh or not root.exists():
        root.parent.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="making-", dir=root.parent))
        index(scratch, pages)
        shutil.rmtree(root, ignore_errors=True)
        scratch.rename(root)
        for old in older(root.parent, "index-*"):
            shutil.rmtree(old)
    return root


def index(root: Path, pages: Sequence[Page]) -> None:
    """Writes an index as the indexer leaves it."""
    folder = IndexFolder(root)
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    taken = [page.as_indexed() for page in pages]
    for position, start in enumerate(range(0, len(taken), _BATCH), 1):
        writer.apply({page.key: build(page) for page in taken[start : start + _BATCH]}, (), position, time.time())
    writer.merge_some(wait=True)
    writer.close()


def ours(root: Path) -> Ranker:
    """The searcher as a reader asks it."""
    searcher = Searcher.open(root)
    return lambda query: [hit.url for hit in searcher.search(Request(query=query)).hits]


def fts5(pages: Iterable[Page]) -> Ranker:
    """SQLite's full-text search: pages with all words, then pages with any, a title five times as heavy."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO pages VALUES (?, ?, ?)", ((page.url, page.title, page.text) for page in pages))

    def rank(query: str) -> list[str]:
        words = [f'"{word}"' for word in re.findall(r"[^\W_]+", query)]
        found: dict[str, None] = {}
        for operator in (" AND ", " OR "):
            if words and len(found) < _DEEPEST:
                asked = "SELECT url FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 5, 1) LIMIT ?"
                rows = database.execute(asked, (operator.join(words), _DEEPEST))
                found |= dict.fromkeys(url for (url,) in rows)
        return [*found][:_DEEPEST]

    return rank


def share(answers: Iterable[Answer], depth: int) -> float:
    """Of the answers that have a right page so early."""
    places = [answer.place for answer in answers]
    return sum(1 <= place <= depth for place in places) / len(places) if places else 0.0


def print_table(name: str, answers: Answers, group: Callable[[Item], str]) -> None:
    """Success of everybody in each group; queries without a group are not told."""
    groups = dict.fromkeys(filter(None, (group(answer.item) for answer in answers[OURS])))
    print(f"| {name} | queries | {' | '.join(f'{who} @{depth}' for who in answers for depth in DEPTHS)} |")
    print(f"|---|---:|{'---:|' * (len(answers) * len(DEPTHS))}")
    for one in groups:
        members = {who: [answer for answer in found if group(answer.item) == one] for who, found in answers.items()}
        cells = [f"{share(found, depth):.2f}" for found in members.values() for depth in DEPTHS]
        print(f"| {one} | {len(members[OURS])} | {' | '.join(cells)} |")
    print()


def print_misses(answers: Iterable[Answer]) -> None:
    """What was not first."""
    for answer in answers:
        if answer.place != 1:
            item, first = answer.item, answer.found[0] if answer.found else "nothing"
            print(f"{item.kind}: {item.query!r}: {item.urls[0]} is {answer.place or 'not found'}; first: {first}")
    print()


def _figures(answers: Answers, milliseconds: dict[str, float]) -> list[Figure]:
    def figure(name: str, depth: int, goal: float, wanted: Callable[[str], bool]) -> Figure:
        shares = {
            who: share([answer for answer in found if wanted(answer.item.kind)], depth)
            for who, found in answers.items()
        }
        return Figure(name, shares.pop(OURS), "", goal, beside=shares, most=1)

    kinds = {answer.item.kind for answer in answers[OURS]}
    figures = [figure(f"success@{depth}", depth, _GOALS[depth], lambda kind: kind not in DRAWN) for depth in DEPTHS]
    if "classes" in kinds:
        figures.append(figure("pages of classes first", 1, _CLASSES_GOAL, "classes".__eq__))
    figures += [
        figure(f"pages first by their {drawn}", 1, _TITLES_GOAL, drawn.__eq__) for drawn in DRAWN if drawn in kinds
    ]
    time_of_ours = milliseconds.pop(OURS)
    figures.append(
        Figure("a query, median", time_of_ours, "ms", beside=milliseconds, least=0.001, most=10_000, by_clock=True)
    )
    return figures


def _details(answers: Answers) -> dict[str, list[dict[str, object]]]:
    return {
        who: [{"kind": one.item.kind, "query": one.item.query, "place": one.place} for one in found]
        for who, found in answers.items()
    }


if __name__ == "__main__":
    main()
