"""Document rules: which URL fits, what is cut out, what is refused, and what a look-up costs."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import NOW, parse

from gossamer.errors import UsageError
from gossamer.parse.html import Tree
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.parse.rules.cutting import check_selector, cut
from gossamer.parse.rules.toml import KEYS, read_rules, write_rules
from gossamer.settings import toml_value
from gossamer.site.patterns import MAX_CHARS, compile_patterns

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Owls return | The Daily</title></head><body>
<nav>Home News Sport</nav>
<article><h1>Owls <b>return</b></h1><time datetime="2024-05-17T08:30:00">yesterday</time>
<p class="by">Ann Lee</p><p class="by">Bo Ek</p>
<div class="body"><p>The owls are back.</p><div class="share">Share this</div><script>track()</script>
<p>They came at night.</p><table><tr><td>barn</td><td>12</td></tr></table></div></article>
<footer>Imprint</footer></body></html>"""


def rule(**changes: object) -> DocumentRule:
    values = {"domain": "a.org", "urls": ("/news/{id}",), "text": ("article .body",)} | changes
    return DocumentRule(**values)


def fits(pattern: str, path: str) -> bool:
    return RuleBook([rule(urls=(pattern,))]).match(f"https://a.org{path}") is not None


# -- which URL fits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/news/{id}", "/news/123", True),
        ("/news/{id}", "/news/123/comments", False),
        ("/news/{id}", "/news/abc", False),
        ("/news/{id}", "/news/123?page=2", False),
        ("/{year}/{month}/{day}/{slug}/", "/2024/05/17/owls-return/", True),
        ("/{year}/{month}/{day}/{slug}/", "/2024/5/7/owls-return/", True),
        ("/{year}/{month}/{day}/{slug}/", "/2024/13/17/owls-return/", False),
        ("/{year}/{month}/{day}/{slug}/", "/2024/05/17/", False),
        ("/{year}{month}{day}/{slug}", "/20240517/owls", True),
        ("/doc.html?id={id}", "/doc.html?id=5", True),
        ("/doc.html?id={id}", "/docXhtml?id=5", False),
        ("/{id}-{slug}.html", "/90617-v-voronezhe.html", True),
        ("/новости/{id}", "/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/7", True),
        ("/blog/{any}", "/blog/a/b?c=d", True),
        (r"^/(news|blog)/\d+", "/blog/12-a/b", True),
        (r"^/(news|blog)/\d+$", "/blog/12-a", False),
        (r"^/news", "/en/news", False),
    ],
)
def test_a_pattern_fits_the_whole_path_as_a_template_and_the_start_as_an_expression(
    pattern: str, path: str, expected: bool
) -> None:
    assert fits(pattern, path) is expected


def test_a_domain_rule_covers_all_hosts_and_a_host_rule_comes_before_it() -> None:
    book = RuleBook([rule(domain="bbc.co.uk", name="all"), rule(domain="sport.bbc.co.uk", name="sport")])
    found = {host: book.match(f"https://{host}/news/1") for host in ("bbc.co.uk", "www.bbc.co.uk", "sport.bbc.co.uk")}
    assert {host: r.name if r else None for host, r in found.items()} == {
        "bbc.co.uk": "all", "www.bbc.co.uk": "all", "sport.bbc.co.uk": "sport",
    }  # fmt: skip
    assert book.match("https://co.uk/news/1") is None
    assert book.match("https://bbc.co.uk.evil.com/news/1") is None
    assert book.match("http://www.bbc.co.uk:8080/news/1") is not None


def test_an_exception_takes_a_url_out_and_the_next_rule_may_take_it() -> None:
    first = rule(name="a", urls=("/{slug}",), not_urls=("/about",), category="news")
    second = rule(name="b", urls=("/about",), category="us")
    book = RuleBook([second, first])
    assert book.match("https://a.org/owls") == first
    assert book.match("https://a.org/about") == second
    reasons = [attempt.reason for attempt in book.attempts("https://a.org/about")]
    assert reasons == ["not_urls /about matches", "urls /about matches"]


RULES = [
    DocumentRule("site.example", ("/news/{id}", "^/blog/"), "news", not_urls=("^/blog/tag", "/news/{id}0")),
    DocumentRule("www.site.example", ("/own/{slug}",), "own"),
    DocumentRule("broken.example", ("{nothing}",), "broken"),
]


@given(
    st.sampled_from(["site.example", "www.site.example", "x.site.example:81", "broken.example", "other.example"]),
    st.text("/newsblogtag10x?", max_size=14),
)
def test_the_quick_question_has_the_same_answer(host: str, path: str) -> None:
    book, url = RuleBook(RULES), f"https://{host}/{path}"
    for _ in range(2):
        fits = book.fits(url)
        assert bool(fits) == (book.match(url) is not None)
        assert (fits is None) == (book.attempts(url) == [])


def test_a_url_of_endless_length_fits_nothing() -> None:
    book = RuleBook([rule(urls=("/{any}",))])
    assert book.match("https://a.org/" + "a" * (MAX_CHARS - 1)) is not None
    assert book.match("https://a.org/" + "a" * MAX_CHARS) is None


@pytest.mark.parametrize("domains", [1, 10, 10_000])
def test_the_cost_of_a_look_up_does_not_grow_with_the_number_of_domains(domains: int) -> None:
    """Counted in rules that are compared, not in seconds."""
    book = RuleBook(rule(domain=f"d{n}.org", urls=("/a/{id}", "/b/{id}")) for n in range(domains))
    assert book.match("https://www.d0.org/b/1") is not None
    assert book.tried == 1
    assert book.match("https://unknown.org/b/1") is None
    assert book.tried == 1


# -- patterns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "hostile"),
    [
        ("^(a+)+$", "a" * 1900 + "!"), ("^(a|ab)*c", "ab" * 950), ("^(a?){50}a{50}", "a" * 49),
        ("^/([a-z]+-?)+$", "/" + "a" * 1900 + "!"), ("^/.*a.*b.*c.*d.*e", "/" + "abcd" * 470),
        ("^/" + "[^-]*[^-][^-]*-" * 30 + "$", "/" + "a" * 1900), ("/{any}a{any}b{any}c{any}d", "/" + "abc" * 630),
    ],
)  # fmt: skip
def test_no_pattern_takes_years_whatever_the_url(pattern: str, hostile: str) -> None:
    assert not compile_patterns([pattern]).match(hostile)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("news", "begins with /"), ("^(", "wrong expression"), ("/{place}", "there is no {place}"),
        (r"^/(.)\1", "back-references"), ("^/(?!x)y", "not_urls"), ("/" + "a" * 600, "limit"),
    ],
)  # fmt: skip
def test_a_wrong_pattern_is_refused_with_the_reason(pattern: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        compile_patterns([pattern])
    assert says in str(caught.value)


# -- what is cut out --------------------------------------------------------------------------------


def test_a_rule_cuts_out_title_text_date_and_authors() -> None:
    found = cut(Tree(PAGE, 1000), rule(title=("h1",), date=("time",), author=(".by",), remove=(".share",)), 1000, NOW)
    assert found.title == "Owls return"
    assert found.text == "The owls are back.\nThey came at night.\nbarn\n12"
    assert found.date == "2024-05-17T08:30:00"
    assert found.author == "Ann Lee, Bo Ek"
    assert found.problems == []


def test_selectors_are_tried_in_order_and_what_finds_nothing_is_named() -> None:
    wanted = rule(title=("h3", "h1"), text=("#text", ".nowhere"), date=("time@title", "time@datetime"), author=(".x",))
    found = cut(Tree(PAGE, 1000), wanted, 1000, NOW)
    assert found.used == {"title": "h1", "date": "time@datetime"}
    assert found.problems == ["author: nothing found by .x", "text: nothing found by #text or .nowhere"]


def test_all_matching_elements_make_up_the_text_each_once() -> None:
    found = cut(Tree("<div><p>one</p><div><p>two</p></div></div><p>three</p>", 100), rule(text=("div, p",)), 1000, NOW)
    assert found.text == "one\ntwo\nthree"


def test_cutting_leaves_the_tree_as_it_was() -> None:
    tree = Tree(PAGE, 1000)
    wanted = rule(remove=("p", ".share"))
    first = cut(tree, wanted, 1000, NOW)
    assert cut(tree, wanted, 1000, NOW) == first
    assert "The owls are back." in cut(tree, rule(), 1000, NOW).text


@pytest.mark.parametrize(
    ("form", "written", "expected"),
    [
        ("%d.%m.%Y", "Posted 3.05.2021, by Ann", "2021-05-03"),
        ("%m/%d/%Y", "03/05/2021", "2021-03-05"),
        ("%d/%m/%Y", "03/05/2021", "2021-05-03"),
        ("%d.%m.%y %H:%M", "17.05.24 08:05", "2024-05-17T08:05:00"),
        ("%d %B %Y", "17 мая 2024", "2024-05-17"),
        ("%d.%m.%Y", "31.02.2021", ""),
        ("%d.%m.%Y", "01.01.1970", ""),
        ("%d.%m.%Y", "01.01.2999", ""),
        ("", "May 17, 2024", "2024-05-17"),
    ],
)
def test_dates_are_read_in_the_form_the_rule_names(form: str, written: str, expected: str) -> None:
    page = f"<i class=d>{written}</i>"
    assert cut(Tree(page, 100), rule(date=(".d",), date_format=form), 100, NOW).date == expected


def test_a_page_that_fits_is_parsed_by_its_rule_and_all_others_as_usual() -> None:
    book = RuleBook([rule(title=("h1",), date=("time",), author=(".by",), category="birds", page_type="news")])
    taken = parse(PAGE, url="https://www.a.org/news/5", rules=book)
    assert taken.method == "rule document"
    assert taken.text.startswith("The owls are back.")
    assert (taken.title, taken.author) == ("Owls return", "Ann Lee, Bo Ek")
    assert (taken.date, taken.date_source, taken.date_confidence) == ("2024-05-17T08:30:00", "rule", 1.0)
    assert (taken.category, taken.category_source, taken.page_type) == ("birds", "rule", "news")
    other = parse(PAGE, url="https://www.a.org/about", rules=book)
    assert not other.method.startswith("rule ") and other.category == ""
    assert other.title == "Owls return"


def test_a_page_whose_text_the_rule_does_not_find_keeps_the_text_of_the_general_extractor() -> None:
    book = RuleBook([rule(text=("#moved",), title=("h1",), category="birds", page_type="news")])
    usual = parse(PAGE, url="https://a.org/news/5")
    found = parse(PAGE, url="https://a.org/news/5", rules=book)
    assert (found.text, found.method) == (usual.text, usual.method)
    assert (found.title, found.category, found.page_type) == ("Owls return", "birds", "news")


# -- TOML -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ('[[rule]]\ndomain="a.org"\nurls="/x"\ntxt="p"', "rules.toml: rule 1: unknown key 'txt': did you mean text?"),
        ('[[rule]]\nurls="/x"', "rules.toml: rule 1: domain is missing"),
        ('[[rule]]\ndomain="a.org"', "rules.toml: rule 1 (a.org document): urls is missing"),
        ('[[rule]]\ndomain="a.org/x"\nurls="/x"', "domain 'a.org/x' is no host"),
        ('[[rule]]\ndomain="a.org:8080"\nurls="/x"', "is no host"),
        ('[[rule]]\ndomain="a.org"\nname="n"\nurls=["/x","^("]', "rules.toml: rule 1 (a.org n): urls '^(': wrong"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\ntext="p["', "rule 1 (a.org document): text 'p[': invalid CSS selector"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\ntext="a@href"', "text 'a@href': an attribute cannot be read"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\ndate_format="%d %q"', "date_format '%d %q': %q is unknown"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\ndate_format="%d.%m"', "must stand in it"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\npage_type="A b"', "page_type 'A b'"),
        ('[[rule]]\ndomain="a.org"\nurls=[1]', "rule 1 (a.org document): Expected `str`"),
        ('[[rule]]\ndomain="a.org"\nurls="/x"\n' * 2, "rules 1 and 2 are both called a.org document"),
        ('[[rules]]\ndomain="a.org"', "rules.toml: unknown key 'rules'"),
        ("a =", "rules.toml is not TOML"),
    ],
)
def test_a_mistake_is_an_error_that_names_file_rule_and_key(toml: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_rules(toml, "rules.toml")
    assert says in str(caught.value)


def test_a_list_of_one_may_be_a_string_and_domains_are_made_canonical() -> None:
    found = read_rules('[[rule]]\ndomain = "Bücher.example"\nurls = "/x"\ntitle = "h1"', "f")
    assert found == [DocumentRule("xn--bcher-kva.example", ("/x",), title=("h1",))]


words = st.text(string.ascii_letters + "äж中'\"\\ #=[]{}\n\t\x7f\U0001f600", min_size=1, max_size=12)
hosts = st.from_regex(r"[a-z]{1,8}(\.[a-z]{2,5}){1,2}", fullmatch=True)
patterns = st.sampled_from(["/{slug}", "/a/{id}", r"^/\d+", "^/a'b\"", "/ж{id}", "/x?y={any}"])
selectors = st.sampled_from(["h1", ".a > b", "[title='it\\'s']", '[a="b c"]', "#ж", "p:not(.x)", "[a='\\\\']"])
some = st.lists(selectors, max_size=3).map(tuple)
many_rules = st.lists(
    st.builds(
        DocumentRule,
        domain=hosts,
        urls=st.lists(patterns, min_size=1, max_size=3).map(tuple),
        name=st.from_regex(r"[a-z][a-z0-9_.-]{0,9}", fullmatch=True),
        not_urls=st.lists(patterns, max_size=2).map(tuple),
        title=some,
        text=some,
        remove=some,
        author=some,
        date=st.lists(st.sampled_from(["time@datetime", "time", "a.b@data-x"]), max_size=2).map(tuple),
        date_format=st.sampled_from(["", "%d.%m.%Y", "%Y \"%m\" '%d'", "%d %B %y\\"]),
        category=st.sampled_from(["", "news", "новости дня", 'a "b" c\\']),
        page_type=st.sampled_from(["article", "forum"]),
    ),
    max_size=5,
    unique_by=lambda rule: (rule.domain, rule.name),
)


@given(many_rules)
def test_what_is_written_as_toml_is_read_as_the_same_rules(rules: list[DocumentRule]) -> None:
    assert read_rules(write_rules(rules), "f") == rules


@given(st.dictionaries(st.sampled_from(KEYS), words | st.lists(words, max_size=3) | st.integers(), max_size=6))
def test_whatever_stands_in_a_rule_it_is_read_or_refused_by_a_usage_error(values: dict[str, object]) -> None:
    text = "[[rule]]\n" + "\n".join(f"{key} = {toml_value(value)}" for key, value in values.items())
    try:
        read_rules(text, "f")
    except UsageError as error:
        assert str(error).startswith("f")


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        (":has(:has(q))", "once"), (r":h\61s(:h\61s(q))", "once"), (r":\68 as(a):HAS(b)", "once"),
        (":has(/* */:h\\61 s(x))", "once"), (":has(ul li)", "joined by > and +"), (":is(a ~ b) c", "joined by > and +"),
        ("p:nth-child(2 of :nth-child(3))", ":nth-child() may not"),
        (":not(:nth-of-type(2))", ":nth-of-type() may not"),
    ],
)  # fmt: skip
def test_a_selector_that_takes_minutes_is_refused_however_it_is_spelled(selector: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        check_selector(selector, with_attribute=True)


@pytest.mark.parametrize(
    "selector",
    [
        "p:has(~ q)", "div:has( > img, + b )", ":not(:has(img))", "p:not(.a, .b) > c d ~ e", r".md\:has\(x .b\:has\(y",
        '[title=":has(:has("] p', "li:nth-child(2n + 1 of .x) a:nth-child(3)", ":has(a>b+c)", "time.published@datetime",
    ],
)  # fmt: skip
def test_other_selectors_are_accepted(selector: str) -> None:
    check_selector(selector, with_attribute=True)
