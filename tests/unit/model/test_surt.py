"""The sort key of an archive's index is the one that other programs look up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.decision import Decision
from gossamer.model.surt import sort_key
from gossamer.model.url import Canonicalizer


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.Example.org/A/B/", "org,example)/a/b"),
        ("http://www2.example.org:8080/?b=2&a=1&a", "org,example:8080)/?a&a=1&b=2"),
        ("http://example.org/x?", "org,example)/x"),
        ("http://example.org/a//b", "org,example)/a/b"),
        ("http://example.org/%C3%84%2525", "org,example)/%c3%84%25"),
        ("http://example.org/?q=1&PHPSESSID=0123456789abcdef0123456789abcdef&z=2", "org,example)/?q=1&z=2"),
        ("http://example.org/(S(4hqa0555fwsecu455xqckv45))/page.aspx", "org,example)/page.aspx"),
        ("http://192.0.2.1/x", "1,2,0,192)/x"),
    ],
)
def test_the_key_of_a_url(url: str, key: str) -> None:
    assert sort_key(url) == key


_TEXT = st.text("abzAZ019/%-._~=&?;+() \u00e4\u0416", max_size=30)


@given(st.sampled_from(["a.test", "www.a.test", "www12.b.a.test:81", "1.2.3.4"]), _TEXT)
def test_the_key_is_that_of_the_surt_library(host: str, rest: str) -> None:
    surt = pytest.importorskip("surt", reason="the library is not installed")
    url = Canonicalizer().parse(f"http://{host}/{rest}")
    if not isinstance(url, Decision):
        assert sort_key(url) == surt.surt(url)
