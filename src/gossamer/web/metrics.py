"""`/metrics`: what the server counts of itself, with whatever figures others bring, for Prometheus.

Who may read it is `serve.metrics`. A client on this machine is one whose connection comes from loopback, whose request
carries no sign of a proxy, and which does not ask by the name that readers use: a proxy on the same machine would
otherwise show the figures to everybody.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.model.metric import Metric
from gossamer.search.results import Results
from gossamer.settings import ServeSettings
from gossamer.web.gate.guard import Refuse
from gossamer.web.pool import SearchPool
from gossamer.web.service import Via

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series a counter, which nobody asks for

PATH = "/metrics"
TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latencies, seconds."""

METRICS = (
    Metric("gossamer_http_requests_total", "counter", "requests",
           "Requests answered, by kind of address and status code; refused ones included.", ("route", "code")),
    Metric("gossamer_http_request_duration_seconds", "histogram", "seconds",
           "From the head of a request until the last byte of its response was handed over.", ("route",)),
    Metric("gossamer_http_requests_in_flight", "gauge", "requests", "Requests that are being answered."),
    Metric("gossamer_searches_total", "counter", "searches",
           "Searches answered: by the search page, or by the API. Feeds are not counted.", ("via",)),
    Metric("gossamer_searches_without_results_total", "counter", "searches", "Of those, the ones that found nothing.",
           ("via",)),
    Metric("gossamer_searches_remembered_total", "counter", "searches",
           "Of those, the ones whose answer was worked out for an earlier one and given again (serve.remembered).",
           ("via",)),
    Metric("gossamer_search_duration_seconds", "histogram", "seconds",
           "Time the searcher took for an answer; waiting for a free thread is not counted."),
)  # fmt: skip
"""All metrics of the server itself."""

_BY_NAME = {metric.name: metric for metric in METRICS}
_ROUTES = (
    ("/search", "search"), ("/api/v1/search", "api search"), ("/api", "api"), ("/suggest", "suggest"),
    ("/feed.", "feed"), ("/cached", "page"), ("/explain", "page"), ("/story", "page"), ("/history", "page"),
    ("/console", "console"), ("/static/", "static"), ("/click", "click"), (PATH, "metrics"), ("/healthz", "health"),
    ("/readyz", "health"),
)  # fmt: skip
"""Kinds of addresses; a label for each address would let strangers make as many series as they like."""
_PROXY_SIGNS = ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host", "x-forwarded-proto")


class ServerMetrics:
    """The counters of one server."""

    def __init__(self, others: Sequence[Collector] = ()) -> None:
        """`others`: who else gives figures."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, processor time and open files of this process
        for other in others:
            self.registry.register(other)
        self.requests: Counter = self._made(Counter, "http_requests_total")
        self.latency: Histogram = self._made(Histogram, "http_request_duration_seconds", buckets=BOUNDS)
        self.in_flight: Gauge = self._made(Gauge, "http_requests_in_flight")
        self._searches: Counter = self._made(Counter, "searches_total")
        self._in_vain: Counter = self._made(Counter, "searches_without_results_total")
        self._remembered: Counter = self._made(Counter, "searches_remembered_total")
        self._search_latency: Histogram = self._made(Histogram, "search_duration_seconds", buckets=BOUNDS)
        for via in ("page", "api"):  # a series that appears with its first event has no rate for it
            self._searches.labels(via)
            self._in_vain.labels(via)
            self._remembered.labels(via)

    def _made(self, kind: Any, name: str, **options: Any) -> Any:
        metric = _BY_NAME[f"gossamer_{name}"]
        return kind(metric.name, metric.sentence, metric.labels, registry=self.registry, **options)

    def answered(self, results: Results, via: Via) -> None:
        """A search was answered; a `Listener` of the services."""
        self._searches.labels(via).inc()
        if not results.total:
            self._in_vain.labels(via).inc()
        if results.remembered:
            self._remembered.labels(via).inc()
        self._search_latency.observe(results.seconds)

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware around everything else: counts requests, those that are refused too."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        code, started = 500, perf_counter()

        async def noted(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, noted)
        finally:
            self._metrics.in_flight.dec()
            route = route_of(scope["path"])
            self._metrics.requests.labels(route, str(code)).inc()
            self._metrics.latency.labels(route).observe(perf_counter() - started)


class MetricsPage:
    """The handler of `/metrics`."""

    def __init__(self, metrics: ServerMetrics, settings: ServeSettings, pool: SearchPool, refuse: Refuse) -> None:
        self._metrics, self._pool, self._refuse = metrics, pool, refuse
        self._to_whom = settings.metrics
        self._name = (urlsplit(settings.base_url).hostname or "").lower()

    def routes(self) -> list[Route]:
        """Its place; none where nobody may read it."""
        return [Route(PATH, self.page)] if self._to_whom != "off" else []

    async def page(self, request: Request) -> Response:
        """All figures, for those who may read them."""
        if self._to_whom != "all" and not self._is_local(request):
            sentence = "Only clients on this machine may read this. The operator can change it with serve.metrics."
            return self._refuse(request.scope, 403, sentence)
        body = await self._pool.run(self._metrics.text)
        return Response(body, headers={"cache-control": "no-store", "content-type": TYPE})

    def _is_local(self, request: Request) -> bool:
        if any(name in request.headers for name in _PROXY_SIGNS):
            return False
        asked = (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").lower()
        if self._name and asked == self._name and not _is_loopback(asked):
            return False
        return request.client is not None and _is_loopback(request.client.host)


def route_of(path: str) -> str:
    """The kind of an address."""
    if path == "/":
        return "home"
    return next((name for prefix, name in _ROUTES if path.startswith(prefix)), "other")


def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
