"""Pages with hardly any text: equal bytes are equal, tokens and clocks are no change, two hosts are two."""

from __future__ import annotations

import re

import pytest

from gossamer.dedup.near.minhash import MinHash
from gossamer.dedup.near.own import own_text
from gossamer.dedup.short import has_changed, is_page_hash, page_hash

PAGE = '<title>Stub</title><p class="x">To be written.</p><a href="next.html">Next</a>'


def hash_of(html: str, title: str = "Stub", text: str = "To be written.") -> str:
    return page_hash(title, text, html.encode())


def test_the_hash_is_marked_and_depends_on_the_page_alone() -> None:
    assert re.fullmatch(r"page-[0-9a-f]{16}-[0-9a-f]{32}", hash_of(PAGE))
    assert is_page_hash(hash_of(PAGE)) and not is_page_hash("0" * 32)
    assert hash_of(PAGE) == hash_of(PAGE)


@pytest.mark.parametrize(
    "other",
    [
        PAGE.replace('class="x"', 'class="y" style="color: red"'),
        PAGE.replace("<p", "\n\n  <p"),
        PAGE + "<!-- node 7 -->",
        "<!-- " + PAGE.replace("<title>", "--><title>"),
        PAGE + "<p>Visitors: <b>12</b></p>",
        PAGE + '<input type="hidden" name="token" value="a81f">',
        PAGE.replace("next.html", "next.html?PHPSESSID=a81f"),
    ],
)
def test_what_no_reader_sees_does_not_count(other: str) -> None:
    assert hash_of(other) == hash_of(PAGE)


@pytest.mark.parametrize(
    "other",
    [
        PAGE.replace("next.html", "last.html"),
        PAGE.replace("Next", "Last"),
        PAGE.replace("Stub", "Root"),
        PAGE + '<img src="1.png">',
        PAGE + '<frame src="1.html">',
        PAGE + "<script>show(1)</script>",
    ],
)
def test_what_a_page_shows_and_names_counts(other: str) -> None:
    assert hash_of(other) != hash_of(PAGE)


def test_a_body_that_is_no_html_counts_byte_by_byte() -> None:
    assert page_hash("", "", b"%PDF <!-- 1 -->", is_html=False) != page_hash("", "", b"%PDF <!-- 2 -->", is_html=False)


def test_only_title_and_text_tell_whether_a_page_has_changed() -> None:
    page, token, words = hash_of(PAGE), hash_of(PAGE + "<p>1"), hash_of(PAGE, text="Written.")
    assert page != token and not has_changed(page, token)
    assert has_changed(page, words)
    assert has_changed("0" * 32, page), "a text became a stub"
    assert has_changed(page, "0" * 32), "a stub became a text"
    assert not has_changed("", page), "nothing was known of a short page before it had a hash"
    assert has_changed("0" * 32, "1" * 32) and not has_changed("0" * 32, "0" * 32)


@pytest.mark.parametrize(
    "evil", ["<!--", "<input ", '<a href="', "<", " href =" + " " * 40, "<meta csrf", "?sid", "1\n"]
)
def test_no_markup_takes_long(evil: str) -> None:
    """Quadratic, any of them would take minutes."""
    assert is_page_hash(hash_of(evil * (300_000 // len(evil))))


def test_posts_of_links_with_different_titles_are_never_near_duplicates() -> None:
    method, buttons = MinHash(), [f"Share this post on network number {n}" for n in range(30)]

    def likeness(one: str, other: str, page_type: str) -> float:
        texts = (own_text(title, "\n".join([title, *buttons]), page_type, buttons) for title in (one, other))
        return method.similarity(*map(method.fingerprint, texts))

    assert (
        likeness("A bicycle", "A garden", "article") < method.threshold <= likeness("A bicycle", "A garden", "listing")
    )
    assert likeness("A bicycle", "A bicycle", "article") == 1.0
