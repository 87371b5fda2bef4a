"""`--strategy`: whatever is fetched first, the same pages are found in the end."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_kit import crawl, settings_of, write_settings
from inside import Done, fails, gossamer
from table_kit import problems

from gossamer.plugins import STRATEGIES
from gossamer.testing import FakeWeb, Site

PAGES = 24
RULES = '[[rule]]\ndomain = "order.test"\nname = "even"\nurls = "/p/{id}.html"\n'
SINGLE = ("breadth", "random", "fit", "backlinks", "opic", "fica", "qrank", "qrank-links")
PRODUCTS = ("fit * opic", "fit*qrank * backlinks")


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb("127.0.69")
    site = web.site("order.test", pages=PAGES, links=4, seed=5)
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {site.url('/sitemap.xml')}\n")
    site.sitemap([site.generated[3], "/hidden"])
    site.page("/hidden", "A page that only the sitemap names. It tells of nothing else. It is there all the same.")
    with web:
        yield web


def expected(site: Site) -> list[str]:
    return sorted([*site.generated, site.url("/hidden")])


def stored(data: Path) -> list[str]:
    return sorted(json.loads(line)["url"] for line in gossamer("export", "pages", data=data).out.splitlines())


def refused_crawl(data: Path, strategy: str, **priority: str) -> Done:
    """A crawl that does not begin."""
    write_settings(data, {"network": {"allow": ["127.0.0.0/8"]}, "priority": dict(priority)})
    return gossamer("crawl", "http://127.0.0.1:1/", "--strategy", strategy, data=data)


def test_every_strategy_there_is_has_its_crawl() -> None:
    assert set(STRATEGIES.names()) == {*SINGLE, "earlier"}


@pytest.mark.parametrize("strategy", [*SINGLE, *PRODUCTS])
def test_every_page_is_found(web: FakeWeb, tmp_path: Path, strategy: str) -> None:
    site = web.sites["order.test"]
    write_settings(tmp_path, settings_of(web))
    assert gossamer("rules", "import", "-", data=tmp_path, stdin=RULES).code == 0
    status = crawl(web, tmp_path, [site.url("/")], "--strategy", strategy, "--workers", "1", crawl={"parsers": 1})
    assert stored(tmp_path) == expected(site)
    assert (status["urls_due"], status["errors"]) == (0, 0)
    assert problems(tmp_path) == []
    factors = gossamer("explain", site.generated[5], "--json", data=tmp_path).json["factors"]["priority"]
    names = [name.strip() for name in strategy.split("*")]
    assert sorted(one["name"] for one in factors) == sorted([*names, "score"])
    assert all(0 < one["value"] <= 1 for one in factors)


def test_ranks_of_an_earlier_crawl_say_what_comes_first(web: FakeWeb, tmp_path: Path) -> None:
    site = web.sites["order.test"]
    best = site.generated[PAGES - 1]
    ranks = tmp_path / "ranks.tsv.gz"
    ranks.write_bytes(gzip.compress(f"{best}\t0.5\n{site.generated[2]}\t0.001\n".encode()))
    options = ("--strategy", "earlier", "--workers", "1")
    crawl(web, tmp_path, [site.url("/")], *options, priority={"ranks": str(ranks)})
    assert stored(tmp_path) == expected(site)
    told = gossamer("explain", best, "--json", data=tmp_path).json["factors"]
    assert told["record"]["level"] == 0
    assert {one["name"]: one["value"] for one in told["priority"]}["earlier"] == 1.0
    other = gossamer("explain", site.generated[2], "--json", data=tmp_path).json["factors"]
    assert other["record"]["level"] > 0


def test_the_crawl_goes_by_its_own_ranks_where_no_file_is_named(web: FakeWeb, tmp_path: Path) -> None:
    site = web.sites["order.test"]
    options = ("--strategy", "earlier", "--workers", "1")
    fails(refused_crawl(tmp_path, "earlier"), 2, "gossamer rank")
    crawl(web, tmp_path, [site.url("/")])
    ranked = gossamer("rank", "--top", "100", "--json", data=tmp_path).json["top"]
    found = [page["url"] for page in ranked if page["url"] != site.url("/")]
    (tmp_path / "frontier.db").rename(tmp_path / "old.db")
    crawl(web, tmp_path, [site.url("/")], *options)
    assert stored(tmp_path) == expected(site)
    told = [gossamer("explain", url, "--json", data=tmp_path).json["factors"]["priority"] for url in found]
    scores = [{one["name"]: one["value"] for one in factors}["earlier"] for factors in told]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (b"http://order.test/\t1\nhttp://order.test/a 3\n", ["line 2", "a URL, a tab and a rank"]),
        (b"http://order.test/\t1\nnot a url\t3\n", ["line 2"]),
        (b"http://order.test/\tnan\n", ["line 1"]),
        (b"http://order.test/\t-1\n", ["line 1"]),
        (b"http://order.test/\tinf\n", ["line 1"]),
        (b"\xff\xfe", ["cannot read"]),
        (b"", ["ranks"]),
        (None, ["cannot read", "No such file"]),
    ],
)
def test_a_bad_file_of_ranks_is_one_clear_sentence(tmp_path: Path, lines: bytes | None, words: list[str]) -> None:
    ranks = tmp_path / "ranks.tsv"
    if lines is not None:
        ranks.write_bytes(lines)
    fails(refused_crawl(tmp_path / "data", "earlier", ranks=str(ranks)), 2, *words)


def test_ranks_that_are_no_gzip_although_they_are_called_so(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks.gz"
    ranks.write_bytes(b"http://order.test/\t1\n")
    fails(refused_crawl(tmp_path / "data", "earlier", ranks=str(ranks)), 2, "cannot read")
    ranks.write_bytes(gzip.compress(b"http://order.test/\t1\n" * 1000)[:30])
    fails(refused_crawl(tmp_path / "data", "earlier", ranks=str(ranks)), 2, "cannot read")


def test_a_strategy_that_does_not_exist_names_those_that_do(tmp_path: Path) -> None:
    fails(refused_crawl(tmp_path, "opik"), 2, "opik", "opic")


@pytest.mark.parametrize("model", [b"", b"nonsense", bytes(9)])
def test_a_model_that_is_none_is_one_clear_sentence(tmp_path: Path, model: bytes) -> None:
    file = tmp_path / "model"
    file.write_bytes(model)
    fails(refused_crawl(tmp_path / "data", "qrank", model=str(file)), 2, "model")
