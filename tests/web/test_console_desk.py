"""The search desk on the console: rules are drafted, tried, published, found and taken back, with every step written
down."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from console_kit import ConsoleUnderTest, client_of, log_in, serving_console, small_console
from test_console_searches import HOSTILE, NOW, TODAY, count

from gossamer.frontier.views.inspect import all_urls
from gossamer.operate import desk as desk_of_crawl
from gossamer.operate.desk import Standing
from gossamer.settings import ConsoleSettings
from gossamer.tables import audit
from gossamer.tables.asked import Times
from gossamer.testing import FakeClock

SYNONYM = {"kind": "synonym", "words": "arachnid, orb weaver"}


@pytest.fixture
def fresh(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console whose readers looked for arachnids in vain."""
    with small_console(crawled, FakeClock(NOW)) as console:
        count(console.data, TODAY, {"arachnid": Times(5, 5), "meadow": Times(9), HOSTILE: Times(2, 2)})
        yield console


def text(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text)))


def standing(console: ConsoleUnderTest) -> Standing:
    db = console.folder.read()
    try:
        return desk_of_crawl.standing(db)
    finally:
        db.close()


def found(console: ConsoleUnderTest, query: str) -> list[str]:
    answer = console.anybody.get("/api/v1/search", params={"q": query})
    assert answer.status_code == 200, answer.text
    return [hit["url"] for hit in answer.json()["hits"]]


def start_page(console: ConsoleUnderTest) -> str:
    db = console.folder.read()
    try:
        return next(one.url for one in all_urls(db) if one.url.endswith("/start.html"))
    finally:
        db.close()


def seen(console: ConsoleUnderTest) -> str:
    match = re.search(r'name="seen" value="([^"]+)"', console.operator.get("/console/desk").text)
    assert match
    return match[1]


def test_a_query_in_vain_is_helped_by_a_synonym_and_back(fresh: ConsoleUnderTest) -> None:
    page = fresh.operator.get("/console/desk").text
    assert 'href="/console/desk/synonyms?words=arachnid' in page
    assert "meadow" not in text(fresh.operator.get("/console/desk"))
    form = fresh.operator.get("/console/desk/synonyms?words=arachnid&about=arachnid").text
    assert 'name="words" type="text" value="arachnid"' in form
    assert found(fresh, "arachnid") == []

    said = text(fresh.send("/console/desk/add", SYNONYM))
    assert "Nothing changes for readers before you publish it" in said and "1 change in the draft" in said
    assert found(fresh, "arachnid") == []
    assert "found with the draft" in text(fresh.operator.get("/console/desk"))

    tried = text(fresh.operator.get("/console/desk/try"))
    assert "1 of 3 queries of the last 4 weeks" in tried and "0 results now, 1 with the draft" in tried
    assert start_page(fresh) in tried and "came" in tried and "synonym arachnid = orb weaver" in tried

    said = text(fresh.send("/console/desk/publish", {"seen": seen(fresh), "note": "readers say arachnid"}))
    assert "Version 1 counts now" in said
    assert found(fresh, "arachnid") == [start_page(fresh)]  # at once
    assert found(fresh, "arachnids") == [start_page(fresh)]

    said = text(fresh.send("/console/desk/undo", {"version": "1"}))
    assert "Version 1 was taken back. No rules count now." in said
    assert found(fresh, "arachnid") == []
    assert standing(fresh).changes == ["+ synonym arachnid = orb weaver"]  # it is the draft again

    db = fresh.folder.read()
    entries = {one.action: one for one in audit.entries(db, audit.Filter(who="operator"))}
    db.close()
    assert {entries[f"{verb} desk"].subject for verb in ("publish", "undo")} == {"version 1"}
    assert entries["edit desk"].detail == "+ synonym arachnid = orb weaver"
    assert entries["publish desk"].detail == "readers say arachnid\n+ synonym arachnid = orb weaver"


def test_a_best_bet_is_recommended_on_the_page_of_results(fresh: ConsoleUnderTest) -> None:
    url = start_page(fresh)
    fresh.send("/console/desk/add", {"kind": "best_bet", "queries": "opening hours", "url": f"{url}#part"})
    fresh.send("/console/desk/publish")
    page = fresh.anybody.get("/search?q=opening+hours").text
    assert "Recommended" in page and url in page
    why = fresh.anybody.get("/explain", params={"q": "opening hours", "url": url})
    assert "best bet opening hours" in unescape(why.text)
    hit = fresh.anybody.get("/api/v1/search?q=opening+hours").json()["hits"][0]
    assert hit["url"] == url and hit["recommended"] is True


def test_a_best_bet_that_nobody_can_find_is_told(fresh: ConsoleUnderTest) -> None:
    fields = {"kind": "best_bet", "queries": "a", "url": "https://www.example.org/not-crawled"}
    assert "not in the index, so nobody finds it yet" in text(fresh.send("/console/desk/add", fields))
    fields["url"] = start_page(fresh)
    assert "not in the index" not in text(fresh.send("/console/desk/add", fields))


def test_every_kind_of_rule_is_added_listed_and_removed(fresh: ConsoleUnderTest) -> None:
    kinds = {
        "synonyms": SYNONYM, "best-bets": {"kind": "best_bet", "queries": "a, b", "url": "https://www.example.org/x"},
        "hidden": {"kind": "hidden", "url": "https://www.example.org/old/*"},
        "boosts": {"kind": "boost", "site": "www.example.org", "times": "0,5"},
        "collections": {"kind": "collection", "name": "Docs", "sites": "docs.example.org", "colour": "#0f6b62"},
    }  # fmt: skip
    for place, fields in kinds.items():
        fresh.send("/console/desk/add", fields)
        page = fresh.operator.get(f"/console/desk/{place}").text
        assert "draft" in text(fresh.operator.get(f"/console/desk/{place}"))
        mark = re.search(r'name="rule" value="([0-9a-f]+)"', page)
        assert mark, place
        assert len(standing(fresh).changes) == 1
        fresh.send("/console/desk/remove", {"kind": fields["kind"], "rule": mark[1]})
        assert not standing(fresh).changes and standing(fresh).drafted is None
    fresh.send("/console/desk/stop-words", {"words": "please\r\nhow do i\r\n"})
    assert standing(fresh).draft.stop_words == ("please", "how do i")
    assert "please how do i" in text(fresh.operator.get("/console/desk/stop-words"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "synonym", "words": "alone"}, "one word is no synonym"),
        ({"kind": "best_bet", "queries": "a", "url": "visit us"}, "is not a url"),
        ({"kind": "boost", "site": "a.test", "times": "much"}, "is not a number"),
        ({"kind": "boost", "collection": "nowhere", "times": "2"}, "there is no collection"),
        ({"kind": "nonsense"}, "there is no such kind of rule"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_changes(
    fresh: ConsoleUnderTest, fields: dict[str, str], message: str
) -> None:
    answer = fresh.send("/console/desk/add", fields)
    assert answer.status_code == 400 and message in unescape(answer.text).lower()
    assert standing(fresh).drafted is None


def test_the_whole_draft_is_edited_as_a_file(fresh: ConsoleUnderTest) -> None:
    rules = 'stop_words = ["please", "how do i"]\n\n[[synonym]]\nwords = ["a", "b"]\n'
    fresh.send("/console/desk/file", {"rules": rules.replace("\n", "\r\n")})
    assert unescape(fresh.operator.get("/console/desk/file").text).count(rules) == 1
    answer = fresh.send("/console/desk/file", {"rules": "[[synonym]]\nword = 'a'\n"})
    assert answer.status_code == 400 and "line 1, synonym 1: unknown key 'word'" in unescape(answer.text)
    assert len(standing(fresh).changes) == 3


def test_older_versions_are_kept_and_published_again(fresh: ConsoleUnderTest) -> None:
    for words in ("a, b", "c, d"):
        fresh.send("/console/desk/add", {"kind": "synonym", "words": words})
        fresh.send("/console/desk/publish")
    page = text(fresh.operator.get("/console/desk/history"))
    assert "Version 2" in page and "Version 1" in page and page.index("synonym c = d") < page.index("synonym a = b")
    fresh.send("/console/desk/again", {"version": "1"})
    now = standing(fresh)
    assert now.number == 3 and [one.label for one in now.published.synonym] == ["synonym a = b"]
    fresh.send("/console/desk/undo", {"version": "3"})
    assert standing(fresh).number == 2
    fresh.send("/console/desk/undo", {"version": "2"})
    fresh.send("/console/desk/undo", {"version": "1"})
    assert standing(fresh).number == 0
    assert fresh.send("/console/desk/undo").status_code == 400
    assert fresh.send("/console/desk/again", {"version": "99"}).status_code == 400


def test_nobody_publishes_what_they_have_not_seen(fresh: ConsoleUnderTest) -> None:
    fresh.send("/console/desk/add", SYNONYM)
    old = seen(fresh)
    fresh.send("/console/desk/add", {"kind": "synonym", "words": "x, y"})
    answer = fresh.send("/console/desk/publish", {"seen": old})
    assert answer.status_code == 400 and "Somebody changed the draft meanwhile" in answer.text
    assert standing(fresh).number == 0
    fresh.send("/console/desk/discard")
    assert not standing(fresh).changes
    assert fresh.send("/console/desk/publish").status_code == 400


def test_a_reader_sees_everything_and_changes_nothing(fresh: ConsoleUnderTest) -> None:
    fresh.send("/console/desk/add", SYNONYM)
    for place in ("", "/synonyms", "/try", "/history", "/file", "/stop-words"):
        page = fresh.reader.get(f"/console/desk{place}")
        assert page.status_code == 200 and "/console/desk/publish" not in page.text
    for place, fields in {"add": SYNONYM, "publish": {}, "undo": {}, "discard": {}, "file": {"rules": ""}}.items():
        assert fresh.send(f"/console/desk/{place}", fields, client=fresh.reader).status_code == 403
        assert fresh.anybody.post(f"/console/desk/{place}", data=fields, follow_redirects=False).status_code == 303
    for place in ("standing.json", "try.json", "history.json"):
        assert fresh.anybody.get(f"/console/desk/{place}", follow_redirects=False).status_code in (303, 401)
    assert standing(fresh).number == 0 and len(standing(fresh).changes) == 1


def test_what_readers_typed_and_operators_wrote_is_text(fresh: ConsoleUnderTest) -> None:
    fresh.send("/console/desk/add", {"kind": "synonym", "words": f"arachnid, {HOSTILE.replace(';', '')}"})
    for place in ("", "/synonyms", "/try", "/file", f"/synonyms?words={HOSTILE}&about={HOSTILE}"):
        page = fresh.operator.get(f"/console/desk{place}").text
        assert "<script>window" not in page
    fresh.send("/console/desk/publish")
    assert "<script>window" not in fresh.operator.get("/console/desk/history").text


def test_a_query_in_vain_leads_to_a_seed(fresh: ConsoleUnderTest) -> None:
    assert 'href="/console/seeds?about=arachnid"' in fresh.operator.get("/console/desk").text
    assert "arachnid in vain" in text(fresh.operator.get("/console/seeds?about=arachnid"))


def test_judged_queries_are_measured_before_and_after(crawled: Path) -> None:
    with small_console(crawled, FakeClock(NOW)) as console:
        judged = {"queries": [{"id": 1, "text": "arachnid", "relevant": [start_page(console)]},
                              {"id": 2, "text": "meadow", "relevant": [start_page(console)]}]}  # fmt: skip
        (console.data / "judged.json").write_text(json.dumps(judged))
        console.send("/console/desk/add", SYNONYM)
        assert "None: name a file" in text(console.operator.get("/console/desk/try"))
        settings = ConsoleSettings(judged="judged.json")
        with serving_console(console.data, FakeClock(NOW), settings) as address, client_of(address) as client:
            assert log_in(client, "operator").status_code == 303
            trial = client.get("/console/desk/try.json").json()
            assert trial["judged"]["before"] == 0.5 and trial["judged"]["after"] == 1.0
            assert [one["query"] for one in trial["judged"]["changed"]] == ["arachnid"]
            assert "+0.5000" in text(client.get("/console/desk/try"))


def test_programs_read_what_pages_show(fresh: ConsoleUnderTest) -> None:
    fresh.send("/console/desk/add", SYNONYM)
    now = fresh.operator.get("/console/desk/standing.json").json()
    assert now["version"] == 0 and now["changes"] == ["+ synonym arachnid = orb weaver"]
    assert now["draft"]["synonym"][0]["words"] == ["arachnid", "orb weaver"]
    assert fresh.operator.get("/console/desk/try.json").json()["changed"][0]["query"] == "arachnid"
    fresh.send("/console/desk/publish")
    assert [one["number"] for one in fresh.operator.get("/console/desk/history.json").json()] == [1]
    assert 'words = ["arachnid", "orb weaver"]' in fresh.operator.get("/console/desk/standing.json").json()["toml"]
