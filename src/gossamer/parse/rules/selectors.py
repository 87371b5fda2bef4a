"""Finds selectors that cut title, text, date and author out of the pages of one template.

The text is `text_selector`'s. Title, date and author are told by what they must be: part of the page's
title, a plausible day that is not the same everywhere, a short line without figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.cutting import cut
from gossamer.parse.rules.text_selector import PRESENT, Sample, find_text, names, once, plain

__all__ = ["Found", "Sample", "find_selectors"]

_HEADINGS = ("h1", "h2", "h3")
_DATES = (
    'meta[property="article:published_time"]@content', '[itemprop~="datePublished"]', "time[pubdate]",
    "time.published@datetime", "time[datetime]@datetime",
)  # fmt: skip
_DATED = "[class*=date i],[class*=time i],[class*=publish i],[class*=posted i]"
_DATE_WORDS = re.compile("date|time|publish|posted", re.I)
_FORMS = ("", "%d.%m.%Y %H:%M", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y")
_AUTHORS = (
    '[itemprop~="author"] [itemprop~="name"]', '[itemprop~="author"]', '[rel~="author"]', 'meta[name="author"]@content',
    ".author", ".byline", 'a[href*="/author/"]',
)  # fmt: skip
_AUTHOR = re.compile(r"[^\d:|]{2,60}")
_DATE_CHARS = 60
_TITLE_LEAST = 4


class Found(msgspec.Struct):
    """Selectors with what speaks for them."""

    title: str = ""
    text: str = ""
    date: str = ""
    date_format: str = ""
    author: str = ""
    remove: tuple[str, ...] = ()
    evidence: list[str] = []


def find_selectors(samples: Sequence[Sample], now: float) -> Found:
    """The best selectors for pages of one template; consumes the trees."""
    found = Found()
    _find_title(samples, found)
    _find_date(samples, found, now)
    _find_author(samples, found, now)
    text = find_text(samples)
    found.text, found.remove = text.selector, text.remove
    found.evidence.insert(0, text.evidence)
    return found


def _find_title(samples: Sequence[Sample], found: Found) -> None:
    agreeing: Counter[str] = Counter()
    for sample in samples:
        title = plain(sample.title)
        headings = [(name, e) for e in sample.tree.all(*_HEADINGS) for name in (e.tag, *names(e))]
        for name, element in once(headings).items():
            heading = plain(element.text)
            agreeing[name] += len(heading) >= _TITLE_LEAST and heading in title
    best = max(agreeing, key=lambda name: (agreeing[name], name in _HEADINGS, -len(name)), default="")
    if best and agreeing[best] >= PRESENT * len(samples):
        found.title = best
        found.evidence.append(f"title: {best} is part of the page's title on {agreeing[best]} of {len(samples)} pages")


def _find_date(samples: Sequence[Sample], found: Found, now: float) -> None:
    named = _dated_names(samples)
    for form in _FORMS:
        for selector in named if form else [*_DATES, *named]:
            rule = DocumentRule("", (), date=(selector,), date_format=form)
            days = [cut(sample.tree, rule, 0, now).date[:10] for sample in samples]
            dated = [day for day in days if day]
            if len(dated) < PRESENT * len(samples) or len(set(dated)) <= min(2, len(samples) // 4):
                continue  # one day on all pages is today's
            found.date, found.date_format = selector, form
            span = f"from {min(dated)} to {max(dated)}"
            found.evidence.append(f"date: {selector} on {len(dated)} of {len(samples)} pages, {span}")
            return


def _dated_names(samples: Sequence[Sample]) -> list[str]:
    """Names of short elements that speak of time, the commonest first."""
    pages: Counter[str] = Counter()
    for sample in samples:
        short = [element for element in sample.tree.select(_DATED)[:100] if len(element.text) < _DATE_CHARS]
        pages.update({name for element in short for name in names(element) if _DATE_WORDS.search(name)})
    return [name for name, count in pages.most_common(10) if count >= PRESENT * len(samples)]


def _find_author(samples: Sequence[Sample], found: Found, now: float) -> None:
    for selector in _AUTHORS:
        rule = DocumentRule("", (), author=(selector,))
        authors = [cut(sample.tree, rule, 0, now).author for sample in samples]
        named = [author for author in authors if _AUTHOR.fullmatch(author)]
        if len(named) >= PRESENT * len(samples):
            found.author = selector
            name, pages = Counter(named).most_common(1)[0]
            found.evidence.append(f"author: {selector} on {len(named)} of {len(samples)} pages, {name!r} on {pages}")
            return
