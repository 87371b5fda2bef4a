"""Results of one site are limited on a page and in the API; every result leads to pages like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from grouping_kit import space_index
from web_kit import PATIENCE, serving

LARGE = "example.org"
PAGE = "https://www.spaceflight.example.org/engine/1"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    index = space_index(tmp_path_factory.mktemp("index"))
    with serving(index.searcher) as address, httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as http:
        yield http


def links(page: str, start: str) -> list[str]:
    """The addresses of links whose text begins so."""
    return [
        unescape(piece.split('href="')[-1].split('"')[0])
        for piece in page.split("</a>")
        if piece.rpartition(">")[2].startswith(start) or f">{start}" in piece.rpartition("<a ")[2]
    ]


def test_a_page_of_results_has_two_of_a_site_and_a_link_to_the_others(site: httpx.Client) -> None:
    page = site.get("/search", params={"q": "rocket"})
    assert page.status_code == 200 and "28 results" in page.text
    (more,) = {link for link in links(page.text, "More from") if LARGE in link}
    assert parse_qs(urlsplit(more).query) == {"q": ["rocket"], "site": [LARGE]}
    assert "(10)" in page.text
    assert "12 results" in site.get(more).text


def test_the_limit_ends_with_a_link_and_comes_back_with_another(site: httpx.Client) -> None:
    (whole,) = links(site.get("/search?q=rocket").text, "Show results without this limit")
    page = site.get(whole).text
    assert whole.endswith("group=0") and "More from" not in page
    assert "Any number of results of a site" in page and 'href="/search?q=rocket"' in page


def test_the_api_names_the_site_of_each_result_and_how_many_more_it_has(site: httpx.Client) -> None:
    answer = site.get("/api/v1/search?q=rocket").json()
    counted = Counter(hit["group"] for hit in answer["hits"])
    assert answer["grouped"] and max(counted.values()) == 2
    (more,) = [hit["more_from"] for hit in answer["hits"] if hit["more_from"] and hit["group"] == LARGE]
    assert more == {"site": LARGE, "count": 10}
    assert site.get(f"/api/v1/search?q=rocket&site={more['site']}").json()["total"] == 12


def test_the_api_shows_every_result_once(site: httpx.Client) -> None:
    shown = [
        hit["url"]
        for page in range(1, 7)
        for hit in site.get(f"/api/v1/search?q=rocket&size=5&page={page}").json()["hits"]
    ]
    assert len(shown) == len(set(shown)) == 28


def test_a_program_can_switch_it_off(site: httpx.Client) -> None:
    answer = site.get("/api/v1/search?q=rocket&group=0").json()
    assert not answer["grouped"] and {hit["group"] for hit in answer["hits"]} == {None}
    assert site.get("/api/v1/search?q=rocket&group=perhaps").status_code == 400


def test_every_result_leads_to_pages_like_it(site: httpx.Client) -> None:
    page = site.get("/search?q=rocket").text
    like = links(page, "More like this")
    assert len(like) == 10
    answer = site.get(like[0])
    assert answer.status_code == 200 and "These pages share words with" in answer.text


def test_the_api_lists_pages_like_a_page(site: httpx.Client) -> None:
    answer = site.get("/api/v1/like", params={"url": PAGE, "size": 20}).json()
    urls = [hit["url"] for hit in answer["hits"]]
    assert PAGE not in urls and answer["query"] == f"like:{PAGE}"
    assert {"https://www.spaceflight.example.org/engine/2", "https://harbour-news.example/1.html"} <= set(urls)
    fewer = site.get("/api/v1/like", params={"url": PAGE, "q": "harbour"}).json()
    assert [hit["site"] for hit in fewer["hits"]] == ["harbour-news.example"] * fewer["total"] and fewer["total"]
    assert {hit["site"] for hit in site.get("/api/v1/like", params={"url": PAGE, "site": LARGE}).json()["hits"]} == {
        "www.spaceflight.example.org"
    }


def test_the_api_says_why_no_page_is_like_a_page(site: httpx.Client) -> None:
    answer = site.get("/api/v1/like", params={"url": "https://nowhere.example/"}).json()
    assert not answer["total"] and "The index has no page" in answer["reason"]
    assert site.get("/api/v1/like", params={"url": "!?"}).status_code == 400
    assert site.get("/api/v1/like").status_code == 400


def test_what_is_typed_behind_like_is_text(site: httpx.Client) -> None:
    page = site.get("/search", params={"q": "like:https://evil.test/<script>alert(1)</script>"})
    assert page.status_code == 200 and "<script>alert" not in page.text
