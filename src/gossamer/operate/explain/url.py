"""Explains why a URL was fetched, was not fetched, or still waits, with all factors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from gossamer.crawl.parser_config import full_chain
from gossamer.crawl.scope import scope_config
from gossamer.data.folder import DataFolder
from gossamer.data.guidance import guidance_of
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.fetch.identity import AGENT
from gossamer.frontier.changes import last_change
from gossamer.frontier.copies.copying import lowered_by, yield_of
from gossamer.frontier.copies.duplicates import SAME_PAGE
from gossamer.frontier.copies.mirror_table import load_mirrors
from gossamer.frontier.steering.controls import why_it_rests
from gossamer.frontier.steering.filters import list_filters
from gossamer.frontier.steering.removals import removal_of, words_of
from gossamer.frontier.views import inspect
from gossamer.frontier.views.inspect import UrlRecord
from gossamer.frontier.views.known_site import site_knowledge
from gossamer.frontier.views.stories import cluster_of
from gossamer.index.folder import IndexFolder
from gossamer.model.counts import counted, noun
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, origin_of, site_of
from gossamer.model.url import Canonicalizer
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.explain.explanation import Explanation
from gossamer.operate.explain.findable import Indexed, findable
from gossamer.operate.explain.order import priority_factors, revisit_factors
from gossamer.operate.explain.shy_links import shy_links
from gossamer.parse.document_types import of_media
from gossamer.parse.rules import RuleBook
from gossamer.robots.rules import Robots
from gossamer.robots.verdict import Answer, RobotsState, verdict
from gossamer.scope.automatic import SiteFilters
from gossamer.scope.shape import path_shape
from gossamer.search.results import StoredPage
from gossamer.search.searcher import Searcher
from gossamer.settings import Settings
from gossamer.site.templates import SiteDocuments
from gossamer.store.segments import read_page
from gossamer.tables.rulebook import load_rules, rules_for


def explain(db: Database, settings: Settings, text: str, now: float, folder: DataFolder | None = None) -> Explanation:
    """Explain a URL; with the folder, also whether readers can find it."""
    answer = _explain(db, settings, canonical_or_error(text, settings), now)
    known = site_knowledge(db, site_of(answer.url)) if settings.site.learn else None
    answer.known_site = known.sentence if known is not None else ""
    guidance = guidance_of(settings, load_rules(db))
    guidance.documents.know(site_of(answer.url), known.templates if known is not None else ())
    answer.document_rule = _document_rule(db, answer.url, guidance.documents)
    _add_copies(db, answer)
    if answer.record is not None:
        answer.priority = priority_factors(db, guidance, answer.record)
        answer.revisit = revisit_factors(db, guidance, answer.record, now)
    _add_mirror(db, settings, answer)
    _add_operator(db, answer)
    answer.filters = _filters(db, answer.url)
    _add_target(db, answer)
    if folder is not None:
        add_shy_links(folder, inspect.segment_ids(db), answer)
        _add_index(db, folder, settings, answer)
        _add_reading(folder, answer)
    return answer


def add_shy_links(folder: DataFolder, segments: Sequence[str], answer: Explanation) -> None:
    """For a URL that is in no table: add the pages whose links to it were not followed."""
    if answer.record is not None:
        return
    found = shy_links(folder, segments, answer.url)
    # If a rule refuses the URL, an ordinary link does not show that its page says nofollow.
    answer.nofollow_on = found.nofollow or (found.others if answer.state == "unknown" else [])
    if answer.nofollow_on:
        asks = "the link says nofollow" if found.nofollow else "the page asks crawlers not to follow its links"
        rest = "".join(answer.reason.partition("; ")[1:])
        answer.reason = f"known only from links that are not followed, on {', '.join(answer.nofollow_on)}: {asks}{rest}"


def _add_operator(db: Database, answer: Explanation) -> None:
    removal = removal_of(db, answer.url)
    if removal is not None:
        when = datetime.fromtimestamp(removal.removed_at, UTC).isoformat(timespec="seconds")
        answer.removal = f"{removal.reason} ({words_of(removal.what)}, {when})"
    answer.rests = why_it_rests(db, site_of(answer.url))
    if answer.rests and answer.state in ("waiting", "scheduled"):
        answer.reason += f"; {answer.rests}"


def _filters(db: Database, url: str) -> list[str]:
    """Automatic filters that match, active or not."""
    shape = path_shape(url)
    found = (one for one in list_filters(db, site_of(url)) if SiteFilters([one.filter]).match(shape) is not None)
    return [f"{one.filter.reason} ({one.state})" for one in found]


def _add_mirror(db: Database, settings: Settings, answer: Explanation) -> None:
    mapped = Canonicalizer(settings.urls, load_mirrors(db, settings.dedup.mirrors)).mapped(answer.url)
    if mapped != answer.url:
        answer.maps_to = mapped
        answer.reason += f"; {site_of(answer.url)} is a mirror: {mapped} represents it"


def _add_copies(db: Database, answer: Explanation) -> None:
    copies, documents, near = yield_of(db, key64(site_of(answer.url)), key64(path_shape(answer.url)))
    if copies + near:
        seen = copies + documents
        answer.copies = (
            f"of {counted(seen, 'page')} of this shape {copies} "
            f"{noun(copies, 'was a copy', 'were copies')} of others and {counted(near, 'near-duplicate')}"
        )
        lowered = answer.record.lowered if answer.record else lowered_by(copies, documents, near)
        if lowered:
            answer.copies += f": its level is lowered by {lowered}"
    cluster = cluster_of(db, answer.url)
    if cluster is not None:
        answer.cluster = f"{cluster.number}, no near-duplicates"
        if cluster.pages > 1:
            who = "this page" if cluster.representative == answer.url else cluster.representative
            answer.cluster = (
                f"{cluster.number}, {counted(cluster.pages, 'near-duplicate')}, represented by {who} ({cluster.reason})"
            )
            answer.collapsed_under = "" if cluster.representative == answer.url else cluster.representative


def _document_rule(db: Database, url: str, documents: SiteDocuments) -> str:
    attempts = RuleBook(rules_for(db, url)).attempts(url)
    found = next((attempt for attempt in attempts if attempt.fits), None)
    if found is not None:
        return f"{found.rule.label}: {found.reason}"
    if attempts:
        return f"none of {len(attempts)} for this host"
    looks = documents.fits(url)
    if looks is None:
        return "none for this host"
    return f"none for this host; it {'looks' if looks else 'does not look'} like the documents of its site"


def _add_target(db: Database, answer: Explanation) -> None:
    """If a page leads to one that failed, add that one's reason, such as a redirect loop."""
    target = inspect.find_url(db, answer.record.target) if answer.record and answer.record.target else None
    if target is None or target.state != "done" or target.outcome is None:
        return
    outcome = Outcome(target.outcome)
    if outcome is not Outcome.DOCUMENT and not outcome.meaning.joined:
        answer.target_problem = target.reason or ""


def _add_index(db: Database, folder: DataFolder, settings: Settings, answer: Explanation) -> None:
    searcher = Searcher(IndexFolder(folder.index))
    try:
        found = searcher.page(answer.url)
        target = answer.record.target if answer.record else None
        indexed = Indexed(
            found is not None,
            behind=max(0, last_change(db) - searcher.state().position),
            target_holds=bool(target) and searcher.page(str(target)) is not None,
        )
        answer.index = "not in the index"
    except GossamerError as error:
        found, indexed = None, Indexed(problem=str(error))
        answer.index = str(error)
    if found is not None:
        when = datetime.fromtimestamp(found.fetched_at, UTC).isoformat(timespec="seconds")
        answer.index = f"in the index, as fetched at {when}"
        answer.fields = values_of(found, settings)
    conclude(answer, indexed)


def values_of(page: StoredPage, settings: Settings) -> list[str]:
    """The values of a page, and the fields of the settings that it has none of."""
    values = [f"{one.name} = {one.value}, from {one.source}" for one in page.fields]
    has = {one.name for one in page.fields}
    return values + [f"{name}: the page states no value" for name in settings.fields if name not in has]


def _add_reading(folder: DataFolder, answer: Explanation) -> None:
    """Of a document that is no web page: what its parser read."""
    record = answer.record
    if record is None or record.segment is None or record.segment_row is None:
        return
    try:
        page = read_page(folder.segments, record.segment, record.segment_row)
    except GossamerError:
        return
    kind = of_media(page.media_type)
    if kind is not None and kind.is_own and page.text is not None:
        words = counted(len(page.text), "character")
        answer.read_as = f"{kind.name} ({kind.media[0]}): {words} of text, {counted(page.links, 'link')}"


def conclude(answer: Explanation, index: Indexed) -> None:
    """Add the sentence that says whether readers can find the page."""
    said = findable(answer, index)
    answer.found, answer.verdict = said.found, said.sentence


def _explain(db: Database, settings: Settings, url: str, now: float) -> Explanation:
    record = inspect.find_url(db, url)
    chain = full_chain(scope_config(settings, db), settings.scope.rules, RuleBook(rules_for(db, url)).fits)
    decision = chain.decide(url, now)
    answer = Explanation(url, "unknown", "", chain.verdicts(url, now), _robots(db, settings, url, now), record)
    if record is not None and settings.scope.depth is not None:
        deep = settings.reach.verdict(record.depth)
        answer.rules.append(deep)
        decision = decision if deep.allowed or not decision.allowed else deep
    if record is None:
        answer.reason = "never seen: no seed, link, sitemap or feed points to it" + (
            "" if decision.allowed else f"; {decision.rule} would refuse it: {decision.reason}"
        )
        answer.state = "unknown" if decision.allowed else "refused"
        return answer
    answer.state, answer.reason = _state(record)
    if record.state in ("waiting", "scheduled"):
        _add_wait(db, answer, record, now)
        if not decision.allowed:
            answer.reason += f"; {decision.rule} will refuse it: {decision.reason}"
    elif record.due_at is not None:
        answer.reason += f"; next visit in {_span(record.due_at - now)}"
    return answer


def _state(record: UrlRecord) -> tuple[str, str]:
    if record.state == "removed":
        return "removed", record.reason or "removed by the operator"
    if record.state == "refused":
        return "refused", f"{record.rule}: {record.reason}"
    if record.state == "waiting":
        return "waiting", "in the queue"
    outcome = Outcome(record.outcome) if record.outcome else Outcome.REFUSED
    sentence = record.reason or outcome.meaning.sentence
    if record.state == "scheduled":
        # A page that was fetched before keeps that outcome while its new visit fails.
        failure = f"{outcome.value}: {sentence}" if outcome.meaning.retry else sentence
        times = "once" if record.attempts == 1 else f"{record.attempts} times"
        return "scheduled", f"{failure}; tried {times}, next try"
    if record.reason == SAME_PAGE:
        return "duplicate", f"{record.reason} as another page of the site: {record.target}"
    if outcome.meaning.joined:
        return "duplicate" if outcome.meaning.copy else "redirect", f"{outcome.meaning.sentence}: {record.target}" + (
            f" ({record.reason})" if record.reason else ""
        )
    if outcome.meaning.error:
        return "failed", f"{outcome.value}: {sentence}"
    return "fetched", f"{outcome.value}: {outcome.meaning.sentence}" + (f" ({record.reason})" if record.reason else "")


def _add_wait(db: Database, answer: Explanation, record: UrlRecord, now: float) -> None:
    if record.due_at is not None:
        answer.reason += f" in {_span(record.due_at - now)}"
    clock = inspect.site_clock(db, record.site)
    if clock is not None and clock[0] > now:
        answer.waits_until = clock[0]
        answer.reason += f"; the site waits for {_span(clock[0] - now)}"
        answer.reason += f" ({clock[2]})" if clock[2] else ""
    if record.state == "waiting":
        answer.ahead = inspect.queue_place(db, answer.url)
        if answer.ahead is not None:
            answer.reason += (
                f"; level {record.level}, {counted(answer.ahead, 'URL')} of "
                f"{record.site} {noun(answer.ahead, 'comes', 'come')} first"
            )


def _span(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _robots(db: Database, settings: Settings, url: str, now: float) -> str:
    stored = inspect.stored_robots(db, origin_of(url))
    if stored is None:
        return f"the robots.txt of {site_of(url)} has not been fetched yet"
    state = msgspec.msgpack.decode(stored, type=RobotsState)
    answer = verdict(state, now, settings.robots)
    if answer.answer is not Answer.ASK_RULES:
        return f"{answer.answer.value}: {answer.reason}"
    decision = Robots(state.body, AGENT).decide(url)
    return f"{'allow' if decision.allowed else 'deny'}: {decision.reason}"


def as_json(answer: Explanation) -> dict[str, Any]:
    """The stable form: url, state, reason, and the factors that led to them."""
    factors: dict[str, Any] = msgspec.to_builtins(answer)
    return {name: factors.pop(name) for name in ("url", "state", "reason")} | {"factors": factors}
