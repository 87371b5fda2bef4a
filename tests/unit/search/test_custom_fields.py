"""Fields of the operator's own in a search: filters, counts, orders, in one index and in several."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from searcher_kit import NOW, SmallIndex, page
from shards_kit import DividedIndex

from gossamer.index.custom import SLOTS
from gossamer.index.document import IndexPage, build
from gossamer.model.fields import CustomField, FieldType, FieldValue
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.query.custom import bounds, understood
from gossamer.search.query.language import parse, render
from gossamer.search.query.operators import BY_NAME
from gossamer.search.results import Request, Results

PRICE = CustomField("price", "number", "Price", facet=True, sort=True, ranges=(10, 50))
DEPARTMENT = CustomField("department", facet=True)
SALE = CustomField("sale", "yes-no", facet=True)
RELEASED = CustomField("released", "date", facet=True, sort=True)
FIELDS = (PRICE, DEPARTMENT, SALE, RELEASED)


def values(**given: str | list[str]) -> list[FieldValue]:
    """Values as a parser finds them."""
    kinds: dict[str, FieldType] = {one.name: one.type for one in FIELDS}
    return [
        FieldValue(name, kinds[name], one, f"meta: {name}")
        for name, texts in given.items()
        for one in ([texts] if isinstance(texts, str) else texts)
    ]


PAGES = [
    page("/cheap", "a lamp", "Lamp one", fields=values(price="5", department="Garden", sale="yes", released="2023-05")),
    page("/fair", "a lamp", "Lamp two", fields=values(price="20", department="garden", sale="no", released="2024-01")),
    page("/dear", "a lamp", "Lamp three", fields=values(price="99.5", department=["Modern “Art”", "Garden"])),
    page("/odd", "a lamp", "Lamp four", fields=values(price="-3", department="C++ (advanced)")),
    page("/none", "a lamp of unknown price:10", "Lamp five"),
]  # fmt: skip


class WithFields(SmallIndex):
    """An index that has fields."""

    def __init__(self, root: Path, *pages: IndexPage, fields: tuple[CustomField, ...] = FIELDS) -> None:
        super().__init__(root)
        assert self.writer.has_fields(fields)
        self.put(*pages)

    def put(self, *pages: IndexPage) -> None:
        found = {one.key: build(one, (), self.writer.fields) for one in pages}
        self.writer.apply(found, (), self.writer.position + 1, NOW)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> WithFields:
    return WithFields(tmp_path_factory.mktemp("fields"), *PAGES)


def counts(results: Results, name: str) -> dict[str, int]:
    facet = next(one for one in results.fields if one.name == name)
    return {one.value: one.count for one in facet.values}


# -- what is typed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("15", "15"), ("15.50", "15.5"), ("1,5", "1.5"), ("10..20", "10..20"), ("10…20", "10..20"), ("..20", "..20"),
        ("10..", "10.."), ("<20", "<20"), ("<=20", "..20"), (">10", ">10"), (">=10", "10.."), ("10..<20", "10..<20"),
        ("..<20", "<20"), ("-5..-2", "-5..-2"), ("", None), ("..", None), ("ten", None), ("10..<", None),
        ("1e9", None), ("nan", None), ("9" * 300, None),
    ],
)  # fmt: skip
def test_numbers_are_understood_in_the_usual_forms(typed: str, canonical: str | None) -> None:
    query = parse(f"price:{typed}", FIELDS)
    assert query.values("price") == ((canonical,) if canonical else ())
    assert bool(query.notices) is not bool(canonical)
    assert parse(render(query), FIELDS).filters == query.filters


def test_a_date_is_a_whole_year_month_or_day() -> None:
    day = 86_400
    assert bounds(RELEASED, "2024-02-29")[:2] == (1_709_164_800, 1_709_164_800 + day - 1)
    assert bounds(RELEASED, "2024-02")[1] == bounds(RELEASED, "2024-03-01")[0] - 1
    assert bounds(RELEASED, "2024")[:2] == (bounds(RELEASED, "2024-01-01")[0], bounds(RELEASED, "2024-12-31")[1])
    assert understood(RELEASED, "17.05.2024..2025") == "2024-05-17..2025"
    for typed in ("9999", "9999-12", "9999-12-31", "0001", ">9999"):
        value = understood(RELEASED, typed)
        assert value is not None and bounds(RELEASED, value)
    assert understood(RELEASED, "2024-02-30") is None


def test_a_word_with_a_colon_stays_a_word_where_there_is_no_such_field(index: WithFields) -> None:
    query = parse("price:10 12:30 foo:bar")
    assert [group[0].text for group in query.groups] == ["price:10", "12:30", "foo:bar"] and not query.filters
    assert [group[0].text for group in parse("prices:10 12:30", FIELDS).groups] == ["prices:10", "12:30"]
    assert [group[0].text for group in parse('"price:10"', FIELDS).groups] == ["price:10"]
    assert index.paths('"price:10"') == ["/none"]


def test_a_query_with_fields_is_written_in_one_way() -> None:
    query = parse('-department:"C++ (Advanced)" Price:10..20 lamp department:"Modern  Art" lang:en', FIELDS)
    assert render(query) == 'lamp lang:en price:10..20 department:"modern art" -department:"c++ (advanced)"'
    assert parse(render(query), FIELDS).filters == query.filters


def test_an_order_is_understood_only_where_the_field_has_one() -> None:
    assert parse("lamp sort:-price", FIELDS).order == "-price"
    assert parse("lamp sort:department", FIELDS).notices and not parse("lamp sort:department", FIELDS).order
    assert parse("lamp sort:price").order == "" and parse("lamp sort:date", FIELDS).newest


# -- what is found --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("lamp price:5..20", "/cheap /fair"), ("price:20", "/fair"), ("price:..0", "/odd"), ("price:>20", "/dear"),
        ("price:5..<20", "/cheap"), ("price:5 price:20", "/cheap /fair"), ("lamp -price:5..20", "/dear /odd /none"),
        ("department:GARDEN", "/cheap /fair /dear"), ('department:"modern art"', "/dear"),
        ('department:"c++ (advanced)"', "/odd"), ("department:garden -department:\"modern art\"", "/cheap /fair"),
        ("sale:yes", "/cheap"), ("sale:no", "/fair"), ("released:2023", "/cheap"),
        ("released:2023..2024", "/cheap /fair"),
        ("released:2024-01", "/fair"), ("released:<2024", "/cheap"), ("released:2024-02", ""),
        ("price:20..10", ""), ("department:nothing", ""),
    ],
)  # fmt: skip
def test_values_keep_and_leave_out_pages(index: WithFields, query: str, paths: str) -> None:
    assert index.found(query) == set(paths.split())


def test_a_second_attempt_keeps_the_filter(index: WithFields) -> None:
    results = index.search("lmap price:5..20 -department:office")
    assert {hit.url.rpartition("/")[2] for hit in results.hits} == {"cheap", "fair"}
    assert results.attempt is not None and results.attempt.query == "lamp price:5..20 -department:office"
    assert index.found("lamp zebra price:5") == {"/cheap"}


def test_what_is_chosen_beside_the_words_narrows_as_well(index: WithFields) -> None:
    assert index.found("lamp", fields="price:5..20 department:garden") == {"/cheap", "/fair"}
    assert index.found("lamp price:5", fields="price:20") == set()
    assert index.search("lamp", fields="price:1000").try_instead == ("lamp",)


def test_results_are_ordered_by_a_field_and_those_without_it_come_last(index: WithFields) -> None:
    assert index.paths("lamp", sort="price") == ["/odd", "/cheap", "/fair", "/dear", "/none"]
    assert index.paths("lamp", sort="-price") == ["/dear", "/fair", "/cheap", "/odd", "/none"]
    assert index.paths("lamp sort:-price") == ["/dear", "/fair", "/cheap", "/odd", "/none"]
    assert index.paths("lamp", sort="-released")[:2] == ["/fair", "/cheap"]
    assert set(index.paths("lamp", sort="department")) == {"/cheap", "/fair", "/dear", "/odd", "/none"}


def test_values_are_counted(index: WithFields) -> None:
    results = index.search("lamp")
    assert counts(results, "price") == {"<10": 2, "10..<50": 1, "50..": 1}
    assert counts(results, "department") == {"garden": 3, "c++ (advanced)": 1, "modern art": 1}
    assert counts(results, "sale") == {"yes": 1, "no": 1} and counts(results, "released") == {"2024": 1, "2023": 1}
    facet = results.fields[1]
    assert (facet.title, facet.sort, facet.values[0].label) == ("Department", False, "Garden")
    assert not any(one.values for one in index.search("lamp", facets=False).fields)


def test_a_count_is_what_a_reader_gets_who_chooses_the_value(index: WithFields) -> None:
    for facet in index.search("lamp").fields:
        for one in facet.values:
            chosen = f'{facet.name}:"{one.value}"'
            assert index.search("lamp", fields=chosen).total == one.count, chosen


def test_without_ranges_numbers_are_counted_between_round_ones(tmp_path: Path) -> None:
    field = CustomField("price", "number", facet=True)
    numbers = ["0.5", "3", "12", "18", "47", "130", "999", "15000", "-2", "0", "3000000000000"]
    pages = [page(f"/{n}", "lamp", fields=[FieldValue("price", "number", n)]) for n in numbers]
    found = counts(WithFields(tmp_path, *pages, fields=(field,)).search("lamp"), "price")
    assert len(found) <= 8 and sum(found.values()) == len(numbers)
    spans = [bounds(field, key) for key in found]
    assert all(before.high <= after.low for before, after in pairwise(spans))


def test_near_copies_count_once(tmp_path: Path) -> None:
    copies = [
        page(f"/{n}", "a lamp", cluster=7, joined=n > 0, fields=values(price="5", department="Garden"))
        for n in range(3)
    ]
    results = WithFields(tmp_path, *copies, PAGES[1]).search("lamp")
    assert counts(results, "department") == {"garden": 2} and counts(results, "price") == {"<10": 1, "10..<50": 1}


def test_a_result_and_its_explanation_tell_the_values(index: WithFields) -> None:
    hit = next(hit for hit in index.search("lamp").hits if hit.url.endswith("/dear"))
    assert [(one.name, one.plain) for one in hit.fields][:2] == [("price", 99.5), ("department", "Modern “Art”")]
    why = index.searcher.explain(Request(query="lamp price:1"), hit.url)
    assert not why.matches and why.fields[0] == FieldValue("price", "number", "99.5", "meta: price")


def test_a_collection_may_be_a_part_of_the_crawl_by_a_field(tmp_path: Path) -> None:
    class Published:
        def current(self) -> Rules:
            return Rules(
                read_desk(
                    '[[collection]]\nname = "cheap"\nfilter = "price:..20"\n[[collection]]\nname = "lost"\n'
                    'filter = "colour:red"\n',
                    "desk",
                )
            )

    searcher = WithFields(tmp_path, *PAGES).searcher.under(Published())
    found = searcher.search(Request(query="lamp", collection="cheap")).hits
    assert {hit.url.rpartition("/")[2] for hit in found} == {"cheap", "fair", "odd"}
    assert not searcher.search(Request(query="lamp", collection="lost")).hits
    assert searcher.suggest("unk") == ["unknown"] and searcher.suggest("unk", collection="cheap") == []
    assert "Lamp three" not in searcher.suggest("lamp t", collection="cheap") and searcher.suggest("l", 8, "no") == []
    assert {"Lamp two", "Lamp three"} <= set(searcher.suggest("lamp t"))
    assert "Lamp two" in searcher.suggest("lamp t", collection="cheap")


# -- the index ------------------------------------------------------------------------------------------


def test_a_field_keeps_its_slot_and_no_slot_is_given_twice(tmp_path: Path) -> None:
    index = WithFields(tmp_path, *PAGES)
    before = {one.name: one.slot for one in index.writer.fields}
    assert sorted(before.values()) == [0, 1, 2, 3], "texts need none"
    assert index.writer.has_fields((SALE, CustomField("size", "number"), CustomField("colour"), PRICE))
    after = {one.name: one.slot for one in index.writer.fields}
    assert after == {"sale": before["sale"], "price": before["price"], "size": 4, "colour": 0}
    assert index.found("price:5..20") == {"/cheap", "/fair"} and not index.found("size:1..")
    assert index.found("department:garden") == set()  # no field any more, and no such words
    others = tuple(CustomField(f"other{n}", "number") for n in range(SLOTS - 4))
    assert index.writer.has_fields(others) and not index.writer.has_fields((RELEASED,))


def test_a_value_of_another_type_is_left_out(tmp_path: Path) -> None:
    index = WithFields(tmp_path, page("/a", "lamp", fields=[FieldValue("price", "text", "cheap")]))
    assert not counts(index.search("lamp"), "price") and not index.found("price:1..")


# -- several indexes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> DividedIndex:
    found = DividedIndex(tmp_path_factory.mktemp("divided"), 3)
    for number, writer in enumerate(found.writers.values()):
        # Each shard has given its slots in an order of its own.
        assert writer.has_fields(FIELDS if number % 2 else FIELDS[::-1]) and writer.has_fields(FIELDS)
    for cut, writer in found.writers.items():
        mine = {one.key: build(one, (), writer.fields) for one in PAGES if not cut.shards or cut.holds(one.key)}
        writer.apply(mine, (), writer.position + 1, NOW)
    return found


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("lamp", {"sort": "price"}), ("lamp", {"sort": "-price"}), ("lamp sort:-released released:..2030", {}),
        ("lamp price:5..20", {"sort": "price"}), ("department:garden", {"sort": "price"}),
        ("lamp", {"sort": "price", "fields": "sale:no"}), ("lamp", {"sort": "price", "size": 2, "page": 2}),
    ],
)  # fmt: skip
def test_shards_answer_as_one_index_does(divided: DividedIndex, query: str, more: dict[str, str]) -> None:
    request = Request(query=query, **more)  # type: ignore[arg-type]  # sizes are numbers
    single, several = divided.single.search(request), divided.divided.search(request)
    assert [hit.url for hit in single.hits if hit.fields] == [hit.url for hit in several.hits if hit.fields]
    assert (single.total, single.fields) == (several.total, several.fields)
    assert [hit.fields for hit in single.hits if hit.fields] == [hit.fields for hit in several.hits if hit.fields]


def test_a_front_end_knows_the_fields(divided: DividedIndex) -> None:
    assert [one.name for one in divided.divided.state().fields] == [one.name for one in FIELDS]


def test_no_field_may_be_called_as_an_operator_or_a_parameter() -> None:
    from gossamer.parse.fields.config import RESERVED
    from gossamer.web.parameters import SEARCH

    assert {*BY_NAME, *(one.name for one in SEARCH)} <= RESERVED
