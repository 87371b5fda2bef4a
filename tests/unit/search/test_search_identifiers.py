"""Identifiers, signs and compounds: what people type finds the page about it before pages that hold parts of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from searcher_kit import SmallIndex, page
from shards_kit import DividedIndex

from gossamer.index.signs import signs
from gossamer.search.query.compounds import sought, variants
from gossamer.search.query.language import parse, render
from gossamer.search.results import Request

PAGES = (
    page("/cpp", "C++ is a language with classes. C++ code is compiled, and c++17 has more of it.", "C++"),
    page("/c", "C is a small language. C code is compiled. C has no classes; see C for all of it.", "The C language"),
    page("/csharp", "C# is a language with garbage collection.", "C#"),
    page("/dotnet", "The .NET runtime executes programs.", ".NET"),
    page("/net", "A net of spiders is not a network. The net catches a runtime of flies.", "Net"),
    page("/move", "The function std::move casts its argument.", "std::move"),
    page("/std", "In std there are many names. To move on, look on. A move copies not.", "Names to move"),
    page("/shift", "Write std::ostream& operator<<(std::ostream&) and then cout << x.", "operator<<"),
    page("/operator", "An operator of a crane. The operator sleeps. Operator, operator!", "The operator"),
    page("/plus", "bool operator==(const T&) compares.", "operator=="),
    page("/init", "Each class may have __init__ and __new__ methods.", "__init__"),
    page("/setup", "Init the machine. The init process is the first. Init and init again.", "Init"),
    page("/range", "In Rust, 1 ..= 5 has five numbers; Swift has ..< as well. Wait for it .. = no.", "Ranges"),
    page("/walrus", "In Go, x := 5 declares x. The sign := is called walrus in Python.", "Short declarations"),
    page("/arrow", "p -> next, and x == y.", "Pointers"),
    page("/stash", "The command git-stash puts changes aside.", "git-stash"),
    page("/git", "Use git for the stash of your bank. A stash, and git far away from it.", "About git and a stash"),
    page("/py311", "Python 3.11 is faster. What is new in 3.11?", "Python 3.11"),
    page("/py39", "Python 3.9 came in the 11th month. Section 3 has 11 parts of 3 and 11.", "Python 3.9"),
    page("/camel", "Call readFile with a name, or getElementById.", "readFile"),
    page("/snake", "The function parse_header reads one header.", "parse_header"),
    page("/filesystem", "A filesystem keeps names of files.", "Filesystem"),
    page("/dataset", "The data set has many rows.", "A data set"),
    page("/other", "Set the table. The data come later, says the file. A system of rules.", "Tables"),
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    index = SmallIndex(tmp_path_factory.mktemp("identifiers") / "index", *PAGES)
    yield index
    index.writer.close()


NAMED = [
    ("c++", "/cpp"),
    ("C++", "/cpp"),
    ("c++ classes", "/cpp"),
    ("c++17", "/cpp"),
    ("c#", "/csharp"),
    (".net", "/dotnet"),
    (".NET runtime", "/dotnet"),
    ("std::move", "/move"),
    ("operator<<", "/shift"),
    ("operator <<", "/shift"),
    ("operator==", "/plus"),
    ("__init__", "/init"),
    (":=", "/walrus"),
    ("..=", "/range"),
    ("..<", "/range"),
    ("->", "/arrow"),
    ("python :=", "/walrus"),
    ("git-stash", "/stash"),
    ("3.11", "/py311"),
    ("python 3.11", "/py311"),
    ("readFile", "/camel"),
    ("parse_header", "/snake"),
    ("filesys", "/filesystem"),
    ("file system", "/filesystem"),
    ("dataset", "/dataset"),
    ("data-set", "/dataset"),
    ("read_file", "/camel"),
    ("parseHeader", "/snake"),
    ("parseheader", "/snake"),
    ("get element by id", "/camel"),
]


@pytest.mark.parametrize(("typed", "path"), NAMED)
def test_the_page_about_a_name_comes_first(small: SmallIndex, typed: str, path: str) -> None:
    assert small.paths(typed)[:1] == [path]


@pytest.mark.parametrize("shards", [2])
def test_a_divided_index_finds_the_same_names(tmp_path: Path, shards: int) -> None:
    index = DividedIndex(tmp_path, shards, *PAGES)
    for typed, _ in NAMED:
        one, many = (searcher.search(Request(query=typed)) for searcher in (index.single, index.divided))
        assert one.total == many.total and one.attempt == many.attempt, typed
        scores = [{hit.url: hit.score for hit in results.hits} for results in (one, many)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-4), typed


def test_a_sign_that_no_page_has_does_not_keep_its_words_from_being_found(small: SmallIndex) -> None:
    assert small.paths("c++ :=")[:1] != [] and "/c" in small.found("c## small")
    assert small.search("~>").reason == "No page has “~>”."


def test_signs_are_marked_in_excerpts(small: SmallIndex) -> None:
    (hit,) = small.search(":=").hits
    assert ":=" in [piece for piece, found in hit.excerpt.pieces() if found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++, Java and C#. Then c++17 and g++", {"c++", "c#", "g++"}),
        ("operator<<, operator [] and operator()(int)", {"operator<<", "operator[]", "operator()"}),
        ("def __init__(self): __all__", {"__init__", "__all__"}),
        ("the .NET way, .gitignore. And so on ... .", {".net", ".gitignore"}),
        ("if (a == b) x := `->`", {"==", ":=", "->"}),
        ("issue #12, a+b, 1++, http://a.b/c//d, a -- b --- c, e.g. this", set()),
        ("plain prose, with commas; and dashes – all of it.", set()),
        ("", set()),
    ],
)
def test_what_counts_as_a_sign(text: str, found: set[str]) -> None:
    assert set(signs(text)) == found


def test_a_text_of_signs_has_a_few_and_is_read_quickly() -> None:
    assert len(signs(" ".join(f"a{number}++" for number in range(10_000)))) <= 64
    for hostile in ("_" * 100_000, "+" * 100_000, "operator" * 20_000, " ." * 50_000, "#" * 100_000, "__a" * 50_000):
        assert len(signs(hostile)) <= 64


@pytest.mark.parametrize("typed", ["->", "--", ":= x", "a -> b", "<=", "--help", "-word", "- word"])
def test_signs_are_read_as_words_and_hyphens_as_before(typed: str) -> None:
    query = parse(typed)
    assert parse(render(query)).groups == query.groups
    assert bool(query.excluded) == (typed == "-word")


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("file system check", {"filesystem check"}),
        ("filesystem", {'"file system"'}),
        ("readFile", {'"read file"'}),
        ("read_file", {"readfile"}),
        ('"file system"', {"filesystem"}),
        ("XMLHttpRequest", {'"xml http request"'}),
        ("图书馆 管理", set()),
        ("-filesystem", set()),
        ("__filesystem__", set()),
        ("site:a.b", set()),
    ],
)
def test_a_compound_is_written_another_way(typed: str, written: set[str]) -> None:
    known = {"file", "system", "filesystem", "readfile", "read", "xml", "http", "request"}
    assert {render(one) for one in variants(parse(typed), lambda word: word in known)} == written


def test_what_a_variant_needs_is_asked_for() -> None:
    assert {"filesystem", "systemcheck", "filesystemcheck", "sys", "tem"} <= set(sought(parse("file system check")))
    assert len(sought(parse("x" * 40))) <= 80 and sought(parse("x" * 41)) == []
