"""Near-duplicates among short texts: what is kept of a post beside its runs of four words.

In a post of 40 words, one other word breaks a tenth of the runs of four, so copies of it were never found. A lower
threshold joins pages of one template that differ in the one word they are about. What parts the two is the title: two
short texts are the same if they have the same title, and one has nearly all pairs of neighbouring words of the other,
and little more.

Numbers are names: "5 degrees" and "8 degrees" are two reports. So two short texts of which each has a number that the
other lacks are never the same, however many words they share; nor are two very short ones with different titles.
Datelines and bylines do not count.

What is kept of a post, beside its keys: a hash of its title, and 16 bits of each number and of each pair of words. All
of it, so that comparing is exact; a post has few words.
"""

from __future__ import annotations

import re
from struct import unpack_from

import msgspec
import numpy as np
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from gossamer.dedup.near.runs import Numbers, distinct, hash_runs
from gossamer.dedup.passing import unsigned
from gossamer.dedup.words import hash_word, word_hashes, words

KEYS = 4
ROWS = 2
"""Permutations per key. Of two posts with one title that differ as much as they may, 93 % share a key."""
MOST_WORDS = 160
"""Words up to which a text is a post: in longer ones, one other word breaks fewer than a tenth of the runs of four."""
_LEAST_CHARS = 50
"""As in `dedup.exact`: less is alike everywhere."""
_MOST_CHARS = 4_000
_LOST = 2
"""Pairs of words of the shorter text that the longer one may lack: one word may be another."""
_OF_EACH_LOST = 12
"""Pairs that the shorter text must have more than for each one lost: in 20 words, another word is another post."""
_SHARE_MORE = 4
"""The longer text may have a fourth of the shorter one's pairs more: a line or two."""
_TITLED = 60
"""Pairs below which a text with another title is another post."""
_NUMBER = re.compile(r"\w{0,30}\d(?:[\w.,:/-]*\w)?")
"""A word with a digit, whole: versions, amounts and clocks that share some of their digits are not the same."""
_HEAD = 8 * KEYS + 8 + 1
_MULTIPLIERS = np.array([xxh3_64_intdigest(b"post %d" % n) | 1 for n in range(KEYS * ROWS)], np.uint64)


class Post(msgspec.Struct, frozen=True):
    """What is kept of a post, taken apart."""

    title: bytes
    numbers: frozenset[int]
    pairs: frozenset[int]


def post_print(title: str, text: str) -> bytes:
    """Keys, hash of the title, number of numbers, numbers, pairs of words; `b""` where the text is no post: it has no
    title, hardly any words, or many."""
    if len(text) > _MOST_CHARS:
        return b""
    plain = unsigned(text)
    found = np.frombuffer(word_hashes(plain), "<u8")
    if (
        len("".join(words(plain))) < _LEAST_CHARS
        or not 2 < len(found) <= MOST_WORDS
        or not (name := word_hashes(title))
    ):
        return b""
    pairs = distinct(hash_runs(found, 2))
    numbers = distinct(np.frombuffer(b"".join(map(hash_word, _NUMBER.findall(plain.lower()))), "<u8"))[:255]
    return b"".join((_keys(pairs, name), xxh3_64_digest(name), bytes([len(numbers)]), _short(numbers), _short(pairs)))


def post_keys(kept: bytes) -> list[int]:
    """Numbers of which near-duplicates very likely share one."""
    return list(unpack_from(f"<{KEYS}q", kept)) if kept else []


def post_of(kept: bytes) -> Post:
    """A post that was kept."""
    split = _HEAD + 2 * kept[_HEAD - 1]
    numbers, pairs = (frozenset(np.frombuffer(part, "<u2").tolist()) for part in (kept[_HEAD:split], kept[split:]))
    return Post(kept[8 * KEYS : _HEAD - 1], numbers, pairs)


def are_two(left: Post, right: Post) -> bool:
    """Whether two posts are different whatever words they share."""
    if left.numbers - right.numbers and right.numbers - left.numbers:
        return True
    return left.title != right.title and min(len(left.pairs), len(right.pairs)) < _TITLED


def are_one(left: Post, right: Post) -> bool:
    """Whether two posts that may be the same are."""
    least, most = sorted((len(left.pairs), len(right.pairs)))
    lost = least - len(left.pairs & right.pairs)
    is_like = lost <= _LOST and lost * _OF_EACH_LOST < least and (most - least) * _SHARE_MORE <= least
    return is_like and left.title == right.title and (left.numbers == right.numbers or lost < _LOST)


def overlap_of(left: Post, right: Post) -> float:
    """The share of pairs that both have, 0 to 1."""
    return len(left.pairs & right.pairs) / len(left.pairs | right.pairs)


def _keys(pairs: Numbers, name: bytes) -> bytes:
    """The title is part of each key, so that a sidebar in common makes no candidates."""
    least: Numbers = np.multiply.outer(_MULTIPLIERS, pairs).min(axis=1)
    rows = least.astype("<u8").tobytes()
    return b"".join(xxh3_64_digest(name + rows[at : at + 8 * ROWS]) for at in range(0, len(rows), 8 * ROWS))


def _short(numbers: Numbers) -> bytes:
    return np.unique((numbers >> np.uint64(16)).astype("<u2")).tobytes()
