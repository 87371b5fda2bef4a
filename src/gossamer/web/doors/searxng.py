"""Answers in the form of SearXNG's JSON: `/search?format=json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from gossamer.errors import GossamerError
from gossamer.search.results import Hit, Results
from gossamer.web.collections import Collections
from gossamer.web.links import Links
from gossamer.web.parameters import SINCE, BadParameter, request_of
from gossamer.web.reasons import public_reason
from gossamer.web.rendering import json_response
from gossamer.web.service import Services

ENGINE = "gossamer"
_ALL_LANGUAGES = frozenset({"", "all", "auto", "default"})


def is_asked(given: Mapping[str, str]) -> bool:
    """Whether a request for the page of results wants JSON instead."""
    return given.get("format", "").lower() == "json"


def respond(services: Services, given: Mapping[str, str], collection: str = "") -> Response:
    """The answer to a request with SearXNG's parameters: q, pageno, language, time_range."""
    try:
        return json_response(_search(services, given, collection))
    except BadParameter as error:
        return json_response({"error": str(error)}, 400)
    except GossamerError as error:
        return json_response({"error": public_reason(error)}, 503)


def _search(services: Services, given: Mapping[str, str], collection: str) -> dict[str, Any]:
    if not given.get("q", "").strip():
        raise BadParameter("q: required")
    language = given.get("language", "").lower()
    since = given.get("time_range", "").lower()
    asked = {
        "q": given["q"],
        "page": given.get("pageno", "1") or "1",
        "lang": "" if language in _ALL_LANGUAGES else language.partition("-")[0],
        "since": since if since in SINCE.values else "",
        "collection": collection or given.get("collection", ""),
        "facets": "0",
    }
    request = Collections(services.desk, Links("")).check(request_of(asked, strictly=True))
    return _answer(given["q"], services.answer(request, "api"))


def _answer(query: str, results: Results) -> dict[str, Any]:
    first = (results.request.page - 1) * results.request.size + 1
    corrected = results.attempt.query if results.attempt else results.did_you_mean
    return {
        "query": query,
        "number_of_results": results.total,
        "results": [_result(hit, place) for place, hit in enumerate(results.hits, first)],
        "answers": [],
        "corrections": [corrected] if corrected else [],
        "infoboxes": [],
        "suggestions": list(results.try_instead),
        "unresponsive_engines": [[ENGINE, results.shards.notice]] if results.shards and results.incomplete else [],
    }


def _result(hit: Hit, place: int) -> dict[str, Any]:
    parts = urlsplit(hit.url)
    return {
        "url": hit.url,
        "title": hit.title.text or hit.url,
        "content": hit.excerpt.text,
        "publishedDate": hit.date,
        "engine": ENGINE,
        "engines": [ENGINE],
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "positions": [place],
        "score": hit.score,
        "category": "general",
        "template": "default.html",
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }
