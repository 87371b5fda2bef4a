"""`/metrics`, `/healthz` and `/readyz`: the server counts itself, and tells only those who may know."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import httpx
import msgspec
import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from web_kit import PATIENCE, SETTINGS, MemoryService

from gossamer.errors import DatabaseError, OperationError
from gossamer.search.results import Results
from gossamer.web.app import Extension, create_app
from gossamer.web.metrics import METRICS, route_of
from gossamer.web.server import WebServer


@contextlib.contextmanager
def server(
    extensions: Sequence[Extension] = (), service: MemoryService | None = None, **changes: object
) -> Iterator[httpx.Client]:
    settings = msgspec.structs.replace(SETTINGS, **changes)
    running = WebServer(create_app(service or MemoryService(), settings, extensions=extensions), settings)
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        with httpx.Client(base_url=running.address, timeout=PATIENCE, trust_env=False) as http:
            yield http
    finally:
        running.stop()
        thread.join(PATIENCE)


def samples(http: httpx.Client) -> dict[str, float]:
    """Figures by name and labels, as the text has them."""
    answer = http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert answer.headers["cache-control"] == "no-store"
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_requests_are_counted_by_kind_of_address_and_status_refused_ones_too() -> None:
    with server() as http:
        for path in ("/search?q=rocket", "/search?q=engine", "/nothing", "/also/nothing", "/static/no", "/api/v1/page"):
            http.get(path)
        http.post("/search")
        found = samples(http)
    counted = {name.split("{")[1][:-1]: count for name, count in found.items() if "http_requests_total" in name}
    assert counted == {
        "code=200,route=search": 2, "code=404,route=other": 2, "code=404,route=static": 1, "code=400,route=api": 1,
        "code=405,route=search": 1,
    }  # fmt: skip
    assert found["gossamer_http_request_duration_seconds_count{route=search}"] == 3
    assert found["gossamer_http_requests_in_flight"] == 1, "the request that asks"


def test_searches_and_those_in_vain_are_counted_by_page_and_api() -> None:
    with server() as http:
        before = samples(http)
        for path in ("/search?q=rocket", "/search?q=xyzzy", "/api/v1/search?q=rocket", "/api/v1/search?q=xyzzy",
                     "/api/v1/search?q=plugh", "/feed.rss?q=rocket", "/search?q=", "/suggest?q=ro",
                     "/search?q=rocket&typing=1"):  # fmt: skip
            assert http.get(path).status_code == 200
        found = samples(http)
    assert before["gossamer_searches_total{via=page}"] == 0, "a series without its first 0 has no rate for it"
    assert (found["gossamer_searches_total{via=page}"], found["gossamer_searches_total{via=api}"]) == (2, 3)
    assert found["gossamer_searches_without_results_total{via=page}"] == 1
    assert found["gossamer_searches_without_results_total{via=api}"] == 2
    assert found["gossamer_search_duration_seconds_count"] == 5
    assert found["gossamer_search_duration_seconds_bucket{le=0.005}"] == 5, "as the searcher says: 4.2 ms"


def test_a_request_that_fails_is_counted_as_500_and_is_no_longer_in_flight() -> None:
    service = MemoryService()
    with server(service=service) as http:
        service.search = lambda request: 1 / 0
        assert http.get("/search?q=rocket").status_code == 500
        found = samples(http)
    assert found["gossamer_http_requests_total{code=500,route=search}"] == 1
    assert found["gossamer_http_requests_in_flight"] == 1


def test_every_figure_of_the_server_has_a_definition() -> None:
    with server() as http:
        http.get("/search?q=rocket")
        http.get("/api/v1/search?q=rocket")
        samples(http)
        found = samples(http)
    given = {name.split("{")[0] for name in found if name.startswith("gossamer_")}
    assert given == {series for metric in METRICS for series in metric.series}
    assert found["process_resident_memory_bytes"] > 1e6


def test_others_add_figures() -> None:
    class Other(Collector):
        def collect(self) -> Iterator[GaugeMetricFamily]:
            yield GaugeMetricFamily("gossamer_documents", "Documents kept.", 86)

    with server([Extension((), collectors=[Other()])]) as http:
        assert samples(http)["gossamer_documents"] == 86


# -- who may read it ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "203.0.113.7"},
        {"forwarded": "for=203.0.113.7"},
        {"x-real-ip": "203.0.113.7"},
        {"via": "1.1 proxy"},
        {"host": "search.example.org"},
    ],
)
def test_what_came_through_a_proxy_is_not_local(headers: dict[str, str]) -> None:
    with server(base_url="https://search.example.org") as http:
        refused = http.get("/metrics", headers=headers)
        assert refused.status_code == 403 and "gossamer_" not in refused.text and "serve.metrics" in refused.text
        assert http.get("/metrics").status_code == 200


def test_a_foreign_name_that_points_here_reads_nothing() -> None:
    """A page in the operator's browser could otherwise read the figures (DNS rebinding)."""
    with server() as http:
        assert http.get("/metrics", headers={"host": "evil.example"}).status_code == 421


def test_all_may_read_it_where_the_operator_says_so_and_nobody_where_it_is_off() -> None:
    with server(metrics="all") as http:
        assert http.get("/metrics", headers={"x-forwarded-for": "203.0.113.7"}).status_code == 200
    with server(metrics="off") as http:
        assert http.get("/metrics").status_code == 404


def test_strangers_cannot_make_series() -> None:
    assert {route_of(f"/{n}") for n in range(100)} == {"other"}
    assert {route_of(path) for path in ("/console", "/console/sites", "/console/x/y")} == {"console"}
    assert (route_of("/"), route_of("/search"), route_of("/api/v1/search")) == ("home", "search", "api search")


# -- health ---------------------------------------------------------------------------------------


def test_ready_means_that_index_and_database_can_be_used() -> None:
    service, broken = MemoryService(), []

    def check() -> None:
        if broken:
            raise DatabaseError("frontier.db is locked")

    with server([Extension((), checks=[check])], service) as http:
        assert http.get("/readyz").text.startswith("ok, ")
        broken.append(True)
        answer = http.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert "database of the crawl is not available" in answer.json()["reasons"][0]
        service.broken = OperationError("there is no index")
        reasons = http.get("/readyz").json()["reasons"]
        assert reasons == ["there is no index", *answer.json()["reasons"]]
        assert http.get("/healthz").status_code == 200, "the process lives all the same"
        broken.clear()
        service.broken = None
        assert http.get("/readyz").status_code == 200


def test_whoever_listens_hears_of_every_search_and_of_nothing_else() -> None:
    heard: list[tuple[str, str, int]] = []

    def listener(results: Results, via: str) -> None:
        heard.append((results.request.query, via, results.total))

    closed: list[bool] = []
    with server([Extension((), listeners=[listener], close=lambda: closed.append(True))]) as http:
        for path in ("/search?q=gossamer", "/api/v1/search?q=xyzzy", "/feed.atom?q=gossamer", "/explain?q=a&url=b"):
            http.get(path)
    assert heard == [("gossamer", "page", 1), ("xyzzy", "api", 0)]
    assert closed == [True]
