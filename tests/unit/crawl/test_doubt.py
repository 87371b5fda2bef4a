"""A stored page is parsed again if, and as a rule only if, it would say something else now."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.crawl.again.doubt import doubtful_rows
from gossamer.crawl.parser_config import ParserConfig, SiteKnown
from gossamer.crawl.reading import PageParser
from gossamer.crawl.understand import fill_row
from gossamer.model.records import Kind, PageRow, Parsed, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig
from gossamer.site.facts import Facts, learn
from gossamer.site.judgement import KnownSite
from gossamer.site.sketch import Sketch
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import SegmentWriter, open_pages

SITE = "valley.test"
PAGES = 24
NOTICE = (
    "Our editors' most read story of the month is the one about the bridge that nobody wanted to pay for",
    "Subscribe to our newsletter and never miss what happens in the valley, in the hills and by the river",
    "The weather tomorrow: rain in the morning, sun in the afternoon, and a fresh wind from the west",
)
STREETS = "Mill Church Market Station Garden Harbour Forest School Castle Bridge Lake Meadow".split()


def url(number: int) -> str:
    return f"http://{SITE}/{number}"


def html(number: int) -> str:
    street, other = STREETS[number % 12], STREETS[(number * 5 + 3) % 12]
    text = (
        f"On {street} Street, {number + 3} neighbours have planted {number * 7 + 2} lime trees, as they told us.",
        f"Nobody in {other} Lane knew of it before; the council of ward {number} will now have to decide.",
        f"A first vote in case {number * 31 + 5} failed by a single voice, which came from {other} Lane itself.",
        f"Letter {number} came from a gardener of {other} Lane, who knows how much {number + 9} such trees drink.",
        f"In the {number + 14} driest weeks of a year it is as much as {number * 3 + 8} cows of a farm near {street}.",
        f"He offered his help for {number * 2 + 1} evenings a month, if somebody else from {street} Street helps, too.",
        f"The trees of {street} Street stay where they are until then, and get water every evening at {number}.",
    )
    own = "".join(f"<p>{line}</p>" for line in (*text, f"Whoever saw {number} of them should write to us."))
    notice = "".join(f"<p>{line}</p>" for line in NOTICE) if number % 2 else ""
    head = f"<title>Case {number} - Notes of the Valley Post today</title>"
    body = f"<div class=page><div class=col>{own}</div><div class=col2>{notice}</div></div>"
    return f"<html><head>{head}</head><body>{body}</body></html>"


def parser(facts: Facts | None = None) -> PageParser:
    made = PageParser(ParserConfig(CanonicalRules(), ScopeConfig(hosts=(f"http://{SITE}",)), (), ParseLimits()))
    if facts is not None:
        made.know(SiteKnown(SITE, 1, msgspec.msgpack.encode(facts)))
    return made


def parsed_by(facts: Facts | None = None) -> list[Parsed]:
    reads = parser(facts).read
    return [reads(ParseJob(url(n), Kind.PAGE, "text/html", html(n).encode())) for n in range(PAGES)]


def says(page: Parsed) -> tuple[str, str, str]:
    return page.text, page.title, page.language


def doubtful(folder: Path, pages: list[Parsed], facts: Facts) -> set[int]:
    """Which pages, stored as they were parsed, must be parsed again by these facts."""
    rows = []
    for page in pages:
        row = PageRow(page.url, SITE, SITE, 1.0, "document", 200, warc_offset=0, warc_length=1)
        fill_row(row, page)
        rows.append(row)
    segments = LocalSegments(folder)
    segment = new_segment_id("worker", 1.0, 0)
    writer = SegmentWriter(segments, segment)
    writer.write_archive([], 1.0)
    writer.write_links([])
    writer.write_pages(rows)
    writer.sync()
    urls = {number: page.url for number, page in enumerate(pages)}
    return set(doubtful_rows(open_pages(segments, segment), urls, KnownSite(facts)))


@pytest.fixture(scope="module")
def facts() -> Facts:
    found = learn([msgspec.msgpack.decode(page.sketch, type=Sketch) for page in parsed_by()])
    return msgspec.structs.replace(found, names=())


def test_a_page_that_would_say_something_else_is_parsed_again(tmp_path: Path, facts: Facts) -> None:
    before, after = parsed_by(), parsed_by(facts)
    changed = {n for n in range(PAGES) if says(before[n]) != says(after[n])}
    assert changed == set(range(1, PAGES, 2)), "the notice was no trap: this test proves nothing"
    assert doubtful(tmp_path, before, facts) == changed


def test_a_page_that_would_say_the_same_is_not(tmp_path: Path, facts: Facts) -> None:
    assert doubtful(tmp_path, parsed_by(facts), facts) == set()


def test_a_line_that_is_no_furniture_any_more_comes_back(tmp_path: Path, facts: Facts) -> None:
    nothing = msgspec.structs.replace(facts, lines=b"", places=b"", sure=b"")
    assert doubtful(tmp_path, parsed_by(facts), nothing) == set(range(1, PAGES, 2))


def test_a_name_that_many_titles_share_now_changes_the_titles_that_have_it(tmp_path: Path, facts: Facts) -> None:
    named = msgspec.structs.replace(facts, names=("notesofthevalleyposttoday",))
    before, after = parsed_by(facts), parsed_by(named)
    assert all(before[n].title != after[n].title and before[n].text == after[n].text for n in range(PAGES))
    assert doubtful(tmp_path, before, named) == set(range(PAGES))


def test_a_page_of_an_older_version_is_parsed_again(tmp_path: Path, facts: Facts) -> None:
    pages = parsed_by(facts)
    pages[3].judged = b""
    assert doubtful(tmp_path, pages, facts) == {3}
