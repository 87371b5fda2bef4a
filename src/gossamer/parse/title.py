"""The page's own title: chosen from what the page calls itself, without its site's part.

A page names itself up to four times: in its main heading, in the headline of its JSON-LD, in `og:title` and in
`<title>`. The name that most of them agree on is the title; where they differ, the order above decides. A heading
counts only if it resembles one of the other names, since a first heading is often the site's name or a slogan.

The site's part ("| The Daily Web") is cut off at a separator where it resembles the site's name or host, or where the
site is known to end its titles so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

_SEPARATOR = re.compile(r"\s+[|\-–—―•·»«›‹:/~>]+\s+|\s*[|｜»«]\s*|\s+::\s+")
_PIECE = re.compile(r"\w+")
_NO_WORD = re.compile(r"[\W_]+")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ANCHOR_SIGNS = " ¶#§"
"""What documentation puts behind its headings."""
_ALIKE = 0.3
"""Least resemblance of a heading to another of the page's names."""
_HEADING, _HEADLINE, _OPEN_GRAPH, _TITLE = 1.0, 0.6, 0.6, 0.3
_AGREES = 0.6
"""Weights of the names; a second name that says the same adds so much of its own. Tried on the training part of WCXB
and two thirds of the publishers of `news-dev`: the exact title of .76 and .82 of the pages, where `<title>` alone has
.19 and .28, and the first heading .67 and .76."""
_SECTION_WORDS = 4
"""Words of a last part that may be the name of a section, where no other name of the page tells."""
_CONTAINED = 10
"""Letters from which on a name that another one contains resembles it."""
_REMEMBERED = 1024
"""Names whose letters, parts and words are kept: a page's names are compared with each other and with its site's."""
_NAME_CHARS = 300
_NAMES = 8
"""Headings that are looked at."""
_SHARED_HEADINGS = 3


class Names(msgspec.Struct, frozen=True):
    """What a page calls itself; `""` where it does not."""

    title: str = ""
    headings: Sequence[str] = ()
    """Of the first level."""
    open_graph: str = ""
    headline: str = ""
    """Of an article, by JSON-LD."""


class Site(msgspec.Struct, frozen=True):
    """What is known of the page's site."""

    name: str = ""
    """As the page gives it."""
    host: str = ""
    parts: Collection[str] = ()
    """`letters` of what the titles of many of its pages share."""


def own_title(names: Names, site: Site) -> str:
    """The title of the page itself."""
    title, open_graph, headline = (_own(name, site) for name in (names.title, names.open_graph, names.headline))
    headings = _headings(names.headings, site)
    others = [name for name in (title, open_graph, headline) if name]
    heading = _agreeing([one for one in headings if not _ends(title, one)], others)
    found = _elected(((heading, _HEADING), (headline, _HEADLINE), (open_graph, _OPEN_GRAPH), (title, _TITLE)))
    if not found:
        return headings[0] if headings else names.title
    return found if found != title or heading else _without_section(title)


def _own(name: str, site: Site) -> str:
    """A name without its site's part; `""` where many pages of the site have the same."""
    own = without_site(name, site)
    return "" if letters(own) in site.parts else own


def called(names: Names, site: str) -> tuple[str, ...]:
    """All that `title_again` needs; `site`: its name, as the page gives it."""
    return (names.title, names.open_graph, names.headline, site, *names.headings[:_NAMES])


def title_again(names: Sequence[str], host: str, parts: Collection[str]) -> str:
    """The title of a page that was called so, by what is known of its site now."""
    title, open_graph, headline, site, *headings = names
    return own_title(Names(title, headings, open_graph, headline), Site(site, host, parts))


def without_site(title: str, site: Site) -> str:
    """A title without the parts at its ends that name the site."""
    borders = _parts(title)
    first, last = 0, len(borders) - 1
    while last > first and names_site(title[slice(*borders[last])], site):
        last -= 1
    while last > first and names_site(title[slice(*borders[first])], site):
        first += 1
    return title[borders[first][0] : borders[last][1]]


def site_part(title: str, site: Site) -> str:
    """The last part of a title, where it names the site; the first, where that does."""
    parts = [title[slice(*border)] for border in _parts(title)]
    return next((part for part in (parts[-1], parts[0]) if len(parts) > 1 and names_site(part, site)), "")


def names_site(part: str, site: Site) -> bool:
    """Whether a part of a title is the site's name."""
    said = letters(part)
    if not said or said in site.parts:
        return True
    name, host = letters(site.name), letters(site.host)
    domain = letters(site.host.rpartition(".")[0])
    if said in (host, domain) or (len(said) > 3 and said in host):
        return True
    if name and (said == name or (len(said) > 3 and (said in name or name in said) and len(said) <= 1.6 * len(name))):
        return True
    return len(domain) > 4 and domain in said and len(said) <= 2.2 * len(domain)


def shared_names(names: Names) -> list[str]:
    """`letters` of all that other pages of the site may be called as well: titles and headings, whole, and the parts at
    their ends."""
    found = []
    for name in (names.title, names.open_graph, *names.headings[:_SHARED_HEADINGS]):
        parts = [name[slice(*border)] for border in _parts(name)]
        found += [letters(one) for one in (name, parts[0], parts[-1])]
    return found


def letters(text: str) -> str:
    """Letters and digits only, in one case: equal for spellings of the same."""
    return _letters_of_name(text) if len(text) <= _NAME_CHARS else _letters(text)


def _letters(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


_letters_of_name = lru_cache(_REMEMBERED)(_letters)


@lru_cache(_REMEMBERED)
def _parts(title: str) -> Sequence[tuple[int, int]]:
    """Where the parts of a title between separators begin and end."""
    borders, start = [], 0
    for found in _SEPARATOR.finditer(title):
        borders.append((start, found.start()))
        start = found.end()
    return (*borders, (start, len(title)))


def _headings(headings: Sequence[str], site: Site) -> list[str]:
    """Without those that only name the site, unless all do."""
    own = [text for heading in headings[:_NAMES] if (text := without_site(heading.rstrip(_ANCHOR_SIGNS), site))]
    return [heading for heading in own if not names_site(heading, site)] or own


def _ends(title: str, heading: str) -> bool:
    """Whether a heading is only the shorter last part of a title: the name of a site or section."""
    borders = _parts(title)
    before = title[: borders[-1][0]]
    return len(letters(before)) > len(letters(heading)) and letters(title[slice(*borders[-1])]) == letters(heading)


def _agreeing(headings: Sequence[str], others: Sequence[str]) -> str:
    """The heading that resembles another name the most."""
    if not others:
        return headings[0] if headings else ""
    best = max(headings, key=lambda heading: max(_likeness(heading, other) for other in others), default="")
    return best if best and max(_likeness(best, other) for other in others) >= _ALIKE else ""


def _likeness(one: str, other: str) -> float:
    """The share of words in common; at least .55 where a name contains the other, or is a part of it."""
    a, b = _words(one), _words(other)
    shared = 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
    x, y = letters(one), letters(other)
    contained = (len(x) >= _CONTAINED and x in y) or (len(y) >= _CONTAINED and y in x)
    is_part = len(x) > 2 and any(letters(other[slice(*border)]) == x for border in _parts(other))
    return max(shared, 0.55) if contained or is_part else shared


@lru_cache(_REMEMBERED)
def _words(text: str) -> AbstractSet[str]:
    """Words; pairs of letters of scripts without spaces."""
    found: set[str] = set()
    for word in _PIECE.findall(text.casefold()):
        if _WITHOUT_SPACES.match(word) and len(word) > 1:
            found.update(word[i : i + 2] for i in range(len(word) - 1))
        else:
            found.add(word)
    return found


def _elected(names: Sequence[tuple[str, float]]) -> str:
    """The name with the most weight; equal names add theirs, and the first spelling stands."""
    votes: dict[str, tuple[float, str]] = {}
    for name, weight in names:
        if said := letters(name):
            before = votes.get(said)
            votes[said] = (before[0] + _AGREES * weight, before[1]) if before else (weight, name)
    return max(votes.values(), key=lambda vote: vote[0], default=(0.0, ""))[1]


def _without_section(title: str) -> str:
    """Without a short last part: nothing else on the page says that it belongs to the title."""
    borders = _parts(title)
    if len(borders) == 1:
        return title
    rest, last = title[: borders[-2][1]], title[slice(*borders[-1])]
    return rest if len(last.split()) <= _SECTION_WORDS and len(rest) >= len(last) else title
