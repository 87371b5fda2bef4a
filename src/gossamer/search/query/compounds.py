"""Compounds as others write them: `file system` and `filesystem`, `readFile`, `read_file` and `read file`.

Each variant is a query of its own in which one compound is written another way. A query that finds little is asked
together with its variants (`Request.wider`), as far as the index has their words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

import msgspec

from gossamer.index import analysis
from gossamer.search.query.language import Query, Term

MOST = 3
"""Variants of a query."""
_SHORTEST = 3
"""Letters of a part of a compound."""
_LONGEST = 40
_MOST_JOINED = 5
"""Words that are joined to one."""
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LETTERS = re.compile(r"[^\W\d_]+")


def variants(query: Query, frequency: Callable[[str], int]) -> list[Query]:
    """The query with a compound written another way; `frequency`: on how many pages a word is."""
    return list(islice(_variants(query, frequency), MOST))


def sought(query: Query) -> list[str]:
    """The words whose frequency `variants` asks for."""
    asked: dict[str, None] = {}

    def note(word: str) -> int:
        asked[word] = None
        return 1

    list(_variants(query, note))
    return list(asked)


def _variants(query: Query, frequency: Callable[[str], int]) -> Iterator[Query]:
    groups = query.groups
    if 2 < len(groups) <= _MOST_JOINED and all(map(_is_plain, groups)):  # get element by id
        word = "".join(group[0].text.lower() for group in groups)
        if _is_compound(word) and frequency(word):
            yield _with(query, ((Term(word),),))
    for n, (one, two) in enumerate(pairwise(groups)):
        if _is_plain(one) and _is_plain(two):
            word = one[0].text + two[0].text
            if _is_compound(word) and frequency(word.lower()):
                yield _with(query, (*groups[:n], (Term(word.lower()),), *groups[n + 2 :]))
    for n, group in enumerate(groups):
        if len(group) != 1 or group[0].field != "any":
            continue
        for term in _other(group[0], frequency):
            yield _with(query, (*groups[:n], (term,), *groups[n + 1 :]))


def _other(term: Term, frequency: Callable[[str], int]) -> Iterator[Term]:
    """One word written another way."""
    parts = _LETTERS.findall(term.text)
    if len(parts) > 1:  # read_file, "file system"
        joined = "".join(parts).lower()
        if len(parts) <= _MOST_JOINED and _is_compound(joined) and frequency(joined):
            yield Term(joined)
        return
    if term.phrase or not term.text.isalnum() or not _is_compound(term.text):
        return
    humps = [hump.lower() for hump in _HUMPS.findall(term.text)]
    if len(humps) > 1 and "".join(humps) == term.text.lower() and all(map(frequency, humps)):
        yield Term(" ".join(humps), phrase=True)
        return
    word = term.text.lower()
    cuts = [(word[:at], word[at:]) for at in range(_SHORTEST, len(word) - _SHORTEST + 1)]
    known = {(first, rest): frequency(first) and min(frequency(first), frequency(rest)) for first, rest in cuts}
    best = max(cuts, key=known.__getitem__, default=None)
    if best is not None and known[best]:
        yield Term(" ".join(best), phrase=True)


def _is_plain(group: tuple[Term, ...]) -> bool:
    return len(group) == 1 and group[0].field == "any" and not group[0].phrase and group[0].text.isalpha()


def _is_compound(word: str) -> bool:
    return 2 * _SHORTEST <= len(word) <= _LONGEST and not analysis.is_spaceless(word)


def _with(query: Query, groups: tuple[tuple[Term, ...], ...]) -> Query:
    return msgspec.structs.replace(query, groups=groups)
