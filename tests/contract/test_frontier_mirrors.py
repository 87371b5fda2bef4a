"""Mirrors are found from pages at equal paths, and what an operator says about them is kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from frontier_kit import LEASE, NEAR, Crew, Hand, make_sql, page, requeue_all

from gossamer.database.database import Database
from gossamer.dedup.mirrors import MIN_TURNED, MIRROR_RULE
from gossamer.errors import UsageError
from gossamer.frontier.contract import Budgets
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.copies.mirror_table import Mirror, load_mirrors
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import find_url
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

pytestmark = pytest.mark.usefixtures("dialect")

ONE, TWO, THREE = "https://one.org", "https://two.org", "https://three.org"


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(make_sql(tmp_path, Budgets(lease=LEASE, copies=1000)))


def db_of(crew: Crew) -> Database:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier.db


def text_fields(number: object, nearly: bool = False) -> dict[str, Any]:
    """A long text of its own for each number, or one that is nearly the same."""
    words = [f"word{number}of{place}" for place in range(120)]
    fingerprint = NEAR.fingerprint(" ".join(["another", *words[1:]] if nearly else words))
    return {
        "content_hash": f"h{number}{'b' * nearly}", "fingerprint": fingerprint, "near_keys": NEAR.keys(fingerprint),
    }  # fmt: skip


def start(crew: Crew, *origins: str, paths: Iterable[str]) -> Hand:
    paths = list(paths)
    for origin in origins:
        crew.wait(1)
        crew.add(*(page(origin + path) for path in paths))
    hand = crew.worker("hand")
    hand.take()
    return hand


def read(hand: Hand, url: str, number: object, **fields: Any) -> None:
    hand.crew.wait(1)
    hand.did(url, **{**text_fields(number), **fields})


def numbered(count: int) -> list[str]:
    return [f"/p/{number}" for number in range(count)]


def crawl_both(crew: Crew, one: str = ONE, two: str = TWO, pages: int = 24, **fields: Any) -> Hand:
    """Two sites with the same pages; the second is read after the first."""
    hand = start(crew, one, two, paths=numbered(pages))
    for origin in (one, two):
        for number, path in enumerate(numbered(pages)):
            read(hand, origin + path, number, **(fields if origin == two else {}))
    return hand


def rows(crew: Crew) -> dict[tuple[str, str], Mirror]:
    return {(row.site, row.main): row for row in mirror_table.list_mirrors(db_of(crew))}


def found(crew: Crew) -> dict[str, str]:
    return load_mirrors(db_of(crew))


def test_two_domains_with_the_same_pages_are_mirrors(crew: Crew) -> None:
    crawl_both(crew)
    assert found(crew) == {"two.org": "https://one.org"}
    row = rows(crew)["two.org", "one.org"]
    assert row.state == "found" and row.same == row.equal == row.compared == 20
    assert row.reason.startswith("20 of 20 pages")


def test_two_hosts_of_one_domain_whose_pages_are_duplicates_are_mirrors(crew: Crew) -> None:
    crawl_both(crew, "https://a.one.org", "https://b.one.org")
    assert find_url(db_of(crew), "https://b.one.org/p/3").outcome == "duplicate"
    assert found(crew) == {"b.one.org": "https://a.one.org"}


@pytest.mark.parametrize("nearly", [2, 3], ids=["every other page", "two of three pages"])
def test_nearly_equal_pages_count_where_as_many_are_equal_to_the_letter(crew: Crew, nearly: int) -> None:
    hand = start(crew, ONE, TWO, paths=numbered(48))
    for number, path in enumerate(numbered(48)):
        read(hand, ONE + path, number)
        hand.did(TWO + path, **text_fields(number, nearly=number % nearly > 0))
    assert found(crew) == ({"two.org": "https://one.org"} if nearly == 2 else {})
    row = next(iter(rows(crew).values()))
    assert row.same == (20 if nearly == 2 else 48) and row.equal == row.compared


def test_sites_read_in_turns_and_in_one_batch_are_found_as_well(crew: Crew) -> None:
    paths = numbered(24)
    hand = start(crew, ONE, TWO, paths=paths)
    for first in range(0, 24, 8):
        visits = []
        for number in range(first, first + 8):
            for origin in (ONE, TWO) if number % 2 else (TWO, ONE):
                crew.wait(1)
                [task] = hand.tasks(origin + paths[number])
                visits.append(hand.visit(task, **text_fields(number)))
        hand.report(*visits)
    assert found(crew) == {"two.org": "https://one.org"}


@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_which_pages_are_read_does_not_matter(crew: Crew, seed: int) -> None:
    paths = numbered(30)
    hand = start(crew, ONE, TWO, paths=paths)
    order = [(origin, number) for origin in (ONE, TWO) for number in range(30)]
    Random(seed).shuffle(order)
    for origin, number in order:
        read(hand, origin + paths[number], number)
    assert list(found(crew)) in (["one.org"], ["two.org"]), "one of them, and the other stands for it"


def test_the_site_that_canonical_links_name_is_main(crew: Crew) -> None:
    hand = start(crew, ONE, TWO, paths=numbered(22))
    for number, path in enumerate(numbered(22)):
        read(hand, TWO + path, number)
        hand.did(ONE + path, canonical=TWO + path, **text_fields(number))
    assert found(crew) == {"one.org": "https://two.org"}
    assert "canonical" in rows(crew)["one.org", "two.org"].reason


def test_the_site_that_is_read_over_https_is_main_and_links_lead_to_https(crew: Crew) -> None:
    crawl_both(crew, "http://one.org", TWO)
    assert found(crew) == {"one.org": "https://two.org"}


def test_a_seed_is_not_taken_over_by_a_site_that_copies_it(crew: Crew) -> None:
    assert isinstance(crew.frontier, SqlFrontier)
    crew.frontier.add_seeds([page("http://one.org/")], crew.now)
    crawl_both(crew, "http://one.org", TWO)
    assert found(crew) == {"two.org": "http://one.org"}


def test_sites_that_share_only_their_start_page_give_no_sign(crew: Crew) -> None:
    parked = [f"https://parked{number}.org" for number in range(30)]
    hand = start(crew, *parked, paths=["/"])
    for origin in parked:
        read(hand, origin + "/", "parked")
    assert db_of(crew).execute("SELECT * FROM mirror_signs") == []


def test_one_error_page_at_many_paths_is_no_evidence(crew: Crew) -> None:
    """Each answer names its path, so the texts differ a little: they are in one cluster, not equal."""
    hand = start(crew, ONE, TWO, paths=numbered(60))
    for origin in (ONE, TWO):
        for number, path in enumerate(numbered(60)):
            read(hand, origin + path, "error", content_hash=f"error at {path} of {origin}" if number else "error")
    assert found(crew) == {}
    assert max((row[0] for row in db_of(crew).execute("SELECT same FROM mirror_signs")), default=0) <= 1


def test_a_shared_part_of_different_sites_is_no_mirror_whatever_was_read_first(crew: Crew) -> None:
    """The pages that differ were all read before the first equal one."""
    manual = [f"/manual/{number}" for number in range(30)]
    hand = start(crew, ONE, TWO, paths=[*numbered(30), *manual])
    for origin in (ONE, TWO):
        for number, path in enumerate(numbered(30)):
            read(hand, origin + path, f"{origin}{number}")
    for origin in (ONE, TWO):
        for path in manual:
            read(hand, origin + path, path)
    assert found(crew) == {}
    row = rows(crew)["one.org", "two.org"]
    assert (row.state, row.same, row.compared, row.equal) == ("undecided", 30, 50, 20)


def test_pages_that_the_other_site_does_not_have_speak_against_a_mirror(crew: Crew) -> None:
    hand = start(crew, ONE, TWO, paths=numbered(40))
    for number, path in enumerate(numbered(40)):
        read(hand, ONE + path, number)
    for number, path in enumerate(numbered(40)):
        if number < 15:
            hand.did(TWO + path, Outcome.GONE)
        else:
            read(hand, TWO + path, number)
    assert found(crew) == {}


def test_what_was_not_enough_is_looked_at_again_when_there_is_twice_as_much(crew: Crew) -> None:
    hand = start(crew, ONE, TWO, paths=numbered(60))
    for number, path in enumerate(numbered(60)):
        read(hand, ONE + path, number)
    for number, path in enumerate(numbered(60)):
        if number < 3:
            hand.did(TWO + path, Outcome.GONE)
        else:
            read(hand, TWO + path, number)
        assert bool(found(crew)) == (number >= 42), number


def test_pages_visited_again_are_not_counted_again(crew: Crew) -> None:
    hand = crawl_both(crew, pages=12)
    for _ in range(3):
        requeue_all(crew.frontier, [TWO + path for path in numbered(12)], crew.now)
        for number, path in enumerate(numbered(12)):
            read(hand, TWO + path, number)
    assert db_of(crew).execute("SELECT same FROM mirror_signs") == [(12,)]
    assert found(crew) == {}


def test_a_third_copy_leads_to_the_same_main_site_in_one_step(crew: Crew) -> None:
    hand = crawl_both(crew)
    crew.add(*(page(THREE + path) for path in numbered(24)))
    hand.take()
    for number, path in enumerate(numbered(24)):
        read(hand, THREE + path, number)
    assert found(crew) == {"two.org": "https://one.org", "three.org": "https://one.org"}
    assert {row.state for row in rows(crew).values()} == {"found"}


def test_pages_of_a_mirror_that_are_under_way_when_it_is_found_count_no_more(crew: Crew) -> None:
    """Their canonical links name the main site only because links are led there."""
    hand = crawl_both(crew)
    crew.add(page(ONE + "/p/late"), page(TWO + "/p/late"))
    read(hand, ONE + "/p/late", "late")
    read(hand, TWO + "/p/late", "late", canonical=ONE + "/p/late")
    assert db_of(crew).execute("SELECT same, named, other_named FROM mirror_signs") == [(20, 0, 0)]


def test_a_batch_without_copies_asks_the_database_nothing(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    from gossamer.frontier.copies.mirrors import find_mirrors

    hand = start(crew, ONE, paths=numbered(3))
    tasks = hand.tasks(*(ONE + path for path in numbered(3)))
    visits = [hand.visit(task, **text_fields(number)) for number, task in enumerate(tasks)]
    verdicts = hand.report(*visits)

    def fail(*_: object) -> list[Any]:
        raise AssertionError("the database was asked")

    monkeypatch.setattr(Database, "execute", fail)
    find_mirrors(db_of(crew), visits, verdicts, crew.now)


def test_a_frontier_that_is_not_to_find_mirrors_finds_none(crew: Crew) -> None:
    frontier = crew.frontier
    assert isinstance(frontier, SqlFrontier)
    crew.frontier = SqlFrontier(
        frontier.db, Budgets(), frontier._politeness, frontier._shape_of, frontier._near, mirrors=False
    )
    crawl_both(crew)
    assert found(crew) == {} and frontier.db.execute("SELECT * FROM mirror_signs") == []


def redirect(hand: Hand, paths: Iterable[str]) -> None:
    """The pages of the main site that lead to the mirror now."""
    for path in paths:
        hand.did(ONE + path, Outcome.REDIRECT, target=TWO + path)


def test_a_main_site_that_moves_to_its_mirror_changes_places_with_it(crew: Crew) -> None:
    hand = crawl_both(crew)
    crew.add(page(TWO + "/p/late"))
    refuse_rest(hand, ["/p/late"])
    requeue_all(crew.frontier, [ONE + path for path in numbered(24)], crew.now)
    redirect(hand, numbered(MIN_TURNED - 1))
    assert found(crew) == {"two.org": "https://one.org"}, "a few redirects, such as those of a login, change nothing"
    redirect(hand, numbered(MIN_TURNED)[-1:])
    assert found(crew) == {"one.org": "https://two.org"}
    assert "redirect to two.org" in rows(crew)["one.org", "two.org"].reason
    assert TWO + "/p/late" in {task.url for task in hand.refill("two.org")}, "nothing is lost"


def test_what_the_operator_accepted_is_not_turned_round(crew: Crew) -> None:
    hand = crawl_both(crew)
    mirror_table.accept(db_of(crew), "two.org", "one.org", "", crew.now)
    requeue_all(crew.frontier, [ONE + path for path in numbered(24)], crew.now)
    redirect(hand, numbered(24))
    assert found(crew) == {"two.org": "https://one.org"}


# What an operator says.


def test_a_rejected_pair_is_never_declared_again(crew: Crew) -> None:
    mirror_table.reject(db_of(crew), "one.org", "two.org", crew.now)
    crawl_both(crew, pages=50)
    assert found(crew) == {}
    assert rows(crew)["one.org", "two.org"].state == "rejected"


def test_a_site_rejected_as_such_takes_part_in_no_mirror(crew: Crew) -> None:
    mirror_table.reject(db_of(crew), "two.org", "", crew.now)
    crawl_both(crew)
    assert found(crew) == {}


def test_forgetting_a_rejection_lets_the_crawler_find_the_mirror(crew: Crew) -> None:
    db = db_of(crew)
    mirror_table.reject(db, "two.org", "one.org", crew.now)
    hand = crawl_both(crew, pages=24)
    assert mirror_table.forget(db, "one.org", crew.now) == (1, 0)
    crew.add(page(ONE + "/p/last"), page(TWO + "/p/last"))
    for origin in (ONE, TWO):
        read(hand, origin + "/p/last", "last")
    assert found(crew) == {"two.org": "https://one.org"}


def test_only_what_the_operator_said_counts_where_mirrors_are_not_automatic(crew: Crew) -> None:
    crawl_both(crew)
    db = db_of(crew)
    assert load_mirrors(db, automatic=False) == {}
    assert mirror_table.accept(db, "two.org", "one.org", "", crew.now).state == "accepted"
    assert load_mirrors(db, automatic=False) == {"two.org": "https://one.org"}
    assert rows(crew)["two.org", "one.org"].reason.startswith("20 of 20 pages"), "the evidence is kept"


def test_the_operator_may_turn_a_mirror_round(crew: Crew) -> None:
    crawl_both(crew)
    assert mirror_table.accept(db_of(crew), "one.org", "two.org", "http", crew.now).state == "set"
    assert found(crew) == {"one.org": "http://two.org"}


def test_mirrors_set_in_a_circle_end_with_what_was_said_last(crew: Crew) -> None:
    db = db_of(crew)
    start(crew, ONE, TWO, THREE, paths=["/"])
    mirror_table.accept(db, "one.org", "two.org", "", crew.now)
    mirror_table.accept(db, "two.org", "three.org", "", crew.now)
    assert found(crew) == {"one.org": "https://three.org", "two.org": "https://three.org"}
    mirror_table.accept(db, "three.org", "one.org", "", crew.now)
    assert found(crew) == {"two.org": "https://one.org", "three.org": "https://one.org"}


def test_a_main_site_must_be_known_and_another(crew: Crew) -> None:
    start(crew, ONE, paths=["/"])
    with pytest.raises(UsageError, match="not a site of this crawl"):
        mirror_table.accept(db_of(crew), "two.org", "unknown.org", "", crew.now)
    with pytest.raises(UsageError, match="itself"):
        mirror_table.accept(db_of(crew), "one.org", "one.org", "", crew.now)


def refuse_rest(hand: Hand, paths: list[str]) -> None:
    for path in paths:
        hand.did(TWO + path, Outcome.REFUSED, rule=MIRROR_RULE, reason="mirror of one.org", fetched=False)


@pytest.mark.parametrize("how", ["reject", "reject all", "forget", "turn", "elsewhere"])
def test_urls_refused_as_a_mirror_are_queued_again_when_the_site_is_none(crew: Crew, how: str) -> None:
    db = db_of(crew)
    hand = start(crew, ONE, TWO, THREE, paths=numbered(4))
    read(hand, TWO + "/p/0", 0)
    crew.wait(1)
    mirror_table.accept(db, "two.org", "one.org", "", crew.now)
    refuse_rest(hand, ["/p/1", "/p/2"])
    hand.did(TWO + "/p/3", Outcome.REFUSED, rule="filter.x", reason="no", fetched=False)
    version = mirror_table.version(db)
    if how == "forget":
        assert mirror_table.forget(db, "two.org", crew.now) == (1, 2)
    elif how == "turn":
        mirror_table.accept(db, "one.org", "two.org", "", crew.now)
    elif how == "elsewhere":
        mirror_table.accept(db, "two.org", "three.org", "", crew.now)
    else:
        assert mirror_table.reject(db, "two.org", "one.org" if how == "reject" else "", crew.now) == 2
    assert mirror_table.version(db) > version, "running workers see it"
    assert {task.url for task in hand.refill("two.org")} == {TWO + "/p/1", TWO + "/p/2"}


def test_a_rejection_reaches_a_mirror_that_leads_there_by_way_of_another(crew: Crew) -> None:
    db = db_of(crew)
    start(crew, ONE, TWO, THREE, paths=["/"])
    mirror_table.accept(db, "one.org", "two.org", "", crew.now)
    mirror_table.accept(db, "two.org", "three.org", "", crew.now)
    mirror_table.reject(db, "one.org", "three.org", crew.now)
    assert found(crew) == {"two.org": "https://three.org"}


def test_pages_stored_while_links_were_led_elsewhere_are_read_again_in_full(crew: Crew) -> None:
    db = db_of(crew)
    hand = start(crew, ONE, TWO, paths=numbered(2))
    for path, segment in (("/p/0", "early"), ("/p/1", "late")):
        [task] = hand.tasks(TWO + path)
        hand.report(hand.visit(task, etag="x", row=0, **text_fields(path)), segment=segment)
        crew.wait(1)
        if segment == "early":
            mirror_table.accept(db, "two.org", "one.org", "", crew.now)
            crew.wait(1)
    assert mirror_table.reject(db, "two.org", "one.org", crew.now) == 1
    assert [(task.url, task.etag) for task in hand.refill("two.org")] == [(TWO + "/p/1", "")]
    kept = db.execute("SELECT etag FROM urls WHERE site_id = ? AND key = ?", (key64("two.org"), key64(TWO + "/p/0")))
    assert kept == [("x",)]
