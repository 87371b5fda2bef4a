"""Policies compared on a recorded web: what counts as found, and what the report says about it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from gossamer.lab.simulation.simulator import Simulated
from gossamer.lab.simulation.what_if import Variant, compare, report, variants, write_fetches
from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import Facts, RecordedWeb
from gossamer.parse.rules import DocumentRule
from gossamer.scope.filters import FilterRule
from gossamer.settings import Settings
from studies.one_pass import one_pass

START = 1_800_000_000.0
HOUR = 3600.0


def small_web(links: list[list[int]], **columns: object) -> RecordedWeb:
    urls = [f"http://a.test/{n or ''}" for n in range(len(links))]
    hashes = {"text_hash": [f"text {n}" for n in range(len(links))], **columns}
    facts = Facts("small", START, START + HOUR, [0])
    return RecordedWeb(facts, urls, answer=["document"] * len(urls), links=ragged(links, np.int64), **hashes)


def test_every_combination_is_a_variant_and_each_only_once() -> None:
    ways = variants(Settings(), ["breadth", "opic", "breadth"], ["age", "none"])
    names = ["breadth, revisit age", "breadth, revisit none", "opic, revisit age", "opic, revisit none"]
    assert [way.name for way in ways] == names
    assert [way.name for way in variants(Settings())] == ["as it is"]


def test_a_useful_page_that_is_asked_for_before_it_exists_was_not_found() -> None:
    web = small_web([[], []], born=np.array([-np.inf, START + HOUR]), fit=np.ones(2, np.int8))
    web.facts = replace(web.facts, seeds=[0, 1], rules=[DocumentRule("a.test", ("/",))])
    (found,) = compare(web, [Variant("it", one_pass(web, "breadth"))], seconds=None, pages=None, seed=1)
    assert sorted(found.done.row.tolist()) == [0, 1]
    assert found.done.row[found.gained].tolist() == [0]


def test_the_report_names_who_finds_most_or_who_is_first_where_all_find_as_much() -> None:
    web = small_web([[1, 2], [], []])
    usual = one_pass(web, "breadth")
    narrow = replace(usual, scope=replace(usual.scope, filters=(FilterRule("suffix", "deny", "/2"),)))
    slow = replace(usual, politeness=replace(usual.politeness, delay=5.0))
    ways = {"narrow": narrow, "slow": slow, "usual": usual}
    sentences = []
    for names in (("narrow", "usual"), ("slow", "usual")):
        found = compare(web, [Variant(name, ways[name]) for name in names], seconds=None, pages=None, seed=1)
        sentences.append(report(web, found).ours)
    assert sentences[0] == "Most documents: usual, 3 with 3 requests."
    assert sentences[1].startswith("All find 3 documents; 90 % of them first: usual,")


def test_requests_outside_the_recording_keep_their_url(tmp_path: Path) -> None:
    web = small_web([[1], []])
    (one,) = compare(web, [Variant("it", one_pass(web, "breadth"))], seconds=None, pages=None, seed=1)
    strange = _with_row_outside(one.done, "http://a.test/strange")
    write_fetches(web, [replace(one, done=strange)], tmp_path / "fetches.csv")
    urls = [row["url"] for row in csv.DictReader((tmp_path / "fetches.csv").open())]
    assert urls == ["http://a.test/", "http://a.test/strange"]


def _with_row_outside(done: Simulated, url: str) -> Simulated:
    return replace(done, row=np.array([done.row[0], -1]), elsewhere=[url])
