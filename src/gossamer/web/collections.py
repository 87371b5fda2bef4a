"""Collections of the search desk: a part of the crawl with an address, a title and a colour of its own."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from gossamer.model.meant import hint
from gossamer.search.desk.rules import Collection
from gossamer.search.results import Request
from gossamer.web.links import Links
from gossamer.web.parameters import BadParameter
from gossamer.web.service import DeskService

PATH = "/c"
_GROUNDS = {"light": ("#ffffff", "#f3f6f4"), "dark": ("#121716", "#1b2321")}
"""What links and buttons stand on, as in `colours.css`."""
_CONTRAST = 4.5
"""Of text, by WCAG 2.2."""


class Skin(msgspec.Struct, frozen=True):
    """How the pages of a collection differ from all others."""

    name: str
    title: str
    home: str
    search: str
    """Where its form leads."""
    css: str
    """Its colours; empty: the usual ones."""


class Collections:
    """The collections that are published, for pages and API."""

    def __init__(self, desk: DeskService | None, links: Links) -> None:
        self._desk, self._links = desk, links

    def all(self) -> list[Skin]:
        """Every collection, in the order of the rules."""
        return [self._skin(one) for one in self._desk.current().desk.collection] if self._desk is not None else []

    def find(self, name: str) -> Skin | None:
        """A collection by name."""
        found = self._found(name)
        return self._skin(found) if found is not None else None

    def check(self, request: Request) -> Request:
        """The request of a program; `BadParameter` where it names a collection that does not exist."""
        if request.collection and self._found(request.collection) is None:
            known = hint(request.collection, [one.name for one in self.all()])
            raise BadParameter(f"collection: there is no collection {request.collection!r}: {known}")
        return request

    def values(self, name: str) -> dict[str, Any]:
        """What templates need to look like a collection; nothing where there is no such."""
        skin = self.find(name) if name else None
        return {"skin": skin, "site_title": skin.title} if skin is not None else {}

    def colours(self, name: str) -> Response:
        """The colours of a collection that has some."""
        found = self._found(name)
        text = stylesheet(found.colour) if found is not None and found.colour else ""
        return Response(text, 200 if text else 404, {"cache-control": "no-cache"}, "text/css")

    def _found(self, name: str) -> Collection | None:
        return self._desk.current().desk.collection_of(name) if self._desk is not None else None

    def _skin(self, one: Collection) -> Skin:
        home = self._links.to(f"{PATH}/{one.name}/")
        return Skin(one.name, one.heading, home, f"{home}search", f"{home}colours.css" if one.colour else "")


def stylesheet(colour: str) -> str:
    """The colour of links and buttons, made darker by day and lighter by night until it can be read."""
    light, dark = (_readable(colour, scheme) for scheme in ("light", "dark"))
    rule = ":root {{ --accent: {0}; --link: {0}; --on-accent: {1}; }}"
    by_day, by_night = rule.format(light, _on(light)), rule.format(dark, _on(dark))
    return f"{by_day}\n@media (prefers-color-scheme: dark) {{ {by_night} }}\n"


def contrast(one: str, other: str) -> float:
    """How well one colour can be read on another, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _readable(colour: str, scheme: str) -> str:
    goal = 0 if scheme == "light" else 255
    found = colour.lower()
    for step in range(1, 101):
        if all(contrast(found, ground) >= _CONTRAST for ground in _GROUNDS[scheme]):
            break
        found = "#" + "".join(f"{round(part + (goal - part) * step / 100):02x}" for part in _parts(colour))
    return found


def _on(colour: str) -> str:
    return max(("#ffffff", "#0a1c19"), key=lambda ink: contrast(colour, ink))


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _luminance(colour: str) -> float:
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in
              (value / 255 for value in _parts(colour)))  # fmt: skip
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
