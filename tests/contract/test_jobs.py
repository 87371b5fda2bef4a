"""A job gives the same result on every engine and however its data is cut, and it is what the crawl itself keeps.

Ray's turn is taken by tests/cluster/test_ray_jobs.py, in a network of its own.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from engine_kit import KINDS, made

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import crawl
from index_kit import Contents, contents
from inside import fails, gossamer

from gossamer.data.folder import DataFolder
from gossamer.database.database import open_database, read_database
from gossamer.engine.contract import Engine, InlineEngine
from gossamer.frontier.copies.mirror_compare import compare
from gossamer.frontier.copies.mirror_table import active
from gossamer.frontier.views.table_statistics import all_leaves
from gossamer.index import schema
from gossamer.index.shards import Cut
from gossamer.jobs import mirror_search, near_clusters, prefix_statistics, vocabulary
from gossamer.jobs.context import result_table
from gossamer.jobs.index_build import BuiltShard, build_shards, install_shard
from gossamer.jobs.prefix_statistics import counted_leaves
from gossamer.jobs.run import JobOptions, JobResult, job_named, working
from gossamer.scope.statistics import Counts
from gossamer.search.limits import WINDOW
from gossamer.store.place import open_place
from gossamer.testing import FakeWeb

PAGES = 40
ORDERS = {
    "prefix-statistics": prefix_statistics.ORDER,
    "near-clusters": near_clusters.ORDER,
    "mirror-search": mirror_search.ORDER,
    "vocabulary": vocabulary.ORDER,
}
NOW = 1_800_000_000.0


def text(number: object, changed: int = -1) -> str:
    words = [f"word{number}x{place}" for place in range(150)]
    if changed >= 0:
        words[changed] = "changed"
    return f"Page {number} of many. " + " ".join(words)


def add_pages(web: FakeWeb, host: str) -> None:
    site = web.site(host)
    for number in range(PAGES):
        site.page(f"/p/{number}.html", text(number), links=[f"{n}.html" for n in (number + 1, number + 2) if n < PAGES])
    site.page("/", text("start"), links=["p/0.html", "p/1.html", "about/us.html?lang=en&page=1", "nowhere/at/all.html"])
    site.page("/about/us.html?lang=en&page=1", text(f"about {host}"))


def add_languages(web: FakeWeb) -> None:
    site = web.site("words.test")
    russian = "Паук плетёт паутину между ветвями, и ветер качает её над рекой. Пауки терпеливо ждут добычу. "
    chinese = "蜘蛛在树枝之间织网,等待昆虫飞来。图书馆里有很多关于蜘蛛的书。"
    site.page("/ru.html", russian * 6, title="Пауки")
    site.page("/zh.html", chinese * 8, title="蜘蛛")
    site.page("/old.html", text("old"))
    site.redirect("/moved.html", "/ru.html")
    for number in range(6):
        site.page(f"/copies/{number}.html", text("story", 25 * number))
    site.page("/copies/base.html", text("story"))
    site.page("/twin.html", text("old"))
    links = ["ru.html", "zh.html", "old.html", "twin.html", "moved.html", "copies/base.html"]
    site.page("/", text("words"), links=[*links, *(f"copies/{number}.html" for number in range(6))])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with near duplicates, duplicates, redirects, errors, three languages and a mirror."""
    data = tmp_path_factory.mktemp("jobs") / "data"
    web = FakeWeb("127.0.83")
    add_pages(web, "main.test")
    add_pages(web, "copy.test")
    add_languages(web)
    with web:
        crawl(web, data, [web.url("main.test"), web.url("words.test")])
        crawl(web, data, [web.url("copy.test")])
    return data


class Done(NamedTuple):
    """A result, in a form that can be compared."""

    report: Any
    rows: list[dict[str, Any]]


def context_of(data: Path, work: Path, engine: Engine, parts: int, name: str = "job") -> Any:
    folder = DataFolder(data)
    db = read_database(folder.database)
    return working(name, engine, db, folder.segments.url, str(work), NOW, parts=parts)


def run_job(name: str, data: Path, work: Path, engine: Engine, parts: int) -> Done:
    with context_of(data, work, engine, parts, name) as context:
        result: JobResult = job_named(name).run(context, JobOptions(NOW))
        rows = result_table(context.place, result.files, ORDERS[name]).to_pylist()
    assert not list(open_place(str(work)).names()), "nothing is left in the work place"
    return Done(msgspec.to_builtins(result.report), rows)


@pytest.fixture(scope="module")
def expected(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    work = tmp_path_factory.mktemp("expected")
    return {name: run_job(name, data, work, InlineEngine(), 3) for name in ORDERS}


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    engine = made(request.param)
    yield engine
    engine.close()


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("name", ORDERS)
def test_the_result_is_the_same_on_every_engine_and_however_it_is_cut(
    name: str, parts: int, engine: Engine, data: Path, expected: dict[str, Done], tmp_path: Path
) -> None:
    found = run_job(name, data, tmp_path, engine, parts)
    assert found.rows == expected[name].rows
    assert found.report == expected[name].report


def whole(built: list[BuiltShard], target: Path, tmp_path: Path) -> Contents:
    """What the shards of an index hold together."""
    found = Contents({}, [], {})
    for shard in built:
        folder = tmp_path / f"{shard.shard}"
        install_shard(open_place(str(target)), Cut(shard.shard, shard.shards), folder / "index")
        one = contents(folder)
        assert not found.pages.keys() & one.pages.keys(), "no page is in two shards"
        assert len(one.pages) == shard.documents
        terms = {field: dict(Counter(found.terms.get(field, {})) + Counter(one.terms[field])) for field in one.terms}
        found = Contents({**found.pages, **one.pages}, found.copies + one.copies, terms)
    return found


@pytest.fixture(scope="module")
def rebuilt(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder with an index as the indexer builds it."""
    copy = tmp_path_factory.mktemp("rebuilt") / "data"
    shutil.copytree(data, copy)
    assert gossamer("index", "--rebuild", "--json", data=copy).code == 0
    return copy


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("shards", [1, 3])
def test_an_index_built_in_shards_holds_what_an_indexer_writes(
    shards: int, parts: int, engine: Engine, data: Path, rebuilt: Path, tmp_path: Path
) -> None:
    with context_of(data, tmp_path / "work", engine, parts) as context:
        report = build_shards(context, shards, str(tmp_path / "target"), NOW)
    found, expected = whole(report.shards, tmp_path / "target", tmp_path), contents(rebuilt)
    assert found.copies == []
    assert found.pages == expected.pages
    assert found.terms == expected.terms
    assert len(report.shards) == shards
    assert report.unread == []


QUERIES = (
    "word3x7",
    "changed",
    "паук",
    "图书馆",
    "page many",
    '"of many" -word5x5',
    "site:words.test",
    "page many site:words.test",
    "page about us",
    "story lang:en",
)


def test_queries_get_the_same_answers_from_a_built_index_and_it_can_be_followed(
    data: Path, rebuilt: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    with context_of(data, tmp_path / "work", InlineEngine(), 2) as context:
        report = build_shards(context, 1, str(tmp_path / "target"), NOW)
    generation = install_shard(open_place(str(tmp_path / "target")), Cut(), copy / "index")
    for query in QUERIES:
        answers = [
            gossamer("search", query, "--json", "--limit", "100", data=folder).json for folder in (copy, rebuilt)
        ]
        assert answers[0]["total"] == answers[1]["total"]
        hits = [answer["hits"] for answer in answers]
        assert {hit["url"] for hit in hits[0]} == {hit["url"] for hit in hits[1]}
        # Which of several equally good pages comes first is not promised, and the first of many gain by it.
        if sum(1 + hit["similar"] for hit in hits[0]) <= WINDOW:
            scores = [sorted(hit["score"] for hit in one) for one in hits]
            assert scores[0] == pytest.approx(scores[1], abs=1e-9)
    assert answers[0]["total"] > 0
    followed = gossamer("index", "--json", data=copy).json
    assert [followed[name] for name in ("documents", "generation", "behind")] == [report.documents, generation, 0]


def test_a_shard_that_two_tasks_built_is_there_once(data: Path, tmp_path: Path) -> None:
    """As where a machine was thought dead, and was not."""
    with context_of(data, tmp_path / "work", TwiceEngine(), 2) as context:
        report = build_shards(context, 2, str(tmp_path / "target"), NOW)
    place = open_place(str(tmp_path / "target"))
    generations = {tuple(name.split("/")[:2]) for name in place.names() if not name.endswith("current")}
    assert generations == {(one.folder, one.generation) for one in report.shards}
    assert len(whole(report.shards, tmp_path / "target", tmp_path).pages) == report.documents


def test_an_index_is_built_over_an_older_one(data: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with context_of(data, tmp_path / "work", InlineEngine(), 2) as context:
            report = build_shards(context, 2, str(tmp_path / "target"), NOW)
    names = list(open_place(str(tmp_path / "target")).names())
    assert {name.split("/")[1] for name in names} == {"current", *(one.generation for one in report.shards)}


class TwiceEngine(InlineEngine):
    """Every task runs twice, as on an engine that took a slow machine for a dead one."""

    def run(self, function: Callable[[Any], Any], arguments: Any) -> Iterator[tuple[int, Any]]:
        for argument in arguments:
            function(argument)
        return super().run(function, arguments)


@pytest.mark.parametrize("name", ORDERS)
def test_tasks_that_run_twice_change_nothing(name: str, data: Path, expected: dict[str, Done], tmp_path: Path) -> None:
    assert run_job(name, data, tmp_path, TwiceEngine(), 2) == expected[name]


def test_statistics_are_the_counters_that_the_crawl_keeps(data: Path, tmp_path: Path) -> None:
    with context_of(data, tmp_path, InlineEngine(), 3) as context:
        counted = dict(counted_leaves(context.place, prefix_statistics.prefix_statistics(context)[1]))
        kept = {leaf: counts for leaf, counts in all_leaves(context.db).items() if counts != Counts()}
    assert counted == kept
    assert sum(counts.documents for counts in counted.values()) > PAGES
    assert sum(counts.near for counts in counted.values()) > 0
    assert sum(counts.failed for counts in counted.values()) > 0
    assert sum(counts.duplicates for counts in counted.values()) > 0


def test_near_duplicates_are_found_whatever_the_order_of_the_crawl(expected: dict[str, Done]) -> None:
    done = expected["near-clusters"]
    clusters: dict[int, set[str]] = {}
    for row in done.rows:
        clusters.setdefault(row["cluster"], set()).add(row["url"].partition("/copies/")[2])
    assert {f"{number}.html" for number in range(6)} | {"base.html"} in clusters.values()
    assert all(sum(one["is_representative"] for one in done.rows if one["cluster"] == name) == 1 for name in clusters)
    assert all(row["cluster"] <= row["key"] for row in done.rows), "a cluster is named by its smallest key"
    assert done.report["clusters"] == sum(
        number > 1 for number in Counter(row["cluster"] for row in done.rows).values()
    )


def test_mirrors_are_those_that_the_crawl_found(expected: dict[str, Done], data: Path) -> None:
    db = read_database(DataFolder(data).database)
    live = active(db)
    side_by_side = compare(db, *next(iter(live.items())))
    db.close()
    pairs = expected["mirror-search"].report["pairs"]
    assert live, "the crawl found the mirror"
    assert {one["site"]: one["main"] for one in pairs if one["verdict"] == "mirror"} == live
    assert [one["live"] for one in pairs] == ["mirror"]
    assert expected["mirror-search"].report["only_live"] == []
    assert pairs[0]["same"] >= 20
    assert tuple(pairs[0][name] for name in ("compared", "equal", "exact")) == side_by_side


def test_document_frequencies_are_those_of_an_index_over_all(expected: dict[str, Done], rebuilt: Path) -> None:
    terms = contents(rebuilt).terms
    words: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    for row in expected["vocabulary"].rows:
        words[row["word"]] += row["documents"]
        titles[row["word"]] += row["titles"]
    assert +words == terms[schema.BODY_STEMS]
    assert +titles == terms[schema.TITLE_STEMS]
    languages = {one["lang"]: one for one in expected["vocabulary"].report["languages"]}
    assert {"ru", "zh"} <= languages.keys()
    assert any(word["word"] == "蜘蛛" for word in languages["zh"]["top"])
    assert expected["vocabulary"].report["words"] == len(expected["vocabulary"].rows)


def test_a_job_goes_on_without_a_segment_that_is_gone_and_says_so(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    folder = DataFolder(copy)
    db = folder.read()
    found = "SELECT segment, COUNT(*) FROM urls WHERE outcome = 'document' GROUP BY segment ORDER BY 2"
    merged = dict(db.execute("SELECT id, merged_into FROM segments WHERE merged_into IS NOT NULL"))
    lost = db.execute(found)[0][0]
    while lost in merged:
        lost = merged[lost]
    db.close()
    folder.segments.discard(lost)
    done = gossamer("jobs", "run", "vocabulary", "--json", data=copy)
    assert done.code == 0
    assert done.json["skipped"] == 1
    assert [one["segment"] for one in done.json["report"]["unread"]] == [lost]
    assert f"left out segment {lost}" in done.err.replace("\n", " ")


def test_the_verb_lists_runs_and_writes_files(data: Path, tmp_path: Path) -> None:
    names = [one["name"] for one in gossamer("jobs", "list", "--json").json]
    assert names == [*ORDERS, "index-build"]
    done = gossamer("jobs", "run", "near-clusters", "--json", "-o", str(tmp_path / "out"), "--parts", "2", data=data)
    assert done.code == 0, done.err
    assert [Path(file).name for file in done.json["files"]] == ["clusters-00000.parquet", "clusters-00001.parquet"]
    assert all(Path(file).stat().st_size for file in done.json["files"])
    shown = gossamer("jobs", "run", "mirror-search", data=data)
    assert shown.code == 0, shown.err
    assert "mirror-search took" in shown.out
    built = gossamer("jobs", "run", "index-build", "--json", "--shards", "2", "-o", str(tmp_path / "index"), data=data)
    assert built.code == 0, built.err
    assert len(json.loads(built.out)["report"]["shards"]) == 2


def test_statistics_are_rebuilt_by_the_verb(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    assert gossamer("stats", "--rebuild", "--json", data=copy).json["wrong"] == []
    db = open_database(DataFolder(copy).database)
    db.execute("UPDATE prefixes SET known = known + 5, documents = 0")
    db.close()
    before = gossamer("stats", "--json", data=data).json
    assert gossamer("stats", "--rebuild", data=copy).code == 0
    assert gossamer("stats", "--json", data=copy).json == before


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["jobs", "run", "nothing"], "there is no job 'nothing'"),
        (["jobs", "run", "index-build"], "name a folder with -o"),
        (["jobs", "run", "index-build", "-o", "x", "--shards", "0"], "1 to 1024 shards"),
        (["jobs", "run", "near-clusters", "--method", "magic"], "there is no method 'magic'"),
        (["jobs", "run", "vocabulary", "--parts", "-1"], "--parts"),
        (["stats", "--rebuild", "a.test"], "leave out SITE and --recount"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], phrase: str, data: Path) -> None:
    fails(gossamer(*arguments, data=data), 2, phrase)


@pytest.mark.parametrize("name", [*ORDERS, "index-build"])
def test_without_a_crawl_or_anything_stored_there_is_a_sentence(name: str, tmp_path: Path) -> None:
    fails(gossamer("jobs", "run", name, "-o", str(tmp_path / "x"), data=tmp_path / "none"), 2, "no crawl in")
    empty = tmp_path / "empty"
    open_database(DataFolder(empty).database).close()
    fails(gossamer("jobs", "run", name, "-o", str(tmp_path / "x"), data=empty), 2, "yet: run `gossamer crawl` first")


def test_an_index_built_on_an_engine_is_taken_over_by_its_node(data: Path, tmp_path: Path) -> None:
    """`jobs run index-build` on the cluster, then `index --from` on each node: nothing is indexed twice."""
    built, index = tmp_path / "built", tmp_path / "index"
    done = gossamer("jobs", "run", "index-build", "--shards", "2", "-o", str(built), "--json", data=data)
    assert done.code == 0, done.err
    documents = 0
    for shard in ("1/2", "2/2"):
        place = index / shard.replace("/", "-")
        taken = gossamer("index", "--shard", shard, "--index", str(place), "--from", str(built), "--json", data=data)
        assert taken.code == 0, taken.err
        documents += taken.json["documents"]
    assert documents == done.json["report"]["documents"] > 0
    wrong = gossamer("index", "--shard", "1/3", "--index", str(index / "x"), "--from", str(built), data=data)
    assert wrong.code == 2
    assert "there is no index of shard 1/3" in wrong.err
