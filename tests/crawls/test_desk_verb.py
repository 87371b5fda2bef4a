"""`gossamer desk`: rules from files, checked, tried, published, found and taken back; with the audit log."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawl_kit import run, settings_of, write_settings
from inside import fails, gossamer

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.tables import asked, audit
from gossamer.tables.asked import Times, day_of
from gossamer.testing import FakeWeb

RULES = 'stop_words = "please"\n\n[[synonym]]\nwords = ["bike", "bicycle"]\n'


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data, web = tmp_path_factory.mktemp("desk") / "data", FakeWeb()
    site = web.site("campus.test")
    site.page("/", "Where to leave a bicycle on the campus, and how to register it at the office.", title="Bicycles")
    write_settings(data, settings_of(web, crawl={"index": True, "workers": 1}))
    with web:
        done = run("crawl", site.url("/"), "--quiet", data=data)
    assert done.returncode == 0, done.stderr
    db = DataFolder(data).open_database()
    asked.record(db, day_of(SystemClock().now()), {"bike": Times(4, 4), "campus": Times(3)})
    db.close()
    return data


def total(data: Path, query: str) -> int:
    return int(gossamer("search", query, "--json", data=data).json["total"])


def test_a_file_is_checked_tried_published_and_taken_back(crawled: Path, tmp_path: Path) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(RULES)
    said = gossamer("desk", "check", str(file), data=crawled).out
    assert said == "The file is in order: 1 synonym, 1 stop word.\n"
    assert total(crawled, "bike") == 0

    trial = gossamer("desk", "try", str(file), "--json", data=crawled).json
    assert [one["query"] for one in trial["changed"]] == ["bike"] and trial["queries"] == 2
    assert (trial["changed"][0]["before"], trial["changed"][0]["after"]) == (0, 1)
    told = gossamer("desk", "try", str(file), data=crawled).out
    assert "came" in told and "by synonym bike = bicycle" in told and "1 of 2 queries changes." in told
    assert total(crawled, "bike") == 0

    done = gossamer("desk", "publish", str(file), "--note", "asked for", data=crawled)
    assert done.code == 0 and "Version 1 of the rules counts now." in done.out, done
    assert total(crawled, "bikes please") == 1
    assert gossamer("desk", "show", data=crawled).out == RULES
    url = gossamer("search", "bike", "--json", data=crawled).json["hits"][0]["url"]
    assert "synonym bike = bicycle" in gossamer("search", "bike", "--why", url, data=crawled).out

    assert "Version 1 of the rules was taken back: no rules count." in gossamer("desk", "undo", data=crawled).out
    assert total(crawled, "bike") == 0
    assert gossamer("desk", "show", "--draft", data=crawled).out == RULES
    assert "asked for" in gossamer("desk", "history", data=crawled).out
    gossamer("desk", "discard", data=crawled)

    entries = audit.entries(DataFolder(crawled).read())[:3][::-1]
    assert [one.action for one in entries] == ["publish desk", "undo desk", "discard desk"]
    assert all(one.who.startswith("cli:") for one in entries)


def test_a_file_becomes_the_draft(crawled: Path) -> None:
    done = gossamer("desk", "import", "-", data=crawled, stdin=RULES)
    assert done.out.splitlines() == ["+ stop word please", "+ synonym bike = bicycle"]
    assert total(crawled, "bike") == 0
    assert gossamer("desk", "publish", "--json", data=crawled).json["version"] == 2
    assert total(crawled, "bike") == 1
    fails(gossamer("desk", "publish", data=crawled), 2, "nothing to publish")
    assert gossamer("desk", "undo", "--json", data=crawled).json["version"] == 0
    fails(gossamer("desk", "undo", data=crawled), 2, "nothing to undo")


def test_a_mistake_is_one_line(crawled: Path, tmp_path: Path) -> None:
    file = tmp_path / "desk.toml"
    file.write_text("[[synonym]]\nwords = 'bike'\n")
    fails(gossamer("desk", "check", str(file), data=crawled), 2, "line 1, synonym 1: one word is no synonym")
    fails(gossamer("desk", "publish", str(tmp_path / "none.toml"), data=crawled), 1, "cannot read")
    fails(gossamer("desk", "show", data=tmp_path / "nothing"), 2, "crawl")
