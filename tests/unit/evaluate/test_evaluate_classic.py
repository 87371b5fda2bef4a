"""The four old collections are read with their oddities; small ones of the same make stand in for them here."""

import pytest

from gossamer.errors import UsageError
from gossamer.evaluate.collections import load

CRANFIELD = {
    "cran/cran.all.1400": """\
.I 1
.T
flow past a
flat plate .
.A
ting,l.
.B
j. ae. scs. 25, 1958, 324.
.W
flow past a flat plate .
  the boundary layer
is thin .
.I 2
.T
heat .
.A
.B
.W
first part .
.W
second part .
.I 3
.T
.A
.B
.W
""",
    "cran/cran.qry": ".I 001\n.W\nwhat is thin\n.I 004\n.W\nheat in\nslabs .\n",
    "cran/cranqrel": "1 1 1 \n1 2 4 \n1 3 -1\n2 2 3 \n2 3 -1",
    "cran/cranqrel.readme": "codes",
}
MED = {
    "med/MED.ALL": ".I 1\n.W\nmaternal and fetal\nplasma .   \n.I 2\n.W\nlens .\n",
    "med/MED.QRY": ".I 1\n.W\n the crystalline lens\n.I 2\n.W\n plasma.\n",
    "med/MED.REL": "1 0 2 1\n2 0 1 1\n2 0 2 1\n",
}
LISA = {
    "lisa/LISA0.001": (
        "Document    1\nTHE INDIAN COUNCIL:\nA PROPOSAL.\n     \nCRITICALLY EXAMINES\nTHE SCENE.\n" + "*" * 44 + "\n"
        "Document    2\nLIBRARIES.\n\n*62,000 BOOKS.\n" + "*" * 44 + "\n"
    ),
    "lisa/LISA1.501": "Document 1501\nCINEMA.\n\nFILMS.\n" + "*" * 44 + "\n",
    "lisa/LISA1.501.ALL": "Document 1501\nANOTHER COPY.\n\nOLD.\n" + "*" * 44 + "\n",
    "lisa/LISA.QUE": "1\nI AM INTERESTED IN\nLIBRARIES. COUNCILS. #\n2\nFILMS IN 1980\nOR LATER #\n",
    "lisa/LISA.REL": "Query 1\n2 Relevant Refs:\n1 2 -1\n\nQuery 2\n1 Relevant Refs:\n1 -1\n",
    "lisa/LISARJ.NUM": "       1       2       1   \n       2     \n       2       1    1501\n",
}
TIME = {
    "time/TIME.ALL": (
        "*TEXT 017 01/04/63 PAGE 020\n\nTHE ALLIES\n\nAFTER NASSAU\n\n*TEXT 504   11/15/63  PAGE 046\n\nGHANA\n\n"
        "*TEXT 507 11/15/63 PAGE 048\n\nMALAYSIA\n"
    ),
    "time/TIME.QUE": "*FIND      1\n\n KENNEDY AND\n\nNASSAU .\n\n*FIND      2\n\n MALAYSIA .\n\n",
    "time/TIME.REL": "1  1\n",
    "time/TIME.REL.ALL": "1  1 2\n\n2   5\n",
}


def unpack(folder, *collections):
    for files in collections:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
    return str(folder)


def test_cranfield_has_grades_turned_round_and_queries_counted_in_order(tmp_path):
    found = load(unpack(tmp_path, CRANFIELD))
    assert found.name == "cranfield"
    assert [(d.id, d.title, d.text) for d in found.documents] == [
        ("1", "flow past a flat plate .", "flow past a flat plate . the boundary layer is thin ."),
        ("2", "heat .", "first part . second part ."),
        ("3", "", ""),
    ]
    assert found.queries == {"1": "what is thin", "2": "heat in slabs ."}
    assert found.judgements == {"1": {"1": 4, "2": 1, "3": 1}, "2": {"2": 2, "3": 1}}


def test_med(tmp_path):
    found = load(unpack(tmp_path, MED))
    assert [(d.id, d.title, d.text) for d in found.documents] == [
        ("1", "", "maternal and fetal plasma ."),
        ("2", "", "lens ."),
    ]
    assert found.queries == {"1": "the crystalline lens", "2": "plasma."}
    assert found.judgements == {"1": {"2": 1}, "2": {"1": 1, "2": 1}}


def test_lisa_is_joined_from_its_parts_and_judged_by_the_list_that_is_right(tmp_path):
    found = load(unpack(tmp_path, LISA))
    assert [(d.id, d.title, d.text) for d in found.documents] == [
        ("1", "THE INDIAN COUNCIL: A PROPOSAL.", "CRITICALLY EXAMINES THE SCENE."),
        ("2", "LIBRARIES.", "*62,000 BOOKS."),
        ("1501", "CINEMA.", "FILMS."),
    ]
    assert found.queries == {"1": "I AM INTERESTED IN LIBRARIES. COUNCILS.", "2": "FILMS IN 1980 OR LATER"}
    assert found.judgements == {"1": {"1": 1, "2": 1}, "2": {"1501": 1}}


def test_time_counts_documents_in_order_with_two_missing_after_text_504(tmp_path):
    found = load(unpack(tmp_path, TIME))
    assert [(d.id, d.text) for d in found.documents] == [
        ("1", "THE ALLIES AFTER NASSAU"),
        ("2", "GHANA"),
        ("5", "MALAYSIA"),
    ]
    assert found.queries == {"1": "KENNEDY AND NASSAU .", "2": "MALAYSIA ."}
    assert found.judgements == {"1": {"1": 1, "2": 1}, "2": {"5": 1}}


def test_one_of_several_is_chosen_by_its_name(tmp_path):
    place = unpack(tmp_path, CRANFIELD, MED, LISA, TIME)
    assert [load(f"{place}:{name}").name for name in ("med", "TIME")] == ["med", "time"]
    assert load(f"{place}/lisa").name == "lisa"
    with pytest.raises(UsageError, match=r"holds cranfield, lisa, med, time: name one, such as .*:cranfield"):
        load(place)
    with pytest.raises(UsageError, match="holds no collection cisi"):
        load(f"{place}:cisi")


def test_damage_is_said(tmp_path):
    place = unpack(tmp_path, MED, {"med/MED.REL": "1 0 2\n"})
    with pytest.raises(UsageError, match="med is damaged"):
        load(place)
