"""What `gossamer rules test` shows: which rule takes a page, why the others do not, and what it cuts out."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import Attempt, DocumentRule, RuleBook
from gossamer.parse.rules.cutting import Cut, cut


class Trial(msgspec.Struct):
    """One page held against the rules."""

    url: str
    source: str
    """Where the HTML comes from."""
    attempts: list[Attempt]
    """Every rule for the host, in the order in which they are asked."""
    rule: DocumentRule | None
    cut: Cut | None

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.rule is not None and self.cut is not None:
            if self.cut.text:
                return f"rule {self.rule.label} takes it"
            return f"rule {self.rule.label} takes it, but its text is left to the general extractor"
        if not self.attempts:
            host = host_of(site_of(self.url))
            names = " or ".join(dict.fromkeys((host, registrable_domain(host))))
            return f"no rule takes it: there is none for {names}"
        return "no rule takes it"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "url": self.url,
            "source": self.source,
            "verdict": self.verdict,
            "rule": self.rule.label if self.rule is not None else None,
            "tried": [
                {"rule": tried.rule.label, "fits": tried.fits, "reason": tried.reason} for tried in self.attempts
            ],
            "cut": msgspec.to_builtins(self.cut) if self.cut is not None else None,
        }


def try_rules(book: RuleBook, url: str, html: str, source: str, limits: ParseLimits, now: float) -> Trial:
    """Hold a page against the rules."""
    attempts = book.attempts(url)
    rule = next((attempt.rule for attempt in attempts if attempt.fits), None)
    found = cut(Tree(html, limits.max_tags), rule, limits.max_text_chars, now) if rule is not None else None
    return Trial(url, source, attempts, rule, found)
