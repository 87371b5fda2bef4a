"""Addresses of our own pages: short, shareable, and the same wherever they are written.

What has its default value is left out, so equal searches have equal addresses.
`base_url` may carry a path (`https://example.org/find`), which a reverse proxy
takes off again: links begin with it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from gossamer.search.like.values import as_value
from gossamer.search.query.language import MAX_CHARS
from gossamer.search.results import Request
from gossamer.web.parameters import ADDRESS, FILTERS, LITERAL, NEWER, OLDER, PAGE, QUERY, SIZE


class Links:
    """Makes addresses; `base_url` as in the settings, or empty."""

    def __init__(self, base_url: str) -> None:
        self._prefix = quote(urlsplit(base_url).path.rstrip("/"), safe="/%")

    def to(self, path: str, **parameters: str) -> str:
        """A page of ours, such as `/cached`, with parameters; empty ones are left out."""
        given = {name: value for name, value in parameters.items() if value}
        return f"{self._prefix}{path}" + (f"?{_encode(given)}" if given else "")

    def search(self, request: Request, **changes: Any) -> str:
        """The results of a request, changed; a change other than the page goes back to the first page."""
        if changes and "page" not in changes:
            changes["page"] = 1
        changed = msgspec.structs.replace(request, **changes)
        if not changed.collection:
            return self.to("/search", **_parameters(changed, page=True))
        parameters = _parameters(msgspec.structs.replace(changed, collection=""), page=True)
        return self.to(f"/c/{quote(changed.collection, safe='')}/search", **parameters)

    def cached(self, url: str, query: str) -> str:
        """The stored text of a result, with the words of the query marked."""
        return self.to("/cached", url=url, q=query)

    def story(self, url: str) -> str:
        """Who else has the text of a page."""
        return self.to("/story", url=url)

    def history(self, url: str, older: str = "", newer: str = "") -> str:
        """The versions of a page, and what changed between two of them."""
        return self.to("/history", **{ADDRESS.name: url, OLDER.name: older, NEWER.name: newer})

    def like(self, request: Request, url: str) -> str:
        """Pages that are like a result, in the same collection; empty for a URL that is too long for a query."""
        query = f"like:{as_value(url)}"
        if len(query) > MAX_CHARS:
            return ""
        return self.search(Request(query=query, collection=request.collection))

    def more_from(self, request: Request, site: str) -> str:
        """The results of a site, or of a part of one."""
        if "/" not in site:
            return self.search(request, site=site)
        return self.search(request, query=f"{request.query} site:{site}")

    def explain(self, request: Request, url: str) -> str:
        """Why a page ranks where it does."""
        return self.to("/explain", **_parameters(request, page=False), url=url)

    def similar(self, request: Request, url: str) -> str:
        """The near copies of a result, as JSON."""
        return self.to("/api/v1/similar", **_parameters(request, page=False), url=url)

    def feed(self, kind: str, request: Request) -> str:
        """The newest results as a feed, `atom` or `rss`; the sort is always by date."""
        unsorted = msgspec.structs.replace(request, sort="relevance")
        return self.to(f"/feed.{kind}", **_parameters(unsorted, page=False))


def kept(request: Request) -> dict[str, str]:
    """The filters of a request that a new query keeps: hidden fields of the form."""
    parameters = _parameters(request, page=False)
    parameters.pop(QUERY.name, None)
    parameters.pop(LITERAL.name, None)
    return parameters


def _parameters(request: Request, page: bool) -> dict[str, str]:
    found = {QUERY.name: request.query}
    for parameter in (*FILTERS, SIZE, LITERAL, *((PAGE,) if page else ())):
        value = getattr(request, parameter.name)
        if value != parameter.default:
            found[parameter.name] = str(int(value)) if isinstance(value, bool) else str(value)
    return found


def _encode(parameters: dict[str, str]) -> str:
    # The slash and the colon are readable and allowed in a query: `site:example.org/a`.
    return urlencode(parameters, safe="/:")
