"""What people mistype about the pages of an index finds pages nevertheless; where it does not, the answer says why.

The pages are those of the bundled web, the sections of our documentation, and a few in German. Each query is made from
words of one page: mistyped, half typed, on the wrong keyboard layout, in quotes with another form or order, with
punctuation, in Latin letters.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from searcher_kit import SmallIndex

from gossamer.demo.content import load
from gossamer.index.document import IndexPage
from gossamer.search.query.keyboard import other_layouts
from gossamer.search.results import Request

QUERIES = 500
DOCS = Path(__file__).parents[3] / "docs"
GERMAN = {
    "Fahrräder": "Ein Fahrrad hat zwei Räder, einen Rahmen und eine Kette. Wer oft fährt, ölt die Kette jeden Monat.",
    "Brot backen": "Für ein gutes Brot braucht man Mehl, Wasser, Salz und viel Zeit. Der Teig ruht über Nacht.",
    "Bergwandern": "Im Gebirge wechselt das Wetter schnell. Eine Karte, feste Schuhe und warme Kleidung gehören dazu.",
    "Bibliotheken": "Die Stadtbibliothek verleiht Bücher, Zeitschriften und Noten. Der Ausweis kostet wenig Geld.",
    "Gartenarbeit": "Im Frühling werden Tomaten ausgesät. Die Erde soll locker sein, und Schnecken hält man fern.",
    "Eisenbahn": "Die Eisenbahn verbindet seit zweihundert Jahren Städte. Güterzüge fahren meistens in der Nacht.",
    "Wetterkunde": "Wolken entstehen, wenn feuchte Luft aufsteigt und abkühlt. Der Luftdruck sagt das Wetter voraus.",
    "Spinnen": "Spinnen sind keine Insekten. Sie weben Netze aus Seide und fangen darin Fliegen und Mücken.",
}
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[^\W\d_]{5,}")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщыэюя")
_LATIN = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "yo", "ж": "zh", "з": "z", "и": "i", "й": "y",
    "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f",
    "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
}  # fmt: skip


def pages() -> Iterator[IndexPage]:
    for name, host in load().items():
        for path, page in host.pages.items():
            if page.is_html and page.text:
                lang = page.get("lang") or host.get("lang") or None
                text = _LINK.sub(r"\1", page.text)
                yield IndexPage(url=f"http://{name}{path}", title=page.get("title"), text=text, lang=lang)
    for path in sorted(DOCS.glob("*.md")):
        for number, section in enumerate(path.read_text().split("\n## ")):
            title, _, text = section.partition("\n")
            yield IndexPage(
                url=f"http://docs.test/{path.stem}/{number}", title=title.lstrip("# "), text=text, lang="en"
            )
    for title, text in GERMAN.items():
        yield IndexPage(url=f"http://de.test/{title}", title=title, text=text, lang="de")


def mistyped(words: list[str], chance: random.Random) -> str:
    word = chance.choice(words)
    at = chance.randrange(1, len(word))
    letter = chance.choice(_ALPHABETS[not word.isascii() and word[0] > "\u0370"])
    wrong = chance.choice((
        word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :],
        word[: at - 1] + word[at - 1 : at + 1][::-1] + word[at + 1 :],
    ))  # fmt: skip
    return " ".join(wrong if one == word else one for one in words[:2]) if word in words[:2] else wrong


def half_typed(words: list[str], chance: random.Random) -> str:
    *before, last = words[: chance.randint(1, 2)]
    return " ".join([*before, last[: chance.randint(4, max(4, len(last) - 1))]])


def other_layout(words: list[str], chance: random.Random) -> str:
    return " ".join(next(iter(other_layouts(word)), word) for word in words[:2])


def quoted(words: list[str], chance: random.Random) -> str:
    some = words[:2]
    return chance.choice((f'"{" ".join(reversed(some))}"', f'"{some[0]}s {some[-1]}"', f'"{mistyped(some, chance)}"'))


def punctuated(words: list[str], chance: random.Random) -> str:
    first, last = words[0], words[1 % len(words)]
    return chance.choice(
        (f"{first}::{last}", f"{first}_{last}", f"{first}.{last}()", f"__{first}__", f"{first}?!", f":{last}=")
    )


def by_ear(words: list[str], chance: random.Random) -> str:
    return "".join(_LATIN.get(char, char) for char in chance.choice(words).lower())


WAYS: tuple[Callable[[list[str], random.Random], str], ...] = (
    mistyped, half_typed, other_layout, quoted, punctuated, by_ear,
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    made = SmallIndex(tmp_path_factory.mktemp("never-empty") / "index", *pages())
    yield made
    made.writer.close()


def queries() -> Iterator[tuple[str, str, str]]:
    """How it is typed, the query, and the page that it is about; each language in its turn."""
    chance = random.Random(20)
    by_language: dict[str, list[IndexPage]] = {}
    for page in pages():
        if page.lang in ("en", "ru", "de"):
            by_language.setdefault(page.lang, []).append(page)
    languages = sorted(by_language)
    drawn = 0
    while drawn < QUERIES:
        way = WAYS[drawn % len(WAYS)]
        lang = "ru" if way is by_ear else languages[chance.randrange(len(languages))]
        page = chance.choice(by_language[lang])
        words = _WORD.findall(page.text)
        start = chance.randrange(max(1, len(words) - 1))
        if len(words[start : start + 2]) == 2:
            drawn += 1
            yield way.__name__, way(words[start : start + 2], chance), page.url


def test_no_answer_is_empty_without_a_reason(index: SmallIndex) -> None:
    asked, answered, right = Counter[str](), Counter[str](), Counter[str]()
    empty = []
    for way, query, url in queries():
        results = index.searcher.search(Request(query=query))
        asked[way] += 1
        answered[way] += bool(results.hits)
        right[way] += url in [hit.url for hit in results.hits]
        if not results.hits:
            empty.append((way, query, results.did_you_mean))
            assert results.reason.endswith((".", "…")), query
            assert all(index.search(other).total for other in results.try_instead), query
        if results.attempt is not None:
            assert results.attempt.sentence and index.search(results.attempt.query).total, query
    assert sum(asked.values()) == QUERIES
    shares = {way: (round(answered[way] / asked[way], 2), round(right[way] / asked[way], 2)) for way in asked}
    assert sum(answered.values()) >= 0.97 * QUERIES, (shares, empty)
    assert sum(right.values()) >= 0.85 * QUERIES, shares
