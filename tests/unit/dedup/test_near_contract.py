"""What all seven methods promise: one suite, run over each of them."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from near_kit import SCRIPTS, replaced, some_words, statistics, text_of

from gossamer.dedup.near.contract import MIN_WORDS, NearMethod, same, unlike
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.dedup.near.registry import METHODS as OF_CRAWLS
from studies.duplicates.methods import METHODS, method_of

STATISTICS = statistics()
BY_NAME = {name: method_of(name, STATISTICS) for name in METHODS}
LARGEST = {"shingles": 160_000, "imatch-lexicons": 1024, "minhash": 512}
HOSTILE = {
    "2 MB of one word": "word " * 400_000,
    "one word of 2 MB": "w" * 2_000_000,
    "one Chinese sentence of 2 MB": "语言" * 330_000,
    "NULs": "\0" * 100_000,
    "words and NULs": " \0 ".join(some_words(1)),
    "emojis": "🎉👩‍👩‍👧 " * 5_000,
    "half a surrogate": "\ud800 " + " \udfff ".join(some_words(1)),
    "accents without letters": "́" * 50_000,
    "punctuation": ". , ; — " * 10_000,
    "a million different words": " ".join(map(str, range(300_000))),
}


@pytest.fixture(params=METHODS)
def method(request) -> NearMethod:
    return BY_NAME[request.param]


def _text(seed: int, number: int = 400, script: str = "English") -> str:
    return text_of(some_words(seed, number, script), script)


def _share_a_key(method: NearMethod, left: bytes, right: bytes) -> bool:
    return not set(method.keys(left)).isdisjoint(method.keys(right))


def test_it_is_found_under_its_name(method):
    assert method_of(method.name, STATISTICS).name == method.name
    assert 0 < method.threshold <= 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_same_text_has_the_same_fingerprint_and_is_fully_similar(method, script):
    first, second = (method_of(method.name, STATISTICS).fingerprint(_text(1, script=script)) for _ in range(2))
    assert first
    assert first == second
    assert method.similarity(first, second) == 1
    assert same(method, first, second)
    assert _share_a_key(method, first, second)


@pytest.mark.parametrize("script", SCRIPTS)
def test_unrelated_texts_are_not_the_same_and_share_no_key(method, script):
    prints = [method.fingerprint(_text(seed, script=script)) for seed in range(40)]
    pairs = [(a, b) for place, a in enumerate(prints) for b in prints[:place]]
    assert not [1 for a, b in pairs if same(method, a, b)]
    assert not [1 for a, b in pairs if _share_a_key(method, a, b)]


@pytest.mark.parametrize("script", SCRIPTS)
def test_case_punctuation_and_white_space_do_not_matter(method, script):
    words = some_words(2, script=script)
    space = SCRIPTS[script][1]
    dice = Random(3)
    written = [word.capitalize() + dice.choice(["", ",", ".", "!", "…", " –", "”", "。"]) for word in words]
    assert method.fingerprint(f"\n\t{space}".join(written)) == method.fingerprint(space.join(words))


def test_similarity_is_symmetric_and_a_share(method):
    words = some_words(4)
    prints = [method.fingerprint(" ".join(replaced(words, share, Random(5)))) for share in (0, 0.01, 0.05, 0.3, 0.9)]
    for left in prints:
        for right in prints:
            assert method.similarity(left, right) == method.similarity(right, left)
            assert 0 <= method.similarity(left, right) <= 1


def test_texts_that_are_the_same_by_similarity_can_be_found_by_a_key(method):
    """For SimHash only where three bits differ at most: there are too many ways for more."""
    least = 0.97 if method.name == "simhash" else method.threshold
    dice = Random(6)
    found = []
    for seed in range(60):
        words = some_words(seed, 600)
        left, right = (method.fingerprint(" ".join(text)) for text in (words, replaced(words, 0.004, dice)))
        if method.similarity(left, right) >= least:
            found.append(_share_a_key(method, left, right))
    assert not found or sum(found) >= 0.95 * len(found)


def test_too_short_a_text_has_no_fingerprint_no_keys_and_resembles_nothing(method):
    long = method.fingerprint(_text(1))
    for text in ("", " \n", "Page not found", _text(1, MIN_WORDS - 1), "。" * 100):
        short = method.fingerprint(text)
        assert short == b""
        assert method.keys(short) == []
        assert method.similarity(short, long) == method.similarity(long, short) == method.similarity(short, short) == 0
        assert not same(method, short, short)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_method_of_crawls_tells_clearly_different_texts_from_parts_of_one(script):
    method = near_method(DEFAULT)
    words = some_words(7, 400, script)
    whole, fifth = (method.fingerprint(text_of(some, script)) for some in (words, words[:80]))
    others = [method.fingerprint(_text(seed, script=script)) for seed in range(8, 28)]
    assert all(unlike(method, whole, other) for other in others)
    assert not unlike(method, whole, fifth)


def test_nothing_is_clearly_different_from_no_text_or_from_a_fingerprint_of_another_method(method):
    print_ = method.fingerprint(_text(1))
    assert not unlike(method, print_, b"")
    assert not unlike(method, b"", print_)
    assert not unlike(method, print_, print_ + b"another")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_have_bounded_fingerprints_that_equal_themselves(method, text):
    found = method.fingerprint(text)
    assert len(found) <= LARGEST.get(method.name, 128)
    assert all(-(1 << 63) <= key < 1 << 63 for key in method.keys(found))
    assert same(method, found, method.fingerprint(text)) == bool(found)


@given(st.text())
def test_any_text_has_a_fingerprint_that_can_be_compared(text):
    for method in BY_NAME.values():
        found = method.fingerprint(text * 30)
        assert method.similarity(found, found) == bool(found)


def test_the_default_needs_few_keys_and_little_room():
    method = near_method(DEFAULT)
    found = method.fingerprint(_text(1))
    assert len(method.keys(found)) <= 6
    assert len(found) <= 512


def test_there_are_seven_of_which_crawls_use_three_and_others_are_refused_by_name():
    assert set(OF_CRAWLS) == {"minhash", "supershingles", "simhash"}
    assert set(METHODS) == {"imatch", "imatch-lexicons", "topk", "shingles", "minhash", "supershingles", "simhash"}
    with pytest.raises(ValueError, match=r"no method 'magic'.*minhash"):
        near_method("magic")
