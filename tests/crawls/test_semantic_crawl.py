"""The indexer makes vectors while it follows a crawl, a command makes all, searches use them, takedowns remove them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from crawl_kit import crawl, settings_of, write_settings
from inside import gossamer

from gossamer.index.vectors.nearest import VectorViews
from gossamer.index.vectors.store import VectorFolder
from gossamer.model.site import key64
from gossamer.testing import FakeWeb, Site
from kit.semantic import write_model

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

PATHS = ("/cats", "/dogs", "/secret")


def html(name: str) -> str:
    text = " ".join(
        f"This is the {n} thing that a reader should know about {name}." for n in ("first", "second", "third")
    )
    return f"<html lang=en><head><title>{name}</title></head><body><main><p>{text}</main></body></html>"


class Crawled(NamedTuple):
    data: Path
    web: FakeWeb
    site: Site

    def embedded(self) -> int:
        return len(VectorViews(VectorFolder(self.data / "index")).current())


@pytest.fixture
def crawled(tmp_path: Path) -> Iterator[Crawled]:
    data = tmp_path / "data"
    web = FakeWeb("127.0.63")
    site = web.site("vectors.test")
    site.page("/", html("home") + "".join(f'<a href="{path}">{path[1:]}</a>' for path in PATHS))
    for path in PATHS:
        site.page(path, html(path[1:]))
    model = str(write_model(tmp_path / "model"))
    with web:
        search = {"semantic": 0.5, "semantic_model": model, "semantic_cpu": 1.0}
        crawl(web, data, [site.url("/")], crawl={"index": True}, search=search)
        yield Crawled(data, web, site)


def doctor(data: Path) -> dict[str, str]:
    findings = gossamer("doctor", "--json", data=data).json
    return next(one for one in findings["findings"] if one["check"] == "vectors")


def test_vectors_are_made_used_and_removed(crawled: Crawled) -> None:
    data, site = crawled.data, crawled.site
    done = gossamer("index", "--vectors", "--json", data=data)
    assert done.code == 0 and done.json["vectors"] == done.json["documents"] == 4 == crawled.embedded()
    assert doctor(data)["state"] == "ok" and "4 pages of 4" in doctor(data)["sentence"]
    told = gossamer("search", "reader", "cats", "--why", site.url("/cats"), "--json", data=data).json
    assert told["matches"] and "meaning" in [factor["name"] for factor in told["factors"]]
    assert gossamer("remove", site.url("/secret"), "--reason", "a court said so", data=data).code == 0
    assert crawled.embedded() == 3
    keys = VectorViews(VectorFolder(data / "index")).current().nearest([0.0] * 48, 10)[0]
    assert key64(site.url("/secret")) not in keys
    (file,) = VectorFolder(data / "index").root.glob("*.vectors")
    file.write_bytes(file.read_bytes()[:-1])
    assert doctor(data)["state"] == "bad"
    assert gossamer("search", "reader", "cats", "--json", data=data).json["total"] > 0
    assert gossamer("index", "--vectors", data=data).code == 0 and crawled.embedded() == 3


def test_without_the_setting_there_is_nothing_to_make(crawled: Crawled) -> None:
    write_settings(crawled.data, settings_of(crawled.web))
    for path in VectorFolder(crawled.data / "index").root.glob("vectors.json"):
        path.unlink()
    done = gossamer("index", "--vectors", data=crawled.data)
    assert done.code == 2 and "search.semantic" in done.err
    told = gossamer("search", "cats", "--why", crawled.site.url("/cats"), "--json", data=crawled.data).json
    assert "meaning" not in json.dumps(told)


def test_a_model_that_cannot_be_used_stops_the_command_and_not_the_crawl(crawled: Crawled) -> None:
    model = {"semantic": 0.5, "semantic_model": str(crawled.data / "none")}
    write_settings(crawled.data, settings_of(crawled.web, search=model))
    done = gossamer("index", "--vectors", data=crawled.data)
    assert done.code == 1 and "cannot read the model" in done.err
    found = crawl(crawled.web, crawled.data, [crawled.site.url("/")], crawl={"index": True}, search=model)
    assert found["verdict"]["ok"]
