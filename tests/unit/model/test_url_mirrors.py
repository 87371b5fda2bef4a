"""URLs of a mirror become URLs of its main site, whatever way they come in; all others stay what they are."""

from __future__ import annotations

import pytest

from gossamer.model.url import Canonicalizer, parse_base

canonical = Canonicalizer(mirrors={"copy.org": "https://main.org", "copy.org:8080": "http://main.org:81"})


@pytest.mark.parametrize(
    ("url", "main"),
    [
        ("http://copy.org", "https://main.org/"),
        ("http://COPY.org:80/a/b?q=1&utm_source=x#top", "https://main.org/a/b?q=1"),
        ("https://user:secret@copy.org./a%7eb", "https://main.org/a~b"),
        ("http://copy.org:8080/x", "http://main.org:81/x"),
        ("http://copy.org:8081/x", "http://copy.org:8081/x"),
        ("http://www.copy.org/x", "http://www.copy.org/x"),
        ("http://main.org/copy.org/x?u=http://copy.org/", "http://main.org/copy.org/x?u=http://copy.org/"),
    ],
)
def test_only_the_origin_of_a_mirror_changes(url: str, main: str) -> None:
    assert canonical.parse(url) == main
    assert canonical.resolve(parse_base("http://page.org/"), url) == main
    assert canonical.parse(main) == main, "the canonical form of the canonical form"


def test_relative_links_of_a_page_on_a_mirror_lead_to_the_main_site() -> None:
    base = parse_base("http://copy.org/news/today")
    assert canonical.resolve(base, "../about") == "https://main.org/about"
    assert canonical.literal(base, "../about") == "http://copy.org/about"


def test_what_is_no_url_is_refused_as_ever() -> None:
    for text in ("mailto:a@copy.org", "http://", "nothing"):
        assert canonical.parse(text) == Canonicalizer().parse(text)
