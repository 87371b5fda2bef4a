"""Pages of one template have one shape; different pages keep different ones."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.scope import path_shape


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("http://a.org/", "/"),
        ("https://a.org:81/about/team.html", "/about/team.html"),
        ("http://a.org/news/2024/05/17/8812-title", "/news/<n>/<n>/<n>/<n>-title"),
        ("http://a.org/2024-05-17", "/<n>-<n>-<n>"),
        ("http://a.org/d41d8cd98f00b204e9800998ecf8427e.html", "/<id>.html"),
        ("http://a.org/v/aB3dE5fG7h", "/v/<id>"),
        ("http://a.org/mp3/h2o", "/mp<n>/h<n>o"),
        ("http://a.org/UnsupportedOperationException.html", "/UnsupportedOperationException.html"),
        ("http://a.org/%D0%B1%D1%82/12", "/%D0%B1%D1%82/<n>"),
        ("http://a.org/s?b=1&a=2&b=3", "/s?a&b"),
        ("http://a.org/s?q", "/s?q"),
        ("http://a.org/s?u=http://b.org/1?x=2", "/s?u"),
    ],
)
def test_shape(url: str, shape: str) -> None:
    assert path_shape(url) == shape


@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=2), st.text("abcxyz-_/", max_size=20))
def test_numbers_do_not_matter(numbers: list[int], around: str) -> None:
    one, two = (path_shape(f"http://a.org/{around}/{n}/p{n}.html?id={n}") for n in numbers)
    assert one == two


def test_random_ids_have_one_shape() -> None:
    ids = [uuid.UUID(int=n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)) for n in range(1, 500)]
    assert len({path_shape(f"http://a.org/x/{i}/y") for i in ids}) == 1
    assert len({path_shape(f"http://a.org/x/{i.hex}/y") for i in ids}) == 1


def test_words_matter_in_every_script() -> None:
    urls = ["/tag/red", "/tag/blue", "/%D0%B1", "/%D0%B2", "/%D1%80", "/s?page=1", "/s?sort=1"]
    assert len({path_shape("http://a.org" + url) for url in urls}) == len(urls)


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=60))
def test_any_path_has_a_shape_without_digits_outside_escapes(path: str) -> None:
    shape = path_shape(f"http://a.org/{path.replace('%', '')}")
    assert shape.startswith("/")
    assert not any(char.isdigit() for char in shape.partition("?")[0])
