"""The link graph of a real crawl: that of the demo web, with its redirects, copies, aliases and traps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from history_kit import Expected, Seen

from gossamer.data.folder import DataFolder
from gossamer.engine.contract import InlineEngine
from gossamer.frontier.views.inspect import segment_ids
from gossamer.jobs.link_graph import GraphSource, build_graph
from gossamer.model.records import Link
from gossamer.store.place import LocalPlace
from gossamer.store.segments import open_links, open_pages


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    data = tmp_path_factory.mktemp("demo") / "data"
    command = [sys.executable, "-m", "gossamer.cli", "demo", "--no-serve", "--delay", "0", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return DataFolder(data)


def history_of(folder: DataFolder, names: list[str]) -> list[list[Seen]]:
    """The stored visits, read back row by row."""
    history = []
    for name in names:
        pages = open_pages(folder.segments, name)
        rows = [pages.page(row) for row in range(pages.rows)]
        links = [row for table in open_links(folder.segments, name).groups() for row in table.to_pylist()]
        history.append(
            [
                Seen(
                    page.url,
                    page.fetched_at,
                    page.outcome,
                    page.target,
                    [
                        Link(link["target"], link["anchor"], link["rel"], link["tag"])
                        for link in links
                        if link["source"] == page.url and link["fetched_at"].timestamp() == page.fetched_at
                    ],
                )
                for page in rows
            ]
        )
    return history


def test_the_graph_of_the_demo_crawl_is_that_of_its_history(demo: DataFolder, tmp_path: Path) -> None:
    db = demo.read()
    try:
        names = sorted(segment_ids(db))
        documents = {url for (url,) in db.execute("SELECT url FROM urls WHERE outcome = 'document'")}
    finally:
        db.close()
    source = GraphSource(demo.segments.url, names)
    graph = build_graph(InlineEngine(), LocalPlace(tmp_path), "g1", source, 5.0, block_links=1000)
    urls = graph.urls(np.arange(graph.info.nodes))
    sources, targets = graph.into(np.arange(graph.info.nodes))
    expected = Expected(history_of(demo, names))
    assert set(urls) == expected.documents == documents
    assert {(urls[source], urls[target]) for source, target in zip(sources, targets, strict=True)} == expected.links
    assert len(sources) == len(expected.links) > 3 * len(urls)
