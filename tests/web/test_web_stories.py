"""The pages about the past, and what the results show of types, categories and authors."""

from __future__ import annotations

import httpx
import msgspec
import pytest
import turbohtml
from web_kit import SEEN, MemoryService, MemoryStories, client

from gossamer.dedup.difference import difference
from gossamer.errors import BusyError
from gossamer.model.moments import timestamp
from gossamer.search.results import Request, Results
from gossamer.web.stories import shown
from gossamer.web.views import about

ENGINE = "https://www.example.org/rockets/engines"
MIRROR = "https://mirror.example.net/rockets/engines"


def page(site: httpx.Client, path: str, status: int = 200) -> turbohtml.Document:
    response = site.get(path)
    assert response.status_code == status, response.text
    return turbohtml.parse(response.text)


def texts(tree: turbohtml.Document | turbohtml.Element, selector: str) -> list[str]:
    return [" ".join(found.text.split()) for found in tree.select(selector)]


def link(tree: turbohtml.Document, text: str) -> str:
    found = [a for a in tree.select("main a") if " ".join(a.text.split()).startswith(text)]
    assert found, f"no link {text!r}"
    return str(found[0].attr("href"))


# -- stories and histories --------------------------------------------------------------------------


def test_the_cached_page_leads_to_the_others_that_have_its_text(site: httpx.Client) -> None:
    tree = page(site, link(page(site, f"/cached?url={MIRROR}"), "2 similar pages"))
    assert texts(tree, "h1") == ["3 pages with almost the same text"]
    assert texts(tree, ".story h2")[0] == "How a rocket engine works"
    assert texts(tree, ".story .when") == ["19 Jul 2025", "20 Jul 2025", "1 Aug 2025"]


def test_a_story_marks_who_was_first_who_stands_for_all_and_where_one_came_from(site: httpx.Client) -> None:
    first, second, third = page(site, f"/story?url={MIRROR}").select(".story li")
    assert texts(first, ".badge") == ["Published first", "Shown in results: published first"]
    assert texts(second, ".badge") == ["This page"]
    assert texts(third, ".badge") == []


def test_a_page_without_a_date_stands_at_the_day_it_was_seen(site: httpx.Client) -> None:
    tree = page(site, "/story?url=https://blog.example.net/spiders")
    assert texts(tree, "h1") == ["No other page has this text"]
    assert texts(tree, ".story .when") == ["seen 21 Sep 2026"]
    assert texts(tree, ".story .badge") == ["This page"]


def test_a_page_alone_has_no_link_to_others(site: httpx.Client) -> None:
    tree = page(site, "/cached?url=https://blog.example.net/spiders")
    assert "similar page" not in tree.text and link(tree, "Versions")


def test_the_cached_page_leads_to_its_versions_and_what_changed(site: httpx.Client) -> None:
    tree = page(site, link(page(site, f"/cached?url={ENGINE}"), "Versions"))
    assert texts(tree, ".difference > p del") == ["forwards"]
    assert texts(tree, ".difference > p ins") == ["backwards"]
    assert texts(tree, ".facts dt") == ["Title"]
    assert texts(tree, ".facts del") == ["How rockets work"]
    assert texts(tree, "tbody th") == ["21 Sep 2026, 14:13 UTC", "21 Sep 2026, 13:13 UTC", "20 Sep 2026, 14:13 UTC"]
    assert "in another near-duplicate cluster" in texts(tree, "tbody td")[1]


def test_two_versions_are_chosen_by_a_form(site: httpx.Client) -> None:
    tree = page(site, f"/history?url={ENGINE}")
    values = [[o.attr("value") for o in s.select("option")] for s in tree.select("form.choose select")]
    times = [timestamp(SEEN), timestamp(SEEN - 86_400)]
    assert values == [times, times], "only those that have a text"
    assert [o.attr("value") for o in tree.select("option[selected]")] == times[::-1]
    same = site.get("/history", params={"url": ENGINE, "from": times[0], "to": times[0]}).text
    assert "No changes between these visits" in same


def test_a_history_of_one_text_or_of_a_part_says_so(site: httpx.Client) -> None:
    tree = page(site, f"/history?url={MIRROR}")
    assert [text[:30] for text in texts(tree, ".notice")] == [
        "There is only one version so f",
        "This list covers only the newe",
    ]


@pytest.mark.parametrize("path", ["/story", "/story?url=https://nowhere.test/", "/history?url=x", "/history"])
def test_an_unknown_page_has_no_past(site: httpx.Client, path: str) -> None:
    assert texts(page(site, path, 404), "h1") == ["Not found"]


def test_these_pages_are_not_for_search_engines(site: httpx.Client) -> None:
    for path in (f"/story?url={ENGINE}", f"/history?url={ENGINE}"):
        assert site.get(path).headers["x-robots-tag"] == "noindex"
        assert f"Disallow: {path.partition('?')[0]}\n" in site.get("/robots.txt").text


def test_an_index_without_a_crawl_is_served_without_these_links() -> None:
    with client() as http:
        tree = page(http, f"/cached?url={ENGINE}")
        assert "Versions" not in tree.text and "similar page" not in tree.text
        for path in ("/story", "/history"):
            assert "no crawl" in texts(page(http, f"{path}?url={ENGINE}", 404), ".lead")[0]


def test_a_crawl_that_cannot_be_asked_breaks_no_cached_page() -> None:
    stories = MemoryStories()
    with client(stories=stories) as http:
        stories.broken = BusyError("the database is locked")
        assert link(page(http, f"/cached?url={ENGINE}"), "Versions")
        refused = http.get(f"/history?url={ENGINE}")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "the database is locked" in refused.text


def test_of_a_long_difference_only_the_beginning_is_shown() -> None:
    text = difference("", "\n".join(f"paragraph {n} " + "word " * 50 for n in range(2_000)))
    paragraphs, cut = shown(text, 10_000)
    assert cut and 10_000 <= sum(len(piece.text) for one in paragraphs for piece in one.pieces) < 10_600
    whole, cut = shown(text, 10_000_000)
    assert not cut and len([one for one in whole if one.kind == "added"]) == 2_000


# -- types, categories, authors, estimates ------------------------------------------------------------


def test_a_type_of_page_is_chosen_and_removed_by_links(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rocket")
    narrowed = page(site, link_in(tree, "Forum", ".filters"))
    assert texts(narrowed, ".hits h2") == ["A garden in November"]
    assert len(texts(page(site, link_in(narrowed, "Forum", ".chips")), ".hits h2")) == 6


def test_a_category_is_chosen_and_removed_by_links(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rocket")
    narrowed = page(site, link_in(tree, "space flight", ".filters"))
    assert texts(narrowed, ".hits h2") == ["Rocket launch delayed by weather"]
    feed = narrowed.select("head link[type='application/atom+xml']")[0].attr("href")
    assert feed == "/feed.atom?q=rocket&category=space+flight"
    assert len(texts(page(site, link_in(narrowed, "space flight", ".chips")), ".hits h2")) == 6


def link_in(tree: turbohtml.Document, text: str, within: str) -> str:
    return str(next(a.attr("href") for a in tree.select(f"{within} a") if a.text.strip().startswith(text)))


def test_facets_with_one_value_are_not_shown(site: httpx.Client) -> None:
    headings = texts(page(site, "/search?q=orbit"), ".wide h2")
    assert "Type of page" not in headings and "Category" not in headings
    assert "Type of page" in texts(page(site, "/search?q=orbit&page_type=article"), ".wide h2")


def test_a_result_names_its_author_and_its_type_where_it_is_no_article(site: httpx.Client) -> None:
    (launch,) = page(site, "/search?q=weather").select(".hits article")
    assert texts(launch, ".meta bdi") == ["Ann Lee"] and texts(launch, ".badge") == []
    (garden,) = page(site, "/search?q=frost").select(".hits article")
    assert texts(garden, ".meta bdi") == [] and texts(garden, ".badge") == ["Forum"]


class Estimating(MemoryService):
    """A searcher that counts roughly."""

    def search(self, request: Request) -> Results:
        return msgspec.structs.replace(super().search(request), total=12_345, estimated=True)


def test_an_estimate_is_told_as_one() -> None:
    with client(Estimating()) as http:
        assert texts(page(http, "/search?q=rocket"), "h1") == ["About 12,300 results for rocket"]


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (7, "7"), (999, "999"), (1_234, "1,230"), (98_765, "98,800")])
def test_of_an_estimate_three_digits_are_known(count: int, text: str) -> None:
    assert about(count) == text
