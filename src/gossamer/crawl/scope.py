"""The scope of a running crawl: the settings, the seeds so far, and what was removed.

Seeds and removals live in the database, so that `gossamer inject` and `gossamer
remove` reach running workers: they look for changes every few seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.crawl.parser_config import ParserConfig, full_chain
from gossamer.frontier.database import Database
from gossamer.scope.chain import Chain, ScopeConfig
from gossamer.scope.filters import DEFAULT_DENY_SUFFIXES, FilterRule
from gossamer.settings import Settings


def scope_config(settings: Settings, database: Database, more_sites: Sequence[str] = ()) -> ScopeConfig:
    """What belongs to the crawl at this moment, or would with more seeds."""
    known = [row[0] for row in database.execute("SELECT DISTINCT site FROM seeds ORDER BY site")]
    seeds = [*known, *(site for site in dict.fromkeys(more_sites) if site not in known)]
    removed = [
        FilterRule("prefix", "deny", prefix, f"removed.{prefix}")
        for (prefix,) in database.execute("SELECT prefix FROM removals ORDER BY prefix")
    ]
    return ScopeConfig(
        mode=settings.scope.mode,
        hosts=(*seeds, *settings.scope.hosts),
        filters=(*removed, *settings.scope.filters),
        deny_suffixes=DEFAULT_DENY_SUFFIXES if settings.scope.skip_files else (),
        traps=settings.traps,
    )


class LiveScope:
    """The chain in force, renewed when seeds or removals change."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self.config = scope_config(settings, database)
        self.chain: Chain = full_chain(self.config, settings.scope.rules)

    def refresh(self) -> bool:
        """Look for changes; whether there were any."""
        config = scope_config(self._settings, self._database)
        if config == self.config:
            return False
        self.config, self.chain = config, full_chain(config, self._settings.scope.rules)
        return True

    def parser_config(self) -> ParserConfig:
        """The same for the parsers."""
        settings = self._settings
        return ParserConfig(
            settings.urls, self.config, settings.scope.rules, settings.parse, settings.crawl.parse_memory
        )
