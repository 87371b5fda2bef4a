"""Second attempts as readers and programs see them: through the real server, over a real index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
import turbohtml
from web_kit import PATIENCE, serving

sys.path.append(str(Path(__file__).parents[1] / "unit" / "search"))
from searcher_kit import SmallIndex, page


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    index = SmallIndex(
        tmp_path_factory.mktemp("attempts") / "index",
        page("/rockets", "A rocket burns fuel. Rockets fly to the moon.", "Rockets", lang="en"),
        page("/ru", "Читатель взял старую книгу и сказал: привет.", "Чтение", lang="ru"),
    )
    with (
        serving(index.searcher) as address,
        httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as client,
    ):
        yield client
    index.writer.close()


def show(http: httpx.Client, path: str) -> turbohtml.Document:
    response = http.get(path)
    assert response.status_code == 200
    tree = turbohtml.parse(response.text)
    assert not tree.errors
    return tree


def test_the_page_says_what_was_searched_instead_and_links_the_literal_query(http: httpx.Client) -> None:
    tree = show(http, "/search?q=rokcet")
    (notice,) = tree.select(".notice")
    assert "No page has “rokcet”. These are results for “rocket”." in notice.text
    assert len(tree.select(".hits li")) == 1 and not tree.select(".mean")
    (link,) = notice.select("a")
    assert link.attr("href") == "/search?q=rokcet&literal=1"
    literal = show(http, str(link.attr("href")))
    assert not literal.select(".hits") and "No page has “rokcet”." in literal.text
    (meant,) = literal.select(".mean a")
    assert meant.attr("href") == "/search?q=rocket"
    assert any(a.attr("href") == "/search?q=rokcet" for a in literal.select(".nothing a"))


def test_a_page_without_results_says_why_and_what_to_do(http: httpx.Client) -> None:
    tree = show(http, "/search?q=rocket+lang:fr")
    assert "1 page matches “rocket”, but none of them fits" in tree.text
    assert any(a.attr("href") == "/search?q=rocket" for a in tree.select(".nothing a"))
    assert "No page has “zxzxzx”." in show(http, "/search?q=zxzxzx").text
    assert "no word, number or filter" in show(http, "/search?q=!!!").text


def test_what_is_typed_is_escaped_in_the_sentences(http: httpx.Client) -> None:
    for query in ("<script>alert(1)</script>rokcet", '"<b>fuel burns"', "zx<img src=x>"):
        response = http.get("/search", params={"q": query})
        assert (
            "<script>alert" not in response.text
            and "<b>fuel" not in response.text
            and "<img src=x" not in response.text
        )


def test_the_new_search_from_the_form_is_not_literal(http: httpx.Client) -> None:
    tree = show(http, "/search?q=rokcet&literal=1")
    assert [box.attr("name") for box in tree.select("form[action='/search'] input")] == ["q"]


def test_the_api_tells_the_attempt_the_reason_and_takes_literal(http: httpx.Client) -> None:
    answer = http.get("/api/v1/search", params={"q": "privet"}).json()
    assert answer["total"] == 1 and answer["query"] == "privet"
    assert answer["attempt"] == {
        "query": "привет", "sentence": "No page has “privet”. These are results for “привет”.", "adds": False,
    }  # fmt: skip
    answer = http.get("/api/v1/search", params={"q": "privet", "literal": "1"}).json()
    assert (answer["total"], answer["attempt"], answer["reason"]) == (0, None, "No page has “privet”.")
    answer = http.get("/api/v1/search", params={"q": "rocket"}).json()
    assert (answer["attempt"], answer["reason"], answer["try_instead"]) == (None, None, [])
    assert http.get("/api/v1/search", params={"q": "a", "literal": "maybe"}).status_code == 400
    described = msgspec.json.encode(http.get("/api/v1/openapi.json").json())
    assert b'"literal"' in described and b'"attempt"' in described


def test_what_is_only_typed_is_shown_and_leaves_no_trace_in_links(http: httpx.Client) -> None:
    tree = show(http, "/search?q=rokcet&typing=1")
    assert tree.select(".hits li")
    assert not [a for a in tree.select("a") if "typing" in str(a.attr("href"))]


def test_a_feed_says_what_it_holds(http: httpx.Client) -> None:
    feed = http.get("/feed.atom?q=rokcet").text
    assert "These are results for “rocket”." in feed and "/rockets" in feed
    assert "No page has “zxzxzx”." in http.get("/feed.rss?q=zxzxzx").text
