"""What each method promises beyond the common contract: its own law, measured on made-up texts with fixed seeds."""

from collections import Counter
from hashlib import blake2b
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from near_kit import SCRIPTS, naive_overlap, replaced, some_words, statistics, text_of, vocabulary

from gossamer.dedup.near.contract import same
from gossamer.dedup.near.minhash import BANDS, ROWS, MinHash
from gossamer.dedup.near.registry import near_method
from gossamer.dedup.near.runs import runs
from gossamer.dedup.near.supershingles import SuperShingles
from gossamer.dedup.words import MAX_TOKENS, word_hashes
from studies.duplicates.methods import method_of
from studies.duplicates.methods import statistics as statistics_module
from studies.duplicates.methods.imatch_lexicons import LEXICONS, membership
from studies.duplicates.methods.shingles import Shingles, jaccard
from studies.duplicates.methods.statistics import gather

STATISTICS = statistics()
SHARES = (0.002, 0.005, 0.01, 0.015, 0.02, 0.04, 0.1)


def _pairs(number: int, words: int = 400):
    """Pairs of texts that overlap to different degrees, with the true overlap."""
    dice = Random(7)
    for seed in range(number):
        left = some_words(seed, words)
        right = replaced(left, SHARES[seed % len(SHARES)], dice)
        yield " ".join(left), " ".join(right), naive_overlap(left, right)


# words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The end. Of it", "the END of — it!"),
        ("foo-bar foo_bar", "foo bar, foo bar"),
        ("na\u00efve", "nai\u0308ve"),
        ("hy\u00adphen zero\u200bwidth", "hyphen zerowidth"),
        ("我们 在。北京", "我们在北京"),
        ("ภาษาไทย", "ภาษา ไทย"),
        ("iPhone手机", "iphone 手机"),
    ],
)
def test_what_a_reader_does_not_hear_is_no_difference(left, right):
    assert word_hashes(left) == word_hashes(right)


@pytest.mark.parametrize(
    ("left", "right"), [("हिन्दी में", "हिनदी में"), ("résumé", "resume"), ("一二", "二一"), ("1 2", "12")]
)
def test_what_a_reader_hears_is_a_difference(left, right):
    assert word_hashes(left) != word_hashes(right)


def test_words_and_characters_are_counted_as_a_reader_would():
    assert len(word_hashes("It's 3.5 हिन्दी – 中文字!")) == 8 * (2 + 2 + 1 + 3)


def test_texts_are_read_up_to_a_limit():
    text = " ".join(map(str, range(MAX_TOKENS)))
    assert word_hashes(text) == word_hashes(text + " and more")
    assert len(word_hashes("字" * 3 * MAX_TOKENS)) == 8 * MAX_TOKENS


# runs of four words


@given(
    st.lists(st.sampled_from("abcd"), min_size=20, max_size=60),
    st.lists(st.sampled_from("abcd"), min_size=20, max_size=60),
)
def test_the_overlap_of_runs_is_that_of_sets_of_four_words(left, right):
    assert jaccard(runs(" ".join(left)), runs(" ".join(right))) == pytest.approx(naive_overlap(left, right))


def test_runs_of_other_words_never_meet():
    """A quarter of a million runs of a small vocabulary: the same words in many orders, and repeated."""
    texts = [Random(seed).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9_000) for seed in range(30)]
    true = {tuple(words[place : place + 4]) for words in texts for place in range(len(words) - 3)}
    assert len(np.unique(np.concatenate([runs(" ".join(words)) for words in texts]))) == len(true)


def test_shingles_say_the_true_overlap():
    method = Shingles()
    for left, right, overlap in _pairs(30):
        assert method.similarity(method.fingerprint(left), method.fingerprint(right)) == pytest.approx(overlap)


# min-hash


@pytest.mark.parametrize(("words", "error"), [(40, 0.012), (400, 0.01), (3000, 0.012)])
def test_minhash_estimates_the_overlap_far_better_than_a_hundred_permutations_would(words, error):
    """Root mean square over 200 pairs; of 100 permutations it is .03 at .9, and .05 at .5."""
    method = MinHash()
    errors = [method.similarity(*map(method.fingerprint, pair)) - overlap for *pair, overlap in _pairs(200, words)]
    assert np.sqrt(np.mean(np.square(errors))) <= error
    assert abs(np.mean(errors)) <= error / 3


def test_minhash_is_exact_to_the_run_for_small_texts_that_differ_little():
    method = MinHash()
    words = [f"word{n}" for n in range(63)]
    changed = [*words[:30], "other", *words[31:]]
    assert method.similarity(*(method.fingerprint(" ".join(text)) for text in (words, changed))) == 56 / 64


def test_minhash_still_estimates_where_texts_are_so_long_and_different_that_the_sketch_is_full():
    method, dice = MinHash(), Random(8)
    for share in (0.04, 0.1, 0.3, 1.0):
        left = some_words(9, 15_000)
        right = replaced(left, share, dice)
        found = method.similarity(*(method.fingerprint(" ".join(text)) for text in (left, right)))
        assert found == pytest.approx(naive_overlap(left, right), abs=0.15)


def test_minhash_keys_are_shared_as_often_as_banding_promises():
    """1 − (1 − J^8)^6, summed over pairs of all kinds, within four standard deviations."""
    method = MinHash()
    shared, expected, variance = 0, 0.0, 0.0
    for left, right, overlap in _pairs(700):
        keys = [method.keys(method.fingerprint(text)) for text in (left, right)]
        chance = 1 - (1 - overlap**ROWS) ** BANDS
        shared += any(a == b for a, b in zip(*keys, strict=True))
        expected, variance = expected + chance, variance + chance * (1 - chance)
    assert abs(shared - expected) <= 4 * variance**0.5


def test_minhash_finds_near_duplicates_and_nothing_else():
    """The goal: precision .99 at recall .95 where the overlap is .9 or more."""
    method = MinHash()
    found, near = [], []
    for left, right, overlap in _pairs(700):
        prints = method.fingerprint(left), method.fingerprint(right)
        met = not set(method.keys(prints[0])).isdisjoint(method.keys(prints[1])) and same(method, *prints)
        found += [overlap] * met
        near += [met] * (overlap >= 0.9)
    assert sum(near) >= 0.95 * len(near)
    assert sum(overlap >= 0.9 for overlap in found) >= 0.99 * len(found)


def test_minhash_fingerprints_are_the_same_in_every_process_and_version():
    """They are kept for years: changing the function needs a new name."""
    found = MinHash().fingerprint(" ".join(f"word{n % 37} слово{n % 11} 字" for n in range(100)))
    assert blake2b(found, digest_size=8).hexdigest() == "21fcc58cce120307"


# super-shingles


def test_supershingles_agree_as_often_as_their_permutations_promise():
    method = SuperShingles()
    shared, expected, variance = 0, 0.0, 0.0
    for left, right, overlap in _pairs(400):
        keys = [method.keys(method.fingerprint(text)) for text in (left, right)]
        shared += sum(a == b for a, b in zip(*keys, strict=True))
        expected, variance = expected + 6 * overlap**14, variance + 6 * overlap**14 * (1 - overlap**14)
    assert abs(shared - expected) <= 5 * variance**0.5


# SimHash


@given(st.integers(0, 30), st.sets(st.integers(0, 63), max_size=3))
def test_simhashes_that_differ_in_three_bits_share_a_key(seed, flipped):
    method = near_method("simhash")
    left = method.fingerprint(" ".join(some_words(seed)))
    right = (int.from_bytes(left) ^ sum(1 << bit for bit in flipped)).to_bytes(8)
    assert not set(method.keys(left)).isdisjoint(method.keys(right))
    assert same(method, left, right)


# statistics, I-Match, top-K


def test_statistics_count_texts_not_words_however_many_are_counted_at_a_time(monkeypatch):
    texts = [" ".join(some_words(seed, 50)) for seed in range(60)]
    counted = Counter(word for text in texts for word in set(text.split()))
    at_once = gather(texts)
    monkeypatch.setattr(statistics_module, "_PENDING", 100)
    found = gather(texts)
    assert found.texts == at_once.texts == 60
    assert found.words.tolist() == at_once.words.tolist()
    assert found.counts.tolist() == at_once.counts.tolist()
    hashes = np.frombuffer(word_hashes(" ".join(counted)), "<u8")
    assert found.idf(hashes) == pytest.approx([np.log(61 / number) for number in counted.values()])


def test_statistics_of_nothing_are_there_and_the_lexicon_is_empty():
    assert gather([]).texts == 0
    assert len(gather([]).lexicon()) == 0
    assert method_of("imatch", gather([])).fingerprint(" ".join(some_words(1))) == b""


def test_the_lexicon_has_neither_the_frequent_nor_the_rarest_words():
    lexicon = set(STATISTICS.lexicon().tolist())
    by_count = dict(zip(STATISTICS.words.tolist(), STATISTICS.counts.tolist(), strict=True))
    inside = [number for word, number in by_count.items() if word in lexicon]
    assert inside
    assert min(by_count.values()) < min(inside)
    assert max(inside) < max(by_count.values())


@pytest.mark.parametrize("name", ["imatch", "imatch-lexicons", "topk"])
def test_methods_by_words_ignore_their_order(name):
    words = some_words(1)
    method = method_of(name, STATISTICS)
    assert method.fingerprint(" ".join(words)) == method.fingerprint(" ".join(sorted(words)))


def test_imatch_ignores_words_outside_the_lexicon_and_minds_every_word_inside():
    method = method_of("imatch", STATISTICS)
    lexicon = set(STATISTICS.lexicon().tolist())
    words = some_words(1)
    absent = [word for word in vocabulary("English") if word not in words]
    inside = [word for word in absent if int.from_bytes(word_hashes(word), "little") in lexicon]
    text = " ".join(words)
    assert method.fingerprint(text) == method.fingerprint(text + " neverseen")
    assert method.fingerprint(text) != method.fingerprint(f"{text} {inside[0]}")


def test_lexicons_lack_30_to_40_percent_of_the_words_each_and_other_ones():
    words = np.frombuffer(word_hashes(" ".join(vocabulary("English"))), "<u8")
    has = membership(words)
    assert has[:, 0].all()
    lacking = 1 - has[:, 1:].mean(axis=0)
    assert lacking.min() > 0.29
    assert lacking.max() < 0.41
    both = (~has[:, 1:]).T.astype(int) @ (~has[:, 1:]).astype(int) / len(words)
    np.fill_diagonal(both, 1 / 9)
    assert both.max() < 0.16


def test_a_changed_word_leaves_about_a_third_of_the_lexicons_alone():
    method = method_of("imatch-lexicons", STATISTICS)
    lexicon = set(STATISTICS.lexicon().tolist())
    words = some_words(1)
    new = [word for word in vocabulary("English") if word not in words]
    inside = [word for word in new if int.from_bytes(word_hashes(word), "little") in lexicon][:40]
    left = method.fingerprint(" ".join(words))
    agreeing = [method.similarity(left, method.fingerprint(" ".join([*words, word]))) for word in inside]
    assert len(inside) == 40
    assert np.mean(agreeing) == pytest.approx(0.33, abs=0.03)
    assert min(agreeing) > 5 / LEXICONS


def test_top_k_minds_telling_words_and_not_a_word_that_is_written_once():
    method = method_of("topk", STATISTICS)
    telling = [f"telling{n}" for n in range(30)]
    words = some_words(1) + telling * 5
    text = " ".join(words)
    assert method.fingerprint(text) == method.fingerprint(text + " aside")
    assert method.fingerprint(text) != method.fingerprint(text + " other" * 9)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_changed_sentence_in_a_long_page_is_a_near_duplicate_in_every_script(script):
    method = MinHash()
    words, other = some_words(1, 1200, script), some_words(2, 1200, script)
    changed = [*words[:600], *other[:25], *words[625:]]
    assert same(method, *(method.fingerprint(text_of(text, script)) for text in (words, changed)))
