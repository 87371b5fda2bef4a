"""Whether documents have the right page type, as far as their URLs tell what they are."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from _site_pages import Stored
from _site_table import Kind, Site


class Types(msgspec.Struct, frozen=True):
    """Shares of the documents whose kind the URL tells."""

    pages: int = 0
    right: float = 0.0
    """Share with the right type among those that have a type."""
    untyped: float = 0.0
    """Share without a type: none is shown."""


def judge_types(site: Site, pages: Iterable[Stored], kind: Kind) -> Types:
    """Compares the types of a site's articles, or of its lists, with what their URLs say."""
    judged = [page for page in pages if site.kind(page.path) == kind]
    typed = [page for page in judged if page.page_type]
    right = sum(page.page_type in site.types(page.path) for page in typed)
    untyped = len(judged) - len(typed)
    return Types(len(judged), right / max(len(typed), 1), untyped / max(len(judged), 1))
