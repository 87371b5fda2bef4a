"""The work of indexing a crawl with copies: those removed before it, by the frontier, or after it, as usual.

Early: the live frontier judges each reported page, and only documents are analysed and written. Late: everything is
analysed and written, and what is a copy is deleted at the end; which pages that are, the late way is told for nothing.

Both take the same crawl in turn, batch by batch, merges included; CPU seconds of the process are compared. A crawl is
taken several times, and of each batch the least counts: what else the machine does can only add to it. The hash of a
text is needed in both ways, and is left out of both.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.frontier.contract import Batch, Lease, Place, SiteReport, Visit
from gossamer.frontier.copies import duplicates
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64, site_of
from studies.early.claim_races import NOW, open_frontier
from studies.early.site_texts import SiteText

T = TypeVar("T")

_COMMIT = 1000
"""Pages of the crawl that the indexer takes at once."""
_REPORT = 200
"""Pages that a worker reports at once."""


class Judged(msgspec.Struct, frozen=True):
    """What the frontier made of a crawl."""

    documents: list[bool]
    """Of each page, whether it goes to the index."""
    check: list[float]
    """CPU seconds of telling the copies of each batch."""


class Work(msgspec.Struct, frozen=True):
    """CPU seconds of indexing one crawl in both ways."""

    pages: int
    documents: int
    """What was let through early."""
    late: float
    deleting: float
    """Of the late way, for taking the copies out."""
    early: float
    """Without the check."""
    check: float

    @property
    def share(self) -> float:
        """Of copies among the pages."""
        return 1 - self.documents / self.pages

    @property
    def saved(self) -> float:
        """Share of the late way's work that the early way, its check included, does not do."""
        return 1 - (self.early + self.check) / self.late


def make_crawl(texts: Sequence[SiteText], pages: int, share: float, seed: int) -> list[SiteText]:
    """So many pages in random order, of which this share has the text of another page of its domain."""
    dice = Random(f"{seed} {share}")
    originals = list(texts[: pages - round(share * pages)])
    # As evenly as it goes: else a few long texts decide how much work the copies are.
    copied = cycle(dice.sample(originals, len(originals)))
    crawl = originals + [_copy(next(copied), number) for number in range(pages - len(originals))]
    dice.shuffle(crawl)
    return crawl


def _copy(page: SiteText, number: int) -> SiteText:
    parts = urlsplit(page.url)
    return msgspec.structs.replace(page, url=f"{parts.scheme}://{parts.netloc}/copy-{number}{parts.path}")


def judge(folder: Path, crawl: Sequence[SiteText]) -> Judged:
    """Report a crawl to the live frontier, in its order."""
    frontier = open_frontier(folder / "frontier.db")
    frontier.add([Discovered(page.url) for page in crawl], NOW)
    frontier.register("worker", NOW)
    leases = {lease.site: lease for lease in frontier.take("worker", NOW, len(crawl), len(crawl))}
    tasks = {task.url: task for lease in leases.values() for task in lease.tasks}
    verdicts = []
    for number, pages in enumerate(_cut(crawl, _REPORT)):
        visits = [_visit(page, tasks[page.url]) for page in pages]
        batch = Batch(f"segment-{number}", visits, sites=_proofs(leases))
        verdicts += frontier.report("worker", batch, NOW + number)
    frontier.db.close()
    return Judged([verdict.outcome is Outcome.DOCUMENT for verdict in verdicts], _check(folder, crawl, tasks))


def _visit(page: SiteText, task: Task) -> Visit:
    return Visit(Place(site_of(page.url)), task, Outcome.DOCUMENT, NOW, 200, content_hash=page.content_hash)


def _proofs(leases: dict[str, Lease]) -> list[SiteReport]:
    return [SiteReport(lease.place, lease.token, lease.clock) for lease in leases.values()]


def _check(folder: Path, crawl: Sequence[SiteText], tasks: dict[str, Task]) -> list[float]:
    """CPU seconds of what the check adds to a crawl, on a table of the same pages: the rest is done anyway."""
    frontier = open_frontier(folder / "check.db")
    frontier.add([Discovered(page.url) for page in crawl], NOW)
    spent = []
    for number, pages in enumerate(_cut(crawl, _REPORT)):
        visits = [_visit(page, tasks[page.url]) for page in pages]
        with frontier.db.transaction():
            start = time.process_time()
            duplicates.judge(frontier.db, near_method(DEFAULT), visits, (), f"segment-{number}", "worker")
            spent.append(time.process_time() - start)
    frontier.db.close()
    return spent


def index_both_ways(folder: Path, crawl: Sequence[SiteText], rounds: int = 1) -> Work:
    """Index a crawl late and early, in turn."""
    checks, lates, earlies = [], [], []
    for number in range(rounds):
        place = folder / str(number)
        place.mkdir()
        judged = judge(place, crawl)
        late, early = _index_in_turn(place, crawl, judged.documents, late_first=number % 2 == 0)
        checks.append(judged.check)
        lates.append(late)
        earlies.append(early)
    late = _least(lates)
    documents = sum(judged.documents)
    return Work(len(crawl), documents, sum(late), late[-1], sum(_least(earlies)), sum(_least(checks)))


def _least(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [min(times) for times in zip(*rounds, strict=True)]


def _index_in_turn(
    folder: Path, crawl: Sequence[SiteText], documents: Sequence[bool], late_first: bool
) -> tuple[list[float], list[float]]:
    """CPU seconds of each batch, late and early; the last ones of the late way are for taking the copies out."""
    late, early = _writer(folder / "late"), _writer(folder / "early")
    times: dict[IndexWriter, list[float]] = {late: [], early: []}
    for number, pages in enumerate(_cut(list(zip(crawl, documents, strict=True)), _COMMIT)):
        turns = [(late, [page for page, _ in pages]), (early, [page for page, document in pages if document])]
        for writer, mine in turns if late_first else reversed(turns):
            times[writer].append(_index(writer, mine, number + 1))
    times[late].append(_delete(late, _copies(crawl)))
    left = {writer.searcher().num_docs for writer in times}
    for writer in times:
        writer.close()
    if left != {sum(documents)}:
        raise AssertionError(f"both ways must leave the same documents in the index: {left}")
    return times[late], times[early]


def _copies(crawl: Sequence[SiteText]) -> set[int]:
    """Keys of the pages whose text an earlier page of the site has."""
    first: dict[tuple[str, str], str] = {}
    for page in crawl:
        first.setdefault((site_of(page.url), page.content_hash), page.url)
    owners = set(first.values())
    return {key64(page.url) for page in crawl if page.url not in owners}


def _writer(root: Path) -> IndexWriter:
    folder = IndexFolder(root)
    folder.switch(folder.create())
    return IndexWriter(folder.require(), root / "scratch")


def _index(writer: IndexWriter, pages: Sequence[SiteText], position: int) -> float:
    """CPU seconds of analysis, writing, commit and merges."""
    start = time.process_time()
    found = [IndexPage(url=p.url, title=p.title, text=p.text, lang=p.lang or None, fetched_at=NOW) for p in pages]
    writer.apply({page.key: build(page) for page in found}, (), position, NOW)
    writer.merge_some(wait=True)
    return time.process_time() - start


def _delete(writer: IndexWriter, keys: set[int]) -> float:
    start = time.process_time()
    writer.apply({}, keys, writer.position + 1, NOW)
    return time.process_time() - start


def _cut(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
