"""Segments stay few, and a document is rewritten at most five times; the library merges what the plan says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st
from indexing_kit import contents, documents, new_index, open_writer, page

from gossamer.index import commits, merging, schema
from gossamer.index.merging import LARGEST, plan

MINUTES_OF_A_YEAR = 525_600
SMALL = 10_000
"""Up to here the library takes all segments for alike."""

SIZES = st.one_of(
    st.integers(1, 300), st.integers(1, 12_000), st.integers(9_000, 60_000), st.integers(1, 12_000_000)
).flatmap(lambda written: st.tuples(st.just(written), st.one_of(st.just(written), st.integers(1, written))))
"""Documents written and alive."""


def as_written(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Segments of which nothing was deleted."""
    return [(size, size) for size in sizes]


class Segments:
    """Segments by their sizes, merged as planned, and how often their documents were rewritten."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []
        self.rewrites: list[int] = []
        """Of the document of each segment that was rewritten most."""
        self.written = self.rewritten = self.most_rewrites = 0

    def add(self, size: int) -> None:
        self.written += size
        self._append(size, 0)
        while groups := plan(self.sizes):
            self._merge(groups[0])

    def _merge(self, group: list[int]) -> None:
        size = sum(self.sizes[position][1] for position in group)
        rewrites = 1 + max(self.rewrites[position] for position in group)
        for position in sorted(group, reverse=True):
            del self.sizes[position], self.rewrites[position]
        self._append(size, rewrites)
        self.rewritten += size
        self.most_rewrites = max(self.most_rewrites, rewrites)

    def _append(self, size: int, rewrites: int) -> None:
        self.sizes.append((size, size))
        self.rewrites.append(rewrites)


@pytest.mark.long
def test_a_year_of_an_update_a_minute_rewrites_no_document_more_than_five_times_and_keeps_segments_few():
    segments, dice, most = Segments(), Random(1), 0
    for _ in range(MINUTES_OF_A_YEAR):
        segments.add(dice.randint(1, 50))
        most = max(most, len(segments.sizes))
    assert segments.written > 13_000_000
    assert segments.most_rewrites <= 5
    assert segments.rewritten / segments.written < 4.5
    assert most <= 80, "13 million documents: at most 76 segments were seen"
    full = [size for size, _ in segments.sizes if size >= LARGEST]
    assert len(full) <= segments.written / LARGEST


@pytest.mark.parametrize(
    ("changing", "limit"), [(1.0, 5), (0.2, 10)], ids=["all pages change", "one page of five changes"]
)
@pytest.mark.long
def test_pages_that_stay_are_hardly_rewritten_more_often_because_others_change(changing, limit):
    """A month of an update a minute, document by document, on an index of 20,000 pages that does not grow.

    Where few pages change, 4,000 here, they do not fill a segment of the next size: some are rewritten more
    often. That is cheap, since they are few, and it stays far from once per merge.
    """
    dice = Random(2)
    living: list[set[int]] = []
    written: list[int] = []
    home: dict[int, set[int]] = {}
    rewrites: Counter[int] = Counter()
    """Of the present version of each page."""
    worst = most = 0
    for _ in range(40_000):
        some = len(home) + 1 if len(home) < 20_000 else max(1, int(changing * len(home)))
        pages = {dice.randrange(some) if len(home) >= 20_000 else len(home) + n for n in range(dice.randint(1, 50))}
        for page_ in pages:
            home.get(page_, set()).discard(page_)
            rewrites[page_] = 0
        living, written = [*living, pages], [*written, len(pages)]
        home |= dict.fromkeys(pages, pages)
        while groups := plan([(size, len(docs)) for size, docs in zip(written, living, strict=True)]):
            group = set(groups[0])
            merged = set().union(*(living[position] for position in group))
            rewrites.update(merged)
            worst = max(worst, max((rewrites[page_] for page_ in merged), default=0))
            home |= dict.fromkeys(merged, merged)
            left = [position for position in range(len(living)) if position not in group]
            living, written = [*(living[at] for at in left), merged], [*(written[at] for at in left), len(merged)]
        some_left = [position for position, docs in enumerate(living) if docs]
        living, written = [living[at] for at in some_left], [written[at] for at in some_left]
        most = max(most, len(living))
    assert sum(map(len, living)) == len(home)
    assert worst <= limit
    assert most <= 80
    assert sum(written) < 8 * len(home), "what is deleted is not kept for ever"


@settings(max_examples=60)
@given(st.lists(st.integers(1, 2000), min_size=1, max_size=30), st.integers(0, 2**32))
def test_no_mix_of_update_sizes_rewrites_a_document_more_than_five_times(kinds, seed):
    segments, dice = Segments(), Random(seed)
    for _ in range(3000):
        segments.add(dice.choice(kinds))
    assert segments.most_rewrites <= 5


@given(st.lists(SIZES, max_size=150))
def test_groups_share_no_segment_and_never_hold_one_that_is_large_enough(sizes):
    members = [position for group in plan(sizes) for position in group]
    assert len(members) == len(set(members))
    assert all(sizes[position][1] < LARGEST for position in members)


@given(st.lists(SIZES, max_size=150))
def test_only_segments_that_the_library_finds_alike_are_grouped_and_enough_of_them(sizes):
    for group in plan(sizes):
        written = [sizes[position][0] for position in group]
        seen = [max(sizes[position][1], SMALL) for position in group]
        assert len(group) >= 8
        assert max(seen) <= min(seen) * 2**0.75
        if max(written) < SMALL:
            assert len(group) >= 16
            assert max(written) < 16 * min(written)
        else:
            assert min(written) >= SMALL


@given(st.lists(st.integers(1, 12_000), max_size=300))
def test_a_merge_makes_a_segment_several_times_as_large_as_its_parts(sizes):
    for group in plan(as_written(sizes)):
        parts = [sizes[position] for position in group]
        whole = sum(parts)
        if max(parts) < SMALL:
            assert whole.bit_length() - 1 >= (min(parts).bit_length() - 1) // 4 * 4 + 4, "of the next size at least"
        else:
            assert whole > 4.7 * max(parts)


@given(st.lists(st.integers(1, 12_000_000) | st.integers(1, 20_000), max_size=200))
def test_what_is_left_is_few_of_each_size(sizes):
    segments = Segments()
    for size in sizes:
        segments.add(size)
    left = [size for size, _ in segments.sizes]
    small = Counter((size.bit_length() - 1) // 4 for size in left if size < SMALL)
    assert all(count <= 15 for count in small.values())
    assert sum(SMALL <= size < LARGEST for size in left) <= 8 * 7


@given(st.lists(SIZES, max_size=150), st.integers(0, 2**32))
def test_the_order_of_the_segments_does_not_matter(sizes, seed):
    shuffled = list(sizes)
    Random(seed).shuffle(shuffled)
    ours = sorted(sorted(sizes[position] for position in group) for group in plan(sizes))
    theirs = sorted(sorted(shuffled[position] for position in group) for group in plan(shuffled))
    assert ours == theirs


# -- the library ------------------------------------------------------------------------------------


def tiny_segments(folder: Path, sizes: Iterable[int]) -> commits.Commit:
    """An index with segments of these sizes, of documents that have a key and nothing else."""
    folder.mkdir(parents=True)
    index = schema.prepare(tantivy.Index(schema.build(), str(folder)))
    made: list[commits.Segment] = []
    for number, size in enumerate(sizes):
        place = folder.parent / f"{folder.name}-{number}"
        place.mkdir()
        writer = schema.prepare(tantivy.Index(index.schema, str(place))).writer(50_000_000, 1)
        for key in range(size):
            document = tantivy.Document()
            document.add_integer(schema.KEY, number * 1_000_000 + key)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        segments = commits.read(place).segments
        assert len(segments) == 1
        commits.link(segments, place, folder)
        made += segments
    commit = commits.read(folder)
    commit = commits.Commit(tuple(made), 10, commits.Payload(), commit.settings, commit.fields)
    commits.write(folder, commit)
    return commit


@pytest.mark.parametrize(
    "sizes",
    [
        [1] * 16,
        [*range(1, 16), 1],
        [16, 255] * 8,
        [300] * 17,
        [*range(256, 2256, 50)],
        [4096] * 8 + [9_999] * 8,
        [10_000] * 8,
        [16_800] * 4 + [10_000] * 4,
        [12_000, 12_500, 13_000, 14_000, 15_000, 17_000, 19_000, 20_000, 20_100],
    ],
    ids=["one each", "up to 15", "second size", "17 alike", "40 of many sizes", "last small size", "at the border",
         "just alike", "large"],
)  # fmt: skip
def test_a_planned_group_becomes_one_segment(tmp_path, sizes):
    """Fails when a new version of the library merges by other rules; then `plan` must follow them."""
    commit = tiny_segments(tmp_path / "group", sizes)
    assert [sorted(group) for group in plan(as_written(sizes))] == [list(range(len(sizes)))]
    merged = merging.merge(tmp_path / "group")
    assert [segment.max_doc for segment in merged] == [sum(sizes)]
    assert merged[0].segment_id not in {segment.segment_id for segment in commit.segments}


def test_several_groups_become_one_segment_each_and_the_rest_stays(tmp_path):
    sizes = [2] * 16 + [300] * 16 + [5000, 11_000] + [10_000] * 7
    folder = tmp_path / "g000001" / "tantivy"
    commit = tiny_segments(folder, sizes)
    writer = open_writer(folder)
    assert len(plan(as_written(sizes))) == 3
    writer.merge_some(wait=True)
    left = commits.read(folder).segments
    assert Counter(segment.max_doc for segment in left) == Counter([32, 4800, 81_000, 5000])
    kept = {segment.segment_id for segment in commit.segments} & {segment.segment_id for segment in left}
    assert len(kept) == 1
    assert writer.rewritten == 32 + 4800 + 81_000
    writer.close()


def test_segments_that_lost_documents_are_merged_as_planned(tmp_path):
    """The library goes by what is left, the plan of small segments by what was written: both must agree on a group."""
    folder = tmp_path / "g000001" / "tantivy"
    sizes = [300] * 16 + [10_000] * 4 + [16_000] * 4
    tiny_segments(folder, sizes)
    writer = open_writer(folder)
    gone = {number * 1_000_000 + key for number in range(15) for key in range(20 * number)}
    gone |= {number * 1_000_000 + key for number in range(16, 24) for key in range(500 * (number - 16))}
    writer.merge_some(wait=False)
    writer.apply({}, gone, 1, 1.0)
    writer.merge_some(wait=True)
    left = sorted((segment.max_doc, segment.alive) for segment in commits.read(folder).segments)
    assert sum(alive for _, alive in left) == sum(sizes) - len(gone)
    assert len(left) == 2
    writer.close()


def test_a_merge_leaves_out_what_was_deleted(tmp_path):
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    for number in range(15):
        writer.apply(documents([page(number), page(100 + number)]), (), number + 1, 1.0)
    writer.apply({}, {page(100 + n).key for n in range(15)}, 16, 1.0)
    writer.apply(documents([page(50)]), (), 17, 1.0)
    writer.merge_some(wait=True)
    assert [(segment.max_doc, segment.deletes) for segment in commits.read(folder).segments] == [(16, None)]
    assert len(contents(folder)) == 16
    writer.close()


def test_without_a_plan_of_ours_a_trickle_would_be_rewritten_much_more(tmp_path):
    """Why the library is not left to merge by itself: it takes all small segments for alike."""
    (tmp_path / "plain").mkdir()
    index = schema.prepare(tantivy.Index(schema.build(), str(tmp_path / "plain")))
    writer = index.writer(15_000_000, 1)
    rewritten, known = 0, {}
    for number in range(80):
        for document in documents([page(number)]).values():
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        segments = {segment.segment_id: segment.max_doc for segment in commits.read(tmp_path / "plain").segments}
        rewritten += sum(size for name, size in segments.items() if name not in known and size > 1)
        known = segments
        writer = index.writer(15_000_000, 1)
    ours = Segments()
    for _ in range(80):
        ours.add(1)
    assert rewritten / 80 > 4 * ours.rewritten / 80
