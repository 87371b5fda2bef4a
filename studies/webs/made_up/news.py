"""A made-up web of news sites: much that is no news, and news that are born while the crawler is at work.

What it is fitted to: seed 000 crawled the 40 largest news sites; of the pages that were downloaded without regard to
rules, one in ten was an article, and 9 % of the links on a page led to URLs not known before. Breadth-first walks over
40 sites of this web, at its start and with seeds 1 to 10, find 9 to 13 % articles and 8 % new links; their first 10,000
pages, 10 to 20 % and 8 to 10 %.

How busy sites are is taken from 28,027 URLs of 663 Russian news hosts, most of them of two days (25 and 27 May 2020):
22 a host in the median, 42 in the mean, 2 at the tenth percentile, 264 at the 99th; the deviation of the logarithms is
1.5, of which a part is the noise of two days. Ours are half as busy by default, with a deviation of 1.2, from a tenth
of the mean to eight times it.
"""

from __future__ import annotations

import numpy as np

from gossamer.lab.webs.web import Facts, RecordedWeb
from studies.webs.made_up.draft import DAY, LISTING, SERVICE, Draft, Host
from studies.webs.made_up.news_lists import SHOWN, ListMaker, Rows, chosen
from studies.webs.made_up.news_rest import Extras
from studies.webs.made_up.news_site import Articles, Habits, Period, add_articles, draw_habits, host_name

STARTED_AT = 1_780_272_000.0
"""1 June 2026, a Monday."""
_BUSY_SPREAD, _LEAST, _MOST = 1.2, 0.1, 8.0
_ON_HOME = 30
"""Articles on a home page; besides them, the oldest tags and a few other sites."""
_TAGS_ON_HOME, _PARTNERS = 20, 2
_RELATED_NEAR, _RELATED_FAR = 3, 2
"""An article links to the articles before it in its section, and to some of any age."""
_DURATION, _DURATION_SPREAD = 0.3, 0.7
"""Median and deviation of the logarithm of the sites' response times in seconds; assumed."""
_SHARED, _TENANTS = 0.2, 5
"""Share of the sites that are on shared hosts, and sites on each such host; assumed."""
_SERVICES = ("about/", "contacts/", "ads/", "search/")


def news_web(
    sites: int,
    days: float,
    *,
    seed: int = 1,
    articles_per_day: float = 10.0,
    archive: int = 40,
    started_at: float = STARTED_AT,
) -> RecordedWeb:
    """A web of so many news sites over some days.

    `articles_per_day` and `archive` (articles from before the start) are means over the sites. A site has the
    same URLs, births and changes in a larger web of the same seed.
    """
    period = Period(started_at - archive / articles_per_day * DAY, started_at, started_at + days * DAY)
    draft = Draft()
    for number in range(sites):
        draft.add(number, f"https://{host_name(number)}/", LISTING)
    robots: dict[str, bytes] = {}
    hosts, rules = [], []
    for number in range(sites):
        rng = np.random.default_rng([seed, number])
        hosts.append(_draw_host(rng))
        site = draw_habits(number, _draw_rate(articles_per_day, rng), rng)
        _add_site(draft, site, period, sites, rng)
        rules.append(site.rule)
        if text := _robots(site):
            robots[site.origin] = text
    rng = np.random.default_rng([seed, sites, 1])
    facts = Facts(
        name=f"news-{sites}x{days:g}d-{seed}",
        started_at=period.started,
        ended_at=period.ended,
        seeds=list(range(sites)),
        robots=robots,
        addresses=_addresses(sites, rng),
        rules=rules,
        feed_entries=SHOWN,
        source=f"Made up: {sites} news sites over {days:g} days, seed {seed}.",
    )
    return draft.finish(facts, hosts, rng, rules=True)


def _draw_rate(mean: float, rng: np.random.Generator) -> float:
    rate = rng.lognormal(np.log(mean) - _BUSY_SPREAD**2 / 2, _BUSY_SPREAD)
    return float(np.clip(rate, _LEAST * mean, _MOST * mean))


def _draw_host(rng: np.random.Generator) -> Host:
    return Host(
        validates=bool(rng.random() < 0.6),
        duration=float(rng.lognormal(np.log(_DURATION), _DURATION_SPREAD)),
        scale=float(rng.lognormal(0.0, 0.4)),
    )


def _addresses(sites: int, rng: np.random.Generator) -> dict[str, str]:
    """Shared addresses, from the block that is kept for benchmarks (RFC 2544)."""
    tenants = rng.permutation(sites)[: round(sites * _SHARED)].tolist()
    blocks = ((i // _TENANTS, number) for i, number in enumerate(tenants))
    return {host_name(number): f"198.18.{block // 250}.{block % 250 + 1}" for block, number in blocks}


def _robots(site: Habits) -> bytes:
    lines = []
    if site.disallows or site.crawl_delay:
        lines.append("User-agent: *")
        lines += ["Disallow: /print/", "Disallow: /login", "Disallow: /go/"] if site.disallows else []
        lines += [f"Crawl-delay: {site.crawl_delay}"] if site.crawl_delay else []
    if site.sitemap:
        lines.append(f"Sitemap: {site.origin}/sitemap-news.xml")
    return "".join(f"{line}\n" for line in lines).encode()


def _add_site(draft: Draft, site: Habits, period: Period, sites: int, rng: np.random.Generator) -> None:
    home = site.number
    heads = [draft.add(home, f"{site.origin}/{name}/", LISTING) for name in site.sections]
    services = [draft.add(home, f"{site.origin}/{path}", SERVICE) for path in _SERVICES]
    root = draft.add(home, f"{site.origin}/archive/", LISTING)
    around = [home, *heads, root, services[0]]
    for row in services:
        draft.link(row, around, services)
    articles = add_articles(draft, site, period, rng)
    extras = Extras(draft, site, period, around, rng)
    satellites = extras.add_satellites(articles, sites)
    lists = ListMaker(draft, site, period, around, extras.comments)
    for number, head in enumerate(heads):
        path = f"/{site.sections[number]}/"
        lists.fill(head, path, chosen(articles, articles.section == number))
        if site.sorted_lists:
            lists.add_sorted(head, path)
    tags = lists.add_tags(articles, rng)
    lists.fill_archive(root, articles)
    _link_articles(draft, articles, around, tags, satellites, rng)
    beside = [*services, *_oldest_tags(tags), *_partners(site, sites, rng), *extras.add_errors()]
    beside += extras.add_forum() if site.forum else []
    beside += extras.add_guide() if site.guide else []
    beside += [extras.add_calendar()] if site.calendar else []
    _fill_home(draft, site, period, lists, chosen(articles), [*around, *beside])


def _fill_home(draft: Draft, site: Habits, period: Period, lists: ListMaker, articles: Rows, beside: list[int]) -> None:
    """Links and changes of the home page; the feed that it names, and the sitemap."""
    shown = articles.since(_ON_HOME, period)
    draft.link(site.number, beside, lists.entries(shown.rows))
    draft.change(site.number, period.recorded(shown.born))
    if site.feed:
        draft.feeds[site.number] = [lists.add_feed(articles)]
    if site.sitemap:
        lists.add_sitemap(articles)


def _oldest_tags(tags: list[list[int]]) -> list[int]:
    """The tags of the first articles: they exist from then on."""
    return list(dict.fromkeys(tag for some in tags for tag in some))[:_TAGS_ON_HOME]


def _partners(site: Habits, sites: int, rng: np.random.Generator) -> list[int]:
    """Home pages of other sites; as many draws however many sites there are, so that a site stays the same."""
    others = (rng.random(_PARTNERS) * (sites - 1)).astype(int)
    return np.where(others >= site.number, others + 1, others).tolist() if sites > 1 else []


def _link_articles(
    draft: Draft,
    articles: Articles,
    around: list[int],
    tags: list[list[int]],
    satellites: list[list[int]],
    rng: np.random.Generator,
) -> None:
    """Links of articles: around, related ones (always older), tags, and the pages that belong to it."""
    before: dict[int, list[int]] = {}
    far = (rng.random((len(articles), _RELATED_FAR)) * np.arange(len(articles))[:, None]).astype(int)
    for i, row in enumerate(articles.rows.tolist()):
        section = before.setdefault(int(articles.section[i]), [])
        if row not in articles.gone:
            related = [*reversed(section[-_RELATED_NEAR:]), *(articles.rows[far[i]].tolist() if i else ())]
            draft.link(row, around, related, tags[i], satellites[i])
        section.append(row)
