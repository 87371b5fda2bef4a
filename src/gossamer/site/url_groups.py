"""Groups the URLs of a site by the template that made them, and tells which groups look like documents.

Each part of a path is generalised by what it looks like: a year, a number, a title joined by
hyphens (*slug*), or both in one part (`90617-v-voronezhe`). Words that tell nothing stay as they
are, unless many different ones stand in the same place.

What looks like a document: enough pages, each with a title of its own and a text of some length,
no word in the path that names a listing, and no date at the end of it (a daily archive). This is
a guess: a person who is shown it sees the figures, and a crawl uses it only to choose what it fetches first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from urllib.parse import unquote

import msgspec

from gossamer.errors import UsageError
from gossamer.model.page_types import LISTS
from gossamer.site.patterns import PLACEHOLDERS, compile_patterns, path_and_query

MIN_PAGES = 3
"""Pages from which on a template is worth a rule."""
MIN_CHARS = 300
"""Characters of main text that half of the pages must have."""
MANY_WORDS = 6
"""Different words in one place from which on they are a placeholder."""
_OWN_TITLES = 0.7
_FEW, _SINGLE = "too few pages", "a single page"
_ARCHIVE = "ends with a date: an archive"

_LISTS = frozenset("""
    tag tags category categories author authors user users page pages search label labels calendar sitemap
""".split())  # fmt: skip
"""Words of a path that name lists of pages. `archive`, `topics` and `rubrics` are not here: of 663 Russian news hosts,
twelve keep their news there."""
_LISTING = _LISTS | frozenset("login register profile contact contacts attachment cart".split())
"""These, and words that name pages which are no documents."""
_AT_THE_END = frozenset("feed rss amp print comments".split())
"""The same, but only as the last part."""
_COMPACT_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_DATE = re.compile(r"(?:19|20)\d\d-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])")
_YEAR = re.compile(PLACEHOLDERS["year"])
_MONTH, _DAY = re.compile(PLACEHOLDERS["month"]), re.compile(PLACEHOLDERS["day"])
_ENDING = re.compile(r"(.+)(\.(?:html?|s?html|phtml|php|aspx?|jsp|htm))")
_LEADING = re.compile(r"([A-Za-z]{0,3}?)(\d{3,})([-_])(.+)")
_TRAILING = re.compile(r"(.+)([-_])([a-z]{0,2}?)(\d{3,})")
_PREFIXED = re.compile(r"([A-Za-z]{1,8}[-_]?)(\d+)")
_LAST_DATE = re.compile(r"\{(?:year|month|day)\}(?:\.\w+)?/?$")
_LAST_MONTH = re.compile(r"\{(?:year|month)\}(?:\.\w+)?/?$")
_LAST_WEEK = re.compile(r"\{year\}[-/]?(?:w|week|kw|q|quarter)[-_/]?\{id\}/?$")
_DATE_QUERY = re.compile(r"\?(?:&?(?:m|year|month|monthnum|day|date|week)=[^&]*)+$")
_MONTHS_OF_YEARS = re.compile(r"(?:19|20)\d\d[-_]?(?:0[1-9]|1[0-2])")
_MONTH_NAMES = frozenset("""
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
""".split())  # fmt: skip
_PAGING = re.compile(r"(?:page|p)[-_/=]?\{id\}/?$")


class Page(msgspec.Struct, frozen=True):
    """What is known of a crawled page."""

    url: str
    title: str = ""
    chars: int = 0
    """Length of its main text."""
    page_type: str = ""


class Group(msgspec.Struct):
    """The pages of one template."""

    template: str
    pages: list[Page]
    verdict: str = ""
    """Why it does not look like documents; `""` where it does."""
    is_list: bool = False
    """Whether its pages only lead to others: archives, tags, the pages of a list."""
    excluded: list[str] = []
    """Templates that this one covers although they are no documents."""

    @property
    def median_chars(self) -> int:
        """Half of the pages have a main text at least as long."""
        return int(median(page.chars for page in self.pages))

    @property
    def own_titles(self) -> float:
        """Share of pages whose title no other page of the group has."""
        return len({page.title for page in self.pages}) / len(self.pages)


def group_urls(pages: Iterable[Page]) -> list[Group]:
    """The pages by template, largest group first, each with its verdict."""
    by_template: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_template[template_of(page.url)].append(page)
    groups = [Group(template, found) for template, found in _merge_words(by_template).items()]
    for group in groups:
        reason = _why_list(group)
        group.verdict, group.is_list = reason or _verdict(group), bool(reason)
    return _absorb(sorted(groups, key=lambda group: (-len(group.pages), group.template)))


def template_of(url: str) -> str:
    """The template of one URL, as far as it can be told without the others."""
    path, mark, query = path_and_query(url).partition("?")
    parts = path.split("/")
    done: list[str] = []
    for number, part in enumerate(parts):
        done.append(_part(part, done[number - 1] if number else "", last=number == len(parts) - 1))
    template = "/".join(done)
    return f"{template}?{_query(query)}" if mark else template


def _part(part: str, before: str, last: bool) -> str:
    ending = _ENDING.fullmatch(part) if last else None
    stem, tail = (ending[1], ending[2]) if ending else (part, "")
    return ("{id}" if tail and stem.isdigit() and stem.isascii() else _stem(stem, before)) + tail


def _stem(stem: str, before: str) -> str:
    if before == "{year}" and _MONTH.fullmatch(stem):
        return "{month}"
    if before == "{month}" and _DAY.fullmatch(stem):
        return "{day}"
    if stem.isdigit() and stem.isascii():
        if _COMPACT_DATE.fullmatch(stem):
            return "{year}{month}{day}"
        return "{year}" if _YEAR.fullmatch(stem) else "{id}"
    if _DATE.fullmatch(stem):
        return "{year}-{month}-{day}"
    if found := _LEADING.fullmatch(stem):
        return f"{found[1]}{{id}}{found[3]}{{slug}}"
    if found := _TRAILING.fullmatch(stem):
        return f"{{slug}}{found[2]}{found[3]}{{id}}"
    if found := _PREFIXED.fullmatch(stem):
        return f"{found[1]}{{id}}"
    return "{slug}" if _is_title(stem) else stem


def _is_title(stem: str) -> bool:
    """Several words joined, or one of a length that no section's name has."""
    words = [word for word in re.split("[-_+ ]|%20", stem) if word]
    return len(words) >= 3 or len(unquote(stem)) >= 20 or ("%" in stem and len(words) >= 2)


def _query(query: str) -> str:
    pairs = [pair.partition("=") for pair in query.split("&")]
    return "&".join(name + mark + (_value(value) if mark else "") for name, mark, value in pairs)


def _value(value: str) -> str:
    if value.isdigit() and value.isascii():
        return "{id}"
    return "{slug}" if value else ""


def _merge_words(groups: dict[str, list[Page]]) -> dict[str, list[Page]]:
    """Join templates that differ in one plain word, place by place from the left, where there are many such words."""
    depth = max((template.count("/") for template in groups), default=0)
    for place in range(1, depth + 1):
        groups = _merge_at(groups, place)
    return groups


def _merge_at(groups: dict[str, list[Page]], place: int) -> dict[str, list[Page]]:
    alike: dict[tuple[str, str], dict[str, list[Page]]] = defaultdict(dict)
    merged: dict[str, list[Page]] = defaultdict(list)
    for template, pages in groups.items():
        parts = template.split("/")
        word, ending = _word_at(parts, place)
        if word:
            alike["/".join(parts[:place]), "/".join([ending, *parts[place + 1 :]])][template] = pages
        else:
            merged[template] += pages
    for (start, end), members in alike.items():
        joined = f"{start}/{{slug}}{end}"
        many = len(members) >= MANY_WORDS or (joined in merged and len(members) >= MIN_PAGES)
        for template, pages in members.items():
            merged[joined if many else template] += pages
    return dict(merged)


def _word_at(parts: Sequence[str], place: int) -> tuple[str, str]:
    """The plain word at a place and its ending; two empty strings where there is none to be joined."""
    if place >= len(parts):
        return "", ""
    ending = _ENDING.fullmatch(parts[place]) if place == len(parts) - 1 else None
    word, tail = (ending[1], ending[2]) if ending else (parts[place], "")
    plain = word and "{" not in word and "?" not in word and word.lower() not in (_LISTING | _AT_THE_END)
    return (word, tail) if plain else ("", "")


def _absorb(groups: list[Group]) -> list[Group]:
    """Give what the pattern of a larger group covers to that group: as pages, or as an exception."""
    left = list(groups)
    for group in groups:
        if group.verdict or group not in left:
            continue
        pattern = compile_patterns([group.template])
        for other in left[left.index(group) + 1 :]:
            if not all(pattern.match(path_and_query(page.url)) for page in other.pages):
                continue
            if other.verdict in ("", _FEW) or (other.verdict == _SINGLE and other.median_chars >= MIN_CHARS):
                group.pages += other.pages
            elif _can_be_written(other.template):
                group.excluded.append(other.template)
            left.remove(other)
    return left


def _why_list(group: Group) -> str:
    """Why the pages of a template are lists; `""` if they are not, or if it is a single page."""
    template = group.template
    if hints := sorted(_LISTS.intersection(_words(template))):
        return f"{hints[0]!r} in the path names no documents"
    if "{" not in template:
        return ""
    if _is_archive(group):
        return _ARCHIVE
    if _PAGING.search(template):
        return "the pages of a listing"
    lists = sum(page.page_type in LISTS for page in group.pages)
    told = sum(bool(page.page_type) for page in group.pages)
    return "most pages read like listings" if lists > told / 2 and lists >= len(group.pages) / 5 else ""


def _is_archive(group: Group) -> bool:
    """Whether the URLs end with a date: of a day, a week, a month or a year. A column may end its URLs with the day of
    the article, behind its name; nobody ends them with the month."""
    template = group.template
    path = template.partition("?")[0]
    named = "{id}" in path or "{slug}" in path
    if (_LAST_MONTH if named else _LAST_DATE).search(path) or _LAST_WEEK.search(path) or _DATE_QUERY.search(template):
        return True
    last = [path_and_query(page.url).partition("?")[0].rstrip("/").rpartition("/")[2] for page in group.pages]
    if "{year}/{" in path and all(word.lower() in _MONTH_NAMES for word in last):
        return True
    return len(set(last)) > 1 and all(map(_MONTHS_OF_YEARS.fullmatch, last))


def _words(template: str) -> list[str]:
    """The words in a template, without its placeholders."""
    return re.split(r"[^a-z]+", re.sub(r"\{\w+\}", " ", template.lower()))


def _verdict(group: Group) -> str:
    template = group.template
    last = template.lower().rstrip("/").rpartition("/")[2]
    if hints := sorted(_LISTING.intersection(_words(template)) | _AT_THE_END.intersection([last])):
        return f"{hints[0]!r} in the path names no documents"
    if "{" not in template:
        return _SINGLE
    if len(group.pages) < MIN_PAGES:
        return _FEW
    if not _can_be_written(template):
        return "no pattern can be made of it"
    if group.median_chars < MIN_CHARS:
        return "half of the pages have hardly any text"
    if group.own_titles < _OWN_TITLES:
        return "pages share their titles"
    return ""


def _can_be_written(template: str) -> bool:
    try:
        compile_patterns([template])
    except UsageError:
        return False
    return True
