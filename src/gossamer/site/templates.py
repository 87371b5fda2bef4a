"""How the URLs of a site's documents look, and those of its lists: document rules that nobody has to write.

The URLs of the sample fall into templates (`url_groups`). One whose pages have titles and texts of their own is a
template of *documents*; one whose pages are lists, by their type or their address, a template of *lists*. The crawl
fetches URLs that look like documents first. That is all: a template never keeps a page out of the crawl or the index.

Templates are worked out anew whenever the site is learned, from the sample alone. So one that no longer fits is gone
with the next lesson.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gossamer.model.counts import counted
from gossamer.model.page_types import LISTS
from gossamer.model.site import site_of
from gossamer.site.patterns import MAX_CHARS, compile_patterns, path_and_query
from gossamer.site.sketch import Sketch
from gossamer.site.url_groups import Group, Page, group_urls

FEWEST = 24
"""Sampled documents from which their URLs are believed to show how the site names its pages."""
_LEAST, _SHARE = 3, 0.05
"""Pages of a template, and their share of the sample, from which it counts."""
_COVERED = 0.5
"""Share of the sampled pages that are no lists which the templates of documents must cover together: a site whose pages
mostly have names of their own has no order to be found in its URLs."""
_MOST = 20
_MOST_EXCEPTIONS = 20


class Template(msgspec.Struct, frozen=True, array_like=True):
    """A template of URLs, with its evidence."""

    pattern: str
    pages: int
    """Sampled documents whose URLs it made."""
    is_list: bool = False
    exceptions: tuple[str, ...] = ()
    """Patterns of URLs that it covers although they are no documents."""
    reason: str = ""
    """Why its pages are lists."""

    @property
    def sentence(self) -> str:
        """The template with its evidence."""
        return f"{self.pattern} ({counted(self.pages, 'page')}{f'; {self.reason}' if self.is_list else ''})"


def learn_templates(sample: Sequence[Sketch]) -> tuple[Template, ...]:
    """The templates that a sample of a site's documents shows, documents before lists, the most pages first."""
    pages = [
        Page(f"http://s{sketch.path}", str(sketch.title), sketch.chars, sketch.page_type)
        for sketch in sample
        if sketch.path
    ]
    if len(pages) < FEWEST:
        return ()
    least = max(_LEAST, _SHARE * len(pages))
    groups = [group for group in group_urls(pages) if len(group.pages) >= least]
    lists = [group for group in groups if group.is_list][:_MOST]
    documents = [group for group in groups if not group.verdict][:_MOST]
    others = sum(page.page_type not in LISTS for page in pages) - sum(_own_pages(group) for group in lists)
    if sum(_own_pages(group) for group in documents) < _COVERED * others:
        documents = []
    return tuple(_template(group) for group in (*documents, *lists))


def _own_pages(group: Group) -> int:
    return sum(page.page_type not in LISTS for page in group.pages)


def _template(group: Group) -> Template:
    return Template(
        group.template, len(group.pages), group.is_list, tuple(group.excluded[:_MOST_EXCEPTIONS]), group.verdict
    )


class SiteDocuments:
    """Which URLs of which sites look like documents, by the templates of each site."""

    def __init__(self, is_asked: bool = True) -> None:
        """`is_asked`: false if templates are to decide nothing."""
        self._is_asked = is_asked
        self._sites: dict[str, DocumentUrls] = {}

    def know(self, site: str, templates: Sequence[Template]) -> bool:
        """Go by these from now on; returns whether other URLs look like documents now."""
        if not self._is_asked:
            return False
        new, old = DocumentUrls(templates), self._sites.pop(site, None)
        if new.templates:
            self._sites[site] = new
        return new.patterns != (old.patterns if old is not None else [])

    def take_over(self, known: SiteDocuments) -> None:
        """Know what another one knew."""
        self._sites = dict(known._sites) if self._is_asked else {}

    def fits(self, url: str) -> bool | None:
        """Whether a canonical URL looks like a document of its site; None if nothing is known of how those look."""
        site = self._sites.get(site_of(url)) if self._sites else None
        return site.fits(url) if site is not None else None


class DocumentUrls:
    """Tells by the templates of a site whether a URL looks like one of its documents."""

    def __init__(self, templates: Iterable[Template]) -> None:
        self.templates = tuple(template for template in templates if not template.is_list)
        self.patterns = [(template.pattern, template.exceptions) for template in self.templates]
        self._urls = compile_patterns([template.pattern for template in self.templates])
        self._not_urls = compile_patterns([pattern for template in self.templates for pattern in template.exceptions])

    def fits(self, url: str) -> bool | None:
        """Whether a canonical URL looks like a document; None if the site has no templates."""
        if not self.templates:
            return None
        target = path_and_query(url)
        if len(target) > MAX_CHARS:
            return False
        return bool(self._urls.match(target)) and not self._not_urls.match(target)
