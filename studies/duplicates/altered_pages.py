"""Pages against altered copies of themselves: what each method still finds, by kind and amount of change.

Collections of real near duplicates have few pairs of each overlap; altered copies have as many as one likes, from
nearly the same to not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import msgspec

from gossamer.dedup.near.contract import OVERLAP, NearMethod
from gossamer.dedup.near.runs import runs
from studies.duplicates.methods.shingles import jaccard
from studies.duplicates.near_duplicates import (
    ALMOST,
    UNRELATED,
    Judgement,
    Texts,
    is_found,
    per_million_pairs,
    sharing,
)

WAYS = ("replaced", "deleted", "inserted", "moved")
SHARES = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
MIN_WORDS = 200
"""Words a page must have to be altered: half a percent of it is one."""
_BLOCK = 20
"""Words in a block that is moved."""


class Trial(msgspec.Struct, frozen=True):
    """One page against one altered copy."""

    way: str
    share: float
    """Of the words that were changed."""
    overlap: float
    found_by: frozenset[str]
    """Names of the methods that called the two the same."""


def altered(words: list[str], others: list[str], way: str, share: float, dice: Random) -> list[str]:
    """A page of which a share of the words is changed in one way; new words are those of another page."""
    number = round(share * len(words))
    if way == "moved":
        return _moved(words, round(number / _BLOCK + dice.random() - 0.5), dice)
    places = set(dice.sample(range(len(words)), number))
    if way == "deleted":
        return [word for place, word in enumerate(words) if place not in places]
    if way == "replaced":
        return [dice.choice(others) if place in places else word for place, word in enumerate(words)]
    return [part for place, word in enumerate(words) for part in ([dice.choice(others)] * (place in places) + [word])]


def _moved(words: list[str], blocks: int, dice: Random) -> list[str]:
    left = list(words)
    for _ in range(blocks):
        start, target = dice.randrange(len(left) - _BLOCK), dice.randrange(len(left) - _BLOCK)
        block = left[start : start + _BLOCK]
        del left[start : start + _BLOCK]
        left[target:target] = block
    return left


def try_altered(methods: Sequence[NearMethod], pages: Sequence[list[str]], seed: int) -> list[Trial]:
    """Every page altered in every way by every share; copies that came out unchanged are left out."""
    return [trial for way in WAYS for trial in _one_way(methods, pages, way, Random(f"{seed} {way}"))]


def _one_way(methods: Sequence[NearMethod], pages: Sequence[list[str]], way: str, dice: Random) -> list[Trial]:
    trials = []
    for place, words in enumerate(pages):
        page = " ".join(words)
        own, prints = runs(page), [method.fingerprint(page) for method in methods]
        for share in SHARES:
            changed = altered(words, pages[place - 1], way, share, dice)
            if changed == words:
                continue
            copy = " ".join(changed)
            found = [
                method.name
                for method, left in zip(methods, prints, strict=True)
                if is_found(method, left, method.fingerprint(copy))
            ]
            trials.append(Trial(way, share, jaccard(own, runs(copy)), frozenset(found)))
    return trials


def judge_altered(method: NearMethod, trials: Sequence[Trial], pages: Texts) -> Judgement:
    """The same figures as of a collection; wrong candidates are counted among the pages as they were."""
    near = [trial for trial in trials if trial.overlap >= OVERLAP]
    found = [trial for trial in trials if method.name in trial.found_by]
    prints = [method.fingerprint(text) for text in pages.texts]
    unrelated = sum(pages.overlap(pair) < UNRELATED for pair in sharing(map(method.keys, prints)))
    return Judgement(
        method.name, pages.name, len(near),
        recall=_share(method.name in trial.found_by for trial in near),
        judged=None,
        precision=_share(trial.overlap >= ALMOST for trial in found),
        strict=_share(trial.overlap >= OVERLAP for trial in found),
        wrong_candidates=per_million_pairs(unrelated, len(prints)),
    )  # fmt: skip


def found_by_share(method: str, trials: Sequence[Trial], way: str, share: float) -> tuple[int, float]:
    """Copies altered so, and the share of them that the method found."""
    return _counted(method in trial.found_by for trial in trials if trial.way == way and trial.share == share)


def found_by_overlap(method: str, trials: Sequence[Trial], low: float, high: float) -> tuple[int, float]:
    """Copies whose overlap is in a range, and the share of them that the method found."""
    return _counted(method in trial.found_by for trial in trials if low <= trial.overlap < high)


def _counted(answers: Iterable[bool]) -> tuple[int, float]:
    given = list(answers)
    return len(given), _share(given)


def _share(answers: Iterable[bool]) -> float:
    """Share of yes; 1 of nothing, for nothing went wrong."""
    given = list(answers)
    return sum(given) / len(given) if given else 1.0
