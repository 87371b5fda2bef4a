"""Fields of one's own, from the settings to the reader: crawled, counted, filtered, sorted; and read anew from stored
pages when the settings change, without a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from crawl_kit import crawl, exported, run, settings_of, write_settings
from inside import fails, gossamer

from gossamer.search.searcher import Searcher
from gossamer.settings import ServeSettings
from gossamer.testing import FakeWeb
from gossamer.web.app import create_app

pytestmark = pytest.mark.long

LAMPS = {
    "desk": (19.9, "Office"), "floor": (49.0, "Living room"), "night": (9.5, "Bedroom"),
    "ceiling": (120.0, "Living room"),
    "garden": (35.0, "Garden <b>&amp; terrace</b>"),
}  # fmt: skip
FIELDS: dict[str, dict[str, Any]] = {
    "fields.price": {
        "from": "json-ld: Product.offers.price", "type": "number", "facet": True, "sort": True, "ranges": [10, 40],
    },
    "fields.department": {"from": "css: .crumbs li:nth-child(2)", "facet": True},
}  # fmt: skip


def lamp(name: str) -> str:
    price, department = LAMPS[name]
    stated = {"@type": "Product", "name": name, "offers": {"@type": "Offer", "price": str(price), "seller": "Shop"}}
    return (
        f'<html lang="en"><title>The {name} lamp</title>'
        f'<script type="application/ld+json">{json.dumps(stated)}</script>'
        f"<ul class=crumbs><li>Home<li>{department}</ul><h1>The {name} lamp</h1>"
        f"<p>This {name} lamp gives a warm light in the evening, and {name} people have liked it for many years.</p>"
        f"<p class=made data-year=20{len(name):02}>Made for the {name}, of brass and {name} glass.</p></html>"
    )


class Shop(NamedTuple):
    web: FakeWeb
    data: Path
    seed: str

    async def get(self, path: str, **parameters: str) -> httpx.Response:
        app = create_app(Searcher.open(self.data / "index"), ServeSettings(rate=0))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get(path, params=parameters)

    async def names(self, **parameters: str) -> list[str]:
        answer = (await self.get("/api/v1/search", **parameters)).json()
        return [hit["url"].rpartition("/")[2] for hit in answer["hits"]]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    web = FakeWeb("127.0.163")
    site = web.site("shop.test", pages=0)
    links = "".join(f'<a href="/{name}">{name}</a> ' for name in LAMPS)
    site.page("/", f"<html lang=en><title>Shop</title><p>All the lamps that our shop has for you.</p>{links}</html>")
    for name in LAMPS:
        site.page(f"/{name}", lamp(name))
    data = tmp_path_factory.mktemp("fields") / "data"
    with web:
        crawl(web, data, [site.url("/")], crawl={"index": True}, **FIELDS)
        yield Shop(web, data, site.url("/"))


def test_the_values_are_stored_and_exported_with_the_place_they_were_found_in(shop: Shop) -> None:
    rows = {row["url"].rpartition("/")[2]: row for row in exported("pages", shop.data)}
    assert rows["desk"]["fields"] == ["price number 19.9", "department text Office"]
    assert rows["desk"]["field_sources"] == ["json-ld: Product.offers.price", "css: .crumbs li:nth-child(2)"]
    assert rows[""]["fields"] is None


async def test_a_program_filters_counts_and_sorts(shop: Shop) -> None:
    assert await shop.names(q="lamp", sort="price") == ["night", "desk", "garden", "floor", "ceiling", ""]
    assert await shop.names(q="lamp", sort="-price") == ["ceiling", "floor", "garden", "desk", "night", ""]
    assert set(await shop.names(q='lamp price:10..40 -department:"office"')) == {"garden"}
    assert set(await shop.names(q="lamp", fields='department:"living room" price:<100')) == {"floor"}
    answer = (await shop.get("/api/v1/search", q="lamp")).json()
    price, department = answer["fields"]
    assert [(one["value"], one["count"]) for one in price["values"]] == [("<10", 1), ("10..<40", 2), ("40..", 2)]
    assert department["values"][0] == {"value": "living room", "label": "Living room", "count": 2}
    hit = next(one for one in answer["hits"] if one["url"].endswith("/desk"))
    assert hit["fields"] == {"price": [19.9], "department": ["Office"]}


async def test_a_program_that_is_wrong_is_told_so(shop: Shop) -> None:
    for parameters, words in (
        ({"sort": "prise"}, "is not one of relevance, date, price, -price"), ({"sort": "department"}, "is not one of"),
        ({"fields": "colour:red"}, "price"),
        ({"fields": "price:cheap"}, "name:value"),
    ):  # fmt: skip
        answer = await shop.get("/api/v1/search", q="lamp", **parameters)
        assert answer.status_code == 400 and words in answer.json()["error"], answer.json()
    assert (await shop.get("/search", q="lamp", sort="prise", fields="colour:red")).status_code == 200


async def test_a_person_sees_values_filters_and_orders(shop: Shop) -> None:
    html = (await shop.get("/search", q="lamp", fields="price:10..<40")).text
    assert "<h2>Price</h2>" in html and "10 to 40" in html and "Price: lowest first" in html
    assert "Price: 10 to 40" in html, "what was chosen can be taken back"
    every = (await shop.get("/search", q="lamp")).text
    assert "fields=price:%3C10" in every and "sort=-price" in every and "Living room" in every
    assert "<b>&amp; terrace</b>" not in every and "<b>& terrace</b>" not in every
    assert "Department: <bdi>Office</bdi>" in html and "Bedroom" not in html
    why = (await shop.get("/explain", q="lamp", url=f"{shop.seed}desk")).text
    assert "json-ld: Product.offers.price" in why and "19.9" in why


def test_explain_says_which_value_was_found_where(shop: Shop) -> None:
    told = gossamer("explain", f"{shop.seed}desk", data=shop.data).out
    assert "price = 19.9, from json-ld: Product.offers.price" in told
    assert "price: the page states no value" in gossamer("explain", shop.seed, data=shop.data).out
    shown = gossamer("search", "lamp", "--sort=-price", "--limit", "1", data=shop.data).out
    assert "/ceiling" in shown and "price 120" in shown
    fails(gossamer("search", "lamp", "--sort", "size", data=shop.data), 2, "no such order")


async def test_other_settings_read_the_stored_pages_again_without_a_request(shop: Shop) -> None:
    asked = len(shop.web.log())
    changed = {name: values for name, values in FIELDS.items() if name != "fields.department"} | {
        "fields.made": {"from": "css: .made@data-year", "type": "number", "facet": True, "sort": True},
    }  # fmt: skip
    write_settings(shop.data, settings_of(shop.web, crawl={"index": True, "linger": 1.0}, **changed))
    done = run("crawl", data=shop.data)
    assert done.returncode == 0, done.stderr
    assert [request.path for request in shop.web.log()[asked:] if request.path != "/robots.txt"] == []
    rows = {row["url"].rpartition("/")[2]: row["fields"] for row in exported("pages", shop.data)}
    assert rows["desk"] == ["price number 19.9", "made number 2004"]
    assert (await shop.names(q="made:2004..2005 lamp", sort="made"))[0] == "desk"
    assert set(await shop.names(q="made:2005")) == {"floor", "night"}
    answer = (await shop.get("/api/v1/search", q="lamp")).json()
    assert [one["name"] for one in answer["fields"]] == ["price", "made"]
    # Once more with the same settings: nothing is left to do.
    before = run("status", "--json", data=shop.data).stdout
    assert run("crawl", data=shop.data).returncode == 0
    assert json.loads(run("status", "--json", data=shop.data).stdout)["segments"] == json.loads(before)["segments"]


def test_a_mistake_in_the_settings_stops_the_crawl_before_it_begins(tmp_path: Path) -> None:
    write_settings(tmp_path, {"fields.price": {"from": "css: ["}})
    fails(run_done(tmp_path), 2, "fields.price.from")


def run_done(data: Path) -> Any:
    """A crawl that ends at once."""
    return gossamer("crawl", "http://a.test/", data=data)
