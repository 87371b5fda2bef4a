"""`gossamer search`: results for people and for programs, and clear words where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inside import fails, gossamer

sys.path.append(str(Path(__file__).parents[1] / "web"))
from grouping_kit import space_index

from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter

PAGES = [
    IndexPage(
        url="http://a.test/rocket", title="Rockets", text="A rocket flies to the moon.", lang="en", date="2024-05-17"
    ),
    IndexPage(
        url="http://a.test/steer", title="\x1b]0;owned\x07 \x1b[31mred", text="steering a terminal \x1b[2J rocket"
    ),
    IndexPage(url="http://a.test/[bold]", title="[red]markup[/red]", text="rich [bold]markup[/bold] of a page"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("verb")
    folder = IndexFolder(root / "index")
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    writer.apply({page.key: build(page) for page in PAGES}, (), 1, 0.0)
    yield root
    writer.close()


def test_a_person_sees_title_address_date_and_excerpt(data: Path) -> None:
    shown = gossamer("search", "rockets", data=data).out
    for piece in ("Rockets", "http://a.test/rocket", "2024-05-17", "flies to the moon", "2 pages"):
        assert piece in shown


def test_a_page_cannot_steer_the_terminal_or_its_colours(data: Path) -> None:
    assert "\x1b" not in gossamer("search", "steering", data=data).out
    shown = gossamer("search", "markup", data=data).out
    assert "[red]markup[/red]" in shown and "http://a.test/[bold]" in shown


def test_the_json_is_stable(data: Path) -> None:
    answer = gossamer("search", "rocket", "--json", "--limit", "1", data=data).json
    assert {"total", "hits", "page", "pages", "facets", "did_you_mean", "notices"} <= answer.keys()
    assert {"url", "title", "excerpt", "score", "date", "lang"} <= answer["hits"][0].keys()
    assert answer["total"] == 2 and len(answer["hits"]) == 1


def test_a_score_is_explained_term_by_term(data: Path) -> None:
    shown = gossamer("search", "rocket", "--why", "http://a.test/rocket", data=data).out
    assert "in the title" in shown and "in the text" in shown and "short address" in shown
    assert "not in the index" in gossamer("search", "rocket", "--why", "http://b.test/", data=data).out


def test_words_that_begin_with_a_hyphen_are_excluded_words(data: Path) -> None:
    assert gossamer("search", "rocket", "-moon", "--json", data=data).json["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([""], "nothing to search for"),
        (["rocket", "--limit", "0"], "--limit"),
        (["rocket", "--limit", "101"], "--limit"),
        (["rocket", "--ranking", "magic"], "web, bm25"),
    ],
)
def test_wrong_usage(data: Path, arguments: list[str], words: str) -> None:
    fails(gossamer("search", *arguments, data=data), 2, words)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Pages of many sites."""
    root = tmp_path_factory.mktemp("space")
    index = space_index(root / "index")
    yield root
    index.writer.close()


def test_pages_like_another_are_shown_with_the_words_that_they_share(space: Path) -> None:
    like = "https://www.spaceflight.example.org/engine/1"
    shown = gossamer("search", "--like", like, data=space).out
    assert "These pages share words with" in shown and f"{like[:-1]}2" in shown and f" {like} " not in shown
    assert gossamer("search", "harbour", "--like", like, "--json", data=space).json["total"] == 1
    fails(gossamer("search", "--like", "!?", data=space), 2, "is not the address of a page")


def test_results_of_a_site_are_limited_unless_somebody_says_no(space: Path) -> None:
    assert "more: 10 pages, site:example.org" in gossamer("search", "rocket", data=space).out
    assert "more: " not in gossamer("search", "rocket", "--no-group", data=space).out
