"""Generated pages: a graph of any size from a seed, made when asked for.

Page 0 is `/`, page i is `/p/i.html`. Half of a page's links are the branches of a
tree, so every page is reachable from `/`; the other half lead anywhere. Page i
is a function of (seed, host, i): nothing is stored, and two runs serve the same web.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec


def _words(text: str, separator: str = " ") -> list[str]:
    return text.split(separator)


_NOUNS = _words(
    "spider thread web branch garden river library archive reader weaver loom pattern village harbour "
    "lantern winter morning letter teacher printer market bridge orchard mountain station window "
    "carpenter forest island journal keeper museum notebook painter railway sailor tower valley workshop"
)
_VERBS = _words(
    "follows mends crosses describes remembers repairs visits measures carries collects compares "
    "discovers explains finishes guards inherits joins leaves marks names observes paints questions reaches"
)
_ADJECTIVES = _words(
    "quiet patient silver narrow early distant careful broken ancient bright crooked damp empty famous "
    "gentle hidden idle jolly lonely modest northern ordinary pale rough simple tired useful warm young"
)
_TAILS = _words(
    "before the rain begins,after the long winter,near the old harbour,without asking anyone,"
    "for the third time this year,on the way to the market,as the records show,and nobody objects,"
    "while the bells are ringing,in spite of the weather,under a clear sky,with very little noise",
    ",",
)


class Graph(msgspec.Struct, frozen=True):
    """A generated site."""

    host: str
    pages: int
    links: int
    """Links to pages of the same site on each page."""
    seed: int
    elsewhere: tuple[str, ...] = ()
    """Absolute URLs that the start page links to."""
    size: int = 12
    """Sentences on a page."""

    def path(self, index: int) -> str:
        """The path of a page."""
        return f"/p/{index}.html" if index else "/"

    def index(self, path: str) -> int | None:
        """The page a path belongs to, if there is one."""
        if path == "/":
            return 0 if self.pages else None
        number = path[3:-5]
        if not (path.startswith("/p/") and path.endswith(".html") and number.isdecimal()):
            return None
        index = int(number)
        return index if 0 < index < self.pages and self.path(index) == path else None

    def targets(self, index: int) -> list[int]:
        """The pages that a page links to."""
        branches = max(1, self.links // 2)
        first = index * branches + 1
        tree = list(range(first, min(first + branches, self.pages)))
        chance = self._random(index, "links")
        return tree + [chance.randrange(self.pages) for _ in range(self.links - len(tree))]

    def html(self, index: int) -> str:
        """The whole page."""
        chance = self._random(index, "text")
        title = f"{_title(chance)} ({index})"
        paragraphs = "\n".join(f"<p>{text}</p>" for text in self._paragraphs(index, chance))
        links = [(self.path(t), f"Page {t}: {_title(chance)}") for t in self.targets(index)]
        if index == 0:
            links += [(url, url) for url in self.elsewhere]
        items = "\n".join(f'<li><a href="{url}">{text}</a></li>' for url, text in links)
        return _TEMPLATE.format(title=title, host=self.host, paragraphs=paragraphs, items=items)

    def _paragraphs(self, index: int, chance: random.Random) -> list[str]:
        sentences = [_sentence(chance) for _ in range(self.size)]
        sentences[0] = f"This is page {index} of {self.host}. {sentences[0]}"
        return [" ".join(sentences[i : i + 4]) for i in range(0, len(sentences), 4)]

    def _random(self, index: int, use: str) -> random.Random:
        return random.Random(f"{self.seed} {self.host} {index} {use}")


_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<nav><a href="/">{host}</a></nav>
<main><h1>{title}</h1>
{paragraphs}
</main>
<aside><ul>
{items}
</ul></aside>
<footer>Served by {host}</footer>
</body></html>
"""


def _pick(chance: random.Random, words: Sequence[str]) -> str:
    return words[int(chance.random() * len(words))]  # half the time of choice()


def _title(chance: random.Random) -> str:
    return f"The {_pick(chance, _ADJECTIVES)} {_pick(chance, _NOUNS)}"


def _sentence(chance: random.Random) -> str:
    return (
        f"The {_pick(chance, _ADJECTIVES)} {_pick(chance, _NOUNS)} {_pick(chance, _VERBS)} "
        f"the {_pick(chance, _ADJECTIVES)} {_pick(chance, _NOUNS)} {_pick(chance, _TAILS)}."
    )
