"""How much of each block of a page is in the text that was cut out by hand.

Blocks and truth are aligned as sequences of words (longest common subsequence), which
also tells two equal short blocks apart by what stands around them. Text that stands
elsewhere in the truth than on the page is found by runs of five words.
"""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from _extraction_data import words

_RUN = 5
_ALIGNED = 0.6
"""Share of a long block that must align for the alignment to count: stray words align anywhere."""
_PAGE_WORDS, _TRUTH_WORDS = 60_000, 40_000


def block_shares(texts: list[str], truth: str) -> tuple[list[float], list[int]]:
    """For each block the share of its words that is main text, and its number of words."""
    numbers: dict[str, int] = {}
    blocks = [[numbers.setdefault(word, len(numbers)) for word in words(text)] for text in texts]
    wanted = [numbers.setdefault(word, len(numbers)) for word in words(truth)]
    sizes = [len(block) for block in blocks]
    if not wanted:
        return [0.0] * len(texts), sizes
    aligned = _aligned([word for block in blocks for word in block], wanted)
    runs = {tuple(wanted[i : i + _RUN]) for i in range(len(wanted) - _RUN + 1)}
    shares = []
    start = 0
    for block in blocks:
        hits = sum(aligned[start : start + len(block)])
        start += len(block)
        shares.append(_share(block, hits, runs))
    return shares, sizes


def _aligned(page: list[int], truth: list[int]) -> bytearray:
    marks = bytearray(len(page))
    for piece in LCSseq.opcodes(page[:_PAGE_WORDS], truth[:_TRUTH_WORDS]):
        if piece.tag == "equal":
            marks[piece.src_start : piece.src_end] = b"\1" * (piece.src_end - piece.src_start)
    return marks


def _share(block: list[int], hits: int, runs: set[tuple[int, ...]]) -> float:
    size = len(block)
    if size <= _RUN:
        return hits / size if size else 0.0
    marks = bytearray(size)
    for start in range(size - _RUN + 1):
        if tuple(block[start : start + _RUN]) in runs:
            marks[start : start + _RUN] = b"\1" * _RUN
    return max(sum(marks), hits if hits > _ALIGNED * size else 0) / size
