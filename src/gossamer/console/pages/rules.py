"""Document rules: which pages are documents and how they are cut, with a desk to try a rule before it is saved.

A rule that is tried travels in the address of the page, because trying changes nothing; only "Save" sends a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import groupby
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console, Done
from gossamer.console.rule_desk import LONGEST, SHOWN, Draft, Tried, read_draft, try_draft
from gossamer.data.guidance import guidance_of
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.steering.fitting import refit
from gossamer.model.counts import counted, noun
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.trial_process import Trials
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.toml import write_rules
from gossamer.settings import Settings
from gossamer.tables.rulebook import load_rules, remove_rules, save_rules

PATH = "/console/rules"
_DOMAINS = 200
"""Domains listed at once."""
_TEXT = 3000
"""Characters shown of a text that was cut out."""
_BLANK = """[[rule]]
domain = "example.org"
name = "news"
urls = ["/news/{year}/{month}/{slug}"]
title = "h1"
text = "article"
date = "time@datetime"
"""


def routes(console: Console) -> list[Route]:
    """Where rules are listed, tried, saved and removed."""
    page = _Page(console)
    return [
        console.shows("/rules", page.show),
        console.does("/rules/save", page.save),
        console.does("/rules/remove", page.remove),
    ]


class _Page:
    """What the page shows and does."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl
        self._trials = Trials()

    def show(self, asked: Asked) -> Response:
        """The rules by domain; the desk with the rule that is changed or tried."""
        query = asked.query
        with closing(self._crawl.folder.read()) as db:  # of its own: reading stored pages takes its time
            rules = load_rules(db)
            draft = read_draft(query["rule"]) if "rule" in query else _to_change(rules, query)
            tried = self._tried(db, draft, query.get("page", "")) if "rule" in query and draft.rules else None
        words = query.get("q", "").strip()
        found = [(domain, list(group)) for domain, group in groupby(rules, lambda rule: rule.domain) if words in domain]
        return self._console.page(
            asked, "rules.html", domains=found[:_DOMAINS], more=max(0, len(found) - _DOMAINS), total=len(rules),
            words=words, draft=draft, tried=tried, path=PATH, longest=LONGEST, shown=SHOWN, most_text=_TEXT,
            try_link=lambda page: self._console.links.to(PATH, rule=draft.text, page=page),
        )  # fmt: skip

    def _tried(self, db: Database, draft: Draft, page: str) -> Tried:
        settings, page, problem = self._crawl.settings(), page.strip(), ""
        try:
            address = canonical_or_error(page, settings) if page else ""
        except UsageError as error:  # what fits can be told all the same
            address, problem = "", str(error)
        found = try_draft(db, self._crawl.folder, self._trials, draft, address, settings.parse, self._crawl.clock.now())
        return msgspec.structs.replace(found, page=page, trial=None, problem=problem) if problem else found

    def save(self, asked: Asked) -> Done:
        """Take the rules of a text in, each in place of the one with its domain and name."""
        draft = read_draft(asked.form.get("rule", ""))
        if draft.problem:
            raise UsageError(f"{draft.problem} Nothing was saved.")
        settings, now = self._crawl.settings(), self._crawl.clock.now()

        def change(db: Database) -> tuple[int, int, int, int]:
            new, replaced = save_rules(db, draft.rules, now)
            return new, replaced, *_refit(db, settings, {rule.domain for rule in draft.rules}, now)

        new, replaced, known, fit = self._crawl.change(change)
        labels = ", ".join(rule.label for rule in draft.rules)
        sentence = (
            f"Saved: {labels} ({new} new, {replaced} changed). {fit} of "
            f"{counted(known, 'known URL')} {noun(fit, 'fits', 'fit')} now."
        )
        return Done("save rules", labels, sentence, _to(draft.rules[0]), draft.text)

    def remove(self, asked: Asked) -> Done:
        """Take one rule out."""
        domain, name = asked.form.get("domain", ""), asked.form.get("name", "")
        settings, now = self._crawl.settings(), self._crawl.clock.now()

        def change(db: Database) -> str:
            body = next((rule for rule in load_rules(db) if (rule.domain, rule.name) == (domain, name)), None)
            if body is None:
                raise UsageError(f"the rule {domain} {name} no longer exists: open the list again")
            remove_rules(db, domain, name)
            _refit(db, settings, {domain}, now)
            return write_rules([body])

        body = self._crawl.change(change)
        return Done("remove rule", f"{domain} {name}", f"Removed the rule {domain} {name}.", PATH, body)


def _refit(db: Database, settings: Settings, domains: Iterable[str], now: float) -> tuple[int, int]:
    """Hold what is known already against the rules: how many URLs there are, and how many fit."""
    guidance = guidance_of(settings, load_rules(db))
    counts = [refit(db, domain, guidance, now) for domain in sorted(domains)]
    return sum(known for known, _ in counts), sum(fit for _, fit in counts)


def _to_change(rules: Iterable[DocumentRule], query: Mapping[str, str]) -> Draft:
    """The stored rule that is to be changed, or a beginning for a new one."""
    wanted = query.get("domain", ""), query.get("name", "")
    found = [rule for rule in rules if (rule.domain, rule.name) == wanted]
    return Draft(write_rules(found), tuple(found)) if found else Draft(_BLANK)


def _to(rule: DocumentRule) -> str:
    return f"{PATH}?{urlencode({'domain': rule.domain, 'name': rule.name})}"
