"""Templates to pages: one environment, escaping always on, the filters that say how values look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from gossamer.model.counts import counted, noun
from gossamer.model.moments import timestamp
from gossamer.search.results import Hit, Marked
from gossamer.web import views
from gossamer.web.links import Links

FOLDER = Path(__file__).parent / "templates"
# Control characters, and those that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HEADINGS = {
    404: "Not found", 405: "Not allowed", 414: "Address too long", 421: "Wrong server", 429: "Too many requests",
    503: "Search is not available",
}  # fmt: skip
_PROGRAMS = ("/api/", "/customsearch/", "/suggest")
"""Paths whose readers are programs: errors are JSON there."""


class Renderer:
    """Makes responses from templates."""

    def __init__(
        self, title: str, links: Links, asset: Callable[[str], str], others: Iterable[Path] = (),
        **names: Any,
    ) -> None:  # fmt: skip
        """`others`: further folders of templates; `names`: what templates may use beside their values."""
        self.environment = Environment(
            loader=FileSystemLoader([FOLDER, *others]), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, auto_reload=False, finalize=_seen,
        )  # fmt: skip
        self.environment.globals.update(
            site_title=title, skin=None, links=links, asset=asset, exact=Markup.escape, **names
        )
        self.environment.filters.update(
            marked=marked, plain=plain, hit_title=hit_title, took=took, date=views.date, moment=views.moment,
            about=views.about, words_of=views.words_of, value_words=views.value_words, counted=counted, noun=noun,
            timestamp=timestamp, number=views.number, language=views.language, language_tag=views.language_tag,
            also_in=views.also_in,
            crumbs=views.crumbs, host_name=views.host_name, safe_href=views.safe_href, schema_words=views.schema_words,
        )  # fmt: skip
        # A template that does not compile fails here, not before a reader.
        for name in self.environment.list_templates():
            self.environment.get_template(name)

    def page(self, template: str, status: int = 200, cache: str = "no-cache", **values: Any) -> Response:
        """A page; what depends on the index is asked for again each time."""
        html = self.environment.get_template(template).render(**values)
        response = HTMLResponse(html, status)
        response.headers["cache-control"] = cache
        return response

    def refuse(self, scope: Scope, status: int, sentence: str) -> Response:
        """The response that says no: a page for people, JSON for programs."""
        path: str = scope["path"]
        if path.startswith(_PROGRAMS):
            return json_response({"error": sentence}, status)
        heading = _HEADINGS.get(status) or HTTPStatus(status).phrase
        response = self.page("error.html", status, heading=heading, sentence=sentence, query="")
        response.headers["x-robots-tag"] = "noindex"
        return response


def json_response(value: Any, status: int = 200, media_type: str = "application/json") -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-cache"}, media_type)


def marked(text: Marked) -> Markup:
    """Text with its marks, escaped."""
    pieces = ((escape(plain(piece)), hit) for piece, hit in text.pieces())
    return Markup("".join(f"<mark>{piece}</mark>" if hit else piece for piece, hit in pieces))


def plain(text: str) -> str:
    """Text without characters that only disturb what stands around them."""
    return _UNSEEN.sub("", text)


def _seen(value: Any) -> Any:
    """Texts on pages are strangers': none turns or hides what stands around it, whether its template thought of that or
    not. Where a form must send a text back as it was, the template says `exact(text)`."""
    return plain(value) if type(value) is str else value


def hit_title(hit: Hit) -> Markup:
    """What a result is called: its title, or its address where it has none."""
    return marked(hit.title) if hit.title.text.strip() else Markup.escape(plain(hit.url))


def took(seconds: float) -> str:
    """A short time for a person."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.995 else f"{seconds:.1f} s"
