"""Numbers that tell a block of main text from furniture, for all blocks of a page at once.

Every feature is a row over the blocks, made of running sums and gathers in NumPy: a page
costs a fixed number of array operations, and no Python per block but for a look at its
first words. `first_rows` is what the first model sees; `second_rows` is what its verdicts
about a block's neighbours, ancestors and lookalikes add for the second.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gossamer.parse.measures import Floats, Integers, Measures, group_means, ranges, shifted
from gossamer.parse.tags import FACTS

Rows = list[tuple[str, Floats]]
_LEVELS = 6
"""Elements around a block that are looked at, from the innermost."""
PAGE_STATISTICS = 6
"""The last rows of `second_rows`, which are the same for all blocks of a page."""
WORDS_CHARS = 80
"""Characters of a block whose words are looked up."""
_ALIKE_CHARS = 200
"""Blocks are the same when they begin with the same so many characters."""


def first_rows(m: Measures, title: str, word_scores: Mapping[str, float]) -> Rows:
    """What is known about blocks before any verdict."""
    rows = _own_rows(m)
    rows += _word_rows(m, title, word_scores)
    rows += _place_rows(m)
    rows += _element_rows(m)
    rows += _look_rows(m)
    rows += _centre_rows(m)
    rows += _neighbour_rows(dict(rows))
    rows += _fact_rows(m)
    return rows


def second_rows(m: Measures, verdicts: Floats) -> Rows:
    """What the first verdicts say about the surroundings of each block."""
    weights = m.words + np.float32(0.5)
    weighed = verdicts * weights
    total = max(float(weighed.sum()), 1e-6)
    rows: Rows = [("p", verdicts)]
    rows += [(f"p at {step:+}", shifted(verdicts, step)) for step in (-3, -2, -1, 1, 2, 3)]
    index = np.arange(m.count)
    for reach in (2, 5, 12, 30):
        start, stop = np.maximum(index - reach, 0), np.minimum(index + reach + 1, m.count)
        rows.append((f"p words {reach}", ranges(weighed, start, stop) / ranges(weights, start, stop)))
        rows.append((f"p mean {reach}", ranges(verdicts, start, stop) / (stop - start)))
    held, size = ranges(weighed, m.first, m.end), ranges(weights, m.first, m.end)
    node = m.holders
    for level in range(_LEVELS + 1):
        rows.append((f"p in {level}", held[node] / np.maximum(size[node], 0.5)))
        rows.append((f"p share {level}", held[node] / total))
        node = m.parents[node]
    rows.append(("p alike", group_means(m.look_groups, weighed, weights)))
    rows.append(("p alike mean", group_means(m.look_groups, verdicts, np.ones_like(verdicts))))
    rows.append(("p before", (np.cumsum(weighed) - weighed) / total))
    ranks = np.argsort(np.argsort(-verdicts, kind="stable"), kind="stable")
    rows.append(("p rank", (ranks / m.count).astype(np.float32)))
    sure = verdicts > 0.5
    everything = float(weights.sum())
    for name, value in (
        ("p total", np.log1p(total)),
        ("p whole", total / everything),
        ("p best", verdicts.max()),
        ("p doubt", (verdicts * (1 - verdicts) * weights).sum() / everything),
        ("p sure", weights[sure].sum() / everything),
        ("p sure blocks", np.log1p(sure.sum())),
    ):
        rows.append((name, np.full(m.count, value, np.float32)))
    return rows


def _own_rows(m: Measures) -> Rows:
    sample = np.maximum(m.sampled, 1)
    return [
        ("chars", np.log1p(m.chars)),
        ("words", np.log1p(m.words)),
        ("link density", m.density),
        ("links", np.log1p(m.links)),
        ("unlinked words", np.log1p(m.words * (1 - m.density))),
        ("word length", (sample - m.spaces) / (m.spaces + 1)),
        ("upper", m.upper / sample),
        ("digits", m.digits / sample),
        ("others", m.others / sample),
        ("ends", np.log1p(m.ends)),
        ("ends per word", m.ends / np.maximum(m.words, 1)),
        ("commas", np.log1p(m.commas)),
        ("last char", m.last_kind),
        ("first char", m.first_kind),
    ]


def _word_rows(m: Measures, title: str, scores: Mapping[str, float]) -> Rows:
    titled = frozenset(title[:300].lower().split())
    beginnings = [text[:WORDS_CHARS].lower().split() for text in m.texts]
    sizes = np.array([len(words) for words in beginnings], np.float32)
    get = scores.get
    found = [[get(word, 0.0) for word in words] for words in beginnings]
    common = np.array([len(titled.intersection(words)) for words in beginnings], np.float32)
    nths = []
    seen: dict[str, int] = {}
    keys = [text[:_ALIKE_CHARS] for text in m.texts]
    for key in keys:
        nth = seen.get(key, 0)
        seen[key] = nth + 1
        nths.append(nth)
    return [
        ("word score", np.array(list(map(sum, found)), np.float32) / sizes),
        ("word low", np.array(list(map(min, found)), np.float32)),
        ("title overlap", common / sizes),
        ("title cover", common / max(len(titled), 1)),
        ("repeat", np.array(nths, np.float32)),
        ("repeats", np.array([seen[key] for key in keys], np.float32)),
    ]


def _place_rows(m: Measures) -> Rows:
    count = m.count
    index = np.arange(count, dtype=np.float32)
    levels = m.heading_levels
    heading = levels > 0
    last = np.maximum.accumulate(np.where(heading, index, -1))
    behind = levels[np.maximum(last, 0).astype(np.int64)]
    first = np.flatnonzero(levels == 1)
    return [
        ("index", np.log1p(index)),
        ("index share", index / count),
        ("index from end", np.log1p(count - 1 - index)),
        ("chars before", (np.cumsum(m.chars) - m.chars) / m.total),
        ("heading", levels),
        ("since heading", np.where(last < 0, -1, index - last)),
        ("last heading", np.where(last < 0, 7, behind)),
        ("from h1", (index - first[0]) / count if len(first) else np.full(count, -2)),
        ("h1s so far", np.cumsum(levels == 1)),
        ("headings so far", np.log1p(np.cumsum(heading))),
        ("headings", np.full(count, np.log1p(heading.sum()))),
        ("page blocks", np.full(count, np.log1p(count))),
        ("page chars", np.full(count, np.log1p(m.total))),
        ("page density", np.full(count, m.linked.sum() / m.total)),
    ]


def _element_rows(m: Measures) -> Rows:
    """What the elements around a block hold and are called."""
    chars, linked, words, ends = (ranges(v, m.first, m.end) for v in (m.chars, m.linked, m.words, m.ends))
    blocks = np.maximum(m.end - m.first, 1).astype(np.float32)
    tags = m.page.tags
    per_element = [
        ("score", np.array([tag.score for tag in tags], np.float32)),
        ("tag low", np.array([tag.low for tag in tags], np.float32)),
        ("tag high", np.array([tag.high for tag in tags], np.float32)),
        ("twins", np.log1p(m.twins)),
        ("held", np.log1p(chars)),
        ("held share", chars / np.float32(m.total)),
        ("held density", linked / np.maximum(chars, 1)),
        ("held blocks", np.log1p(blocks)),
        ("held words", words / blocks),
        ("held ends", ends / np.maximum(words, 1)),
    ]
    sums = np.array(m.page.sums, np.float32)
    rows: Rows = [
        ("depth", m.depths[m.holders].astype(np.float32)),
        ("low", np.array(m.page.lows, np.float32)[m.holders]),
        ("sum", sums[m.holders]),
    ]
    table = np.array([row for _, row in per_element], np.float32)
    node = m.holders
    for level in range(_LEVELS):
        gathered = table[:, node]
        rows += [(f"{name} {level}", row) for (name, _), row in zip(per_element, gathered, strict=True)]
        node = m.parents[node]
        if level in (2, 5):
            rows.append((f"sum {level}", sums[node]))
    return rows


def _look_rows(m: Measures) -> Rows:
    """Blocks in elements that look the same up to the body."""
    groups = m.look_groups
    counts = np.bincount(groups)
    chars = np.bincount(groups, m.chars)
    return [
        ("alike", np.log1p(counts)[groups]),
        ("alike words", (np.bincount(groups, m.words) / counts)[groups]),
        ("alike density", (np.bincount(groups, m.linked) / np.maximum(chars, 1))[groups]),
        ("alike share", (chars / m.total)[groups]),
    ]


def _centre_rows(m: Measures) -> Rows:
    """Where a block lies to the smallest elements that hold much, or nearly all, of the running text."""
    good = m.running_words
    held = ranges(good, m.first, m.end)
    total = float(good.sum())
    index = np.arange(m.count)
    size = (m.end - m.first) * 1000 - np.minimum(m.depths, 999)
    rows: Rows = []
    for share in (0.4, 0.7, 0.9):
        enough = np.flatnonzero(held >= share * total - 1e-3)
        smallest = enough[np.argmin(size[enough])]
        start, stop = int(m.first[smallest]), int(m.end[smallest])
        offset = np.minimum(index - start, 0) + np.maximum(index - stop + 1, 0)
        rows.append((f"off centre {share}", np.sign(offset) * np.log1p(np.abs(offset))))
        if share == 0.7:
            rows.append(("centre share", np.full(m.count, (stop - start) / m.count)))
    running = np.cumsum(good)
    near = ranges(good, np.maximum(index - 3, 0), np.minimum(index + 4, m.count))
    rows.append(("page good", np.full(m.count, np.log1p(total))))
    rows.append(("good before", (running - good) / max(total, 1)))
    rows.append(("good near", np.log1p(near)))
    return rows


_NEIGHBOURS = ("low", "word score", "score 0", "chars", "sum", "link density", "heading", "upper")


def _neighbour_rows(known: Mapping[str, Floats]) -> Rows:
    table = np.array([known[name] for name in _NEIGHBOURS], np.float32)
    rows: Rows = []
    for step in (-2, -1, 1, 2):
        near = shifted(table, step)
        rows += [(f"{name} at {step:+}", row) for name, row in zip(_NEIGHBOURS, near, strict=True)]
    return rows


def _fact_rows(m: Measures) -> Rows:
    everywhere = _bits(np.array([m.page.facts[holder] for holder in m.page.holders], np.int64))
    own = _bits(np.array([m.page.tags[holder].bits for holder in m.page.holders], np.int64))
    rows: Rows = [(f"in {name}", row) for name, row in zip(FACTS, everywhere, strict=True)]
    rows += [(f"is {name}", own[FACTS.index(name)]) for name in ("div", "p", "td", "li", "button")]
    return rows


def _bits(masks: Integers) -> Floats:
    return ((masks >> np.arange(len(FACTS))[:, None]) & 1).astype(np.float32)
