"""Generated pages: a graph of any size from a seed, made when asked for.

Page 0 is `/`, page i is `/p/i.html`. Half of a page's links are the branches of a
tree, so every page is reachable from `/`; the other half lead anywhere. Page i
is a function of (seed, host, i): nothing is stored, and two runs serve the same web.
Its choices are the bytes of one hash: cheaper than seeding `random` for every page.
"""

from __future__ import annotations

import hashlib
import struct

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


_N, _V, _A, _T = len(_NOUNS), len(_VERBS), len(_ADJECTIVES), len(_TAILS)


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
        return self._targets(index, self._chance(index))

    def _targets(self, index: int, chance: bytes) -> list[int]:
        branches = max(1, self.links // 2)
        first = index * branches + 1
        tree = range(first, min(first + branches, self.pages))
        rest = self.links - len(tree)
        return [*tree, *(number % self.pages for number in struct.unpack_from(f"<{rest}I", chance))]

    def html(self, index: int) -> str:
        """The whole page."""
        chance = self._chance(index)
        words = chance[4 * self.links :]
        title = f"The {_ADJECTIVES[words[0] % _A]} {_NOUNS[words[1] % _N]} ({index})"
        links = [f'<li><a href="{self.path(t)}">{_label(t)}</a></li>' for t in self._targets(index, chance)]
        if index == 0:
            links += [f'<li><a href="{url}">{url}</a></li>' for url in self.elsewhere]
        body = self._paragraphs(index, words[2:])
        return _TEMPLATE.format(title=title, host=self.host, paragraphs=body, items="\n".join(links))

    def _paragraphs(self, index: int, words: bytes) -> str:
        sentences = [_sentence(*words[i : i + 6]) for i in range(0, 6 * self.size, 6)]
        sentences[0] = f"This is page {index} of {self.host}. {sentences[0]}"
        return "\n".join(f"<p>{' '.join(sentences[i : i + 4])}</p>" for i in range(0, len(sentences), 4))

    def _chance(self, index: int) -> bytes:
        """Four bytes for each link, two for the title, six for each sentence."""
        key = f"{self.seed} {self.host} {index}".encode()
        return hashlib.shake_128(key).digest(4 * self.links + 2 + 6 * self.size)


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


def _label(index: int) -> str:
    return f"Page {index}: the {_ADJECTIVES[index % _A]} {_NOUNS[index // _A % _N]}"


def _sentence(a: int, b: int, c: int, d: int, e: int, f: int) -> str:
    return (
        f"The {_ADJECTIVES[a % _A]} {_NOUNS[b % _N]} {_VERBS[c % _V]} "
        f"the {_ADJECTIVES[d % _A]} {_NOUNS[e % _N]} {_TAILS[f % _T]}."
    )
