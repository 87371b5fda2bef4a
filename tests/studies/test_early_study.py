"""Copies are told before they are indexed, all of them, whoever meets them at the same time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.early import study as early
from studies.early.claim_races import Race, race_frontier, race_lookup
from studies.early.findings import Raced, report
from studies.early.removal import Work, index_both_ways, judge, make_crawl
from studies.early.site_texts import MADE_UP, SiteText, read_texts, site_texts
from studies.scratch import in_memory
from studies.study import Options

TEXTS = [f"{number:032x}" for number in range(60)]


def page(number: int, site: str = "one.example") -> SiteText:
    text = " ".join(f"word{number}x{place}" for place in range(20))
    return SiteText(f"https://{site}/{number}.html", f"Page {number}", text, "en", f"{number:032x}")


def pages(count: int) -> list[SiteText]:
    """Of two sites, which have the same texts."""
    return [page(number, site) for number in range(count // 2) for site in ("one.example", "two.example")]


class TestCrawl:
    """A crawl with copies."""

    @given(st.integers(4, 80), st.sampled_from([0.0, 0.1, 0.3, 0.6]), st.integers(0, 5))
    def test_has_as_many_copies_as_asked_for_each_in_the_site_of_its_original(
        self, size: int, share: float, seed: int
    ) -> None:
        crawl = make_crawl(pages(80), size, share, seed)
        texts = Counter((one.url.split("/")[2], one.content_hash) for one in crawl)
        assert len({one.url for one in crawl}) == len(crawl) == size
        assert len(texts) == size - round(share * size)
        assert max(texts.values()) - min(texts.values()) <= 1, "all texts have about as many copies"

    def test_is_the_same_for_the_same_seed(self) -> None:
        first, again, other = (make_crawl(pages(40), 40, 0.5, seed) for seed in (1, 1, 2))
        assert first == again != other


class TestIndexing:
    """Both ways on a small crawl."""

    def test_the_frontier_keeps_the_first_page_of_each_text_of_a_site(self, tmp_path: Path) -> None:
        crawl = make_crawl(pages(200), 1200, 0.9, 1)
        seen: set[tuple[str, str]] = set()
        first = []
        for one in crawl:
            place = (one.url.split("/")[2], one.content_hash)
            first.append(place not in seen)
            seen.add(place)
        assert judge(tmp_path, crawl).documents == first

    def test_both_ways_leave_one_document_of_each_text_and_count_the_same_each_time(self) -> None:
        crawl = make_crawl(pages(40), 40, 0.5, 1)
        works = []
        for rounds in (1, 2):
            with in_memory("test") as folder:
                works.append(index_both_ways(folder, crawl, rounds))
        assert [(work.pages, work.documents, work.share) for work in works] == [(40, 20, 0.5)] * 2
        assert all(0 < work.deleting < work.late for work in works)


class TestRaces:
    """Workers that meet the same texts at the same time."""

    @pytest.mark.parametrize("same_order", [True, False])
    def test_the_frontier_lets_no_copy_through_and_loses_no_text(self, tmp_path: Path, same_order: bool) -> None:
        race = race_frontier(tmp_path, TEXTS, 4, same_order, 1)
        assert race == Race(pages=240, offered=60, texts=60, documents=60)
        assert race.copies == 0

    def test_looking_up_and_then_writing_loses_no_text_either(self, tmp_path: Path) -> None:
        race = race_lookup(tmp_path, TEXTS, 4, True, 1)
        assert race.texts == 60
        assert race.copies >= 0

    def test_one_worker_alone_has_no_race(self, tmp_path: Path) -> None:
        assert race_lookup(tmp_path, [*TEXTS, *TEXTS], 1, True, 1).documents == 60


class TestTexts:
    """Where the texts come from."""

    def test_pages_without_enough_text_or_that_ask_not_to_be_indexed_are_left_out(self, tmp_path: Path) -> None:
        body = f"<p>{'A sentence that is long enough to be compared with others. ' * 5}</p>"
        (tmp_path / "news").mkdir()
        (tmp_path / "news/index.html").write_text(f"<title>News</title>{body}")
        (tmp_path / "short.html").write_text("<title>Short</title><p>Log in.</p>")
        (tmp_path / "hidden.html").write_text(f'<meta name="robots" content="noindex"><title>Hidden</title>{body}')
        found = read_texts(tmp_path, "https://one.example", 10)
        assert [(one.url, one.title) for one in found] == [("https://one.example/news/", "News")]

    def test_no_more_pages_are_read_than_asked_for(self, tmp_path: Path) -> None:
        for number in range(25):
            (tmp_path / f"{number}.html").write_text(f"<title>{number}</title><p>{page(number).text}</p>")
        assert len(read_texts(tmp_path, "https://one.example", 10)) == 10

    def test_without_sites_texts_are_made_up_and_all_differ(self, tmp_path: Path) -> None:
        found = site_texts(Options(cache=tmp_path), ("itw66",), 20)
        assert list(found) == [MADE_UP]
        assert len({one.content_hash for one in found[MADE_UP]}) == 20

    def test_distinct_pages_have_each_text_of_a_site_once_the_first_one_stays(self) -> None:
        one = [page(1), SiteText("https://one.example/copy", "", page(1).text, "", page(1).content_hash), page(2)]
        two = [page(1, "two.example")]
        assert early.distinct({"one": one, "two": two}) == [one[0], two[0], one[2]]


def raced(copies: int) -> list[Raced]:
    return [
        Raced("frontier", "the same", Race(100, 50, 50, 50 + copies)),
        Raced("look up, then write", "the same", Race(100, 50, 50, 55)),
    ]


@pytest.mark.parametrize(("early_work", "reached", "met"), [(5.0, "at 53% copies", True), (9.0, "10% at most", False)])
def test_the_report_says_where_the_seeds_saving_is_reached(early_work: float, reached: str, met: bool) -> None:
    works = [Work(100, 100, 10.0, 0.0, 10.0, 0.0), Work(100, 40, 10.0, 0.1, early_work, 0.0)]
    found = report("data", works, {}, raced(0))
    assert [(goal.found, goal.met) for goal in found.goals] == [("0 of 100 pages", True), (reached, met)]


def test_the_report_does_not_hide_a_copy_that_was_let_through() -> None:
    works = [Work(100, 100, 10.0, 0.0, 10.0, 0.0), Work(100, 40, 10.0, 0.1, 4.0, 0.0)]
    found = report("data", works, {}, raced(3))
    assert not found.goals[0].met
    assert "3 copies were let through" in found.ours
