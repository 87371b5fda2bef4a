"""The answer of `gossamer rules test`: the rule that applies to a page, why the others do not, and what it cuts out."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import Attempt, DocumentRule, RuleBook
from gossamer.parse.rules.cutting import Cut, cut


class Trial(msgspec.Struct):
    """The rules applied to a page."""

    url: str
    source: str
    """Where the HTML comes from."""
    attempts: list[Attempt]
    """Every rule for the host, in order."""
    rule: DocumentRule | None
    cut: Cut | None

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.rule is not None and self.cut is not None:
            if self.cut.text:
                return f"rule {self.rule.label} applies"
            return f"rule {self.rule.label} applies, but leaves the text to the general extractor"
        if not self.attempts:
            host = host_of(site_of(self.url))
            names = " or ".join(dict.fromkeys((host, registrable_domain(host))))
            return f"no rule applies: there is none for {names}"
        return "no rule applies"

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
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
    """Apply the rules to a page."""
    attempts = book.attempts(url)
    rule = next((attempt.rule for attempt in attempts if attempt.fits), None)
    found = cut(Tree(html, limits.max_tags), rule, limits.max_text_chars, now) if rule is not None else None
    return Trial(url, source, attempts, rule, found)
