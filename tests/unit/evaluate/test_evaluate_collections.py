"""Collections are read in every form they come in, and what is none of them is refused with a reason."""

import gzip
import io
import json
import tarfile

import pytest
import zstandard

from gossamer.errors import UsageError
from gossamer.evaluate.collections import Collection, Doc, load, sample

TOPICS = {"7": "solar power", "8": "wind & waves"}
QRELS = "7 0 D1 2\n7 0 D2 0\n8 0 D2 1\n"
JSONL = (
    '{"id": "D1", "title": "Sun", "text": "Power from the sun", "lang": "en"}\n'
    '{"id": "D2", "title": "Sea", "text": "Power from the sea", "lang": "en"}\n'
)
SGML = """
<DOC>
<DOCNO> D1 </DOCNO>
<HEADLINE><P>Sun</P></HEADLINE>
<TEXT>
Power from
the sun
</TEXT>
</DOC>
<DOC><DOCNO>D2</DOCNO><TITLE>Sea</TITLE><TEXT>Power from</TEXT><TEXT>the sea</TEXT></DOC>
"""
TREC_TOPICS = """
<top>
<num> Number: 7
<title> Topic: solar
power
<desc> Description:
What is it?
</top>
<top><num>8</num><title>wind &amp; waves</title></top>
"""


def write(folder, **files):
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    return str(folder)


def check_power(collection: Collection):
    assert collection.queries == TOPICS
    assert collection.judgements == {"7": {"D1": 2, "D2": 0}, "8": {"D2": 1}}
    assert [(d.id, d.title, d.text) for d in collection.documents] == [
        ("D1", "Sun", "Power from the sun"),
        ("D2", "Sea", "Power from the sea"),
    ]


@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("topics__txt", TREC_TOPICS),
        ("topics__tsv", "".join(f"{query}\t{text}\n" for query, text in TOPICS.items())),
        ("topics__json", json.dumps(TOPICS)),
        ("queries__json", json.dumps([{"qid": int(query), "query": text} for query, text in TOPICS.items()])),
        ("queries__jsonl", "\n".join(json.dumps({"_id": query, "text": text}) for query, text in TOPICS.items())),
    ],
)
def test_trec_topics_come_in_many_forms(tmp_path, name, topics):
    check_power(load(write(tmp_path, **{name: topics, "qrels__txt": QRELS, "docs__jsonl": JSONL})))


@pytest.mark.parametrize(("name", "documents"), [("docs__jsonl", JSONL), ("docs__sgml", SGML)])
def test_trec_documents_come_in_two_forms(tmp_path, name, documents):
    check_power(load(write(tmp_path, topics=TREC_TOPICS, qrels=QRELS, README="Read me.", **{name: documents})))


def test_judgements_may_have_three_columns_and_a_heading(tmp_path):
    qrels = "query-id\tcorpus-id\tscore\n7\tD1\t2\n7\tD2\t0\n8\tD2\t1\n"
    check_power(load(write(tmp_path, topics=TREC_TOPICS, test__tsv=qrels, docs__jsonl=JSONL)))


def test_files_may_be_named_one_by_one(tmp_path):
    write(tmp_path, topics=TREC_TOPICS, qrels=QRELS, docs__jsonl=JSONL)
    check_power(load(",".join(str(tmp_path / name) for name in ("topics", "qrels", "docs.jsonl"))))


def test_the_first_of_two_documents_with_one_id_is_kept(tmp_path):
    more = '\n{"id": "D1", "title": "Moon", "text": "Later"}\n'
    check_power(load(write(tmp_path, topics=TREC_TOPICS, qrels=QRELS, docs__jsonl=JSONL + more)))


def test_trec_without_documents_judges_urls(tmp_path):
    found = load(write(tmp_path, topics=TREC_TOPICS, qrels="7 0 https://a.example/ 1\n8 0 https://b.example/x 1\n"))
    assert found.documents == []
    assert found.judgements["7"] == {"https://a.example/": 1}


OWN = {
    "documents": [{"id": 1, "title": "Sun", "text": "Power from the sun", "lang": "en"}, {"url": "u:2", "text": "Sea"}],
    "queries": [
        {"id": "q", "text": "solar", "relevant": {"1": 3, "u:2": 1}},
        {"id": 5, "text": "wind", "relevant": ["u:2"]},
    ],
}


def test_json_of_our_own(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN))
    found = load(str(path))
    assert found.name == "mine"
    assert found.documents == [Doc("1", "Sun", "Power from the sun", "en"), Doc("u:2", "", "Sea", "")]
    assert found.queries == {"q": "solar", "5": "wind"}
    assert found.judgements == {"q": {"1": 3, "u:2": 1}, "5": {"u:2": 1}}


SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "Super_Bowl",
            "paragraphs": [
                {"context": "The defense gave up 308 points.", "qas": [{"id": "q1", "question": "How many?"}]},
                {"context": "The next one.", "qas": [{"id": "q2", "question": "Next?", "answers": []}]},
            ],
        },
        {"paragraphs": [{"context": "The next one.", "qas": [{"id": "q3", "question": "And?"}]}]},
    ],
}


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("squad.json", lambda data: data),
        ("squad.json.gz", gzip.compress),
        ("squad.json.zst", zstandard.ZstdCompressor(write_content_size=False).compress),
    ],
)
def test_the_paragraph_of_a_question_is_its_one_relevant_document(tmp_path, name, packed):
    path = tmp_path / name
    path.write_bytes(packed(json.dumps(SQUAD).encode()))
    found = load(str(path))
    assert found.name == "squad"
    assert [(d.title, d.text) for d in found.documents] == [
        ("Super Bowl", "The defense gave up 308 points."),
        ("Super Bowl", "The next one."),
    ]
    assert found.queries == {"q1": "How many?", "q2": "Next?", "q3": "And?"}
    assert found.judgements == {"q1": {"1": 1}, "q2": {"2": 1}, "q3": {"2": 1}}


def test_the_language_of_a_document_is_told_from_its_text_where_nothing_says_it(tmp_path):
    text = "Ракета стартовала с космодрома рано утром, и все наблюдали за её полётом в безоблачном небе."
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"documents": [{"id": "1", "text": text}], "queries": OWN["queries"]}))
    assert load(str(path)).documents[0].lang == "ru"


def test_an_archive_is_read_like_a_folder(tmp_path):
    path = tmp_path / "all.tar.zst"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in (("./c/topics", TREC_TOPICS), ("./c/qrels", QRELS), ("./c/docs.jsonl", JSONL)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    path.write_bytes(zstandard.compress(packed.getvalue()))
    check_power(load(str(path)))


def test_a_sample_takes_queries_evenly():
    queries = {str(n): f"text {n}" for n in range(10)}
    whole = Collection(name="x", queries=queries, judgements={})
    assert list(sample(whole, 3).queries) == ["0", "3", "6"]
    assert sample(whole, 10) == sample(whole, 99) == whole


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes__txt": "nothing\nof interest"}, "expected are JSON with queries"),
        ({"only__txt": QRELS}, "expected are"),
        ({"config__h": "#define A 1\n#define B 2\n", "topics": TREC_TOPICS}, "expected are"),
        ({"empty": ""}, "expected are"),
        ({"a__json": '{"something": 1}'}, "expected are"),
        ({"a__json": '{"queries": [{"id": "1", "text": "x"}]}'}, "relevant"),
        ({"a__json": '{"queries": []}'}, "no queries"),
        ({"a__json": '{"data": [{"paragraphs": 5}]}'}, "paragraphs"),
        ({"qrels": QRELS, "topics": "9\tother\n"}, "none of its queries: '7', '8' against '9'"),
        ({"qrels": QRELS, "topics": TREC_TOPICS, "d__jsonl": '{"id": "E", "text": "x"}'}, "none of its documents"),
        ({"qrels": QRELS * 20 + "8 0 D1 yes", "topics": TREC_TOPICS}, "qrels, line 61"),
        ({"qrels": QRELS, "topics": TREC_TOPICS, "d__jsonl": '{"id": "D1"}\n{"id": '}, "d.jsonl, line 2"),
        ({"qrels": QRELS, "topics": TREC_TOPICS, "d__jsonl": '{"id": "D1"}\n7'}, "d.jsonl, line 2"),
        ({"cran__qry": ".I 1\n.W\nwhat\n"}, "cranqrel is missing"),
        ({"broken__json__zst": "this is not Zstandard"}, "cannot read"),
        ({"broken__tar": "this is not an archive" * 100}, "cannot read"),
    ],
)
def test_what_is_no_collection_is_refused_with_a_reason(tmp_path, files, said):
    write(tmp_path, **files)
    spec = tmp_path if len(files) > 1 else next(tmp_path.iterdir())
    with pytest.raises(UsageError, match=said):
        load(str(spec))


def test_a_place_that_does_not_exist_is_named(tmp_path):
    for spec in ("/no/such/place", f"{tmp_path}/x:med", "", ",", ":"):
        with pytest.raises(UsageError, match="there is no collection"):
            load(spec)


def test_a_collection_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="holds no collection med"):
        load(f"{write(tmp_path, a='b')}:med")
