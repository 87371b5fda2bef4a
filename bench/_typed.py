"""Queries as people type them, drawn from the pages that they might be looking for.

Each way of typing is a function of `WAYS`: it takes a page and the chances, and gives a query, or an empty text where
the page has nothing for it. `draw` goes round the ways, so that each has its share; the same pages and seed give the
same queries.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from gossamer.index import analysis
from gossamer.index.document import IndexPage

LONGEST = 1_500
"""Characters of a query; what is longer is cut off by the server, which fuzzing tries."""
_STRETCH = 4_000
"""Characters of a text from which one query is drawn."""
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^\n.!?。！？]{8,300}[.!?。！？]?")
_LATIN, _CYRILLIC = "abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщыэюя"
_KEYS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "йцукенгшщзфывапролдячсмить", strict=True))
_OTHER_LAYOUT = {ord(a): b for a, b in (*_KEYS.items(), *((there, here) for here, there in _KEYS.items()))}
_MARKS = ".,:;!?-–—()[]{}\"“”«»「」'’/\\|@#$%^&*+=<>~`_…·、。，！？：；№§"
_ODD = (
    "😀",
    "👨‍👩‍👧",
    "🇩🇪",
    "e\u0301",
    "\u200d",
    "\u00ad",
    "\u202e",
    "ﬁ",
    "Ⅷ",
    "½",
    "İ",
    "ß",
    "\x00",
    "\ufffd",
    "𝒳",
    "ー",
)
_FILTERS = (
    "site:{host}", "-site:{host}", "site:{host}/a/b", "intitle:{word}", "inurl:{word}", "-{word}", "OR {word}",
    "| {word}", "lang:en", "lang:russian", "-lang:zh", "filetype:pdf", "ext:html", "pagetype:article", "category:news",
    "after:2019", "before:2024-05", "after:31.12.2020", "sort:date", 'intitle:"{word} {word}"', "site:", "after:never",
)  # fmt: skip


def draw(pages: Sequence[IndexPage], count: int, seed: int) -> Iterator[str]:
    """So many queries, none of them empty."""
    chance = random.Random(seed)
    drawn = turn = 0
    while drawn < count:
        query = WAYS[turn % len(WAYS)](chance.choice(pages), chance)[:LONGEST].strip()
        turn += 1
        if query:
            drawn += 1
            yield query


def words_of(text: str, chance: random.Random) -> list[str]:
    """The words of a stretch of text; writing without spaces is cut as people cut it who type a part of it."""
    start = chance.randrange(max(1, len(text) - _STRETCH))
    words: list[str] = []
    for word in _WORD.findall(text[start : start + _STRETCH]):
        while len(word) > 2 and analysis.is_spaceless(word):
            size = chance.randint(1, 6)
            words.append(word[:size])
            word = word[size:]
        words += [word] if word else []
    return words


def some(words: Sequence[str], most: int, chance: random.Random) -> list[str]:
    """One to so many of the words that follow each other."""
    start = chance.randrange(max(1, len(words)))
    return list(words[start : start + chance.randint(1, most)])


def title(page: IndexPage, chance: random.Random) -> str:
    """The whole title."""
    return page.title


def part_of_title(page: IndexPage, chance: random.Random) -> str:
    """Some words of the title."""
    return " ".join(some(words_of(page.title, chance), 5, chance))


def heading(page: IndexPage, chance: random.Random) -> str:
    """A heading; the first line of a page that has none."""
    return chance.choice(page.headings) if page.headings else page.text[:200].partition("\n")[0]


def two_words(page: IndexPage, chance: random.Random) -> str:
    """Two words from anywhere in the text."""
    words = words_of(page.text, chance)
    return " ".join(chance.choice(words) for _ in range(2)) if words else ""


def running_text(page: IndexPage, chance: random.Random) -> str:
    """Some words that follow each other in the text."""
    return " ".join(some(words_of(page.text, chance), 8, chance))


def sentence(page: IndexPage, chance: random.Random) -> str:
    """A sentence, with its punctuation."""
    found = _SENTENCE.findall(page.text[:20_000])
    return chance.choice(found) if found else ""


def phrase(page: IndexPage, chance: random.Random) -> str:
    """A phrase in quotes, a word beside it now and then; not every phrase is closed."""
    words = some(words_of(chance.choice((page.title, page.text)), chance), 6, chance)
    if not words:
        return ""
    opening, closing = chance.choice((('"', '"'), ('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ('"', "")))
    return f"{opening}{' '.join(words)}{closing}{chance.choice(('', f' {words[0]}', f' -{words[-1]}'))}"


def beginning(page: IndexPage, chance: random.Random) -> str:
    """What is there while somebody types: the last word is not finished."""
    text = " ".join(some(words_of(chance.choice((page.title, page.text)), chance), 4, chance))
    return text[: chance.randint(1, max(1, len(text)))]


def punctuated(page: IndexPage, chance: random.Random) -> str:
    """Words with marks before, behind and inside them."""
    words = some(words_of(page.text, chance), 5, chance)
    return "".join(word + "".join(chance.choices(_MARKS, k=chance.randint(0, 3))) + " " * chance.randint(0, 1)
                   for word in words)  # fmt: skip


def filtered(page: IndexPage, chance: random.Random) -> str:
    """Words with operators, sensible ones and others."""
    words = some(words_of(page.text, chance), 4, chance) or ["word"]
    host = urlsplit(page.url).netloc
    operators = [
        one.format(host=host, word=chance.choice(words)) for one in chance.sample(_FILTERS, chance.randint(1, 3))
    ]
    pieces = [*words, *operators]
    if chance.random() < 0.3:
        chance.shuffle(pieces)
    return " ".join(pieces)


def mistyped(page: IndexPage, chance: random.Random) -> str:
    """Words with a letter too many, too few, another, or two that changed places; or in another keyboard layout."""
    words = some(words_of(chance.choice((page.title, page.text)), chance), 4, chance)
    if words and chance.random() < 0.2:
        return " ".join(words).lower().translate(_OTHER_LAYOUT)
    return " ".join(_mistype(word, chance) for word in words)


def _mistype(word: str, chance: random.Random) -> str:
    at = chance.randrange(len(word))
    letter = chance.choice(_LATIN if word.isascii() else _CYRILLIC)
    return chance.choice((
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    ))  # fmt: skip


def address(page: IndexPage, chance: random.Random) -> str:
    """The address of the page, or a part of it."""
    return chance.choice((page.url, urlsplit(page.url).netloc, page.url.rpartition("/")[2]))


def odd(page: IndexPage, chance: random.Random) -> str:
    """Words among characters that few programs expect."""
    words = some(words_of(page.text, chance), 3, chance)
    return "".join(chance.choice(("", " ")) + piece for word in words for piece in (word, chance.choice(_ODD)))


def pasted(page: IndexPage, chance: random.Random) -> str:
    """A piece of the page as it stands, up to many lines of it."""
    start = chance.randrange(max(1, len(page.text)))
    return page.text[start : start + chance.choice((30, 100, 300, LONGEST))]


Way = Callable[[IndexPage, random.Random], str]
WAYS: tuple[Way, ...] = (
    title, two_words, heading, running_text, part_of_title, two_words, phrase, beginning, sentence, punctuated,
    filtered, two_words, mistyped, running_text, heading, title, address, odd, pasted, phrase,
)  # fmt: skip
"""How people type, the usual ways more often."""
