"""Settings that changed since the last crawl of a folder decide anew, at once, what the old ones had decided.

- Scope, filters, traps, budgets: refused URLs are judged by the new rules, and queued where these let them in. Of hosts
  outside the crawl nothing is in the table: their URLs come from the stored links, from redirects, and from feeds and
  sitemaps, which are read once more. What the new rules refuse is refused when its turn comes.
- Allowed networks, addresses of hosts, contact: what an address kept us from is asked again.
- Intervals: every planned visit is planned anew.
- Fields: the stored pages are read again, without a request, for the values of the new fields.
- Rendering: pages that showed next to nothing are fetched again where their sites are rendered now.

All of it goes in handfuls. It is done before the new settings are noted: a crawl that is killed meanwhile does it once
more, which changes nothing.

The hole that remains: a page that asks with a meta tag not to follow its links is not told apart in the stored ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gossamer.crawl.parser_config import full_chain
from gossamer.crawl.render.choice import Modes
from gossamer.crawl.scope import scope_config
from gossamer.data.folder import DataFolder
from gossamer.database import meta
from gossamer.database.database import Database
from gossamer.dedup.mirrors import MIRROR_RULE
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.knowledge import judge_all_again
from gossamer.frontier.steering.operate import recrawl_outcomes
from gossamer.frontier.steering.refused import lists, redirect_targets, refused_urls
from gossamer.frontier.views.site_urls import kept_places
from gossamer.model.counts import counted
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.parse.fields.config import stamp
from gossamer.scope.chain import Chain
from gossamer.settings import Settings


def rejudge(folder: DataFolder, frontier: CrawlFrontier, settings: Settings, now: float) -> list[str]:
    """Apply what changed since the settings were noted; says what was done."""
    before = _noted(frontier.db)
    if before is None:
        return []
    done = []
    for changed, apply in (
        (_rules(before) != _rules(settings), _judge_anew),
        (_reachable(before) != _reachable(settings), _ask_addresses),
        (before.revisit != settings.revisit or before.feeds != settings.feeds, _plan_anew),
        (stamp(before.fields) != stamp(settings.fields), _take_fields),
        (before.browser.mode != settings.browser.mode or before.sites != settings.sites, _render),
    ):
        if changed:
            done.append(apply(folder, frontier, before, settings, now))
    return [line for line in done if line]


def _noted(database: Database) -> Settings | None:
    """The settings of the last crawl; None where there was none, or another version wrote them."""
    noted = meta.noted(database, meta.SETTINGS)
    try:
        return msgspec.json.decode(noted, type=Settings) if noted else None
    except msgspec.DecodeError:
        return None


def _rules(settings: Settings) -> Any:
    """What decides whether a URL may enter; the limit of depth is another matter (`seeding.readmit`)."""
    scope, budget = settings.scope, settings.budget
    return (
        (scope.mode, scope.hosts, scope.filters, scope.rules, scope.skip_files), settings.traps, settings.filters.mode,
        budget.pages_per_site, budget.similar_paths, settings.feeds.per_site,
    )  # fmt: skip


def _reachable(settings: Settings) -> Any:
    """What decides which addresses may be asked."""
    return settings.network, settings.crawl.contact


def _ask_addresses(
    folder: DataFolder, frontier: CrawlFrontier, before: Settings, settings: Settings, now: float
) -> str:
    urls = recrawl_outcomes(frontier.db, [Outcome.ADDRESS_REFUSED.value], now)
    return f"The allowed networks changed: queued {counted(urls, 'URL')} again." if urls else ""


def _plan_anew(folder: DataFolder, frontier: CrawlFrontier, before: Settings, settings: Settings, now: float) -> str:
    plans = frontier.replan_visits(now) if before.revisit != settings.revisit else 0
    plans += frontier.replan_polls(now)
    return f"The intervals changed: planned {counted(plans, 'visit')} again." if plans else ""


def _take_fields(folder: DataFolder, frontier: CrawlFrontier, before: Settings, settings: Settings, now: float) -> str:
    sites = judge_all_again(frontier.db)
    return f"The fields changed: the stored pages of {counted(sites, 'site')} are read again." if sites else ""


# -- scope ------------------------------------------------------------------------------------------


def _judge_anew(folder: DataFolder, frontier: CrawlFrontier, before: Settings, settings: Settings, now: float) -> str:
    db, reach = frontier.db, settings.reach
    old, new = _chain(frontier, before), _chain(frontier, settings)

    def offer(found: Sequence[Discovered]) -> int:
        allowed = set(new.split([item.url for item in found], now)[0])
        wanted = [
            item for item in found
            if item.url in allowed and reach.refusal(item.depth, item.via, item.kind) is None
        ]  # fmt: skip
        return frontier.add(wanted, now).new if wanted else 0

    urls = sum(offer([item for item, rule in handful if rule != MIRROR_RULE]) for handful in refused_urls(db))
    if _goes_farther(before, settings):
        from gossamer.supervise.rejudged_segments import links_let_in  # Arrow: seldom needed

        refused = _only_refused(old, now)
        urls += sum(offer(refused(handful)) for handful in redirect_targets(db))
        urls += sum(offer(handful) for handful in links_let_in(folder, db, old, new, now))
        for places in lists(db):
            frontier.follow_anew(places, now)
    return f"The scope changed: queued {counted(urls, 'URL')} that the old scope refused." if urls else ""


def _chain(frontier: CrawlFrontier, settings: Settings) -> Chain:
    return full_chain(scope_config(settings, frontier.db), settings.scope.rules, frontier.guidance.fits)


def _goes_farther(before: Settings, settings: Settings) -> bool:
    """Whether the new scope may let in what the old one refused; not where hosts were only taken away."""
    old, new = before.scope, settings.scope
    fewer = old.mode == new.mode and set(new.hosts) <= set(old.hosts)
    others = (old.filters, old.rules, old.skip_files, before.traps) != (
        new.filters, new.rules, new.skip_files, settings.traps
    )  # fmt: skip
    return not fewer or others


def _only_refused(chain: Chain, now: float) -> Callable[[Sequence[Discovered]], list[Discovered]]:
    def refused(found: Sequence[Discovered]) -> list[Discovered]:
        urls = {url for url, _ in chain.split([item.url for item in found], now)[1]}
        return [item for item in found if item.url in urls]

    return refused


# -- rendering --------------------------------------------------------------------------------------


def _render(folder: DataFolder, frontier: CrawlFrontier, before: Settings, settings: Settings, now: float) -> str:
    old, new = Modes(before), Modes(settings)
    if not new.any:
        return ""
    from gossamer.supervise.rejudged_segments import pages_to_render  # Arrow: seldom needed

    pages = 0
    for urls in pages_to_render(folder, frontier.db, old, new):
        places = kept_places(frontier.db, urls)
        if places:
            frontier.follow_anew(places, now)
            pages += len(places)
    what = counted(pages, "page")
    return f"Rendering is on now: queued {what} with little text again." if pages else ""
