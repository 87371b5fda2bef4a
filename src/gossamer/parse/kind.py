"""What type of page it is: the text model's guess where it is sure enough, and plain evidence where it is not.

A wrong type misleads every reader of the result, no type misleads nobody. So a guess counts only from the confidence
on at which nine of ten such guesses were right (`SURE`). Before that, evidence that needs no model is asked, the
strongest first:

1. **Address**: tags, categories, authors, numbered pages of a list, days and months of an archive.
2. **What made the page**: generators of manuals and forums, and the places where manuals are kept. A table of contents
   is part of its manual.
3. **Teasers**: a page whose main text is made of headings that link to other pages of the site, each with a few lines
   under it, is a list, whatever else it looks like. The page's own title is no such heading.
4. **An article's day**: less confidence is enough for an article that shows its day, and less still if it is stated to
   be one (JSON-LD, `og:type`). Stated alone it proves nothing: blogs state an article on their front pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

import msgspec

from gossamer.model.page_types import LISTS
from gossamer.model.records import Link, Parsed

SURE = {
    "article": 0.8,
    "collection": 0.6,
    "documentation": 0.5,
    "forum": 0.4,
    "listing": 0.5,
    "product": 0.5,
    "service": 0.65,
}
"""Type → confidence of the model from which on a guess is kept. On the pages of WCXB that the model was trained with,
97 of 100 types that are kept are right, evidence included; how it holds on others: `bench/lists.py --types`."""
_DATED = ((0.9, True, 0.0), (0.75, True, 0.5), (0.75, False, 0.65))
"""Articles with a date: confidence in the date (`date.CONFIDENCE`), whether an article is stated, and the confidence in
the guess that is enough then: 10 of 10 right, 15 of 16 and 15 of 17, none of the 10 below .5."""
_NEVER = 1.1
_ARTICLES = frozenset("article newsarticle blogposting reportagenewsarticle".split())

_KEY = 8
"""Characters of a link's text by which a line is looked up."""
_ALIKE = 20
"""Links with such a text that are compared with a line: a page cannot make us compare all with all."""
_HEADING_BYTES = 12
"""Shortest text of a link, in UTF-8, that can head a teaser: two words, or four Chinese characters."""
_TEASER_BYTES = 1_200
"""Most that can follow a heading as its teaser."""
_COVER = 0.5
"""Least share of its line that the text of a link has, if the line is a heading: a date may stand beside it."""
_FEW = 3
"""Headings that make a list by themselves."""
_MOSTLY = 0.87
_NEARLY_ALL = 0.95
_OTHERWISE = {"article": 0.8, "documentation": 0.5, "service": 0.5, "forum": 0.4, "product": 0.8}
"""Confidence from which on the model knows better than the teasers: manuals and companies link to themselves a lot."""

_FILED = frozenset(
    "tag tags tagged label labels category categories kategorie categoria categorie rubric rubrics rubrika author"
    " authors".split()
)
"""Parts of an address that are followed by the name of what a list is about."""
_WHOLE = frozenset("archive archives sitemap search tags categories".split())
"""Last parts of an address that are lists themselves."""
_WIKI_LISTS = ("category:", "special:")
_NUMBERED = re.compile(r"page-?\d{1,5}|p\d{1,5}")
_NUMBER = re.compile(r"\d{1,5}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PART = re.compile(r"[01]?\d|[0-3]\d")
_LIST_QUERY = re.compile(r"(?:^|&)(?:cat|tag|paged|author|s|q|query|search)=[^&]")
_MAX_BEFORE = 2
"""Parts of an address before that of a list: a language, a section."""

_MANUALS = re.compile(
    r"\b(?:sphinx|doxygen|docusaurus|mkdocs|docbook|rustdoc|javadoc|vitepress|vuepress|gitbook|bookdown|mdbook|makeinfo"
    r"|texinfo|typedoc|asciidoctor|asciidoc|antora|gtk-doc|docutils|dokuwiki|mediawiki|latex2html|yard|pdoc|starlight)\b"
)
_FORUMS = re.compile(r"\b(?:discourse|phpbb|vbulletin|xenforo|nodebb|flarum|mybb|smf|invision|vanilla|fluxbb|punbb)\b")
_THREAD = re.compile(r"/(?:t|topics?|threads?|viewtopic|showthread|discussion|d)\b|viewtopic\.php|showthread\.php")
_MANUAL_HOSTS = frozenset("docs doc devdocs developer documentation manual".split())
_MANUAL_PATHS = frozenset("docs documentation manual handbook".split())
_SPHINX_INDEX = ("/genindex.html", "/genindex", "/genindex/")
_NOT_MANUAL = frozenset("blog blogs news press events community forum forums pricing careers jobs".split())


class Teasers(msgspec.Struct, frozen=True):
    """How much of a main text consists of headings that link to other pages of the site, and what is under them."""

    headings: int = 0
    """Different pages that they link to."""
    share: float = 0.0
    """Of the text: the headings, and as much after each as a teaser can have."""
    leads: bool = False
    """Whether the text begins with one."""

    @property
    def is_list(self) -> bool:
        """Whether the text is made of them."""
        return self.headings >= _FEW and self.share >= _MOSTLY


def page_kind(
    parsed: Parsed, metas: Mapping[str, str], schema_types: Collection[str], guess: str, confidence: float
) -> str:
    """The type of a page whose title, links, text and dates are known; `""` where it cannot be told."""
    teasers = find_teasers(parsed.url, parsed.canonical, parsed.title, parsed.text, parsed.links)
    as_list = guess if guess in LISTS else "listing"
    if is_list_address(parsed.url):
        return as_list
    if made := _made_as(parsed, metas.get("generator", ""), guess, confidence):
        return made
    if teasers.is_list and confidence < _OTHERWISE.get(guess, _NEVER):
        return as_list
    stated = "article" in metas.get("og:type", "").lower() or not _ARTICLES.isdisjoint(schema_types)
    dated = guess == "article" and _is_dated(parsed.date_confidence, stated, confidence)
    if dated or confidence >= SURE.get(guess, _NEVER):
        return guess
    return as_list if teasers.leads and teasers.share >= _NEARLY_ALL else ""


def _is_dated(date: float, stated: bool, confidence: float) -> bool:
    return any(date >= day and stated >= says and confidence >= least for day, says, least in _DATED)


def find_teasers(url: str, canonical: str, title: str, text: str, links: list[Link]) -> Teasers:
    """The teasers in a main text; the page itself, under whatever query, and its title are none."""
    lines = text.split("\n")
    starts = {line[:_KEY] for line in lines}
    ends = {line[-_KEY:] for line in lines}
    found = [link for link in links if (anchor := link.anchor)[:_KEY] in starts or anchor[-_KEY:] in ends]
    if not found:
        return Teasers()
    own = {_bare(url), _bare(canonical)}
    cut = title[: -len("…")] if title.endswith("…") else ""
    host = _bare(url).partition("/")[0]
    targets: dict[str, list[Link]] = {}
    for link in found:
        anchor, target = link.anchor, _bare(link.url)
        if anchor == title or (cut and anchor.startswith(cut)):
            continue
        if target not in own and target.partition("/")[0] == host and _is_heading(anchor):
            for key in (anchor, anchor[:_KEY], anchor[-_KEY:]):
                alike = targets.setdefault(key, [])
                if len(alike) < _ALIKE:
                    alike.append(link)
    return _count(lines, targets)


def _count(lines: list[str], targets: Mapping[str, list[Link]]) -> Teasers:
    seen: set[str] = set()
    total = inside = room = 0
    leads = False
    for line in lines:
        size = len(line.encode())
        link = _heading(line, targets)
        if link:
            leads |= not total
            seen.add(link.url)
            room = _TEASER_BYTES
            inside += size
        elif size <= room:
            room -= size
            inside += size
        else:
            room = 0
        total += size
    return Teasers(len(seen), inside / total if total else 0.0, leads)


def _heading(line: str, targets: Mapping[str, list[Link]]) -> Link | None:
    """The link whose text this line is, or begins or ends with."""
    least = len(line) * _COVER
    for key, fits in ((line, line.startswith), (line[:_KEY], line.startswith), (line[-_KEY:], line.endswith)):
        for link in targets.get(key, ()):
            if len(link.anchor) >= least and fits(link.anchor):
                return link
    return None


def _is_heading(anchor: str) -> bool:
    return len(anchor) >= _HEADING_BYTES or len(anchor.encode()) >= _HEADING_BYTES


def _bare(url: str) -> str:
    """An address without what does not tell one page from another here."""
    return url.partition("://")[2].partition("#")[0].partition("?")[0].removeprefix("www.").rstrip("/")


def is_list_address(url: str) -> bool:
    """Whether an address is one that only lists have."""
    _, segments, query = _address(url)
    if segments and _NUMBERED.fullmatch(segments[-1]):
        segments, numbered = segments[:-1], True
    else:
        numbered = len(segments) > 1 and segments[-2] == "page" and _NUMBER.fullmatch(segments[-1]) is not None
        segments = segments[:-2] if numbered else segments
    if numbered and len(segments) <= 1:
        return True
    if _is_archive(segments) or _is_filed(segments):
        return True
    if segments and segments[-1].startswith(_WIKI_LISTS):
        return True
    if segments and segments[-1] in _WHOLE and len(segments) <= _MAX_BEFORE:
        return True
    return len(segments) <= 1 and _LIST_QUERY.search(query) is not None


def _address(url: str) -> tuple[str, list[str], str]:
    """Host, parts of the path in lower case, query."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", [part for part in parts.path.lower().split("/") if part], parts.query
    except ValueError:
        return "", [], ""


def _is_archive(segments: list[str]) -> bool:
    """`/2019/04/` and `/blog/2019/04/05/`: a year and what is below it, and nothing else."""
    for start in range(min(len(segments), _MAX_BEFORE)):
        if _YEAR.fullmatch(segments[start]):
            below = segments[start + 1 :]
            return 1 <= len(below) <= 2 and all(_PART.fullmatch(part) for part in below)
    return False


def _is_filed(segments: list[str]) -> bool:
    """`/tag/rust/` and `/en/category/news/`: a name and nothing after it."""
    at = len(segments) - 2
    return 0 <= at <= _MAX_BEFORE and segments[at] in _FILED


def _made_as(parsed: Parsed, generator: str, guess: str, confidence: float) -> str:
    """What a page is by the program that made it, or by where it is kept."""
    names, (host, segments, _) = generator.lower(), _address(parsed.url)
    if names and _FORUMS.search(names) and _THREAD.search(parsed.url):
        return "forum"
    if not segments or not _NOT_MANUAL.isdisjoint(segments) or (guess != "article" and _surely(guess, confidence)):
        return ""
    kept = host.partition(".")[0] in _MANUAL_HOSTS or not _MANUAL_PATHS.isdisjoint(segments[:3])
    made = names and _MANUALS.search(names) is not None
    return "documentation" if kept or made or _is_sphinx(parsed.links) else ""


def _is_sphinx(links: list[Link]) -> bool:
    """Sphinx signs nothing, but every page links to its index."""
    return any(link.url.endswith(_SPHINX_INDEX) for link in links)


def _surely(guess: str, confidence: float) -> bool:
    return guess != "documentation" and confidence >= SURE.get(guess, _NEVER)
