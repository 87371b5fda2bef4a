"""What an index says of itself to somebody who has not asked anything yet."""

from __future__ import annotations

from pathlib import Path

from searcher_kit import NOW, SmallIndex, page
from shards_kit import DividedIndex

from gossamer.index.document import IndexPage
from gossamer.search.overview import EXAMPLES, SHOWN_SITES, Outline, overview, phrases
from gossamer.search.results import Count, Overview, Request

REPORTS = [
    page(
        f"http://lab.test/{n}",
        f"The report is number {n}.",
        f"Orbit report of station {n} | The Lab",
        fetched_at=NOW + n,
    )
    for n in range(6)
]
SPIDERS = [page(f"http://pauk.test/{n}", "Паук ткёт.", f"Паутина и паук {n}", lang="ru") for n in range(2)]


def always(query: str) -> bool:
    return True


def test_sites_are_counted_and_the_newest_visit_is_told(tmp_path: Path) -> None:
    found = SmallIndex(tmp_path, *REPORTS, *SPIDERS).searcher.overview()
    assert found.sites == (Count("lab.test", 6), Count("pauk.test", 2))
    assert (found.known_sites, found.has_more_sites, found.fetched_at) == (2, False, NOW + 5)


def test_every_example_has_results(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path, *REPORTS, *SPIDERS)
    examples = index.searcher.overview().examples
    assert examples and all(index.search(query).total for query in examples)


def test_an_empty_index_has_an_empty_overview(tmp_path: Path) -> None:
    assert SmallIndex(tmp_path).searcher.overview() == Overview()


def test_a_phrase_of_several_titles_comes_first_and_the_name_of_the_site_never() -> None:
    titles = [*(f"Solar sails in {n} steps | Weaver News" for n in "abc"), "Other things | Weaver News"] + [
        f"{word} | Weaver News" for word in ("garden", "rocket", "library", "moonlight")
    ]
    found = phrases((title, "the text of it") for title in titles)
    assert next(iter(found)) == "solar sails"
    assert not any("weaver" in phrase or "news" in phrase for phrase in found)


def test_words_that_stand_on_most_pages_neither_begin_nor_end_a_phrase() -> None:
    pages = [
        (f"Knots which {word}", "knots are tied by those which know them") for word in ("hold", "slip", "jam", "run")
    ]
    assert not any("which" in phrase.split() for phrase in phrases(pages))


def test_phrases_are_plain_words_whatever_a_title_holds() -> None:
    hostile = [
        "<script>alert(1)</script> silk",
        '"><img src=x onerror=own()> silk thread',
        "silk \u202eevil\u202c",
        "a OR b",
        "-site:x",
    ]
    found = phrases((title, "") for title in hostile)
    assert found and all(letter.isalpha() or letter in " -'’" for phrase in found for letter in phrase)


def test_titles_without_spaces_give_examples() -> None:
    assert set(phrases([("图书馆", ""), ("蜘蛛的网", "")])) == {"图书馆", "蜘蛛的网"}


def test_sites_take_turns_and_no_word_comes_twice() -> None:
    told = Outline(
        {"a.test": 9, "b.test": 1},
        phrases={"a.test": {"silk thread": 5.0, "silk": 4.0, "loom": 3.0}, "b.test": {"moon": 1.0}},
    )
    assert overview([told], always).examples == ("silk thread", "moon", "loom")


def test_what_finds_nothing_is_no_example() -> None:
    told = Outline({"a.test": 9}, phrases={"a.test": {"silk": 2.0, "loom": 1.0}})
    assert overview([told], lambda query: query == "loom").examples == ("loom",)


def test_few_are_shown_of_many() -> None:
    sites = {f"s{n:02}.test": 1 for n in range(30)}
    words = {site: {f"{chr(97 + n)}word": 1.0} for n, site in enumerate(list(sites)[:20])}
    found = overview([Outline(sites, is_complete=False, phrases=words)], always)
    assert (len(found.sites), found.known_sites, found.has_more_sites) == (SHOWN_SITES, 30, True)
    assert len(found.examples) == EXAMPLES


def test_a_divided_index_counts_what_one_index_counts(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 3, *REPORTS, *SPIDERS)
    one, many = index.single.overview(), index.divided.overview()
    assert (many.sites, many.known_sites, many.fetched_at) == (one.sites, one.known_sites, one.fetched_at)
    assert many.examples and all(index.divided.search(Request(query=query)).total for query in many.examples)


def test_the_shards_that_answer_tell_what_they_hold(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *_spread(40))
    whole = index.divided.overview().sites[0].count
    index.nodes.down = {2}
    assert 0 < index.divided.overview().sites[0].count < whole
    index.nodes.down = {1, 2}
    assert index.divided.overview() == Overview()


def _spread(count: int) -> list[IndexPage]:
    return [page(f"/{n}", "silk", "silk") for n in range(count)]
