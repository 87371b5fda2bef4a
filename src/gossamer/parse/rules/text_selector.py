"""Finds the selector that cuts the text out of the pages of one template.

The pages of a template share their skeleton. Every container that stands exactly once on a page
has a few *names* (`article`, `#content`, `div.entry`, `[itemprop~="articleBody"]`). The name wins that is there
on nearly all pages and whose words agree best with the prose of the main text that the general
extractor found: its long lines, without those that other pages have too. Parts that hold nothing of
the main text are proposed for removal.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from statistics import median

import msgspec

from gossamer.parse.clean import clean_line
from gossamer.parse.html import Element, Tree, detach
from gossamer.parse.rules.cutting import MUTE

PRESENT = 0.8
"""Share of pages on which a selector must find something."""
AGREEMENT = 0.6
"""Median word F1 with the main text that a text selector must reach."""

_CONTAINERS = ("article", "main", "section", "div", "td")
_PIECES = ("div", "p", "ul", "ol", "section", "aside", "nav", "footer", "header", "form", "span", "h1", "h2", "table")
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{1,39}")
_WORD = re.compile(r"\w+")
_BODY = re.compile(r"articleBody|(?:article|entry|post|news|story)[_-]*(?:body|text|content)", re.I)
_BUDGET = 40
"""How often the text of a page may be read in search of a container."""
_SHARED = 0.25
"""Share of pages with a line from which on it belongs to the template."""
_LONG_LINE = 80
"""Characters from which on a line is prose: comments and teasers are shorter."""
_PROSE = 0.4
"""Share of the text that prose must be to stand for it."""
_ANCHOR_STEPS = 6
"""How far up an element with an id is looked for."""
_PART_CHARS = 400
"""Characters of a part that are compared with the main text, in pieces of 40."""
_PART_LEAST = 3
_MOST_REMOVED = 12


class Sample(msgspec.Struct, frozen=True):
    """A page of the template."""

    tree: Tree
    text: str
    """The main text by the general extractor."""
    title: str
    """What the page's `<title>` says."""


class TextFound(msgspec.Struct, frozen=True):
    """A selector with what speaks for it."""

    selector: str = ""
    remove: tuple[str, ...] = ()
    evidence: str = ""


def find_text(samples: Sequence[Sample]) -> TextFound:
    """The selector of the text, and of what is to be taken out of it."""
    repeated = _repeated(samples)
    samples = [_without_furniture(sample, repeated) for sample in samples]
    scores: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        wanted = Counter(_WORD.findall(_prose(sample.text).lower()))
        for name, element in once(_named_containers(sample.tree)).items():
            scores[name].append(_agreement(wanted, element))
    # The median: a page with a hundred comments must not decide for the others.
    common = {name: median(found) for name, found in scores.items() if len(found) >= PRESENT * len(samples)}
    if not common:
        return TextFound(evidence="text: no container stands once on nearly all pages")
    best = min(common, key=lambda name: (-round(common[name] + _bonus(name), 2), -len(scores[name]), _rank(name)))
    shown = f"{best} on {len(scores[best])} of {len(samples)} pages"
    shown += f", median word F1 with the prose of the main text {common[best]:.2f}"
    if common[best] < AGREEMENT:
        return TextFound(evidence=f"text: no selector agrees with the main text; the best is {shown}")
    return TextFound(best, tuple(_removable(samples, best)), f"text: {shown}")


def _repeated(samples: Sequence[Sample]) -> frozenset[str]:
    """Lines that the main texts of several pages share: the template's, not the page's."""
    pages = Counter(line for sample in samples for line in set(sample.text.split("\n")))
    return frozenset(line for line, count in pages.items() if count > max(1, _SHARED * len(samples)))


def _without_furniture(sample: Sample, repeated: frozenset[str]) -> Sample:
    """The page without scripts and the like, its main text without repeated lines."""
    body = sample.tree.body
    detach(list(body.iter_elements(MUTE)) if body is not None else ())
    lines = [line for line in sample.text.split("\n") if line not in repeated]
    return Sample(sample.tree, "\n".join(lines), sample.title)


def _agreement(wanted: Counter[str], element: Element) -> float:
    """Word F1 of an element's text."""
    words = Counter(_WORD.findall(element.text.lower()))
    return 2 * (words & wanted).total() / max(1, words.total() + wanted.total())


def _prose(text: str) -> str:
    """The long lines, where they are a good part of the text."""
    long = "\n".join(line for line in text.split("\n") if len(line) >= _LONG_LINE)
    return long if len(long) >= _PROSE * len(text) else text


def _named_containers(tree: Tree) -> Iterator[tuple[str, Element]]:
    body = tree.body
    if body is None:
        return
    budget = _BUDGET * len(body.text)
    for element in body.iter_elements(_CONTAINERS):
        budget -= len(element.text)
        if budget < 0:
            return
        own = [*names(element), *([element.tag] if element.tag in ("article", "main") else [])]
        yield from ((name, element) for name in own)
        anchor = _anchor(element)
        yield from ((f"{anchor} {name}", element) for name in own if anchor and not name.startswith("#"))


def _anchor(element: Element) -> str:
    """The id of the nearest element around it that has one, for names that stand more than once on a page."""
    for parent in islice(element.ancestors, _ANCHOR_STEPS):
        identity = parent.attr("id") if isinstance(parent, Element) else None
        if identity and _NAME.fullmatch(identity):
            return f"#{identity}"
    return ""


def names(element: Element) -> Iterator[str]:
    """Selectors that an element could be called by."""
    for word in (element.attr("itemprop") or "").split():
        if _NAME.fullmatch(word):
            yield f'[itemprop~="{word}"]'
    identity = element.attr("id") or ""
    if _NAME.fullmatch(identity):
        yield f"#{identity}"
    for word in dict.fromkeys((element.attr("class") or "").split()):
        if _NAME.fullmatch(word):
            yield f"{element.tag}.{word}"


def _bonus(name: str) -> float:
    """A name that says "text of the article" may agree a little less: the extractor errs too."""
    return 0.1 if _BODY.search(name) else 0.0


def _rank(name: str) -> tuple[int, int, str]:
    """Among equals the name that is likeliest to last: what it means, before how it looks."""
    kinds = ("[itemprop", "article", "main", "#")
    simple = "." not in name and " " not in name
    kind = next((place for place, start in enumerate(kinds) if simple and name.startswith(start)), len(kinds))
    return kind, len(name), name


def once(pairs: Iterable[tuple[str, Element]]) -> dict[str, Element]:
    """The names that only one element has."""
    seen: dict[str, Element] = {}
    twice = set()
    for name, element in pairs:
        if name in seen:
            twice.add(name)
        seen[name] = element
    return {name: element for name, element in seen.items() if name not in twice}


def _removable(samples: Sequence[Sample], selector: str) -> list[str]:
    """Names of parts of the text that are foreign to the main text on several pages, and on no page belong to it."""
    foreign: Counter[str] = Counter()
    belonging: set[str] = set()
    for sample in samples:
        for name, strange in _parts(sample.tree, selector, plain(sample.text)).items():
            foreign[name] += strange
            if not strange:
                belonging.add(name)
    least = max(2, len(samples) // 5)
    chosen: list[str] = []
    for name, pages in foreign.most_common():
        if pages >= least and name not in belonging and _adds(samples, selector, chosen, name):
            chosen.append(name)
    return chosen[:_MOST_REMOVED]


def _adds(samples: Sequence[Sample], selector: str, chosen: Sequence[str], name: str) -> bool:
    """Whether a name stands anywhere outside what is removed already."""
    if not chosen:
        return True
    removed = ",".join(chosen)
    roots = [root for sample in samples if (root := sample.tree.first(selector)) is not None]
    return any(element.closest(removed) is None for root in roots for element in root.select(name))


def _parts(tree: Tree, selector: str, text: str) -> dict[str, bool]:
    """The named parts of the text's element → whether all with that name are foreign to the main text."""
    root = tree.first(selector)
    found: dict[str, bool] = {}
    for element in root.iter_elements(_PIECES) if root is not None else ():
        line = plain(clean_line(element.text, _PART_CHARS))
        if len(line) < _PART_LEAST:
            continue
        # A part that holds some of the text is not foreign, even where it begins with something else.
        pieces = [line[at : at + 40] for at in range(0, len(line), 40)]
        strange = not any(piece in text for piece in pieces)
        for name in names(element):
            found[name] = found.get(name, True) and strange
    return found


def plain(text: str) -> str:
    """The words in lower case, one space between them."""
    return " ".join(_WORD.findall(text.lower()))
