"""Every row of the table of operators does what the table says, without a line here for a new one."""

from __future__ import annotations

import msgspec
import pytest
from searcher_kit import SmallIndex

from gossamer.index.document import IndexPage
from gossamer.search.query.language import Filter, Term, parse, render
from gossamer.search.query.operators import BY_NAME, CHOSEN, FACETS, OPERATORS, Operator
from gossamer.search.results import Facets, Request
from gossamer.web.parameters import FILTERS, request_of

BOTH = "site:test"
"""Finds both pages."""
VALUES = {"site": "en.test", "after": "2024", "before": "2024", "sort": "date", "like": "https://en.test/en"}
NEW, OLD = "https://en.test/en", "https://ru.test/ru"
FOUND = {"before": [OLD], "sort": [NEW, OLD], "like": []}
"""Nothing is like a page that has no word with others in common."""

each = pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)


def page(word: str, date: str) -> IndexPage:
    """A page that has one word wherever it can have one."""
    texts = {one.name: word for one in msgspec.structs.fields(IndexPage) if one.type in (str, str | None)}
    return IndexPage(**texts | {"url": f"https://{word}.test/{word}", "media_type": f"text/{word}", "date": date})


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SmallIndex:
    return SmallIndex(tmp_path_factory.mktemp("index"), page("en", "2024-05-17"), page("ru", "2020-05-17"))


def value_of(operator: Operator) -> str:
    return VALUES.get(operator.name, "en")


@pytest.mark.parametrize("name", BY_NAME)
def test_it_is_read_by_each_of_its_names_and_written_by_its_first(name: str) -> None:
    operator = BY_NAME[name]
    query = parse(f"{name.upper()}:{value_of(operator)}")
    assert not query.notices
    if operator.kind == "words":
        assert query.groups == ((Term("en", field=operator.words_in),),)
    else:
        assert [one.operator for one in query.filters] == [operator.name]
    assert render(query).startswith(f"{operator.name}:")


@each
def test_a_value_that_makes_no_sense_is_words_with_a_notice(operator: Operator) -> None:
    query = parse(f"{operator.name}:!?")
    (notice,) = query.notices
    assert not query.filters
    assert (f"is not {operator.noun}" if operator.noun else "has no word") in notice


@each
def test_it_finds_the_pages_that_have_its_value_and_only_those(index: SmallIndex, operator: Operator) -> None:
    asked = f"{operator.name}:{value_of(operator)}"
    assert index.paths(f"{BOTH} {asked}" if operator.kind == "order" else asked) == FOUND.get(operator.name, [NEW])


@each
def test_it_can_be_excluded_or_says_that_it_cannot(index: SmallIndex, operator: Operator) -> None:
    asked = f"-{operator.name}:{value_of(operator)}"
    if operator.kind in ("value", "words"):
        assert index.paths(f"{BOTH} {asked}" if operator.name != "site" else asked) == [OLD]
    else:
        assert "cannot be excluded" in parse(asked).notices[0]


@pytest.mark.parametrize("name", FACETS)
def test_what_it_counts_is_what_choosing_a_value_finds(index: SmallIndex, name: str) -> None:
    counts = getattr(index.search(BOTH).facets, name)
    assert len(counts) == 2 and {one.count for one in counts} == {1}
    for parameter in (one.chosen.name for one in OPERATORS if one.facet is FACETS[name] and one.chosen):
        assert all(len(index.paths(BOTH, **{parameter: one.value})) == one.count for one in counts)


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_chosen_beside_the_words_is_the_filter_of_the_operator(index: SmallIndex, name: str) -> None:
    request = request_of({"q": BOTH, name: value_of(CHOSEN[name])}, strictly=True)
    assert [hit.url for hit in index.searcher.search(request).hits] == index.paths(
        f"{CHOSEN[name].name}:{value_of(CHOSEN[name])}"
    )
    assert getattr(Request(query=""), name) == "" and name in {parameter.name for parameter in FILTERS}


def test_names_fields_and_facets_are_told_apart() -> None:
    """The pages here have one word in every field: they cannot tell an operator that looks into another's."""
    fields = [operator.field for operator in OPERATORS if operator.kind in ("value", "words")]
    assert len(set(fields)) == len(fields)
    assert len(BY_NAME) == sum(1 + len(operator.aliases) for operator in OPERATORS)
    assert set(FACETS) == set(Facets.__struct_fields__)


def test_a_filter_is_a_value() -> None:
    query = parse("ext:pdf -site:a.org site:b.org after:2024 sort:date after:2023")
    assert query.filters == (
        Filter("site", "b.org"),
        Filter("site", "a.org", excluded=True),
        Filter("filetype", "pdf"),
        Filter("after", "2024-01-01"),
        Filter("sort", "date"),
    )
