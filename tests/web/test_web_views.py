"""How values look to a reader: small rules, each with its edge."""

from __future__ import annotations

import time
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.moments import timestamp
from gossamer.search.query.language import MAX_CHARS
from gossamer.search.query.operators import BY_NAME
from gossamer.search.results import Count
from gossamer.web import marking, views
from gossamer.web.marking import MAX_MARKS, marker, query_words
from gossamer.web.pages import paragraphs


@pytest.mark.parametrize(
    ("text", "shown"),
    [("2024-05-03", "3 May 2024"), ("2024-05", "May 2024"), ("2024", "2024"), ("2024-05-03T10:00:00Z", "3 May 2024"),
     ("2024-13-01", "2024"), ("soon", ""), ("", ""), (None, ""), ("<b>", "")],
)  # fmt: skip
def test_a_date_is_shown_as_precise_as_it_is(text: str | None, shown: str) -> None:
    assert views.date(text) == shown


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "JAVASCRIPT:alert(1)", " javascript:x", "java\nscript:x", "data:text/html,x", "vbscript:x",
     "//evil.test", "/path", "", "http:", "http:///x", "https://\\evil", "ftp://a.test", "http://a.test/\x00",
     "\x01http://a.test", "http://\u202ea.test/", "file:///etc/passwd", "blob:https://a.test/"],
)  # fmt: skip
def test_only_web_addresses_become_links(url: str) -> None:
    assert views.safe_href(url) == ""


@pytest.mark.parametrize("url", ["http://a.test", "HTTPS://a.test/?q=1#x", "https://пример.рф/путь"])
def test_web_addresses_become_links(url: str) -> None:
    assert views.safe_href(url) == url


@pytest.mark.parametrize(
    ("url", "host", "parts"),
    [
        ("https://a.test/", "a.test", ()),
        ("https://a.test/b/c.html", "a.test", ("b", "c.html")),
        ("https://user:pass@a.test:8080/b", "a.test:8080", ("b",)),
        ("https://a.test/%D0%BF%D1%83%D1%82%D1%8C", "a.test", ("путь",)),
        ("https://a.test/%FF%00", "a.test", ("\ufffd\ufffd",)),
        ("https://a.test/?p=1&x=2", "a.test", ("?p=1&x=2",)),
        ("https://a.test/" + "/".join("abcdefghijklmnopqrst" for _ in range(5)), "a.test",
         ("abcdefghijklmnopqrst", "…", "abcdefghijklmnopqrst")),
        ("https://xn--e1afmkfd.xn--p1ai/", "пример.рф", ()),
        ("javascript:alert(1)", "javascript:alert(1)", ()),
        ("http://[::1", "http://[::1", ()),
    ],
)  # fmt: skip
def test_an_address_is_readable(url: str, host: str, parts: tuple[str, ...]) -> None:
    assert views.crumbs(url) == (host, parts)


@pytest.mark.parametrize(
    ("host", "shown"),
    [("xn--80ak6aa92e.com", "xn--80ak6aa92e.com"), ("xn--pple-43d.com", "xn--pple-43d.com"),
     ("xn--fiqs8s", "中国"), ("xn--zz.test", "xn--zz.test"), ("www.example.org", "www.example.org")],
)  # fmt: skip
def test_host_names_that_deceive_stay_in_code(host: str, shown: str) -> None:
    assert views.host_name(host) == shown


@given(st.text(max_size=200))
def test_no_address_breaks_the_breadcrumb(url: str) -> None:
    host, parts = views.crumbs(url)
    assert not any("\x00" <= character < " " for text in (host, *parts) for character in text)


@pytest.mark.parametrize(
    ("page", "pages", "numbers"),
    [(1, 1, [1]), (1, 5, [1, 2, 3, 4, 5]), (1, 9, [1, 2, 3, 0, 9]), (5, 9, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
     (50, 100, [1, 0, 48, 49, 50, 51, 52, 0, 100]), (1, 0, [])],
)  # fmt: skip
def test_page_numbers(page: int, pages: int, numbers: list[int]) -> None:
    assert views.page_numbers(page, pages) == numbers


@given(st.integers(1, 300), st.integers(1, 300))
def test_page_numbers_grow_and_include_the_ends_and_this_page(page: int, pages: int) -> None:
    page = min(page, pages)
    numbers = [number for number in views.page_numbers(page, pages) if number]
    assert numbers == sorted(set(numbers))
    assert {1, page, pages} <= set(numbers)


@given(st.dictionaries(st.integers(1950, 2030), st.integers(1, 1000), min_size=1))
def test_the_bars_count_every_result_once(years: dict[int, int]) -> None:
    bars = views.bars(tuple(Count(str(year), count) for year, count in sorted(years.items())), "rocket after:1999")
    assert sum(bar.count for bar in bars) == sum(years.values())
    assert len(bars) == 12 and all(0 <= bar.height <= 100 for bar in bars)
    assert all(bool(bar.height) == bool(bar.count) for bar in bars)
    assert bars[-1].query == f"rocket after:{max(years)} before:{max(years) + 1}"


def test_no_years_no_bars() -> None:
    assert views.bars((Count("unknown", 3),), "q") == []


def test_times_that_are_none_are_not_shown() -> None:
    assert [views.moment(seconds) for seconds in (0.0, -1.0, 1e300, float("nan"))] == [""] * 4
    assert timestamp(1_790_000_000.9) == "2026-09-21T14:13:20Z"


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("The rocket and rockets", "Rocket", ["rocket", "rockets"]),
        ("sprocket", "rocket", []),
        ("Ракета и ракеты", "ракет", ["Ракета", "ракеты"]),
        ("现代火箭队", "火箭", ["火箭"]),
        ("a moon, mars", "moon OR -mars", ["moon"]),
        ("solar sail, site", '"solar sail" site:a.test -"x y"', ["solar", "sail"]),
        ("İzmir, ΛΟΓΟΣ", "İzmir λόγος λογος", ["İzmir", "ΛΟΓΟΣ"]),
        ("a.b (c) [d] *", "a.b (c) [d] * \\", []),
        ("text", "", []),
    ],
)
def test_words_of_the_query_are_marked_in_stored_text(text: str, query: str, marked: list[str]) -> None:
    assert [piece for piece, hit in marker(query)(text).pieces() if hit] == marked


@given(st.text(max_size=100), st.text(max_size=30))
def test_marks_never_change_the_text(text: str, query: str) -> None:
    assert "".join(piece for piece, _ in marker(query)(text).pieces()) == text
    assert len(query_words(query)) <= 24


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (" ".join(["bb", *("a" * 600 + letter + "中" for letter in ascii_lowercase[:23])]), "a" * 210_000),
        (" ".join(["bb", *("a" * 38 + letter + "中" for letter in ascii_lowercase[:23])]), "a" * 2_000_000),
        (" ".join(["水", *("火" * 74 + chr(0x4E00 + number) for number in range(23))]), "火" * 2_000_000),
    ],
    ids=["longer than any query", "mixed", "han"],
)
def test_no_query_keeps_the_server_busy_with_marking(query: str, text: str) -> None:
    """One look at a text tells for all words: word by word this takes many seconds, in which nobody is served."""
    before = time.process_time()
    paragraphs(text, query)
    assert time.process_time() - before < 2.0


def test_only_the_beginning_of_a_query_and_of_its_words_is_marked() -> None:
    assert query_words("a" * 50 + " bb") == ["a" * 40, "bb"]
    assert query_words("x " * MAX_CHARS + "silk") == []
    assert marker("a" * 50)("a" * 60 + " aaa").marks == ((0, 60),)


@pytest.mark.parametrize("name", [name for name, operator in BY_NAME.items() if operator.words_in != "title"])
def test_an_operator_and_its_value_are_no_words_of_the_text(name: str) -> None:
    assert query_words(f"silk {name}:2024 -{name.upper()}:pdf") == ["silk"]


def test_a_page_that_is_full_of_the_word_gets_only_so_many_marks() -> None:
    shown = paragraphs("silk and silk\n" * MAX_MARKS, "silk")
    assert len(shown) == MAX_MARKS and shown[0].marks == ((0, 4), (9, 13))
    assert sum(len(line.marks) for line in shown) == MAX_MARKS


def test_of_words_with_one_beginning_the_longest_is_marked() -> None:
    assert marker("火 火箭 火箭队")("火箭队 火箭 火").marks == ((0, 3), (4, 6), (7, 8))
    assert marker("火箭队 火x")("火箭 火X").marks == ((3, 5),)


def test_a_stored_text_of_many_lines_is_marked_with_a_query_that_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(marking, "query_words", lambda query: read.append(query) or query_words(query))
    shown = paragraphs("silk and wool\n" * 1_000, "silk")
    assert len(shown) == 1_000 and shown[-1].marks == ((0, 4),)
    assert read == ["silk"]
