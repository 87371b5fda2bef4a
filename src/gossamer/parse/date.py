"""When was it published? Only what the page states in a form made for machines.

Read in this order, the first plausible date wins: JSON-LD and microdata
`datePublished`, meta elements, `<time>` marked as the publication date, a date in
the URL's path. Prose is not searched: 03.05.2024 means two things.

A date is plausible from 1990 to tomorrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta

from gossamer.parse.html import Tree

EARLIEST = date(1990, 1, 1)
META_NAMES = (
    "article:published_time", "og:article:published_time", "article:published", "datepublished",
    "parsely-pub-date", "sailthru.date", "citation_publication_date", "citation_online_date",
    "dcterms.issued", "dc.date.issued",
    "dcterms.created", "dc.date.created", "dcterms.date", "dc.date", "pubdate", "publishdate", "publish-date",
    "publish_date", "date",
)  # fmt: skip
_JSON_LD = re.compile(r'"datePublished"\s{0,9}:\s{0,9}"([^"]{8,40})"')
_SLASHED = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)(.*)", re.S)
_IN_PATH = re.compile(r"/((?:19|20)\d\d)([/-])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?=[/-]|$)")
_CALENDAR = ("%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S GMT", "%Y-%m-%d %H:%M:%S %z")


def find_date(html: str, tree: Tree, metas: Mapping[str, str], url: str, now: float) -> tuple[str, str]:
    """The publication date as ISO 8601 and where it stood; two empty strings for none."""
    latest = (datetime.fromtimestamp(now, UTC) + timedelta(days=1)).date()
    for source, text in _candidates(html, tree, metas):
        found = read_date(text, latest)
        if found:
            return found, source
    path = _IN_PATH.search(url[:2000].partition("?")[0], url.find("//") + 2)
    if path:
        found = read_date(f"{path[1]}-{int(path[3]):02}-{int(path[4]):02}", latest)
        if found:
            return found, "url"
    return "", ""


def read_date(text: str, latest: date) -> str:
    """A date or time in ISO 8601 (or RFC 5322, or year/month/day), `""` where implausible."""
    text = text.strip()[:40]
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        text = f"{slashed[1]}-{int(slashed[2]):02}-{int(slashed[3]):02}{slashed[4].rstrip()}"
    moment = _moment(text)
    if moment is None or not EARLIEST <= moment.date() <= latest:
        return ""
    return moment.date().isoformat() if len(text) <= 10 else moment.isoformat(timespec="seconds")


def _moment(text: str) -> datetime | None:
    if not text.isascii() or len(text) < 8:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _CALENDAR if " " in text else ():
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _candidates(html: str, tree: Tree, metas: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    published = "datePublished" in html
    if published:
        for found in _JSON_LD.findall(html)[:3]:
            yield "json-ld", found
        for element in tree.select("[itemprop~=datePublished]")[:3]:
            yield "microdata", element.attr("datetime") or element.attr("content") or ""
    for name in META_NAMES:
        if name in metas:
            yield f"meta {name}", metas[name]
    if "pubdate" in html:
        for element in tree.select("time[pubdate][datetime]")[:3]:
            yield "time", element.attr("datetime") or ""
