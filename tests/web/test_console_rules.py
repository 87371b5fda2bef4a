"""The rules page of the console: rules are tried on stored pages, then saved, changed and removed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from console_kit import ConsoleUnderTest, small_console

from gossamer.frontier.views.inspect import all_urls, find_url
from gossamer.parse.rules import DocumentRule
from gossamer.tables import audit
from gossamer.tables.rulebook import load_rules, save_rules

RULE = """[[rule]]
domain = "alpha.test"
name = "page"
urls = ["/p/{id}.html"]
title = "h1"
text = "main p"
"""


@pytest.fixture
def fresh(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console whose crawl the test may change."""
    with small_console(crawled) as console:
        yield console


def tried(console: ConsoleUnderTest, rule: str, **more: str) -> str:
    response = console.operator.get("/console/rules", params={"rule": rule, **more})
    assert response.status_code == 200, response.text
    return html.unescape(re.sub(r"\s+", " ", response.text))


def rules(console: ConsoleUnderTest) -> tuple[DocumentRule, ...]:
    db = console.folder.read()
    try:
        return load_rules(db)
    finally:
        db.close()


def url_ending(console: ConsoleUnderTest, end: str) -> str:
    db = console.folder.read()
    try:
        return next(record.url for record in all_urls(db) if record.url.endswith(end) and "alpha" in record.url)
    finally:
        db.close()


def keep(console: ConsoleUnderTest, *kept: DocumentRule) -> None:
    db = console.folder.open_database()
    save_rules(db, kept, 1_700_000_000.0)
    db.close()


def field(page: str) -> str:
    """What stands in the textarea."""
    found = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def test_a_crawl_without_rules_offers_a_beginning(console: ConsoleUnderTest) -> None:
    page = console.operator.get("/console/rules").text
    assert "No rules yet" in page
    assert field(page).startswith("[[rule]]")


def test_a_rule_is_tried_on_stored_pages_and_nothing_is_saved(console: ConsoleUnderTest) -> None:
    page = tried(console, RULE)
    assert "Pages that fit: 5" in page
    assert "Pages that do not fit: 2" in page
    assert "rule alpha.test page applies" in page
    title = re.search(r"<dt>Title</dt><dd>(.*?)</dd>", page)
    assert title and re.fullmatch(r".+ \(\d\)", title[1])
    assert "This is page" in page, "the text that is cut out"
    assert rules(console) == ()


def test_a_page_of_ones_choice_is_cut(console: ConsoleUnderTest) -> None:
    chosen = url_ending(console, "/p/4.html")
    page = tried(console, RULE, page=chosen)
    assert "This is page 4 of alpha.test" in page


def test_a_page_that_does_not_fit_says_why(console: ConsoleUnderTest) -> None:
    page = tried(console, RULE, page=url_ending(console, "/start.html"))
    assert "no rule applies" in page
    assert "none of its URL patterns matches: /p/{id}.html" in page


def test_a_selector_that_finds_nothing_is_named(console: ConsoleUnderTest) -> None:
    page = tried(console, RULE.replace('"main p"', '"article.body"'))
    assert "article.body" in page
    assert "general extractor" in page


def test_a_page_that_is_no_address_is_told_and_loses_nothing(console: ConsoleUnderTest) -> None:
    response = console.operator.get("/console/rules", params={"rule": RULE, "page": "http://["})
    assert field(response.text) == RULE
    assert "Pages that fit: 5" in response.text
    assert "http://[" in html.unescape(response.text)
    assert "Extracted from a page" in response.text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[rule]\n", "This text is not TOML"),
        ("", "The text contains no rule"),
        (RULE.replace("urls", "url"), "unknown key 'url': did you mean urls?"),
        (RULE.replace('"h1"', '"h1["'), "title"),
        (RULE.replace("/p/{id}.html", "^/(?!tag)x"), "not_urls"),
        ("x" * 7000, "longer than 6000 characters"),
    ],
)
def test_a_mistake_is_a_sentence_beside_the_field_and_what_was_typed_stays(
    console: ConsoleUnderTest, text: str, sentence: str
) -> None:
    response = console.operator.get("/console/rules", params={"rule": text})
    problem = re.search(r'id="rule-problem"[^>]*>(.*?)</p>', response.text, re.DOTALL)
    assert problem and sentence in html.unescape(problem[1])
    assert field(response.text) == text
    assert "/console/rules/save" not in response.text


def test_a_rule_that_another_takes_the_pages_of_says_so(fresh: ConsoleUnderTest) -> None:
    keep(fresh, DocumentRule("alpha.test", ("/p/{any}",), "all"))
    page = tried(fresh, RULE)
    assert "Pages that fit, but belong to another rule: 5" in page
    assert "Pages that fit: 0" in page


def test_saving_uses_the_rule_for_what_is_known_and_writes_it_down(fresh: ConsoleUnderTest) -> None:
    answer = fresh.send("/console/rules/save", {"rule": RULE.replace("\n", "\r\n")})
    assert "Saved: alpha.test page (1 new, 0 changed). 5 of" in html.unescape(answer.text)
    assert [rule.label for rule in rules(fresh)] == ["alpha.test page"]
    db = fresh.folder.read()
    record = find_url(db, url_ending(fresh, "/p/4.html"))
    assert record is not None and record.fit
    [line] = audit.entries(db, limit=1)
    assert (line.who, line.action, line.subject) == ("operator", "save rules", "alpha.test page")


def test_a_stored_rule_is_brought_to_the_desk_changed_and_removed(fresh: ConsoleUnderTest) -> None:
    keep(fresh, DocumentRule("alpha.test", ("/p/{id}.html",), "page", title=("h1",)))
    page = fresh.operator.get("/console/rules", params={"domain": "alpha.test", "name": "page"}).text
    text = field(page)
    assert 'name = "page"' in text or "name = 'page'" in text
    changed = text + 'category = "prose"\n'
    assert "Saving replaces existing rules: alpha.test page" in tried(fresh, changed)
    assert "0 new, 1 changed" in html.unescape(fresh.send("/console/rules/save", {"rule": changed}).text)
    assert [rule.category for rule in rules(fresh)] == ["prose"]
    removed = fresh.send("/console/rules/remove", {"domain": "alpha.test", "name": "page"})
    assert "Removed the rule alpha.test page" in html.unescape(removed.text)
    assert rules(fresh) == ()
    again = fresh.send("/console/rules/remove", {"domain": "alpha.test", "name": "page"})
    assert again.status_code == 400


def test_what_is_wrong_is_not_saved(fresh: ConsoleUnderTest) -> None:
    answer = fresh.send("/console/rules/save", {"rule": RULE.replace("urls", "url")})
    assert answer.status_code == 400
    assert "Nothing was saved" in answer.text
    assert rules(fresh) == ()


def test_readers_try_but_do_not_save(fresh: ConsoleUnderTest) -> None:
    page = fresh.reader.get("/console/rules", params={"rule": RULE}).text
    assert "Pages that fit: 5" in page
    assert "/console/rules/save" not in page
    assert fresh.send("/console/rules/save", {"rule": RULE}, client=fresh.reader).status_code == 403
    assert rules(fresh) == ()


def test_a_domain_that_nobody_has_crawled_can_have_a_rule(fresh: ConsoleUnderTest) -> None:
    page = tried(fresh, RULE.replace("alpha.test", "gamma.test"))
    assert "This crawl has no site of the domain yet" in page
    assert "The crawl has no page of this domain yet" in page


def test_what_is_typed_or_stored_is_shown_and_does_nothing(fresh: ConsoleUnderTest) -> None:
    keep(fresh, DocumentRule("alpha.test", ("/p/<script>alert(1)</script>",), "page"))
    text = '</textarea><script>alert(1)</script>"'
    shown = fresh.operator.get("/console/rules", params={"rule": text, "page": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in shown
    assert field(shown) == text


def test_domains_are_found_by_a_part_of_their_name(fresh: ConsoleUnderTest) -> None:
    keep(fresh, DocumentRule("alpha.test", ("/a",)), DocumentRule("beta.test", ("/b",)))
    page = fresh.operator.get("/console/rules", params={"q": "bet"}).text
    assert "Rules of beta.test" in page
    assert "Rules of alpha.test" not in page
