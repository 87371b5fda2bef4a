"""Filters that a crawl makes itself, from the command line: useless pages leave the queue, useful ones are all found.

One crawl goes through its stages: some pages, rules, more pages, a filter on trial, live, to the end, off, to the end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, run
from inside import fails, gossamer
from table_kit import problems
from time_kit import DAY, crawl_later, gossamer_later

from gossamer.testing import FakeWeb, Site

ITEMS, LISTED, TAGS, CHAIN = 30, 22, 100, 8
RULES = '[[rule]]\ndomain = "shop.test"\nname = "item"\nurls = "/item/{id}"\n'
SITE = "shop.test"


def prose(name: str) -> str:
    return " ".join(f"The page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def describe(site: Site) -> None:
    """A start page with most items; items with tags, which lead to items; a long archive with the other items."""
    site.page("/", prose("shop"), links=["/archive/1", *(f"/item/{n}" for n in range(LISTED))])
    for n in range(ITEMS):
        tags = [f"/tag/word{(n * 5 + k) % TAGS}" for k in range(5)]
        site.page(f"/item/{n}", prose(f"item {n}"), links=["/", *tags])
    for n in range(TAGS):
        site.page(f"/tag/word{n}", prose(f"tag {n}"), links=[f"/item/{n % LISTED}", f"/tag/word{(n + 7) % TAGS}"])
    for n in range(1, CHAIN + 1):
        further = [f"/archive/{n + 1}"] if n < CHAIN else []
        items = [f"/item/{LISTED + k}" for k in range(ITEMS - LISTED) if k % 4 == n % 4] if n > CHAIN - 4 else []
        site.page(f"/archive/{n}", prose(f"archive {n}"), links=[*further, *items])


class Stages(NamedTuple):
    """What was seen at each stage."""

    data: Path
    url: str
    imported: dict[str, Any]
    known: list[str]
    """URLs that were known when the rules came."""
    proposed: dict[str, Any]
    on_trial: list[dict[str, Any]]
    waiting: int
    """URLs in the queue before the filter went live."""
    early: dict[str, Any]
    """A second look before the trial is over."""
    live: dict[str, Any]
    listed: list[dict[str, Any]]
    due: int
    """URLs in the queue after that."""
    refused: dict[str, Any]
    """`explain` of a tag that left the queue."""
    counts: list[dict[str, Any]]
    """Recounts at the ends of the stages."""
    problems: list[str]
    """What did not fit together at the ends of the stages."""
    kept: list[str]
    """Paths of the documents when the crawl ended with the filter."""
    off: dict[str, Any]
    due_again: int
    after_off: dict[str, Any]
    states: dict[str, str]
    everything: list[str]
    """Paths of the documents when it ended without."""
    statistics: dict[str, dict[str, Any]]
    table: list[dict[str, Any]]


AHEAD = 2 * DAY


def asked(*arguments: str, data: Path, ahead: float = 0.0) -> Any:
    done = gossamer_later(*arguments, "--json", data=data, seconds=ahead)
    assert done.code == 0, done
    return done.json


def documents(data: Path, url: str) -> list[str]:
    rows = [json.loads(line) for line in gossamer("export", "pages", data=data).out.splitlines()]
    return sorted(row["url"].removeprefix(url.rstrip("/")) for row in rows)


def table_of(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gossamer("export", "urls", data=data).out.splitlines()]


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    data = tmp_path_factory.mktemp("filters") / "data"
    web = FakeWeb("127.0.70")
    site = web.site(SITE)
    describe(site)
    url = site.url("/")
    # Nothing but the filters is to change the order of things here.
    sections: dict[str, dict[str, Any]] = {
        "filters": {"probe": 0, "every": 100_000.0},
        "crawl": {"workers": 1},
        "revisit": {"policy": "none"},
        "feeds": {"poll": False},
    }
    seen: dict[str, Any] = {"counts": [], "problems": []}

    def recount() -> None:
        seen["counts"].append(asked("stats", url, "--recount", data=data))
        seen["problems"] += problems(data, unfinished=True)

    with web:
        crawl(web, data, [url], "--pages", "5", **sections)
        seen["known"] = [row["url"] for row in table_of(data)]
        imported = gossamer("rules", "import", "-", "--json", data=data, stdin=RULES)
        seen["imported"] = imported.json
        recount()
        assert run("crawl", "--quiet", "--pages", "60", data=data).returncode == 0
        recount()
        seen["proposed"] = asked("filters", "run", data=data)
        seen["on_trial"] = asked("filters", data=data)
        seen["waiting"] = asked("status", data=data)["urls_due"]
        seen["early"] = asked("filters", "run", data=data)
        seen["live"] = asked("filters", "run", data=data, ahead=AHEAD)
        seen["listed"] = asked("filters", data=data)
        seen["due"] = asked("status", data=data)["urls_due"]
        tag = next(row["url"] for row in table_of(data) if row["state"] == "refused" and "/tag/" in row["url"])
        seen["refused"] = asked("explain", tag, data=data)
        recount()
        crawl_later(data, AHEAD)
        seen["kept"] = documents(data, url)
        seen["statistics"] = {line["prefix"]: line for line in asked("stats", url, "--min", "1", data=data)}
        seen["table"] = table_of(data)
        recount()
        seen["off"] = asked("filters", "off", url, "/tag/", data=data, ahead=AHEAD)
        seen["due_again"] = asked("status", data=data)["urls_due"]
        recount()
        crawl_later(data, AHEAD)
        seen["everything"] = documents(data, url)
        seen["after_off"] = asked("filters", "run", data=data, ahead=AHEAD)
        seen["states"] = {row["pattern"]: row["state"] for row in asked("filters", data=data)}
        recount()
    yield Stages(data, url, **seen)


def test_rules_that_come_later_are_held_against_what_is_known(stages: Stages) -> None:
    items = [url for url in stages.known if "/item/" in url]
    assert items
    assert (stages.imported["known"], stages.imported["fit"]) == (len(stages.known), len(items))


def test_what_is_useless_is_proposed_with_its_evidence(stages: Stages) -> None:
    assert [row["pattern"] for row in stages.proposed["proposed"]] == ["/tag/"]
    (row,) = stages.on_trial
    assert (row["state"], row["refused"]) == ("shadow", 0)
    evidence = row["evidence"]
    assert evidence["counts"]["known"] > LISTED and evidence["counts"].get("fit", 0) == 0
    assert evidence["reachable"] == LISTED and evidence["links"] > 0


def test_a_filter_on_trial_refuses_nothing(stages: Stages) -> None:
    assert stages.early["activated"] == [] and stages.early["left"] == 0
    assert stages.waiting > 20


def test_when_the_trial_is_over_the_useless_pages_leave_the_queue(stages: Stages) -> None:
    assert [row["pattern"] for row in stages.live["activated"]] == ["/tag/"]
    (row,) = stages.listed
    assert (row["state"], row["refused"]) == ("active", stages.live["left"])
    assert stages.due == stages.waiting - stages.live["left"] <= CHAIN


def test_every_useful_page_is_found_all_the_same(stages: Stages) -> None:
    items = {f"/item/{n}" for n in range(ITEMS)}
    chain = {f"/archive/{n}" for n in range(1, CHAIN + 1)}
    assert items | chain | {"/"} <= set(stages.kept)
    tags = [path for path in stages.kept if path.startswith("/tag/")]
    assert 20 <= len(tags) < TAGS


def test_explain_of_a_refused_page_names_the_filter_and_its_evidence(stages: Stages) -> None:
    told = stages.refused
    assert told["state"] == "refused"
    assert "automatic.prefix: an automatic filter refuses the prefix /tag/: " in told["reason"]
    assert "none useful" in told["reason"]
    (rule,) = (one for one in told["factors"]["rules"] if one["rule"].startswith("automatic"))
    assert not rule["allowed"] and "/tag/" in rule["reason"]


def test_a_filter_that_is_switched_off_gives_everything_back(stages: Stages) -> None:
    assert stages.off["urls"] == stages.due_again > 20
    assert set(stages.everything) == {
        "/",
        *(f"/item/{n}" for n in range(ITEMS)),
        *(f"/tag/word{n}" for n in range(TAGS)),
        *(f"/archive/{n}" for n in range(1, CHAIN + 1)),
    }


def test_a_filter_that_was_switched_off_is_not_made_again(stages: Stages) -> None:
    assert stages.after_off["proposed"] == stages.after_off["activated"] == []
    assert stages.states == {"/tag/": "off"}


def test_the_statistics_are_right_after_each_stage(stages: Stages) -> None:
    assert len(stages.counts) == 6
    for counted in stages.counts:
        assert counted["leaves"] >= 1
        assert counted["wrong"] == []


def test_the_tables_fit_together_after_each_stage(stages: Stages) -> None:
    assert stages.problems == []
    assert problems(stages.data) == []


def test_the_statistics_equal_what_counting_gives(stages: Stages) -> None:
    known: Counter[str] = Counter()
    fetched: Counter[str] = Counter()
    for row in stages.table:
        if row["state"] == "refused" and row["outcome"] is None:
            continue
        path = row["url"].removeprefix(stages.url)
        for prefix in {"/", f"/{path.partition('/')[0]}/" if "/" in path else "/"}:
            known[prefix] += 1
            fetched[prefix] += row["outcome"] is not None
    assert {prefix: line["known"] for prefix, line in stages.statistics.items()} == known
    assert {prefix: line["fetched"] for prefix, line in stages.statistics.items()} == fetched
    assert stages.statistics["/item/"]["fit"] == stages.statistics["/"]["fit"] == ITEMS
    assert stages.statistics["/"]["documents"] == len(stages.kept)
    assert all(line["unfetched"] == line["known"] - line["fetched"] for line in stages.statistics.values())


def test_people_see_the_same(stages: Stages) -> None:
    assert "off       shop.test" in gossamer("filters", data=stages.data).out
    shown = gossamer("stats", stages.url, data=stages.data).out
    assert "/tag/" in shown and "unfetched" in shown
    counted = gossamer("stats", stages.url, "--recount", data=stages.data).out
    assert "0 differ from the stored count" in counted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("filters", "off", "shop.test", "/nothing/"), "has no filter /nothing/"),
        (("stats", "elsewhere.test"), "there are no URLs of elsewhere.test"),
        (("stats", "--recount"), "--recount counts one site"),
    ],
)
def test_what_cannot_be_done_is_one_clear_sentence(stages: Stages, arguments: tuple[str, ...], words: str) -> None:
    fails(gossamer(*arguments, data=stages.data), 2, words)


def test_what_is_removed_leaves_the_statistics(stages: Stages) -> None:
    """After all others, because it changes the crawl."""
    done = gossamer("remove", f"{stages.url}tag/word1", data=stages.data)
    assert (done.code, done.out.partition(".")[0]) == (0, "Removed 11 URLs")
    assert problems(stages.data) == []
    lines = {line["prefix"]: line for line in asked("stats", stages.url, "--min", "1", data=stages.data)}
    assert (lines["/tag/"]["known"], lines["/tag/"]["documents"]) == (TAGS - 11, TAGS - 11)


def test_refused_urls_that_the_operator_queues_count_as_known(tmp_path: Path) -> None:
    web = FakeWeb("127.0.72")
    site = web.site("closed.test")
    closed = [f"/closed/{n}" for n in range(3)]
    site.page("/", prose("start"), links=["/open", *closed])
    for path in ("/open", *closed):
        site.page(path, prose(path))
    deny = {"scope": {"filters": [{"kind": "prefix", "action": "deny", "pattern": "/closed/"}]}}
    with web:
        crawl(web, tmp_path, [site.url("/")], **deny)
        assert gossamer("recrawl", site.url("/closed/"), data=tmp_path).out.split()[0] == "3"
        assert problems(tmp_path, unfinished=True) == []
        assert run("crawl", "--quiet", data=tmp_path).returncode == 0
    assert problems(tmp_path) == []
    assert not [request for request in web.log() if request.path.startswith("/closed/")]
    lines = {line["prefix"]: line for line in asked("stats", site.url("/"), "--min", "1", data=tmp_path)}
    assert (lines["/closed/"]["known"], lines["/closed/"]["unfetched"]) == (3, 0)
