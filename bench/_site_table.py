"""The archived sites as `sites.py` reads them: where a template puts the text, and which URLs are articles or lists.

A template marks its text as reliably as a person would: the selectors were found by looking at ten pages of each
site, and they know nothing of the extractor. The sites' own feeds are no truth: the 876 of mircsgo.ru were archived
as copies of its start page, and the one of itw66.ru has cut texts only.

| site | text | not part of it |
|---|---|---|
| mircsgo (WordPress) | `.entry-content` of the article | a box of teasers in the middle, tags, advertisements (`.g`) |
| itw66 (Jekyll) | `.post-content` of the post; side panel and search box have the class, too | line numbers |
| learning (WordPress) | `.entry-content` of the article; comments follow outside of it | buttons, "Related" |
| linuxcn (Hexo) | `.post-content` | line numbers |
| openoffice (Autodoc) | `#adc-idlref`, the reference of the programming interface | its three menus and the copyright |
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Kind = Literal["article", "list", ""]
"""What a URL names; empty: nobody can tell from the URL."""


class Site(msgspec.Struct, frozen=True):
    """What is known of an archived site without a crawler."""

    name: str
    """As `_sites.SOURCES` has it."""
    host: str
    text: str
    """Selector of the element that holds the text of an article."""
    without: str
    """Selector of what the template puts into that element beside the text."""
    title: str
    """Selector of the article's title."""
    articles: str
    """Pattern of the paths of articles."""
    lists: str
    """Pattern of the paths of lists: tags, categories, dates, pages of teasers."""
    article_types: tuple[str, ...] = ("article",)
    """Page types that are right for an article."""
    list_types: tuple[str, ...] = ("listing", "collection")

    def kind(self, path: str) -> Kind:
        """What a path of the site names."""
        if re.fullmatch(self.lists, path):
            return "list"
        return "article" if re.fullmatch(self.articles, path) else ""

    def types(self, path: str) -> tuple[str, ...]:
        """The page types that are right for a path; none: nobody can tell."""
        return {"article": self.article_types, "list": self.list_types, "": ()}[self.kind(path)]


SITES = (
    Site(
        name="mircsgo",
        host="mircsgo.ru",
        text="article .entry-content",
        without=".ads-block-inside,.entry-meta,.g",
        title="article h1.entry-title",
        articles=r"/[^/]+/?",
        lists=r"/|/(tag|category|page)/.*",
    ),
    Site(
        name="itw66",
        host="itw66.ru",
        text="#core-wrapper .post > .post-content",
        without=".rouge-gutter",
        title="#core-wrapper .post > h1",
        articles=r"/blog/[^/]+/\d+\.html",
        lists=r"/|/(tags|categories|archives|posts)/.*|/page\d+/",
    ),
    Site(
        name="learning",
        host="learningischange.com",
        text="article.post .entry-content",
        without=".sharedaddy,.jp-relatedposts",
        title="article.post h1.entry-title",
        articles=r"/\d{4}/\d\d/\d\d/(?!page/)[^/]+/",
        lists=r"/|/(tag|category|author|page)/.*|/\d{4}/(\d\d/){0,2}(page/\d+/)?",
    ),
    Site(
        name="linuxcn",
        host="linuxcn.undefined.today",
        text=".post-container .post-content",
        without=".gutter",
        title="h1.post-title",
        articles=r"/article-\d+-\d+\.html",
        lists=r"/|/(tags|categories|archives|page)/.*",
    ),
    Site(
        name="openoffice",
        host="www.openoffice.org",
        text="#adc-idlref",
        without=".navimain,.navisub,.copyright,a[href='#_top_']",
        title="#adc-idlref .title, #adc-idlref .title-table th",
        articles=r"/api/docs/common/ref/com/.*(?<!-xref)(?<!module-ix)\.html",
        lists=r"/api/docs/.*(-xref|module-ix|index-\d+)\.html",
        article_types=("documentation",),
        list_types=("listing", "collection", "documentation"),
    ),
)


def find_sites(names: list[str]) -> list[Site]:
    """The named sites, in the order of the table."""
    known = [site.name for site in SITES]
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"no site is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [site for site in SITES if site.name in names]
