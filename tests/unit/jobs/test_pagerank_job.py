from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest

from gossamer.engine.contract import InlineEngine
from gossamer.engine.local import LocalEngine
from gossamer.errors import CorruptError, UsageError
from gossamer.graph import pagerank
from gossamer.graph.edges import links_by_target, out_degrees
from gossamer.graph.pagerank import Rules, rank
from gossamer.jobs.graph_files import (
    GraphFiles,
    GraphInfo,
    drop_generations,
    read_current,
    write_block,
    write_graph,
)
from gossamer.jobs.pagerank import page_ranks, rank_graph
from gossamer.model.site import key64, site_of
from gossamer.store.place import LocalPlace
from studies.hubs.hits import hits

NOW = 1_800_000_000.0
RULES = Rules(tolerance=1e-4)  # files are synced at each iteration: a few must do


@pytest.fixture(params=["here", "by tasks"])
def engine(request):
    """The two ways in which ranks are computed."""
    return InlineEngine() if request.param == "here" else TwiceEngine()


@pytest.fixture
def place(tmp_path):
    return LocalPlace(tmp_path / "place")


class TwiceEngine:
    """Runs every task twice, the last argument first: as machines do that were believed dead."""

    name, workers = "twice", 1

    def run(self, function, arguments):
        for number in reversed(range(len(arguments))):
            function(arguments[number])
            yield number, function(arguments[number])

    def close(self):
        pass


class Processes(LocalEngine):
    """A cluster, as far as a job can tell."""

    name = "processes"


def some_urls(count):
    return [f"http://site{number % 7}.example/page/{number}" for number in range(count)]


def some_links(urls, count, seed=1):
    rng = np.random.default_rng(seed)
    sources = rng.integers(0, len(urls) * 4 // 5, count)
    targets = (sources + rng.integers(-30, 31, count)) % len(urls)
    return [(urls[source], urls[target]) for source, target in zip(sources, targets, strict=True)]


def store(place, prefix, urls, links, blocks=1, made_at=NOW):
    """Write a graph as its producer does; returns its keys and its links as node numbers."""
    urls = sorted(urls, key=key64)
    keys = np.array([key64(url) for url in urls], np.int64)
    number = {url: node for node, url in enumerate(urls)}
    sources, targets = ([number[link[side]] for link in links] for side in (0, 1))
    indptr, origins = links_by_target(sources, targets, len(urls))
    sites = sorted({site_of(url) for url in urls})
    cuts = [len(urls) * block // blocks for block in range(blocks)]
    for block, (first, end) in enumerate(itertools.pairwise([*cuts, len(urls)])):
        part = origins[indptr[first] : indptr[end]]
        write_block(
            place, prefix, block, indptr[first : end + 1] - indptr[first], part, keys[first:end], urls[first:end]
        )
    info = GraphInfo(len(urls), len(origins), cuts, made_at, 1, len(sites))
    site_numbers = [sites.index(site_of(url)) for url in urls]
    write_graph(place, prefix, info, keys, site_numbers, sites, out_degrees(origins, len(urls)))
    return urls, indptr, origins


def test_ranks_are_the_same_to_the_last_bit_on_every_engine(place):
    urls = some_urls(900)
    store(place, "graph/a", urls, some_links(urls, 6000), blocks=4)
    engines = [InlineEngine(), LocalEngine(2), Processes(2), TwiceEngine()]
    try:
        found = {engine.name: rank_graph(engine, place, "graph/a", engine.name, NOW, RULES) for engine in engines}
    finally:
        for engine in engines:
            engine.close()
    for name in ("local", "processes", "twice"):
        assert found[name].ranks().tobytes() == found["inline"].ranks().tobytes()
        assert found[name].hosts() == found["inline"].hosts()
        assert found[name].info == found["inline"].info


def test_a_graph_in_one_block_needs_no_machine_but_this(place):
    class NoMachines:
        name, workers = "nobody", 100

        def run(self, function, arguments):
            raise AssertionError("no task was expected")

    urls = some_urls(100)
    store(place, "graph/a", urls, some_links(urls, 500))
    assert rank_graph(NoMachines(), place, "graph/a", "r", NOW, RULES).info.converged


def test_pieces_of_a_block_are_the_same_by_tasks_and_here(place, monkeypatch):
    monkeypatch.setattr(pagerank, "EDGES_OF_A_PIECE", 100)
    urls = some_urls(400)
    store(place, "graph/a", urls, some_links(urls, 3000), blocks=2)
    graph = GraphFiles(place, "graph/a")
    here, tasks = (page_ranks(engine, graph, RULES) for engine in (InlineEngine(), TwiceEngine()))
    assert here.values.tobytes() == tasks.values.tobytes()
    assert (here.iterations, here.residual) == (tasks.iterations, tasks.residual)


@pytest.mark.parametrize("seeds", [(), ("http://site0.example/page/0", "http://site3.example/page/3")])
@pytest.mark.parametrize("form", ["normalised", "paper"])
def test_a_graph_in_blocks_has_the_ranks_it_has_in_one(engine, place, seeds, form):
    urls = some_urls(500)
    rules = msgspec.structs.replace(RULES, form=form)
    for blocks in (1, 3):
        store(place, f"graph/{blocks}", urls, some_links(urls, 3000), blocks)
    one = rank_graph(InlineEngine(), place, "graph/1", "r1", NOW, rules, seeds=seeds)
    other = rank_graph(engine, place, "graph/3", "r3", NOW, rules, seeds=seeds)
    assert np.abs(other.ranks() - one.ranks()).max() < 1e-9
    assert other.hosts() == pytest.approx(one.hosts(), abs=1e-9)


def test_ranks_are_those_of_the_links(engine, place):
    urls, indptr, origins = store(place, "graph/a", some_urls(300), some_links(some_urls(300), 2000), blocks=3)
    found = rank_graph(engine, place, "graph/a/", "first", NOW, RULES)
    expected = rank(indptr, origins, out_degrees(origins, 300), RULES)
    assert np.allclose(found.ranks(), expected.values, atol=1e-9)
    assert found.keys().tolist() == [key64(url) for url in urls]
    assert set(found.hosts()) == {f"site{number}.example" for number in range(7)}
    assert np.mean(list(found.hosts().values())) == pytest.approx(1.0)
    assert found.info.pages == 300
    assert found.info.iterations == expected.iterations
    assert found.info.converged
    assert (found.info.warm, found.info.graph, found.info.made_at) == (False, "graph/a/", NOW)


def test_the_current_ranks_are_the_last_that_were_written_whole(engine, place):
    assert read_current(place) is None
    store(place, "graph/a", some_urls(50), some_links(some_urls(50), 200))
    for generation in ("one", "two"):
        rank_graph(engine, place, "graph/a", generation, NOW, RULES)
        assert read_current(place).generation == generation
    assert drop_generations(place, "ranks", keep="two") == ["one"]
    assert read_current(place).ranks().mean() == pytest.approx(1.0)


def test_a_restart_from_earlier_ranks_gives_the_same_ranks_in_fewer_iterations(engine, place):
    urls = some_urls(800)
    links = some_links(urls, 5000)
    store(place, "graph/a", urls, links, blocks=2)
    earlier = rank_graph(engine, place, "graph/a", "a", NOW, RULES)
    grown = [*urls, "http://new.example/"]
    more = [*links[5:], (urls[0], "http://new.example/"), ("http://new.example/", urls[1])]
    store(place, "graph/b", grown, more, blocks=2)
    cold = rank_graph(engine, place, "graph/b", "cold", NOW, RULES)
    warm = rank_graph(engine, place, "graph/b", "warm", NOW, RULES, earlier=earlier)
    assert warm.info.warm
    assert warm.info.iterations < cold.info.iterations
    assert np.abs(warm.ranks() - cold.ranks()).mean() < 2 * RULES.tolerance * 0.85 / 0.15


def test_a_restart_from_ranks_of_other_pages_is_a_cold_one(engine, place):
    store(place, "graph/a", ["http://a.example/"], [])
    earlier = rank_graph(engine, place, "graph/a", "a", NOW)
    store(place, "graph/b", some_urls(60), some_links(some_urls(60), 200))
    warm = rank_graph(engine, place, "graph/b", "b", NOW, RULES, earlier=earlier)
    cold = rank_graph(engine, place, "graph/b", "c", NOW, RULES)
    assert warm.ranks().tobytes() == cold.ranks().tobytes()


def test_pages_that_no_seed_leads_to_have_no_personal_rank(engine, place):
    urls = ["http://a.example/", "http://b.example/", "http://c.example/"]
    store(place, "graph/a", urls, [(urls[0], urls[1]), (urls[2], urls[1])])
    found = rank_graph(engine, place, "graph/a", "p", NOW, RULES, seeds=[urls[0], "http://unknown.example/"])
    ranks = dict(zip(found.keys().tolist(), found.ranks().tolist(), strict=True))
    assert ranks[key64(urls[2])] == 0
    assert ranks[key64(urls[0])] > ranks[key64(urls[1])] > 0
    assert found.hosts()["c.example"] == 0


def test_seeds_that_are_not_in_the_graph_are_an_error(engine, place):
    store(place, "graph/a", some_urls(5), [])
    with pytest.raises(UsageError, match="seeds"):
        rank_graph(engine, place, "graph/a", "p", NOW, seeds=["http://unknown.example/"])
    assert read_current(place) is None


@pytest.mark.parametrize("blocks", [1, 3])
def test_no_work_is_left_behind_also_after_a_failure(engine, place, blocks):
    urls = some_urls(60)
    store(place, "graph/a", urls, some_links(urls, 300), blocks)
    before = set(place.names())
    with pytest.raises(ZeroDivisionError):
        rank_graph(engine, place, "graph/a", "p", NOW, tell=lambda iteration, _: 1 // (3 - iteration))
    assert set(place.names()) == before


def test_a_graph_that_was_built_again_under_its_name_is_read_again(engine, place):
    urls = some_urls(60)
    store(place, "graph/a", urls, some_links(urls, 300), blocks=2)
    first = page_ranks(engine, GraphFiles(place, "graph/a"), RULES)
    for prefix in ("graph/a", "graph/b"):
        store(place, prefix, urls, some_links(urls, 300, seed=2), blocks=2, made_at=NOW + 1)
    again, anew = (page_ranks(engine, GraphFiles(place, prefix), RULES) for prefix in ("graph/a", "graph/b"))
    assert again.values.tobytes() == anew.values.tobytes() != first.values.tobytes()


def test_a_graph_without_pages_and_one_without_links_are_ranked(engine, place):
    store(place, "graph/none", [], [])
    nothing = rank_graph(engine, place, "graph/none", "none", NOW)
    assert (nothing.ranks().tolist(), nothing.hosts(), nothing.info.converged) == ([], {}, True)
    store(place, "graph/lone", some_urls(10), [], blocks=2)
    assert rank_graph(engine, place, "graph/lone", "lone", NOW).ranks().tolist() == [1.0] * 10


@pytest.mark.parametrize("blocks", [1, 3])
def test_urls_and_links_of_single_pages_can_be_looked_up(place, blocks):
    urls, indptr, origins = store(place, "graph/a", some_urls(90), some_links(some_urls(90), 500), blocks)
    graph = GraphFiles(place, "graph/a")
    pairs = {(int(source), target) for target in range(90) for source in origins[indptr[target] : indptr[target + 1]]}
    assert graph.info.edges == len(pairs)
    asked = [89, 3, 3, 40]
    assert graph.urls(asked) == [urls[node] for node in asked]
    assert graph.urls([]) == []
    into, out_of = graph.into(asked), graph.out_of(asked)
    assert sorted(zip(*(side.tolist() for side in into), strict=True)) == sorted(p for p in pairs if p[1] in asked)
    assert sorted(zip(*(side.tolist() for side in out_of), strict=True)) == sorted(p for p in pairs if p[0] in asked)
    assert graph.sites()[graph.site_numbers()[40]] == site_of(urls[40])
    assert graph.out().sum() == len(pairs)


def test_hubs_and_authorities_are_found_in_a_stored_graph(place):
    hubs = [f"http://hub{number}.example/" for number in range(4)]
    links = [(hub, "http://good.example/") for hub in hubs] + [(hubs[0], "http://other.example/")]
    urls, *_ = store(place, "graph/a", [*hubs, "http://good.example/", "http://other.example/"], links, blocks=2)
    graph = GraphFiles(place, "graph/a")
    found = hits(graph, [urls.index("http://other.example/"), urls.index(hubs[1])], graph.site_numbers())
    assert graph.urls([found.nodes[found.authorities.argmax()]]) == ["http://good.example/"]
    assert graph.urls([found.nodes[found.hubs.argmax()]]) == [hubs[0]]


def test_a_damaged_file_is_named(engine, place):
    store(place, "graph/a", some_urls(20), some_links(some_urls(20), 60))
    place.put("graph/a/block-00000.sources.npy", place.get("graph/a/block-00000.sources.npy")[:-4])
    with pytest.raises(CorruptError, match=r"block-00000\.sources"):
        rank_graph(engine, place, "graph/a", "p", NOW)
    place.put("graph/a/graph.json", b"{")
    with pytest.raises(CorruptError, match=r"graph\.json"):
        GraphFiles(place, "graph/a")
