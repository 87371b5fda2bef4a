"""Pages and links, as a program gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any

from gossamer.errors import OperationError


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page."""

    source: str
    """URL of the page on which it stands."""
    target: str
    """Where it points, in canonical form."""
    text: str = ""
    """What is written on it."""
    rel: str = ""
    """Its rel words, lower case, separated by a space: `nofollow`, `canonical`, …"""
    tag: str = "a"
    """Where it stands: `a`, `area`, `iframe`, `frame`, `link` or `meta`."""
    fetched_at: datetime | None = None
    """When the page was fetched; None for a page that no crawl fetched."""


@dataclass(frozen=True, slots=True)
class More:
    """What a page has beside its text, each made when it is asked for."""

    markdown: Callable[[], str]
    links: Callable[[], tuple[Link, ...]]
    html: Callable[[], str | None]


def _no_more() -> More:
    def missing() -> Any:
        raise OperationError("this page is by itself: get it from `gossamer.open(folder).page(url)` or `read_page`")

    return More(missing, missing, missing)


@dataclass(frozen=True)
class Page:
    """A page: its main text, and what Gossamer found out about it. Strings are empty where nothing is known."""

    url: str
    """In canonical form."""
    title: str = ""
    """Its own title, without the name of its site."""
    text: str = ""
    """Its main text: a paragraph a line, without menus, sidebars and footers."""
    language: str = ""
    """ISO 639-1, such as `en`."""
    date: str = ""
    """When it was published: ISO 8601, as precise as the page says (`2026-11-19`, `2026-11-19T08:30:00+01:00`)."""
    updated: str = ""
    """When it was last changed, as the page says."""
    author: str = ""
    """Who wrote it, as the page says."""
    description: str = ""
    """Its meta description."""
    headings: tuple[str, ...] = ()
    """Its headings, in order."""
    type: str = ""
    """Kind of page: `article`, `listing`, `forum`, …"""
    category: str = ""
    """By your rules, your classifier or your hooks."""
    site: str = ""
    """Host, with the port if it is not the default one."""
    site_name: str = ""
    """What the site calls itself."""
    image: str = ""
    """URL of its leading picture."""
    canonical: str = ""
    """Where its canonical link points."""
    media_type: str = ""
    """Such as `text/html`."""
    status: int = 0
    """The HTTP status; 0 for a page that no crawl fetched."""
    depth: int = 0
    """Links followed from the nearest seed."""
    fetched_at: datetime | None = None
    """When it was fetched; None for a page that no crawl fetched."""
    text_hash: str = ""
    """Equal for pages with equal texts: tells whether one that was stored anew says something else."""
    more: More = field(default_factory=_no_more, repr=False, compare=False)
    """Where `markdown`, `links` and `html` come from."""

    @cached_property
    def markdown(self) -> str:
        """The main text as CommonMark: headings, lists, tables, code and links, as far as the HTML is stored."""
        return self.more.markdown()

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All its links, also those that lead out of the crawl."""
        return self.more.links()

    @cached_property
    def html(self) -> str | None:
        """The HTML as it came, decoded; None where it is not stored, or the page is no HTML."""
        return self.more.html()

    def as_dict(self, *, markdown: bool = False) -> dict[str, Any]:
        """Its fields by name, for a table or for JSON; `markdown`: with that, too."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "more"}
        found["headings"] = list(self.headings)
        return {**found, "markdown": self.markdown} if markdown else found
