"""Fields of the operator's own: where they are looked for, what is read there, and what is wrong with settings."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.model.fields import FieldValue, stored_values
from gossamer.parse.fields.config import MOST_FIELDS, FieldConfig, check_fields, stamp
from gossamer.parse.fields.taking import MOST_VALUES, Taker
from gossamer.parse.fields.values import MAX_CHARS, value_of
from gossamer.parse.html import Tree
from gossamer.settings import FILE_NAME, load

NOW = 1_750_000_000.0
URL = "https://shop.test/lamps/one?id=7"
LATEST = date(2030, 1, 1)


def taken(html: str, field: FieldConfig, url: str = URL) -> list[str]:
    check_fields({"value": field})
    return [one.value for one in Taker({"value": field}).take(Tree(html, 10_000), url, NOW)]


def ld(*objects: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(objects)}</script>'


# -- where --------------------------------------------------------------------------------------------------


PRODUCT = {"@type": "Product", "name": "Lamp", "offers": [{"@type": "Offer", "price": "12.50"}], "brand": {"name": "B"}}


@pytest.mark.parametrize(
    ("html", "source", "value"),
    [
        (ld(PRODUCT), "json-ld: Product.offers.price", "12.50"),
        (ld(PRODUCT), "JSON-LD: offers.price", "12.50"),
        (ld(PRODUCT), "json-ld: Product.brand", "B"),
        (ld({"@type": "https://schema.org/product", "name": "x"}), "json-ld: Product.name", "x"),
        (ld({"@type": ["Thing", "Product"], "offers": {"@id": "#o"}}, {"@id": "#o", "price": 3}),
         "json-ld: Product.offers.price", "3"),
        (ld({"@type": "WebPage", "mainEntity": PRODUCT}), "json-ld: Product.name", "Lamp"),
        ('<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Lamp</b></div>',
         "microdata: Product.name", "Lamp"),
        ("<div itemscope itemtype=x/Product><p itemprop=offers itemscope><i itemprop='price' content=9>9 EUR</i></div>",
         "microdata: Product.offers.price", "9"),
        ("<meta name=DC.Subject content=Physics>", "meta: dc.subject", "Physics"),
        ("<meta property=product:price:amount content=5>", "meta: product:price:amount", "5"),
        ("<ol class=crumbs><li>Home<li> Modern\n physics </ol>", "css: .crumbs li:nth-child(2)", "Modern physics"),
        ("<time class=at datetime=2024-05-17>May</time>", "css: .at@datetime", "2024-05-17"),
        ("<time class=at datetime=2024-05-17>May</time>", "css: .at", "2024-05-17"),
        ("", "url: ^/([a-z]+)/", "lamps"),
        ("", r"url: [?&]id=(\d+)", "7"),
    ],
)  # fmt: skip
def test_a_value_is_found_where_the_settings_say(html: str, source: str, value: str) -> None:
    assert taken(html, FieldConfig(source)) == [value]


def test_of_several_places_the_first_with_a_value_of_the_type_counts() -> None:
    html = "<meta name=price content='on request'><b class=price>17 EUR</b>"
    field = FieldConfig(("meta: none", "meta: price", "css: .price"), "number")
    [found] = Taker({"price": field}).take(Tree(html, 1000), URL, NOW)
    assert found == FieldValue("price", "number", "17", "css: .price")


def test_without_a_place_it_is_the_meta_element_of_that_name() -> None:
    assert taken("<meta name=value content=x>", FieldConfig()) == ["x"]


def test_one_value_or_several_each_once() -> None:
    html = "".join(f"<i class=tag>{tag}</i>" for tag in ("red", "blue", "", "red", *map(str, range(50))))
    assert taken(html, FieldConfig("css: .tag")) == ["red"]
    found = taken(html, FieldConfig("css: .tag", several=True))
    assert found[:3] == ["red", "blue", "0"] and len(found) == MOST_VALUES


def test_a_list_of_products_is_no_product_but_one_that_names_the_page_is() -> None:
    others = [{"@type": "Product", "url": f"https://shop.test/lamps/{n}", "name": f"Lamp {n}"} for n in range(3)]
    field = FieldConfig("json-ld: Product.name")
    assert taken(ld(*others), field) == []
    assert taken(ld(*others, {"@type": "Product", "url": URL, "name": "This"}), field) == ["This"]
    assert taken(ld(others[0], others[0]), field) == ["Lamp 0"]
    assert taken(ld(*others), FieldConfig("json-ld: Product.name", several=True)) == ["Lamp 0", "Lamp 1", "Lamp 2"]
    items = "".join(f"<p itemscope itemtype=x/Product><b itemprop=name>Lamp {n}</b></p>" for n in range(3))
    assert taken(items, FieldConfig("microdata: Product.name")) == []


def test_a_property_belongs_to_the_nearest_item() -> None:
    html = "<div itemscope itemtype=x/Product><p itemscope itemtype=x/Person><b itemprop=name>Ann</b></p></div>"
    assert taken(html, FieldConfig("microdata: Product.name")) == []
    assert taken(html, FieldConfig("microdata: Person.name")) == ["Ann"]


def test_only_pages_of_the_sites_that_are_named() -> None:
    field = FieldConfig("meta: a", sites=("shop.test", "b.test:81"))
    html = "<meta name=a content=x>"
    found = {url: taken(html, field, url) for url in (
        "https://shop.test/", "https://www.shop.test/", "https://othershop.test/", "http://b.test:81/", "http://b.test/",
    )}  # fmt: skip
    assert [url for url, values in found.items() if values] == [
        "https://shop.test/", "https://www.shop.test/", "http://b.test:81/",
    ]  # fmt: skip


def test_a_document_that_is_no_html_has_what_its_address_says() -> None:
    taker = Taker({"kind": FieldConfig(("css: b", r"url: \.([a-z]+)$")), "none": FieldConfig("meta: x")})
    assert taker.take(None, "https://a.test/file.pdf", NOW) == [FieldValue("kind", "text", "pdf", r"url: \.([a-z]+)$")]


# -- what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"), ("12.50", "12.5"), ("€ 1.299,00", "1299"), ("$1,299.00", "1299"), ("1,299", "1299"),
        ("1.299", "1.299"), ("1 299,5 kr", "1299.5"), ("1\u202f299", "1299"), ("1'299.50", "1299.5"),
        ("0,125", "0.125"),
        ("12,5 kg", "12.5"), ("-3 °C", "-3"), ("−4", "-4"), ("about 1,299,000 people", "1299000"), (".5", "0.5"),
        ("1.5e3", "1500"), ("3.11.2", ""), ("on request", ""), ("", ""), ("9" * 400, ""), ("1e99", ""), ("٣", "3"),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, number: str) -> None:
    assert value_of("number", text, "en", LATEST) == number


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-17", "2024-05-17"), ("2024-05-17T10:00:00+02:00", "2024-05-17"),
        ("1897", "1897"), ("2024-05", "2024-05"),
        ("17 May 2024", "2024-05-17"), ("Published on May 17, 2024.", "2024-05-17"), ("2024-02-30", ""), ("soon", ""),
        ("0000-01-01", ""),
    ],
)  # fmt: skip
def test_dates_are_as_precise_as_they_are_written(text: str, day: str) -> None:
    assert value_of("date", text, "en", LATEST) == day


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Yes", "yes"), ("https://schema.org/InStock", "yes"), ("true", "yes"), ("0", "no"), ("OutOfStock", "no"),
        ("maybe", ""), ("", ""),
    ],
)  # fmt: skip
def test_yes_and_no(text: str, value: str) -> None:
    assert value_of("yes-no", text, "en", LATEST) == value


def test_a_text_is_one_line_of_limited_length() -> None:
    assert value_of("text", " two\n\n words\x00 ", "en", LATEST) == "two words"
    assert len(value_of("text", "x" * 1_000_000, "en", LATEST)) == MAX_CHARS


@pytest.mark.parametrize("source", ["json-ld: a.a.a", "microdata: a.a.a", "css: i i", "meta: a", r"url: ((?:a|b)*)c"])
def test_a_hostile_page_costs_little(source: str) -> None:
    node: object = [{"a": 1}] * 50
    for _ in range(3):
        node = [{"a": node}] * 50
    html = ld({"@type": "x", "a": node}) + "<i itemscope itemprop=a>" * 3000 + "<meta name=a content=x>" * 3000
    started = time.process_time()
    taken(html, FieldConfig(source, several=True), "https://a.test/" + "ab" * 5000)
    assert time.process_time() - started < 30


# -- settings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('from = "price"', "fields.price.from 'price': a place begins with one of json-ld:"),
        ('from = "cs: b"', "did you mean css?"),
        ('from = ["meta: a", "css: b["]', "css: b["),
        ('from = "css: b:has(i u)"', "can take minutes"),
        ('from = "url: /shop/"', "no groups"),
        ('from = "url: (?=a)(b)"', "look-ahead"),
        ('from = "json-ld: Product"', "name a property"),
        ('from = 3', "[fields.price]"),
        ('type = "money"', "[fields.price]"),
        ('typ = "number"', "did you mean type?"),
        ("sort = true", "sort needs the type number"),
        ("ranges = [1]", "ranges need the type number"),
        ('type = "number"\nranges = [2, 1]', "each greater than the one before"),
        ('type = "number"\nranges = [nan]', "ranges"),
        ('sites = ["http://a.test/"]', "is no host"),
    ],
)  # fmt: skip
def test_a_mistake_is_an_error_that_names_the_field(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / FILE_NAME).write_text(f"[fields.price]\n{lines}\n")
    with pytest.raises(UsageError) as caught:
        load(tmp_path)
    assert words in str(caught.value) and "price" in str(caught.value)


@pytest.mark.parametrize("name", ["site", "lang", "page", "Price", "1st", "a b", "relevance", "x" * 31])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="fields"):
        check_fields({name: FieldConfig()})


def test_there_is_a_limit_on_fields_and_places() -> None:
    with pytest.raises(UsageError, match=f"the limit is {MOST_FIELDS}"):
        check_fields({f"field{n}": FieldConfig() for n in range(MOST_FIELDS + 1)})
    with pytest.raises(UsageError, match=r"fields\.a\]: from names 21 places"):
        check_fields({"a": FieldConfig(tuple(f"meta: m{n}" for n in range(21)))})


def test_the_stamp_changes_with_what_is_taken_and_only_then() -> None:
    fields = {"price": FieldConfig("meta: price", "number")}
    assert stamp({}) == 0 != stamp(fields)
    assert stamp(fields) == stamp({"price": FieldConfig(("meta: price",), "number", facet=True, sort=True, title="X")})
    assert stamp(fields) != stamp({"price": FieldConfig("meta: cost", "number")})


def test_a_stored_value_is_read_without_settings() -> None:
    values = [FieldValue("a", "text", "x y  z", "css: b"), FieldValue("b", "yes-no", "no", "meta: c")]
    assert list(stored_values([one.written for one in values], [one.source for one in values])) == values
    assert stored_values(["broken", "a money 3", ""]) == () == stored_values(None, None)
