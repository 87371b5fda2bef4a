"""The features of URLs: values worked out by hand, and laws for any text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.priority.qrank.batch import LONGEST
from gossamer.priority.qrank.features import LISTED, NAMES, features

_ANY = st.text(max_size=60)
_URLS = st.one_of(_ANY, st.builds("http://{}/{}?{}#{}".format, _ANY, _ANY, _ANY, _ANY))


def of(url: str) -> dict[str, float]:
    return dict(zip(NAMES, features([url])[0].tolist(), strict=True))


def scaled(count: int, most: int) -> float:
    return pytest.approx(min(math.log1p(count) / math.log1p(most), 1.0), abs=1e-5)


def test_the_features_of_the_seed_are_all_there() -> None:
    assert len(LISTED) >= 16
    assert len(set(NAMES)) == len(NAMES)


def test_lengths_are_those_of_the_parts() -> None:
    found = of("https://www.example.com/a/bc.html?x=1&y=22#part")
    assert found["url length"] == scaled(len("https://www.example.com/a/bc.html?x=1&y=22"), 650)
    assert found["scheme length"] == scaled(5, 5)
    assert found["host length"] == scaled(15, 50)
    assert found["path length"] == scaled(len("/a/bc.html"), 300)
    assert found["query length"] == scaled(len("x=1&y=22"), 300)
    assert found["path depth"] == scaled(2, 20)
    assert found["parameters"] == scaled(2, 10)


def test_digits_capitals_and_terms_are_counted_in_each_part() -> None:
    found = of("http://a1.example.org/Ab/C9-d8?Q=77&r=S")
    assert (found["host digits"], found["path digits"]) == (scaled(1, 50), scaled(2, 100))
    assert (found["query digits"], found["url digits"]) == (scaled(2, 100), scaled(5, 100))
    assert (found["path capitals"], found["query capitals"]) == (scaled(2, 100), scaled(2, 100))
    assert (found["host terms"], found["path terms"]) == (scaled(3, 10), scaled(3, 50))
    assert (found["query terms"], found["url terms"]) == (scaled(4, 50), scaled(11, 100))


def test_english_words_are_told_from_other_terms() -> None:
    assert of("http://x.org/the-green-house")["path words"] == 1
    assert of("http://x.org/green-xqzvkw")["path words"] == 0.5
    assert of("http://x.org/?house=xqzvkw")["query words"] == 0.5


@pytest.mark.parametrize(
    "word", ["novosti", "yazyka", "serbskogo", "khoroshiy", "horoshij", "zhizn", "pogoda", "voprosy"]
)
def test_russian_words_in_latin_letters_are_words(word: str) -> None:
    assert of(f"http://x.ru/{word}/xqzvkw")["path words"] == 0.5


def test_numbers_are_no_words() -> None:
    assert of("http://x.org/2014/04/")["path words"] == 0


def test_parts_without_terms_lack_no_word() -> None:
    found = of("http://x.org/")
    assert (found["path words"], found["query words"], found["query length"]) == (1, 1, 0)


def test_escapes_count_as_the_characters_they_stand_for() -> None:
    plain, escaped = of("http://x.ru/теги/a b"), of("http://x.ru/%D1%82%D0%B5%D0%B3%D0%B8/a%20b")
    assert escaped == plain
    assert escaped["path length"] == scaled(len("/теги/a b"), 300)
    assert escaped["path digits"] == escaped["path capitals"] == 0
    assert escaped["path words"] == pytest.approx(1 / 3, abs=0.34)  # one-letter terms may be words by chance


def test_an_escaped_border_is_none() -> None:
    assert of("http://x.org/a%2Fb")["path depth"] == scaled(1, 20)
    assert of("http://x.org/a%3Fb")["query length"] == 0


def test_what_is_no_escape_stays() -> None:
    assert of("http://x.org/100%zz")["path length"] == scaled(len("/100%zz"), 300)
    assert of("http://x.org/100%2")["path length"] == scaled(len("/100%2"), 300)


def test_a_percent_sign_at_the_end_does_not_swallow_the_next_url() -> None:
    both = features(["http://x.org/100%", "41://y.org/"])
    assert (both == np.concatenate([features(["http://x.org/100%"]), features(["41://y.org/"])])).all()


def test_an_international_host_counts_its_characters() -> None:
    assert of("http://пример.рф/")["host length"] == scaled(len("пример.рф"), 50)
    assert of("http://xn--e1afmkfd.xn--p1ai/")["host length"] == scaled(len("xn--e1afmkfd.xn--p1ai"), 50)


def test_an_index_page_is_its_folder() -> None:
    folder, index = of("http://x.org/news/"), of("http://x.org/news/index.html")
    for name in ("folders", "ends with slash", "segment length", "segment terms", "bare host"):
        assert index[name] == folder[name]
    assert of("http://x.org/index.html")["bare host"] == of("http://x.org/")["bare host"] == 1
    assert of("http://x.org/news/")["bare host"] == 0


def test_years_and_numbers_of_paths_are_seen() -> None:
    found = of("http://x.org/2014/04/some-story")
    assert found["years in path"] == scaled(1, 2)
    assert found["numbers in path"] == scaled(2, 8)
    assert of("http://x.org/2024/")["year"] > found["year"] > of("http://x.org/story")["year"] == 0
    assert of("http://x.org/page/200/")["last number"] == 0
    assert of("http://x.org/page/200")["last number"] > of("http://x.org/page/3")["last number"] > 0


def test_terms_with_a_role_are_known_in_the_path() -> None:
    found = of("http://tags.org/category/feed?page=2")
    assert (found["category in path"], found["feed in path"]) == (1, 1)
    assert (found["tag in path"], found["paging in path"]) == (0, 0)


def test_a_text_without_scheme_is_all_path() -> None:
    found = of("some/where")
    assert (found["scheme length"], found["host length"]) == (0, 0)
    assert found["path length"] == scaled(len("some/where"), 300)


def test_of_an_endless_url_the_beginning_counts() -> None:
    url = "http://x.org/" + "abc/" * 100_000
    assert (features([url]) == features([url[:LONGEST]])).all()


def test_no_urls_give_no_rows() -> None:
    assert features([]).shape == (0, len(NAMES))


@given(st.lists(_URLS, max_size=8))
def test_a_batch_gives_what_each_url_gives_alone(urls: list[str]) -> None:
    together = features(urls)
    for row, url in zip(together, urls, strict=True):
        assert (row == features([url])[0]).all()


@given(_URLS)
def test_features_of_any_text_lie_between_0_and_1(url: str) -> None:
    row = features([url])
    assert np.isfinite(row).all()
    assert row.min() >= 0
    assert row.max() <= 1


def test_batches_larger_than_a_chunk_keep_their_order() -> None:
    urls = [f"http://host{number % 7}.org/{'a/' * (number % 5)}{number}" for number in range(5000)]
    assert (features(urls)[4321] == features([urls[4321]])[0]).all()
