"""Document rules: which pages of a domain are documents, told by their URL alone, and how to cut them.

A rule belongs to a registrable domain and covers all its hosts, or to one host. Rules are looked
up by name, so what a look-up costs depends on the rules of one domain and not on how many
domains have rules. Expressions are compiled when their domain is first asked for.

For a URL the rules of its host come first, then those of its registrable domain; among them
the order is that of their names. The first rule decides of which some pattern of `urls`
matches and none of `not_urls` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from gossamer.errors import UsageError
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.site.patterns import MAX_CHARS, compile_patterns, path_and_query


class DocumentRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is known of one kind of documents; `toml.py` checks it when it comes in."""

    domain: str
    """A registrable domain, which covers all its hosts, or a host."""
    urls: tuple[str, ...]
    """Patterns (`patterns.py`) of which one must match path and query."""
    name: str = "document"
    """Unique within the domain."""
    not_urls: tuple[str, ...] = ()
    """Patterns of which none may match."""
    title: tuple[str, ...] = ()
    """CSS selectors, tried in order until one finds something; `selector@name` reads an attribute."""
    text: tuple[str, ...] = ()
    """CSS selectors; all elements that the first fruitful one matches make up the text."""
    date: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    """CSS selectors of what is taken out of the text."""
    date_format: str = ""
    """How dates are written, `%d.%m.%Y %H:%M` or `%d %B %Y`; without it the usual forms are understood."""
    category: str = ""
    """The category of these documents."""
    page_type: str = "article"

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"{self.domain} {self.name}"


class Attempt(msgspec.Struct, frozen=True):
    """One rule held against one URL."""

    rule: DocumentRule
    matched: str = ""
    """The pattern of `urls` that matches."""
    excluded: str = ""
    """The pattern of `not_urls` that matches."""
    problem: str = ""

    @property
    def fits(self) -> bool:
        """Whether the rule says: this is a document."""
        return bool(self.matched) and not self.excluded

    @property
    def reason(self) -> str:
        """Why it fits or does not."""
        if self.problem:
            return self.problem
        if not self.matched:
            return f"none of its URL patterns matches: {', '.join(self.rule.urls)}"
        return f"not_urls {self.excluded} matches" if self.excluded else f"urls {self.matched} matches"


class RuleBook:
    """All rules, by domain."""

    def __init__(self, rules: Iterable[DocumentRule] = ()) -> None:
        """Of two rules with the same domain and name the later one counts."""
        named = {(rule.domain, rule.name): rule for rule in rules}
        by_domain: dict[str, list[DocumentRule]] = defaultdict(list)
        for _, rule in sorted(named.items()):
            by_domain[rule.domain].append(rule)
        self._by_domain = dict(by_domain)
        self._ready: dict[str, list[_Ready]] = {}
        self._by_site: dict[str, list[_Ready]] = {}
        """The rules of the sites that were asked about."""
        self.tried = 0
        """Rules compared so far."""

    def __len__(self) -> int:
        return sum(map(len, self._by_domain.values()))

    def __iter__(self) -> Iterator[DocumentRule]:
        """All rules, by domain and name."""
        return (rule for domain in sorted(self._by_domain) for rule in self._by_domain[domain])

    def match(self, url: str) -> DocumentRule | None:
        """The rule that says that a canonical URL is a document."""
        return next((attempt.rule for attempt in self._attempts(url) if attempt.fits), None)

    def fits(self, url: str) -> bool | None:
        """Whether some rule says that a canonical URL is a document; None where its host has no rules.

        The same as asking `match`, for callers who ask about each new URL of a crawl: in a third of the time.
        """
        if not self._by_domain:
            return None
        site = site_of(url)
        rules = self._by_site.get(site)
        if rules is None:
            rules = self._by_site[site] = list(self._rules_for(host_of(site)))
        if not rules:
            return None
        target = path_and_query(url)
        if len(target) > MAX_CHARS:
            return False
        return any(rule.urls.match(target) and not rule.not_urls.match(target) for rule in rules)

    def attempts(self, url: str) -> list[Attempt]:
        """What every rule for the URL's host says, in the order in which they are asked."""
        return list(self._attempts(url))

    def _attempts(self, url: str) -> Iterator[Attempt]:
        if not self._by_domain:
            return
        target = path_and_query(url)
        for ready in self._rules_for(host_of(site_of(url))):
            yield self._attempt(ready, target)

    def _attempt(self, ready: _Ready, target: str) -> Attempt:
        if ready.problem:
            return Attempt(ready.rule, problem=ready.problem)
        if len(target) > MAX_CHARS:
            return Attempt(ready.rule, problem=f"path and query have more than {MAX_CHARS} characters")
        self.tried += 1
        matched = _written(ready.rule.urls, ready.urls.first(target))
        excluded = _written(ready.rule.not_urls, ready.not_urls.first(target)) if matched else ""
        return Attempt(ready.rule, matched, excluded)

    def _rules_for(self, host: str) -> Iterator[_Ready]:
        yield from self._of(host)
        domain = registrable_domain(host)
        if domain != host:
            yield from self._of(domain)

    def _of(self, domain: str) -> list[_Ready]:
        ready = self._ready.get(domain)
        if ready is None:
            if domain not in self._by_domain:
                return []
            ready = self._ready[domain] = [_Ready(rule) for rule in self._by_domain[domain]]
        return ready


class _Ready:
    """A rule with its patterns compiled. One that a later version refuses must not lose pages."""

    def __init__(self, rule: DocumentRule) -> None:
        self.rule = rule
        self.problem = problem_of(rule)
        usable = not self.problem
        self.urls = compile_patterns(rule.urls if usable else ())
        self.not_urls = compile_patterns(rule.not_urls if usable else ())


def problem_of(rule: DocumentRule) -> str:
    """Why the patterns of a rule cannot be used by this version, as they could by the one it was saved with."""
    for pattern in (*rule.urls, *rule.not_urls):
        try:
            compile_patterns([pattern])
        except UsageError as error:
            return f"{pattern}: {error}"
    return ""


def _written(patterns: tuple[str, ...], place: int | None) -> str:
    return "" if place is None else patterns[place]
