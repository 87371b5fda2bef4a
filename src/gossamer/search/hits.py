"""From a place in the index to what a reader sees: a result with its excerpt, a stored page."""

from __future__ import annotations

from gossamer.model.site import key64
from gossamer.search.excerpt import Highlighter
from gossamer.search.ordering import Candidate
from gossamer.search.results import Alternate, Hit, Marked, StoredPage
from gossamer.search.view import View

_ENOUGH_TEXT = 80
"""Characters that make an excerpt."""


def make_hit(view: View, hit: Candidate, copies: int, highlighter: Highlighter) -> Hit:
    """A result as it is shown, with so many copies under it."""
    score, address = hit
    page = view.stored(address)
    return Hit(
        url=page.url,
        title=highlighter.mark(page.title) if page.title else Marked(page.url),
        excerpt=highlighter.excerpt(_after_title(page.text, page.title)),
        score=score,
        site=page.site,
        date=page.date,
        lang=page.lang,
        fetched_at=page.fetched_at,
        type=page.type,
        page_type=page.page_type,
        category=page.category,
        author=page.author,
        similar=copies,
        alternates=tuple(Alternate(lang, url) for lang, url in page.alternates),
        fields=tuple(page.fields),
    )


def stored_page(view: View, url: str) -> StoredPage | None:
    """The stored text of a page, where it is in the index."""
    address = view.find(key64(url))
    found = view.stored(address) if address is not None else None
    if found is None or found.url != url:
        return None
    return StoredPage(
        url=url, title=found.title, text=found.text, fetched_at=found.fetched_at, date=found.date, lang=found.lang,
        fields=tuple(found.fields),
    )  # fmt: skip


def _after_title(text: str, title: str) -> str:
    """The text without the title at its beginning, which stands above the excerpt already."""
    rest = text[len(title) :].lstrip() if title and text.startswith(title) else ""
    return rest if len(rest) >= _ENOUGH_TEXT else text
