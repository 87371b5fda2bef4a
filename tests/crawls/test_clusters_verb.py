"""Near duplicates and old versions, as a person meets them: `clusters`, `history --diff`, `search`, and the pages of
`serve`. One small web is crawled, changed, and crawled again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from crawl_kit import crawl, run
from inside import fails, gossamer

sys.path.append(str(Path(__file__).parent.parent / "web"))
from web_kit import serving

from gossamer.cli.searching.history import marked
from gossamer.compose.serve import crawl_services
from gossamer.data.folder import DataFolder
from gossamer.dedup.difference import Piece
from gossamer.errors import BusyError
from gossamer.serving.stories import StoredStories
from gossamer.settings import load
from gossamer.testing import FakeWeb

THINGS = "tower mill school bakery bridge library harbour station theatre museum".split()
PARTS = "roof wheel bell oven arch window light clock curtain gate".split()
PARAGRAPHS = [
    f"The {thing} of the lane was built in the year {1900 + number}, and its {part} can be seen from afar. "
    f"Some {number + 20} people keep the {thing} in order, and on day {number + 3} of each month the {part} is cleaned."
    for number, (thing, part) in enumerate([*zip(THINGS, PARTS, strict=True), *zip(PARTS, THINGS, strict=True)])
]


def html(title: str, day: str, paragraphs: list[str]) -> str:
    text = "</p><p>".join(paragraphs)
    date = f'<meta property="article:published_time" content="{day}T08:00:00Z">' if day else ""
    head = f"<head><title>{title}</title>{date}</head>"
    return f"<html>{head}<body><main><h1>{title}</h1><p>{text}</p></main></body></html>"


class Crawled(NamedTuple):
    data: Path
    first: str
    """Published first."""
    copy: str
    """The same with a few words changed, on another host."""
    changing: str


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("clusters") / "data"
    web = FakeWeb("127.0.47")
    one, two = web.site("one.test"), web.site("two.test")
    copied = [*PARAGRAPHS[:-1], PARAGRAPHS[-1].replace("keep", "always keep")]
    one.page("/2024/03/05/story", html("All about the lane", "2024-03-05", copied))
    two.page("/2024/03/01/copied", html("The lane, retold", "2024-03-01", PARAGRAPHS))
    one.page("/changing", html("Old news", "", [f"{text} Nobody knows why." for text in reversed(PARAGRAPHS)]))
    with web:
        seeds = [one.url("/2024/03/05/story"), two.url("/2024/03/01/copied"), one.url("/changing")]
        crawl(web, data, seeds, crawl={"index": True})
        later = [f"{text} Nobody knows why." for text in reversed(PARAGRAPHS)]
        later[3] = later[3].replace("Nobody", "Everybody")
        one.page("/changing", html("New news", "", [*later, "A paragraph that was never there before it was written."]))
        assert gossamer("recrawl", one.url("/changing"), data=data).code == 0
        again = run("crawl", "--quiet", data=data)
        assert again.returncode == 0, again.stderr
        yield Crawled(data, two.url("/2024/03/01/copied"), one.url("/2024/03/05/story"), one.url("/changing"))


def test_the_largest_clusters_are_listed_with_representative_and_reason(crawled: Crawled) -> None:
    done = gossamer("clusters", data=crawled.data)
    assert done.out == f"     2 pages  {crawled.first}  (published first)\n"
    (cluster,) = gossamer("clusters", "--json", data=crawled.data).json
    assert (cluster["pages"], cluster["representative"]) == (2, crawled.first)


def test_a_cluster_lists_its_pages_in_order_of_time(crawled: Crawled) -> None:
    head, first, second = gossamer("clusters", crawled.copy, data=crawled.data).out.splitlines()
    assert head.endswith(", 2 pages")
    assert first.split("  ", 1)[1].startswith("2024-03-01") and crawled.first in first
    assert "(published first; shown in results: published first)" in first
    assert "2024-03-05" in second and second.endswith(crawled.copy)
    story = gossamer("clusters", crawled.copy, "--json", data=crawled.data).json
    assert [page["url"] for page in story["pages"]] == [crawled.first, crawled.copy]


def test_a_page_alone_is_a_cluster_of_one_and_an_unknown_one_of_none(crawled: Crawled) -> None:
    assert ", 1 page\n" in gossamer("clusters", crawled.changing, data=crawled.data).out
    fails(gossamer("clusters", "http://one.test/nowhere", data=crawled.data), 2, "is in no cluster")
    fails(gossamer("clusters", "--limit", "0", data=crawled.data), 2, "--limit")


def test_near_duplicates_are_one_result_which_the_representative_speaks_for(crawled: Crawled) -> None:
    answer = gossamer("search", "lane", "museum", "--json", data=crawled.data).json
    found = {hit["url"]: hit["similar"] for hit in answer["hits"]}
    assert found == {crawled.first: 1, crawled.changing: 0}
    assert answer["total"] == 2, "near copies count as one"
    assert "1 similar" in gossamer("search", "lane", "museum", data=crawled.data).out


def test_the_diff_shows_changed_words_and_counts_what_stayed(crawled: Crawled) -> None:
    lines = gossamer("history", crawled.changing, "--diff", data=crawled.data).out.splitlines()
    assert lines[0].startswith("From 20") and " to 20" in lines[0]
    assert "title: [-Old news-]{+New news+}" in lines
    (changed,) = [line for line in lines if "Everybody" in line]
    assert changed.endswith("[-Nobody-]{+Everybody+} knows why.")
    assert [line for line in lines if line.endswith("unchanged …")] != []
    assert lines[-1] == "{+A paragraph that was never there before it was written.+}"
    assert len(lines) < len(PARAGRAPHS)


def test_visits_are_numbered_and_can_be_compared_by_number(crawled: Crawled) -> None:
    newest, oldest = gossamer("history", crawled.changing, data=crawled.data).out.splitlines()
    assert (newest.split()[0], oldest.split()[0]) == ("2", "1")
    back = gossamer("history", crawled.changing, "--from", "2", "--to", "1", data=crawled.data).out
    assert "title: [-New news-]{+Old news+}" in back
    assert (
        "Nothing changed." in gossamer("history", crawled.changing, "--from", "1", "--to", "1", data=crawled.data).out
    )
    compared = gossamer("history", crawled.changing, "--diff", "--json", data=crawled.data).json
    assert {"name": "title", "old": "Old news", "new": "New news"} in compared["facts"]
    assert compared["text"]["changes"][-1]["kind"] == "added"


def test_what_cannot_be_compared_is_refused(crawled: Crawled) -> None:
    fails(gossamer("history", crawled.first, "--diff", data=crawled.data), 2, "fewer than two visits")
    fails(gossamer("history", crawled.changing, "--from", "7", data=crawled.data), 2, "visit 7", "1, 2")


def test_the_server_shows_story_and_versions_of_a_real_crawl(crawled: Crawled) -> None:
    service, stories, *_ = crawl_services(crawled.data, load(crawled.data, {}))
    with serving(service, stories=stories) as address, httpx.Client(base_url=address, trust_env=False) as http:
        assert ">1 similar page<" in http.get("/cached", params={"url": crawled.copy}).text
        story = http.get("/api/v1/story", params={"url": crawled.copy}).json()
        assert [page["title"] for page in story["pages"]] == ["The lane, retold", "All about the lane"]
        history = http.get("/api/v1/history", params={"url": crawled.changing}).json()
        new, old = (visit["fetched_at"] for visit in history["visits"])
        assert (history["comparison"]["older"], history["comparison"]["newer"]) == (old, new)
        turned = http.get("/api/v1/history", params={"url": crawled.changing, "from": new, "to": old}).json()
        assert turned["comparison"]["older"] == old, "the older one comes first, however they are given"
        assert "<ins>Everybody</ins>" in http.get("/history", params={"url": crawled.changing}).text
        for path in ("story", "history"):
            for url in ("http://one.test/nowhere", "no address", "//", "http://"):
                assert http.get(f"/api/v1/{path}", params={"url": url}).status_code == 404


class Curious:
    """A clock that asks for another history while one is read."""

    def __init__(self, data: Path, url: str) -> None:
        self.stories = StoredStories(DataFolder(data), self)
        self.url = url
        self.refusals: list[str] = []

    def now(self) -> float:
        with pytest.raises(BusyError) as refused:
            self.stories.history(self.url)
        self.refusals.append(str(refused.value))
        return 0.0


def test_only_one_history_is_read_at_a_time(crawled: Crawled) -> None:
    clock = Curious(crawled.data, crawled.changing)
    history = clock.stories.history(crawled.changing)
    assert history is not None and len(history.visits) == 2 and history.is_complete
    assert clock.refusals and "try again" in clock.refusals[0]


def test_a_history_that_takes_too_long_ends_and_says_that_it_is_not_whole(crawled: Crawled) -> None:
    class Impatient:
        time = 0.0

        def now(self) -> float:
            self.time += 2.0
            return self.time

    history = StoredStories(DataFolder(crawled.data), Impatient()).history(crawled.changing)
    assert history is not None and not history.is_complete
    assert len(history.visits) == 1, "the newest segments come first"


def test_on_a_terminal_changes_are_coloured_and_cannot_steer_it() -> None:
    pieces = [Piece("same", "a "), Piece("removed", "\x1b[2Jb"), Piece("added", "[red]c")]
    shown = marked(pieces, in_colour=True)
    assert shown.plain == "a  [2Jb[red]c"
    assert [str(span.style) for span in shown.spans] == ["red strike", "green"]


def test_the_past_of_a_removed_page_is_not_shown(crawled: Crawled) -> None:
    """Last: it changes what the others read."""
    service, stories, *_ = crawl_services(crawled.data, load(crawled.data, {}))
    with serving(service, stories=stories) as address, httpx.Client(base_url=address, trust_env=False) as http:
        assert http.get("/history", params={"url": crawled.changing}).status_code == 200
        assert gossamer("remove", crawled.changing, data=crawled.data).code == 0
        for path in ("history", "story"):
            assert http.get(f"/{path}", params={"url": crawled.changing}).status_code == 404
