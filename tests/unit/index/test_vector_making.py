"""The maker follows the index: what is missing is made, what changed is made anew, what left leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.schema import StoredDocument
from gossamer.index.vectors.store import VectorFolder
from gossamer.index.writer import IndexWriter
from gossamer.indexer import vector_making
from gossamer.indexer.vector_making import VectorMaker, text_of
from gossamer.testing import FakeClock
from kit.semantic import CountingEncoder


class Crawled:
    """An index that grows, and who makes its vectors."""

    def __init__(self, root: Path) -> None:
        self.folder = IndexFolder(root)
        generation = self.folder.create()
        self.folder.switch(generation)
        self.writer = IndexWriter(self.folder.tantivy(generation), self.folder.scratch(generation))
        self.clock, self.encoder, self.cpu = FakeClock(1_000.0), CountingEncoder(), 0.0

    def put(self, *numbers: int, text: str = "text", lang: str = "en", gone: tuple[int, ...] = ()) -> None:
        pages = [
            IndexPage(url=url(number), title=f"Page {number}", text=f"{text} {number}", lang=lang) for number in numbers
        ]
        keys = {IndexPage(url=url(number)).key for number in gone}
        self.writer.apply({one.key: build(one) for one in pages}, keys, self.writer.position + 1, 1.0)

    def maker(self, share: float = 1.0) -> VectorMaker:
        return VectorMaker(self.folder, self.encoder, share, self.clock.now, self.spent)

    def spent(self) -> float:
        """Processor time, which passes on the clock as well."""
        before, self.cpu = self.cpu, len(self.encoder.texts) * 0.02
        self.clock.advance(self.cpu - before)
        return self.cpu

    def embedded(self) -> int:
        return len(VectorMaker(self.folder, None))


def url(number: int) -> str:
    return f"https://www.a.example/{number}"


@pytest.fixture
def crawled(tmp_path: Path) -> Crawled:
    return Crawled(tmp_path)


def test_every_page_gets_a_vector_once(crawled: Crawled) -> None:
    crawled.put(*range(30))
    crawled.put(*range(30, 45))
    assert crawled.maker().finish() == 45 == crawled.embedded()
    assert sorted(crawled.encoder.texts)[0] == "Page 0\ntext 0"
    crawled.put(45)
    assert crawled.maker().finish() == 1
    assert crawled.maker().finish() == 0


def test_only_pages_with_another_text_are_made_anew(crawled: Crawled) -> None:
    crawled.put(*range(10))
    maker = crawled.maker()
    assert maker.finish() == 10
    crawled.put(3, 4)
    crawled.put(5, text="new")
    assert maker.finish() == 1 and crawled.encoder.texts[-1] == "Page 5\nnew 5"


def test_merged_segments_cost_no_encoding(crawled: Crawled) -> None:
    for number in range(40):
        crawled.put(number)
    maker = crawled.maker()
    assert maker.finish() == 40
    crawled.writer.merge_some(wait=True)
    assert crawled.writer.segments < 20
    assert maker.finish() == crawled.maker().finish() == 0 and crawled.embedded() == 40


def test_pages_that_left_or_changed_their_language_lose_their_vectors(crawled: Crawled) -> None:
    crawled.put(*range(10))
    crawled.put(20, lang="de")
    crawled.maker().finish()
    assert crawled.embedded() == 10
    crawled.put(4, lang="fr", gone=(1, 2))
    crawled.maker().finish()
    assert crawled.embedded() == 7


def test_little_by_little_everything_is_made_and_removed(crawled: Crawled) -> None:
    crawled.put(*range(50))
    maker = crawled.maker()
    ticks = 0
    while maker.tick():
        ticks += 1
    assert ticks >= 7 and crawled.embedded() == 50
    crawled.put(gone=tuple(range(5)))
    crawled.clock.advance(61)
    while maker.tick():
        pass
    assert crawled.embedded() == 45 and not maker.tick()


def test_without_a_model_vectors_only_leave_with_their_pages(crawled: Crawled) -> None:
    crawled.put(*range(5))
    crawled.maker().finish()
    crawled.put(7, gone=(1,))
    VectorMaker(crawled.folder, None).finish()
    assert crawled.embedded() == 4


def test_the_budget_is_kept(crawled: Crawled) -> None:
    crawled.put(*range(200))
    maker = crawled.maker(share=0.25)
    began = crawled.clock.now()
    while crawled.cpu < 3.0:
        maker.tick()
        crawled.clock.advance(0.01)
    assert 0.2 < crawled.cpu / (crawled.clock.now() - began) < 0.27
    assert not crawled.maker(share=0.0).tick()


def test_a_killed_maker_goes_on_where_it_committed(crawled: Crawled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_making, "_COMMIT_PAGES", 16)
    crawled.put(*range(40))
    maker = crawled.maker()
    for _ in range(3):
        maker.step()
    del maker  # 24 were made, 16 are committed
    assert crawled.embedded() == 16 and not VectorFolder(crawled.folder.root).read().read
    assert crawled.maker().finish() == 24


def test_a_segment_counts_as_read_when_its_last_page_is_committed(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_making, "_COMMIT_PAGES", 1)
    crawled.put(*range(20))
    maker = crawled.maker()
    maker.step()
    assert crawled.embedded() == 8 and crawled.maker().finish() == 12


def test_an_index_that_grows_meanwhile_is_gone_through(crawled: Crawled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_making, "_LOOKED_AT", 10)
    crawled.put(*range(100))
    maker = crawled.maker()
    for number in range(100, 140):
        maker.step()
        crawled.put(number)
    maker.finish()
    assert crawled.embedded() == 140 == len(set(crawled.encoder.texts)) == len(crawled.encoder.texts)


def test_a_rebuilt_index_keeps_its_vectors(crawled: Crawled) -> None:
    crawled.put(*range(10))
    crawled.maker().finish()
    made = crawled.folder.create()
    crawled.writer = IndexWriter(crawled.folder.tantivy(made), crawled.folder.scratch(made))
    crawled.put(*range(10))
    crawled.folder.switch(made)
    assert crawled.maker().finish() == 0 and crawled.embedded() == 10


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Title", "Title and more", "Title and more"),
        ("Title", "Other", "Title\nOther"),
        ("", "Text", "Text"),
        ("T", "x" * 9_000, "T\n" + "x" * 1_998),
    ],
)
def test_a_vector_is_made_from_title_and_beginning(title: str, text: str, expected: str) -> None:
    assert text_of(StoredDocument("https://a.example/", title, text, "a.example")) == expected
