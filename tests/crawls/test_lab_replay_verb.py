"""`gossamer lab record` and `replay`: an operator tries a setting on a crawl of their own before changing it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawl_kit import crawl
from inside import gossamer

from gossamer.data.folder import DataFolder
from gossamer.lab.webs.ragged import nothing as no_links
from gossamer.lab.webs.recorder import record
from gossamer.lab.webs.web import Facts, RecordedWeb, load_web, save_web
from gossamer.testing import FakeWeb
from studies.webs.made_up.news import news_web


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("replay") / "data"
    web = FakeWeb()
    site = web.site("a.test", pages=60, links=6, seed=5)
    site.redirect("/p/9.html", "/p/10.html")
    with web:
        crawl(web, folder, [site.url()], revisit={"every": 3600.0, "floor": 600.0})
    yield folder


def replayed(*arguments: str) -> dict[str, Any]:
    done = gossamer("lab", "replay", *arguments, "--json")
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def table(report: dict[str, Any], name: str) -> list[list[Any]]:
    return next(list(one["rows"]) for one in report["tables"] if one["name"] == name)


def test_each_variant_is_crawled_and_all_pages_are_found_again(data: Path) -> None:
    report = replayed(str(data), "--strategy", "breadth", "--strategy", "random")
    rows = table(report, "variants")
    assert [row[0] for row in rows] == ["breadth", "random"]
    assert [row[1] for row in rows] == [60, 60]
    assert [row[3] for row in rows] == [59, 59]


def test_every_request_can_be_had_with_its_time(data: Path, tmp_path: Path) -> None:
    fetches = tmp_path / "fetches.csv"
    replayed(str(data), "--delay", "2", "--fetches", str(fetches))
    rows = list(csv.DictReader(fetches.open()))
    assert len(rows) == 60
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert {row["outcome"] for row in rows} == {"document", "redirect"}


def test_a_recording_gives_the_same_answer_as_its_data_folder(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.web.parquet"
    done = gossamer("lab", "record", "--data", str(data), "-o", str(file))
    assert done.code == 0, done.err
    assert len(load_web(file)) == 60
    both = [replayed(str(source), "--delay", "1") for source in (data, file)]
    counts = [[row[1:6] for row in table(report, "variants")] for report in both]
    assert counts[0] == counts[1]


def test_revisit_policies_are_compared_by_the_settings_of_the_data_folder(data: Path) -> None:
    options = ("--for", "6h", "--revisit", "uniform", "--revisit", "none")
    again, once = table(replayed(str(data), *options), "variants")
    assert (again[0], once[0]) == ("revisit uniform", "revisit none")
    assert again[2] > 3 * 60, "each page every hour, as the folder's gossamer.toml has it"
    assert once[2] < 60, "only the start page is polled"


def test_a_made_up_web_is_replayed_with_and_without_filters(tmp_path: Path) -> None:
    file = tmp_path / "news.web.parquet"
    save_web(news_web(2, 0.1), file)
    options = ("--for", "2h", "--filters", "on", "--filters", "off")
    rows = table(replayed(str(file), *options), "variants")
    assert [row[0] for row in rows] == ["filters on", "filters off"]
    assert all(row[3] > 20 for row in rows)


def test_what_cannot_be_replayed_is_told_in_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.web.parquet"
    broken.write_bytes(b"no parquet")
    for words, sentence in (
        (("replay", str(tmp_path / "nothing")), "there is no"),
        (("replay", str(tmp_path)), "there is no crawl in"),
        (("replay", str(broken)), "is not a recorded web"),
        (("record", "--data", str(tmp_path)), "there is no crawl in"),
        (("record", "--files", str(tmp_path)), "needs --origin"),
        (("record", "--files", str(tmp_path), "--origin", "a.test"), "needs --origin"),
        (("record", "--files", str(broken), "--origin", "http://a.test"), "is not a folder"),
        (("record", "--files", str(tmp_path), "--origin", "http://a.test"), "has no page /"),
    ):
        done = gossamer("lab", *words)
        assert done.code == 2
        assert sentence in done.err


def test_what_cannot_be_crawled_is_told_before_anything_is(data: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.web.parquet"
    save_web(RecordedWeb(Facts("nothing", 0.0, 0.0, []), [], answer=[], links=no_links(0, np.int64)), nothing)
    for source, words, sentence in (
        (data, ("--strategy", "breadth", "--strategy", "no-such"), "no strategy called 'no-such'"),
        (data, ("--delay", "-1"), "politeness.delay is -1.0"),
        (data, ("--for", "0"), "--for and --pages must be greater than 0"),
        (data, ("--pages", "0"), "--for and --pages must be greater than 0"),
        (data, ("--fetches", str(tmp_path)), "cannot write"),
        (nothing, (), "the recording has no seeds"),
    ):
        done = gossamer("lab", "replay", str(source), *words)
        assert done.code == 2, (words, done.err)
        assert sentence in done.err
        assert "crawls of" not in done.err


def test_requests_that_the_recording_cannot_answer_are_counted(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "forgetful.web.parquet"
    web = record(DataFolder(data))
    for path in ("/p/20.html", "/p/30.html"):
        web.answer[next(row for row, url in enumerate(web.urls) if url.endswith(path))] = ""
    save_web(web, file)
    report = replayed(str(file))
    ((*_, unanswered),) = table(report, "variants")
    assert unanswered == 2


def test_a_crawl_that_is_longer_than_its_recording_says_so(data: Path) -> None:
    options = ("--for", "3h", "--revisit", "uniform")
    assert "copies look fresher" in replayed(str(data), *options)["differs"]
    assert "copies look fresher" not in replayed(str(data), *options[4:])["differs"]


def test_revisits_need_a_time_to_go_on(data: Path) -> None:
    done = gossamer("lab", "replay", str(data), "--revisit", "age")
    assert done.code == 2
    assert "--for" in done.err
