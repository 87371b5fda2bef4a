"""Whole sites, judged page by page and with what the site shows: texts, types, lists in search, copies.

    python bench/sites.py                          five archived sites, crawled whole; about an hour
    python bench/sites.py --quick                  100 pages of two sites, one of them again in two themes; a minute
    python bench/sites.py --sites learning --pages 1000 --json results.json
    python bench/sites.py --final                  also the truth pages that no tuning may look at

Each site is served whole on loopback under its own name and crawled by `gossamer crawl`, once with `site.learn` off
(*page level*) and once with it on (*site level*); a version of Gossamer without that setting has the first level only.
Everything is measured on what the crawl stored and indexed:

- *repeating lines*: share of the main texts that is in lines that stand on 5 % of the site's documents and on three at
  least (`_site_repeats.py`);
- *F1* of the main texts of 100 articles against what the site's own template marks as the text (`_site_truth.py`), for
  the pages that every level has stored; half of them are for the end (`--final`);
- *lists*: fifty titles of articles as queries; where do tag pages and archives come (`_site_lists.py`)?
- *types*: share of the page types that are right, as far as the URL tells, and of pages without one (`_site_types.py`);
- *pairs*: 200 articles of a blog, rendered with two themes and served as two domains; how many pairs near-duplicate
  detection finds, and how many clusters have different articles (`_site_themes.py`); once more with teasers of other
  articles below the text.

`--pages N` takes a sample of N pages of each site instead, always the same ones, and follows no links. Seconds are
those of the whole crawl with its index; they compare levels only if nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from _crawlers import CONTACT, Job, become_reaper, end_cleanly_when_told, measure
from _data import ARCHIVES
from _figures import Figure, add_usual, conclude, leave_out
from _site_lists import ask_titles
from _site_pages import Stored, read_pages
from _site_repeats import find_repeats
from _site_report import SiteResult, ThemeResult, print_report
from _site_table import SITES, Site, find_sites
from _site_themes import HOSTS, judge_pairs, write_sites
from _site_truth import Article, read_articles, score
from _site_types import judge_types
from _site_web import Folder, FolderWeb, is_there, page_paths, sample_paths, site_folder
from gossamer.compose.search import open_searcher
from gossamer.search.results import Request

SWITCH = "site.learn"
LEVELS = {"page level": "false", "site level": "true"}
THEMES = {"two themes": False, "two themes with teasers": True}
"""Whether a theme shows teasers of other articles below the text."""
TRUTH, TITLES = 100, 50
LONGEST = 7200.0
SETTINGS = (
    # Whole sites: no budget, no filter and no mirror may end a crawl early, and gone pages are not waited for.
    'filters.mode="off"',
    "dedup.mirrors=false",
    "budget.pages_per_site=1000000",
    "budget.similar_paths=1000000",
    "budget.copies=1000000",
    "crawl.linger=2.0",
    "crawl.nice=0",
)


class Crawled(msgspec.Struct, frozen=True):
    """A finished crawl."""

    level: str
    data: Path
    seconds: float
    pages: list[Stored]


def main() -> None:
    """Crawls, measures and prints."""
    options = _options()
    become_reaper()
    end_cleanly_when_told()
    options.levels = _levels(options)
    scratch = Path(options.work or tempfile.mkdtemp(prefix="bench-sites-")).resolve()
    try:
        sites = [result for site in find_sites(options.sites) for result in _measure_site(site, scratch, options)]
        themes = [result for name in options.themes for result in _measure_themes(name, scratch, options)]
    finally:
        if not options.work:
            shutil.rmtree(scratch, ignore_errors=True)
    print_report(sites, themes, options.final)
    conclude(options, _figures(sites, themes), {"sites": sites, "themes": themes})


def _figures(sites: Sequence[SiteResult], themes: Sequence[ThemeResult]) -> list[Figure]:
    """Of each site at the last level, what the first level has beside it."""
    figures = []
    for name in dict.fromkeys(result.site for result in sites):
        group = [result for result in sites if result.site == name]
        first, last = group[0], group[-1]
        earlier = {first.level: first} if first is not last else {}
        f1 = {level: result.closeness.f1 for level, result in earlier.items()}
        repeats = {level: 100 * result.repeats.characters for level, result in earlier.items()}
        figures += [
            Figure(f"{name}: word F1 of the main text", last.closeness.f1, beside=f1, most=1),
            Figure(f"{name}: repeating lines, share of all text", 100 * last.repeats.characters, "%", None, True,
                   repeats, 0, 100),
        ]  # fmt: skip
    for result in themes:
        title = f"{result.name}, {result.level}: pairs found"
        figures.append(Figure(title, 100 * result.pairs.found, "%", most=100))
    return figures


def _options() -> argparse.Namespace:
    names = [site.name for site in SITES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "100 pages of itw66 and mircsgo, 30 articles in two themes")
    add("--sites", type=lambda text: text.split(","), help=f"by comma ({','.join(names)})")
    add("--pages", type=int, help="a sample of so many pages of each site; 0: whole sites")
    add("--blog", help="the site whose articles are rendered in two themes (learning)")
    add("--articles", type=int, help="how many of them (200); 0: none")
    add("--levels", type=lambda text: text.split(","), help=f"only these ({','.join(LEVELS)})")
    add("--set", action="append", default=[], metavar="SECTION.NAME=VALUE", help="a setting of all crawls, as TOML")
    add("--final", action="store_true", help="print the half of the truth pages that is looked at once, too")
    add("--workers", default="1", help="worker processes of a crawl")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--work", default="", help="folder to keep the crawls in; else a temporary one")
    add("--gossamer", default=f"{sys.executable} -m gossamer.cli", help="the command")
    options = parser.parse_args()
    quick = options.quick
    options.sites = options.sites or (["itw66", "mircsgo"] if quick else names)
    options.pages = (100 if quick else 0) if options.pages is None else options.pages
    options.articles = (30 if quick else 200) if options.articles is None else options.articles
    options.sites = [name for name in options.sites if _is_there(name, options)]
    options.blog = options.blog or ("itw66" if quick else "learning")
    if not _is_there(options.blog, options):
        options.articles = 0
    if not options.sites and not options.articles:
        raise SystemExit("none of the archived sites is there: see --archives")
    options.themes = list(THEMES)[: 1 if quick else None] if options.articles else []
    options.gossamer = options.gossamer.split()
    return options


def _is_there(name: str, options: argparse.Namespace) -> bool:
    if is_there(find_sites([name])[0], options.archives, options.cache):
        return True
    leave_out(name, f"its archive is not in {options.archives}")
    return False


def _levels(options: argparse.Namespace) -> dict[str, list[str]]:
    """The levels to crawl with, and the settings of each."""
    with tempfile.TemporaryDirectory(prefix="bench-sites-") as empty:
        command = [*options.gossamer, "config", "show", SWITCH, "--all", "--json", "--data", empty]
        known = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if not any(setting["name"] == SWITCH for setting in known):
        print(f"this version has no setting {SWITCH}: page level only", file=sys.stderr)
        return {"page level": []}
    wanted = options.levels or list(LEVELS)
    if unknown := sorted(set(wanted) - set(LEVELS)):
        raise SystemExit(f"no level is called {', '.join(unknown)}; there are {', '.join(LEVELS)}")
    return {level: [f"{SWITCH}={LEVELS[level]}"] for level in wanted}


def _measure_site(site: Site, scratch: Path, options: argparse.Namespace) -> list[SiteResult]:
    """Crawls a site at each level and judges what was stored."""
    folder = site_folder(site, options.archives, options.cache)
    paths = sample_paths(folder.root, options.pages) if options.pages else []
    with FolderWeb({site.host: folder}) as web:
        crawls = [_crawl(site.name, web, level, paths, scratch, options) for level in options.levels]
    everywhere = set[str].intersection(*({page.path for page in crawl.pages} for crawl in crawls))
    articles = list(islice(read_articles(site, folder.root, everywhere), TRUTH))
    results = [_judge(site, crawl, articles) for crawl in crawls]
    if not options.work:
        for crawl in crawls:
            shutil.rmtree(crawl.data)
    return results


def _judge(site: Site, crawl: Crawled, articles: Sequence[Article]) -> SiteResult:
    texts = {page.path: page.text for page in crawl.pages}
    searcher = open_searcher(crawl.data)

    def search(query: str, size: int) -> list[str]:
        hits = searcher.search(Request(query=query, size=size, facets=False)).hits
        return [urlsplit(hit.url).path for hit in hits]

    return SiteResult(
        site=site.name,
        level=crawl.level,
        seconds=crawl.seconds,
        pages=len(crawl.pages),
        repeats=find_repeats([page.text for page in crawl.pages]),
        closeness=score((article for article in articles if not article.is_held_out), texts),
        kept_back=score((article for article in articles if article.is_held_out), texts),
        lists=ask_titles(site, articles[:TITLES], search),
        articles=judge_types(site, crawl.pages, "article"),
        list_types=judge_types(site, crawl.pages, "list"),
    )


def _measure_themes(name: str, scratch: Path, options: argparse.Namespace) -> list[ThemeResult]:
    """Serves the articles of a blog with two themes, crawls both sites together, and counts the pairs."""
    blog = find_sites([options.blog])[0]
    root = site_folder(blog, options.archives, options.cache).root
    articles = list(islice(read_articles(blog, root, page_paths(root)), options.articles))
    served = scratch / "themes"
    shutil.rmtree(served, ignore_errors=True)
    roots = write_sites(articles, served, THEMES[name])
    with FolderWeb(dict(zip(HOSTS, map(Folder, roots), strict=True))) as web:
        crawls = [_crawl(name.replace(" ", "-"), web, level, [], scratch, options) for level in options.levels]
    return [
        ThemeResult(name, crawl.level, crawl.seconds, len(crawl.pages), judge_pairs(articles, crawl.pages))
        for crawl in crawls
    ]


def _crawl(
    name: str, web: FolderWeb, level: str, paths: Sequence[str], scratch: Path, options: argparse.Namespace
) -> Crawled:
    """One crawl of every host of a web, to its end; with `paths`, of these pages only."""
    data = scratch / f"{name}-{level.replace(' ', '-')}"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    settings = {pair.partition("=")[0]: pair for pair in (*SETTINGS, *options.levels[level], *options.set)}
    (data / "gossamer.toml").write_text("".join(f"{pair}\n" for pair in settings.values()))
    seeds = data / "seeds.txt"
    seeds.write_text("".join(f"{web.url(host, path)}\n" for host in web.resolve for path in paths or ["/"]))
    command = [*options.gossamer, "crawl", "--seeds", str(seeds), "--data", str(data), "--contact", CONTACT, "--quiet"]
    command += ["--scope", "host", "--delay", "0", "--workers", options.workers, "--allow-network", "127.0.0.0/8"]
    command += [part for pair in web.resolve.items() for part in ("--resolve", "=".join(pair))]
    command += ["--depth", "0"] if paths else []
    usage = measure(Job(command), data, LONGEST)
    pages = read_pages(options.gossamer, data)
    # A seed that is forbidden or gone makes a crawl end with 1; one that keeps nothing has failed.
    if usage.code not in (0, 1) or not pages:
        raise SystemExit(f"{' '.join(command)}: {usage.said}")
    print(f"{name}, {level}: {len(pages)} documents, {usage.wall:.0f} s, {usage.cpu:.0f} CPU s", file=sys.stderr)
    return Crawled(level, data, usage.wall, pages)


if __name__ == "__main__":
    main()
