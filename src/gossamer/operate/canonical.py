"""URLs that people type: apart from `explain`, so that verbs which only name a page load no search."""

from __future__ import annotations

from gossamer.discover.seeds import parse_seed
from gossamer.model.url import Canonicalizer
from gossamer.settings import Settings


def canonical_or_error(text: str, settings: Settings) -> str:
    """A URL as the table knows it, from what a person would write in a browser."""
    return parse_seed(text.strip(), "URL", Canonicalizer(settings.urls))
