"""The answer of `gossamer rules suggest`: rules for a site from its crawled pages, with the evidence as comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.data.raw_pages import StoredPage, documents_of, html_of, sites_named
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.model.counts import counted, noun
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.selectors import Found, Sample, find_selectors
from gossamer.parse.rules.toml import write_rules
from gossamer.site.url_groups import MIN_PAGES, Group, Page, group_urls

MOST_PAGES = 5000
"""Documents of a site that are examined."""
MOST_SAMPLES = 20
"""Pages of a template whose HTML is read."""
_MOST_RULES = 10
_EXAMPLES = 3
_SHOWN_REST = 8
_WORD = re.compile(r"[a-z][a-z_-]+")


class Suggestion(msgspec.Struct):
    """Proposed rules, and why."""

    rules: list[DocumentRule]
    evidence: dict[str, list[str]]
    """Rule label → evidence for it."""
    remarks: list[str]
    """How much was examined, and templates that were not proposed."""

    def as_toml(self) -> str:
        """The rules with the evidence as comments; `rules import` reads it."""
        head = "".join(f"# {line}\n" for line in [*self.remarks, "Check each rule with `gossamer rules test URL`."])
        return f"{head}\n{write_rules(self.rules, self.evidence)}"

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        rules = [msgspec.to_builtins(rule) | {"evidence": self.evidence[rule.label]} for rule in self.rules]
        return {"rules": rules, "remarks": self.remarks}


def suggest(folder: DataFolder, db: Database, name: str, limits: ParseLimits, now: float) -> Suggestion:
    """Propose rules for a site."""
    sites = sites_named(db, name)
    if not sites:
        raise UsageError(f"{name} is not a site of this crawl: `gossamer export urls` lists the host names")
    pages = documents_of(folder, db, sites, MOST_PAGES)
    if len(pages) < MIN_PAGES:
        raise UsageError(
            f"only {counted(pages, 'document')} of {name} {noun(len(pages), 'is')} stored: crawl more of it first"
        )
    stored = {page.url: page for page in pages}
    groups = group_urls([Page(page.url, page.title, len(page.text), page.page_type) for page in pages])
    chosen = [group for group in groups if not group.verdict][:_MOST_RULES]
    found = [(group, _selectors(folder, group, stored, limits, now)) for group in chosen]
    remarks = [f"Proposed from {counted(pages, 'crawled document')} of {', '.join(sites[:5])}."]
    remarks += [_rest(group) for group in groups if group not in chosen][:_SHOWN_REST]
    suggestion = Suggestion([], {}, remarks)
    for kind in _same_selectors(found):
        _add_rule(suggestion, _domain(pages), kind, len(pages))
    return suggestion


def _selectors(
    folder: DataFolder, group: Group, stored: dict[str, StoredPage], limits: ParseLimits, now: float
) -> Found:
    step = max(1, len(group.pages) // MOST_SAMPLES)
    samples = []
    for page in group.pages[::step][:MOST_SAMPLES]:
        document = stored[page.url]
        html = html_of(folder, document, limits)
        if html is not None and document.text:
            tree = Tree(html, limits.max_tags)
            title = tree.first("title")
            samples.append(Sample(tree, document.text, title.text if title is not None else ""))
    if not samples:
        return Found(evidence=["no selectors: the HTML of these pages is not in the archive"])
    return find_selectors(samples, now)


def _same_selectors(found: Sequence[tuple[Group, Found]]) -> list[list[tuple[Group, Found]]]:
    """Templates with equal selectors make one rule."""
    kinds: dict[tuple[str, ...], list[tuple[Group, Found]]] = {}
    for group, selectors in found:
        key = (selectors.title, selectors.text, selectors.date, selectors.date_format, selectors.author)
        kinds.setdefault(key, []).append((group, selectors))
    return list(kinds.values())


def _add_rule(suggestion: Suggestion, domain: str, kind: list[tuple[Group, Found]], total: int) -> None:
    groups, selectors = [group for group, _ in kind], kind[0][1]
    rule = DocumentRule(
        domain, tuple(group.template for group in groups),
        name=_free_name(groups, {rule.name for rule in suggestion.rules}),
        not_urls=tuple(template for group in groups for template in group.excluded)[:20],
        title=_one(selectors.title), text=_one(selectors.text), date=_one(selectors.date),
        author=_one(selectors.author), date_format=selectors.date_format,
        remove=tuple(dict.fromkeys(name for _, found in kind for name in found.remove)) if selectors.text else (),
    )  # fmt: skip
    suggestion.rules.append(rule)
    fitting = sum(len(group.pages) for group in groups)
    lines = [f"{fitting} of {counted(total, 'document')}"]
    for group in groups:
        titles = f"{counted(group.pages, 'page')}, {group.own_titles:.0%} with a title of their own"
        lines.append(f"{group.template}: {titles}, half have {group.median_chars} characters or more")
        lines += [f"    {page.url}" for page in group.pages[:: max(1, len(group.pages) // _EXAMPLES)][:_EXAMPLES]]
    suggestion.evidence[rule.label] = [*lines, *selectors.evidence]


def _one(selector: str) -> tuple[str, ...]:
    return (selector,) if selector else ()


def _free_name(groups: Sequence[Group], taken: set[str]) -> str:
    """The first plain word of a path that has one."""
    words = [word for part in groups[0].template.split("/") if (word := part) and _WORD.fullmatch(word)]
    name = words[0] if words else "document"
    if name not in taken:
        return name
    return next(other for number in range(2, _MOST_RULES + 2) if (other := f"{name}-{number}") not in taken)


def _domain(pages: Sequence[StoredPage]) -> str:
    """The registrable domain, unless all pages are on one host below it that is not its main host."""
    hosts = {host_of(site_of(page.url)) for page in pages}
    host = min(hosts)
    domain = registrable_domain(host)
    return host if len(hosts) == 1 and host not in (domain, f"www.{domain}") else domain


def _rest(group: Group) -> str:
    pages = counted(group.pages, "page")
    return f"Not proposed: {group.template}, {pages}: {group.verdict or 'there are enough larger groups'}."
