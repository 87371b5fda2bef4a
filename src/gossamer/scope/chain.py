"""The chain: every scope rule in order, and who decided.

Start by rejecting nothing. Then ask each rule in turn: the first refusal is final, a rule without an opinion is
skipped,
and a URL that no rule refuses is allowed. The chain that `build_chain` makes reads:

    reject hosts outside the crawl,
    then let the first filter that matches decide: an allow rule saves the URL from the filters below it, and from
      nothing else,
    then reject what looks like a trap,
    then reject what an automatic filter matches (`automatic`).

So an allow filter never lets in a foreign host or a trap. A rule that crashes rejects, under its name with `.crashed`,
and is counted: a promise is not kept by failing open.

Nine of ten links of a page were on the page before it, so `split` caches verdicts, within a day (UTC) and up to a
number
of URLs; a rule in such a chain must depend on nothing but the URL and the day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from gossamer.model.decision import Decision, allow, refuse
from gossamer.scope.automatic import AutomaticFilter, AutomaticRule, Fits
from gossamer.scope.filters import DEFAULT_DENY_SUFFIXES, FilterRule, Filters, deny_suffixes
from gossamer.scope.hosts import HostScope, Mode
from gossamer.scope.traps import TrapGuard, TrapLimits

REMEMBERED_URLS = 65_536
"""Verdicts that a built chain keeps: about 15 MB, the links of some thousand pages."""

_DAY: Final = 86_400
_UNKNOWN: Final = Decision(False, "", "")


class Rule(Protocol):
    """Anything with an opinion about URLs. It may also have `verdicts(url, now) -> list[Decision]` to give `explain`
    more than its one decision."""

    @property
    def name(self) -> str:
        """A stable name, such as `filter`."""
        ...

    def decide(self, url: str, now: float) -> Decision | None:
        """A verdict on a canonical URL, or None for no opinion."""
        ...


class Chain:
    """Rules in order; decides, explains, and counts the rules that crash."""

    def __init__(self, rules: Sequence[Rule], remember: int = 0) -> None:
        """`remember`: URLs whose verdicts `split` keeps; 0 if a rule depends on more than URL and day."""
        self.rules = tuple(rules)
        self.crashes: Counter[str] = Counter()
        """Crashes by the name of the rule."""
        self._remember = remember
        self._memo: dict[str, Decision | None] = {}
        self._day = 0

    def decide(self, url: str, now: float) -> Decision:
        """The first refusal; else the verdict of the last rule with an opinion."""
        last = None
        for rule in self.rules:
            verdict = self._ask(rule, url, now)
            if verdict is not None:
                if not verdict.allowed:
                    return verdict
                last = verdict
        return last or allow("scope", "no rule refuses it")

    def verdicts(self, url: str, now: float) -> list[Decision]:
        """The verdict of every rule, in order, also after a refusal."""
        found: list[Decision] = []
        for rule in self.rules:
            found += self._ask_all(rule, url, now)
        return found

    def split(self, urls: Iterable[str], now: float) -> tuple[list[str], list[tuple[str, Decision]]]:
        """The URLs that pass, and the others each with its refusal; both in the order given."""
        allowed: list[str] = []
        refused: list[tuple[str, Decision]] = []
        memo = self._memory(now)
        for url in urls:
            verdict = memo.get(url, _UNKNOWN)
            if verdict is _UNKNOWN:
                verdict = self._refusal(url, now, memo)
            if verdict is None:
                allowed.append(url)
            else:
                refused.append((url, verdict))
        return allowed, refused

    def _refusal(self, url: str, now: float, memo: dict[str, Decision | None]) -> Decision | None:
        """The first refusal, as in `decide`, with less work; a crash is not cached."""
        verdict = None
        try:
            for rule in self.rules:
                verdict = rule.decide(url, now)
                if verdict is not None and not verdict.allowed:
                    break
            else:
                verdict = None
        except Exception as error:
            return self._crashed(rule, error)
        if self._remember:
            memo[url] = verdict
        return verdict

    def _memory(self, now: float) -> dict[str, Decision | None]:
        day = int(now // _DAY)
        if day != self._day or len(self._memo) >= self._remember:
            self._day, self._memo = day, {}
        return self._memo

    def with_rule(self, rule: Rule) -> Chain:
        """The same chain with this rule in place of the one of its name; counts of crashes stay."""
        chain = Chain([rule if old.name == rule.name else old for old in self.rules], self._remember)
        chain.crashes = self.crashes
        return chain

    def with_hosts(self, hosts: Iterable[str]) -> Chain:
        """A chain that also covers these hosts (names or seed URLs); compiled rules are shared."""
        chain, hosts = self, list(hosts)
        for rule in self.rules:
            if isinstance(rule, HostScope) and (wider := rule.with_hosts(hosts)) is not rule:
                chain = chain.with_rule(wider)
        return chain

    def _ask(self, rule: Rule, url: str, now: float) -> Decision | None:
        try:
            return rule.decide(url, now)
        except Exception as error:
            return self._crashed(rule, error)

    def _ask_all(self, rule: Rule, url: str, now: float) -> list[Decision]:
        try:
            ask = getattr(rule, "verdicts", None)
            if ask is not None:
                return list(ask(url, now))
            return [rule.decide(url, now) or allow(rule.name, "no opinion")]
        except Exception as error:
            return [self._crashed(rule, error)]

    def _crashed(self, rule: Rule, error: Exception) -> Decision:
        self.crashes[rule.name] += 1
        text = " ".join(str(error).split())
        return refuse(f"{rule.name}.crashed", f"the rule {rule.name} failed: {type(error).__name__}: {text}")


class ScopeConfig(msgspec.Struct, frozen=True):
    """What belongs to a crawl. Small and encodable: each process builds its own chain from it."""

    mode: Mode = "host"
    """Meaning of the hosts: the very sites, their registrable domains, or a list with wildcards."""
    hosts: tuple[str, ...] = ()
    """Seeds (hosts, `host:port` or URLs), or in the mode `list` hosts and `*.host` patterns."""
    redirected: tuple[tuple[str, str], ...] = ()
    """Sites that belong to the crawl because a seed redirects there, each with the seed."""
    filters: tuple[FilterRule, ...] = ()
    """The operator's filters, in order, also those that are switched off."""
    removed: tuple[FilterRule, ...] = ()
    """Removals, checked before them."""
    deny_suffixes: tuple[str, ...] = DEFAULT_DENY_SUFFIXES
    """Suffixes of paths that are not fetched, checked after the filters; empty for none."""
    traps: TrapLimits = TrapLimits()
    """How far a URL may go before it counts as a trap."""
    automatic: tuple[AutomaticFilter, ...] = ()
    """Automatic filters."""
    probe: int = 0
    """One in so many URLs that these match passes; 0: none."""


def build_chain(config: ScopeConfig, fits: Fits = lambda _url: None) -> Chain:
    """The chain of a configuration; raises a `UsageError` if it is wrong. `fits` says which URLs fit a document rule:
    no automatic filter refuses those."""
    filters = Filters(config.filters, config.removed, deny_suffixes(config.deny_suffixes))
    hosts = HostScope(config.mode, config.hosts, config.redirected)
    rules: list[Rule] = [hosts, filters, TrapGuard(config.traps)]
    if config.automatic:
        rules.append(AutomaticRule(config.automatic, fits, config.probe))
    return Chain(rules, REMEMBERED_URLS)
