"""Jobs whose segments, files between tasks and results lie in an object store. Run by `test_s3_jobs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from s3_kit import BUCKET, running_store

sys.path.append(str(Path(__file__).parent.parent / "unit" / "jobs"))
sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from index_kit import contents
from stored_kit import Stored, row

from gossamer.engine.contract import Engine, InlineEngine
from gossamer.engine.local import LocalEngine
from gossamer.index.shards import Cut
from gossamer.jobs import mirror_search, near_clusters, prefix_statistics, vocabulary
from gossamer.jobs.context import result_table
from gossamer.jobs.index_build import build_shards, install_shard
from gossamer.jobs.run import JobOptions, job_named, save_files, working
from gossamer.store.place import open_place

ORDERS = {
    "prefix-statistics": prefix_statistics.ORDER,
    "near-clusters": near_clusters.ORDER,
    "mirror-search": mirror_search.ORDER,
    "vocabulary": vocabulary.ORDER,
}
NOW = 1_800_000_000.0


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with running_store(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def make(root: Path, segments: str = "") -> Stored:
    stored = Stored(root, segments=segments)
    for site in ("a.test", "b.test", "c.test"):
        pages = []
        for number in range(30):
            words = " ".join(f"{site[0] if number > 24 else ''}word{number}x{place}" for place in range(80))
            pages.append(row(f"http://{site}/p/{number}", words, title=f"Page {number}", content_hash=words[:32]))
        stored.write(pages)
    return stored


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return make(tmp_path_factory.mktemp("far"), f"s3://{BUCKET}/segments")


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return make(tmp_path_factory.mktemp("near"))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = LocalEngine(2)
    yield engine
    engine.close()


def run(name: str, stored: Stored, work: str, engine: Engine, out: Path) -> tuple[Any, list[dict[str, Any]]]:
    with working(name, engine, stored.db, stored.segments.url, work, NOW, parts=3) as context:
        result = job_named(name).run(context, JobOptions(NOW))
        rows = result_table(context.place, result.files, ORDERS[name]).to_pylist()
        assert len(save_files(context.place, result.files, out)) == len(result.files)
    assert list(open_place(work).names()) == []
    return msgspec.to_builtins(result.report), rows


@pytest.mark.parametrize("name", ORDERS)
def test_results_are_those_of_folders(name: str, near: Stored, far: Stored, engine: Engine, tmp_path: Path) -> None:
    expected = run(name, near, str(tmp_path / "work"), InlineEngine(), tmp_path / "one")
    assert run(name, far, f"s3://{BUCKET}/work", engine, tmp_path / "other") == expected
    assert expected[1]


def test_an_index_is_built_in_a_store(near: Stored, far: Stored, engine: Engine, tmp_path: Path) -> None:
    found = []
    for stored, place, chosen in ((near, str(tmp_path), InlineEngine()), (far, f"s3://{BUCKET}", engine)):
        with working("index", chosen, stored.db, stored.segments.url, f"{place}/work", NOW, parts=2) as context:
            report = build_shards(context, 2, f"{place}/index", NOW)
        pages = {}
        for shard in report.shards:
            folder = tmp_path / chosen.name / str(shard.shard)
            install_shard(open_place(f"{place}/index"), Cut(shard.shard, shard.shards), folder / "index")
            pages |= contents(folder).pages
        found.append(pages)
    assert found[0] == found[1]
    assert len(found[0]) == 90


def test_a_segment_that_is_gone_from_the_store_is_named(far: Stored, tmp_path: Path, engine: Engine) -> None:
    lost = far.write([row("http://d.test/", "lost")])
    far.segments.discard(lost)
    with working("x", engine, far.db, far.segments.url, str(tmp_path), NOW, parts=3) as context:
        report = vocabulary.vocabulary(context)[0]
    assert [(one.segment, one.pages) for one in report.unread] == [(lost, 1)]
    assert report.documents == 90
