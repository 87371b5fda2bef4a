"""The dates a page shows to its readers near its title.

The heading is found that repeats most of the page's title; a little text after it and
before it is read. A day counts as a dateline where it stands in a line of its own (a byline,
a caption), not inside a paragraph; the words before it say whether it is the day of
publication, of an update, or of something else (the last reply, the copyright).

Only a bounded number of nodes and characters around the heading is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from itertools import islice

import msgspec
from turbohtml import Text

from gossamer.parse.date.forms import days_in
from gossamer.parse.html import Element, Tree

_LEVELS = (("h1", 0.25, 0.75), ("h2", 0.0, 0.5), ("h3", 0.0, 0.5))
"""Kinds of headings, how much each is ahead, and the likeness from which on the next kind is not looked
at. Likeness is the share of the words of heading and title that they have in common, the longer counts."""
_UNLIKE = 0.2
_MAX_HEADINGS = 40
_TITLE_CHARS = 400
_BUDGET = 100_000
"""Characters read of all headings: nested ones would be read again and again."""
_AFTER = (200, 800)
"""Nodes and characters read after the heading."""
_BEFORE = (60, 200)
_BYLINE = (60, 300)
"""The same, for the author's name."""
_LINE_CHARS = 75
"""Longest line that is a dateline; longer ones are prose."""
_WHOLE_CHARS = 100
"""Characters up to which the last line that is read is not cut."""
_LABEL_CHARS = 40
"""Characters before a day in which the word that explains it stands."""
_NEAR_CHARS = 25
"""Characters between two days up to which they are one, written twice."""
_BYLINE_CHARS = 150
"""Characters after the first day within which one that is called the day of publication is preferred."""
_MUTE = frozenset(("script", "style", "noscript", "template", "textarea", "select", "option", "button"))

_WORDS = re.compile(r"\w+")
_UPDATED = re.compile(
    r"updat|modif|revis|edited|review|changed|обновл|измен|оновл|更新|修改|更改|aktuali|geändert|mise? à jour|"
    r"actuali[sz]|aggiorn|atualiz|bijgewerkt|uppdater|opdater|oppdater|güncelle|cập nhật|수정|업데이트|最終",
    re.I,
)
_OTHER = re.compile(
    r"last (?:post|reply|activ|visit|seen)|latest|joined|since|copyright|©|expires?|until|deadline|through|"
    r"registered|received|accepted|born|возраст|регистр|последн|最后|注册",
    re.I,
)
_PUBLISHED = re.compile(
    r"publi[sckq]|posted|post on|written|created|issued|started|\bdated?\b|опублик|добавлен|создан|размещ|"
    r"发布|發布|发表|發表|日期|时间|投稿|公開|veröffentl|erstellt|gepubliceerd|geplaatst|yayın|작성|등록",
    re.I,
)


class Shown(msgspec.Struct, frozen=True):
    """What the text around the title says."""

    published: date | None = None
    labelled: bool = False
    """A word before the day calls it the day of publication."""
    before: bool = False
    """It stands before the title."""
    updated: date | None = None


NOTHING = Shown()


def read_shown(tree: Tree, title: str, latest: date, language: str) -> Shown:
    """The dates near the heading that is the page's title; at most one of each kind."""
    heading = _own_heading(tree, title)
    if heading is None:
        return NOTHING
    shown = _around(heading, latest, language)
    if shown.published is None and heading.tag != "h1":
        first = tree.first("h1")  # the page's name need not be in its title
        if first is not None:
            other = _around(first, latest, language)
            return other if other.published is not None else Shown(updated=shown.updated or other.updated)
    return shown


def lines_below(tree: Tree, title: str) -> list[str]:
    """The first lines of text below the heading that is the page's title."""
    heading = _own_heading(tree, title)
    return _window(heading.following, *_BYLINE) if heading is not None else []


def _around(heading: Element, latest: date, language: str) -> Shown:
    after = _read(_window(heading.following, *_AFTER), latest, language)
    if after.published is not None:
        return after
    before = _read(_window(heading.preceding, *_BEFORE)[::-1], latest, language, nearest_last=True)
    if before.published is None:
        return Shown(updated=after.updated or before.updated)
    return Shown(before.published, before.labelled, True, after.updated or before.updated)


def _own_heading(tree: Tree, title: str) -> Element | None:
    """The heading that shares most words with the title, an `<h1>` where there is a choice."""
    if title not in tree.found:  # asked for the author and for the dates
        tree.found[title] = _likest_heading(tree, title)
    return tree.found[title]


def _likest_heading(tree: Tree, title: str) -> Element | None:
    words = set(_WORDS.findall(title[:_TITLE_CHARS].lower()))
    best: Element | None = None
    most = 0.0
    budget = _BUDGET
    for tag, ahead, enough in _LEVELS:
        for element in tree.select(tag)[:_MAX_HEADINGS]:
            text = element.text
            budget -= len(text)
            held = set(_WORDS.findall(text[:_TITLE_CHARS].lower()))
            score = len(words & held) / (max(len(words), len(held)) or 1) + ahead
            if score > most:
                best, most = element, score
            if budget < 0:
                return best
        if most > enough:
            break
    return best if most > _UNLIKE else None


def _window(nodes: Iterable[object], max_nodes: int, max_chars: int) -> list[str]:
    """The lines of the first of these nodes, `datetime` of `<time>` among them."""
    lines: list[str] = []
    for node in islice(nodes, max_nodes):
        if isinstance(node, Text):
            text = node.data.strip()
            if not text:
                continue
            parent = node.parent
            if isinstance(parent, Element) and parent.tag in _MUTE:
                continue
            lines.append(text[: max(max_chars, _WHOLE_CHARS)])
            max_chars -= len(text)
            if max_chars < 0:
                break
        elif isinstance(node, Element) and node.tag == "time":
            moment = node.attr("datetime")
            if moment:
                lines.append(moment[:_LINE_CHARS])
    return lines


def _read(lines: list[str], latest: date, language: str, nearest_last: bool = False) -> Shown:
    text = "\n".join(lines)
    published: date | None = None
    updated: date | None = None
    labelled = False
    passed: date | None = None
    end = found = 0
    for start, stop, day in days_in(text, latest, language):
        line_start, line_stop = text.rfind("\n", 0, start) + 1, text.find("\n", stop)
        line = (line_stop if line_stop >= 0 else len(text)) - line_start
        label = _label(text, max(end, start - _LABEL_CHARS), start)
        again = passed is not None and start - end <= _NEAR_CHARS and abs((day - passed).days) <= 1
        end = stop
        named = _PUBLISHED.search(label) is not None
        if _UPDATED.search(label):
            updated = updated or day
            passed = day
        elif line > _LINE_CHARS or _OTHER.search(label):
            passed = day
        elif again and not named:
            continue  # the same once more: `<time>` holds it for machines and for readers
        elif published is None or nearest_last or (named and not labelled and start - found <= _BYLINE_CHARS):
            published, labelled, found = day, named, start
    return Shown(published, labelled, False, updated)


def _label(text: str, start: int, stop: int) -> str:
    """The words before a day, without the end of a longer line that is cut at `start`."""
    label = text[start:stop]
    if start and text[start - 1] != "\n" and "\n" in label:
        label = label.partition("\n")[2]
    return label
