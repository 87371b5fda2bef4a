"""`gossamer evaluate` as a person calls it, with rankers that need no index."""

import json
from contextlib import contextmanager

import pytest
from cyclopts import App
from evaluate_kit import ANIMALS, SharedWords

from gossamer.cli.searching import evaluate
from gossamer.errors import StorageError, UsageError


@pytest.fixture
def opened(monkeypatch):
    """What rankers were opened for."""
    calls = []

    @contextmanager
    def open_rankers(collection, data, names):
        calls.append((collection, data, list(names)))
        documents = collection.documents or ANIMALS.documents
        yield [(name or "default", SharedWords(documents, titles=name != "plain")) for name in names]

    monkeypatch.setattr(evaluate, "open_rankers", open_rankers)
    return calls


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.json"
    queries = [
        {"id": ident, "text": text, "relevant": ANIMALS.judgements[ident]} for ident, text in ANIMALS.queries.items()
    ]
    documents = [{"id": d.id, "title": d.title, "text": d.text, "lang": d.lang} for d in ANIMALS.documents]
    path.write_text(json.dumps({"queries": queries, "documents": documents}))
    return str(path)


def call(*arguments):
    app = App()
    app.default(evaluate.command)
    app([str(argument) for argument in arguments], exit_on_error=False, print_error=False, result_action="return_value")


def test_one_ranking_is_printed_with_its_measures(opened, animals, capsys):
    call(animals)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ranking", "nDCG@10", "MAP", "recall@100", "MRR"]
    assert lines[1].split() == ["default", "1.0000", "1.0000", "1.0000", "1.0000"]
    assert lines[2] == "animals: 3 queries, 3 documents; left out 1 more without a relevant document"
    assert [names for *_, names in opened] == [[""]]


def test_two_rankings_are_compared_query_by_query(opened, animals, capsys):
    call(animals, "--against", "plain", "--k", "5", "--diff", "1")
    printed = capsys.readouterr().out
    assert "difference +0.4564" in " ".join(printed.split())
    assert "default is better for 2 queries, worse for 0, equal for 1" in printed
    assert "nDCG@5" in printed
    assert "+1.000 1.000 0.000 1 – 3: dog" in " ".join(printed.split())
    assert "lazy cat" not in printed


def test_json_holds_the_measures_and_the_differences(opened, animals, capsys):
    call(animals, "--ranking", "plain", "--against", "full", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["collection"], said["documents"], said["queries"], said["left_out"]) == ("animals", 3, 3, 1)
    assert [one["name"] for one in said["rankings"]] == ["plain", "full"]
    assert said["rankings"][0]["ndcg"] == pytest.approx(0.5436, abs=1e-4)
    assert said["rankings"][1]["per_query"]["3"]["reciprocal_rank"] == 1.0
    assert [one["query"] for one in said["differences"]] == ["3", "2"]
    assert said["differences"][0]["top_against"] == ["b"]


def test_the_run_is_written_for_trec_eval(opened, animals, tmp_path):
    call(animals, "--run", tmp_path / "out.run", "--limit-queries", "1")
    assert (tmp_path / "out.run").read_text() == "1 Q0 a 1 2 default\n1 Q0 c 2 1 default\n"
    with pytest.raises(StorageError, match="cannot write"):
        call(animals, "--run", tmp_path / "no" / "folder")


def test_judged_urls_are_those_of_the_data_folder(opened, tmp_path, capsys):
    path = tmp_path / "judged.json"
    judged = {"HTTP://Example.com:80/a/../b#top": 1}
    path.write_text(json.dumps({"queries": [{"id": "1", "text": "x", "relevant": judged}]}))
    call(path, "--data", tmp_path)
    collection, data, _ = opened[0]
    assert data == tmp_path
    assert collection.judgements == {"1": {"http://example.com/b": 1}}
    assert "judged: 1 query\n" in capsys.readouterr().out


def test_a_judged_url_that_is_none_is_an_error(opened, tmp_path):
    path = tmp_path / "judged.json"
    path.write_text(json.dumps({"queries": [{"id": "1", "text": "x", "relevant": ["http://[bad"]}]}))
    with pytest.raises(UsageError):
        call(path, "--data", tmp_path)


@pytest.mark.parametrize("wrong", [("--k", "0"), ("--limit-queries", "0"), ("--diff", "-1")])
def test_numbers_that_make_no_sense_are_refused(opened, animals, wrong):
    with pytest.raises(UsageError, match="at least"):
        call(animals, *wrong)
