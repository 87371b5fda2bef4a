"""URLs that people type. Apart from `explain`, so that commands that only name a page load no search."""

from __future__ import annotations

from gossamer.discover.seeds import parse_seed
from gossamer.model.url import Canonicalizer
from gossamer.settings import Settings


def canonical_or_error(text: str, settings: Settings) -> str:
    """The canonical form of a URL as a person would write it in a browser."""
    return parse_seed(text.strip(), "URL", Canonicalizer(settings.urls))
