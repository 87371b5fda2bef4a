"""Cuts title, text, date and author out of a page as a document rule says.

The tree is left as it was: what is taken out of the text is taken out of a copy, so that a page
on which the text selectors find nothing can still be read in the usual way.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

import msgspec
import turbohtml

from gossamer.errors import UsageError
from gossamer.model.months import MONTHS
from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.date.forms import EARLIEST, read_date
from gossamer.parse.html import Element, Tree, detach, rendered
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.selector_cost import check_cost

MAX_SELECTOR = 300
"""Characters of a selector."""
MAX_FORMAT = 60
"""Characters of a date format."""
TITLE_CHARS = 300
AUTHOR_CHARS = 200
MAX_AUTHORS = 10
_MAX_PARTS = 2000
"""Elements that make up a text."""
_LOOKED_AT = 20
"""Elements that are tried for a title, date or author."""
_DATE_CHARS = 200

MUTE = (
    *("script", "style", "template", "noscript", "select", "datalist", "textarea", "button"),
    *("svg", "iframe", "object", "canvas", "audio", "video"),
)
"""Never text, whatever they hold."""
_ATTRIBUTE = re.compile(r"(.*\S)\s*@([A-Za-z_:][\w:.-]*)", re.S)
_DIRECTIVE = re.compile("%(.)", re.S)
_WRITTEN = {
    "Y": r"\d{4}",
    "y": r"\d{2}",
    "m": r"\d{1,2}",
    "B": r"[^\W\d_]{3,12}",
    "d": r"\d{1,2}",
    "H": r"\d{1,2}",
    "M": r"\d{2}",
    "S": r"\d{2}",
}
"""What stands for each directive of a date format; `B` is the name of a month in any language known."""


class Cut(msgspec.Struct):
    """What a rule cut out of a page."""

    title: str = ""
    text: str = ""
    date: str = ""
    """ISO 8601."""
    author: str = ""
    used: dict[str, str] = {}
    """Key → the selector that found it."""
    problems: list[str] = []
    """What the rule asked for and the page does not have."""


def cut(tree: Tree, rule: DocumentRule, max_chars: int, now: float) -> Cut:
    """Everything the rule finds on a page; leaves the tree as it was."""
    latest = (datetime.fromtimestamp(now, UTC) + timedelta(days=1)).date()
    found = Cut()
    found.title = _find(found, "title", rule.title, lambda selector: _line(tree, selector, TITLE_CHARS))
    found.author = _find(found, "author", rule.author, lambda selector: _authors(tree, selector))
    found.date = _find(found, "date", rule.date, lambda selector: _date(tree, selector, rule.date_format, latest))
    found.text = _find(found, "text", rule.text, lambda selector: _text(tree, selector, rule.remove, max_chars))
    return found


def check_selector(text: str, with_attribute: bool) -> None:
    """`UsageError` where a selector is wrong."""
    selector, attribute = split_selector(text)
    if attribute and not with_attribute:
        raise UsageError("an attribute cannot be read here: only for title, date and author")
    if len(text) > MAX_SELECTOR:
        raise UsageError(f"a selector of {len(text)} characters: the limit is {MAX_SELECTOR}")
    check_cost(selector)
    try:
        Tree("", 1).select(selector)
    except turbohtml.SelectorSyntaxError as error:
        raise UsageError(str(error)) from None


def split_selector(text: str) -> tuple[str, str]:
    """Selector and attribute of `time@datetime`; no attribute: `""`."""
    found = _ATTRIBUTE.fullmatch(text)
    return (found[1], found[2]) if found else (text, "")


def check_date_format(form: str) -> None:
    """`UsageError` where a date format cannot name a day."""
    names = _DIRECTIVE.findall(form)
    wrong = [f"%{name}" for name in names if name not in _WRITTEN]
    if wrong:
        raise UsageError(f"{wrong[0]} is unknown: use %Y %y %m %B %d %H %M %S")
    if len(form) > MAX_FORMAT:
        raise UsageError(f"a date format of {len(form)} characters: the limit is {MAX_FORMAT}")
    complete = "d" in names and ("m" in names) + ("B" in names) == 1 and ("Y" in names) + ("y" in names) == 1
    if not complete or len(names) != len(set(names)):
        raise UsageError("%d, %m (or %B) and %Y (or %y) must stand in it, each once")


def _find(found: Cut, key: str, selectors: Sequence[str], read: Callable[[str], str]) -> str:
    for selector in selectors:
        value = read(selector)
        if value:
            found.used[key] = selector
            return value
    if selectors:
        found.problems.append(f"{key}: nothing found by {' or '.join(selectors)}")
    return ""


def _values(tree: Tree, text: str, limit: int) -> list[str]:
    selector, attribute = split_selector(text)
    elements = tree.select(selector)[:_LOOKED_AT]
    return [clean_line((e.attr(attribute) or "") if attribute else e.text, limit) for e in elements]


def _line(tree: Tree, selector: str, limit: int) -> str:
    return next(filter(None, _values(tree, selector, limit)), "")


def _authors(tree: Tree, selector: str) -> str:
    names = dict.fromkeys(filter(None, _values(tree, selector, AUTHOR_CHARS)))
    return clean_line(", ".join(list(names)[:MAX_AUTHORS]), AUTHOR_CHARS)


def _date(tree: Tree, text: str, form: str, latest: date) -> str:
    selector, attribute = split_selector(text)
    for element in tree.select(selector)[:_LOOKED_AT]:
        values = [element.attr(attribute)] if attribute else [element.attr("datetime"), element.attr("content")]
        for value in values if attribute else [*values, element.text]:
            line = clean_line(value or "", _DATE_CHARS)
            found = _read_form(line, form, latest) if form else read_date(line, latest, tree.language)
            if found:
                return found
    return ""


def _read_form(text: str, form: str, latest: date) -> str:
    """The first date in a text that is written in a form."""
    found = _form(form).search(text)
    if not found:
        return ""
    values = found.groupdict()
    month = MONTHS.get(values["B"].lower(), 0) if "B" in values else int(values["m"])
    year = int(values["Y"]) if "Y" in values else _with_century(int(values["y"]))
    hour, minute, second = (int(values.get(name, 0)) for name in "HMS")
    try:
        moment = datetime(year, month, int(values["d"]), hour, minute, second)
    except ValueError:
        return ""
    if not EARLIEST <= moment.date() <= latest:
        return ""
    return moment.isoformat() if "H" in values else moment.date().isoformat()


@lru_cache(maxsize=1000)
def _form(form: str) -> re.Pattern[str]:
    pieces = enumerate(_DIRECTIVE.split(form))
    written = [f"(?P<{piece}>{_WRITTEN[piece]})" if place % 2 else re.escape(piece) for place, piece in pieces]
    return re.compile(rf"(?<!\d){''.join(written)}(?!\d)")


def _with_century(year: int) -> int:
    return 1900 + year if year > 68 else 2000 + year


def _text(tree: Tree, selector: str, remove: Sequence[str], max_chars: int) -> str:
    pieces: list[str] = []
    size = 0
    for element in tree.select(selector)[:_MAX_PARTS]:
        if _stands_inside(element, selector):
            continue
        pieces.append(_rendered_copy(element, remove))
        size += len(pieces[-1])
        if size > max_chars:
            break
    return clean_text("\n".join(pieces)[:max_chars])


def _stands_inside(element: Element, selector: str) -> bool:
    """Whether an element is part of another one that the selector matches: its text is there already."""
    parent = element.parent
    return isinstance(parent, Element) and parent.closest(selector) is not None


def _rendered_copy(element: Element, remove: Sequence[str]) -> str:
    own = copy.deepcopy(element)
    detach(list(own.iter_elements(MUTE)))
    for selector in remove:
        detach(own.select(selector))
    return rendered(own)
