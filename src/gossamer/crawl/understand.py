"""From a response and the parser's result to a result of the visit: outcome, row, new URLs.

Pure: everything that happened comes in as values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from gossamer.crawl.channel import Rest
from gossamer.crawl.pending import Result
from gossamer.crawl.render.choice import RENDERED, is_shell, scripts_missing
from gossamer.dedup.clusters import MIN_CONFIDENCE
from gossamer.dedup.mirrors import MIRROR_RULE
from gossamer.frontier.contract import Budgets, Place, Visit
from gossamer.frontier.extraction import LITTLE
from gossamer.model.counts import counted
from gossamer.model.decision import Decision, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.page_types import LISTS
from gossamer.model.reasons import NEEDS_SCRIPTS, NO_TEXT, PARTLY, SHORT_TEXT
from gossamer.model.records import Discovered, Kind, PageRow, Parsed, Response, Task, Via
from gossamer.model.site import host_of, key64, registrable_domain, site_of, unpacked_keys
from gossamer.model.url import Canonicalizer, parse_base
from gossamer.scope.reach import LISTED_DEPTH, NO_SITEMAPS, Reach

_DOCUMENT = Outcome.DOCUMENT.value
_LISTS_DEPTH = 2
"""Links from a seed within which lists may name feeds of their own."""
_COMMENTS = re.compile(r"\bcomments?\b")


class Rules(msgspec.Struct):
    """The rules of the worker that apply here."""

    canonicalizer: Canonicalizer
    decide: Callable[[str, float], Decision]
    unknown: Callable[[bytes, int], Sequence[tuple[int, int]]]
    """Position and key of those keys (packed) that are not surely in the table, at this depth or a smaller one: the
    others need not be offered again."""
    budgets: Budgets
    max_redirects: int
    worker: str
    goes_by_links: bool = False
    """Whether the strategy needs the links of pages."""
    follow_feeds: bool = True
    reach: Reach = Reach()
    decide_inside: Callable[[str, float], Decision] | None = None
    """The verdict on a URL whose host a seed adds to the crawl; None if no seed does."""


def plain_result(place: Place, task: Task, outcome: Outcome, verdict: Decision, now: float) -> Result:
    """A task that was refused without a request."""
    visit = Visit(place, task, outcome, now, reason=verdict.reason, rule=verdict.rule, fetched=False)
    return Result(visit)


def of_mirror(place: Place, task: Task, mapped: str, rules: Rules, now: float) -> Result:
    """A task whose site has become a mirror: not fetched, but offered as a page of the main site."""
    refusal = refuse(MIRROR_RULE, f"mirror of {site_of(mapped)}")
    result = plain_result(place, task, Outcome.REFUSED, refusal, now)
    verdict = rules.decide(mapped, now)
    if verdict.allowed or not verdict.rule.startswith("scope."):
        item = Discovered(mapped, Via.REDIRECT, task.kind, task.depth, task.hops, task.url)
        _add(result, item if verdict.allowed else msgspec.structs.replace(item, refusal=verdict))
    return result


def of_unasked(place: Place, task: Task, rest: Rest, rules: Rules, now: float) -> Result:
    """A task whose robots.txt is unavailable while the site answers under another scheme: only the task waits."""
    visit = Visit(place, task, Outcome.CONNECT_FAILED, now, reason=rest.reason, fetched=False)
    if task.attempts + 1 < rules.budgets.patience:
        visit.retry_at = max(rest.until, now)
    return Result(visit)


def of_response(place: Place, task: Task, response: Response, not_before: float, rules: Rules) -> Result:
    """A response that needs no parser: a redirect, an error, an unchanged page."""
    visit = _visit(place, task, response)
    row = _row(place.site, task, response, rules.worker)
    result = Result(visit, row, response if response.status else None)
    if response.outcome is Outcome.REDIRECT:
        _follow_redirect(result, response.location, Via.REDIRECT, rules)
    elif response.outcome.meaning.retry:
        tries = rules.budgets.patience if response.outcome.meaning.patient else rules.budgets.retries
        if task.attempts + 1 < tries:
            visit.retry_at = max(not_before, response.finished_at)
    row.outcome, row.reason = visit.outcome.value, visit.reason
    return result


def of_page(place: Place, task: Task, response: Response, parsed: Parsed, rules: Rules) -> Result:
    """A page or sitemap that was parsed."""
    visit = _visit(place, task, response)
    row = _row(place.site, task, response, rules.worker)
    result = Result(visit, row, response)
    if parsed.unsupported or not parsed.ok:
        failed = Outcome.BOMB if parsed.bomb else Outcome.PARSE_FAILED
        visit.outcome = Outcome.UNSUPPORTED_TYPE if parsed.unsupported else failed
        visit.reason = parsed.problem
    elif parsed.method in ("sitemap", "feed"):
        visit.outcome = Outcome.RESOURCE
        visit.reason = _incomplete(parsed)
        _from_source(result, parsed, rules)
    elif parsed.refresh and parsed.refresh != task.url:
        _follow_redirect(result, parsed.refresh, Via.REFRESH, rules)
        fill_row(row, parsed)
    else:
        _from_page(result, parsed, rules, response.body)
    row.outcome, row.reason = visit.outcome.value, visit.reason
    row.media_type, row.charset = parsed.media_type, parsed.charset
    return result


def _incomplete(parsed: Parsed) -> str:
    """What prevented reading all of a source, or anything in it."""
    if not parsed.problem:
        return ""
    return f"{PARTLY}: {parsed.problem}" if parsed.entries or parsed.nested else parsed.problem


def _from_page(result: Result, parsed: Parsed, rules: Rules, body: bytes) -> None:
    visit, task = result.visit, result.visit.task
    assert result.row is not None
    fill_row(result.row, parsed)
    if parsed.method.startswith(RENDERED):
        # The same shell may show another text: without validators it is fetched again, scripts and all.
        visit.etag = visit.last_modified = ""
    visit.content_hash = parsed.content_hash
    visit.fingerprint, visit.near_keys = parsed.fingerprint, parsed.near_keys
    visit.published = parsed.date if parsed.date_confidence >= MIN_CONFIDENCE else ""
    visit.page_type, visit.characters = parsed.page_type, len(parsed.text.strip())
    visit.sketch, visit.site_version = parsed.sketch, parsed.site_version
    if task.depth == 0 and not parsed.noindex:
        visit.reason = _lack(parsed, body)
    if not parsed.method.startswith(RENDERED) and (sign := is_shell(body, parsed)):
        # Every page of such a site has the same bytes, and a text of its own that was not read: none is a copy.
        visit.content_hash, visit.fingerprint, visit.near_keys = "", b"", ()
        visit.reason = visit.reason or f"{NEEDS_SCRIPTS}: {sign}, so it counts as a page of its own"
    if parsed.noindex:
        visit.outcome, visit.reason = Outcome.NOINDEX, "the page asks not to be indexed"
        visit.content_hash = ""
        result.row.text = result.row.headings = result.row.description = result.row.judged = None
        result.row.fields = result.row.field_sources = None
    if parsed.noarchive or parsed.noindex:
        result.response = None
    result.links = parsed.links
    depth = task.depth + 1
    fresh = rules.unknown(parsed.follow_keys, depth)
    refusal = rules.reach.refusal(depth)
    result.found = [Discovered(parsed.follow[at], depth=depth, referrer=task.url, refusal=refusal) for at, _ in fresh]
    result.found_keys = [key for _, key in fresh]
    _note_outlinks(visit, parsed, rules)
    if rules.follow_feeds:
        _offer_feeds(result, parsed, rules)
    _remember_refusals(result, parsed)
    if parsed.canonical and not _is_translation(task.url, parsed):
        _join_canonical(result, parsed.canonical, rules)


def _lack(parsed: Parsed, body: bytes) -> str:
    """What a start page lacks: its verdict names it, while other pages are only counted (`frontier.extraction`)."""
    if parsed.method.startswith(RENDERED):
        return ""
    if sign := scripts_missing(body, parsed):
        return f"{NEEDS_SCRIPTS}: {sign}"
    length = len(parsed.text.strip())
    if length >= LITTLE:
        return ""
    return f"{SHORT_TEXT} ({counted(length, 'character')})" if length else NO_TEXT


def _note_outlinks(visit: Visit, parsed: Parsed, rules: Rules) -> None:
    """Targets of a page, feed or sitemap, for strategies that use links."""
    if rules.goes_by_links:
        pairs = zip(parsed.follow, unpacked_keys(parsed.follow_keys), strict=True)
        visit.outlinks = [(key64(site_of(url)), key) for url, key in pairs]


def _offer_feeds(result: Result, parsed: Parsed, rules: Rules) -> None:
    """The feeds of a start page, and of a list near it; those of single pages announce comments."""
    task = result.visit.task
    if task.depth == 0 or (task.depth <= _LISTS_DEPTH and parsed.page_type in LISTS):
        refusal = rules.reach.refusal(task.depth, kind=Kind.FEED)
        feeds = [
            Discovered(url, kind=Kind.FEED, depth=task.depth, referrer=task.url, refusal=refusal)
            for url in parsed.feeds
            if not _COMMENTS.search(url) and rules.decide(url, result.visit.at).allowed
        ]
        # Before the links: most pages link to their feed as well, and the first sighting counts.
        result.found = [*feeds, *result.found]
        result.found_keys = [*(key64(feed.url) for feed in feeds), *result.found_keys]


def _is_translation(url: str, parsed: Parsed) -> bool:
    """Whether a page lists itself and its canonical page as versions in different languages (hreflang). Many sites name
    the English page in every translation, which would take all others away from readers."""
    languages = {target: language for language, target in parsed.alternates if language != "x-default"}
    own, canonical = languages.get(url), languages.get(parsed.canonical)
    if own is None or canonical is None or own == canonical:
        return False
    # English of two countries is one text; Chinese is written in two scripts.
    return own.partition("-")[0] != canonical.partition("-")[0] or own.startswith("zh")


def _join_canonical(result: Result, canonical: str, rules: Rules) -> None:
    visit, task = result.visit, result.visit.task
    if canonical == task.url or not rules.decide(canonical, visit.at).allowed:
        return
    visit.canonical = canonical
    item = Discovered(canonical, via=Via.CANONICAL, depth=task.depth, hops=task.hops, referrer=task.url)
    # Before the links: a start page links to itself under that name, too, and the first sighting counts.
    result.found, result.found_keys = [item, *result.found], [key64(canonical), *result.found_keys]


def _from_source(result: Result, parsed: Parsed, rules: Rules) -> None:
    """URLs that a sitemap or feed names."""
    visit, task = result.visit, result.visit.task
    visit.listed = [entry.published_at for entry in parsed.entries if entry.published_at]
    visit.push = parsed.push
    if parsed.method == "sitemap" and rules.reach.sitemaps == "no":
        visit.reason = NO_SITEMAPS
        return
    _note_outlinks(visit, parsed, rules)
    found, keys = [], []
    # Entries at our first poll of a source are no news: we cannot tell how fast we were.
    watched = task.checked_at > 0
    refusal = rules.reach.too_deep(LISTED_DEPTH)
    for at, key in rules.unknown(parsed.follow_keys, LISTED_DEPTH):
        entry = parsed.entries[at]
        announced = entry.published_at if watched else None
        via = Via.FEED if parsed.method == "feed" else Via.SITEMAP
        item = Discovered(entry.url, via, Kind.PAGE, LISTED_DEPTH, 0, task.url, refusal, entry.priority, announced)
        found.append(item)
        keys.append(key)
    for url in parsed.nested:
        if task.hops < rules.max_redirects:
            item = Discovered(url, Via.SITEMAP, Kind.SITEMAP, hops=task.hops + 1, referrer=task.url)
            found.append(item)
            keys.append(key64(url))
    result.found, result.found_keys = found, keys
    _remember_refusals(result, parsed)


def _follow_redirect(result: Result, location: str, via: Via, rules: Rules) -> None:
    visit, task = result.visit, result.visit.task
    target = _target(task.url, location, rules.canonicalizer)
    if isinstance(target, Decision):
        visit.outcome, visit.reason = (
            Outcome.BAD_REDIRECT,
            f"redirects to {location[:200]!r}: {target.reason}",
        )
    elif target == task.url:
        visit.outcome, visit.reason = Outcome.BAD_REDIRECT, "redirects to itself"
    elif task.hops + 1 > rules.max_redirects:
        visit.outcome = Outcome.BAD_REDIRECT
        visit.reason = f"more than {rules.max_redirects} redirects in a row (crawl.max_redirects)"
    else:
        visit.outcome, visit.target = Outcome.REDIRECT, target
        verdict = rules.decide(target, visit.at)
        visit.reason = "" if verdict.allowed else f"its target is refused: {verdict.reason}"
        item = Discovered(target, via, task.kind, task.depth, task.hops + 1, task.url)
        if verdict.allowed:
            _add(result, item)
        elif not verdict.rule.startswith("scope."):
            _add(result, msgspec.structs.replace(item, refusal=verdict))
        elif rules.decide_inside is not None:
            inside = rules.decide_inside(target, visit.at)
            result.beyond = item if inside.allowed else msgspec.structs.replace(item, refusal=inside)


def _target(url: str, location: str, canonicalizer: Canonicalizer) -> str | Decision:
    """The target of a redirect; if a main site sends us to its mirror, we go there."""
    target = canonicalizer.resolve(parse_base(url), location)
    return canonicalizer.literal(parse_base(url), location) if target == url else target


def _remember_refusals(result: Result, parsed: Parsed) -> None:
    task = result.visit.task
    for url, rule, reason in parsed.refused:
        item = Discovered(url, depth=task.depth + 1, referrer=task.url, refusal=Decision(False, rule, reason))
        _add(result, item)


def _add(result: Result, item: Discovered) -> None:
    result.found = [*result.found, item]
    result.found_keys = [*result.found_keys, key64(item.url)]


def _visit(place: Place, task: Task, response: Response) -> Visit:
    return Visit(
        place, task, response.outcome, response.answered_at, response.status, response.reason,
        response.header("etag")[:512], response.header("last-modified")[:128],
        size=len(response.wire_body or response.body),
    )  # fmt: skip


def _row(site: str, task: Task, response: Response, worker: str) -> PageRow:
    return PageRow(
        url=task.url, site=site, domain=registrable_domain(host_of(site)), fetched_at=response.answered_at,
        outcome=response.outcome.value, status=response.status, reason=response.reason, depth=task.depth,
        size=len(response.body), duration=response.finished_at - response.started_at, address=response.address,
        etag=response.header("etag")[:512] or None, last_modified=response.header("last-modified")[:128] or None,
        worker=worker, new=task.previous != _DOCUMENT,
    )  # fmt: skip


def fill_row(row: PageRow, parsed: Parsed) -> None:
    """What was read in a page, into its row."""
    row.title, row.description, row.headings = parsed.title, parsed.description, parsed.headings
    row.text, row.method = parsed.text, parsed.method
    row.lang, row.claimed_lang = parsed.language or None, parsed.claimed_language or None
    if parsed.date:
        row.date, row.date_source, row.date_confidence = parsed.date, parsed.date_source, parsed.date_confidence
    if parsed.updated:
        row.updated, row.updated_source = parsed.updated, parsed.updated_source
        row.updated_confidence = parsed.updated_confidence
    row.author, row.site_name, row.image = parsed.author or None, parsed.site_name or None, parsed.image or None
    row.page_type = parsed.page_type or None
    if parsed.category:
        row.category, row.category_source = parsed.category, parsed.category_source
    row.canonical = parsed.canonical or None
    row.alternates = [f"{language} {url}" for language, url in parsed.alternates] or None
    row.content_hash, row.simhash = parsed.content_hash or None, parsed.simhash or None
    row.links = len(parsed.links)
    row.ai_signals = parsed.ai_signals or None
    row.judged = parsed.judged or None
    if parsed.fields:
        row.fields = [one.written for one in parsed.fields]
        row.field_sources = [one.source for one in parsed.fields]
    else:
        row.fields = row.field_sources = None


def robots_sitemaps(urls: Sequence[str], origin: str, rules: Rules, now: float) -> list[Discovered]:
    """The sitemaps a robots.txt names, as far as the scope allows them."""
    found = []
    refusal = rules.reach.refusal(0, Via.ROBOTS, Kind.SITEMAP)
    for text in urls[:100]:
        url = rules.canonicalizer.parse(text)
        if not isinstance(url, Decision) and rules.decide(url, now).allowed:
            found.append(Discovered(url, Via.ROBOTS, Kind.SITEMAP, referrer=f"{origin}/robots.txt", refusal=refusal))
    return found
