"""The dashboard, the alerting rules and the page of metrics speak of metrics that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from gossamer.operate import metrics as crawl_metrics
from gossamer.web import metrics as web_metrics
from reference.pages import metrics_page

ROOT = Path(__file__).parents[2]
METRICS = (*crawl_metrics.METRICS, *web_metrics.METRICS)
SERIES = {series: metric for metric in METRICS for series in metric.series}
DASHBOARD = ROOT / "deploy" / "grafana" / "gossamer.json"
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"

_LABELS = re.compile(r"(gossamer_\w+)\{([^}]*)\}|by \(([^)]*)\)|\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")
_ALWAYS = {"instance", "job", "le"}


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return loaded


def queries() -> Iterator[tuple[str, str]]:
    """Every query of the dashboard and of the rules, with what it is for."""
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield f"{panel['title']}: {target['legendFormat']}", target["expr"] + " " + target["legendFormat"]
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"] + " " + rule["annotations"]["summary"]


def test_every_query_asks_for_metrics_that_exist() -> None:
    asked = {(name, series) for name, query in queries() for series in re.findall(r"\bgossamer_\w+", query)}
    assert len(asked) > 30
    assert [(name, series) for name, series in asked if series not in SERIES] == []


def test_every_label_in_a_query_is_one_of_its_metrics() -> None:
    for name, query in queries():
        known = set(_ALWAYS)
        for series in re.findall(r"\bgossamer_\w+", query):
            known.update(SERIES[series].labels)
        for _, matchers, grouped, shown in _LABELS.findall(query):
            used = {*re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers), *re.findall(r"\w+", grouped), shown} - {""}
            assert used <= known, f"{name}: {used - known}"


def test_counters_and_histograms_are_asked_for_their_rate() -> None:
    """The height of a counter says nothing: it begins anew with each process."""
    for name, query in queries():
        for series in re.findall(r"\bgossamer_\w+", query):
            if SERIES[series].kind != "gauge":
                assert re.search(rf"rate\({series}\b", query), name


def test_the_dashboard_shows_what_operators_ask_for() -> None:
    titles = " ".join(panel["title"].lower() for panel in dashboard()["panels"])
    for wanted in ("pages a second", "errors by kind", "queue", "sites", "freshness", "published to searchable",
                   "search latency", "disk", "alarms", "outbox"):  # fmt: skip
        assert wanted in titles
    latency = " ".join(query for name, query in queries() if name.startswith("Search latency"))
    assert all(f"histogram_quantile({share}," in latency for share in ("0.5", "0.95", "0.99"))


def test_panels_do_not_lie_over_each_other() -> None:
    taken: dict[tuple[int, int], str] = {}
    ids = [panel["id"] for panel in dashboard()["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert x < 24 and (x, y) not in taken, f"{panel['title']} lies over {taken.get((x, y))}"
                taken[x, y] = panel["title"]


def test_names_follow_the_conventions_of_prometheus() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"gossamer_[a-z][a-z0-9_]*", metric.name)
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert not re.search(r"_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)", metric.name)
        assert metric.sentence.endswith(".") and metric.unit
        for unit in ("seconds", "bytes"):
            assert metric.unit != unit or metric.name.endswith(f"_{unit}"), metric.name


def test_the_metrics_page_of_the_docs_is_the_one_made_from_the_code() -> None:
    page = ROOT / "docs" / "metrics.md"
    assert page.read_text(encoding="utf-8").strip() == metrics_page().strip(), "run `make docs`"


def test_the_example_configuration_is_well_formed_and_reads_the_rules_beside_it() -> None:
    path = ROOT / "deploy" / "prometheus" / "prometheus.yml"
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert all((path.parent / name).exists() for name in loaded["rule_files"])
    assert loaded["scrape_configs"][0]["static_configs"][0]["targets"] == ["127.0.0.1:8017"]
