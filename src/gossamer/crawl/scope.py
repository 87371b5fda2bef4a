"""The scope of a running crawl: the settings, the seeds so far, and removals.

Seeds and removals are in the database, so that `gossamer inject` and `gossamer remove` reach running workers: they look
for changes every few seconds. Document rules and mirrors come the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.crawl.parser_config import ParserConfig, full_chain
from gossamer.database.database import Database
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.steering.filters import load_filters
from gossamer.frontier.steering.removals import filter_rule, removed_prefixes
from gossamer.frontier.steering.seed_redirects import redirected_sites
from gossamer.frontier.views.seed_list import seed_sites
from gossamer.model.decision import Decision
from gossamer.model.url import Canonicalizer
from gossamer.parse.rules import RuleBook
from gossamer.scope.chain import Chain, ScopeConfig
from gossamer.scope.filters import DEFAULT_DENY_SUFFIXES
from gossamer.settings import Settings
from gossamer.tables.rulebook import load_rules, rules_version


def scope_config(settings: Settings, database: Database, more_sites: Sequence[str] = ()) -> ScopeConfig:
    """The scope at this moment."""
    seeds = list(dict.fromkeys([*seed_sites(database), *more_sites]))
    removed = [filter_rule(what) for what in removed_prefixes(database)]
    return ScopeConfig(
        mode=settings.scope.mode,
        hosts=(*seeds, *settings.scope.hosts),
        redirected=() if settings.scope.mode == "list" else tuple(redirected_sites(database)),
        filters=settings.scope.filters,
        removed=tuple(removed),
        deny_suffixes=DEFAULT_DENY_SUFFIXES if settings.scope.skip_files else (),
        traps=settings.traps,
        automatic=load_filters(database) if settings.filters.mode == "on" else (),
        probe=settings.filters.probe,
    )


class LiveScope:
    """The chain, the document rules and the mirrors in force, renewed when they change."""

    def __init__(self, settings: Settings, database: Database, categories: bytes = b"") -> None:
        """`categories` is the stored classifier, for the parsers."""
        self._settings, self._database, self._categories = settings, database, categories
        self.config = scope_config(settings, database)
        self._rules_version = rules_version(database)
        self.documents = load_rules(database)
        """The document rules."""
        self.chain = self._built_chain()
        self._mirrors_version = mirror_table.version(database)
        self.mirrors = mirror_table.load_mirrors(database, settings.dedup.mirrors)
        """Sites and the origins that represent them."""

    def decide_inside(self, url: str, now: float) -> Decision:
        """The verdict on a URL if its host belonged to the crawl; a list of hosts is final."""
        chain = self.chain if self.config.mode == "list" else self.chain.with_hosts([url])
        return chain.decide(url, now)

    def refresh(self) -> bool:
        """Look for changes; returns whether there were any."""
        new_rules, new_mirrors = self._refresh_documents(), self._refresh_mirrors()
        config = scope_config(self._settings, self._database)
        if new_rules or config != self.config:
            self.config = config
            self.chain = self._built_chain()
            return True
        return new_mirrors

    def _built_chain(self) -> Chain:
        return full_chain(self.config, self._settings.scope.rules, RuleBook(self.documents).fits)

    def _refresh_documents(self) -> bool:
        version = rules_version(self._database)
        if version == self._rules_version:
            return False
        # The number first: rules that change while they are read are read again.
        self._rules_version, self.documents = version, load_rules(self._database)
        return True

    def _refresh_mirrors(self) -> bool:
        version = mirror_table.version(self._database)
        if version == self._mirrors_version:
            return False
        self._mirrors_version = version
        self.mirrors = mirror_table.load_mirrors(self._database, self._settings.dedup.mirrors)
        return True

    def canonicalizer(self) -> Canonicalizer:
        """The canonicalizer in force."""
        return Canonicalizer(self._settings.urls, self.mirrors)

    def parser_config(self) -> ParserConfig:
        """The same for the parsers."""
        settings = self._settings
        return ParserConfig(
            settings.urls,
            self.config,
            settings.scope.rules,
            settings.parse,
            settings.crawl.parse_memory,
            settings.dedup.near,
            documents=self.documents,
            categories=self._categories,
            mirrors=self.mirrors,
            learn=settings.site.learn,
            fields=settings.fields,
        )
