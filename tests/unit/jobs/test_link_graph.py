"""The link graph that the job makes of segments is the one that their history means, however it is cut."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from history_kit import Expected, Seen, write_history
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.engine.contract import Engine, InlineEngine
from gossamer.engine.local import LocalEngine
from gossamer.errors import CorruptError
from gossamer.jobs.graph_files import GraphFiles
from gossamer.jobs.link_graph import GraphSource, build_graph
from gossamer.model.records import Link
from gossamer.model.site import key64, site_of
from gossamer.store.durable import SegmentMissingError
from gossamer.store.place import LocalPlace

URLS = [f"http://{host}.test/{path}" for host in ("a", "b", "c") for path in ("", "1", "x/2", "x/3", "y")]
PREFIXES = ["http://a.test/x/", "http://b.test/1"]
OUTCOMES = ["document"] * 4 + ["redirect", "alias", "duplicate", "gone", "not_modified", "timeout", "noindex"]

links = st.builds(
    Link,
    st.sampled_from(URLS),
    st.sampled_from(["", "one", "two"]),
    st.sampled_from(["", "nofollow", "ugc nofollow", "nofollowed"]),
)
visits = st.builds(
    Seen, st.sampled_from(URLS), st.sampled_from([1.0, 2.0, 2.5]), st.sampled_from(OUTCOMES),
    st.sampled_from([None, *URLS]), st.lists(links, max_size=6),
)  # fmt: skip
histories = st.lists(st.lists(visits, max_size=12), min_size=1, max_size=4)


def graph_of(
    root: Path, history: Sequence[Sequence[Seen]], removed: Sequence[str] = (), block: int = 100
) -> GraphFiles:
    names = write_history(root / "segments", history)
    source = GraphSource(str(root / "segments"), names, removed)
    return build_graph(InlineEngine(), LocalPlace(root), "g1", source, 5.0, block_links=block)


def arcs(graph: GraphFiles) -> tuple[list[str], set[tuple[str, str]]]:
    """The URLs of all nodes, and the links between them."""
    urls = graph.urls(np.arange(graph.info.nodes))
    sources, targets = graph.into(np.arange(graph.info.nodes))
    pairs = [(urls[source], urls[target]) for source, target in zip(sources, targets, strict=True)]
    assert len(pairs) == len(set(pairs)) == graph.info.edges
    return urls, set(pairs)


def doc(url: str, *targets: str, time: float = 1.0) -> Seen:
    return Seen(url, time, links=[Link(target) for target in targets])


@settings(max_examples=50)
@given(histories, st.sets(st.sampled_from(PREFIXES)), st.sampled_from([8, 25, 1000]))
def test_the_graph_is_what_the_history_means(history: list[list[Seen]], removed: set[str], block: int) -> None:
    expected = Expected(history, sorted(removed))
    with tempfile.TemporaryDirectory() as folder:
        graph = graph_of(Path(folder), history, sorted(removed), block)
        urls, found = arcs(graph)
        assert set(urls) == expected.documents and len(urls) == len(expected.documents)
        assert found == expected.links
        assert graph.keys().tolist() == [key64(url) for url in urls] == sorted(map(key64, urls))
        assert graph.out().tolist() == [sum(source == url for source, _ in found) for url in urls]
        assert [graph.sites()[number] for number in graph.site_numbers()] == [site_of(url) for url in urls]
        assert graph.info.sites == len(graph.sites()) == len(set(map(site_of, urls)))
        assert not list(LocalPlace(Path(folder)).names("work/"))


def test_only_the_newest_version_of_a_page_has_links(tmp_path: Path) -> None:
    a, b, c = URLS[:3]
    history = [
        [doc(b), doc(c), doc(a, b, time=1)],
        [doc(a, c, time=3)],
        [doc(a, b, time=2), Seen(a, 4, "not_modified")],
    ]
    assert arcs(graph_of(tmp_path, history))[1] == {(a, c)}


def test_a_page_that_lost_its_links_has_none(tmp_path: Path) -> None:
    a, b = URLS[:2]
    assert arcs(graph_of(tmp_path, [[doc(b), doc(a, b)], [doc(a, time=2)]])) == (sorted([a, b], key=key64), set())


def test_a_failure_of_the_moment_takes_no_page_away_and_a_lasting_one_does(tmp_path: Path) -> None:
    a, b, c = URLS[:3]
    later = [Seen(b, 2, "timeout"), Seen(c, 2, "gone")]
    assert arcs(graph_of(tmp_path, [[doc(a, b, c), doc(b), doc(c)], later]))[1] == {(a, b)}


@pytest.mark.parametrize("steps", [1, 5, 6])
def test_links_count_for_the_end_of_a_chain_of_five_steps(tmp_path: Path, steps: int) -> None:
    chain = URLS[2 : 2 + steps]
    leads = [Seen(url, 1, "redirect", target) for url, target in zip(chain, [*chain[1:], URLS[1]], strict=True)]
    found = arcs(graph_of(tmp_path, [[doc(URLS[0], chain[0]), doc(URLS[1]), *leads]]))[1]
    assert found == ({(URLS[0], URLS[1])} if steps <= 5 else set())


def test_redirects_in_a_circle_end_nowhere(tmp_path: Path) -> None:
    a, b, c = URLS[:3]
    circle = [Seen(b, 1, "redirect", c), Seen(c, 1, "redirect", b)]
    assert arcs(graph_of(tmp_path, [[doc(a, b, c), *circle]])) == ([a], set())


def test_the_same_bytes_on_every_engine_and_in_every_order_of_segments(tmp_path: Path) -> None:
    pages = [
        doc(f"http://s{n % 7}.test/{n}", *(f"http://s{m % 7}.test/{m}" for m in range(n % 9, 60, 4))) for n in range(60)
    ]
    moved = [Seen(f"http://s{n % 7}.test/{n}", 2, "redirect", f"http://s1.test/{n + 1}") for n in range(3, 50, 5)]
    names = write_history(tmp_path / "segments", [pages[:20], pages[20:], moved])
    written = []
    engine = LocalEngine(2)
    try:
        runs: list[tuple[Engine, list[str]]] = [(InlineEngine(), names), (engine, names[::-1])]
        for number, (runner, order) in enumerate(runs):
            place = LocalPlace(tmp_path / f"run{number}")
            source = GraphSource(str(tmp_path / "segments"), order)
            build_graph(runner, place, "g1", source, 5.0, block_links=100)
            written.append({name: place.get(name) for name in place.names()})
    finally:
        engine.close()
    assert written[0] == written[1]
    assert sum("indptr" in name for name in written[0]) > 2


def test_a_crawl_without_documents_has_an_empty_graph(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [[Seen(URLS[0], 1, "gone")]])
    assert (graph.info.nodes, graph.info.edges, graph.info.blocks) == (0, 0, [0])
    assert graph.keys().tolist() == graph.out().tolist() == graph.sites() == []


def test_a_missing_segment_and_a_damaged_one_are_errors_that_name_it(tmp_path: Path) -> None:
    (name,) = write_history(tmp_path / "segments", [[doc(URLS[0], URLS[1])]])
    source = GraphSource(str(tmp_path / "segments"), [name, "20260101T000000000-w9-000009"])
    with pytest.raises(SegmentMissingError, match="w9"):
        build_graph(InlineEngine(), LocalPlace(tmp_path), "g1", source, 5.0)
    (tmp_path / "segments" / name / "links.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(CorruptError, match=name):
        build_graph(InlineEngine(), LocalPlace(tmp_path), "g1", GraphSource(source.segments, [name]), 5.0)
    assert not list(LocalPlace(tmp_path).names("work/"))
