"""The laws of `gossamer.frontier.contract`, for each frontier there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frontier_kit import DELAY, LEASE, MAKERS, NAMES, NO, Crew, Make, dump, later, page, pages, requeue_all

from gossamer.errors import LeaseLost
from gossamer.frontier.contract import Added, Batch, Budgets, Verdict
from gossamer.frontier.politeness import SiteClock
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Task
from gossamer.model.site import key64

A, B, C, D = (f"https://www.one.org/{name}" for name in "abcd")
SITE, SISTER, OTHER = "www.one.org", "news.one.org", "two.org"


@pytest.fixture(params=MAKERS, ids=NAMES)
def make(request: pytest.FixtureRequest) -> Make:
    chosen: Make = request.param
    return chosen


@pytest.fixture
def crew(make: Make, tmp_path: Path) -> Crew:
    return Crew(make(tmp_path, Budgets(lease=LEASE)))


def crew_with(make: Make, folder: Path, **budgets: Any) -> Crew:
    return Crew(make(folder, Budgets(lease=LEASE, **budgets)))


class TestLeases:
    """Laws 1 and 2."""

    def test_a_site_is_leased_to_one_worker(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3), *pages(OTHER, 3))
        first, second = crew.worker("first"), crew.worker("second")
        taken = first.urls(sites=1)
        rest = second.urls()
        assert len(taken) == len(rest) == 3
        assert not set(taken) & set(rest)
        assert first.take() == second.take() == []

    def test_new_urls_of_a_leased_site_wait_for_its_owner(self, crew: Crew) -> None:
        crew.add(page(A))
        first, second = crew.worker("first"), crew.worker("second")
        [lease] = first.take()
        crew.add(page(B))
        assert second.take() == []
        assert [task.url for task in first.refill(SITE, [lease.tasks[0].key])] == [B]

    def test_a_released_site_goes_to_another_worker_with_its_clock_and_address(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        first, second = crew.worker("first"), crew.worker("second")
        first.take()
        clock = SiteClock(crawl_delay=7, trouble=2, not_before=crew.now + 10, reason="503")
        first.release(SITE, clock, address="10.0.0.1")
        crew.wait(9.9)
        assert second.take() == []
        crew.wait(0.1)
        [lease] = second.take()
        assert (lease.clock, lease.address) == (clock, "10.0.0.1")

    def test_tokens_grow(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        worker = crew.worker("w")
        tokens = []
        for _ in range(3):
            tokens += [lease.token for lease in worker.take()]
            worker.release(SITE)
        assert tokens == sorted(set(tokens))

    def test_a_dead_workers_urls_are_handed_out_again_after_the_lease_time(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        dead, heir = crew.worker("dead"), crew.worker("heir")
        done, *undone = dead.urls()
        dead.did(done)
        crew.wait(LEASE)
        assert heir.take() == []
        heir.frontier.renew("heir", crew.now)
        crew.wait(DELAY + 0.1)
        assert heir.take() == [], "the site counts as asked at the moment of the take-over"
        crew.wait(DELAY)
        assert heir.urls() == undone

    def test_a_taken_over_site_counts_as_asked_just_now(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        dead, heir = crew.worker("dead"), crew.worker("heir")
        dead.take()
        crew.wait(LEASE + 1)
        heir.frontier.register("heir", crew.now)
        assert heir.take() == []
        asked = crew.now
        crew.wait(DELAY)
        [lease] = heir.take()
        assert lease.clock.not_before == asked + DELAY

    def test_a_sign_of_life_keeps_the_lease(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        first, second = crew.worker("first"), crew.worker("second")
        first.take()
        for _ in range(5):
            crew.wait(LEASE - 1)
            first.frontier.renew("first", crew.now)
            second.frontier.renew("second", crew.now)
            assert second.take() == []

    def test_a_worker_that_was_replaced_hears_of_it(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        dead, heir = crew.worker("dead"), crew.worker("heir")
        dead.take()
        crew.wait(LEASE + 1)
        heir.frontier.register("heir", crew.now)
        heir.take()
        with pytest.raises(LeaseLost):
            dead.frontier.renew("dead", crew.now)
        with pytest.raises(LeaseLost):
            dead.refill(SITE)
        with pytest.raises(LeaseLost):
            dead.frontier.hold_address("dead", SITE, "10.0.0.1", crew.now)

    def test_a_retired_worker_frees_its_sites_at_once_but_politely(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        first, second = crew.worker("first"), crew.worker("second")
        given = first.urls()
        first.frontier.retire("first", crew.now)
        assert second.take() == []
        crew.wait(DELAY)
        assert second.urls() == given

    def test_a_worker_that_starts_again_under_its_name_leaves_nothing_behind(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        given = crew.worker("w").urls()
        again = crew.worker("w")
        crew.wait(DELAY)
        assert again.urls() == given

    def test_a_stranger_gets_nothing(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        with pytest.raises(LeaseLost):
            crew.frontier.take("stranger", crew.now, 1, 1)


class TestOrder:
    """Law 3, and the order of sites."""

    def test_lower_levels_first_and_each_level_in_order(self, crew: Crew) -> None:
        depths = [5, 0, 15, 5, 0, 10, 5]
        crew.add(*(page(f"https://{SITE}/{n}", depth=depth) for n, depth in enumerate(depths)))
        crew.add(page(f"https://{SITE}/late", depth=0))
        expected = [1, 4, "late", 0, 3, 6, 5, 2]
        assert crew.worker("w").urls() == [f"https://{SITE}/{n}" for n in expected]

    def test_refill_goes_on_where_take_ended(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, per_site=2)
        crew.add(*pages(SITE, 5))
        worker = crew.worker("w")
        [lease] = worker.take()
        holding = [task.key for task in lease.tasks]
        more = worker.refill(SITE, holding)
        assert [t.url[-1] for t in [*lease.tasks, *more]] == ["0", "1", "2", "3"]

    def test_what_was_not_tried_keeps_its_place(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 4))
        worker = crew.worker("w")
        first = worker.urls()
        worker.did(first[0])
        worker.release(SITE)
        assert worker.urls() == first[1:]

    def test_the_site_that_waited_longest_comes_first(self, crew: Crew) -> None:
        for site in ("c.org", "a.org", "b.org"):
            crew.add(*pages(site, 1))
            crew.wait(1)
        worker = crew.worker("w")
        assert [lease.site for _ in range(3) for lease in worker.take(sites=1)] == ["c.org", "a.org", "b.org"]

    def test_same_calls_same_clock_same_results(self, make: Make, tmp_path: Path) -> None:
        """Law 8."""

        def life(folder: Path) -> list[Any]:
            crew = crew_with(make, folder, per_site=2)
            said: list[Any] = [crew.add(*pages(SITE, 4), *pages(OTHER, 4), *pages(SISTER, 4))]
            worker = crew.worker("w")
            for _ in range(3):
                for lease in worker.take():
                    visits = [worker.visit(task, content_hash=task.url[-1]) for task in lease.tasks]
                    said += [lease, worker.report(*visits, found=pages(lease.site, 6))]
                    worker.release(lease.site)
                crew.wait(5)
            return said

        (tmp_path / "x").mkdir()
        (tmp_path / "y").mkdir()
        assert life(tmp_path / "x") == life(tmp_path / "y")


class TestLeaseLost:
    """Law 4."""

    def replaced(self, crew: Crew) -> tuple[Any, Any]:
        crew.add(page(A), page(B))
        late, heir = crew.worker("late"), crew.worker("heir")
        late.take()
        crew.wait(LEASE + 1)
        crew.frontier.register("heir", crew.now)
        heir.take()
        crew.wait(DELAY)
        assert heir.urls() == [A, B]
        return late, heir

    def test_a_late_report_changes_nothing(self, crew: Crew) -> None:
        late, _ = self.replaced(crew)
        visits = [late.visit(task, content_hash="t", retry_at=None) for task in late.tasks(A, B)]
        before = dump(crew.frontier)
        with pytest.raises(LeaseLost):
            late.report(*visits, found=pages(OTHER, 3), robots=[("https://x.org", b"x")], addresses=[("10.0.0.1", 9.0)])
        assert dump(crew.frontier) == before

    def test_one_lost_site_refuses_the_whole_report(self, crew: Crew) -> None:
        crew.add(page(A), *pages(OTHER, 1))
        worker, rival = crew.worker("w"), crew.worker("rival")
        worker.take()
        tasks = worker.tasks(A, f"https://{OTHER}/0")
        old = worker.leases[SITE]
        worker.release(SITE)
        rival.take()
        worker.leases[SITE] = old
        before = dump(crew.frontier)
        with pytest.raises(LeaseLost):
            worker.report(*(worker.visit(task) for task in tasks))
        assert dump(crew.frontier) == before

    def test_a_late_report_is_refused_also_when_the_worker_got_the_site_back(self, crew: Crew) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        worker.take()
        [task] = worker.tasks(A)
        old = worker.site_report(SITE)
        worker.release(SITE)
        worker.take()
        before = dump(crew.frontier)
        with pytest.raises(LeaseLost):
            worker.report(worker.visit(task), sites=[old])
        assert dump(crew.frontier) == before

    def test_a_visit_without_the_lease_of_its_site_is_refused(self, crew: Crew) -> None:
        crew.add(page(A), *pages(OTHER, 1))
        worker = crew.worker("w")
        worker.take()
        [task] = worker.tasks(A)
        before = dump(crew.frontier)
        with pytest.raises(LeaseLost):
            worker.report(worker.visit(task), sites=[worker.site_report(OTHER)])
        assert dump(crew.frontier) == before

    def test_a_late_release_changes_nothing(self, crew: Crew) -> None:
        late, _ = self.replaced(crew)
        before = dump(crew.frontier)
        with pytest.raises(LeaseLost):
            late.release(SITE, SiteClock(not_before=crew.now + 1e6))
        assert dump(crew.frontier) == before

    def test_a_report_whose_pages_cannot_be_written_changes_nothing(self, crew: Crew) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        worker.take()
        [task] = worker.tasks(A)
        before = dump(crew.frontier)

        def fail(verdicts: list[Verdict]) -> None:
            raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match="No space"):
            worker.report(worker.visit(task, content_hash="t"), found=[page(B)], write_pages=fail)
        assert dump(crew.frontier) == before
        assert worker.report(worker.visit(task, content_hash="t"), found=[page(B)]) == [Verdict(Outcome.DOCUMENT)]
        assert crew.add(page(B)) == Added(known=1)

    def test_pages_are_written_with_their_verdicts(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        seen: list[list[Verdict]] = []
        visits = [worker.visit(task, content_hash="t") for task in worker.tasks(A, B)]
        verdicts = worker.report(*visits, write_pages=seen.append)
        assert seen == [verdicts] == [[Verdict(Outcome.DOCUMENT), Verdict(Outcome.DUPLICATE, A)]]


class TestDuplicates:
    """Law 5."""

    def test_of_two_pages_with_the_same_text_one_is_a_document(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        assert worker.did(A, content_hash="t") == Verdict(Outcome.DOCUMENT)
        assert worker.did(B, content_hash="t") == Verdict(Outcome.DUPLICATE, A)

    def test_of_equal_texts_in_one_report_the_first_one_fetched_stays(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        visits = [worker.visit(task, content_hash="t") for task in worker.tasks(A, B)]
        visits[1].at -= 1
        assert worker.report(*visits) == [Verdict(Outcome.DUPLICATE, B), Verdict(Outcome.DOCUMENT)]

    def test_hosts_of_a_domain_share_their_texts_and_domains_do_not(self, crew: Crew) -> None:
        crew.add(page(A), *pages(SISTER, 1), *pages(OTHER, 1))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, content_hash="t")
        assert worker.did(f"https://{SISTER}/0", content_hash="t") == Verdict(Outcome.DUPLICATE, A)
        assert worker.did(f"https://{OTHER}/0", content_hash="t") == Verdict(Outcome.DOCUMENT)

    def test_pages_without_text_are_no_duplicates(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        assert [worker.did(url).outcome for url in (A, B)] == [Outcome.DOCUMENT] * 2

    def test_only_documents_claim_their_text(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, Outcome.NOINDEX, content_hash="t")
        assert worker.did(B, content_hash="t") == Verdict(Outcome.DOCUMENT)

    def test_a_document_stays_one_when_it_is_read_again(self, crew: Crew) -> None:
        worker = visited(crew, A, content_hash="t", etag="e")
        again(crew, A)
        [task] = worker.tasks(A)
        assert (task.previous, task.content_hash, task.etag) == ("document", "t", "e")
        assert worker.did(A, content_hash="t") == Verdict(Outcome.DOCUMENT)
        again(crew, A)
        assert worker.did(A, Outcome.NOT_MODIFIED) == Verdict(Outcome.NOT_MODIFIED)
        again(crew, A)
        [task] = worker.tasks(A)
        assert (task.previous, task.content_hash, task.etag) == ("document", "t", "")

    def test_duplicates_are_woken_when_the_owner_changes_its_text(self, crew: Crew) -> None:
        worker = visited(crew, A, content_hash="t")
        crew.add(page(B), page(C))
        for url in (B, C):
            worker.did(url, content_hash="t", etag="e")
        again(crew, A)
        assert worker.did(A, content_hash="new") == Verdict(Outcome.DOCUMENT)
        woken = worker.refill(SITE)
        assert {task.url for task in woken} == {B, C}
        assert {task.etag for task in woken} == {""}, "an unchanged duplicate would never bring its text again"
        first, second = [task.url for task in woken]
        assert worker.did(first, content_hash="t") == Verdict(Outcome.DOCUMENT)
        assert worker.did(second, content_hash="t") == Verdict(Outcome.DUPLICATE, first)

    @pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.NOINDEX, Outcome.TIMEOUT])
    def test_duplicates_are_woken_when_the_owner_goes(self, crew: Crew, outcome: Outcome) -> None:
        worker = visited(crew, A, content_hash="t")
        crew.add(page(B))
        worker.did(B, content_hash="t")
        again(crew, A)
        worker.did(A, outcome)
        assert [task.url for task in worker.refill(SITE)] == [B]
        assert worker.did(B, content_hash="t") == Verdict(Outcome.DOCUMENT)

    def test_a_page_that_fails_for_a_while_keeps_its_text(self, crew: Crew) -> None:
        worker = visited(crew, A, content_hash="t", etag="e")
        crew.add(page(B))
        worker.did(B, content_hash="t")
        again(crew, A)
        worker.did(A, Outcome.TIMEOUT, retry_at=crew.now + 5)
        assert worker.refill(SITE) == [], "the duplicate still has its document"
        crew.wait(5)
        [task] = worker.refill(SITE)
        assert (task.attempts, task.previous, task.content_hash, task.etag) == (1, "document", "t", "e")
        worker.did(A, Outcome.NOT_MODIFIED)
        again(crew, A)
        assert worker.tasks(A)[0].previous == "document"

    def test_a_former_duplicate_is_not_woken(self, crew: Crew) -> None:
        worker = visited(crew, A, content_hash="t")
        crew.add(page(B))
        worker.did(B, content_hash="t")
        again(crew, B)
        assert worker.did(B, content_hash="own") == Verdict(Outcome.DOCUMENT)
        again(crew, A)
        worker.did(A, content_hash="new")
        assert worker.refill(SITE) == []

    def test_the_text_a_page_gave_up_goes_to_the_next_one_in_the_same_report(self, crew: Crew) -> None:
        worker = visited(crew, A, content_hash="t")
        crew.add(page(B))
        again(crew, A)
        a, b = worker.tasks(A, B)
        verdicts = worker.report(worker.visit(b, content_hash="t"), worker.visit(a, content_hash="new"))
        assert [verdict.outcome for verdict in verdicts] == [Outcome.DOCUMENT] * 2


class TestAliases:
    """Canonical links and redirects join their target, and no text is lost by it."""

    def test_a_page_is_an_alias_of_its_canonical_target(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        assert worker.did(A, content_hash="t", canonical=B, found=[page(B)]) == Verdict(Outcome.ALIAS, B)
        assert worker.did(B, content_hash="t") == Verdict(Outcome.DOCUMENT)
        assert worker.refill(SITE) == []

    def test_a_target_that_fails_wakes_its_aliases_and_they_are_kept(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.did(A, content_hash="t", canonical=B, found=[page(B)])
        worker.did(B, Outcome.GONE)
        [task] = worker.refill(SITE)
        assert (task.url, task.keep_alias, task.previous) == (A, True, "alias")
        assert worker.did(A, content_hash="t", canonical=B, found=[page(B)]) == Verdict(Outcome.DOCUMENT)

    def test_a_target_that_may_recover_wakes_nobody(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.did(A, content_hash="t", canonical=B, found=[page(B)])
        worker.did(B, Outcome.TIMEOUT, retry_at=crew.now + 5)
        assert worker.refill(SITE) == []

    @pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.ROBOTS_DENIED, Outcome.REFUSED, Outcome.TIMEOUT])
    def test_a_page_whose_target_has_failed_is_kept(self, crew: Crew, outcome: Outcome) -> None:
        worker = visiting(crew, A, B)
        worker.did(B, outcome)
        assert worker.did(A, content_hash="t", canonical=B) == Verdict(Outcome.DOCUMENT)

    def test_a_page_whose_target_is_refused_is_kept(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        verdict = worker.did(A, content_hash="t", canonical=B, found=[page(B, refusal=NO)])
        assert verdict == Verdict(Outcome.DOCUMENT)

    def test_a_page_whose_target_does_not_fit_into_the_budget_is_kept(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, pages_per_site=1)
        worker = visiting(crew, A)
        assert worker.did(A, content_hash="t", canonical=B, found=[page(B)]) == Verdict(Outcome.DOCUMENT)

    def test_a_page_whose_target_nobody_will_fetch_is_kept(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        assert worker.did(A, content_hash="t", canonical=B) == Verdict(Outcome.DOCUMENT)

    def test_a_canonical_link_to_itself_says_nothing(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        assert worker.did(A, content_hash="t", canonical=A, found=[page(A)]) == Verdict(Outcome.DOCUMENT)

    @pytest.mark.parametrize("together", [False, True])
    def test_a_loop_of_canonical_links_keeps_one_page(self, crew: Crew, together: bool) -> None:
        ring = {A: B, B: C, C: A}
        worker = visiting(crew, A, B, C)
        visits = [worker.visit(t, content_hash=t.url, canonical=ring[t.url]) for t in worker.tasks(A, B, C)]
        batches = [visits] if together else [[visit] for visit in visits]
        verdicts = [verdict for batch in batches for verdict in worker.report(*batch)]
        assert [verdict.outcome for verdict in verdicts] == [Outcome.ALIAS, Outcome.ALIAS, Outcome.DOCUMENT]

    def test_a_chain_of_canonical_links_ends_at_its_last_page(self, crew: Crew) -> None:
        worker = visiting(crew, A, B, C)
        verdicts = [worker.did(C, content_hash="c"), worker.did(B, content_hash="b", canonical=C)]
        verdicts.append(worker.did(A, content_hash="a", canonical=B))
        assert verdicts == [Verdict(Outcome.DOCUMENT), Verdict(Outcome.ALIAS, C), Verdict(Outcome.ALIAS, B)]

    def test_a_target_that_redirects_back_does_not_stand(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(B, Outcome.REDIRECT, target=A)
        assert worker.did(A, content_hash="t", canonical=B) == Verdict(Outcome.DOCUMENT)

    def test_a_redirect_that_closes_the_circle_wakes_the_alias(self, crew: Crew) -> None:
        worker = visiting(crew, A, B, C)
        worker.did(A, content_hash="t", canonical=B)
        worker.did(B, Outcome.REDIRECT, target=C)
        worker.did(C, Outcome.REDIRECT, target=A)
        assert [(task.url, task.keep_alias) for task in worker.refill(SITE)] == [(A, True)]

    def test_a_failure_behind_redirects_wakes_the_alias(self, crew: Crew) -> None:
        worker = visiting(crew, A, B, C, D)
        worker.did(A, content_hash="t", canonical=B)
        worker.did(B, Outcome.REDIRECT, target=C)
        worker.did(C, Outcome.REDIRECT, target=D)
        worker.did(D, Outcome.GONE)
        assert [(task.url, task.keep_alias) for task in worker.refill(SITE)] == [(A, True)]

    def test_a_redirect_out_of_the_crawl_wakes_the_alias(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(A, content_hash="t", canonical=B)
        worker.did(B, Outcome.REDIRECT, target="https://elsewhere.org/")
        assert [task.url for task in worker.refill(SITE)] == [A]

    def test_redirects_that_go_round_wake_nobody_for_ever(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(A, Outcome.REDIRECT, target=B)
        worker.did(B, Outcome.REDIRECT, target=A)
        assert worker.refill(SITE) == []

    @pytest.mark.parametrize("together", [False, True])
    def test_redirects_that_go_round_are_named_a_loop(self, crew: Crew, together: bool) -> None:
        ring = {A: B, B: C, C: A}
        worker = visiting(crew, A, B, C)
        visits = [worker.visit(t, Outcome.REDIRECT, target=ring[t.url]) for t in worker.tasks(A, B, C)]
        batches = [visits] if together else [[visit] for visit in visits]
        verdicts = [verdict for batch in batches for verdict in worker.report(*batch)]
        assert verdicts[-1] == Verdict(Outcome.BAD_REDIRECT)
        assert visits[-1].reason == f"redirects in a loop: {C} → {A} → {B} → {C}"

    def test_an_alias_of_another_site_is_woken_there(self, crew: Crew) -> None:
        there = f"https://{SISTER}/0"
        worker = visiting(crew, A, there)
        worker.did(A, content_hash="t", canonical=there)
        worker.did(there, Outcome.GONE)
        assert [task.url for task in worker.refill(SITE)] == [A]

    def test_a_kept_page_may_become_an_alias_at_a_later_visit(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(A, content_hash="t", canonical=B)
        worker.did(B, Outcome.GONE)
        worker.did(A, content_hash="t", canonical=B)
        again(crew, A, B)
        worker.did(B, content_hash="other")
        assert worker.tasks(A)[0].keep_alias is False
        assert worker.did(A, content_hash="t", canonical=B) == Verdict(Outcome.ALIAS, B)


class TestAddresses:
    """Law 6."""

    def test_an_address_is_held_by_one_worker(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        first, second = crew.worker("first"), crew.worker("second")
        first.take(sites=1)
        [held] = first.leases
        [other] = [lease.site for lease in second.take()]
        assert crew.frontier.hold_address("first", held, "10.0.0.1", crew.now) == 0.0
        assert crew.frontier.hold_address("second", other, "10.0.0.1", crew.now) is None
        assert crew.frontier.hold_address("first", held, "10.0.0.1", crew.now) == 0.0

    def test_sites_of_an_address_that_another_worker_holds_are_not_handed_out(self, crew: Crew) -> None:
        self.test_an_address_is_held_by_one_worker(crew)
        second = [name for name in ("first", "second") if crew.frontier.take(name, crew.now, 9, 9)]
        assert second == []
        holder = crew.frontier
        third = crew.worker("third")
        holder.retire("second", crew.now)
        crew.wait(DELAY)
        assert third.take() == [], "the site's address is still held by the first worker"
        [lease] = holder.take("first", crew.now, 9, 9)
        assert lease.address == "10.0.0.1"

    def test_a_released_address_keeps_its_clock(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        first, second = crew.worker("first"), crew.worker("second")
        first.take(sites=1)
        [site] = first.leases
        [other] = [lease.site for lease in second.take()]
        crew.frontier.hold_address("first", site, "10.0.0.1", crew.now)
        crew.frontier.release("first", [first.site_report(site)], [("10.0.0.1", crew.now + 3)], crew.now)
        assert crew.frontier.hold_address("second", other, "10.0.0.1", crew.now) == crew.now + 3

    def test_a_dead_workers_address_counts_as_asked_at_the_take_over(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        dead, heir = crew.worker("dead"), crew.worker("heir")
        dead.take()
        crew.frontier.hold_address("dead", SITE, "10.0.0.1", crew.now)
        crew.wait(LEASE + 1)
        crew.frontier.register("heir", crew.now)
        heir.take()
        asked = crew.now
        crew.wait(DELAY)
        heir.take()
        assert crew.frontier.hold_address("heir", SITE, "10.0.0.1", crew.now) == asked + 3.0

    def test_a_report_never_makes_an_address_ready_earlier(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        worker = crew.worker("w")
        worker.take()
        crew.frontier.hold_address("w", SITE, "10.0.0.1", crew.now)
        for seconds in (9.0, 1.0):
            worker.report(sites=[worker.site_report(SITE)], addresses=[("10.0.0.1", crew.now + seconds)])
        assert crew.frontier.hold_address("w", SITE, "10.0.0.1", crew.now) == crew.now + 9


class TestBudgets:
    """How much of everything."""

    def test_a_take_hands_out_a_batch_at_most(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, batch=5, per_site=3)
        crew.add(*pages("a.org", 9), *pages("b.org", 9), *pages("c.org", 9))
        leases = crew.worker("w").take(sites=10, urls=100)
        assert [len(lease.tasks) for lease in leases] == [3, 2]

    def test_sites_that_get_no_urls_are_not_leased(self, crew: Crew) -> None:
        crew.add(*pages("a.org", 2), *pages("b.org", 2))
        first, second = crew.worker("first"), crew.worker("second")
        assert len(first.take(sites=10, urls=2)) == 1
        assert len(second.take(sites=10, urls=2)) == 1

    def test_a_site_hands_out_so_many_at_once(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, per_site=3)
        crew.add(*pages(SITE, 9))
        worker = crew.worker("w")
        [lease] = worker.take()
        assert len(lease.tasks) == 3
        assert len(worker.refill(SITE, [task.key for task in lease.tasks], urls=100)) == 3

    def test_asking_for_nothing_gives_nothing(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        worker = crew.worker("w")
        assert worker.take(sites=0) == worker.take(urls=0) == []
        worker.take()
        assert worker.refill(SITE, urls=0) == []

    def test_a_site_has_so_many_pages(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, pages_per_site=3)
        assert crew.add(*pages(SITE, 5)) == Added(new=3, refused=2)
        assert crew.add(*pages(OTHER, 3)) == Added(new=3)
        assert crew.add(*pages(SITE, 6)) == Added(known=5, refused=1)

    def test_the_crawl_has_so_many_sites(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, sites=2)
        crew.add(*pages("a.org", 1), *pages("b.org", 1))
        assert crew.add(*pages("c.org", 2), *pages("a.org", 2)) == Added(new=1, known=1, refused=2)
        assert {lease.site for lease in crew.worker("w").take()} == {"a.org", "b.org"}

    def test_a_site_has_so_many_urls_of_a_shape(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, similar_paths=2)
        assert crew.add(*pages(SITE, 4), page(A)) == Added(new=3, refused=2)
        assert crew.add(*pages(OTHER, 2)) == Added(new=2)

    def test_a_site_remembers_so_many_refused_urls(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, refused_per_site=2)
        refused = pages(SITE, 4, refusal=NO)
        assert crew.add(*refused) == Added(refused=4)
        assert crew.add(*refused) == Added(known=2, refused=2)

    def test_a_shape_of_copies_opens_again_with_a_document(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, copies=2)
        worker = visiting(crew, A, *(f"https://{SITE}/{n}" for n in range(3)))
        worker.did(A, content_hash="t")
        for number in range(2):
            worker.did(f"https://{SITE}/{number}", content_hash="t")
        assert crew.add(page(f"https://{SITE}/9")) == Added(refused=1)
        assert crew.add(page(f"https://{SITE}/9")) == Added(known=1)
        worker.did(f"https://{SITE}/2", content_hash="own")
        assert crew.add(page(f"https://{SITE}/9")) == Added(new=1)

    def test_what_the_budget_refused_stays_out_after_a_restart(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, pages_per_site=1)
        crew.add(page(A), page(B))
        if make is MAKERS[1]:
            crew = crew_with(make, tmp_path, pages_per_site=1)
        assert crew.add(page(B)) == Added(known=1)
        assert crew.worker("w").urls() == [A]


class TestIntake:
    """What becomes of discovered URLs."""

    def test_a_url_is_queued_once(self, crew: Crew) -> None:
        assert crew.add(page(A), page(B), page(A)) == Added(new=2, known=1)
        assert crew.add(page(A), page(C)) == Added(new=1, known=1)
        assert crew.worker("w").urls() == [A, B, C]

    def test_a_task_carries_what_was_found(self, crew: Crew) -> None:
        crew.add(page(A, kind=Kind.SITEMAP, depth=2, hops=1))
        [lease] = crew.worker("w").take()
        assert lease.tasks == [Task(A, key64(A), Kind.SITEMAP, 0, lease.tasks[0].seq, 2, 1, 0)]

    def test_a_visited_url_is_not_queued_again(self, crew: Crew) -> None:
        worker = visited(crew, A)
        assert crew.add(page(A)) == Added(known=1)
        assert worker.refill(SITE) == []

    def test_refused_urls_are_remembered_and_not_handed_out(self, crew: Crew) -> None:
        assert crew.add(page(A, refusal=NO), page(B)) == Added(new=1, refused=1)
        assert crew.add(page(A, refusal=NO)) == Added(known=1)
        assert crew.worker("w").urls() == [B]

    def test_a_refused_url_is_revived_when_the_rules_allow_it(self, crew: Crew) -> None:
        crew.add(page(A, refusal=NO, depth=9))
        assert crew.add(page(A, depth=2)) == Added(new=1)
        [lease] = crew.worker("w").take()
        assert [(task.url, task.depth, task.level) for task in lease.tasks] == [(A, 2, 2)]
        assert crew.add(page(A)) == Added(known=1)

    def test_one_allowed_sighting_outweighs_refused_ones(self, crew: Crew) -> None:
        assert crew.add(page(A, refusal=NO), page(A), page(A, refusal=NO)) == Added(new=1, known=2)
        assert crew.worker("w").urls() == [A]

    def test_a_revived_url_counts_against_the_budgets(self, make: Make, tmp_path: Path) -> None:
        crew = crew_with(make, tmp_path, pages_per_site=2)
        crew.add(page(A, refusal=NO), page(B, refusal=NO), page(C))
        assert crew.add(page(A), page(B)) == Added(new=1, known=1)
        assert crew.worker("w").urls() == [C, A]

    def test_a_url_that_a_rule_refused_on_its_visit_is_revived(self, crew: Crew) -> None:
        worker = visited(crew, A, Outcome.REFUSED)
        assert crew.add(page(A)) == Added(new=1)
        assert [task.url for task in worker.refill(SITE)] == [A]

    def test_a_url_that_robots_txt_denied_does_not_go_round(self, crew: Crew) -> None:
        worker = visited(crew, A, Outcome.ROBOTS_DENIED)
        assert crew.add(page(A)) == Added(known=1)
        assert worker.refill(SITE) == []

    def test_a_report_adds_what_was_found(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.did(A, found=[page(B), *pages(OTHER, 1), page(A)])
        assert [task.url for task in worker.refill(SITE)] == [B]
        assert worker.urls() == [f"https://{OTHER}/0"]

    def test_keys_worked_out_elsewhere_are_taken_as_they_are(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.report(worker.visit(worker.tasks(A)[0]), found=[page(B)], found_keys=[key64(B)])
        assert [task.key for task in worker.refill(SITE)] == [key64(B)]
        assert crew.add(page(B)) == Added(known=1)


class TestRetries:
    """What is tried again, and when."""

    def test_a_retry_comes_when_it_is_due_at_the_end_of_its_level(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(A, Outcome.TIMEOUT, retry_at=crew.now + 10)
        assert [task.url for task in worker.refill(SITE)] == [B]
        crew.wait(9.9)
        assert [task.url for task in worker.refill(SITE)] == [B]
        crew.wait(0.1)
        tasks = worker.refill(SITE)
        assert [(task.url, task.attempts, task.previous) for task in tasks] == [(B, 0, ""), (A, 1, "timeout")]

    def test_tries_are_counted_and_forgotten_at_the_end(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        for tries in range(3):
            [task] = worker.tasks(A)
            assert task.attempts == tries
            worker.report(worker.visit(task, Outcome.TIMEOUT, retry_at=crew.now))
        worker.did(A, content_hash="t")
        again(crew, A)
        assert worker.tasks(A)[0].attempts == 0

    def test_a_site_with_nothing_but_retries_is_ready_when_the_first_is_due(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        worker.did(A, Outcome.TIMEOUT, retry_at=crew.now + 30)
        worker.did(B, Outcome.TIMEOUT, retry_at=crew.now + 20)
        worker.release(SITE)
        crew.wait(19)
        assert worker.take() == []
        crew.wait(1)
        assert worker.urls() == [B]

    def test_a_finished_site_is_not_handed_out_until_there_is_more(self, crew: Crew) -> None:
        worker = visited(crew, A)
        worker.release(SITE)
        crew.wait(1e6)
        crew.frontier.register("w", crew.now)
        assert worker.take() == []
        crew.add(page(B))
        assert worker.urls() == [B]


class TestBlocks:
    """Nobody asks a blocked site."""

    def test_a_blocked_site_waits(self, crew: Crew) -> None:
        crew.add(page(A))
        crew.frontier.block_until(SITE, crew.now + 50, "the operator says so")
        worker = crew.worker("w")
        crew.add(page(B))
        crew.wait(49)
        assert worker.take() == []
        crew.wait(1)
        [lease] = worker.take()
        assert lease.clock.reason == "the operator says so"

    def test_a_block_never_shortens_a_wait(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.release(SITE, later(SiteClock(), crew.now + 50))
        crew.frontier.block_until(SITE, crew.now + 10, "")
        crew.wait(49)
        assert worker.take() == []

    def test_a_block_does_not_make_a_retry_due_earlier(self, crew: Crew) -> None:
        worker = visiting(crew, A)
        worker.did(A, Outcome.TIMEOUT, retry_at=crew.now + 50)
        worker.release(SITE)
        crew.frontier.block_until(SITE, crew.now + 10, "")
        crew.wait(49)
        assert worker.take() == []
        crew.wait(1)
        assert worker.urls() == [A]

    def test_a_block_outlives_the_report_of_the_sites_owner(self, crew: Crew) -> None:
        worker = visiting(crew, A, B)
        crew.frontier.block_until(SITE, crew.now + 50, "blocked")
        worker.did(A)
        worker.release(SITE)
        crew.wait(49)
        assert worker.take() == []
        crew.wait(1)
        assert worker.urls() == [B]

    def test_a_site_nobody_knows_can_be_named(self, crew: Crew) -> None:
        crew.frontier.block_until("unknown.org", crew.now + 50, "blocked")


def visiting(crew: Crew, *urls: str) -> Any:
    """A worker that has taken these URLs."""
    crew.add(*map(page, urls))
    worker = crew.worker("w")
    worker.take()
    return worker


def visited(crew: Crew, url: str, outcome: Outcome = Outcome.DOCUMENT, **fields: Any) -> Any:
    """A worker that has visited a URL and still holds its site."""
    worker = visiting(crew, url)
    worker.did(url, outcome, **fields)
    return worker


def again(crew: Crew, *urls: str) -> None:
    """Queue finished URLs once more."""
    requeue_all(crew.frontier, urls, crew.now)


def test_batches_may_be_empty(crew: Crew) -> None:
    crew.worker("w")
    assert crew.frontier.report("w", Batch("s"), crew.now) == []
