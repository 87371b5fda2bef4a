"""Clients of other search engines are answered by our server: SearXNG's and Google's Custom Search JSON."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from web_kit import DOCUMENTS, MemoryService, serving


def searxng(site: httpx.Client, **given: Any) -> httpx.Response:
    return site.get("/search", params={"format": "json", **given})


def google(site: httpx.Client, **given: Any) -> httpx.Response:
    return site.get("/customsearch/v1", params=given)


def test_searxng_gets_the_results_of_the_page(site: httpx.Client) -> None:
    told = searxng(site, q="rocket").json()
    plain = site.get("/api/v1/search", params={"q": "rocket"}).json()
    assert [one["url"] for one in told["results"]] == [hit["url"] for hit in plain["hits"]]
    assert told["number_of_results"] == plain["total"] and told["query"] == "rocket"
    first = told["results"][0]
    assert first["title"] and first["content"] and first["engine"] and first["parsed_url"][0] == "https"
    assert [one["positions"] for one in told["results"]] == [[n + 1] for n in range(len(told["results"]))]


def test_searxng_parameters_narrow_the_search(site: httpx.Client) -> None:
    assert {one["url"].split("/")[2] for one in searxng(site, q="ракета", language="ru-RU").json()["results"]} == {
        "ru.example.org", "xn--e1afmkfd.xn--p1ai",
    }  # fmt: skip
    assert searxng(site, q="ракета", language="en").json()["results"] == []
    assert searxng(site, q="rocket", language="all").json()["results"]
    recent = searxng(site, q="rocket", time_range="month").json()["number_of_results"]
    assert 0 < recent < searxng(site, q="rocket").json()["number_of_results"]
    first, second = (searxng(site, q="orbit", pageno=page).json()["results"] for page in (1, 2))
    assert second and not {one["url"] for one in first} & {one["url"] for one in second}
    assert second[0]["positions"] == [11]


def test_without_the_parameter_format_the_page_comes(site: httpx.Client) -> None:
    assert site.get("/search", params={"q": "rocket"}).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("given", [{}, {"q": " "}, {"q": "rocket", "pageno": "two"}])
def test_searxng_is_told_what_is_wrong(site: httpx.Client, given: dict[str, str]) -> None:
    answer = searxng(site, **given)
    assert answer.status_code == 400 and answer.json()["error"]


def test_google_gets_the_results_of_the_page(site: httpx.Client) -> None:
    told = google(site, q="rocket", cx="from-google", key="k").json()
    plain = site.get("/api/v1/search", params={"q": "rocket"}).json()
    assert [one["link"] for one in told["items"]] == [hit["url"] for hit in plain["hits"]]
    assert told["searchInformation"]["totalResults"] == str(plain["total"])
    assert "<b>" in told["items"][0]["htmlTitle"] + told["items"][0]["htmlSnippet"]
    assert told["queries"]["request"][0]["startIndex"] == 1


@pytest.mark.parametrize("start", [1, 4, 11, 15])
def test_google_begins_at_any_place(site: httpx.Client, start: int) -> None:
    every = [hit["url"] for hit in site.get("/api/v1/search", params={"q": "orbit", "size": 40}).json()["hits"]]
    told = google(site, q="orbit", start=start, num=7).json()
    assert [one["link"] for one in told["items"]] == every[start - 1 : start + 6]
    assert told["queries"]["nextPage"][0]["startIndex"] == start + 7
    assert ("previousPage" in told["queries"]) == (start > 1)


def test_google_parameters_become_our_operators() -> None:
    asked: list[str] = []

    class Recording(MemoryService):
        def search(self, request: Any) -> Any:
            asked.append(request.query)
            return super().search(request)

    given = {
        "q": "rocket", "exactTerms": "empty space", "excludeTerms": "salad nba", "orTerms": "engine fuel",
        "siteSearch": "example.org", "siteSearchFilter": "e", "dateRestrict": "y99999", "fileType": "html",
    }  # fmt: skip
    with serving(Recording()) as address:
        wrong = httpx.get(f"{address}/customsearch/v1", params=given)
        assert wrong.status_code == 400 and "dateRestrict" in wrong.json()["error"]["message"]
        assert httpx.get(f"{address}/customsearch/v1", params={**given, "dateRestrict": "y9999"}).status_code == 200
    assert asked == ['rocket "empty space" -salad -nba engine OR fuel -site:example.org filetype:html after:1970-01-01']


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "q"), ({"q": "a", "num": "11"}, "num"), ({"q": "a", "start": "0"}, "start"),
        ({"q": "a", "searchType": "image"}, "searchType"),
    ],
)  # fmt: skip
def test_google_is_told_what_is_wrong(site: httpx.Client, given: dict[str, str], says: str) -> None:
    answer = google(site, **given)
    error = answer.json()["error"]
    assert answer.status_code == error["code"] == 400 and says in error["message"]


def test_what_pages_say_is_escaped_where_html_is_promised(site: httpx.Client) -> None:
    for item in google(site, q="silk").json()["items"]:
        for text in (item["htmlTitle"], item["htmlSnippet"], item["htmlFormattedUrl"]):
            assert "<" not in text.replace("<b>", "").replace("</b>", "")


@pytest.mark.long
def test_googles_own_client_searches_here() -> None:
    discovery = pytest.importorskip("googleapiclient.discovery")
    with serving(MemoryService()) as address:
        service = discovery.build(
            "customsearch", "v1", developerKey="k", static_discovery=True, client_options={"api_endpoint": address}
        )
        told = service.cse().list(q="rocket", cx="ours", num=3).execute()
        following = service.cse().list(q="rocket", cx="ours", num=3, start=4).execute()
    links = [item["link"] for item in (*told["items"], *following["items"])]
    assert len(set(links)) == 6 and set(links) <= {doc.url for doc in DOCUMENTS}


@pytest.mark.long
def test_langchains_searxng_client_searches_here() -> None:
    utilities = pytest.importorskip("langchain_community.utilities")
    with serving(MemoryService()) as address:
        found = utilities.SearxSearchWrapper(searx_host=address).results("rocket", num_results=3)
    assert len(found) == 3 and {one["link"] for one in found} <= {doc.url for doc in DOCUMENTS}
    assert all(one["title"] and one["snippet"] for one in found)
