"""What is known of a site: the same whatever order its pages came in, on both databases, and never a page's change."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from frontier_kit import LEASE, NEAR, SQL_MAKERS, Crew, Hand, dump_tables, page, prints

from gossamer.database.schema import QUEUED
from gossamer.frontier.contract import Budgets, Verdict
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.knowledge import FIRST_KEY, SETTLING, facts_of, learn_the_rest, learning_of, sites_to_judge_again
from gossamer.frontier.rereading import Again, Stale, record_again, stale_pages, visit_again
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.removing import remove
from gossamer.frontier.views.known_site import site_knowledge
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.plugins import STRATEGIES
from gossamer.priority.product import build
from gossamer.priority.strategy import Context
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.site.sketch import SAMPLE, Seen, marks_of, sketch_of
from gossamer.site.templates import SiteDocuments

SITE = "one.org"
ARTICLE = Seen("https://one.org/", language="en", page_type="article")
MENU = ("Home", "News", "About us")


@pytest.fixture(params=SQL_MAKERS, ids=["sqlite", "postgres"])
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Crew:
    return Crew(request.param(tmp_path, Budgets(lease=LEASE, per_site=10_000)))


def sql(crew: Crew) -> SqlFrontier:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier


def url(number: int) -> str:
    return f"https://{SITE}/{number}"


def shown(number: int, lines: Sequence[str] = MENU) -> bytes:
    """What a page with these lines beside its own shows of its site."""
    texts = [f"own {number}", *lines]
    looks = np.array([1, *[2] * len(lines)], np.uint64)
    return msgspec.msgpack.encode(sketch_of(marks_of(texts, looks), [f"title{number}", "thesite"], ARTICLE))


def started(crew: Crew, pages: int) -> Hand:
    crew.add(*(page(url(number)) for number in range(pages)))
    hand = crew.worker("hand")
    hand.take(urls=10_000)
    return hand


def visited(hand: Hand, numbers: Sequence[int], lines: Sequence[str] = MENU, **fields: Any) -> list[Verdict]:
    tasks = hand.tasks(*map(url, numbers))
    visits = [
        hand.visit(task, sketch=shown(number, lines), content_hash=f"hash{number}", row=row, **fields)
        for row, (task, number) in enumerate(zip(tasks, numbers, strict=True))
    ]
    return hand.report(*visits, segment=f"s{numbers[0]}")


def sampled(crew: Crew) -> list[tuple[int, bytes]]:
    rows = sql(crew).db.execute("SELECT key, sketch FROM site_pages ORDER BY key")
    return [(key, bytes(sketch)) for key, sketch in rows]


def test_a_site_is_known_from_eight_documents_on(crew: Crew) -> None:
    hand = started(crew, 8)
    visited(hand, range(7))
    assert not facts_of(sql(crew).db, SITE) and sql(crew).learned == {}
    visited(hand, [7])
    facts = facts_of(sql(crew).db, SITE)
    assert facts.pages == 8 and facts.names == ("thesite",) and len(facts.lines) == 8 * len(MENU)
    assert sql(crew).learned[SITE].version == 1


def test_the_sample_is_the_same_whatever_order_the_pages_came_in(crew: Crew) -> None:
    pages = 3 * SAMPLE
    order = list(range(pages))
    random.Random(7).shuffle(order)
    hand = started(crew, pages)
    for start in range(0, pages, 100):
        visited(hand, order[start : start + 100])
    smallest = sorted((key64(url(number)), shown(number)) for number in range(pages))[:SAMPLE]
    assert sampled(crew) == smallest


def test_copies_and_pages_that_are_no_documents_say_nothing_about_the_site(crew: Crew) -> None:
    hand = started(crew, 4)
    tasks = hand.tasks(*map(url, range(4)))
    hand.report(
        hand.visit(tasks[0], sketch=shown(0), content_hash="t1", **prints("t1")),
        hand.visit(tasks[1], sketch=shown(1), content_hash="t1", **prints("t1")),
        hand.visit(tasks[2], sketch=shown(2), content_hash="t1b", **prints("t1b")),
        hand.visit(tasks[3], Outcome.NOINDEX, sketch=shown(3)),
    )
    assert [key for key, _ in sampled(crew)] == [key64(url(0))]


def test_little_news_makes_no_new_version(crew: Crew) -> None:
    """Each version makes the crawl judge pages again."""
    hand = started(crew, 40)
    visited(hand, range(16))
    version = learning_of(sql(crew).db, key64(SITE)).version
    visited(hand, range(16, 40))
    learning = learning_of(sql(crew).db, key64(SITE))
    assert (learning.version, learning.pages) == (version, 40)


def test_a_site_that_is_redesigned_is_learned_anew(crew: Crew) -> None:
    hand = started(crew, 80)
    visited(hand, range(16))
    before = learning_of(sql(crew).db, key64(SITE)).version
    visited(hand, range(16, 80), lines=("Start", "Shop", "Cookies"))
    assert learning_of(sql(crew).db, key64(SITE)).version > before


def test_the_end_of_a_crawl_learns_from_the_last_pages_too(crew: Crew) -> None:
    hand = started(crew, 15)
    visited(hand, range(8))
    visited(hand, range(8, 15), lines=(*MENU, "Jobs"))
    assert len(facts_of(sql(crew).db, SITE).lines) == 8 * len(MENU)
    learn_the_rest(sql(crew).db, crew.now)
    assert len(facts_of(sql(crew).db, SITE).lines) == 8 * (len(MENU) + 1)
    assert sites_to_judge_again(sql(crew).db) == [key64(SITE)]


def test_a_page_that_is_taken_down_leaves_the_sample_too(crew: Crew) -> None:
    hand = started(crew, 3)
    visited(hand, range(3))
    remove(sql(crew).db, url(1), "its author asked for it", crew.now)
    assert {key for key, _ in sampled(crew)} == {key64(url(0)), key64(url(2))}


def test_what_is_known_at_the_end_does_not_depend_on_the_order_of_pages(crew: Crew, tmp_path: Path) -> None:
    """Each order makes other versions on its way."""
    pages = 90
    lines = [
        (*MENU, *(["Jobs"] if number % 6 == 0 else []), *(["Press"] if number > 60 else [])) for number in range(pages)
    ]
    known = []
    for run, order in enumerate((range(pages), range(pages - 1, -1, -1))):
        site = f"site{run}.org"
        crew.add(*(page(f"https://{site}/{number}") for number in range(pages)))
        hand = crew.worker(f"hand{run}")
        hand.take(urls=10_000)
        for number in order:
            [task] = hand.tasks(f"https://{site}/{number}")
            fields = {"sketch": shown(number, lines[number]), "content_hash": f"{run}-{number}"}
            hand.report(hand.visit(task, **fields), segment=f"s{run}-{number}")
        learn_the_rest(sql(crew).db, crew.now)
        known.append(facts_of(sql(crew).db, site))
    assert known[0] == known[1] and len(known[0].lines) == 8 * (len(MENU) + 2)


def test_a_worker_hears_of_what_others_learned(crew: Crew) -> None:
    hand = started(crew, 8)
    visited(hand, range(8))
    news = sql(crew).facts_since({SITE: 0, "two.org": 0})
    assert news == {SITE: sql(crew).learned[SITE]}
    assert sql(crew).facts_since({SITE: 1}) == {}


# -- what is fetched first -----------------------------------------------------------------------


def seen_at(path: str, page_type: str) -> bytes:
    looks = np.array([1, 2, 2, 2], np.uint64)
    seen = Seen(f"https://{SITE}{path}", f"Title of {path}", "en", page_type, chars=2_000)
    return msgspec.msgpack.encode(sketch_of(marks_of([f"own {path}", *MENU], looks), ["thesite"], seen))


@pytest.fixture
def ordered(crew: Crew) -> Crew:
    """Fetches documents first, as the default strategy does."""
    documents = SiteDocuments()
    strategy = build("fit * breadth", lambda name: STRATEGIES.get(name)(Context(fits=documents.fits)))
    guidance = Guidance(
        strategy, revisit=RevisitConfig(policy="none"), feeds=FeedConfig(poll=False), documents=documents
    )
    sql(crew).guide(guidance)
    return crew


def test_what_looks_like_a_document_of_its_site_is_fetched_first(ordered: Crew) -> None:
    stories, tags = [f"/story/{number}" for number in range(1000, 1030)], [f"/tag/t{number}" for number in range(9)]
    waiting = ["/about", "/tag/owls", "/story/4711"]
    ordered.add(*(page(f"https://{SITE}{path}") for path in (*stories, *tags)))
    hand = ordered.worker("hand")
    hand.take(urls=10_000)
    ordered.add(*(page(f"https://{SITE}{path}") for path in waiting))
    visits = [
        hand.visit(task, sketch=seen_at(path, kind), content_hash=path, row=row)
        for row, (path, kind) in enumerate(
            [*((one, "article") for one in stories), *((one, "listing") for one in tags)]
        )
        for task in hand.tasks(f"https://{SITE}{path}")
    ]
    hand.report(*visits, segment="s1")
    frontier = sql(ordered)
    assert frontier.prefer(frontier.learned) == [SITE]
    after = frontier.reorder(SITE, None, ordered.now)
    assert after is not None and frontier.reorder(SITE, after, ordered.now) is None
    ordered.add(page(f"https://{SITE}/imprint"), page(f"https://{SITE}/story/4712"))
    paths = [task.url.removeprefix(f"https://{SITE}") for task in hand.refill(SITE)]
    assert paths == ["/story/4711", "/story/4712", "/about", "/tag/owls", "/imprint"]
    assert frontier.prefer({SITE: frontier.learned[SITE]}) == []


def test_urls_that_were_under_way_while_the_order_changed_are_fetched_once(ordered: Crew) -> None:
    paths = [f"/story/{number}" for number in range(1000, 1040)]
    ordered.add(*(page(f"https://{SITE}{path}") for path in (*paths, "/about")))
    hand = ordered.worker("hand")
    hand.take(urls=10_000)
    done = hand.tasks(*(f"https://{SITE}{path}" for path in paths))
    hand.report(
        *(
            hand.visit(task, sketch=seen_at(path, "article"), content_hash=path, row=row)
            for row, (path, task) in enumerate(zip(paths, done, strict=True))
        ),
        segment="s1",
    )
    [under_way] = hand.tasks(f"https://{SITE}/about")
    frontier = sql(ordered)
    frontier.prefer(frontier.learned)
    frontier.reorder(SITE, None, ordered.now)
    assert hand.refill(SITE, holding=[under_way.key]) == []
    hand.report(hand.visit(under_way, content_hash="about"), segment="s2")
    assert hand.refill(SITE) == []


# -- judging again ------------------------------------------------------------------------------


def known_site(crew: Crew) -> tuple[Hand, list[Stale]]:
    """Eight documents, read before their site was known."""
    hand = started(crew, 8)
    visited(hand, range(8))
    learning = learning_of(sql(crew).db, key64(SITE))
    assert learning.reread == FIRST_KEY
    return hand, stale_pages(sql(crew).db, key64(SITE), learning.version, FIRST_KEY, 100)


def judged_again(crew: Crew, stale: Sequence[Stale], texts: dict[str, str], segment: str = "again") -> list[Verdict]:
    """Read pages again: those in `texts` have another text now."""
    written: list[Verdict] = []
    changed = []
    for one in stale:
        if one.task.url in texts:
            visit = visit_again(one, SITE)
            visit.content_hash = texts[one.task.url]
            changed.append((one, visit))
    again = Again(SITE, 1, list(stale), changed, segment, "reread")
    record_again(sql(crew).db, NEAR, again, crew.now, lambda judged: written.extend(verdict for _, verdict in judged))
    return written


def rows(crew: Crew) -> dict[str, tuple[Any, ...]]:
    found = sql(crew).db.execute("SELECT url, outcome, content_hash, segment, segment_row, site_version FROM urls")
    return {row[0]: tuple(row[1:]) for row in found}


def plans(crew: Crew) -> dict[str, list[tuple[Any, ...]]]:
    tables = dump_tables(sql(crew).db)
    columns = "state, due_at, checked_at, change_a, change_b, bucket, fetched_at, level, part"
    kept = {name: tables[name] for name in ("revisits", "freshness", "change_classes", "queue", "levels", "schedule")}
    return {**kept, "urls": sorted(sql(crew).db.execute(f"SELECT key, {columns} FROM urls"))}


def test_pages_judged_again_have_their_new_text_and_their_old_plan(crew: Crew) -> None:
    _, stale = known_site(crew)
    before = plans(crew)
    assert {one.task.url for one in stale} == {url(number) for number in range(8)}
    assert [one.outcome for one in judged_again(crew, stale, {url(3): "new3"})] == [Outcome.DOCUMENT]
    assert rows(crew)[url(3)] == ("document", "new3", "again", 0, 1)
    assert rows(crew)[url(4)][:2] == ("document", "hash4") and rows(crew)[url(4)][4] == 1
    assert plans(crew) == before
    assert stale_pages(sql(crew).db, key64(SITE), 1, FIRST_KEY, 100) == []


def test_a_page_whose_new_text_another_page_has_becomes_its_duplicate(crew: Crew) -> None:
    _, stale = known_site(crew)
    verdicts = judged_again(crew, stale, {url(3): "hash5"})
    assert [(one.outcome, one.target) for one in verdicts] == [(Outcome.DUPLICATE, url(5))]
    counted = sql(crew).db.execute("SELECT SUM(documents), SUM(duplicates), SUM(visited) FROM prefixes")
    assert [tuple(map(int, row)) for row in counted] == [(7, 1, 8)]
    tally = dict(sql(crew).db.execute("SELECT outcome, urls FROM outcomes WHERE urls > 0"))
    assert tally == {"document": 7, "duplicate": 1}
    departed = sql(crew).db.execute("SELECT key FROM departures")
    assert [key for (key,) in departed] == [key64(url(3))]


def test_a_page_that_was_queued_meanwhile_is_left_to_its_visit(crew: Crew) -> None:
    _, stale = known_site(crew)
    sql(crew).db.execute("UPDATE urls SET state = ? WHERE url = ?", (QUEUED, url(3)))
    assert judged_again(crew, stale, {url(3): "new3"}) == []
    assert rows(crew)[url(3)][1] == "hash3"


def test_a_text_that_a_page_gave_up_when_judged_again_is_free(crew: Crew) -> None:
    hand, stale = known_site(crew)
    judged_again(crew, stale, {url(3): "new3"})
    crew.add(page(url(100)))
    [verdict] = hand.report(hand.visit(hand.tasks(url(100))[0], content_hash="hash3"), segment="later")
    assert verdict.outcome is Outcome.DOCUMENT


def test_judging_again_begins_anew_when_more_was_learned_meanwhile(crew: Crew) -> None:
    _, stale = known_site(crew)
    sql(crew).db.execute("UPDATE site_facts SET version = 2, reread = ?", (FIRST_KEY,))
    judged_again(crew, stale, {})
    assert learning_of(sql(crew).db, key64(SITE)).reread == FIRST_KEY
    assert len(stale_pages(sql(crew).db, key64(SITE), 2, FIRST_KEY, 100)) == 8


def test_a_running_crawl_waits_until_it_learns_nothing_more_before_it_judges_again(crew: Crew) -> None:
    """Each lesson may be the last but one; the end of a crawl waits for nothing."""
    known_site(crew)
    assert sites_to_judge_again(sql(crew).db, crew.now + SETTLING - 1) == []
    assert sites_to_judge_again(sql(crew).db, crew.now + SETTLING) == [key64(SITE)]
    assert sites_to_judge_again(sql(crew).db) == [key64(SITE)]


def test_people_are_told_what_is_known_of_a_site_and_what_will_be_judged_again(crew: Crew) -> None:
    _, stale = known_site(crew)
    known = site_knowledge(sql(crew).db, SITE)
    assert known is not None and (known.pages, known.lines, known.names, known.waiting) == (8, 3, ("thesite",), 8)
    assert known.sentence == (
        "learned from 8 pages; 3 repeated lines and 1 repeated element are left out of its pages' texts; "
        "titles share thesite; languages: en 8; types: article 8; 8 older pages will be judged again"
    )
    judged_again(crew, stale, {})
    known = site_knowledge(sql(crew).db, SITE)
    assert known is not None and known.waiting == 0
    assert site_knowledge(sql(crew).db, "two.org") is None
