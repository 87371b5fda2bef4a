"""Numbers that tell a block of main text from furniture, for all blocks of a page at once.

Every feature is a row over the blocks, made of running sums and gathers in NumPy: a page
costs a fixed number of array operations, and no Python per block but for a look at its
first words. Small pages cost little else than those operations, so rows that are made
alike are made together, and all are written where the models read them.

`write_first` gives what the first model sees; `write_second` what its verdicts about a
block's neighbours, ancestors and lookalikes add for the second. `FIRST` and `SECOND` are
the names of the rows, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain, pairwise, repeat
from math import log1p

import numpy as np

from gossamer.compiled import twin
from gossamer.parse.text.measures import LEVELS, Floats, Integers, Measures, group_means, ranges, running_sums, total
from gossamer.parse.text.tags import FACTS
from gossamer.parse.title import letters

PAGE_STATISTICS = 6
"""The last rows of `SECOND`, which are the same for all blocks of a page."""
WORDS_CHARS = 80
"""Characters of a block whose words are looked up."""
_ALIKE_CHARS = 200
"""Blocks are the same when they begin with the same so many characters."""
_STATED_CHARS = 60
_CUT_OFF = ("…", "...", "[…]", "[...]")
"""How a teaser ends."""
_NEAR = 3
"""Blocks before and after one that are near it."""
_SHARES = np.array([[0.4], [0.7], [0.9]])
"""Of the running text that an element holds to be the centre of the page."""
_REACHES = np.array([[2], [5], [12], [30]])

_OWN = (
    *("chars", "words", "link density", "links", "unlinked words", "word length", "upper", "digits", "others", "ends"),
    *("ends per word", "commas", "last char", "first char"),
)
_WORDS = (
    *("word score", "word low", "title overlap", "title cover", "repeat", "repeats", "in title", "cut off"),
    "stated",
)
_PLACE = (
    *("index", "index share", "index from end", "chars before", "heading", "since heading", "last heading"),
    *("from h1", "h1s so far", "headings so far", "headings", "page blocks", "page chars", "page density"),
)
_HELD = (
    *("score", "tag low", "tag high", "twins", "held", "held share", "held density"),
    *("held blocks", "held words", "held ends", "held headlines"),
)
_HELD_LOGS = np.array([_HELD.index(name) for name in ("twins", "held", "held blocks")])
_ELEMENT = (
    *("depth", "low", "sum"),
    *(f"{name} {level}" for level in range(3) for name in _HELD),
    "sum 2",
    *(f"{name} {level}" for level in range(3, LEVELS) for name in _HELD),
    "sum 5",
)
_LOOK = ("alike", "alike words", "alike density", "alike share")
_CENTRE = (
    *("off centre 0.4", "off centre 0.7", "centre share", "off centre 0.9"),
    *("page good", "good before", "good near"),
)
_OFFSETS = np.array([0, 1, 3])
_COPIED = ("low", "word score", "score 0", "chars", "sum", "link density", "heading", "upper")
_STEPS = (-2, -1, 1, 2)
_NEIGHBOUR = tuple(f"{name} at {step:+}" for step in _STEPS for name in _COPIED)
_OWN_FACTS = np.array([FACTS.index(name) for name in ("div", "p", "td", "li", "button")])
_FACT = (*(f"in {name}" for name in FACTS), *(f"is {FACTS[fact]}" for fact in _OWN_FACTS))
_PARTS = (_OWN, _WORDS, _PLACE, _ELEMENT, _LOOK, _CENTRE, _NEIGHBOUR, _FACT)
FIRST = tuple(chain.from_iterable(_PARTS))
_SLICES = [slice(*borders) for borders in pairwise(accumulate(map(len, _PARTS), initial=0))]
_LOGARITHMS = (
    *("chars", "words", "links", "unlinked words", "ends", "commas", "index", "index from end"),
    *("headings so far", "headings", "page blocks", "page chars", "alike", "page good", "good near"),
)
_LOGS = np.array([FIRST.index(name) for name in _LOGARITHMS])
_COPIED_ROWS = np.array([FIRST.index(name) for name in _COPIED])

_VERDICT_STEPS = (-3, -2, -1, 1, 2, 3)
SECOND = (
    "p",
    *(f"p at {step:+}" for step in _VERDICT_STEPS),
    *(f"p {what} {reach}" for reach in _REACHES.flat for what in ("words", "mean")),
    *(f"p {what} {level}" for level in range(LEVELS + 1) for what in ("in", "share")),
    *("p alike", "p alike mean", "p before", "p rank"),
    *("p total", "p whole", "p best", "p doubt", "p sure", "p sure blocks"),
)
_LAYOUT = (tuple(accumulate(map(len, _PARTS), initial=0)), len(SECOND), LEVELS, len(_HELD), len(_COPIED))
_COMPILED = twin("features", _LAYOUT)


def write_first(rows: Floats, m: Measures, title: str, word_scores: Mapping[str, float], stated: str = "") -> None:
    """What is known about blocks before any verdict."""
    if _COMPILED is not None and m.compiled is not None:
        _write_first_compiled(rows, m, title, word_scores)
        rows[_SLICES[1]][-1] = _stated(m.texts, stated) if stated else -1
        return
    own, words, place, element, look, centre, neighbour, fact = [rows[part] for part in _SLICES]
    _write_own(own, m)
    _write_words(words, m, title, word_scores)
    words[-1] = _stated(m.texts, stated) if stated else -1
    _write_place(place, m)
    held = ranges(m.running_sums, m.first, m.end)
    _write_element(element, m, held)
    _write_look(look, m)
    _write_centre(centre, m, held[-1])
    rows[_LOGS] = np.log1p(rows.take(_LOGS, axis=0))
    _write_shifted(neighbour, rows.take(_COPIED_ROWS, axis=0), _STEPS)
    _write_fact(fact, m)


def _write_first_compiled(rows: Floats, m: Measures, title: str, word_scores: Mapping[str, float]) -> None:
    raw = _COMPILED.write_raw(rows, m.compiled, m.texts, title, word_scores, _CUT_OFF, _LOGS)
    np.log1p(raw, out=raw)
    _COMPILED.write_logs(rows, m.compiled, m.page.tags, raw, _LOGS, _COPIED_ROWS, _OWN_FACTS)


def write_second(rows: Floats, m: Measures, verdicts: Floats) -> None:
    """What the first verdicts say about the surroundings of each block."""
    if _COMPILED is not None and m.compiled is not None:
        order = (-verdicts).argsort(kind="stable")
        statistics = _COMPILED.write_second(rows, m.compiled, verdicts, order)
        rows[-PAGE_STATISTICS:] = np.array(_page_statistics(*statistics))[:, None]
        return
    weights = m.words + np.float32(0.5)
    weighed = verdicts * weights
    whole = max(total(weighed), 1e-6)
    rows[0] = verdicts
    row = 1 + len(_VERDICT_STEPS)
    _write_shifted(rows[1:row], verdicts[None], _VERDICT_STEPS)
    running = running_sums([weighed, weights, verdicts])
    start, stop = _windows(m, _REACHES)
    held, size, summed = ranges(running, start, stop)
    pairs = rows[row : row + 2 * len(_REACHES)].reshape(len(_REACHES), 2, m.count)
    pairs[:, 0] = held / size
    pairs[:, 1] = summed / (stop - start)
    row += 2 * len(_REACHES)
    held, size, _ = ranges(running, m.first, m.end)
    per_element = np.array([held / np.maximum(size, 0.5), held / whole], np.float32)
    levels = rows[row : row + 2 * (LEVELS + 1)].reshape(LEVELS + 1, 2, m.count)
    levels[:] = per_element.take(m.around, axis=1).swapaxes(0, 1)
    row += 2 * (LEVELS + 1)
    rows[row] = group_means(m.look_groups, weighed, weights)
    rows[row + 1] = group_means(m.look_groups, verdicts)
    rows[row + 2] = (np.add.accumulate(weighed) - weighed) / whole
    rows[row + 3, (-verdicts).argsort(kind="stable")] = m.index / m.count
    sure = verdicts > 0.5
    statistics = _page_statistics(
        whole, total(weights), float(verdicts.max()), total(verdicts * (1 - verdicts) * weights), total(weights * sure),
        int(np.count_nonzero(sure)),
    )  # fmt: skip
    rows[row + 4 :] = np.array(statistics)[:, None]


def _page_statistics(
    taken: float, everything: float, best: float, doubt: float, sure: float, blocks: int
) -> list[float]:
    """How much of the page the first verdicts take, and how sure they are: words weighed by verdict, all words, the
    best verdict, words by doubt, words of sure blocks and how many these are."""
    return [log1p(taken), taken / everything, best, doubt / everything, sure / everything, log1p(blocks)]


def _write_own(rows: Floats, m: Measures) -> None:
    sample = np.maximum(m.sampled, 1)
    rows[0] = m.chars
    rows[1] = m.words
    rows[2] = m.density
    rows[3] = m.links
    rows[4] = m.words * (1 - m.density)
    rows[5] = m.chars / m.words
    np.divide(m.shown, sample, out=rows[6:9])
    rows[9] = m.ends
    rows[10] = m.ends / np.maximum(m.words, 1)
    rows[11] = m.commas
    rows[12] = m.last_kind
    rows[13] = m.first_kind


def _write_words(rows: Floats, m: Measures, title: str, scores: Mapping[str, float]) -> None:
    titled = frozenset(title[:300].lower().split())
    lowered = [text[:WORDS_CHARS].lower() for text in m.texts]
    beginnings = [text.split() for text in lowered]
    sizes = np.array(list(map(len, beginnings)))
    starts = np.add.accumulate(sizes) - sizes
    found = np.array(list(map(scores.get, chain.from_iterable(beginnings), repeat(0.0))))
    rows[0] = np.bincount(m.index.repeat(sizes), found) / sizes
    rows[1] = np.minimum.reduceat(found, starts)
    common = np.array(list(map(len, map(titled.intersection, beginnings))))
    rows[2] = common / sizes
    rows[3] = common / max(len(titled), 1)
    keys = [text[:_ALIKE_CHARS] for text in m.texts]
    rows[4] = 0
    rows[5] = 1
    named = " ".join(title[:300].lower().split())
    rows[6] = [text in named for text in lowered]
    rows[7] = [text.endswith(_CUT_OFF) for text in m.texts]
    if len(set(keys)) < len(keys):
        rows[4], rows[5] = _repeats(keys)


def _stated(texts: list[str], stated: str) -> list[bool]:
    """For each text whether it begins like some place of the text that the page states."""
    known = letters(stated)
    return [letters(text[:_STATED_CHARS]) in known for text in texts]


def _repeats(keys: list[str]) -> tuple[list[int], list[int]]:
    """For each key how often it stood before, and how often it stands anywhere."""
    seen = dict.fromkeys(keys, 0)
    before = []
    for key in keys:
        number = seen[key]
        seen[key] = number + 1
        before.append(number)
    return before, [seen[key] for key in keys]


def _write_place(rows: Floats, m: Measures) -> None:
    count, index, levels = m.count, m.index, m.heading_levels
    heading = levels > 0
    first_level = levels == 1
    last = np.maximum.accumulate(np.where(heading, index, -1))
    before = last < 0
    rows[0] = index
    rows[1] = index / count
    rows[2] = count - 1 - index
    rows[3] = (np.add.accumulate(m.chars) - m.chars) / m.total
    rows[4] = levels
    rows[5] = np.where(before, -1, index - last)
    rows[6] = np.where(before, 7, levels[last])
    first = first_level.argmax()
    rows[7] = (index - first) / count if first_level[first] else -2
    rows[8] = np.add.accumulate(first_level)
    so_far = np.add.accumulate(heading)
    rows[9] = so_far
    rows[10] = so_far[-1]
    rows[11] = count
    rows[12] = m.total
    rows[13] = m.running_sums[1, -1] / m.total


def _write_element(rows: Floats, m: Measures, held: Floats) -> None:
    """What the elements around a block hold and are called."""
    chars, linked, words, ends, headlines, _ = held
    blocks = np.maximum(m.end - m.first, 1).astype(np.float32)
    table = np.empty((len(_HELD), len(blocks)), np.float32)
    table[:3] = m.page.tags.scores
    table[3] = m.twins
    table[4] = chars
    table[5] = chars / np.float32(m.total)
    table[6] = linked / np.maximum(chars, 1)
    table[7] = blocks
    table[8] = words / blocks
    table[9] = ends / np.maximum(words, 1)
    table[10] = headlines / blocks
    table[_HELD_LOGS] = np.log1p(table.take(_HELD_LOGS, axis=0))
    around = table.take(m.around[:LEVELS], axis=1).swapaxes(0, 1)
    rows[0] = m.depths[m.holders]
    rows[1] = m.lows[m.holders]
    rows[2] = m.sums[m.holders]
    half = 3 * len(_HELD)
    rows[3 : 3 + half].reshape(3, len(_HELD), m.count)[:] = around[:3]
    rows[4 + half : -1].reshape(3, len(_HELD), m.count)[:] = around[3:]
    rows[3 + half] = m.sums[m.around[3]]
    rows[-1] = m.sums[m.around[LEVELS]]


def _write_look(rows: Floats, m: Measures) -> None:
    """Blocks in elements that look the same up to the body."""
    groups = m.look_groups
    counts = np.bincount(groups)
    chars = np.bincount(groups, m.chars)
    rows[0] = counts[groups]
    rows[1] = (np.bincount(groups, m.words) / counts)[groups]
    rows[2] = (np.bincount(groups, m.linked) / np.maximum(chars, 1))[groups]
    rows[3] = (chars / m.total)[groups]


def _write_centre(rows: Floats, m: Measures, held: Floats) -> None:
    """Where a block lies to the smallest elements that hold much, or nearly all, of the running text."""
    good = m.running_words
    whole = float(m.running_sums[-1, -1])
    size = (m.end - m.first) * 1000 - np.minimum(m.depths, 999)
    least = (_SHARES * whole - 1e-3).astype(np.float32)
    smallest = np.where(held >= least, size, np.inf).argmin(axis=1)
    start, stop = m.first[smallest], m.end[smallest]
    offset = (np.minimum(m.index - start[:, None], 0) + np.maximum(m.index - stop[:, None] + 1, 0)).astype(np.float32)
    rows[_OFFSETS] = np.copysign(np.log1p(np.abs(offset)), offset)
    rows[2] = (stop[1] - start[1]) / m.count
    rows[4] = whole
    rows[5] = (np.add.accumulate(good) - good) / max(whole, 1)
    rows[6] = ranges(m.running_sums[-1:], *_windows(m, _NEAR))


def _windows(m: Measures, reach: Integers | int) -> tuple[Integers, Integers]:
    """The first of the blocks within reach of each block, and one past the last."""
    return np.maximum(m.index - reach, 0), np.minimum(m.index + (reach + 1), m.count)


def _write_shifted(rows: Floats, values: Floats, steps: tuple[int, ...]) -> None:
    """For each step all values so many blocks further on; -1 beyond the ends."""
    height, count = values.shape
    reach = max(steps)
    padded = np.empty((height, count + 2 * reach), np.float32)
    padded[:, :reach] = padded[:, reach + count :] = -1
    padded[:, reach : reach + count] = values
    for number, step in enumerate(steps):
        rows[number * height : (number + 1) * height] = padded[:, reach + step : reach + step + count]


def _write_fact(rows: Floats, m: Measures) -> None:
    masks = np.array([m.page.tags.bits[m.holders], m.facts[m.holders]], "<i8")
    own, everywhere = np.unpackbits(masks.view(np.uint8).reshape(2, m.count, 8), axis=2, bitorder="little")
    rows[: len(FACTS)] = everywhere[:, : len(FACTS)].T
    rows[len(FACTS) :] = own[:, _OWN_FACTS].T
