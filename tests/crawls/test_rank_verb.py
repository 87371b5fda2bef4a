"""`gossamer rank`: ranks of a crawl, used by searches at once, and the same from any start."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from crawl_kit import crawl, exported, run, settings_of, write_settings
from inside import Done, done_by, fails, gossamer

from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.locks import rank_lock
from gossamer.data.storage import remember_storage
from gossamer.testing import FakeWeb
from kit.postgres import PostgresServer
from studies.__main__ import main as studies

ONE, TWO = "one.test", "two.test"
TEXT = "Page {0} speaks of lanterns, number {0}, and of nothing else that {0} others speak of."


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    """Everybody links to the star, by an old address of it, too; nobody but the start page to the moon."""
    web = FakeWeb("127.0.96")
    one, two = web.site(ONE), web.site(TWO)
    one.page("/", TEXT.format("start"), links=["/star", "/moon", "/a", "/b", "/gone"])
    one.page("/star", TEXT.format("star"), title="Lanterns", links=["/"])
    one.page("/moon", TEXT.format("moon"), title="Lanterns", links=["/"])
    one.redirect("/old-star", "/star")
    one.page("/a", TEXT.format("a"), links=["/old-star", "/a"])
    one.page("/b", TEXT.format("b"), links=["/star", "/old-star"])
    two.page("/", TEXT.format("two"), links=[one.url("/star"), "/x"])
    two.page("/x", TEXT.format("x"), links=[one.url("/old-star")])
    with web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("rank") / "data"
    crawl(web, data, [web.url(ONE), web.url(TWO)], crawl={"index": True})
    return data


@pytest.fixture
def ranked(crawled: Path) -> dict[str, Any]:
    done = gossamer("rank", "--json", "--cold", data=crawled)
    assert done.code == 0, done.err
    return dict(done.json)


def test_pages_links_and_ranks_of_a_crawl(web: FakeWeb, ranked: dict[str, Any]) -> None:
    star = web.url(ONE, "/star")
    assert (ranked["pages"], ranked["sites"]) == (7, 2)
    # start: 4, star and moon: 1 each, a: 1, b: 1 (two ways to one page), two: 2, x: 1
    assert ranked["links"] == 11
    assert (ranked["warm"], ranked["converged"], ranked["form"]) == (False, True, "normalised")
    assert ranked["residual"] <= ranked["tolerance"]
    top = [page["url"] for page in ranked["top"]]
    assert set(top[:2]) == {star, web.url(ONE, "/")}
    assert sum(page["rank"] for page in ranked["top"]) == pytest.approx(7)
    assert [host["site"] for host in ranked["hosts"]] == [f"{ONE}:{web.port}", f"{TWO}:{web.port}"]


def test_the_last_ranks_are_the_start_of_the_next_and_lead_to_the_same(crawled: Path, ranked: dict[str, Any]) -> None:
    warm = gossamer("rank", "--json", data=crawled).json
    assert warm["warm"] and warm["iterations"] < ranked["iterations"] == warm["cold_iterations"]
    again = {page["url"]: page["rank"] for page in warm["top"]}
    assert again == pytest.approx({page["url"]: page["rank"] for page in ranked["top"]}, abs=1e-6)
    other = gossamer("rank", "--json", "--damping", "0.5", data=crawled).json
    assert other["warm"] and other["cold_iterations"] is None
    said = gossamer("rank", data=crawled).out
    assert "started from the last ranks" in said and "7 pages of 2 sites, 11 links" in said


def test_a_search_uses_new_ranks_without_indexing_anything_again(web: FakeWeb, crawled: Path) -> None:
    index = sorted((path, path.stat().st_mtime_ns) for path in (crawled / "index").rglob("*") if path.is_file())
    star, moon = web.url(ONE, "/star"), web.url(ONE, "/moon")
    assert gossamer("rank", data=crawled).code == 0
    hits = [hit["url"] for hit in gossamer("search", "lanterns", "--json", data=crawled).json["hits"]]
    assert hits.index(star) < hits.index(moon)
    priors = {}
    for url in (star, moon):
        told = gossamer("search", "lanterns", "--why", url, "--json", data=crawled).json
        priors[url] = {one["name"]: one["value"] for one in told["factors"]}["prior: link rank"]
    assert priors[star] > priors[moon] > 0
    assert sorted((path, path.stat().st_mtime_ns) for path in (crawled / "index").rglob("*") if path.is_file()) == index


def test_seeds_can_be_where_readers_start(web: FakeWeb, crawled: Path) -> None:
    ranks = gossamer("rank", "--personalise", "seeds", "--json", data=crawled).json
    by_url = {page["url"]: page["rank"] for page in ranks["top"]}
    alike = gossamer("rank", "--json", data=crawled).json
    plain = {page["url"]: page["rank"] for page in alike["top"]}
    assert by_url[web.url(TWO, "/")] > plain[web.url(TWO, "/")]


def test_the_form_of_the_papers_orders_pages_alike(crawled: Path, ranked: dict[str, Any]) -> None:
    paper = gossamer("rank", "--form", "paper", "--json", data=crawled).json
    assert paper["form"] == "paper"
    assert [page["url"] for page in paper["top"][:2]] == [page["url"] for page in ranked["top"][:2]]


@pytest.mark.parametrize("name", ["ranks.tsv", "new/ranks.tsv.gz", "ranks.parquet"])
def test_all_ranks_can_be_written_to_a_file(crawled: Path, tmp_path: Path, name: str) -> None:
    done = gossamer("rank", "-o", str(tmp_path / name), "--json", "--top", "100", data=crawled)
    path = tmp_path / name
    if path.suffix == ".parquet":
        rows = {row["url"]: row["rank"] for row in pq.read_table(path).to_pylist()}
    else:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        rows = {url: float(rank) for url, rank in (line.split("\t") for line in text.decode().splitlines())}
    assert rows == {page["url"]: page["rank"] for page in done.json["top"]}
    assert set(rows) == {row["url"] for row in exported("pages", crawled)}


def hubs(*arguments: str, data: Path) -> Done:
    """`python -m studies hubs`."""
    return done_by(studies, ["hubs", *arguments, "--data", str(data)])


def test_hubs_and_authorities_of_a_query(web: FakeWeb, crawled: Path, ranked: dict[str, Any]) -> None:
    found = hubs("lanterns", "--json", data=crawled).json
    assert not found["inside_sites"]
    assert found["authorities"][0]["url"] == web.url(ONE, "/star")
    assert {page["url"] for page in found["hubs"]} == {web.url(TWO, "/"), web.url(TWO, "/x")}
    said = hubs("lanterns", data=crawled).out
    assert "authorities" in said and web.url(ONE, "/star") in said
    assert "Nothing" in hubs("zebra", data=crawled).out


def test_links_inside_a_site_count_where_there_are_no_others(web: FakeWeb, tmp_path: Path) -> None:
    crawl(web, tmp_path, [web.url(ONE)], crawl={"index": True})
    assert gossamer("rank", data=tmp_path).code == 0
    found = hubs("lanterns", "--json", data=tmp_path).json
    assert found["inside_sites"] and found["authorities"]


def test_what_the_operator_removed_is_in_no_rank(web: FakeWeb, tmp_path: Path) -> None:
    crawl(web, tmp_path, [web.url(ONE), web.url(TWO)])
    assert gossamer("remove", web.url(ONE, "/star"), data=tmp_path).code == 0
    ranks = gossamer("rank", "--json", data=tmp_path).json
    assert ranks["pages"] == 6 and web.url(ONE, "/star") not in [page["url"] for page in ranks["top"]]


def test_a_ranking_beside_a_crawl_is_a_process_of_its_own(crawled: Path) -> None:
    before = (crawled / "ranks" / "current").read_text() if (crawled / "ranks").exists() else ""
    done = subprocess.run([sys.executable, "-m", "gossamer.upkeep.process", "rank", str(crawled)], check=False)
    assert done.returncode == 0
    assert (crawled / "ranks" / "current").read_text() != before


def test_what_is_wrong_is_said_in_one_line(web: FakeWeb, crawled: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    fails(gossamer("rank", data=data), 2, "no crawl")
    fails(hubs("x", data=data), 2)
    fails(gossamer("rank", "--damping", "1", data=crawled), 2, "damping")
    fails(gossamer("rank", "--tolerance", "0", data=crawled), 2, "tolerance")
    fails(gossamer("rank", "--top", "-1", data=crawled), 2, "--top")
    crawl(web, data, [web.url(ONE, "/nothing-here")])
    fails(gossamer("rank", data=data), 2, "no pages")
    assert not (data / "ranks").exists() and not list((data / "graph").rglob("*.npy"))
    with rank_lock(DataFolder(crawled)):
        fails(gossamer("rank", data=crawled), 1, "is already ranking")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    running = PostgresServer()
    yield running
    running.stop()


def test_a_crawl_on_a_database_server_is_ranked_alike(
    web: FakeWeb, crawled: Path, server: PostgresServer, tmp_path: Path
) -> None:
    """The verb finds database and segments by what the crawl remembered."""
    places = ("--database", server.database(), "--segments", str(tmp_path / "segments"))
    crawl(web, tmp_path / "data", [web.url(ONE), web.url(TWO)], *places)
    ranks = gossamer("rank", "--json", "--cold", data=tmp_path / "data").json
    alone = gossamer("rank", "--json", "--cold", data=crawled).json
    for name in ("pages", "links", "sites", "iterations", "top", "hosts"):
        assert ranks[name] == alone[name]


def test_ranks_of_one_machine_do_not_guide_a_crawl_of_several(
    web: FakeWeb, server: PostgresServer, tmp_path: Path
) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    settings = settings_of(web)
    write_settings(data, settings)
    places = ("--database", server.database(), "--segments", str(tmp_path / "segments"), "--quiet")
    assert run("crawl", web.url(ONE), *places, data=data).returncode == 0
    assert gossamer("rank", data=data).code == 0
    again = ("crawl", web.url(ONE), "--strategy", "earlier", "--quiet")
    fails(gossamer(*again, data=data), 2, "other machines cannot read", "engine.work", "priority.ranks")
    write_settings(data, {**settings, "engine": {"work": str(work)}})
    fails(gossamer(*again, data=data), 2, "no ranks", "gossamer rank")
    assert gossamer("rank", data=data).code == 0
    done = run(*again, data=data)
    assert done.returncode == 0, done.stderr
    # A machine that works with it needs neither ranks nor `engine.work` of its own.
    other = tmp_path / "other"
    write_settings(other, settings)
    remember_storage(other, *places[1:4:2])
    assert settings_of_crawl(other).priority.ranks == str(work)


def test_a_strategy_that_waits_for_ranks_does_not_keep_them_from_being_made(web: FakeWeb, tmp_path: Path) -> None:
    crawl(web, tmp_path, [web.url(ONE)])
    write_settings(tmp_path, settings_of(web, crawl={"strategy": "earlier"}))
    fails(gossamer("crawl", "--quiet", data=tmp_path), 2, "gossamer rank")
    assert gossamer("rank", data=tmp_path).code == 0
    assert run("crawl", "--quiet", data=tmp_path).returncode == 0


def test_a_cluster_that_is_not_there_is_said_in_one_line(web: FakeWeb, tmp_path: Path) -> None:
    crawl(web, tmp_path, [web.url(ONE)])
    engine = {"kind": "ray", "url": "127.0.0.1:1"}
    write_settings(tmp_path, settings_of(web, engine=engine))
    done = run("rank", data=tmp_path)
    fails(Done(done.returncode, done.stdout, done.stderr), 1, "127.0.0.1:1", "ray start --head")
    assert not (tmp_path / "ranks").exists()


def test_the_demo_ranks_what_it_crawled(tmp_path: Path) -> None:
    done = run("demo", "--delay", "0", "--no-serve", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "documents of the demo web, each once" in done.stdout
    assert re.search(r"Ranked \d+ pages by \d+ links", done.stdout)
    best = re.findall(r"^ +(\d+\.\d+)  (http\S+)$", done.stdout, re.MULTILINE)
    known = {row["url"] for row in exported("pages", tmp_path)}
    assert len(best) == 3 and {url for _, url in best} <= known
    assert [float(rank) for rank, _ in best] == sorted((float(rank) for rank, _ in best), reverse=True)
