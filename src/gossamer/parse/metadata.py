"""What a page says about itself: title, author, site, image, canonical, robots wishes, alternates, feeds.

What the page asks of crawlers is read by `wishes`. A canonical link counts only where
the page names exactly one: two that disagree are a mistake, and guessing would merge
pages that are not the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from gossamer.model.records import Link
from gossamer.model.site import host_of, site_of
from gossamer.parse.bylines import find_author
from gossamer.parse.clean import clean_line
from gossamer.parse.html import Element, Tree, rendered
from gossamer.parse.links import Resolver, rel_words
from gossamer.parse.script_redirect import script_target
from gossamer.parse.structured import ARTICLE, Structured
from gossamer.parse.structured import NOTHING as NO_STRUCTURE
from gossamer.parse.title import Names, Site, called, own_title, shared_names, site_part
from gossamer.parse.wishes import NOTHING, RobotsMeta, combine, parse_header, parse_meta
from gossamer.site.view import PageView

TITLE_CHARS = 300
DESCRIPTION_CHARS = 1000
HEADING_CHARS = 200
SITE_CHARS = 150
MAX_HEADINGS = 50
MAX_ALTERNATES = 200
MAX_FEEDS = 20
MAX_TAGS = 500
"""`<meta>` and `<link>` elements looked at."""
REFRESH_SECONDS = 10.0
"""Longest delay with which a refresh is a redirect and not a page that reloads."""
_OWN_HEADINGS = "h1:not(nav h1, aside h1, footer h1)"
_MAX_NAMES = 8
"""Headings that may be the page's title."""
_HEADING_BUDGET = 200_000
"""Characters read for all headings of a page."""
_WISH_CHARS = 2000
"""Characters read of one robots directive."""

_SITE_METAS = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_IMAGE_METAS = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
_FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))
_REFRESH = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*[;,]?\s*(?:url\s*=\s*)?(.*)", re.I | re.S)
_LINK_CHARS = 20_000
"""Characters of a Link header that are read."""
_LINK_HEADER = re.compile(r"<([^<>]{1,4096})>([^<]{0,1000})")
_REL_ALTERNATE = re.compile(r";\s*rel\s*=\s*(?:\"[^\"]*\balternate\b[^\"]*\"|alternate\b)", re.I)
_LINK_LANGUAGE = re.compile(r";\s*hreflang\s*=\s*\"?([\w-]{2,35})", re.I)
_HREFLANG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}|x-default")
_REL_CANONICAL = re.compile(r";\s*rel\s*=\s*(?:\"[^\"]*\bcanonical\b[^\"]*\"|canonical\b)", re.I)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")


class Metadata(msgspec.Struct):
    """The head of a page, read."""

    title: str = ""
    description: str = ""
    headings: list[str] = []
    claimed_language: str = ""
    author: str = ""
    """Several names are separated by `, `."""
    site_name: str = ""
    image: str = ""
    """The page's leading picture, canonical form."""
    canonical: str = ""
    refresh: str = ""
    robots: RobotsMeta = NOTHING
    alternates: list[tuple[str, str]] = []
    feeds: list[str] = []
    neighbours: list[Link] = []
    """`<link rel="next">` and `prev`."""
    metas: dict[str, str] = {}
    """First content of each meta name or property, lower-case names."""


def read_metadata(
    tree: Tree, resolve: Resolver, own_url: str, agent: str, structured: Structured = NO_STRUCTURE,
    view: PageView | None = None,
) -> Metadata:  # fmt: skip
    """Everything but the text, the links and the dates. `view`: by whoever knows the site."""
    data = Metadata()
    _read_metas(tree, data, resolve, own_url, agent)
    _read_link_elements(tree, data, resolve)
    description = data.metas.get("description") or data.metas.get("og:description", "")
    data.description = clean_line(description, DESCRIPTION_CHARS)
    data.headings = _headings(tree)
    names = _names(tree, data.metas, structured)
    language = _LANGUAGE_TAG.match((tree.language or data.metas.get("content-language", "")).strip())
    data.claimed_language = language[0].lower() if language else ""
    site = Site(
        _first_line(data.metas, _SITE_METAS) or structured.site_name,
        host_of(site_of(own_url)).removeprefix("www."),
        view.site_names if view is not None else (),
    )
    if view is not None:
        view.name(shared_names(names), called(names, site.name))
    data.title, data.site_name = own_title(names, site), site.name or site_part(names.title, site)
    data.author = find_author(tree, data.metas, structured.authors, structured.headline or data.title)
    data.image = _image(data.metas, structured, resolve)
    if not data.refresh:
        target = resolve(script_target(tree))
        data.refresh = "" if target == own_url else target
    return data


def _first_line(metas: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((line for name in names if (line := clean_line(metas.get(name, ""), SITE_CHARS))), "")


def _image(metas: Mapping[str, str], structured: Structured, resolve: Resolver) -> str:
    references = (*(metas.get(name, "").strip() for name in _IMAGE_METAS), structured.image)
    return next((url for reference in references if (url := resolve(reference))), "")


def apply_headers(data: Metadata, robots: list[str], links: list[str], resolve: Resolver, agent: str) -> None:
    """Add what X-Robots-Tag and Link say; `resolve` is relative to the page, not to `<base>`."""
    if robots:
        header = parse_header([value[:_WISH_CHARS] for value in robots], agent)
        data.robots = combine([data.robots, header])
    for value in links:
        _read_header_alternates(value, data, resolve)
    targets = {url for value in links for url in _header_canonicals(value, resolve)}
    if targets:
        if data.canonical:
            targets.add(data.canonical)
        data.canonical = targets.pop() if len(targets) == 1 else ""


def _read_header_alternates(value: str, data: Metadata, resolve: Resolver) -> None:
    for link in _LINK_HEADER.finditer(value[:_LINK_CHARS]):
        language = _LINK_LANGUAGE.search(link[2])
        if language and _REL_ALTERNATE.search(link[2]):
            _add_alternate(data, language[1], resolve(link[1].strip()))


def _header_canonicals(value: str, resolve: Resolver) -> list[str]:
    found = (resolve(m[1].strip()) for m in _LINK_HEADER.finditer(value[:_LINK_CHARS]) if _REL_CANONICAL.search(m[2]))
    return [url for url in found if url]


def read_metas(tree: Tree) -> dict[str, str]:
    """First content of each meta name or property, lower-case names."""
    metas: dict[str, str] = {}
    for name, content, _ in _named_metas(tree):
        metas.setdefault(name, content)
    return metas


def _named_metas(tree: Tree) -> Iterator[tuple[str, str, Element]]:
    for element in tree.select("meta")[:MAX_TAGS]:
        content = element.attr("content")
        if content is None:
            continue
        name = element.attr("name") or element.attr("property") or element.attr("http-equiv")
        yield (name or element.attr("itemprop") or "").strip().lower(), content, element


def _read_metas(tree: Tree, data: Metadata, resolve: Resolver, own_url: str, agent: str) -> None:
    metas: dict[str, str] = {}
    for name, content, element in _named_metas(tree):
        metas.setdefault(name, content)
        if name in ("robots", agent, "tdm-reservation"):
            data.robots = combine([data.robots, parse_meta([(name, content[:_WISH_CHARS])], agent)])
        elif name == "refresh" and not data.refresh and element.closest("noscript") is None:
            data.refresh = _refresh_target(content, resolve, own_url)
    data.metas = metas


def _refresh_target(content: str, resolve: Resolver, own_url: str) -> str:
    found = _REFRESH.match(content[:5000])
    if not found or float(found[1]) > REFRESH_SECONDS:
        return ""
    target = found[2].strip()
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    url = resolve(target)
    return "" if url == own_url else url


def _read_link_elements(tree: Tree, data: Metadata, resolve: Resolver) -> None:
    canonicals: set[str] = set()
    for element in tree.select("head > link[rel][href]")[:MAX_TAGS]:
        rel = rel_words(element)
        words = rel.split()
        if "canonical" in words:
            canonicals.add(resolve(element.attr("href")))
        elif "alternate" in words:
            _read_alternate(element, data, resolve)
        elif "next" in words or "prev" in words:
            url = resolve(element.attr("href"))
            if url:
                data.neighbours.append(Link(url, "", rel, "link"))
    canonicals.discard("")
    data.canonical = canonicals.pop() if len(canonicals) == 1 else ""


def _read_alternate(element: Element, data: Metadata, resolve: Resolver) -> None:
    hreflang = element.attr("hreflang")
    kind = (element.attr("type") or "").partition(";")[0].strip().lower()
    if kind in _FEED_TYPES or (kind == "application/json" and "feed" in (element.attr("title") or "").lower()):
        url = resolve(element.attr("href"))
        if url and url not in data.feeds and len(data.feeds) < MAX_FEEDS:
            data.feeds.append(url)
    elif hreflang:
        _add_alternate(data, hreflang, resolve(element.attr("href")))


def _add_alternate(data: Metadata, hreflang: str, url: str) -> None:
    language = hreflang.strip().lower().replace("_", "-")
    if url and _HREFLANG.fullmatch(language) and len(data.alternates) < MAX_ALTERNATES:
        data.alternates.append((language, url))


def _names(tree: Tree, metas: Mapping[str, str], structured: Structured) -> Names:
    """What the page calls itself."""
    headings = [clean_line(rendered(element), TITLE_CHARS) for element in tree.select(_OWN_HEADINGS)[:_MAX_NAMES]]
    headline = structured.headline if structured.rank == ARTICLE else ""
    return Names(
        _title(tree), [heading for heading in headings if heading], clean_line(metas.get("og:title", ""), TITLE_CHARS),
        clean_line(headline, TITLE_CHARS),
    )  # fmt: skip


def _title(tree: Tree) -> str:
    for element in tree.select("title")[:5]:
        if element.namespace.value == "html":  # an SVG picture has titles too
            return clean_line(element.text, TITLE_CHARS)
    return ""


def _headings(tree: Tree) -> list[str]:
    headings: list[str] = []
    budget = _HEADING_BUDGET
    for element in tree.all("h1", "h2", "h3"):
        text = element.text
        budget -= len(text)
        heading = clean_line(text, HEADING_CHARS)
        if heading:
            headings.append(heading)
        if len(headings) >= MAX_HEADINGS or budget < 0:
            break
    return headings
