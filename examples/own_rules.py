"""Crawl with a filter, a strategy and a hook of one's own, and search what came.

python own_rules.py https://www.example.org/ rockets --contact you@example.org
"""

import argparse
import re
from urllib.parse import urlsplit

import gossamer

PRINT = re.compile(r"/print/|[?&]print=")


@gossamer.filter
def no_print_versions(url: str) -> str | None:
    """A reason not to fetch a URL; `gossamer explain` shows it."""
    return "print versions are left out" if PRINT.search(url) else None


@gossamer.strategy
def short_paths(url: str) -> float:
    """How good a URL is: 1 is fetched first."""
    return 1 / max(urlsplit(url).path.count("/"), 1)


@gossamer.hook
def category(page: gossamer.Page) -> dict[str, str]:
    """What to change in a page before it is kept: its category is the first part of its path."""
    first = urlsplit(page.url).path.split("/")[1]
    return {"category": first or "home"}


parser = argparse.ArgumentParser(description="Crawl with rules of one's own, and search.")
parser.add_argument("url")
parser.add_argument("query")
parser.add_argument("--contact", help="your mail address: every request carries it")
parser.add_argument("--folder", default="rules-data", help="where the crawl is kept")
arguments = parser.parse_args()

crawl = gossamer.crawl(
    arguments.url,
    contact=arguments.contact,
    folder=arguments.folder,
    filters=[no_print_versions],
    strategy=["fit", short_paths],
    hooks=[category],
)
for result in crawl.run().search(arguments.query):
    print(f"{result.score:.1f}  {result.title}  [{result.category}]  {result.url}")
