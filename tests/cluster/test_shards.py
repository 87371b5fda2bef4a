"""Search on many machines: a divided index answers as one index does, and says so where a part of it is missing."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from shard_kit import (
    PATIENCE,
    SHARDS,
    Server,
    asked,
    contents,
    crawl_with_nodes,
    front_folder,
    index_folder,
    listed,
    rebuild,
    run,
    serving,
    shown,
)

from gossamer.demo.web import DemoWeb
from gossamer.index import commits
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut, shard_of
from gossamer.model.site import key64

QUERIES = [
    "spider", "web", "orb weaver", '"orb weaver"', '"orb weaver" -silk', "паутина", '"паук" OR паутина', "图书馆",
    "蜘蛛", "site:news.weaver.test", "spider site:news.weaver.test", "spider after:2024", "spider before:2025-06",
    "lang:ru", "intitle:spider", "inurl:news", "silk sort:date", "gfenbyf", "spidre",
    "library archive history thread of the", "news", "nothingatallhasthisword", "category:none", "the",
]  # fmt: skip


class Cluster(NamedTuple):
    data: Path
    root: Path
    single: Server
    shards: list[Server]
    front: Server


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with its index, and three index nodes that followed it."""
    data = tmp_path_factory.mktemp("cluster") / "data"
    with DemoWeb("127.0.56") as web:
        crawl_with_nodes(web, data)
    return data


@pytest.fixture(scope="module")
def cluster(followed: Path) -> Iterator[Cluster]:
    """All indexes built anew, so that none holds replaced pages that the library would still count."""
    rebuild(followed)
    with ExitStack() as stack:
        single = stack.enter_context(serving(data=followed))
        shards = [
            stack.enter_context(serving(*shard_options(followed, shard), data=followed))
            for shard in range(1, SHARDS + 1)
        ]
        server = stack.enter_context(front(followed.parent, [[one] for one in shards]))
        yield Cluster(followed, followed.parent, single, shards, server)


def shard_options(data: Path, shard: int, shards: int = SHARDS) -> list[str]:
    return ["--shard", f"{shard}/{shards}", "--index", str(index_folder(data, shard))]


def front(root: Path, shards: list[list[Server]], deadline: float = 60.0) -> Any:
    return serving("--shards", listed(shards), data=front_folder(root / "front", shards={"deadline": deadline}))


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what may differ: times, and the order of hits with equal scores."""
    kept = {name: value for name, value in answer.items() if name not in ("seconds", "shards", "incomplete", "hits")}
    return kept | {"hits": sorted(map(dict, answer["hits"]), key=lambda hit: str(hit["url"]))}


def assert_same(one: dict[str, Any], many: dict[str, Any]) -> None:
    """Equal but for the last digits of scores: the library adds up in single precision, in another order, and one
    replica may have its ballast already while another corrects its scores."""
    mine, theirs = comparable(one), comparable(many)
    scores = [{hit["url"]: hit.pop("score") for hit in answer["hits"]} for answer in (mine, theirs)]
    assert theirs == mine
    assert scores[1] == pytest.approx(scores[0], rel=1e-5)


def scores_of(answer: dict[str, Any]) -> list[float]:
    return [hit["score"] for hit in answer["hits"]]


def test_each_index_node_took_its_share_by_itself_and_together_they_hold_everything(followed: Path) -> None:
    whole = contents(IndexFolder(followed / "index"))
    parts = [IndexFolder(index_folder(followed, shard)) for shard in range(1, SHARDS + 1)]
    assert sorted(url for part in parts for url in contents(part)) == sorted(whole)
    position = commits.read(IndexFolder(followed / "index").require()).payload.position
    for shard, part in enumerate(parts, 1):
        payload = commits.read(part.require()).payload
        assert payload.cut == Cut(shard, SHARDS) and payload.position == position
        assert {shard_of(key64(url), SHARDS) for url in contents(part)} == {shard}


@pytest.mark.parametrize("query", QUERIES)
def test_a_divided_index_answers_as_one_index_does(cluster: Cluster, query: str) -> None:
    for size in ("100", "10"):
        one, many = (asked(server, "search", q=query, size=size) for server in (cluster.single, cluster.front))
        if size == "100":
            assert_same(one, many)
        assert scores_of(many) == pytest.approx(scores_of(one), rel=1e-5)
        assert many["shards"] == {"asked": SHARDS, "answered": SHARDS, "problems": []} and not many["incomplete"]


def test_plain_bm25_is_the_same_too(cluster: Cluster, tmp_path: Path) -> None:
    """The command line can choose one; the API has the ranking of the settings."""
    asking = front_folder(tmp_path / "front", shards={"deadline": 60.0})
    words = ["search", "spider", "--size", "100", "--ranking", "bm25", "--json"]
    one = run(*words, data=cluster.data)
    many = run(*words, "--shards", listed([[shard] for shard in cluster.shards]), data=asking)
    assert one.returncode == many.returncode == 0, one.stderr + many.stderr
    # Of near copies with equal scores either may be shown.
    scores = [scores_of(json.loads(done.stdout)) for done in (one, many)]
    assert scores[1] == pytest.approx(scores[0], abs=1e-3)
    assert json.loads(many.stdout)["total"] == json.loads(one.stdout)["total"] >= len(scores[0]) > 3


def test_pages_of_results_go_on_where_the_last_one_ended(cluster: Cluster) -> None:
    whole = [hit["url"] for hit in asked(cluster.front, "search", q="spider", size="100")["hits"]]
    pages = [asked(cluster.front, "search", q="spider", size="3", page=str(page))["hits"] for page in range(1, 6)]
    assert [hit["url"] for page in pages for hit in page] == whole[:15]


def test_near_copies_are_one_result_wherever_they_lie(cluster: Cluster) -> None:
    everything = asked(cluster.single, "search", q="site:test", size="100")["hits"]
    copied = [hit for hit in everything if hit["similar"]]
    assert copied, "the demo web has near copies"
    for hit in copied:
        one, many = (
            asked(server, "similar", q="site:test", url=hit["url"]) for server in (cluster.single, cluster.front)
        )
        assert {copy["url"] for copy in many["hits"]} == {copy["url"] for copy in one["hits"]}
        assert len(many["hits"]) == hit["similar"]


@pytest.mark.parametrize("path", ["/", "/search", "/feed.atom", "/feed.rss", "/readyz", "/opensearch.xml"])
def test_pages_and_feeds_are_those_of_one_machine(cluster: Cluster, path: str) -> None:
    one, many = (shown(server, path, q="spider") for server in (cluster.single, cluster.front))
    assert (one.status_code, one.headers["content-type"]) == (many.status_code, many.headers["content-type"])
    assert many.text.count("<h2>") == one.text.count("<h2>") and many.text.count("<entry>") == one.text.count("<entry>")


def test_everything_about_one_page_comes_from_the_shard_that_holds_it(cluster: Cluster) -> None:
    hits = asked(cluster.single, "search", q="spider", size="20")["hits"]
    for hit in hits:
        one, many = (asked(server, "page", url=hit["url"]) for server in (cluster.single, cluster.front))
        assert one == many
        one, many = (asked(server, "explain", q="spider", url=hit["url"]) for server in (cluster.single, cluster.front))
        assert many["score"] == pytest.approx(one["score"], abs=1e-3)
        assert [factor["name"] for factor in many["factors"]] == [factor["name"] for factor in one["factors"]]
    url = hits[0]["url"]
    assert asked(cluster.front, "history", url=url)["visits"] == asked(cluster.single, "history", url=url)["visits"]
    markdown = asked(cluster.front, "page", url=url, format="markdown")
    assert markdown == asked(cluster.single, "page", url=url, format="markdown") and markdown["text"]
    assert shown(cluster.front, "/cached", url=url, q="spider").status_code == 200


@pytest.mark.parametrize("prefix", ["sp", "orb w", "пау", "图"])
def test_suggestions_come_from_all_shards(cluster: Cluster, prefix: str) -> None:
    known = set(asked(cluster.single, "suggest", q=prefix, limit="20")["suggestions"])
    few, many = (asked(server, "suggest", q=prefix)["suggestions"] for server in (cluster.single, cluster.front))
    assert len(many) == len(few) and set(many) <= known


def test_the_command_line_asks_the_shards(cluster: Cluster, tmp_path: Path) -> None:
    asking = front_folder(tmp_path / "front", shards={"deadline": 60.0})
    done = run("search", "spider", "--shards", listed([[one] for one in cluster.shards]), data=asking)
    assert done.returncode == 0 and "1." in done.stdout, done.stderr


def test_a_missing_shard_is_noticed_and_the_others_answer(cluster: Cluster, tmp_path: Path) -> None:
    with serving(*shard_options(cluster.data, 2), data=cluster.data) as second:
        shards = [[cluster.shards[0]], [second], [cluster.shards[2]]]
        with front(tmp_path, shards) as server:
            whole = asked(server, "search", q="site:test", size="100")
            second.kill()
            rest = asked(server, "search", q="site:test", size="100")
            kept = {hit["url"] for hit in whole["hits"] if shard_of(key64(hit["url"]), SHARDS) != 2}
            left = {hit["url"] for hit in rest["hits"]}
            assert kept <= left and kept != {hit["url"] for hit in whole["hits"]}
            # A copy that stood under a page of the missing shard may show itself now.
            assert not any(shard_of(key64(url), SHARDS) == 2 for url in left)
            assert rest["incomplete"] and rest["shards"]["asked"] == 3 and rest["shards"]["answered"] == 2
            assert "no server" in rest["shards"]["problems"][0] and second.address in rest["shards"]["problems"][0]
            sentence = "1 of 3 shards does not answer: results may be incomplete"
            assert sentence in shown(server, "/search", q="spider").text
            assert any(sentence in notice for notice in rest["notices"])
            said = run("search", "spider", "--shards", listed(shards), data=tmp_path / "front")
            assert said.returncode == 0 and sentence in said.stdout


def test_without_any_shard_the_page_says_that_search_is_not_available(tmp_path: Path) -> None:
    with serving("--shards", "http://127.0.0.1:9", data=front_folder(tmp_path / "front")) as server:
        page = shown(server, "/search", q="spider")
        assert page.status_code == 503 and "The operator can find the cause in the log" in page.text
        assert "127.0.0.1" not in page.text, "readers need not know where the shards are"
        assert shown(server, "/api/v1/search", q="spider").status_code == 503
        assert shown(server, "/readyz").status_code == 503
    said = run("search", "spider", "--shards", "http://127.0.0.1:9", data=tmp_path / "front")
    assert said.returncode == 1 and "no shard of the index answers" in said.stderr


def test_a_replica_takes_over_at_once_and_the_lost_one_is_welcome_back(cluster: Cluster, tmp_path: Path) -> None:
    with serving(*shard_options(cluster.data, 1), data=cluster.data) as replica:
        shards = [[replica, cluster.shards[0]], [cluster.shards[1]], [cluster.shards[2]]]
        with front(tmp_path, shards) as server:
            whole = asked(server, "search", q="spider", size="100")
            replica.kill()
            for _ in range(4):
                answer = asked(server, "search", q="spider", size="100")
                assert not answer["incomplete"]
                assert_same(whole, answer)


def test_a_replica_that_hangs_does_not_hold_the_reader_up(cluster: Cluster, tmp_path: Path) -> None:
    with serving(*shard_options(cluster.data, 1), data=cluster.data) as replica:
        shards = [[replica, cluster.shards[0]], [cluster.shards[1]], [cluster.shards[2]]]
        with front(tmp_path, shards, deadline=20.0) as server:
            whole = asked(server, "search", q="spider", size="100")
            replica.process.send_signal(signal.SIGSTOP)
            for _ in range(3):
                answer = asked(server, "search", q="spider", size="100")
                assert not answer["incomplete"]
                assert_same(whole, answer)


def test_a_wrong_list_of_shards_is_named_and_not_answered_wrongly(cluster: Cluster, tmp_path: Path) -> None:
    first, second, third = ([one] for one in cluster.shards)
    with front(tmp_path, [first, third, second]) as server:
        answer = asked(server, "search", q="spider")
        assert answer["shards"]["answered"] == 1
        assert "This node is shard 3/3, not 2/3" in answer["shards"]["problems"][0]
    with front(tmp_path, [first, second]) as server:
        page = shown(server, "/search", q="spider")
        assert page.status_code == 503 and "The operator can find the cause in the log" in page.text
    said = run("search", "spider", "--shards", listed([first, second]), data=tmp_path / "front")
    assert said.returncode == 1 and "This node is shard 1/3, not 1/2" in said.stderr


def test_an_index_of_another_cut_is_refused_by_name(cluster: Cluster) -> None:
    place = str(index_folder(cluster.data, 1))
    said = run("index", "--shard", "1/4", "--index", place, data=cluster.data)
    assert said.returncode == 1
    assert "holds shard 1/3, not shard 1/4" in said.stderr and "gossamer index --rebuild --shard 1/4" in said.stderr
    said = run("index", "--index", place, data=cluster.data)
    assert said.returncode == 1 and "use it with --shard 1/3" in said.stderr
    with (
        serving("--shard", "2/3", "--index", place, data=cluster.data) as wrong,
        front(cluster.root, [[cluster.shards[0]], [wrong], [cluster.shards[2]]]) as server,
    ):
        problems = asked(server, "search", q="spider")["shards"]["problems"]
        assert len(problems) == 1 and "holds shard 1/3, not shard 2/3" in problems[0]


def test_a_wrong_key_is_refused(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_SHARD_KEY", "open-sesame")
    with serving(*shard_options(cluster.data, 2), data=cluster.data) as locked:
        shards = [[cluster.shards[0]], [locked], [cluster.shards[2]]]
        with front(tmp_path, shards) as server:
            assert not asked(server, "search", q="spider")["incomplete"]
        monkeypatch.setenv("GOSSAMER_SHARD_KEY", "open-barley")
        with front(tmp_path, shards) as server:
            answer = asked(server, "search", q="spider")
            assert answer["incomplete"] and "The key is wrong" in answer["shards"]["problems"][0]
        monkeypatch.delenv("GOSSAMER_SHARD_KEY")
        refused = httpx.post(f"{locked.address}/shard/statistics", content=b"", timeout=PATIENCE, trust_env=False)
        assert refused.status_code == 403


def test_a_shard_server_for_others_needs_a_key(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOSSAMER_SHARD_KEY", raising=False)
    said = run("serve", *shard_options(cluster.data, 1), "--host", "0.0.0.0", "--port", "0", data=cluster.data)
    assert said.returncode == 2 and "needs a key" in said.stderr
