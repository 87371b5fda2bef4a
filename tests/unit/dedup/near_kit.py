"""Made-up texts with words as frequent as in a language, and ways to change them."""

from __future__ import annotations

from functools import cache
from random import Random

from studies.duplicates.methods.statistics import Statistics, gather

SCRIPTS = {
    "English": ("abcdefghijklmnopqrstuvwxyz", " "),
    "Russian": ("абвгдежзиклмнопрстуфхцчшщыьэюя", " "),
    "Chinese": ("".join(chr(0x4E00 + n) for n in range(3000)), ""),
}


@cache
def vocabulary(script: str, size: int = 3000) -> list[str]:
    """Different words of a script, the frequent ones first."""
    letters, space = SCRIPTS[script]
    dice = Random(script)
    if not space:
        return list(letters)
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(dice.choices(letters, k=dice.randint(3, 9)))] = None
    return list(found)


def some_words(seed: int, number: int = 400, script: str = "English") -> list[str]:
    """A text as a list of its words."""
    words = vocabulary(script)
    return Random(seed).choices(words, [1 / (rank + 20) for rank in range(len(words))], k=number)


def text_of(words: list[str], script: str = "English") -> str:
    """The words written as the script does."""
    return SCRIPTS[script][1].join(words)


def replaced(words: list[str], share: float, dice: Random) -> list[str]:
    """The words, some of them replaced by words that occur nowhere else."""
    return [f"new{dice.randrange(10**9)}" if dice.random() < share else word for word in words]


def statistics() -> Statistics:
    """Of 200 texts in three scripts."""
    return gather(text_of(some_words(seed, script=script), script) for script in SCRIPTS for seed in range(1000, 1067))


def naive_overlap(left: list[str], right: list[str]) -> float:
    """Jaccard of the sets of four-word runs, by the definition."""
    sets = [{tuple(words[place : place + 4]) for place in range(len(words) - 3)} for words in (left, right)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])
