"""The cut of an index: every document has one shard, the shards are of like size, and wrong cuts are named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import BusyError, UsageError
from gossamer.index import commits
from gossamer.index.commits import IndexCutError
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import WHOLE, Cut, parse_cut, shard_of
from gossamer.model.site import key64

KEYS = st.integers(-(2**63), 2**63 - 1)


@given(KEYS, st.integers(1, 64))
def test_exactly_one_shard_holds_a_document(key: int, shards: int) -> None:
    holders = [shard for shard in range(1, shards + 1) if Cut(shard, shards).holds(key)]
    assert holders == [shard_of(key, shards)]


@pytest.mark.parametrize("shards", [2, 3, 4, 10])
def test_shards_are_of_like_size_whatever_the_addresses_look_like(shards: int) -> None:
    sizes = Counter(shard_of(key64(f"http://site.test/page/{n}"), shards) for n in range(20_000))
    assert set(sizes) == set(range(1, shards + 1))
    assert max(sizes.values()) - min(sizes.values()) < 0.1 * 20_000 / shards
    neighbours = Counter(shard_of(n, shards) for n in range(20_000))
    assert max(neighbours.values()) - min(neighbours.values()) < 0.1 * 20_000 / shards


def test_the_shard_of_a_url_stays_what_it_is() -> None:
    """Indexes are divided by it: a change would make every one of them wrong."""
    urls = ["http://weaver.test/", "http://weaver.test/spiders/", "https://библиотека.test/", "http://a.test/?q=1"]
    assert [shard_of(key64(url), 4) for url in urls] == [4, 3, 4, 3]


@pytest.mark.parametrize(("text", "cut"), [("2/4", Cut(2, 4)), ("", WHOLE), (" 1/1 ", WHOLE), ("10/10", Cut(10, 10))])
def test_a_cut_is_read_as_it_is_written(text: str, cut: Cut) -> None:
    assert parse_cut(text) == cut
    assert parse_cut(str(cut)) == cut


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", "2/4/4", "-1/4", "1/9999", "2 of 4"])
def test_what_is_no_cut_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="2/4"):
        parse_cut(text)


def test_the_cut_is_part_of_the_commit_and_another_one_is_refused(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path / "index")
    folder.switch(folder.create("a crawl", Cut(2, 4)))
    payload = commits.read(folder.require()).payload
    assert payload.cut == Cut(2, 4) == folder.cut()
    commits.check_cut(folder.require(), payload, Cut(2, 4))
    with pytest.raises(IndexCutError, match=r"holds shard 2/4, not shard 1/4.*index --rebuild --shard 1/4"):
        commits.check_cut(folder.require(), payload, Cut(1, 4))
    with pytest.raises(IndexCutError, match=r"holds shard 2/4, not all documents: use it with --shard 2/4"):
        commits.check_cut(folder.require(), payload, WHOLE)


def test_an_index_made_before_there_were_shards_holds_everything(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path / "index")
    folder.switch(folder.create("a crawl"))
    meta = folder.require() / commits.META
    meta.write_text(meta.read_text().replace(',\\"shard\\":1,\\"shards\\":1', ""))
    assert '"shard' not in meta.read_text()
    assert commits.read(folder.require()).payload.cut == WHOLE


def test_an_index_outside_a_data_folder_has_one_indexer(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path / "index")
    with folder.lock(), pytest.raises(BusyError, match="already"), IndexFolder(tmp_path / "index").lock():
        pass
    with folder.lock():
        pass
