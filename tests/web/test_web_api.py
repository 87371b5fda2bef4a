"""The JSON API and its description say the same."""

from __future__ import annotations

import re
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_kit import DOCUMENTS, client

from gossamer.search.results import Request
from gossamer.web.answers import SearchAnswer
from gossamer.web.api import OPERATIONS
from gossamer.web.parameters import SEARCH, BadParameter, Choice, Flag, Text, Whole, request_of

ENGINE = "https://www.example.org/rockets/engines"
EXAMPLES = {
    "search": {"q": "rocket"},
    "similar": {"q": "rocket", "url": ENGINE},
    "like": {"url": ENGINE, "q": "rocket"},
    "suggest": {"q": "ro"},
    "page": {"url": ENGINE},
    "explain": {"q": "rocket", "url": ENGINE},
    "story": {"url": ENGINE},
    "history": {"url": ENGINE},
    "status": {},
}


def get(http: httpx.Client, name: str, status: int = 200, /, **parameters: Any) -> dict[str, Any]:
    response = http.get(f"/api/v1/{name}", params=parameters)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return dict(response.json())


def test_search_has_total_and_hits_with_the_promised_fields(site: httpx.Client) -> None:
    answer = get(site, "search", q="nozzle")
    assert (answer["total"], answer["page"], answer["pages"]) == (1, 1, 1)
    (hit,) = answer["hits"]
    assert hit["url"] == ENGINE
    assert hit["title"] == "How a rocket engine works"
    assert hit["date"] == "2025-07-19T08:30:00+02:00"
    assert (hit["lang"], hit["site"], hit["similar"], hit["score"]) == ("en", "www.example.org", 2, 1.5)
    assert hit["fetched_at"] == "2026-09-21T14:13:20Z"
    assert answer["facets"]["sites"] == [{"value": "www.example.org", "count": 1}]
    assert (answer["did_you_mean"], answer["notices"]) == (None, [])


def test_highlights_are_ranges_of_the_plain_text(site: httpx.Client) -> None:
    (hit,) = get(site, "search", q="火箭", size=1)["hits"]
    assert [hit["title"][s:e] for s, e in hit["highlights"]["title"]] == ["火箭"]
    assert {hit["excerpt"][s:e] for s, e in hit["highlights"]["excerpt"]} == {"火箭"}


def test_titles_are_plain_text_not_html(site: httpx.Client) -> None:
    titles = [hit["title"] for hit in get(site, "search", q="silk", size=100)["hits"]]
    assert "<script>document.title='owned'</script> silk" in titles


def test_parameters_reach_the_searcher(site: httpx.Client, service: Any) -> None:
    given = {"q": "orbit", "page": 2, "size": 5, "sort": "date", "since": "year", "site": "example.org", "lang": "en",
             "page_type": "article", "category": "Space Flight"}  # fmt: skip
    get(site, "search", **given, similar="true", facets="0")
    expected = Request(
        query="orbit", page=2, size=5, sort="date", since="year", site="example.org", lang="en",
        page_type="article", category="space flight", similar=True, facets=False,
    )  # fmt: skip
    assert service.requests[-1] == expected


def test_other_operations_answer(site: httpx.Client) -> None:
    assert get(site, "suggest", q="ro") == {"query": "ro", "suggestions": ["rocket"]}
    assert get(site, "page", url=ENGINE)["text"].startswith("A rocket engine throws")
    assert get(site, "explain", q="rocket", url=ENGINE)["factors"][1]["value"] == 0.25
    assert get(site, "status")["documents"] == len(DOCUMENTS)
    assert [hit["site"] for hit in get(site, "similar", q="rocket", url=ENGINE)["hits"]] == [
        "mirror.example.net",
        "copies.example.com",
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "phrase"),
    [
        ("search", {}, "q: required"),
        ("search", {"q": "a", "page": "abc"}, "page: 'abc' is not a whole number"),
        ("search", {"q": "a", "page": "0"}, "from 1 to"),
        ("search", {"q": "a", "page": "1000000000"}, "from 1 to"),
        ("search", {"q": "a", "size": "-1"}, "size"),
        ("search", {"q": "a", "sort": "best"}, "sort: 'best' is not one of relevance, date"),
        ("search", {"q": "a", "since": "century"}, "since"),
        ("search", {"q": "a", "lang": "<x>"}, "lang"),
        ("search", {"q": "a", "similar": "perhaps"}, "similar"),
        ("explain", {"q": "a"}, "url: required"),
        ("suggest", {"q": "a", "limit": "1000"}, "limit"),
        ("search", {"q": "a", "page_type": "<x>"}, "page_type"),
        ("search", {"q": "a", "category": "x" * 300}, "category"),
        ("page", {}, "url: required"),
        ("story", {}, "url: required"),
        ("history", {"url": ENGINE, "from": "x" * 50}, "from"),
        ("search", {"q": "a", "pgae": "2"}, "there is no parameter 'pgae' (did you mean page?): use q, "),
        ("page", {"url": ENGINE, "utm_source": "x"}, "there is no parameter 'utm_source': use url"),
        ("status", {"x": "1"}, "there is no parameter 'x': this request takes none"),
    ],
)
def test_a_wrong_parameter_is_400_and_named(
    site: httpx.Client, name: str, parameters: dict[str, str], phrase: str
) -> None:
    answer = get(site, name, 400, **parameters)
    assert phrase in answer["error"] and list(answer) == ["error"]


def test_one_result_may_be_asked_for_with_its_whole_search(site: httpx.Client) -> None:
    get(site, "similar", q="rocket", url=ENGINE, size="20", page="1", facets="0")


def test_pages_for_people_ignore_what_others_add_to_their_addresses(site: httpx.Client) -> None:
    assert site.get("/search", params={"q": "rocket", "utm_source": "mail", "fbclid": "1"}).status_code == 200


def test_a_hit_tells_type_category_and_author(site: httpx.Client) -> None:
    (hit,) = get(site, "search", q="weather")["hits"]
    assert (hit["page_type"], hit["category"], hit["author"]) == ("article", "space flight", "Ann Lee")
    (plain,) = get(site, "search", q="nozzle")["hits"]
    assert (plain["category"], plain["author"]) == (None, None)


def test_facets_count_types_and_categories_and_the_total_says_whether_it_is_sure(site: httpx.Client) -> None:
    answer = get(site, "search", q="rocket")
    counted = {one["value"]: one["count"] for one in answer["facets"]["page_types"]}
    assert counted == {"article": 4, "forum": 1, "documentation": 1}
    assert {one["value"] for one in answer["facets"]["categories"]} == {"space flight", "home"}
    assert answer["estimated"] is False


def test_a_story_names_its_pages_in_order_of_time(site: httpx.Client) -> None:
    answer = get(site, "story", url="https://mirror.example.net/rockets/engines")
    assert (answer["total"], answer["representative"], answer["reason"]) == (3, ENGINE, "published first")
    sites = ["www.example.org", "mirror.example.net", "copies.example.com"]
    assert [page["site"] for page in answer["pages"]] == sites
    assert answer["pages"][1]["title"] == "How a rocket engine works (mirror)"
    assert answer["pages"][0]["seen_at"] == "2026-09-21T14:13:20Z"


def test_a_history_has_visits_and_a_difference_that_leads_from_one_to_the_other(site: httpx.Client) -> None:
    answer = get(site, "history", url=ENGINE)
    assert [visit["outcome"] for visit in answer["visits"]] == ["document", "server_error", "document"]
    compared = answer["comparison"]
    assert (compared["older"], compared["newer"]) == ("2026-09-20T14:13:20Z", "2026-09-21T14:13:20Z")
    assert compared["facts"] == [{"name": "title", "old": "How rockets work", "new": "How a rocket engine works"}]
    (change,) = compared["changes"]
    kept = "".join(piece["text"] for piece in change["pieces"] if piece["kind"] != "removed")
    assert kept == get(site, "page", url=ENGINE)["text"]


def test_an_index_without_a_crawl_has_no_past() -> None:
    with client() as http:
        for name in ("story", "history"):
            assert "no crawl" in get(http, name, 404, url=ENGINE)["error"]


def test_a_page_that_is_not_there_is_404_in_json(site: httpx.Client) -> None:
    for name in ("page", "story", "history"):
        assert get(site, name, 404, url="https://nowhere.test/")["error"]
    assert get(site, "nothing", 404)["error"]


def test_suggestions_are_what_browsers_expect(site: httpx.Client) -> None:
    response = site.get("/suggest?q=ro")
    assert response.headers["content-type"] == "application/x-suggestions+json"
    assert response.json() == ["ro", ["rocket"]]
    assert site.get("/suggest").json() == ["", []]
    assert site.get("/suggest?q=%D0%BF%D1%80").json() == ["пр", ["привет"]]


def test_other_sites_may_not_read_the_answers(site: httpx.Client) -> None:
    response = site.get("/api/v1/search?q=a", headers={"Origin": "https://elsewhere.test"})
    assert not [name for name in response.headers if name.startswith("access-control")]


# -- the description ------------------------------------------------------------------------------


def described(site: httpx.Client) -> dict[str, Any]:
    return dict(site.get("/api/v1/openapi.json").json())


def test_the_description_has_what_openapi_3_1_requires(site: httpx.Client) -> None:
    document = described(site)
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["title"] and document["info"]["version"]
    assert document["servers"] == [{"url": str(site.base_url).rstrip("/")}]
    ids = []
    for path, item in document["paths"].items():
        assert path.startswith("/api/v1/")
        operation = item["get"]
        ids.append(operation["operationId"])
        assert all(response["description"] for response in operation["responses"].values())
        for parameter in operation["parameters"]:
            assert parameter["in"] == "query" and parameter["schema"] and parameter["description"]
    assert len(ids) == len(set(ids)) == len(OPERATIONS)


def test_every_reference_of_the_description_leads_somewhere(site: httpx.Client) -> None:
    document = described(site)

    def check(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                target: Any = document
                for step in value["$ref"].removeprefix("#/").split("/"):
                    target = target[step]
            for part in value.values():
                check(part)
        elif isinstance(value, list):
            for part in value:
                check(part)

    check(document)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_answers_are_as_described(site: httpx.Client, operation: Any) -> None:
    document = described(site)
    answer = get(site, operation.name, **EXAMPLES[operation.name])
    schema = document["paths"][operation.path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert not problems(answer, schema, document)


def problems(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """What a value breaks of its schema: the part of JSON Schema that the description uses, and no unknown fields."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        tried = [problems(value, part, document) for part in schema["anyOf"]]
        return [] if any(not found for found in tried) else tried[0]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{value!r} is none of {schema['enum']}"]
    kinds: dict[str, Any] = {
        "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
        "null": type(None),
    }  # fmt: skip
    if not isinstance(value, kinds[schema["type"]]):
        return [f"{value!r} is no {schema['type']}"]
    found: list[str] = []
    if schema["type"] == "object":
        found += [f"{name} is missing" for name in schema.get("required", ()) if name not in value]
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        found += [f"{name} is unknown" for name in value if name not in named and others is None]
        for name in value.keys() & named.keys():
            found += problems(value[name], named[name], document)
        for name in value.keys() - named.keys() if others is not None else ():
            found += problems(value[name], others, document)
    if schema["type"] == "array":
        for position, item in enumerate(value):
            items = schema["prefixItems"][position] if "prefixItems" in schema else schema["items"]
            found += problems(item, items, document)
    return found


def test_the_checker_of_answers_can_fail(site: httpx.Client) -> None:
    document = described(site)
    answer = get(site, "search", q="rocket")
    answer["hits"][0]["score"] = "high"
    del answer["total"]
    found = problems(answer, {"$ref": "#/components/schemas/SearchAnswer"}, document)
    assert sorted(found) == ["'high' is no number", "total is missing"]


def test_the_documentation_page_names_every_operation_and_parameter(site: httpx.Client) -> None:
    text = site.get("/api").text
    for operation in OPERATIONS:
        assert operation.path in text
        assert all(parameter.sentence.split(":")[0] in text for parameter in operation.parameters)


def test_the_server_in_the_description_is_the_base_url() -> None:
    with client(base_url="https://search.example.org") as http:
        assert described(http)["servers"] == [{"url": "https://search.example.org"}]


# -- parameters -----------------------------------------------------------------------------------

names = st.sampled_from([parameter.name for parameter in SEARCH])
values = st.one_of(st.text(max_size=20), st.integers().map(str), st.sampled_from(["date", "day", "1", "true", "en"]))


@given(st.dictionaries(names, values))
def test_a_person_can_write_anything_into_the_address(written: dict[str, str]) -> None:
    request = request_of(written)
    assert 1 <= request.page <= 1_000_000 and 1 <= request.size <= 100
    assert re.fullmatch("-?[a-z][a-z0-9_-]*", request.sort)


@given(st.dictionaries(names, values))
def test_what_a_program_may_say_a_person_may_say(written: dict[str, str]) -> None:
    try:
        strict = request_of(written, strictly=True)
    except BadParameter:
        return
    assert request_of(written) == strict


@given(st.sampled_from(SEARCH), values)
def test_what_is_accepted_is_what_the_schema_says(parameter: Any, text: str) -> None:
    schema = parameter.describe()["schema"]
    try:
        value = parameter.parse(text)
    except BadParameter:
        return
    if isinstance(parameter, Whole):
        assert schema["minimum"] <= value <= schema["maximum"]
    elif isinstance(parameter, Choice):
        assert value in schema["enum"]
    elif isinstance(parameter, Flag):
        assert schema["type"] == "boolean" and isinstance(value, bool)
    else:
        assert isinstance(parameter, Text)
        assert len(value) <= schema.get("maxLength", len(value))


def test_the_search_answer_decodes_into_its_type(site: httpx.Client) -> None:
    answer = msgspec.json.decode(site.get("/api/v1/search?q=rocket").content, type=SearchAnswer)
    assert answer.hits[0].highlights.title
