"""Did you mean: a query with the words that no page has spelled as pages spell them.

A reader's word may be several of the index's: `std::vectr`, `read_fiel`, a phrase. It is looked at as a whole first,
since a key that is punctuation here is a letter on another keyboard; where that tells nothing, each of its words is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from unicodedata import category

import msgspec

from gossamer.index import schema
from gossamer.index.analysis import Languages, is_spaceless, query_stems, surface_words
from gossamer.index.signs import signs
from gossamer.search.corpus import Place
from gossamer.search.query.language import Query, Term, parse, render
from gossamer.search.suggest import DOUBTFUL, FEW_FOUND, Spelling, did_you_mean

_FEWEST = 50
"""Pages that an index must have for one of its words to be a mistake of a page."""


@lru_cache(maxsize=5_000)
def places_of(word: str, languages: Languages) -> tuple[Place, ...]:
    """How the index may spell a word in the text of a page; kept, since a search asks several times."""
    stems = [(schema.BODY_STEMS, stem) for part in _words_of(word) for stem in query_stems(part, languages)]
    named = [(schema.BODY_STEMS, sign) for sign in signs(word)]
    return tuple(dict.fromkeys(named + stems + [(schema.BODY, typed) for typed in surface_words(word)]))


def frequency_of(word: str, pages: Callable[[str, str], int], languages: Languages) -> int:
    """On how many pages the search finds a word; of one that is several words, the rarest counts."""
    parts = _words_of(word)
    if named := [pages(schema.BODY_STEMS, sign) for sign in signs(word)]:
        return max(*named, min((frequency_of(part, pages, languages) for part in parts), default=0))
    if len(parts) != 1 and not is_spaceless(word):
        return min((frequency_of(part, pages, languages) for part in parts), default=0)
    return max((pages(*place) for place in places_of(word, languages)), default=0)


def respelled(
    query: Query, found: int, pages: Callable[[str, str], int], languages: Languages,
    vocabulary: Callable[[Sequence[str]], Spelling], documents: int = 0,
) -> Query | None:  # fmt: skip
    """The query with other words; None where there is no reason to. `found`: pages that match all of it. The vocabulary
    is asked for only where there is a reason, and with the words that may be mistakes."""

    def frequency(word: str) -> int:
        return frequency_of(word, pages, languages)

    texts = [term.text for group in query.groups for term in group if _may_change(term)]
    suspect = DOUBTFUL if documents >= _FEWEST else 0
    doubtful = [text for text in texts if frequency(text) <= (suspect if _is_word(text) else 0)]
    if not doubtful:
        return None
    pieces = {text: _cut(text) for text in doubtful if not _is_word(text)}
    parts = [piece for cut in pieces.values() for piece in cut if _is_word(piece)]
    if not all(map(frequency, texts)) and (len(texts) > 1 or pieces):
        found = FEW_FOUND + 1  # the unknown words explain why little was found: the others are beyond doubt
    spelling = vocabulary([text for text in texts if found <= FEW_FOUND or text in doubtful] + parts)

    def instead(words: list[str]) -> list[str]:
        if len(texts) > 1 or pieces:  # then it says nothing of one word how much all of them found
            return (did_you_mean([*words, ""], spelling, found, frequency) or [*words, ""])[:-1]
        return did_you_mean(words, spelling, found, frequency) or words

    words = [text for text in texts if " " not in text]
    better = dict(zip(words, instead(words), strict=True))
    for text, cut in pieces.items():
        if better.get(text, text) == text:
            corrected_parts = iter(instead([piece for piece in cut if _is_word(piece)]))
            better[text] = "".join(next(corrected_parts) if _is_word(piece) else piece for piece in cut)
    changed = parse(render(_with(query, better)), query.fields)
    return changed if render(changed) != render(query) else None


def _may_change(term: Term) -> bool:
    return term.field != "url"


def _with(query: Query, spelling: dict[str, str]) -> Query:
    def respell(term: Term) -> Term:
        return msgspec.structs.replace(term, text=spelling.get(term.text, term.text)) if _may_change(term) else term

    groups = tuple(tuple(map(respell, group)) for group in query.groups)
    return msgspec.structs.replace(query, groups=groups)


def _cut(text: str) -> list[str]:
    """A text in pieces, words and what stands between them."""
    return ["".join(piece) for _, piece in groupby(text, _is_part)]


@lru_cache(maxsize=5_000)
def _words_of(text: str) -> tuple[str, ...]:
    """The words that a reader's word consists of."""
    return tuple(piece for piece in _cut(text) if _is_word(piece))


def _is_word(piece: str) -> bool:
    return bool(piece) and all(map(_is_part, piece))


def _is_part(char: str) -> bool:
    return char.isalnum() or category(char)[0] == "M" or char in "\u200c\u200d"
