"""What a page says about itself in JSON-LD (and the types of its microdata), read once for everybody who needs it.

A page carries many objects: itself, its site, its breadcrumbs, articles it links to. The
one that is about the page is chosen by type (an article before a web page, an organisation
never) and by whether it names this page; only objects at the top, in a `@graph` or as a
`mainEntity` are looked at, so that lists of related articles stay out.

Strings and lists are bounded, and nothing here raises.
"""

from __future__ import annotations

import html as entities
import re
from typing import Any

import msgspec
from turbohtml import Text

from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.html import Element, Tree
from gossamer.parse.json_ld import objects_in

_Node = dict[str, Any]
_MAX_TYPES = 50
_MAX_ITEMS = 5
_PARTS = ("html", "body", "main", "article", "div")
MAX_BODY_CHARS = 1_000_000
MAX_AUTHORS = 20
LINE_CHARS = 300

_ARTICLES = frozenset(
    "article newsarticle blogposting liveblogposting report techarticle scholarlyarticle medicalscholarlyarticle"
    " analysisnewsarticle opinionnewsarticle reportagenewsarticle reviewnewsarticle backgroundnewsarticle"
    " advertisercontentarticle satiricalarticle apireference posting socialmediaposting discussionforumposting"
    " question qapage recipe howto".split()
)
_WORKS = frozenset(
    "review criticreview creativework videoobject podcastepisode episode product book movie course event jobposting"
    " softwareapplication softwaresourcecode dataset tvepisode musicrecording photograph visualartwork quiz"
    " learningresource digitaldocument presentationdigitaldocument medicalwebpage".split()
)
_PAGES = frozenset(
    "webpage itempage collectionpage aboutpage contactpage faqpage profilepage checkoutpage searchresultspage".split()
)
ARTICLE, WORK, PAGE = 3, 2, 1
"""How much an object of a type is about the page it stands on."""
_RANKS = {**dict.fromkeys(_PAGES, PAGE), **dict.fromkeys(_WORKS, WORK), **dict.fromkeys(_ARTICLES, ARTICLE)}

# of a forum the body is only the first posting, of a recipe only the introduction
_BODY_TYPES = _ARTICLES - frozenset(
    "posting socialmediaposting discussionforumposting question qapage recipe howto liveblogposting".split()
)
_BODY_BYTES = 1_000
"""Shortest body believed, in UTF-8: 150 words, or 300 Chinese characters."""
_TEASER_ENDS = ("…", "...", "[…]", "[...]", "[&hellip;]")
_ENOUGH = 0.5
"""Share of the stated text from which on what was cut out of the page is preferred."""
_DRAWN_WORDS = 40
"""Words below which a page shows nothing of its own: a line of notice to readers without scripts."""
_SHOWN_SHARE = 0.9
"""Least share of its words that the page shows."""
_UNSEEN = frozenset(("script", "style", "noscript", "template"))
_WORDS = re.compile(r"\w+")

_TAGS = re.compile(r"<[A-Za-z/!][^<>]{0,2000}>")
_BLOCK_ENDS = re.compile(r"</(?:p|div|li|h[1-6]|blockquote|tr|ul|ol)\s?>|<br\s?/?>", re.I)


class Structured(msgspec.Struct, frozen=True):
    """What the page says about itself; `""` and `()` where it says nothing."""

    types: tuple[str, ...] = ()
    """Lower-case names of the types of the objects at the top and of the microdata's large items, each once."""
    about: str = ""
    """The @type of the object that was chosen."""
    rank: int = 0
    """ARTICLE, WORK or PAGE; 0 where no object is about this page."""
    published: str = ""
    """As it stands there, not read as a date."""
    modified: str = ""
    authors: tuple[str, ...] = ()
    site_name: str = ""
    image: str = ""
    """A reference, not resolved."""
    headline: str = ""
    body: str = ""
    """The text of an article where it is given, is long and no teaser; whether to believe it says `trusted_body`."""


NOTHING = Structured()
"""The page has no structured data."""


def read_structured(tree: Tree, url: str) -> Structured:
    """What the page at `url` says about itself in structured data; never raises."""
    found = objects_in(tree)
    items = _item_types(tree)
    if not found:
        return Structured(items) if items else NOTHING
    named = {node["@id"]: node for node in found if isinstance(node.get("@id"), str) and len(node) > 1}
    return _read(found, named, url, items)


def _item_types(tree: Tree) -> tuple[str, ...]:
    """The types that microdata gives to the large parts of a page."""
    types = (
        element.attr("itemtype") or "" for tag in _PARTS for element in tree.select(f"{tag}[itemtype]")[:_MAX_ITEMS]
    )
    return tuple(dict.fromkeys(_short(kind) for kind in types if kind))


def _short(kind: str) -> str:
    return kind.strip().rpartition("/")[2].rpartition(":")[2].lower()[:60]


def _types_of(node: _Node) -> list[str]:
    kind = node.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return [_short(kind) for kind in kinds[:10] if isinstance(kind, str)]


def _read(found: list[_Node], named: dict[str, _Node], url: str, items: tuple[str, ...]) -> Structured:
    types = tuple(dict.fromkeys((*(kind for node in found for kind in _types_of(node)), *items)))[:_MAX_TYPES]
    chosen = _choose(found, url)
    site = next((_text(n.get("name")) for n in found if "website" in _types_of(n)), "")
    if not chosen:
        return Structured(types, site_name=site)
    rank, about, first = chosen[0]
    nodes = [node for _, _, node in chosen]
    return Structured(
        types=types,
        about=about,
        rank=rank,
        published=_first(nodes, "datePublished", "dateCreated", "uploadDate"),
        modified=_first(nodes, "dateModified"),
        authors=_authors(nodes, named),
        site_name=_name(first.get("publisher"), named) or site,
        image=_image([node.get("image") or node.get("thumbnailUrl") for node in nodes], named),
        headline=_first(nodes, "headline", "name"),
        body=_body(first) if about in _BODY_TYPES else "",
    )


def _choose(found: list[_Node], url: str) -> list[tuple[int, str, _Node]]:
    """The objects about this page, the best one first: rank, type, object."""
    ranked = [
        (rank, kind, node)
        for node in found
        for rank, kind in [max(((_RANKS.get(k, 0), k) for k in _types_of(node)), default=(0, ""))]
        if rank
    ]
    chosen: list[tuple[int, str, _Node]] = []
    for rank in (ARTICLE, WORK, PAGE):
        same = [item for item in ranked if item[0] == rank]
        own = [item for item in same if _names(item[2], url)]
        # several articles of which none names this page are a list of others
        if own or len(same) <= 2:
            chosen.append((own or same)[0]) if same else None
    return chosen


def _names(node: _Node, url: str) -> bool:
    own = _address(url)
    page = node.get("mainEntityOfPage")
    if isinstance(page, dict):
        page = page.get("@id") or page.get("url")
    return any(isinstance(v, str) and _address(v) == own for v in (node.get("url"), node.get("@id"), page))


def _address(url: str) -> str:
    return url[:2000].partition("#")[0].partition("?")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value")
    if not isinstance(value, str):
        return ""
    value = value[: 8 * LINE_CHARS]
    return clean_line(entities.unescape(value) if "&" in value else value, LINE_CHARS)


def _first(nodes: list[_Node], *names: str) -> str:
    return next((text for node in nodes for name in names if (text := _text(node.get(name)))), "")


def _follow(value: Any, named: dict[str, _Node]) -> Any:
    if isinstance(value, dict) and isinstance(value.get("@id"), str) and len(value) <= 2:
        return {**named.get(value["@id"], {}), **value}
    return value


def _name(value: Any, named: dict[str, _Node]) -> str:
    if isinstance(value, list):
        value = value[0] if value else None
    value = _follow(value, named)
    return _text(value.get("name") or value.get("legalName")) if isinstance(value, dict) else _text(value)


def _authors(nodes: list[_Node], named: dict[str, _Node]) -> tuple[str, ...]:
    for node in nodes:
        value = node.get("author") or node.get("creator")
        values = value if isinstance(value, list) else [value]
        names = [name for name in (_name(v, named) for v in values[:MAX_AUTHORS]) if name]
        if names:
            return tuple(dict.fromkeys(names))
    return ()


def _image(values: list[Any], named: dict[str, _Node]) -> str:
    for value in values:
        if isinstance(value, list):
            value = value[0] if value else None
        value = _follow(value, named)
        if isinstance(value, dict):
            value = value.get("url") or value.get("contentUrl") or value.get("@id")
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, str) and value:
            return value[:4096].strip()
    return ""


def _body(node: _Node) -> str:
    value = node.get("articleBody") or node.get("text")
    if not isinstance(value, str):
        return ""
    value = value[:MAX_BODY_CHARS]
    if "<" in value:
        value = _TAGS.sub(" ", _BLOCK_ENDS.sub("\n", value))
    if "&" in value:
        value = entities.unescape(value)
    if "<" in value:  # the markup itself was escaped
        value = _TAGS.sub(" ", _BLOCK_ENDS.sub("\n", value))
    body = clean_text(value)
    return "" if len(body.encode()) < _BODY_BYTES or body.endswith(_TEASER_ENDS) else body


def visible_text(tree: Tree) -> str:
    """The text of a page without scripts and styles, for `trusted_body`; the tree stays as it is."""
    body = tree.body
    texts = (node for node in body.descendants if isinstance(node, Text)) if body is not None else ()
    return " ".join(
        node.data for node in texts if not (isinstance(node.parent, Element) and node.parent.tag in _UNSEEN)
    )


def trusted_body(structured: Structured, page_text: str, extracted: str) -> str:
    """The text JSON-LD gives for the page, where the page's own says less (`extracted`); otherwise `""`.

    Two cases. The text stands on the page (`page_text`, see `visible_text`), and not half of it was cut out. Or the
    page shows hardly anything, because a script is to draw it. Else what was cut out is better: on the 13 pages of
    WCXB's training part whose stated text stands on the page, the model's mean word F1 is .973, its own .958.
    """
    body = structured.body
    if not body or len(extracted) > _ENOUGH * len(body):
        return ""
    shown = _WORDS.findall(page_text.lower())
    if len(shown) < _DRAWN_WORDS:
        return body
    words, known = _WORDS.findall(body.lower()), set(shown)
    return body if sum(word in known for word in words) >= _SHOWN_SHARE * len(words) else ""
