"""Answers in the form of Google's Custom Search JSON API: `/customsearch/v1`.

Its clients work after a change of their base URL. `cx` names a collection of the search desk; an identifier that is
none, such as one from Google, searches everything. `key` is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
from markupsafe import escape
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock
from gossamer.errors import GossamerError
from gossamer.search.results import Hit, Marked, Request, Results
from gossamer.web.collections import Collections
from gossamer.web.links import Links
from gossamer.web.parameters import BadParameter, Whole, request_of
from gossamer.web.pool import SearchPool
from gossamer.web.reasons import public_reason
from gossamer.web.rendering import json_response
from gossamer.web.service import Services

PATHS = ("/customsearch/v1", "/customsearch/v1/siterestrict")
NUM = Whole("num", "Results, 1 to 10.", 10, 1, 10)
START = Whole("start", "Place of the first result, from 1.", 1, 1, 1_000)
_DAYS = {"d": 1, "w": 7, "m": 30.4375, "y": 365.25}
_RESTRICT = re.compile(r"([dwmy])\[?([0-9]{0,4})\]?")
_EPOCH = date(1970, 1, 1)
_TEMPLATE = (
    "/customsearch/v1?q={searchTerms}&num={count?}&start={startIndex?}&lr={language?}&cx={cx?}&sort={sort?}"
    "&dateRestrict={dateRestrict?}&siteSearch={siteSearch?}&siteSearchFilter={siteSearchFilter?}"
    "&exactTerms={exactTerms?}&excludeTerms={excludeTerms?}&orTerms={orTerms?}&hq={hq?}&alt=json"
)


class GoogleDoor:
    """The handler of these addresses."""

    def __init__(self, services: Services, pool: SearchPool, clock: Clock, title: str) -> None:
        self._services, self._pool, self._clock, self._title = services, pool, clock, title
        self._collections = Collections(services.desk, Links(""))

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route(path, self.respond) for path in PATHS]

    async def respond(self, http: HttpRequest) -> Response:
        """One search, or the error as Google's clients read it."""
        try:
            return await self._pool.run(self._search, http.query_params)
        except BadParameter as error:
            return _failed(400, "INVALID_ARGUMENT", str(error))
        except GossamerError as error:
            return _failed(503, "UNAVAILABLE", public_reason(error))

    def _search(self, given: Mapping[str, str]) -> Response:
        if given.get("searchType"):
            raise BadParameter(f"searchType: {given['searchType'][:40]!r} is not served here: pages only")
        number, start = NUM.read_strictly(given), START.read_strictly(given)
        first = (start - 1) // number + 1
        results = self._services.answer(self._request(given, first, number), "api")
        hits = results.hits
        if skipped := (start - 1) % number:
            further = self._services.search.search(self._request(given, first + 1, number))
            hits = (*hits[skipped:], *further.hits[:skipped])
        return json_response(self._answer(given, results, hits, number, start))

    def _request(self, given: Mapping[str, str], page: int, size: int) -> Request:
        asked = {
            "q": self._query(given), "page": str(page), "size": str(size), "facets": "0",
            "sort": "date" if given.get("sort", "").startswith("date") else "relevance",
            "lang": given.get("lr", "").partition("|")[0].removeprefix("lang_").lower().partition("-")[0],
        }  # fmt: skip
        request = request_of(asked, strictly=True)
        name = given.get("cx", "").lower()
        return msgspec.structs.replace(request, collection=name) if self._collections.find(name) else request

    def _query(self, given: Mapping[str, str]) -> str:
        """Google's parameters in our query language."""
        words = given.get("q", "").strip()
        if not words:
            raise BadParameter("q: required")
        parts = [words, given.get("hq", "")]
        parts += [f'"{given["exactTerms"]}"'] if given.get("exactTerms") else []
        parts += [f"-{word}" for word in given.get("excludeTerms", "").split()]
        parts += [" OR ".join(given.get("orTerms", "").split())]
        if given.get("siteSearch"):
            minus = "-" if given.get("siteSearchFilter", "i").lower() == "e" else ""
            parts.append(f"{minus}site:{given['siteSearch'].strip()}")
        if given.get("fileType"):
            parts.append(f"filetype:{given['fileType'].strip()}")
        if given.get("dateRestrict"):
            parts.append(f"after:{self._first_day(given['dateRestrict'])}")
        return " ".join(filter(None, parts))

    def _first_day(self, text: str) -> date:
        found = _RESTRICT.fullmatch(text)
        if not found:
            raise BadParameter(f"dateRestrict: {text[:40]!r} is not d, w, m or y and a number, such as d7")
        today = datetime.fromtimestamp(self._clock.now(), UTC).date()
        days = _DAYS[found[1]] * int(found[2] or 1)
        return today - timedelta(min(days, (today - _EPOCH).days))

    def _answer(
        self, given: Mapping[str, str], results: Results, hits: tuple[Hit, ...], number: int, start: int
    ) -> dict[str, Any]:
        total = results.total
        answer: dict[str, Any] = {
            "kind": "customsearch#search",
            "url": {"type": "application/json", "template": _TEMPLATE},
            "queries": {"request": [self._asked(given, total, len(hits), start)]},
            "context": {"title": self._title},
            "searchInformation": {
                "searchTime": results.seconds,
                "formattedSearchTime": f"{results.seconds:.2f}",
                "totalResults": str(total),
                "formattedTotalResults": f"{total:,}",
            },
        }
        if start + len(hits) <= total and hits:
            answer["queries"]["nextPage"] = [self._asked(given, total, number, start + number)]
        if start > 1:
            answer["queries"]["previousPage"] = [self._asked(given, total, number, max(1, start - number))]
        corrected = results.attempt.query if results.attempt else results.did_you_mean
        if corrected:
            answer["spelling"] = {"correctedQuery": corrected, "htmlCorrectedQuery": str(escape(corrected))}
        if hits:
            answer["items"] = [_item(hit) for hit in hits]
        return answer

    def _asked(self, given: Mapping[str, str], total: int, count: int, start: int) -> dict[str, Any]:
        return {
            "title": f"{self._title} - {given['q']}",
            "totalResults": str(total),
            "searchTerms": given["q"],
            "count": count,
            "startIndex": start,
            "inputEncoding": "utf8",
            "outputEncoding": "utf8",
            "safe": "off",
            **({"cx": given["cx"]} if given.get("cx") else {}),
        }


def _item(hit: Hit) -> dict[str, Any]:
    title = hit.title if hit.title.text else Marked(hit.url)
    tags: dict[str, str] = {"article:published_time": hit.date} if hit.date else {}
    tags |= {"og:locale": hit.lang} if hit.lang else {}
    tags |= {"author": hit.author} if hit.author else {}
    return {
        "kind": "customsearch#result",
        "title": title.text,
        "htmlTitle": _html(title),
        "link": hit.url,
        "displayLink": hit.site,
        "snippet": hit.excerpt.text,
        "htmlSnippet": _html(hit.excerpt),
        "formattedUrl": hit.url,
        "htmlFormattedUrl": str(escape(hit.url)),
        **({"pagemap": {"metatags": [tags]}} if tags else {}),
    }


def _html(text: Marked) -> str:
    return "".join(f"<b>{escape(piece)}</b>" if hit else str(escape(piece)) for piece, hit in text.pieces())


def _failed(code: int, status: str, sentence: str) -> Response:
    error = {"code": code, "message": sentence, "status": status, "errors": [{"message": sentence, "reason": status}]}
    return json_response({"error": error}, code)
