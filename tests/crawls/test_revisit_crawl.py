"""A crawl that comes back: what is due is asked for again, cheaply, and a page's changes teach when to come next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, run, write_settings
from inside import fails, gossamer
from table_kit import problems
from time_kit import DAY, crawl_later, gossamer_later

from gossamer.testing import Ask, FakeWeb, Reply, Site

MODIFIED = "Tue, 04 Feb 2025 10:00:00 GMT"
WEEKS = 30 * DAY


def prose(name: str) -> str:
    return " ".join(f"The page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def html(text: str, *links: str, frame: str = "The usual menu") -> str:
    anchors = "".join(f'<p><a href="{link}">on to {link}</a>' for link in links)
    return (
        f"<html><head><title>{text[:20]}</title></head><body><nav>{frame}</nav><main><article><p>{text}</article></main>"
        f"{anchors}<footer>{frame}, at the end</footer></body></html>"
    )


class Server:
    """Answers with what `pages` says, and remembers what it was asked."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.asks: list[Ask] = []
        self.pages = {path: Reply(html(prose(path))) for path in ("/steady", "/changing", "/framed", "/leaving")}
        self.pages["/"] = Reply(html(prose("start"), "/steady", "/changing", "/framed", "/leaving", "/dated", "/bare"))
        self.pages["/dated"] = Reply(html(prose("dated")), 200, [("Last-Modified", MODIFIED)])
        self.pages["/bare"] = Reply(html(prose("bare")))
        for path in ("/dated", "/bare"):
            self.pages[path].etag = ""
        site.handler("/", self)

    def __call__(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if ask.headers.get("if-modified-since") == MODIFIED:
            return Reply(b"", 304)
        return self.pages.get(ask.target, Reply("", 404))

    def change(self) -> None:
        self.pages["/changing"] = Reply(html(prose("something quite different")))
        self.pages["/framed"] = Reply(html(prose("/framed"), frame="Another menu, with other words in it"))
        del self.pages["/leaving"]


class Again(NamedTuple):
    """A site that was crawled, looked at too early, changed, and crawled again when all was due."""

    data: Path
    server: Server
    first: list[Ask]
    early: list[Ask]
    second: list[Ask]
    before: dict[str, dict[str, Any]]
    """What `explain` told after the first crawl."""

    def asked(self, path: str) -> Ask:
        (found,) = (ask for ask in self.second if ask.target == path)
        return found

    def explain(self, path: str) -> dict[str, Any]:
        return explained(self.data, self.server.site.url(path), WEEKS)

    def history(self, path: str) -> list[dict[str, Any]]:
        return list(gossamer("history", self.server.site.url(path), "--json", data=self.data).json)

    def period(self, path: str) -> tuple[float, float]:
        """Seconds between two changes as believed after the first visit and after the second."""
        return factor(self.before[path], "period"), factor(self.explain(path), "period")


PATHS = ("/", "/steady", "/changing", "/framed", "/leaving", "/dated", "/bare")


def explained(data: Path, url: str, ahead: float = 0.0) -> dict[str, Any]:
    return dict(gossamer_later("explain", url, "--json", data=data, seconds=ahead).json["factors"])


def factor(told: dict[str, Any], name: str) -> float:
    return float(next(one["value"] for one in told["revisit"] if one["name"] == name))


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Again]:
    data = tmp_path_factory.mktemp("revisit") / "data"
    web = FakeWeb("127.0.67")
    server = Server(web.site("again.test"))
    url = server.site.url
    with web:
        crawl(web, data, [url("/")])
        first = list(server.asks)
        assert run("crawl", "--quiet", data=data).returncode == 0
        early = server.asks[len(first) :]
        before = {path: explained(data, url(path)) for path in PATHS}
        server.change()
        seen = len(server.asks)
        crawl_later(data, WEEKS)
        yield Again(data, server, first, early, server.asks[seen:], before)


def test_the_tables_fit_together(again: Again) -> None:
    assert problems(again.data) == []


def test_before_anything_is_due_nothing_is_asked(again: Again) -> None:
    assert again.early == []


def test_every_page_is_visited_again_once_when_it_is_due(again: Again) -> None:
    asked = [ask.target for ask in again.second if ask.target != "/robots.txt"]
    assert sorted(asked) == sorted(PATHS)


def test_the_second_visit_is_conditional(again: Again) -> None:
    assert not [ask for ask in again.first if {"if-none-match", "if-modified-since"} & ask.headers.keys()]
    assert again.asked("/steady").headers["if-none-match"] == again.server.pages["/steady"].etag
    assert again.asked("/dated").headers["if-modified-since"] == MODIFIED
    assert not {"if-none-match", "if-modified-since"} & again.asked("/bare").headers.keys()


def test_an_unchanged_page_stays_what_it_was(again: Again) -> None:
    for path in ("/steady", "/dated"):
        assert [visit["outcome"] for visit in again.history(path)] == ["not_modified", "document"]
    pages = {json.loads(line)["url"] for line in gossamer("export", "pages", data=again.data).out.splitlines()}
    assert {again.server.site.url(path) for path in PATHS if path != "/leaving"} == pages


def test_a_changed_text_is_a_new_version(again: Again) -> None:
    newest, oldest = again.history("/changing")
    assert "something quite different" in newest["text"] and "/changing" in oldest["text"]
    assert newest["content_hash"] != oldest["content_hash"]


def test_a_page_that_is_gone_is_no_document_any_more(again: Again) -> None:
    assert [visit["outcome"] for visit in again.history("/leaving")] == ["gone", "document"]
    assert gossamer_later("status", "--json", data=again.data, seconds=WEEKS).json["freshness"]["pages"] == 6


def test_a_page_that_did_not_change_is_believed_to_change_more_rarely(again: Again) -> None:
    for path in ("/steady", "/dated", "/bare"):
        before, after = again.period(path)
        assert after > before


def test_a_page_of_which_only_the_frame_changed_counts_as_unchanged(again: Again) -> None:
    before, after = again.period("/framed")
    assert after > before
    assert again.asked("/framed").headers["if-none-match"]
    assert after == pytest.approx(again.period("/steady")[1], rel=0.01)


def test_a_page_whose_text_changed_is_believed_to_change_more_often(again: Again) -> None:
    before, after = again.period("/changing")
    assert after < before < again.period("/steady")[1]


def test_what_changes_is_visited_again_sooner(again: Again) -> None:
    due = {path: again.explain(path)["record"]["due_at"] for path in ("/changing", "/steady", "/framed")}
    assert due["/changing"] < due["/steady"]
    assert due["/changing"] < due["/framed"]


def test_explain_tells_every_factor_of_priority_and_revisit(again: Again) -> None:
    told = again.explain("/steady")
    priority = {one["name"]: one["value"] for one in told["priority"]}
    assert priority.keys() == {"fit", "breadth", "score"}
    assert priority["score"] == pytest.approx(priority["fit"] * priority["breadth"])
    revisit = {one["name"]: one["value"] for one in told["revisit"]}
    assert revisit.keys() == {"period", "checked", "need", "age", "clicks", "interval"}
    assert 0 <= revisit["need"] < 1 and revisit["interval"] >= 3600
    assert all(one["sentence"] for one in told["priority"] + told["revisit"])
    start = again.explain("/")
    assert [one["sentence"] for one in start["priority"]] == ["a seed is fetched first"]
    assert "source" in {one["name"] for one in start["revisit"]}


def test_explain_tells_people_the_same(again: Again) -> None:
    shown = gossamer_later("explain", again.server.site.url("/steady"), data=again.data, seconds=WEEKS).out
    for piece in ("priority breadth 0.595: by its URL", "priority score", "revisit  period", "revisit  need"):
        assert piece in shown
    assert "next visit in" in shown


def test_status_tells_how_fresh_the_collection_is(again: Again) -> None:
    now, then = (
        gossamer_later("status", "--json", data=again.data, seconds=seconds).json["freshness"]
        for seconds in (WEEKS, 4 * WEEKS)
    )
    assert now["pages"] == then["pages"] == 6
    assert 0 < then["fresh"] < now["fresh"] <= 1
    assert now["age"] < then["age"]
    assert "% of the pages are probably up to date" in gossamer("status", data=again.data).out


def test_without_a_policy_only_sources_are_asked_again(tmp_path: Path) -> None:
    web = FakeWeb("127.0.68")
    server = Server(web.site("never.test"))
    with web:
        crawl(web, tmp_path, [server.site.url("/")], revisit={"policy": "none"})
        seen = len(server.asks)
        crawl_later(tmp_path, 200 * DAY)
        assert {ask.target for ask in server.asks[seen:]} <= {"/", "/robots.txt"}
        assert "interval" not in {one["name"] for one in explained(tmp_path, server.site.url("/steady"))["revisit"]}


@pytest.mark.parametrize(
    ("section", "values", "words"),
    [
        ("revisit", {"every": 0}, ["revisit.every is 0", "at least 1"]),
        ("revisit", {"every": float("nan")}, ["revisit.every is nan"]),
        ("revisit", {"floor": 100.0, "ceiling": 10.0}, ["revisit.floor is greater than revisit.ceiling"]),
        ("revisit", {"policy": "often"}, ["'often'", "revisit.policy"]),
        ("revisit", {"estimator": "guess"}, ["'guess'", "revisit.estimator"]),
        ("revisit", {"share": -1.0}, ["revisit.share is -1.0"]),
        ("feeds", {"floor": 100.0, "ceiling": 10.0}, ["feeds.floor is greater than feeds.ceiling"]),
        ("feeds", {"per_day": 0.0}, ["feeds.per_day is 0.0"]),
        ("crawl", {"strategy": "best"}, ["best", "breadth"]),
        ("crawl", {"strategy": "fit *"}, ["'fit *'", "nothing beside it"]),
        ("crawl", {"strategy": ""}, ["strategy is empty"]),
        ("crawl", {"strategy": "fit * fit"}, ["twice"]),
        ("crawl", {"strategy": "opic * backlinks"}, ["opic", "backlinks"]),
        ("filters", {"mode": "maybe"}, ["'maybe'", "filters.mode"]),
        ("priority", {"unranked": "guess"}, ["'guess'", "priority.unranked"]),
        ("push", {"callback": "search.example.org"}, ["push.callback"]),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_in_one_sentence(
    tmp_path: Path, section: str, values: dict[str, Any], words: list[str]
) -> None:
    write_settings(tmp_path, {section: values})
    fails(gossamer("crawl", "http://127.0.0.1:1/", data=tmp_path), 2, *words)
