"""`gossamer qrank`: learnt from one's own crawl or from files, asked about URLs, and crawled by."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_kit import crawl, exported
from inside import fails, gossamer

from gossamer.data.stored_ranks import rank_place
from gossamer.operate.ranked_pages import RankedPages
from gossamer.priority.qrank.model import load_model
from gossamer.settings import Settings
from gossamer.testing import FakeWeb

HOST = "shop.test"
TEXT = "Page {0} tells of goods number {0} and of nothing else that {0} others tell."
GOODS = [f"/goods/{n}.html" for n in range(30)]
NOTES = [f"/archive/notes/old/{n}/remark.html" for n in range(20)]


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    """All pages link to the goods, nobody but the list links to the notes."""
    web = FakeWeb("127.0.98")
    site = web.site(HOST)
    site.page("/", TEXT.format("start"), links=[*GOODS, "/list.html"])
    site.page("/list.html", TEXT.format("list"), links=[*NOTES, "/goods"])
    site.redirect("/goods", GOODS[0])
    for path in [*GOODS, *NOTES]:
        site.page(path, TEXT.format(path.replace("/", " ")), title=path, links=["/", *GOODS])
    with web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("qrank") / "data"
    crawl(web, data, [web.url(HOST)])
    return data


@pytest.fixture(scope="module")
def trained(crawled: Path) -> Path:
    done = gossamer("qrank", "train", data=crawled)
    assert done.code == 0, done.err
    assert "PageRank of 52 pages" in done.out and f"{HOST}:" in done.out
    assert f'model = "{(crawled / "qrank.model").resolve()}"' in done.out.replace("\n", "")
    assert not list(crawled.glob("*.part"))
    return crawled / "qrank.model"


def place(url: str, model: Path) -> float:
    return float(gossamer("qrank", "show", url, "--model", str(model), "--json").json[0]["place"])


def test_a_crawl_teaches_what_its_pages_link_to(web: FakeWeb, trained: Path) -> None:
    assert place(web.url(HOST, "/goods/99.html"), trained) > place(
        web.url(HOST, "/archive/notes/old/99/x.html"), trained
    )


def test_show_says_which_features_moved_a_url(web: FakeWeb, trained: Path) -> None:
    url = web.url(HOST, "/archive/notes/old/99/remark.html")
    (answer,) = gossamer("qrank", "show", url, "--model", str(trained), "--json").json
    assert answer["place"] - answer["start_place"] == pytest.approx(sum(m["effect"] for m in answer["moves"]), abs=0.01)
    said = gossamer("qrank", "show", url, "example.org", "--model", str(trained)).out
    assert url in said and answer["moves"][0]["feature"] in said
    assert "http://example.org/" in said or "https://example.org/" in said
    assert gossamer("qrank", "show", "example.org/news/").out.count("place") == 2


def test_the_model_orders_a_crawl(web: FakeWeb, trained: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    crawl(web, data, [web.url(HOST)], "--strategy", "qrank", priority={"model": str(trained)})
    levels = {row["url"].rpartition(str(web.port))[2]: row["level"] for row in exported("urls", data)}
    assert max(levels[path] for path in GOODS) < min(levels[path] for path in NOTES)


def test_files_teach_without_a_crawl(tmp_path: Path) -> None:
    urls = tmp_path / "urls.tsv"
    urls.write_text("".join(f"https://one.test/{'x/' * (n % 7)}{n}\t{1 / (1 + n % 7)}\n" for n in range(40)) + "\n")
    paths = tmp_path / "two=2.pages.tsv.gz"
    paths.write_bytes(gzip.compress("".join(f"/{'y/' * (n % 5)}{n}\t3\t4\t{9 - n % 5}\n" for n in range(35)).encode()))
    model = tmp_path / "new" / "my.model"
    done = gossamer("qrank", "train", str(urls), f"two.test={paths}", "--output", str(model), "--json")
    assert done.code == 0, done.err
    assert (done.json["pages"], done.json["sites"], done.json["crawl"]) == (75, 2, None)
    assert [one["site"] for one in done.json["held_out"]["each"]] == ["one.test", "two.test"]
    assert done.json["held_out"]["correlation"] > 0.8
    assert done.json["model"] == str(model.resolve())
    shallow, deep = load_model(model.read_bytes()).place(["https://three.test/9", "https://three.test/z/z/z/z/9"])
    assert shallow > deep


def test_the_same_seed_makes_the_same_model_again(tmp_path: Path) -> None:
    urls = tmp_path / "urls.tsv"
    urls.write_text("".join(f"https://one.test/{'x/' * (n % 7)}{n}\t{1 + n % 7}\n" for n in range(40)))
    models = [tmp_path / name for name in ("a", "b", "c")]
    for model, seed in zip(models, ("4", "4", "5"), strict=True):
        assert gossamer("qrank", "train", str(urls), "--seed", seed, "--output", str(model)).code == 0
    first, again, other = (model.read_bytes() for model in models)
    assert first == again != other


def test_what_is_wrong_is_said_in_one_line(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    wrong = tmp_path / "wrong.tsv"
    fails(gossamer("qrank", "train", data=data), 2, "no crawl")
    fails(gossamer("qrank", "train", str(tmp_path / "none.tsv")), 2, "cannot read", "none.tsv")
    wrong.write_text("https://one.test/\t1\n")
    fails(gossamer("qrank", "train", str(wrong)), 2, "1 URL is too few", "30")
    wrong.write_text("https://one.test/\t1\nhttps://one.test/b\n")
    fails(gossamer("qrank", "train", str(wrong)), 2, "wrong.tsv, line 2", "a tab and a rank")
    wrong.write_text("/path\t1\n")
    fails(gossamer("qrank", "train", str(wrong)), 2, "not an absolute URL", "HOST=FILE")
    wrong.write_text("https://one.test/\t1\n")
    fails(gossamer("qrank", "train", f"two.test={wrong}"), 2, "is not a path")
    packed = tmp_path / "wrong.tsv.gz"
    packed.write_bytes(gzip.compress(b"https://one.test/\t1\n" * 50)[:-12])
    fails(gossamer("qrank", "train", str(packed)), 2, "cannot read", "wrong.tsv.gz")
    fails(gossamer("qrank", "train", str(wrong), "--seed", "-1"), 2, "--seed")
    fails(gossamer("qrank", "show"), 2, "name a URL")
    fails(gossamer("qrank", "show", "http://"), 2)
    fails(gossamer("qrank", "show", "example.org", "--model", str(tmp_path / "none")), 2, "cannot read")
    fails(gossamer("qrank", "show", "example.org", "--model", str(wrong)), 2, "wrong.tsv", "not a QRank model")
    assert not (data / "qrank.model").exists()


def test_a_crawl_of_few_pages_is_too_little(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    crawl(web, data, [web.url(HOST)], "--pages", "5")
    fails(gossamer("qrank", "train", data=data), 2, "pages, too few", "30")


def test_what_is_learnt_are_the_ranks_that_searches_use(web: FakeWeb, crawled: Path, trained: Path) -> None:
    rows = RankedPages(rank_place(crawled, Settings())).by_lot(1)
    some = RankedPages(rank_place(crawled, Settings())).by_lot(1, most=10)
    by_path = {url.rpartition(str(web.port))[2]: rank for url, rank in rows}
    assert len(by_path) == 52
    assert by_path[GOODS[0]] > by_path[GOODS[1]] == pytest.approx(by_path[GOODS[2]])
    assert by_path[GOODS[1]] > by_path[NOTES[0]]
    assert len(some) == 10 and set(some) <= set(rows)
