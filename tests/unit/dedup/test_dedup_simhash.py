"""Texts that differ little have SimHashes that differ little; other texts do not."""

import random

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup.simhash import simhash

WORDS = [f"word{n}" for n in range(400)]
CHARACTERS = [chr(0x4E00 + n) for n in range(800)]


def _text(seed: int, vocabulary: list[str]) -> list[str]:
    return random.Random(seed).choices(vocabulary, k=600)


def distance(left: int, right: int) -> int:
    return ((left ^ right) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


@pytest.mark.parametrize(("vocabulary", "space"), [(WORDS, " "), (CHARACTERS, "")], ids=["words", "Chinese"])
def test_a_small_change_moves_few_bits_and_another_text_moves_many(vocabulary, space):
    near, far = [], []
    for seed in range(20):
        tokens = _text(seed, vocabulary)
        changed = [*tokens[:300], vocabulary[0], *tokens[301:]]
        base = simhash(space.join(tokens))
        near.append(distance(base, simhash(space.join(changed))))
        far.append(distance(base, simhash(space.join(_text(seed + 1000, vocabulary)))))
    assert sum(near) / len(near) <= 5
    assert sum(far) / len(far) >= 26


def test_an_insertion_at_the_start_is_a_small_change():
    tokens = _text(1, WORDS)
    assert distance(simhash(" ".join(tokens)), simhash("new start " + " ".join(tokens))) <= 6


def test_the_same_words_in_another_order_are_another_text():
    tokens = _text(2, WORDS)
    assert distance(simhash(" ".join(tokens)), simhash(" ".join(sorted(tokens)))) >= 15


def test_case_and_white_space_do_not_matter():
    assert simhash("One two  three\nfour five") == simhash("one TWO three four five")


def test_no_words_is_zero():
    assert simhash("") == simhash(" \n ") == 0


def _slow_simhash(words: list[str]) -> int:
    """The definition, bit by bit."""
    hashes = [xxhash.xxh3_64_intdigest(word.encode()) for word in words]
    bits = [h >> (63 - b) & 1 for h in hashes for b in range(64)]
    runs = [bit ^ bits[i - 77] ^ bits[i - 157] for i, bit in enumerate(bits)][3 * 64 :]
    value = 0
    for b in range(64):
        column = runs[b::64]
        value = value * 2 + (2 * sum(column) > len(column))
    return value - (1 << 64) if value >> 63 else value


@given(st.lists(st.sampled_from(WORDS), min_size=4, max_size=60))
def test_the_fast_way_gives_what_the_definition_gives(words):
    assert simhash(" ".join(words)) == _slow_simhash(words)


def test_the_value_is_the_same_in_every_process_and_version():
    """Segments keep SimHashes for years: changing the function needs a new name."""
    assert simhash("a text whose fingerprint is stored in segments for years") == 162945922878516966


@given(st.text())
def test_any_text_gives_a_signed_64_bit_value(text):
    assert -(1 << 63) <= simhash(text) < 1 << 63


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 63), (1 << 63) - 1))
def test_distance_is_symmetric_and_at_most_64(left, right):
    assert distance(left, right) == distance(right, left) <= 64
    assert distance(left, left) == 0
