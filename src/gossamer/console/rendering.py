"""How the console's pages are made: the templates of the console beside those of the search page, the token in every
form, the alarms, and the sentence that tells an operator what was done.

Who looks at a page is known to the macros of `console_parts.html` while it is rendered, so that they need no context.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from markupsafe import Markup
from starlette.responses import Response

from gossamer.console.context import Asked, Visitor
from gossamer.web.assets import Assets
from gossamer.web.links import Links
from gossamer.web.rendering import Renderer

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
_MOST_SENTENCES = 1000

_looking: ContextVar[Visitor] = ContextVar("_looking")


class Place(msgspec.Struct, frozen=True):
    """A page in the navigation."""

    name: str
    path: str
    heading: str = ""
    """Stands above it, where a group begins."""


class Sentences:
    """What to tell whom on the next page; in memory, because it may hold a new password, which is shown once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, str] = OrderedDict()

    def keep(self, visitor: Visitor, sentence: str) -> None:
        """Tell it on the next page."""
        with self._lock:
            self._kept[visitor.csrf] = sentence
            if len(self._kept) > _MOST_SENTENCES:
                self._kept.popitem(last=False)

    def take(self, visitor: Visitor) -> str:
        """What is to be told; it is forgotten with this."""
        with self._lock:
            return self._kept.pop(visitor.csrf, "")


class ConsoleRenderer:
    """Makes pages."""

    def __init__(self, title: str, links: Links, navigation: Sequence[Place]) -> None:
        """`navigation`: the pages in order."""
        self._paths = [place.path for place in navigation]
        self.sentences = Sentences()

        def page_link(path: str, page: int, parameters: Mapping[str, str]) -> str:
            return links.to(path, **{**parameters, "page": str(page) if page > 1 else ""})

        self._pages = Renderer(
            title, links, Assets(links, [STATIC]).url, [FOLDER / "templates"],
            navigation=navigation, scripts=sorted(path.name for path in STATIC.glob("*.js")), page_link=page_link,
            csrf_field=_csrf_field, may_act=lambda: _looking.get().is_operator,
        )  # fmt: skip

    def page(self, asked: Asked, template: str, alarms: list[str], status: int = 200, **values: Any) -> Response:
        """A page for somebody who is logged in."""
        values |= {"visitor": asked.visitor, "alarms": alarms, "here": self._here(asked.at)}
        before = _looking.set(asked.visitor)
        try:
            flash = self.sentences.take(asked.visitor)
            return _private(self._pages.page(template, status, **values, flash=flash))
        finally:
            _looking.reset(before)

    def open_page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page for everybody."""
        return _private(self._pages.page(template, status, **values))

    def _here(self, path: str) -> str:
        """The page of the navigation to which a path belongs."""
        if path == "/console/site":
            return "/console/sites"
        return max((place for place in self._paths if path == place or path.startswith(f"{place}/")), default="")


def _csrf_field() -> Markup:
    return Markup('<input type="hidden" name="csrf" value="{}">').format(_looking.get().csrf)


def _private(response: Response) -> Response:
    response.headers["cache-control"] = "no-store"
    # Without it browsers hide the origin of our own forms from us.
    response.headers["referrer-policy"] = "same-origin"
    return response
