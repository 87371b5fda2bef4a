"""The texts of links to a page are those of the links that count in the graph, counted by page."""

from __future__ import annotations

import tempfile
from pathlib import Path

from history_kit import Expected, Seen, write_history
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.engine.contract import InlineEngine
from gossamer.jobs.anchor_texts import AnchorText, anchor_texts, collect_anchor_texts
from gossamer.jobs.graph_files import GraphFiles
from gossamer.jobs.link_graph import GraphSource, build_graph
from gossamer.model.records import Link
from gossamer.store.place import LocalPlace

URLS = [f"http://{host}.test/{path}" for host in ("a", "b") for path in ("", "1", "2", "3")]
links = st.builds(
    Link,
    st.sampled_from(URLS),
    st.sampled_from(["", "Home", "home", "дом", "home, sweet home"]),
    st.sampled_from(["", "nofollow"]),
    st.sampled_from(["a", "area", "iframe"]),
)
visits = st.builds(
    Seen,
    st.sampled_from(URLS),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from(["document", "document", "redirect", "gone"]),
    st.sampled_from(URLS),
    st.lists(links, max_size=6),
)


def collected(root: Path, history: list[list[Seen]], most: int, block: int = 1000) -> GraphFiles:
    names = write_history(root / "segments", history)
    source = GraphSource(str(root / "segments"), names)
    graph = build_graph(InlineEngine(), LocalPlace(root), "g1", source, 5.0, block_links=block)
    collect_anchor_texts(InlineEngine(), graph, source.segments, most)
    return graph


def texts_of(graph: GraphFiles) -> dict[str, list[AnchorText]]:
    return {url: anchor_texts(graph, node) for node, url in enumerate(graph.urls(range(graph.info.nodes)))}


@settings(max_examples=40)
@given(st.lists(st.lists(visits, max_size=10), min_size=1, max_size=3), st.integers(1, 3), st.sampled_from([12, 1000]))
def test_each_page_has_its_most_frequent_texts(history: list[list[Seen]], most: int, block: int) -> None:
    expected = Expected(history)
    with tempfile.TemporaryDirectory() as folder:
        found = texts_of(collected(Path(folder), history, most, block))
        assert not list(LocalPlace(Path(folder)).names("work/"))
    assert found.keys() == expected.documents
    for url, texts in found.items():
        counted = sorted((-len(sources), text) for text, sources in expected.texts[url].items())
        assert texts == [AnchorText(text, -count) for count, text in counted[:most]]


def test_without_collected_texts_a_page_has_none(tmp_path: Path) -> None:
    names = write_history(tmp_path / "segments", [[Seen(URLS[0], 1.0)]])
    source = GraphSource(str(tmp_path / "segments"), names)
    graph = build_graph(InlineEngine(), LocalPlace(tmp_path), "g1", source, 5.0)
    assert anchor_texts(graph, 0) == []
