"""Main text by rules: the baseline, and the method for those who want no model.

Rules, in order:

1. Read only `<main>` where the page has exactly one and it holds text.
2. Take out elements that are furniture by their name (`nav`, `footer`, `button`, …),
   their ARIA role, being hidden, or a word in their class or id (`sidebar`,
   `breadcrumbs`, `cookie`, …).
3. But keep one that holds a third of the text or more: then the word means
   something else (`<body class="has-sidebar">`, an ASP.NET page inside one form).
4. What remains is written a line per block.

Verdicts about (class, id) pairs are remembered, since pages of a site share them.
"""

from __future__ import annotations

import re

from gossamer.parse.html import Element, Tree, rendered
from gossamer.parse.text.blocks import PERMALINK_SIGNS

_TAGS = ("nav", "footer", "aside", "button", "dialog", "menu", "noscript")
_ROLES = "alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar tooltip"
_BOXES = ("div", "section", "ul", "header", "form", "table", "p", "li")
"""Elements judged by class and id."""
_WORDS = """
    ad ads adsense advert advertisement sponsor sponsored promo
    nav navbar navbars navi navigation navheader navfooter topnav subnav sidenav
    menu menus submenu megamenu dropdown breadcrumb breadcrumbs pagination pager toolbar toc
    skip skiplink headerlink footer foot sidebar sidebars masthead copyright
    cookie cookies consent gdpr modal popup lightbox overlay noprint offscreen invisible
    share shares sharing sharer social socials newsletter subscribe subscription
    search searchbox searchform login signin signup related recommended tags comments respond
"""
"""Words of a class or id that name furniture. Chosen by leaving each out: those that cost F1
(banner, comment, hidden, widget) are not here, since page builders use them for everything."""
_FURNITURE_WORDS = frozenset(_WORDS.split())
_FURNITURE_ROLES = frozenset(_ROLES.split())
_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")

_KEPT_SHARE = 0.35
"""Share of the text from which on an element is no furniture. On WCXB .3 to .4 are equal, .7 loses .05."""
_MAIN_CHARS = 200
"""Characters a `<main>` must hold to be believed."""
_READINGS = 20
"""Times the text may be read for rule 3; nested furniture would make it quadratic."""
_NAME_CHARS = 500
"""Characters of a class or id that are looked at."""
_REMEMBERED = 50_000


class _Verdicts(dict[tuple[str | None, str | None], bool]):
    """(class, id) → is it furniture; forgets everything when full."""

    def __missing__(self, names: tuple[str | None, str | None]) -> bool:
        if len(self) >= _REMEMBERED:
            self.clear()
        text = " ".join((name or "")[:_NAME_CHARS] for name in names)
        verdict = not _FURNITURE_WORDS.isdisjoint(word.lower() for word in _SPLIT.split(text))
        if len(text) < _NAME_CHARS:
            self[names] = verdict
        return verdict


_VERDICTS = _Verdicts()
_NAMELESS = (None, None)


def text_without_furniture(tree: Tree) -> str:
    """The main text, not yet cleaned. Consumes the tree."""
    body = tree.silenced_body()
    if body is None:
        return ""
    found = body.select("main,[role=main]")
    if len(found) == 1 and len(found[0].text) > _MAIN_CHARS:
        body = found[0]
    _take_out_furniture(body)
    return rendered(body)


def _take_out_furniture(body: Element) -> None:
    size = len(body.text)
    threshold, budget = size * _KEPT_SHARE, size * _READINGS
    for element in (*_named(body), *_marked(body), *body.iter_elements(_TAGS)):
        held = len(element.text)
        budget -= held
        if held < threshold:
            element.extract()
        if budget < 0:
            return


def _named(body: Element) -> list[Element]:
    """Furniture by class and id."""
    verdicts = _VERDICTS
    found = []
    for element in body.iter_elements(_BOXES):
        names = element.attr("class"), element.attr("id")
        if names != _NAMELESS and verdicts[names]:
            found.append(element)
    return found


def _marked(body: Element) -> list[Element]:
    """Furniture by ARIA role, hidden elements, and the anchors beside headings."""
    return [
        element
        for element in body.select("[role],[hidden],[aria-hidden],a[href*='#']")
        if element.attr("role") in _FURNITURE_ROLES
        or element.attr("hidden") is not None
        or element.attr("aria-hidden") == "true"
        or (element.tag == "a" and _is_permalink(element))
    ]


def _is_permalink(link: Element) -> bool:
    return "headerlink" in (link.attr("class") or "") or link.text.strip() in PERMALINK_SIGNS
