"""Analysers for some languages that are installed or not: `pip install 'gossamer[japanese]'` and so on.

An index remembers with which of them it was built (`commits.Payload`), and goes on with those: a word must be analysed
in a query as it was in the pages. One that was installed later counts from the next rebuild on. If one is missing now,
the index works as if it had been built without it, since nothing depends on an extra alone: pairs of characters and
stems are always there.

Each is imported when the first text needs it; some load a dictionary of a hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from threading import local
from typing import Any

MODULES = {
    "chinese": ("opencc",),
    "japanese": ("sudachipy", "sudachidict_core"),
    "korean": ("kiwipiepy", "kiwipiepy_model"),
    "lemmas": ("simplemma",),
}
"""Extra → the modules it installs."""
_KNOWN_WORDS = 100_000
_JAPANESE_WORDS = ("名詞", "動詞", "形容詞", "形状詞", "副詞", "代名詞", "連体詞", "接頭辞", "接尾辞", "感動詞")
"""Parts of speech that tell something; the rest are particles, endings and signs."""
_MOST_BYTES = 40_000
"""What Sudachi takes at once is less than 49,150 bytes."""

_mine = local()
_LEAST_PART = 4
"""Letters of each part of a compound: shorter ones are found in most words by accident."""
_LINKS = ("", "s", "es", "n", "en", "er", "e")
"""Sounds between the parts of German compounds."""
_SUFFIXES = frozenset(("schaft", "schaften", "weise", "nehmen", "haft", "heit", "keit"))

Piece = tuple[str, str]


@cache
def installed() -> tuple[str, ...]:
    """The extras that can be used here."""
    return tuple(name for name, modules in MODULES.items() if all(find_spec(module) for module in modules))


def usable(wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of the extras of an index that are installed."""
    return tuple(sorted(set(wanted) & set(installed())))


def missing(wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of the extras of an index that are not installed."""
    return tuple(sorted(set(wanted) - set(installed())))


def complaint(lacking: Sequence[str]) -> str:
    """What is wrong if extras of an index are missing."""
    return f"the index was built with {_extra(lacking)}, not installed here: it finds fewer forms of words"


def remedy(lacking: Sequence[str]) -> str:
    """What to do then."""
    return f"`pip install '{_extra(lacking)}'`, or `gossamer index --rebuild` to do without"


def _extra(names: Sequence[str]) -> str:
    return f"gossamer[{','.join(names)}]"


@cache
def to_simplified() -> dict[int, str]:
    """Traditional Chinese characters to simplified ones, one for one."""
    import opencc

    codes = [*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000), *range(0xF900, 0xFB00)]
    convert = opencc.OpenCC("t2s").convert
    lines = convert("\n".join(map(chr, codes))).split("\n")
    return {code: new for code, new in zip(codes, lines, strict=True) if len(new) == 1 and new != chr(code)}


def japanese(run: str) -> list[Piece]:
    """Words of Japanese in their usual spelling; empty for particles and endings."""
    tokens = _sudachi()
    size = _MOST_BYTES // 4
    return [
        (morpheme.surface(), morpheme.normalized_form() if morpheme.part_of_speech()[0] in _JAPANESE_WORDS else "")
        for start in range(0, len(run), size)
        for morpheme in tokens(run[start : start + size])
    ]


@lru_cache(maxsize=_KNOWN_WORDS)
def korean(run: str) -> list[Piece]:
    """The words in a run of Hangul without endings and particles; verbs as their stem."""
    return [
        (run[token.start : token.start + token.len], token.form)
        for token in _kiwi()(run)
        if token.tag[:2] in ("NN", "NR", "NP", "VV", "VA", "MM", "MA", "XR", "SL")
    ]


@lru_cache(maxsize=_KNOWN_WORDS)
def lemma(word: str, lang: str) -> str:
    """The form under which a dictionary has a word; the word itself if it has none."""
    import simplemma

    found: str = simplemma.lemmatize(word, lang, low_memory=True)
    return found.lower()


def german_parts(word: str) -> list[str]:
    """The two nouns that a German word is made of, the more even the better; none if it is no compound."""
    best: list[str] = []
    for at in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
        head = word[at:]
        if head in _SUFFIXES or not _is_noun(head):
            continue
        for link in _LINKS:
            first = word[:at].removesuffix(link)
            if len(first) + len(link) != at or len(first) < _LEAST_PART or not _is_noun(first):
                continue
            if not best or min(len(first), len(head)) > min(map(len, best)):
                best = [first, head]
            break
    return best


@lru_cache(maxsize=_KNOWN_WORDS)
def _is_noun(word: str) -> bool:
    import simplemma

    known: bool = simplemma.is_known(word.capitalize(), "de", low_memory=True)
    return known


def _sudachi() -> Callable[[str], Any]:
    """The thread's own: a tokenizer that two threads use at once is an error. They share the dictionary."""
    tokenize: Callable[[str], Any] | None = getattr(_mine, "sudachi", None)
    if tokenize is None:
        from sudachipy import SplitMode

        tokenize = _mine.sudachi = _sudachi_dictionary().tokenizer(mode=SplitMode.A).tokenize
    return tokenize


@cache
def _sudachi_dictionary() -> Any:
    from sudachipy import Dictionary

    return Dictionary(dict="core")


@cache
def _kiwi() -> Callable[[str], Any]:
    from kiwipiepy import Kiwi

    tokenize: Callable[[str], Any] = Kiwi(num_workers=1).tokenize
    return tokenize
