"""Known items: the queries are as the goals count them, and pages and answers are picked as the script says."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "bench"))
from _known_pages import SITES, Page, choose, url_of
from known_items import Answer, Item, chosen, draw_titles, fts5, load, share, with_pages


def page(path: str, title: str, text: str = "some text", full_title: str = "") -> Page:
    return Page(url_of("cmake", path), title, full_title or title, [], text, "en", "", "", [])


def item(query: str, *paths: str, kind: str = "concepts") -> Item:
    return Item("cmake", kind, query, paths)


# -- the queries ----------------------------------------------------------------------------------


def test_there_are_two_hundred_queries_each_once_of_all_kinds_and_sites() -> None:
    items = load()
    assert len(items) == len({one.query for one in items}) == 200
    assert Counter(one.kind for one in items) == {
        "classes": 30, "functions": 10, "how-to": 40, "errors and settings": 30, "concepts": 30, "other forms": 20,
        "questions": 20, "identifiers": 20,
    }  # fmt: skip
    assert {one.site for one in items} == set(SITES)
    assert all(one.paths and one.query == one.query.strip() for one in items)


def test_about_half_of_the_queries_are_kept_aside_and_asked_only_at_the_end() -> None:
    items = load()
    kept = {one.query for one in items if one.is_kept}
    assert 80 <= len(kept) <= 120
    assert kept.isdisjoint(one.query for one in chosen(items, False, 200))
    assert len(chosen(items, True, 200)) == 200


def test_a_few_queries_are_of_all_kinds() -> None:
    few = chosen(load(), True, 40)
    assert len(few) == len({one.query for one in few}) == 40
    assert len({one.kind for one in few}) == 8


def test_a_query_whose_pages_are_not_there_is_left_out_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    there, gone = item("a", "x.html", "a.html"), item("b", "b.html")
    assert with_pages([there, gone], {url_of("cmake", "a.html")}) == [there]
    assert "1 queries about cmake: left out" in capsys.readouterr().err


def test_titles_are_drawn_among_those_that_one_page_has() -> None:
    pages = [page("a b.html", "First"), page("b.html", "Same"), page("c.html", "same "), page("d.html", "")]
    (drawn,) = draw_titles({"cmake": pages}, 10)
    assert (drawn.kind, drawn.query, drawn.urls) == ("titles", "First", [pages[0].url])


def test_a_title_with_its_site_s_part_is_asked_as_well() -> None:
    pages = [page("a.html", "First", full_title="First — Manual"), page("b.html", "Second")]
    drawn = draw_titles({"cmake": pages}, 10)
    assert Counter(one.kind for one in drawn) == {"titles": 2, "titles in full": 1}
    assert (drawn[-1].query, drawn[-1].urls) == ("First — Manual", [pages[0].url])


# -- the pages ------------------------------------------------------------------------------------


def test_named_pages_come_first_then_their_families_then_others(tmp_path: Path) -> None:
    names = ["tbutton.html", "tbutton-1.html", "tbutton.click.html", "tedit.html", "other/tbutton.html", "src/a.html"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    taken = choose(tmp_path, {"tbutton.html"}, ("src/",), 3)
    assert taken[0] == "tbutton.html" and set(taken[1:]) == {"tbutton-1.html", "tbutton.click.html"}
    assert set(choose(tmp_path, {"tbutton.html"}, ("src/",), 100)) == set(names) - {"src/a.html"}
    assert choose(tmp_path, set(names[:4]), (), 1) and len(choose(tmp_path, set(names[:4]), (), 1)) == 4


# -- the answers ----------------------------------------------------------------------------------


def test_success_counts_any_right_page_at_its_place() -> None:
    urls = [url_of("cmake", f"{name}.html") for name in "abcde"]
    first, third = Answer(item("q", "x.html", "a.html"), urls), Answer(item("q", "c.html"), urls)
    nowhere = Answer(item("q", "z.html"), urls)
    assert [one.place for one in (first, third, nowhere)] == [1, 3, 0]
    assert [share([first, third, nowhere], depth) for depth in (1, 2, 3)] == [1 / 3, 1 / 3, 2 / 3]


def test_sqlite_finds_pages_with_all_words_before_pages_with_any_whatever_is_typed() -> None:
    pages = [
        page("any.html", "apple apple apple", "apple"),
        page("all.html", "", "an apple and a pear"),
        page("none.html", "plum"),
    ]
    rank = fts5(pages)
    assert rank("pears apple") == [pages[1].url, pages[0].url]
    assert rank('"apple" AND (pear*') and rank("${}") == [] and rank("") == []
