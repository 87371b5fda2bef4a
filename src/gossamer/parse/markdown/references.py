"""Links and pictures: with canonical URLs, and only those that a reader can follow or see."""

from __future__ import annotations

import re

from gossamer.parse.html import Element, detach
from gossamer.parse.links import Resolver
from gossamer.parse.markdown.layout import clean, first_box

_PERMALINKS = "a.headerlink,a.anchor,a.anchor-link,a.header-anchor,a.hash-link,a.heading-link,.mw-editsection"
"""What stands behind or before a heading to link to it."""
_PERMALINK = re.compile(r"(?i)\W*(?:(?:perma|direct )?link(?: to .*)?|anchor|edit.*)?\W*", re.S)
_SIGN_CHARS = 200
_SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
_ALT_CHARS = 300
_WORD = re.compile(r"\w")


def tidy_pictures(body: Element, resolve: Resolver) -> None:
    """Give pictures the canonical URL of their file; take out those without one, and those shown before."""
    seen = set()
    for picture in list(body.iter_elements(("img",))):
        url = next(filter(None, (resolve(picture.attr(name)) for name in _SOURCES)), "")
        counts_visits = any(picture.attr(name) in ("0", "1") for name in ("width", "height"))
        if not url or url in seen or counts_visits:
            picture.extract()
            continue
        seen.add(url)
        alt = " ".join(clean(picture.attr("alt") or "").split())[:_ALT_CHARS]
        _say_only(picture, {"src": url, "alt": alt})


def tidy_links(body: Element, resolve: Resolver) -> None:
    """Give links canonical URLs; take out signs behind headings and links without text, and leave of those that lead
    to no other page their text. A link around boxes moves into the first heading of them, or the first box: Markdown
    has links within a line only."""
    detach([sign for sign in body.select(_PERMALINKS) if _PERMALINK.fullmatch(sign.text[:_SIGN_CHARS])])
    for link in list(body.iter_elements(("a",))):
        url, box = resolve(link.attr("href")), first_box(link)
        if _is_sign(link):
            link.extract()
        elif url and box is None:
            _say_only(link, {"href": url})
        else:
            target = link.select_one("h1,h2,h3,h4,h5,h6") or link.select_one("p") or box
            if url and target is not None and first_box(target) is None:
                target.wrap_children(Element("a", {"href": url}))
            link.unwrap()


def _is_sign(link: Element) -> bool:
    """Whether a link shows nothing, or leads to a place on the page and has no words."""
    if (link.attr("href") or "").startswith("#"):
        return not any(map(_WORD.search, link.strings))
    return all(not text or text.isspace() for text in link.strings) and link.select_one("img") is None


def _say_only(element: Element, attributes: dict[str, str]) -> None:
    for name in list(element.attrs):
        del element.attrs[name]
    for name, value in attributes.items():
        element.attrs[name] = value
