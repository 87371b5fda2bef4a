"""The pages people see, as HTML: everything works from links and forms alone."""

from __future__ import annotations

import httpx
import pytest
import turbohtml
from web_kit import DOCUMENTS, MemoryService, client

from gossamer.errors import CorruptError, DatabaseError, StorageError, UsageError
from gossamer.index.folder import IndexMissingError
from gossamer.search.results import Overview
from gossamer.testing import FakeClock

RU, ZH = "ракета", "火箭"


def page(site: httpx.Client, path: str, status: int = 200) -> turbohtml.Document:
    response = site.get(path)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    tree = turbohtml.parse(response.text)
    assert not tree.errors
    return tree


def texts(tree: turbohtml.Document | turbohtml.Element, selector: str) -> list[str]:
    return [" ".join(found.text.split()) for found in tree.select(selector)]


def link(tree: turbohtml.Document | turbohtml.Element, text: str, within: str = "") -> str:
    found = [a for a in tree.select(f"{within} a".strip()) if " ".join(a.text.split()).startswith(text)]
    assert found, f"no link {text!r}"
    return str(found[0].attr("href"))


def titles(tree: turbohtml.Document) -> list[str]:
    return texts(tree, ".hits h2")


def test_the_start_page_has_a_labelled_search_box_and_the_size_of_the_index(site: httpx.Client) -> None:
    tree = page(site, "/")
    (box,) = tree.select("form[action='/search'][method=get] input[type=search][name=q]")
    assert tree.select(f"label[for={box.attr('id')}]")
    assert f"{len(DOCUMENTS)} pages" in tree.text


def test_the_start_page_tells_what_is_searched_how_much_and_how_fresh() -> None:
    with client(clock=FakeClock(1_790_000_000.0 + 3 * 3600)) as http:
        tree = page(http, "/")
        assert texts(tree, ".sub") == [f"{len(DOCUMENTS)} pages from 11 sites, last updated 3 hours ago"]
        assert tree.select(".sub time")[0].attr("datetime") == "2026-09-21T14:13:20Z"
        assert texts(tree, ".searched li")[0] == "archive.example.org 36 pages"
        assert texts(tree, ".searched > .count") == ["and 3 other sites"]
        assert page(http, link(tree, "archive.example.org", ".searched")).select("h1")


def test_every_example_on_the_start_page_has_results(site: httpx.Client) -> None:
    tree = page(site, "/")
    examples = [a.attr("href") for a in tree.select(".examples a")]
    assert len(examples) > 3
    assert all(titles(page(site, href)) for href in examples)


def test_an_empty_index_says_what_to_do() -> None:
    with client(MemoryService(())) as http:
        tree = page(http, "/")
        assert "gossamer crawl https://www.example.org/ --contact you@example.org" in texts(tree, ".notice code")
        assert not tree.select(".examples") and not tree.select(".searched")


def test_a_folder_without_an_index_is_an_empty_one_on_the_start_page() -> None:
    service = MemoryService()
    with client(service) as http:
        service.broken = IndexMissingError("there is no index in /srv/secret/index yet")
        tree = page(http, "/")
        assert "gossamer crawl" in texts(tree, ".notice code")[0] and "secret" not in tree.text


def test_visits_of_the_start_page_share_one_overview() -> None:
    service = MemoryService()
    with client(service) as http:
        for _ in range(5):
            page(http, "/")
    assert service.overviews == 1


def test_a_start_page_without_an_overview_still_searches() -> None:
    """Shards of an older version tell nothing of themselves."""
    service = MemoryService()
    service.overview = Overview
    with client(service) as http:
        tree = page(http, "/")
        assert tree.select("input[name=q]") and f"{len(DOCUMENTS)} pages" in tree.text
        assert not tree.select(".examples") and not tree.select(".searched")


def test_a_result_has_title_address_date_excerpt_and_links(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rocket+nozzle")
    (first, *_) = tree.select(".hits article")
    (title,) = first.select("h2 a")
    assert title.attr("href") == "https://www.example.org/rockets/engines"
    assert title.attr("rel") == "noopener noreferrer"
    assert texts(first, "h2 mark") == ["rocket"]
    assert texts(first, ".excerpt mark") == ["rocket", "nozzle"]
    assert texts(first, ".where bdi") == ["www.example.org", "rockets", "engines"]
    (time,) = first.select("time")
    assert (time.attr("datetime"), time.text) == ("2025-07-19T08:30:00+02:00", "19 Jul 2025")
    assert site.get(link(first, "Cached text")).status_code == 200
    assert site.get(link(first, "Why here?")).status_code == 200


def test_total_and_time_taken_are_told(site: httpx.Client) -> None:
    tree = page(site, "/search?q=orbit")
    assert texts(tree, "h1") == ["36 results for orbit"]
    assert texts(tree, ".took") == ["in 4 ms"]


@pytest.mark.parametrize(("query", "lang", "name"), [(RU, "ru", "Russian"), (ZH, "zh", "Chinese")])
def test_each_result_carries_its_language_and_a_badge_where_it_is_foreign(
    site: httpx.Client, query: str, lang: str, name: str
) -> None:
    tree = page(site, f"/search?q={query}")
    assert {a.attr("lang") for a in tree.select(".hits article")} == {lang}
    assert set(texts(tree, ".badge")) == {name}
    assert set(texts(tree, ".excerpt mark")) <= {query, query.capitalize()}
    assert tree.root.attr("lang") == "en"


def test_english_results_have_no_language_badge(site: httpx.Client) -> None:
    assert "English" not in texts(page(site, "/search?q=engine"), ".badge")


def test_an_international_host_is_shown_in_its_own_script(site: httpx.Client) -> None:
    assert "пример.рф" in texts(page(site, f"/search?q={RU}"), ".where .site")


def test_paging_goes_through_all_results_once(site: httpx.Client) -> None:
    path, seen = "/search?q=orbit", []
    while path:
        tree = page(site, path)
        seen += titles(tree)
        following = tree.select(".pages a[rel=next]")
        path = following[0].attr("href") if following else ""
    assert len(seen) == len(set(seen)) == 36


def test_the_second_page_links_both_ways_and_counts_on(site: httpx.Client) -> None:
    tree = page(site, "/search?q=orbit&page=2")
    assert tree.select("head link[rel=prev]")[0].attr("href") == "/search?q=orbit"
    assert tree.select("head link[rel=next]")[0].attr("href") == "/search?q=orbit&page=3"
    assert tree.select(".hits")[0].attr("start") == "11"
    assert texts(tree, ".pages a[aria-current=page]") == ["Page 2"]
    assert texts(tree, "head title") == ["orbit, page 2 – Gossamer"]


def test_a_site_is_chosen_and_removed_by_links(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rocket&page=1")
    narrowed = page(site, link(tree, "news.example.com", ".filters"))
    assert set(texts(narrowed, ".where .site")) == {"news.example.com"}
    assert len(titles(page(site, link(narrowed, "news.example.com", ".chips")))) == len(titles(tree))


def test_a_time_is_chosen_by_a_link_and_kept_by_the_next_query(site: httpx.Client) -> None:
    tree = page(site, link(page(site, "/search?q=rocket"), "Past week", ".filters"))
    assert titles(tree) == ["Choosing rocket fuel", "Rocket launch delayed by weather"]
    assert [(i.attr("name"), i.attr("value")) for i in tree.select("form input[type=hidden]")] == [("since", "week")]


def test_a_language_is_chosen_by_a_link(site: httpx.Client) -> None:
    tree = page(site, "/search?q=6")
    assert {"Russian", "English"} <= {text.split()[0] for text in texts(tree, ".filters li a")}
    assert {a.attr("lang") for a in page(site, link(tree, "Russian", ".filters")).select("article")} == {"ru"}


def test_a_bar_of_the_years_finds_what_it_counts(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rocket")
    bars = tree.select(".wide .years a")
    assert len(bars) == 5
    for bar in bars:
        found = page(site, bar.attr("href"))
        assert bar.attr("aria-label").endswith(f": {texts(found, 'h1')[0].partition(' for')[0]}")


def test_newest_first_is_a_link(site: httpx.Client) -> None:
    tree = page(site, link(page(site, "/search?q=rocket"), "Newest", ".switch"))
    dates = [time.attr("datetime")[:10] for time in tree.select("time")]
    assert dates == sorted(dates, reverse=True) and len(dates) > 3


def test_near_copies_are_one_result_until_they_are_asked_for(site: httpx.Client) -> None:
    tree = page(site, "/search?q=nozzle")
    assert titles(tree) == ["How a rocket engine works"]
    assert len(titles(page(site, link(tree, "2 similar")))) == 3


def test_another_spelling_is_offered_as_a_link(site: httpx.Client) -> None:
    tree = page(site, "/search?q=rokcet")
    assert texts(tree, "h1") == ["No results for rokcet"]
    assert titles(page(site, link(tree, "rocket", ".mean")))


def test_nothing_found_helps_and_drops_filters(site: httpx.Client) -> None:
    tree = page(site, "/search?q=gossamer&lang=zh&since=day")
    assert titles(tree) == []
    assert titles(page(site, link(tree, "Search again without filters"))) == ["Gossamer in the morning"]


def test_beyond_the_last_page_there_is_a_way_back(site: httpx.Client) -> None:
    tree = page(site, "/search?q=orbit&page=1000000000")
    assert titles(tree) == []
    assert "Only the first" in texts(tree, ".notice")[0]
    assert titles(page(site, link(tree, "Back to the first page")))


@pytest.mark.parametrize(
    "parameters",
    ["page=abc", "page=-3", "page=%D9%A3", "page=" + "9" * 3000, "size=-1", "size=10000", "sort=up", "since=ever",
     "site=%00", "site=" + "a" * 5000, "lang=%3Cx%3E", "similar=maybe", "nonsense=1", "page=1&page=2", "&&=&x", "page"],
)  # fmt: skip
def test_broken_parameters_never_break_the_page(site: httpx.Client, parameters: str) -> None:
    assert titles(page(site, f"/search?q=orbit&{parameters}")) or "page=9" in parameters


def test_control_characters_in_a_query_are_spaces(site: httpx.Client, service: MemoryService) -> None:
    text = site.get("/search?q=%00rocket%07%0D%0Aengine%C2%85%ED%A0%80").text
    assert service.requests[-1].query.startswith("rocket engine")
    assert "\x00" not in text and "\x07" not in text


def test_no_query_shows_the_start_page(site: httpx.Client) -> None:
    for path in ("/search", "/search?q=", "/search?q=%20%00", "/search?page=2"):
        assert "home" in page(site, path).select("body")[0].attr("class")


def test_equal_searches_have_equal_addresses(site: httpx.Client) -> None:
    tree = page(site, "/search?page=2&sort=relevance&q=orbit&since=&similar=0&size=10")
    assert link(tree, "Page 1", ".pages") == "/search?q=orbit"


def test_the_page_offers_its_feeds_and_itself_to_the_browser(site: httpx.Client) -> None:
    tree = page(site, "/search?q=orbit&lang=en")
    kinds = {a.attr("type"): a.attr("href") for a in tree.select("head link[rel=alternate], head link[rel=search]")}
    assert kinds["application/atom+xml"] == "/feed.atom?q=orbit&lang=en"
    assert kinds["application/rss+xml"] == "/feed.rss?q=orbit&lang=en"
    assert kinds["application/opensearchdescription+xml"] == "/opensearch.xml"


def test_cached_text_tells_its_date_marks_the_words_and_is_not_indexed(site: httpx.Client) -> None:
    path = "/cached?url=https://www.example.org/rockets/history&q=rocket+-engine"
    tree = page(site, path)
    assert texts(tree, ".card time") == ["21 Sep 2026, 14:13 UTC"]
    assert set(texts(tree, "article mark")) == {"rocket"}
    assert tree.select("article p")[1].text.startswith("The rocket began")
    assert link(tree, "Open original") == "https://www.example.org/rockets/history"
    assert site.get(path).headers["x-robots-tag"] == "noindex"
    assert tree.select("meta[name=robots][content=noindex]")


@pytest.mark.parametrize("path", ["/cached", "/cached?url=https://nowhere.test/", "/cached?url=%00", "/explain?q=a"])
def test_what_is_not_stored_is_not_found(site: httpx.Client, path: str) -> None:
    page(site, path, 404)


def test_an_explanation_lists_the_factors_and_their_sum(site: httpx.Client) -> None:
    tree = page(site, "/explain?q=rocket&url=https://www.example.org/rockets/history")
    assert texts(tree, "tbody th") == ['title: "rocket"', "prior: url depth"]
    assert texts(tree, "tbody td") == ["2.500", "1 time in 6 words", "0.250", "2 levels"]
    assert texts(tree, "tfoot .value") == ["2.750"]
    away = page(site, "/explain?q=rocket&url=https://nowhere.test/")
    assert "none of the words is on it" in texts(away, ".notice")[0]


def test_an_unknown_address_is_a_friendly_page(site: httpx.Client) -> None:
    assert page(site, "/nothing", 404).select("input[name=q]")
    assert page(site, "/search/", 404).select("input[name=q]")


@pytest.mark.parametrize("error", [CorruptError("the index is damaged: rebuild it"), UsageError("there is no index")])
def test_an_index_that_cannot_be_used_is_503_with_its_sentence(error: Exception) -> None:
    service = MemoryService()
    with client(service) as http:
        service.broken = error
        for path in ("/", "/search?q=a", "/cached?url=b", "/explain?q=a&url=b", "/feed.atom?q=a"):
            response = http.get(path)
            assert response.status_code == 503
            assert str(error) in response.text
        for path in ("/api/v1/search?q=a", "/api/v1/suggest?q=a", "/api/v1/page?url=b", "/api/v1/status"):
            response = http.get(path)
            assert (response.status_code, response.json()) == (503, {"error": str(error)})
        assert (http.get("/readyz").status_code, http.get("/healthz").status_code) == (503, 200)
        service.broken = None
        assert http.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    "error",
    [DatabaseError("/srv/secret/frontier.db is locked"), CorruptError("the index in /srv/secret/index is damaged"),
     DatabaseError('connection to server at "secret.example" failed'), UsageError("no crawl in /srv/secret"),
     StorageError("cannot read /srv/secret/index/current: Permission denied")],
)  # fmt: skip
def test_no_answer_says_where_files_and_databases_are(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    service = MemoryService()
    with client(service) as http:
        service.broken = error
        for path in ("/", "/search?q=a", "/feed.atom?q=a", "/api/v1/search?q=a", "/api/v1/status", "/readyz"):
            response = http.get(path)
            assert response.status_code == 503
            assert "secret" not in response.text and "gossamer doctor" in response.text, path
    assert str(error) in caplog.text


def test_searches_never_run_on_the_event_loop(site: httpx.Client, service: MemoryService) -> None:
    for path in ("/", "/search?q=a", "/suggest?q=r", "/cached?url=b", "/readyz", "/api/v1/status", "/feed.rss?q=a"):
        site.get(path)
    assert service.threads and all(name.startswith("search") for name in service.threads)


def test_links_begin_with_the_path_of_the_base_url() -> None:
    with client(base_url="https://example.org/find/") as http:
        tree = turbohtml.parse(http.get("/search?q=orbit").text)
        own = [a.attr("href") for a in tree.select("a, link") if not a.attr("href").startswith(("http", "#"))]
        assert own and all(href.startswith("/find/") for href in own)
        assert tree.select("form")[0].attr("action") == "/find/search"
        assert "https://example.org/find/search?q=orbit" in http.get("/feed.atom?q=orbit").text
