"""`gossamer partition plan`: predictions and a plan from stored links, or from a sample of a site nobody knows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_kit import crawl, exported, settings_of, write_settings
from inside import fails, gossamer

from gossamer.data.folder import DataFolder
from gossamer.data.stored_links import stored_in
from gossamer.partition.assignment import Assignment
from gossamer.partition.config import PartitionConfig
from gossamer.testing import FakeWeb
from gossamer.upkeep.partitioning import mended, plan_site, proposed, read_site

HOST = "big.test"
OTHER = "other.test"
TEXT = "Page {0} tells of {0} and of nothing else that the others tell."
SIZES = {"news": 40, "docs": 36, "shop": 30, "tags": 6, "misc": 4}


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    """Directories of several sizes; each page links to the next of its directory and to the home page."""
    web = FakeWeb("127.0.96")
    for host in (HOST, OTHER):
        site = web.site(host)
        site.page("/", TEXT.format(f"{host} home"), links=[f"/{name}/0.html" for name in SIZES])
        for name, count in SIZES.items():
            for number in range(count):
                links = ["/", f"/{name}/{(number + 1) % count}.html", f"/{name}/{(number * 2 + 1) % count}.html"]
                site.page(f"/{name}/{number}.html", TEXT.format(f"{host} {name} {number}"), links=links)
    with web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("partition") / "data"
    crawl(web, data, [web.url(HOST)])
    return data


def site_name(web: FakeWeb, host: str = HOST) -> str:
    return f"{host}:{web.port}"


def test_a_plan_predicts_ten_splits_and_picks_one(web: FakeWeb, crawled: Path) -> None:
    found = gossamer("partition", "plan", site_name(web), "--json", data=crawled).json
    assert (found["pages"], found["paths"], found["key_paths"]) == (117, 6, 3)
    assert [row["parts"] for row in found["predictions"]] == list(range(1, 11))
    two = found["predictions"][1]
    assert (two["ours"]["coverage"], two["ours"]["overlap"]) == (1.0, 0.0)
    assert two["ours"]["acceleration"] > 1.8 > two["seed"]["acceleration"]
    assert two["seed"]["overlap"] == pytest.approx(11 / 128)
    assert found["picked"] == len(found["parts"]) == 4
    assert found["cut_by"] == "paths"


def test_the_printed_plan_names_parts_directories_and_seeds(web: FakeWeb, crawled: Path) -> None:
    said = gossamer("partition", "plan", web.url(HOST), "--parts", "3", data=crawled).out
    assert "Best: 4 parts" in said and "does not split the site by itself" in said
    assert "Part 2:" in said and "Part 3:" not in said
    assert "/news/" in said and web.url(HOST, "/news/0.html") in said


def test_a_site_whose_rate_is_capped_is_better_not_split(web: FakeWeb, crawled: Path) -> None:
    write_settings(crawled, settings_of(web, partition={"site_rate": 1.0}, politeness={"delay": 1.0}))
    try:
        assert "Best: none" in gossamer("partition", "plan", site_name(web), data=crawled).out
    finally:
        write_settings(crawled, settings_of(web))


def test_the_plan_covers_every_url_and_keeps_its_promises(web: FakeWeb, crawled: Path) -> None:
    found = gossamer("partition", "plan", site_name(web), "--parts", "2", "--json", data=crawled).json
    assignment = Assignment.from_json(json.dumps(found["assignment"]))
    counts = Counter(assignment.part_of(row["url"]) for row in exported("urls", crawled))
    assert [part["urls"] for part in found["parts"]] == [counts[0], counts[1]]
    for number, part in enumerate(found["parts"]):
        assert all(assignment.part_of(seed) == number for seed in part["seeds"])


def test_a_site_nobody_knows_is_sampled_first(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_settings(data, settings_of(web))
    fails(gossamer("partition", "plan", web.url(OTHER), data=data), 2, "is stored: crawl it first", "--sample")
    before = len(web.log())
    done = gossamer("partition", "plan", web.url(OTHER), "--sample", "30", "--json", data=data)
    assert done.code == 0, done.err
    asked = [request for request in list(web.log())[before:] if request.path != "/robots.txt"]
    assert 25 <= len(asked) <= 32
    assert done.json["site"] == site_name(web, OTHER)
    assert done.json["cut_by"] == "urls" and 0 < done.json["fetched"] < 0.9
    assert not (data / "frontier.db").exists()


def test_what_is_stored_is_not_sampled_again(web: FakeWeb, crawled: Path) -> None:
    before = len(web.log())
    fails(gossamer("partition", "plan", web.url(HOST), "--sample", "5", data=crawled), 2, "leave out --sample")
    fails(gossamer("partition", "plan", web.url(OTHER), data=crawled), 2, "is stored: crawl it first", "--sample")
    fails(gossamer("partition", "plan", web.url(HOST), "--parts", "11", data=crawled), 2, "--parts")
    fails(gossamer("partition", "plan", web.url(HOST), "--sample", "0", data=crawled), 2, "--sample")
    fails(gossamer("partition", "plan", "http://", data=crawled), 2)
    assert len(web.log()) == before


def test_a_crawl_proposes_a_plan_only_where_the_settings_want_one(web: FakeWeb, crawled: Path) -> None:
    folder, name = DataFolder(crawled), site_name(web)
    listed = PartitionConfig(mode="sites", sites=(name, "new.test"), most_parts=3)
    db = folder.read()
    try:
        assert proposed(stored_in(folder), db, name, PartitionConfig(), 1.0) is None
        assert proposed(stored_in(folder), db, name, PartitionConfig(mode="auto"), 1.0) is None
        assert (
            proposed(stored_in(folder), db, name, PartitionConfig(mode="auto", min_urls=100, most_parts=1), 1.0) is None
        )
        large = proposed(stored_in(folder), db, name, PartitionConfig(mode="auto", min_urls=100), 1.0)
        plans = [proposed(stored_in(folder), db, site, listed, 1.0) for site in (name, "new.test")]
    finally:
        db.close()
    assert large is not None and large.parts == 4 and "/news/" in large.table
    assert [plan and (plan.parts, list(plan.table)) for plan in plans] == [(3, ["/"])] * 2


def test_an_uneven_plan_is_mended(web: FakeWeb, crawled: Path) -> None:
    folder, name = DataFolder(crawled), site_name(web)
    db = folder.read()
    try:
        even = plan_site(read_site(stored_in(folder), db, name), PartitionConfig(), 1.0, 2).assignment
        uneven = Assignment(2, {"/": (0,), "/tags/": (1,)})
        assert mended(db, name, even, PartitionConfig()) is None
        better = mended(db, name, uneven, PartitionConfig())
    finally:
        db.close()
    assert better is not None
    counts = Counter(better.part_of(row["url"]) for row in exported("urls", crawled))
    assert max(counts.values()) <= 1.1 * min(counts.values())


def test_an_operator_splits_a_site_and_takes_it_back_and_no_page_is_lost_or_fetched_twice(
    web: FakeWeb, tmp_path: Path
) -> None:
    data, name = tmp_path / "data", site_name(web)
    before = len(web.log())
    crawl(web, data, [web.url(HOST)], "--pages", "20")
    assert "No site is split." in gossamer("partition", "show", data=data).out
    assert "3 parts" in gossamer("partition", "set", name, "3", data=data).out
    assert "a new plan takes effect when" in gossamer("partition", "show", name, data=data).out
    crawl(web, data, [], "--pages", "40")
    (shown,) = gossamer("partition", "show", name, "--json", data=data).json
    assert (shown["site"], shown["plan"]["parts"], shown["waiting"]) == (name, 3, False)
    assert len(shown["urls"]) == 3 and min(shown["urls"]) > 10
    assert gossamer("partition", "set", name, "none", data=data).code == 0
    crawl(web, data, [])
    assert f"{name} is not split." in gossamer("partition", "show", name, data=data).out
    asked = Counter(request.path for request in list(web.log())[before:] if request.path != "/robots.txt")
    assert len(exported("pages", data)) == len(asked) == 117
    assert set(asked.values()) == {1}


def test_a_number_of_parts_that_is_none_is_refused(web: FakeWeb, crawled: Path, tmp_path: Path) -> None:
    for wrong in ("0", "11", "many"):
        fails(gossamer("partition", "set", site_name(web), wrong, data=crawled), 2, "is not a number of parts")
    fails(gossamer("partition", "set", site_name(web, OTHER), "2", data=crawled), 2, "is stored: crawl it first")
    fails(gossamer("partition", "set", site_name(web), "2", data=tmp_path / "none"), 2, "no crawl")
