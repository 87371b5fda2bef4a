"""The query language: what is typed is understood, and what is not understood is words."""

from datetime import date

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.index.analysis import address_words, count_words, surface_words
from gossamer.search.query.language import MAX_CHARS, MAX_TERMS, Filter, Query, Term, parse, render

PIECES = st.sampled_from(
    [
        "rocket", "Engine", "ракета", "ёлка", "火箭发动机", "日本語", "don't", "e-mail", "C++:", "foo:bar", "12:30",
        "--help", "https://x.org/a(b)",
        "OR", "or", "|", "||", "-", "--", "−", '"', "“", "”", "„", "«", "»", "「", "」", "'",
        "(", ")", " ", "  ", "\t", "\x00", "\u200b", "\u200c", "\u200d", "\u200f", "\u202e", "\xad", "\ud800", "\u0301",
        "site:", "Site：", "-site:", "example.org", "пример.рф", "/Docs/", "?q=1", "#top", ":8080", "*.", "http://",
        "@", "intitle:", "inurl:", "lang:", "ru", "русский", "zh-CN", "filetype:", "ext:", ".pdf", "after:", "before:",
        "2024", "-05", "/17", "17.05.2024", "2024年5月", "sort:date", "sort:", "🚀", "ﬁ", "Ａ", "½", "语", "र्", '12"',
        'צה"ל',
    ]
)  # fmt: skip
TYPED = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(codec=None), max_size=200),
    st.lists(PIECES, max_size=60).map("".join),
    st.lists(PIECES, max_size=60).map(" ".join),
    st.lists(PIECES, min_size=200, max_size=400).map("".join),
)


def words(text: str) -> list[list[str]]:
    query = parse(text)
    assert not query.notices, query.notices
    return [[term.text for term in group] for group in query.groups]


def asked(query: Query) -> Query:
    return msgspec.structs.replace(query, typed="", notices=())


# ---- words, phrases, not, OR ----


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("rocket engine", [["rocket"], ["engine"]]),
        ("ракетный двигатель", [["ракетный"], ["двигатель"]]),
        ("火箭 发动机", [["火箭"], ["发动机"]]),
        ("火箭　发动机", [["火箭"], ["发动机"]]),
        ("ＲＯＣＫＥＴ", [["ROCKET"]]),
        ("don't o’clock e-mail 3.14 AT&T", [["don't"], ["o’clock"], ["e-mail"], ["3.14"], ["AT&T"]]),
        ("foo:bar http://x.y/z C++: 12:30", [["foo:bar"], ["http://x.y/z"], ["C++:"], ["12:30"]]),
        ("onsite:x sitemap:y", [["onsite:x"], ["sitemap:y"]]),
        ("a\x00b\nc\td", [["a"], ["b"], ["c"], ["d"]]),
        ("\u200fשלום\u200f", [["שלום"]]),
        ("hy\xadphen zero\u200bwidth", [["hyphen"], ["zerowidth"]]),
        ("می\u200cخواهم", [["می\u200cخواهم"]]),
        ("a \ud800 b", [["a"], ["b"]]),
        ("rock & roll !", [["rock"], ["roll"]]),
        ("twice twice", [["twice"]]),
        ("🚀", [["🚀"]]),
        ("", []),
        ("  ", []),
    ],
)
def test_words_are_separated_by_white_space_and_what_nobody_sees(text: str, groups: list[list[str]]) -> None:
    assert words(text) == groups


@pytest.mark.parametrize(
    "text",
    [
        '"a b"',
        "“a b”",
        "„a b“",
        "”a b”",
        "«a b»",
        "»a b«",
        "「a b」",
        "『a b』",
        "＂a b＂",
        '"  a   b "',
        '("a b")',
        '“a b"',
    ],
)
def test_all_kinds_of_quotes_make_a_phrase(text: str) -> None:
    assert parse(text).groups == ((Term("a b", phrase=True),),)


def test_a_quote_opens_a_phrase_inside_chinese_text() -> None:
    assert parse("北京“故宫博物院”门票").groups == ((Term("北京"),), (Term("故宫博物院", True),), (Term("门票"),))
    assert parse('北京"故宫博物院"').groups == ((Term("北京"),), (Term("故宫博物院", True),))


def test_inches_and_hebrew_abbreviations_open_no_phrase() -> None:
    assert words('12" or 14" tv') == [['12"'], ["or"], ['14"'], ["tv"]]
    assert words('צה"ל חז"ל') == [['צה"ל'], ['חז"ל']]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ('"rocket engine', [["rocket"], ["engine"]]),
        ('rocket "engine', [["rocket"], ["engine"]]),
        ("«ракета", [["ракета"]]),
        ('a "" b', [["a"], ["b"]]),
        ('"-b', [["b"]]),
        ('intitle:"rocket engine', [["rocket"], ["engine"]]),
    ],
)
def test_an_unbalanced_quote_is_left_out(text: str, groups: list[list[str]]) -> None:
    assert words(text) == groups
    assert not any(term.phrase for group in parse(text).groups for term in group)


def test_minus_excludes_words_phrases_and_filters() -> None:
    query = parse('-ракета −火箭 -"a b" -intitle:c -site:x.org -lang:en -filetype:pdf')
    assert query.excluded == (Term("ракета"), Term("火箭"), Term("a b", True), Term("c", field="title"))
    values = [query.values(operator, excluded=True) for operator in ("site", "lang", "filetype")]
    assert values == [("x.org",), ("en",), ("pdf",)]
    assert not query.groups and not query.is_empty and not query.notices


def test_a_hyphen_elsewhere_excludes_nothing() -> None:
    assert words("well-known - word --help a-") == [["well-known"], ["word"], ["--help"], ["a-"]]
    assert parse('"a"-b').groups == ((Term("a", True),), (Term("b"),))


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a OR b c", [["a", "b"], ["c"]]),
        ("a OR b OR c", [["a", "b", "c"]]),
        ("a | b", [["a", "b"]]),
        ("a|b||c", [["a", "b", "c"]]),
        ("火箭｜卫星", [["火箭", "卫星"]]),
        ("(кошка OR собака) корм", [["кошка", "собака"], ["корм"]]),
        ('"a b" OR intitle:c', [["a b", "c"]]),
        ("OR a", [["a"]]),
        ("a OR", [["a"]]),
        ("a OR OR b", [["a", "b"]]),
        ("OR | OR", []),
        ("a or b", [["a"], ["or"], ["b"]]),
        ('a "OR" b', [["a"], ["OR"], ["b"]]),
        ("a OR a", [["a"]]),
    ],
)
def test_or_in_capitals_joins_its_neighbours(text: str, groups: list[list[str]]) -> None:
    assert [[term.text for term in group] for group in parse(text).groups] == groups


def test_or_between_different_things_is_left_out_with_a_notice() -> None:
    query = parse("a OR site:b.org")
    assert (query.groups, query.filters) == (((Term("a"),),), (Filter("site", "b.org"),))
    assert any("OR" in notice for notice in query.notices)
    assert not parse("(site:a.org OR site:b.org) c").notices


# ---- operators ----


@pytest.mark.parametrize(
    ("value", "site"),
    [
        ("example.org", "example.org"),
        ("WWW.Example.ORG", "www.example.org"),
        ("example.org/", "example.org"),
        ("example.org/Docs/a/", "example.org/Docs/a"),
        ("https://example.org/docs", "example.org/docs"),
        ("HTTP://example.org:80", "example.org"),
        ("https://example.org:443/a", "example.org/a"),
        ("example.org:8080/a", "example.org:8080/a"),
        ("example.org?q=1", "example.org/?q=1"),
        ("example.org/a#top", "example.org/a"),
        ("*.example.org", "example.org"),
        (".org", "org"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("例子。中国/文档", "xn--fsqu00a.xn--fiqs8s/文档"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("[::1]", "[::1]"),
        ("en.wikipedia.org/wiki/Rust_(language)", "en.wikipedia.org/wiki/Rust_(language)"),
        ('"example.org"', "example.org"),
    ],
)
def test_a_site_is_a_host_and_perhaps_a_path(value: str, site: str) -> None:
    assert parse(f"site:{value}") == Query(typed=f"site:{value}", filters=(Filter("site", site),))


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("intitle:rocket", Term("rocket", field="title")),
        ('InTitle:"rocket engine"', Term("rocket engine", True, "title")),
        ("intitle：火箭", Term("火箭", field="title")),
        ("intitle:«ракетный двигатель»", Term("ракетный двигатель", True, "title")),
        ("inurl:docs-2024", Term("docs-2024", field="url")),
    ],
)
def test_words_can_be_wanted_in_title_or_address(text: str, term: Term) -> None:
    assert parse(text).groups == ((term,),)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("ru", "ru"), ("RU", "ru"), ("russian", "ru"), ("Русский", "ru"), ("zh-CN", "zh"), ("zh_TW", "zh"),
        ("中文", "zh"), ("Chinese", "zh"), ("english", "en"), ("Deutsch", "de"), ("日本語", "ja"), ("fi", "fi"),
    ],
)  # fmt: skip
def test_languages_have_codes_and_names(value: str, code: str) -> None:
    assert parse(f"lang:{value}").values("lang") == (code,)


@pytest.mark.parametrize(("text", "ending"), [("filetype:pdf", "pdf"), ("ext:.PDF", "pdf"), ("filetype:HTM", "html")])
def test_file_types_are_endings(text: str, ending: str) -> None:
    assert parse(text).values("filetype") == (ending,)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024", date(2024, 1, 1)),
        ("2024-05", date(2024, 5, 1)),
        ("2024-05-17", date(2024, 5, 17)),
        ("2024/5/17", date(2024, 5, 17)),
        ("17.05.2024", date(2024, 5, 17)),
        ("05.2024", date(2024, 5, 1)),
        ("2024年5月17日", date(2024, 5, 17)),
        ("２０２４", date(2024, 1, 1)),
    ],
)
def test_dates_are_as_precise_as_they_are_written(value: str, day: date) -> None:
    assert parse(f"after:{value} before:{value}").values("after") == (day.isoformat(),)
    assert parse(f"before:{value}").values("before") == (day.isoformat(),)


def test_filters_of_one_kind_are_alternatives_and_dates_narrow() -> None:
    query = parse("site:a.org site:b.org site:a.org lang:ru lang:zh after:2023 after:2024 before:2026 before:2025")
    assert query.values("site") == ("a.org", "b.org")
    assert query.values("lang") == ("ru", "zh")
    assert (query.values("after"), query.values("before")) == (("2024-01-01",), ("2025-01-01",))
    assert not query.is_empty and not query.groups and not query.notices


def test_newest_first_is_asked_for_by_sort_only() -> None:
    assert parse("news sort:date").newest
    assert not parse("news sort:relevance").newest
    assert not parse("latest news").newest


def test_a_span_that_holds_no_day_is_told() -> None:
    assert parse("after:2025 before:2025").notices
    assert not parse("after:2024-12-31 before:2025").notices


@pytest.mark.parametrize(
    "text",
    [
        "site:", "site:!", "site:2024", "site:me@example.org", "site:a*b", "lang:klingonese", "lang:", "filetype:a.b",
        "after:tomorrowish", "after:2024-13", "after:2023-02-29", "before:0000", "before:05/17/2024", "intitle:",
        "inurl:...", "sort:length",
    ],
)  # fmt: skip
def test_an_operator_with_a_bad_value_is_words_and_says_so(text: str) -> None:
    query = parse(text)
    assert query == Query(typed=text, groups=((Term(text),),), notices=query.notices)
    assert len(query.notices) == 1 and f"“{text}”" in query.notices[0]


def test_a_bad_value_in_quotes_is_a_phrase_and_a_bad_exclusion_stays_one() -> None:
    assert parse('site:"a b"').groups == ((Term("site:a b", True),),)
    query = parse("-after:2024")
    assert (query.groups, query.excluded, query.filters) == ((), (Term("after:2024"),), ())
    assert query.notices


def test_empty_means_nothing_was_asked() -> None:
    assert parse("").is_empty and not parse("").notices
    assert parse("sort:date").is_empty
    assert parse("- !!! ()").is_empty and parse("- !!! ()").notices
    for text in ("a", "-a", "site:a.org", "-lang:en", "before:2024"):
        assert not parse(text).is_empty


# ---- limits ----


def test_too_many_characters_are_cut_at_a_word_with_a_notice() -> None:
    query = parse("rocket" * 100 + " " + "engine " * 1000)
    assert len(query.typed) <= MAX_CHARS
    assert set(query.typed.split()) == {"rocket" * 100, "engine"}
    assert any("2,000 characters" in notice for notice in query.notices)


def test_too_many_terms_are_cut_with_a_notice() -> None:
    query = parse(" ".join(f"w{number}" for number in range(10_000)))
    assert [group[0].text for group in query.groups] == [f"w{number}" for number in range(MAX_TERMS)]
    assert any(f"{MAX_TERMS} words" in notice for notice in query.notices)


@pytest.mark.parametrize("typed", ["{}", '"{}"', "-{}", "intitle:{}", "inurl:{}", "-inurl:{}", "b OR {}", "b.c {}"])
def test_words_are_counted_as_the_index_cuts_them(typed: str) -> None:
    query = parse(typed.format(".".join("a" * 900)))
    assert sum(len(words_of(term)) for term in terms_of(query)) == MAX_TERMS
    assert any(f"{MAX_TERMS} words" in notice for notice in query.notices)


@pytest.mark.parametrize("unit", ["ё\u0300", "\u0345b", "%41."])
@pytest.mark.parametrize("operator", ["inurl:", "-inurl:"])
def test_words_of_addresses_are_counted_as_addresses_are_cut(operator: str, unit: str) -> None:
    query = parse(operator + unit * 300 + ".x" * 200)
    assert sum(len(words_of(term)) for term in terms_of(query)) == MAX_TERMS
    assert any(f"{MAX_TERMS} words" in notice for notice in query.notices)


def test_writing_without_spaces_is_cut_at_twice_as_many_characters() -> None:
    assert parse("火箭" * MAX_TERMS).groups == ((Term("火箭" * MAX_TERMS),),)
    query = parse("火箭" * 900)
    assert query.groups == ((Term("火箭" * MAX_TERMS),),)
    assert any(f"{MAX_TERMS} words" in notice for notice in query.notices)


def test_white_space_does_not_use_up_the_limit() -> None:
    assert parse(" " * 50_000 + "\u3000\x00" * 1000 + "火箭").groups == ((Term("火箭"),),)


@pytest.mark.parametrize(
    "unit",
    ['"', "“", "«", "'", "OR ", "|", "-", "- ", "site:", "site: ", "(", ")", "a", "a ", "火", "\u0301\u0316", "ﷺ", '-"',
     "\x00", "intitle:\"", "after:9", "\u200d", "site:яя.рф ", "%F0", "http://", "語\u200d“", "a.",
     "a.語", "-a.", "é/"],
)  # fmt: skip
def test_a_hundred_kilobytes_of_anything_are_answered_within_the_limits(unit: str) -> None:
    within_limits(parse(unit * (100_000 // len(unit))))


def terms_of(query: Query) -> list[Term]:
    return [*query.excluded, *(term for group in query.groups for term in group)]


def words_of(term: Term) -> list[str]:
    """As the index is asked for them."""
    return address_words(term.text) if term.field == "url" else surface_words(term.text)


def within_limits(query: Query) -> None:
    assert len(query.typed) <= MAX_CHARS
    assert sum(map(len, (query.filters, query.excluded, *query.groups))) <= MAX_TERMS
    sizes = [len(words_of(term)) if term.field == "url" else count_words(term.text) for term in terms_of(query)]
    assert sum(max(1, size) for size in sizes) <= MAX_TERMS
    assert len(render(query)) <= MAX_CHARS
    assert all(group and all(term.text.strip() for term in group) for group in query.groups)
    assert all(notice.endswith(".") and len(notice) < 200 for notice in query.notices)
    for text in (query.typed, render(query), *query.notices):
        text.encode()


# ---- laws ----


@settings(max_examples=500)
@given(TYPED)
@example("−\u200c−語")
@example("“\u200d-b")
@example("site:h/a)#b")
@example('site:"h/a|b"')
@example("-(OR")
@example("-(-0")
@example("0\u200c\u200c\u200c\u0600")
def test_whatever_is_typed_is_answered_and_its_rendering_means_the_same(text: str) -> None:
    query = parse(text)
    within_limits(query)
    again = parse(render(query))
    assert asked(again) == asked(query)
    assert render(again) == render(query)
    assert asked(parse(query.typed)) == asked(query)


@given(TYPED)
def test_bytes_read_as_latin_1_are_answered(text: str) -> None:
    within_limits(parse(text.encode("utf-16", "surrogatepass").decode("latin-1")))


def test_the_rendering_is_canonical() -> None:
    text = "before:2025 Site：HTTPS://Example.org/a/ «b c» |d -lang:English ext:PDF after:5.2024 -inurl:x"
    assert render(parse(text)) == (
        '"b c" OR d -inurl:x site:example.org/a -lang:en filetype:pdf after:2024-05-01 before:2025-01-01'
    )
