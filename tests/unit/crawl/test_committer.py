"""A commit whose transaction is run again, fails, or ends nobody knows how."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.errors import DatabaseError, LeaseLost
from gossamer.frontier.contract import Batch, Place, Verdict, Visit, WritePages
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, PageRow, Response, Task
from gossamer.model.site import key64
from gossamer.store.orphans import survey
from gossamer.store.segment_folder import LocalSegments, segment_bytes
from gossamer.store.segments import check_segment, read_page

URL = "https://a.example/"


class Frontier:
    """Reports as it is told to."""

    foreseen = False
    """Whether it takes all visits for copies."""
    best_new: dict[int, int] = {}  # noqa: RUF012 - as the real one has it

    def __init__(self, report: Callable[[Batch, WritePages], list[Verdict]]) -> None:
        self._report = report

    def foresee(self, visits: list[Visit]) -> list[bool]:
        return [self.foreseen for _ in visits]

    def report(self, worker: str, batch: Batch, now: float, write_pages: WritePages) -> list[Verdict]:
        return self._report(batch, write_pages)


@pytest.fixture
def segments(tmp_path: Path) -> LocalSegments:
    return LocalSegments(tmp_path / "segments")


def commit(segments: LocalSegments, report: Callable[[Batch, WritePages], list[Verdict]]) -> None:
    """One page, committed."""
    row = PageRow(url=URL, site="a.example", domain="a.example", fetched_at=1.0, outcome="document", status=200,
                  title="A title", text="Some text.", headings=["One"])  # fmt: skip
    response = Response(URL, Outcome.DOCUMENT, 1.0, 1.0, 1.0, 200, wire_body=b"<p>Some text.")
    pending = Pending()
    pending.add(Result(visit(), row, response))
    Committer(Frontier(report), segments, "w1", True, {}).commit(pending, [], [], 1.0)


def visit() -> Visit:
    task = Task(URL, key64(URL), Kind.PAGE, level=0, seq=1, depth=0, hops=0, attempts=0)
    return Visit(Place("a.example"), task, Outcome.DOCUMENT, 1.0)


def test_of_two_attempts_the_last_verdict_is_stored_with_all_that_belongs_to_it(segments: LocalSegments) -> None:
    """In the first one the page was a copy, whose text is not stored; the page it copied was gone in the second."""
    stored: list[int] = []

    def report(batch: Batch, write_pages: WritePages) -> list[Verdict]:
        write_pages([Verdict(Outcome.DUPLICATE, target="https://b.example/")])
        stored.append(batch.bytes_stored)
        verdicts = [Verdict(Outcome.DOCUMENT, cluster=7)]
        write_pages(verdicts)
        stored.append(batch.bytes_stored)
        return verdicts

    commit(segments, report)
    [segment_id], unfinished = survey(segments)
    page = read_page(segments, segment_id, 0)
    assert (page.outcome, page.target, page.cluster) == ("document", None, 7)
    assert (page.text, page.headings) == ("Some text.", ["One"])
    assert check_segment(segments, segment_id).records == 1
    assert stored[1] == segment_bytes(segments, segment_id) != stored[0]
    assert unfinished == []


def test_a_refused_batch_leaves_no_segment(segments: LocalSegments) -> None:
    def report(batch: Batch, write_pages: WritePages) -> list[Verdict]:
        write_pages([Verdict(Outcome.DOCUMENT)])
        raise LeaseLost("another worker has the site")

    with pytest.raises(LeaseLost):
        commit(segments, report)
    assert survey(segments) == ([], [])


def test_where_the_commit_may_have_happened_the_files_stay_for_recovery(segments: LocalSegments) -> None:
    """A connection lost while the database commits: the segment may count, so only who asks the database may delete."""

    def report(batch: Batch, write_pages: WritePages) -> list[Verdict]:
        write_pages([Verdict(Outcome.DOCUMENT)])
        raise DatabaseError("the connection is lost")

    with pytest.raises(DatabaseError):
        commit(segments, report)
    [segment_id], _ = survey(segments)
    assert check_segment(segments, segment_id).pages == 1


@pytest.mark.parametrize("foreseen", [True, False])
@pytest.mark.parametrize(
    ("verdict", "records"),
    [
        (Verdict(Outcome.ALIAS, target="https://b.example/"), 0),
        (Verdict(Outcome.DUPLICATE, target="https://b.example/"), 0),
        (Verdict(Outcome.DOCUMENT), 1),
    ],
)
def test_the_raw_response_of_a_document_is_stored_and_that_of_a_foreseen_copy_is_not(
    segments: LocalSegments, monkeypatch: pytest.MonkeyPatch, foreseen: bool, verdict: Verdict, records: int
) -> None:
    """Whatever was foreseen, a document has its response; a copy that nobody foresaw may keep its own."""

    def report(batch: Batch, write_pages: WritePages) -> list[Verdict]:
        write_pages([verdict])
        return [verdict]

    monkeypatch.setattr(Frontier, "foreseen", foreseen)
    commit(segments, report)
    [segment_id], _ = survey(segments)
    assert check_segment(segments, segment_id).records == (records if foreseen else 1)
    assert (read_page(segments, segment_id, 0).warc_offset is not None) == bool(records or not foreseen)


def test_a_copy_that_becomes_a_document_at_the_second_attempt_gets_its_response(
    segments: LocalSegments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction is run again after its segment was published, and comes to another verdict."""

    def report(batch: Batch, write_pages: WritePages) -> list[Verdict]:
        write_pages([Verdict(Outcome.ALIAS, target="https://b.example/")])
        write_pages([Verdict(Outcome.DOCUMENT)])
        return [Verdict(Outcome.DOCUMENT)]

    monkeypatch.setattr(Frontier, "foreseen", True)
    commit(segments, report)
    [segment_id], unfinished = survey(segments)
    assert check_segment(segments, segment_id).records == 1
    assert read_page(segments, segment_id, 0).warc_offset is not None
    assert unfinished == []
