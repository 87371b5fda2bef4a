"""The text of articles as the site's own template marks it, and how near stored texts come to it.

A page belongs to the half that is *looked at once* by a hash of its path: tuning never sees its figures
(`sites.py --final` prints them). The score is that of `extraction.py`; of Chinese and Japanese each character counts as
a word. A title above the text is neither right nor wrong: the better reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote

import msgspec
from turbohtml import parse

from _extraction_data import word_scores
from _site_table import Site
from _site_web import by_hash

SHORTEST = 100
"""Characters a text must have to be judged."""
_SILENT = "script,style,noscript,iframe,template"
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class Article(msgspec.Struct, frozen=True):
    """An article as its template marks it."""

    path: str
    title: str
    text: str
    html: str
    """The element that holds the text."""

    @property
    def is_held_out(self) -> bool:
        """Whether its figures are looked at once."""
        return int(by_hash(self.path)[-1], 16) % 2 == 1


class Closeness(msgspec.Struct, frozen=True):
    """How near stored texts come to the truth, as means over pages."""

    pages: int = 0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0


def read_article(site: Site, path: str, html: bytes) -> Article | None:
    """The article of a page; None if the template marks none, or next to no text."""
    document = parse(html.decode("utf-8", "replace"))
    found, titles = document.select(site.text), document.select(site.title)
    if len(found) != 1 or not titles:
        return None
    for part in found[0].select(f"{_SILENT},{site.without}"):
        part.extract()
    text = found[0].to_text().strip()
    if len(text) < SHORTEST:
        return None
    return Article(path, " ".join(titles[0].to_text().split()), text, found[0].html)


def read_articles(site: Site, root: Path, paths: Iterable[str]) -> Iterator[Article]:
    """The articles among these paths, always in the same order."""
    for path in sorted({path for path in paths if site.kind(path) == "article"}, key=by_hash):
        file = root / unquote(path, errors="surrogateescape").lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        article = read_article(site, path, file.read_bytes()) if file.is_file() else None
        if article:
            yield article


def score(articles: Iterable[Article], texts: dict[str, str]) -> Closeness:
    """How near the stored texts, by path, come to the articles."""
    scores = [_score(texts.get(article.path, ""), article) for article in articles]
    if not scores:
        return Closeness()
    return Closeness(len(scores), *(fmean(values) for values in zip(*scores, strict=True)))


def _score(text: str, article: Article) -> tuple[float, float, float]:
    readings = (article.text, f"{article.title}\n{article.text}")
    return max((word_scores(spaced(text), spaced(truth)) for truth in readings), key=lambda scores: scores[2])


def spaced(text: str) -> str:
    """A text in which each character of a script without spaces is a word."""
    return _NO_SPACES.sub(r" \g<0> ", text)
