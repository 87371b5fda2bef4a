"""When was it published, and when last changed? With where that stands and how sure it is.

Machines are told in JSON-LD, microdata, meta elements and the URL; readers in `<time>` and in
the line under the title (`dateline`). Each may be wrong: templates write the day of the last
build into `datePublished`, and a page may show only its update. So both are asked:

- they agree on the day: nearly always right, and the machine's value has the time of day;
- the reader's is earlier: it is the day of publication, the machine's a later edit;
- the machine's is earlier: it is the first publication, the reader's an update;
- a day apart: a time zone, the machine's is kept;
- only one speaks: it is believed as often as it was right.

Confidence is the measured share of right days (`CONFIDENCE`), pages without a date counted
against it. The HTTP header Last-Modified is no source: it is the time of the last deployment.
A date is plausible from 1990 to tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from gossamer.parse.date.dateline import Shown, read_shown
from gossamer.parse.date.sources import Found, Page, in_classes, in_path, in_times, stated_dates, stated_update
from gossamer.parse.html import Tree
from gossamer.parse.structured import Structured

CONFIDENCE = {
    "agreed": 0.98,  # 263 of 265: a machine's day that readers see too, or that is in the URL
    "url": 0.94,  # 14 of 14 paths with a day on half of the pages; alone on 2
    "text earlier": 0.85,  # 8 of 9
    "text before": 0.83,  # 20 of 24: above the title
    "text labelled": 0.79,  # 15 of 19
    "text": 0.78,  # 66 of 85
    "meta": 0.76,  # 99 of 131: no day is shown
    "microdata": 0.7,  # not measured: alone on too few pages
    "day apart": 0.6,  # 3 of 4, lowered because they are few
    "class labelled": 0.6,  # 3 of 3, lowered because they are few
    "text updated": 0.59,  # 17 of 29: the only day shown is called an update
    "time": 0.5,  # 8 of 16: few different days in the whole page
    "stated earlier": 0.46,  # 6 of 13; WCXB prefers the day shown even where it is an update
    "time of many": 0.29,  # 2 of 7
    "json-ld": 0.24,  # 7 of 29: an article that neither shows its day nor has it in a meta element
    "class": 0.18,  # 3 of 17
    "json-ld page": 0.06,  # 2 of 33: a web page, a product; right or not, WCXB calls nearly all undated
    "updated agreed": 0.9,  # not measured
    "updated text": 0.85,  # 19 of 22 by eye, 4 more could not be told
    "updated meta": 0.73,  # 19 of 26 are the day shown as update, 7 are later: the last build
    "updated json-ld": 0.73,  # 8 of 10, taken as meta
    "updated microdata": 0.73,  # not measured, taken as meta
}
"""Case → share of right days on three quarters of WCXB's pages by domain, 593 with a date and 518 without; a day
on a page without a date is counted as wrong. WCXB has no update dates, so those are measured against the day the
page shows as its update. How it holds on the last quarter: `bench/dates.py`."""
_UNDATED_TYPES = frozenset(("collection", "listing", "product", "service"))
_UNDATED_CONFIDENCE = 0.1
"""6 of 88 days found on such pages are theirs: the others belong to what they list, sell or announce."""
_CERTAIN = 0.8
_FEW_DAYS = 3
"""Different days in `<time>` elements up to which the first is probably the page's own."""


class Dates(msgspec.Struct, frozen=True):
    """The two dates as ISO 8601 (`""` for none), where they stood, and how far to believe them (0…1)."""

    published: str = ""
    published_source: str = ""
    published_confidence: float = 0.0
    updated: str = ""
    updated_source: str = ""
    updated_confidence: float = 0.0


def find_dates(
    tree: Tree,
    metas: Mapping[str, str],
    structured: Structured,
    url: str,
    language: str,
    now: float,
    title: str = "",
) -> Dates:
    """The dates of a page whose tree is intact; never raises.

    `language` is what the page claims (`en-gb`), for the order of day and month; `title` tells the
    page's own heading from others.
    """
    latest = (datetime.fromtimestamp(now, UTC) + timedelta(days=1)).date()
    shown = read_shown(tree, structured.headline or title, latest, language)
    page = Page(tree, metas, structured, url, latest, language)
    published = _published(page, shown) or _last_resort(page, shown)
    if published and published.case == "stated earlier":
        shown = Shown(updated=shown.updated or shown.published)
    updated = _updated(page, shown)
    if published and updated and updated.day < published.day:
        updated = None
    return Dates(*_answer(published), *_answer(updated))


def confidence_on(page_type: str, certainty: float, confidence: float) -> float:
    """The confidence in a publication date, once the type of the page is known with some certainty."""
    undated = page_type in _UNDATED_TYPES and certainty >= _CERTAIN
    return min(confidence, _UNDATED_CONFIDENCE) if undated else confidence


def _answer(found: Found | None) -> tuple[str, str, float]:
    return (found.value, found.source, CONFIDENCE[found.case]) if found else ("", "", 0.0)


def _published(page: Page, shown: Shown) -> Found | None:
    """The day on which the sources agree, or the one to believe."""
    stated = next(stated_dates(page), None)
    day = in_path(page.url, page.latest)
    if not day:
        return _weigh(stated, shown)
    path = Found(day, "url", "url")
    if stated is not None and stated.day == path.day:
        return Found(stated.value, stated.source, "agreed")
    if shown.published is not None and abs((shown.published - path.day).days) <= 1:
        return Found(path.value, "url", "agreed")
    return path


def _weigh(stated: Found | None, shown: Shown) -> Found | None:
    """What to believe of what machines and readers are told."""
    if shown.published is None:
        return stated
    day = shown.published.isoformat()
    if stated is None:
        case = "text labelled" if shown.labelled else "text before" if shown.before else "text"
        return Found(day, "text", case)
    later = (shown.published - stated.day).days
    if later < -1 and not shown.before:
        return Found(day, "text", "text earlier")
    if later < -1:
        return stated
    case = "agreed" if later == 0 else "stated earlier" if later > 1 else "day apart"
    return Found(stated.value, stated.source, case)


def _last_resort(page: Page, shown: Shown) -> Found | None:
    """What is right less often."""
    moments = in_times(page)
    few = len({moment[:10] for moment in moments}) <= _FEW_DAYS
    if moments and few:
        return Found(moments[0], "time", "time")
    if shown.updated is not None:
        return Found(shown.updated.isoformat(), "text", "text updated")
    if found := page.read(page.structured.published):
        return Found(found, "json-ld", "json-ld page")
    return Found(moments[0], "time", "time of many") if moments else in_classes(page)


def _updated(page: Page, shown: Shown) -> Found | None:
    """When it was last changed, if the page says so."""
    stated = next(stated_update(page), None)
    if shown.updated is None:
        return stated
    if stated is not None and stated.day == shown.updated:
        return Found(stated.value, stated.source, "updated agreed")
    return Found(shown.updated.isoformat(), "text", "updated text")
