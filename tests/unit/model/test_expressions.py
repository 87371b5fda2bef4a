"""Expressions that people write: they mean what they mean in Python, and never take long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.expressions import LARGEST, ExpressionError, Expressions

MEANT = [
    r"/tag/", r"\?(.*&)?page=\d+", r"(?i)\.(jpe?g|png|gif)$", r"[?&](sort|order)=", r"/\d{4}/\d{2}/", r"^https?://a\.",
    r"(^|/)(login|print)(/|$)", r"a{,2}b", r"a{2,}", r"[{,3}]", r"\{,3}", r"x\Z", r"[]x]-", r"[^]a]b", r"\bnews\b",
    r"[\w.-]+\.html", r"(?:ab|a)(?:c|bcd)$", r"\W\s?\D", r"(?P<year>19|20)\d\d", r"é", r"[^а-я]$",
]  # fmt: skip
urls = st.lists(  # canonical ones are ASCII: there \w and (?i) mean the same to both
    st.sampled_from(
        [
            *"abx/?&=-.,{}]3 ",
            "tag",
            "page=2",
            ".JPG",
            ".png",
            "sort=",
            "2024",
            "05",
            "login",
            "news",
            ".html",
            "http://a.",
        ]
    ),
    max_size=12,
).map("".join)


@given(urls)
def test_an_expression_finds_what_it_finds_in_python(url: str) -> None:
    for pattern in MEANT:
        assert Expressions([pattern], from_start=False).match(url) == bool(re.search(pattern, url)), pattern
        assert Expressions([pattern], from_start=True).match(url) == bool(re.match(pattern, url)), pattern


@given(urls)
def test_many_together_name_the_first_that_matches(url: str) -> None:
    first = next((place for place, pattern in enumerate(MEANT) if re.search(pattern, url)), None)
    assert Expressions(MEANT, from_start=False).first(url) == first


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a(?=b)", "look-ahead and look-behind ((?=)"), ("a(?!b)", "a filter above this one"),
        ("(?<=a)b", "look-behind"), ("(?<!a)b", "look-behind"),
        (r"(a)\1", r"back-references (\1)"), ("(?P<x>a)(?P=x)", "back-references"),
        ("(a)(?(1)b|c)", "back-references"), ("(?>a)", "atomic"), ("a++", "possessive repetitions (++)"),
        ("a{2}+", "possessive"), (r"\u0431", r"write \x{"), ("(", "wrong expression: missing )"), ("[a", "missing ]"),
        ("a{99999999999999999999}", "wrong expression"), ("\ud800", "half a character"),
        (".{1000}", f"the limit is {LARGEST}"), ("(?x)a b", "wrong expression"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_with_what_to_write_instead(pattern: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expressions([pattern], from_start=False)
    assert says in str(caught.value)


def test_the_largest_expressions_still_match_when_many_are_asked_together() -> None:
    """A set that runs out of memory would say "no match": a deny filter would let pass what it should hold."""
    large = [f"[ab].{{{reach}}}[bc]z{reach}" for reach in range(200, 215)]
    text = "ab" * 900
    together = Expressions(large, from_start=False)
    assert together.first(text) is None
    for place, reach in enumerate(range(200, 215)):
        assert together.first(f"{text}z{reach}") == place
