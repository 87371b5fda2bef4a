"""Which pages are worth rendering, and whether it helped: pure, by the parser's result and the markup.

Rendering costs requests, which the site pays for, and a hundred times the time of a page. So in `auto` mode a page is
rendered only if it shows next to nothing and its markup says that scripts would fill it.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.fetch.browser_config import BrowserConfig
from gossamer.model.counts import counted
from gossamer.model.records import Parsed
from gossamer.model.site import host_of
from gossamer.settings import Settings

RENDERED = "rendered"
"""Prefix of the extraction method of a rendered page's text."""
_NO_TEXT = 250
"""Characters up to which a page shows nothing: a name, a notice, a footer."""
LITTLE_TEXT = 1_000
"""Characters up to which a page is searched for signs that the rest of it is missing."""
_FEW_LINKS = 3
_LOOKED_AT = 256 * 1024
"""Bytes of a page that are searched for signs."""
_MORE_TEXT = 40
_MORE_WORDS = 8
"""More characters, or new words, that count as a gain: a date or a greeting does not."""
_DAY = 86_400.0

# Every repetition has an end: these run on strangers' text, in the worker's event loop.
_DATA = rb"(?:application/(?:ld\+)?json|importmap|speculationrules|text/(?:x-)?(?:template|html|handlebars))"
_SCRIPT = re.compile(rb"<script(?=[\s>])(?![^<>]{0,300}\btype\s{0,9}=\s{0,9}[\"']?" + _DATA + rb")", re.I)
_NAMES = rb"(?:root|app|__next|__nuxt|___gatsby|main-app|react-root|app-root|application|svelte|q-app|ember\d{0,5})"
_EMPTY = re.compile(
    rb"\bid\s{0,9}=\s{0,9}[\"']?" + _NAMES + rb"(?:>|[\"'\s][^<>]{0,300}>)"
    rb"\s{0,200}(?:<!--[^<>]{0,200}-->\s{0,200})?</(?:div|main|section|body)>"
    rb"|<(app-[a-z-]{1,40}|[a-z]{1,30}-app)(?:\s[^<>]{0,300})?>\s{0,200}</\1>",
    re.I,
)
_HINT = re.compile(rb"<noscript(?=[\s>])[^<]{0,50}(?:<(?!/noscript)[^<]{0,400}){0,8}", re.I)
_SAYS = re.compile(rb"javascript|\bjs\b|skript", re.I)


class Modes:
    """Which sites are rendered: off, auto or on."""

    def __init__(self, settings: Settings) -> None:
        self._usual: str = settings.browser.mode
        self._named = {
            name.strip().lower().rstrip("/").removeprefix("https://").removeprefix("http://"): access.javascript
            for name, access in settings.sites.items()
            if access.javascript
        }

    @property
    def any(self) -> bool:
        """Whether any page may have to be rendered."""
        return {self._usual, *self._named.values()} != {"off"}

    def of(self, site: str) -> str:
        """The mode of a site; the mode of a host holds for all its ports."""
        return self._named.get(site) or self._named.get(host_of(site)) or self._usual


def why_render(mode: str, body: bytes, parsed: Parsed) -> str:
    """Why to render a page; `""` if not."""
    if mode == "off" or not _is_readable(parsed):
        return ""
    if mode == "on":
        return "all pages of the site are rendered"
    return "" if parsed.noindex else _sign(body, parsed)


def scripts_missing(body: bytes, parsed: Parsed) -> str:
    """The sign that a page shows nothing because its scripts were not run; `""` if there is none."""
    return _sign(body, parsed) if _is_readable(parsed) and len(parsed.text) <= _NO_TEXT else ""


def is_shell(body: bytes, parsed: Parsed) -> str:
    """The sign that a page is nothing but a frame for its scripts to fill; `""` if there is none. Stricter than
    `scripts_missing`, because a short page that only counts its visitors by a script is a page."""
    if not _is_readable(parsed) or len(parsed.text) > _NO_TEXT or not _SCRIPT.search(head := body[:_LOOKED_AT]):
        return ""
    return _plain_sign(head, parsed) or ("" if parsed.text.strip() or parsed.links else "scripts, and nothing else")


def _is_readable(parsed: Parsed) -> bool:
    readable = parsed.ok and parsed.method not in ("sitemap", "feed", "plain") and "html" in parsed.media_type
    return readable and not parsed.refresh


def _sign(body: bytes, parsed: Parsed) -> str:
    shown = len(parsed.text)
    if shown >= LITTLE_TEXT:
        return ""
    head = body[:_LOOKED_AT]
    if not _SCRIPT.search(head):
        return ""
    if sign := _plain_sign(head, parsed):
        return sign
    if shown <= _NO_TEXT and len(parsed.links) <= _FEW_LINKS:
        return f"{counted(shown, 'character')} of text and {counted(parsed.links, 'link')}, but scripts"
    return ""


def _plain_sign(head: bytes, parsed: Parsed) -> str:
    """What a page with scripts says of itself."""
    shown = counted(len(parsed.text), "character")
    if _EMPTY.search(head):
        return f"{shown} of text, and an element for scripts to fill"
    if any(_SAYS.search(hint[0]) for hint in _HINT.finditer(head)):
        return f"{shown} of text, and a notice for browsers without JavaScript"
    return ""


def has_gained(before: Parsed, after: Parsed) -> bool:
    """Whether a page says more after its scripts have run."""
    if not after.ok:
        return False
    if len(after.text) >= len(before.text) + _MORE_TEXT or not set(after.follow) <= set(before.follow):
        return True
    return len(set(after.text.split()) - set(before.text.split())) >= _MORE_WORDS


def merged(before: Parsed, after: Parsed) -> Parsed:
    """The content of a rendered page, with the robots wishes of both: a script cannot take back what the page asked
    for."""
    return msgspec.structs.replace(
        after,
        method=f"{RENDERED} {after.method}",
        charset=before.charset,
        media_type=before.media_type,
        noindex=before.noindex or after.noindex,
        nofollow=before.nofollow or after.nofollow,
        noarchive=before.noarchive or after.noarchive,
        follow=[] if before.nofollow else after.follow,
        follow_keys=b"" if before.nofollow else after.follow_keys,
        ai_signals=sorted({*before.ai_signals, *after.ai_signals}),
    )


def most_requests(config: BrowserConfig, gap: float) -> float:
    """Requests a day that rendering may cost a site that gets one every `gap` seconds."""
    return config.share * _DAY / gap if gap > 0 else float("inf")
