"""Trying document rules on stored pages before they are saved: nothing here fetches or changes anything.

The rules that are typed are asked together with those that the crawl has, as they would be once saved: a rule that
never gets its turn because another takes its pages first is seen here. They run in a process with a limit
(`operate/trial_process.py`): every reader may type some.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gossamer.console.words import capitalised
from gossamer.data.folder import DataFolder
from gossamer.data.raw_pages import newest_html, sites_named
from gossamer.database.database import Database
from gossamer.errors import GossamerError, UsageError
from gossamer.frontier.views.site_urls import document_urls
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.operate.rule_trial import Trial
from gossamer.operate.trial_process import TrialAnswer, TrialJob, Trials
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.toml import read_rules
from gossamer.tables.rulebook import load_rules

LONGEST = 6000
"""Characters of rules that are tried at once: they travel in the address of the page."""
SHOWN = 15
"""Pages listed of each kind."""
_LOOKED_AT = 5000
"""Stored pages that are held against the rules."""


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
            raise UsageError(f"the text is longer than {LONGEST} characters: try fewer rules at once")
        rules = tuple(read_rules(text, "this text"))
        if not rules:
            raise UsageError("the text contains no rule: a rule begins with [[rule]]")
    except UsageError as error:
        return Draft(text, problem=_sentence(error))
    return Draft(text, rules)


def try_draft(
    db: Database, folder: DataFolder, trials: Trials, draft: Draft, page: str, limits: ParseLimits, now: float
) -> Tried:
    """Hold the rules of a draft against the stored pages of their domains, and cut one page: the one asked for, or the
    first that fits."""
    mine = {(rule.domain, rule.name) for rule in draft.rules}
    sites = list(dict.fromkeys(site for rule in draft.rules for site in sites_named(db, rule.domain)))
    urls = _stored_pages(db, sites)
    stored = load_rules(db)
    replaces = [rule.label for rule in stored if (rule.domain, rule.name) in mine]
    job = TrialJob(_speaking_of([*urls, page], stored), draft.rules, urls, limits=limits, now=now)
    found, problem = TrialAnswer(), ""
    try:
        found = trials.run(job)
        page = page or next(iter([*found.fitting, *found.taken, *found.others]), "")
        if not page:
            raise UsageError("the crawl has no page of this domain yet: crawl some first")
        html = newest_html(folder, db, page, limits)
        # A run of its own: where the selectors take too long, it is seen all the same which pages fit.
        cutting = msgspec.structs.replace(job, urls=[], page=page, html=html.text, source=html.source)
        found.trial = trials.run(cutting).trial
    except GossamerError as error:
        problem = _sentence(error)
    return Tried(sites, len(urls), found.fitting, found.taken, found.others, replaces, page, found.trial, problem)


def _speaking_of(urls: Iterable[str], rules: Iterable[DocumentRule]) -> tuple[DocumentRule, ...]:
    """The rules for the hosts of some URLs."""
    hosts = {host_of(site_of(url)) for url in urls if url}
    names = hosts | {registrable_domain(host) for host in hosts}
    return tuple(rule for rule in rules if rule.domain in names)


def _stored_pages(db: Database, sites: Iterable[str]) -> list[str]:
    urls: list[str] = []
    for site in sites:
        urls += document_urls(db, site, _LOOKED_AT - len(urls))
        if len(urls) >= _LOOKED_AT:
            break
    return sorted(urls)


def _sentence(error: Exception) -> str:
    text = str(error)
    return capitalised(text) + ("" if text.endswith(".") else ".")
