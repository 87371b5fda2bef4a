"""`gossamer rules` as a person uses it: import, crawl, test, suggest, export, remove; also beside a running crawl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from crawl_kit import PATIENCE, crawl, exported, settings_of, start, wait_until, write_settings
from inside import fails, gossamer

from gossamer.demo.message import Reply
from gossamer.testing import FakeWeb

NEWS = 12
RULES = """
[[rule]]
domain = "news.test"
name = "story"
urls = "/{year}/{month}/{id}"
title = "h1.head"
text = "#story"
remove = ".share"
date = "i.day"
date_format = "%d.%m.%Y"
author = ".who"
category = "local news"
page_type = "news"
"""


def story(number: int) -> str:
    lines = [f"Number {number} of the stories tells of house {n} in the lane, and of all it holds." for n in range(9)]
    return (
        f"<!DOCTYPE html><title>Story {number} - The News</title><div id='menu'><a href='/'>Start</a> Weather</div>"
        f"<h1 class='head'>Story {number}</h1><i class='day'>{number:02}.05.2024</i> <b class='who'>Ann Lee</b>"
        f"<div id='story'><p>{'</p><p>'.join(lines)}</p><div class='share'>Tell others</div></div>"
        "<div id='end'>Imprint and all the rest of it</div>"
    )


def add_news(web: FakeWeb, host: str = "news.test", numbers: range = range(1, NEWS + 1)) -> None:
    site = web.site(host)
    paths = [f"/2024/05/{100 + number}" for number in numbers]
    for number, path in zip(numbers, paths, strict=True):
        site.page(path, story(number))
    site.page("/", "The start of it all, with a list of stories.", links=[*paths, "/about"])
    site.page("/about", "About us: we tell stories, and have done so since the lane was built.")


class Crawled(NamedTuple):
    data: Path
    web: FakeWeb
    rules: Path


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """Rules imported before the crawl."""
    folder = tmp_path_factory.mktemp("rules")
    rules, data = folder / "rules.toml", folder / "data"
    rules.write_text(RULES, encoding="utf-8")
    web = FakeWeb("127.0.47")
    add_news(web)
    with web:
        done = gossamer("rules", "import", str(rules), "--json", data=data)
        assert done.code == 0, done.err
        assert done.json == {"new": 1, "replaced": 0, "unchanged": 0, "rules": 1, "known": 0, "fit": 0}
        crawl(web, data, [web.url("news.test")])
        yield Crawled(data, web, rules)


def test_a_crawl_cuts_the_pages_that_fit_by_their_rule(crawled: Crawled) -> None:
    pages = {page["url"]: page for page in exported("pages", crawled.data)}
    cut = {url: page for url, page in pages.items() if page["method"] == "rule story"}
    assert set(cut) == {crawled.web.url("news.test", f"/2024/05/{100 + number}") for number in range(1, NEWS + 1)}
    third = cut[crawled.web.url("news.test", "/2024/05/103")]
    assert third["text"].startswith("Number 3 of the stories") and "Tell others" not in third["text"]
    assert (third["title"], third["author"], third["date"][:10]) == ("Story 3", "Ann Lee", "2024-05-03")
    assert (third["date_source"], third["date_confidence"]) == ("rule", 1.0)
    assert (third["category"], third["category_source"], third["page_type"]) == ("local news", "rule", "news")
    assert not pages[crawled.web.url("news.test", "/about")]["method"].startswith("rule ")


def test_explain_names_the_rule_that_a_url_fits(crawled: Crawled) -> None:
    fits = gossamer("explain", crawled.web.url("news.test", "/2024/05/103"), data=crawled.data)
    assert "news.test story: urls /{year}/{month}/{id} matches" in fits.out
    other = gossamer("explain", crawled.web.url("news.test", "/about"), "--json", data=crawled.data).json
    assert other["factors"]["document_rule"] == "none of 1 for this host"


def test_test_shows_what_each_selector_cuts_out_of_a_stored_page(crawled: Crawled) -> None:
    url = crawled.web.url("news.test", "/2024/05/103")
    found = gossamer("rules", "test", url, "--json", data=crawled.data).json
    assert found["rule"] == "news.test story"
    assert found["cut"]["used"] == {"title": "h1.head", "author": ".who", "date": "i.day", "text": "#story"}
    assert found["cut"]["date"] == "2024-05-03" and found["cut"]["problems"] == []
    shown = gossamer("rules", "test", url, data=crawled.data).out
    assert "Story 3  (h1.head)" in shown and "Number 3 of the stories" in shown


def test_test_says_which_patterns_fail_where_no_rule_takes_a_page(crawled: Crawled) -> None:
    about = gossamer("rules", "test", crawled.web.url("news.test", "/about"), data=crawled.data).out
    assert "none of its URL patterns matches: /{year}/{month}/{id}" in about and "no rule applies" in about


def test_test_reads_a_file_and_rules_that_are_not_imported(crawled: Crawled, tmp_path: Path) -> None:
    page, rules = tmp_path / "page.html", tmp_path / "more.toml"
    page.write_text(story(7), encoding="utf-8")
    rules.write_text('[[rule]]\ndomain = "other.test"\nurls = "^/x"\ntitle = ["h4", "h1"]\ntext = "#gone"\n')
    asked = ("rules", "test", str(page), "--url", "http://www.other.test/x/1", "--rules", str(rules), "--json")
    found = gossamer(*asked, data=crawled.data).json
    assert (found["rule"], found["cut"]["title"]) == ("other.test document", "Story 7")
    assert found["cut"]["problems"] == ["text: nothing found by #gone"]
    assert "general extractor" in found["verdict"]
    without = gossamer(*asked[:5], "--json", data=crawled.data).json
    assert without["verdict"] == "no rule applies: there is none for www.other.test or other.test"
    fails(gossamer("rules", "test", str(page), data=crawled.data), 2, "--url")
    fails(gossamer("rules", "test", "http://news.test/never", data=crawled.data), 2, "no HTML of", "is stored")


def test_export_and_import_give_the_same_rules(crawled: Crawled, tmp_path: Path) -> None:
    file = tmp_path / "out.toml"
    assert gossamer("rules", "export", "-o", str(file), data=crawled.data).code == 0
    again = gossamer("rules", "import", "-", "--json", data=crawled.data, stdin=file.read_text(encoding="utf-8"))
    assert again.json == {"new": 0, "replaced": 0, "unchanged": 1, "rules": 1, "known": 0, "fit": 0}
    listed = gossamer("rules", "list", "--json", data=crawled.data).json
    assert listed == [{"domain": "news.test", "name": "story", "urls": ["/{year}/{month}/{id}"]}]


def test_suggest_proposes_rules_that_can_be_imported_and_cut_the_same_text(crawled: Crawled, tmp_path: Path) -> None:
    proposal, data = tmp_path / "proposal.toml", tmp_path / "fresh"
    done = gossamer("rules", "suggest", "news.test", "-o", str(proposal), data=crawled.data)
    assert done.code == 0, done.err
    text = proposal.read_text(encoding="utf-8")
    assert f"# {NEWS} of {NEWS + 2} documents" in text
    assert gossamer("rules", "import", str(proposal), data=data).code == 0
    (rule,) = gossamer("rules", "export", "--json", data=data).json
    assert (rule["domain"], rule["urls"], rule["text"]) == ("news.test", ["/{year}/{month}/{id}"], ["#story"])
    url = crawled.web.url("news.test", "/2024/05/109")
    found = gossamer("rules", "test", url, "--rules", str(proposal), "--json", data=crawled.data).json
    assert found["cut"]["title"] == "Story 9" and found["cut"]["text"].startswith("Number 9 of the stories")
    fails(gossamer("rules", "suggest", "unknown.test", data=crawled.data), 2, "is not a site of this crawl")


def test_mistakes_are_one_line_and_change_nothing(crawled: Crawled, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(RULES.replace("#story", "#story["), encoding="utf-8")
    both = gossamer("rules", "import", str(crawled.rules), str(wrong), data=crawled.data)
    fails(both, 2, "wrong.toml: rule 1 (news.test story): text '#story['")
    fails(gossamer("rules", "import", str(tmp_path / "none.toml"), data=crawled.data), 2, "cannot read")
    fails(gossamer("rules", "import", data=crawled.data), 2, "nothing to import")
    fails(gossamer("rules", "remove", "news.test", "nothing", data=crawled.data), 2, "there is no rule")
    assert len(gossamer("rules", "list", "--json", data=crawled.data).json) == 1


def test_rules_imported_while_a_crawl_runs_are_taken_over_and_removed_ones_forgotten(tmp_path: Path) -> None:
    data, rules = tmp_path / "data", tmp_path / "rules.toml"
    rules.write_text(RULES, encoding="utf-8")
    web = FakeWeb("127.0.48")
    visits = count(1)
    web.site("news.test").handler("/", lambda ask: Reply(story(next(visits) % 30 + 1)))  # never the same, never a 304
    web.site("busy.test", pages=2000, latency=0.1)  # keeps the crawl going
    with web:
        write_settings(data, settings_of(web))
        url = web.url("news.test", "/2024/05/101")
        process = start("crawl", url, web.url("busy.test"), "--workers", "1", data=data)
        try:
            wait_until(lambda: (data / "frontier.db").exists() and url in methods(data))
            assert not methods(data)[url].startswith("rule ")
            assert gossamer("rules", "import", str(rules), data=data).code == 0
            wait_until(lambda: again(data, url) == "rule story")
            assert process.poll() is None
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
    assert gossamer("rules", "remove", "news.test", data=data).code == 0
    assert gossamer("rules", "list", data=data).out == "There are no rules.\n"


def test_a_changed_rule_makes_the_next_visit_bring_the_whole_page(crawled: Crawled, tmp_path: Path) -> None:
    """Unchanged on the server, the page would answer 304 and keep the text of the old rule."""
    url = crawled.web.url("news.test", "/2024/05/105")
    for text, method in ((RULES.replace('"#story"', '"#end"'), "Imprint"), (RULES, "Number 5")):
        rules = tmp_path / "rules.toml"
        rules.write_text(text, encoding="utf-8")
        assert gossamer("rules", "import", str(rules), "--json", data=crawled.data).json["replaced"] == 1
        assert gossamer("recrawl", url, data=crawled.data).code == 0
        crawl(crawled.web, crawled.data, [])
        texts = {page["url"]: page["text"] for page in exported("pages", crawled.data)}
        assert texts[url].startswith(method)


def methods(data: Path) -> dict[str, str]:
    done = gossamer("export", "pages", data=data)
    return {page["url"]: page["method"] for page in map(json.loads, done.out.splitlines())}


def again(data: Path, url: str) -> str:
    """Have a page fetched once more; by which method its newest version was cut."""
    assert gossamer("recrawl", url, data=data).code == 0
    return methods(data).get(url, "")
