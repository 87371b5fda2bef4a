"""Trying document rules on stored pages before they are saved: nothing here fetches or changes anything.

The rules that are typed are asked together with those that the crawl has, as they would be once saved: a rule that
never gets its turn because another takes its pages first is seen here.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gossamer.crawl.folder import DataFolder
from gossamer.crawl.raw_pages import newest_html, sites_named
from gossamer.crawl.rule_trial import Trial, try_rules
from gossamer.errors import GossamerError, UsageError
from gossamer.frontier.database import Database
from gossamer.frontier.rulebook import load_rules
from gossamer.model.site import key64
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.parse.rules.toml import read_rules

LONGEST = 6000
"""Characters of rules that are tried at once: they travel in the address of the page."""
SHOWN = 15
"""Pages listed of each kind."""
_LOOKED_AT = 5000
"""Stored pages that are held against the rules."""
_STORED = "SELECT url FROM urls WHERE site_id = ? AND outcome = 'document' AND segment IS NOT NULL LIMIT ?"


class Draft(msgspec.Struct, frozen=True):
    """What somebody typed."""

    text: str
    rules: tuple[DocumentRule, ...] = ()
    problem: str = ""
    """What is wrong with it, as a sentence; empty: nothing."""


class Tried(msgspec.Struct, frozen=True):
    """A draft held against stored pages."""

    sites: list[str]
    pages: int
    """Stored pages that were looked at."""
    fitting: list[str]
    """Those that a rule of the draft takes."""
    taken: list[str]
    """Those that a rule of the draft fits, but another rule of the crawl takes first."""
    others: list[str]
    replaces: list[str]
    """Rules of the crawl in whose place the draft's would be."""
    page: str = ""
    """The page that was cut."""
    trial: Trial | None = None
    problem: str = ""
    """Why no page could be cut."""


def read_draft(text: str) -> Draft:
    """The rules in a text, or what is wrong with it."""
    text = text.replace("\r\n", "\n")
    try:
        if len(text) > LONGEST:
            raise UsageError(f"this is longer than {LONGEST} characters: try fewer rules at once")
        rules = tuple(read_rules(text, "this text"))
        if not rules:
            raise UsageError("there is no rule in this text: a rule begins with [[rule]]")
    except UsageError as error:
        return Draft(text, problem=_sentence(error))
    return Draft(text, rules)


def try_draft(db: Database, folder: DataFolder, draft: Draft, page: str, limits: ParseLimits, now: float) -> Tried:
    """Hold the rules of a draft against the stored pages of their domains, and cut one page: the one asked for, or the
    first that fits."""
    stored, mine = load_rules(db), {(rule.domain, rule.name) for rule in draft.rules}
    book = RuleBook([*stored, *draft.rules])
    sites = list(dict.fromkeys(site for rule in draft.rules for site in sites_named(db, rule.domain)))
    urls = _stored_pages(db, sites)
    fitting, taken, others = _sorted(book, RuleBook(draft.rules), mine, urls)
    found = Tried(
        sites, len(urls), fitting, taken, others, [rule.label for rule in stored if (rule.domain, rule.name) in mine]
    )
    page = page or next(iter([*fitting, *taken, *others]), "")
    if not page:
        return msgspec.structs.replace(found, problem="No page of this domain is stored yet: crawl some first.")
    try:
        html = newest_html(folder, db, page, limits)
        trial = try_rules(book, page, html.text, html.source, limits, now)
    except GossamerError as error:
        return msgspec.structs.replace(found, page=page, problem=_sentence(error))
    return msgspec.structs.replace(found, page=page, trial=trial)


def _stored_pages(db: Database, sites: Iterable[str]) -> list[str]:
    urls: list[str] = []
    for site in sites:
        urls += [url for (url,) in db.execute(_STORED, (key64(site), _LOOKED_AT - len(urls)))]
        if len(urls) >= _LOOKED_AT:
            break
    return sorted(urls)


def _sorted(
    book: RuleBook, draft: RuleBook, mine: set[tuple[str, str]], urls: Iterable[str]
) -> tuple[list[str], list[str], list[str]]:
    """Pages that the draft takes, that it would take but for another rule, and the others."""
    fitting: list[str] = []
    taken: list[str] = []
    others: list[str] = []
    for url in urls:
        rule = book.match(url)
        if rule is not None and (rule.domain, rule.name) in mine:
            fitting.append(url)
        else:
            (taken if draft.fits(url) else others).append(url)
    return fitting, taken, others


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
