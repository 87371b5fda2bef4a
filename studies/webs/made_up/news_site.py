"""Habits of one made-up news site, and its articles: when they are born, how they are called, when they are edited."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import numpy as np

from gossamer.lab.webs.web import Floats, Ints
from gossamer.parse.rules import DocumentRule
from studies.webs.made_up.draft import DAY, MISSING, Answer, Draft

SECTIONS = ("politics", "economy", "society", "world", "culture", "sport", "science", "incidents", "region", "opinion")
_WORDS = (
    "mayor bridge river court budget school road storm harvest market film museum match coach record bank price strike "
    "election minister talks border fire rescue hospital vaccine study planet star train airport energy grid winter"
).split()
ARTICLE = Answer(page_type="article", fit=1, size=30_000)
"""HTML of three real sites is 18, 19 and 55 kB long in the median (itw66, linuxcn, ex-animo)."""
WITHDRAWN = msgspec.structs.replace(MISSING, fit=1)
_STYLES = (
    ("/{slug}/{id}-{slug}.html", "/{section}/{number}-{slug}.html"),
    ("/news/{id}/", "/news/{number}/"),
    ("/{slug}/{year}/{month}/{day}/{slug}/", "/{section}/{born:%Y/%m/%d}/{slug}-{number}/"),
    ("/article/{slug}", "/article/{slug}-{number}"),
)
"""Patterns of document rules, and the paths of articles that they stand for."""
_RHYTHM, _NOON = 0.8, 14 * 3600.0
"""Articles at the busiest hour (14:00 UTC) are (1 + .8) / (1 - .8) = 9 times as many as at the quietest; assumed."""
_EDITS, _EDITS_SPREAD, MOST_EDITS = 1.0, 1.4, 30
"""Median and deviation of a log-normal number of edits: 2.6 in the mean, as in NewsEdits (Spangher et al. 2022: 4.61 M
versions of 1.28 M articles); the spread is assumed."""
_EDIT_DELAY, _EDIT_SPREAD = 2 * 3600.0, 1.5
"""Median of two hours from birth to an edit, log-normal; assumed."""
_WITHDRAWN = 0.015
"""Share of articles from before the start whose URL answers 404 by now; assumed."""


class Period(msgspec.Struct, frozen=True):
    """What is made up: the days of the archive, and those that are recorded."""

    opened: float
    started: float
    ended: float

    def recorded(self, times: Floats) -> Floats:
        """Those of some rising times that lie in the recording."""
        return times[(times > self.started) & (times <= self.ended)]


class Habits(msgspec.Struct, frozen=True):
    """How one site does things. Shares of sites are assumptions, but for the URL styles."""

    number: int
    rate: float
    """Articles a day."""
    style: int
    sections: tuple[str, ...]
    prints: bool
    comments: bool
    exits: bool
    """Links to other sites go through redirects of its own, as seed 000 notes of news sites."""
    logins: bool
    sorted_lists: bool
    forum: int
    """Topics, 0 where there is no forum."""
    guide: int
    """Pages of things other than news: weather by town, timetables, companies."""
    calendar: bool
    feed: bool
    sitemap: bool
    names_canonical: bool
    disallows: bool
    crawl_delay: int

    @property
    def origin(self) -> str:
        """Scheme and host."""
        return f"https://{host_name(self.number)}"

    @property
    def rule(self) -> DocumentRule:
        """The document rule that its articles fit, and nothing else."""
        return DocumentRule(domain=host_name(self.number), urls=(_STYLES[self.style][0],))


def host_name(number: int) -> str:
    """The host of a site."""
    return f"n{number:03d}.example"


def draw_habits(number: int, rate: float, rng: np.random.Generator) -> Habits:
    """Habits of a site, by chance."""

    def chance(share: float) -> bool:
        return bool(rng.random() < share)

    count = int(rng.integers(4, len(SECTIONS) + 1))
    return Habits(
        number=number,
        rate=rate,
        # Of 28,027 URLs of 663 Russian news hosts, 68 % have a number of five or more digits and 23 % a date.
        style=int(rng.choice(len(_STYLES), p=[0.32, 0.27, 0.23, 0.18])),
        sections=tuple(SECTIONS[i] for i in sorted(rng.permutation(len(SECTIONS))[:count])),
        prints=chance(0.6),
        comments=chance(0.6),
        exits=chance(0.4),
        logins=chance(0.4),
        sorted_lists=chance(0.4),
        forum=int(min(rng.lognormal(np.log(110), 0.8), 1000)) if chance(0.5) else 0,
        guide=int(min(rng.lognormal(np.log(75), 0.7), 500)) if chance(0.9) else 0,
        calendar=chance(0.35),
        feed=chance(0.85),
        sitemap=chance(0.5),
        names_canonical=chance(0.5),
        disallows=chance(0.15),
        crawl_delay=int(rng.integers(2, 11)) if chance(0.06) else 0,
    )


class Articles(msgspec.Struct, frozen=True):
    """The articles of one site, oldest first."""

    rows: Ints
    numbers: list[int]
    """As they stand in URLs."""
    born: Floats
    section: Ints
    gone: frozenset[int]
    """Rows that answer 404 by now."""

    def __len__(self) -> int:
        return len(self.rows)


def birth_times(rate: float, period: Period, rng: np.random.Generator) -> Floats:
    """Times of a Poisson process with a rhythm of day and night; whole seconds, no two the same."""
    span = period.ended - period.opened
    hours = np.linspace(0.0, span, int(span / 600) + 2)
    turn = 2 * np.pi / DAY
    phase = (period.opened - _NOON) % DAY
    due = hours + _RHYTHM / turn * (np.sin(turn * (hours + phase)) - np.sin(turn * phase))
    count = rng.poisson(rate * span / DAY)
    times = np.interp(rng.uniform(0.0, due[-1], count), due, hours)
    return np.unique(np.ceil(period.opened + times).clip(max=period.ended))


def edit_times(born: float, count: int, period: Period, rng: np.random.Generator) -> Floats:
    """When a page is edited after its birth: mostly in its first hours."""
    delays = rng.lognormal(np.log(_EDIT_DELAY), _EDIT_SPREAD, count)
    return period.recorded(np.unique(np.ceil(born + delays)))


def add_articles(draft: Draft, site: Habits, period: Period, rng: np.random.Generator) -> Articles:
    """All articles that the site has published by the end."""
    born = birth_times(site.rate, period, rng)
    n = len(born)
    weights = 1.0 / np.arange(1, len(site.sections) + 1)
    section = rng.choice(len(site.sections), n, p=weights / weights.sum())
    words = rng.integers(0, len(_WORDS), (n, 3))
    edits = np.minimum(rng.poisson(rng.lognormal(np.log(_EDITS), _EDITS_SPREAD, n)), MOST_EDITS)
    lost = (rng.random(n) < _WITHDRAWN) & (born < period.started)
    numbers = list(range(first := 10_000 + 137 * site.number, first + n))
    _, path = _STYLES[site.style]
    rows = np.empty(n, np.int64)
    for i, at in enumerate(born.tolist()):
        slug = "-".join(_WORDS[word] for word in words[i])
        when = datetime.fromtimestamp(at, UTC)
        url = site.origin + path.format(section=site.sections[section[i]], number=numbers[i], slug=slug, born=when)
        changes = None if lost[i] else edit_times(at, int(edits[i]), period, rng)
        rows[i] = draft.add(site.number, url, WITHDRAWN if lost[i] else ARTICLE, born=at, changes=changes)
    return Articles(rows, numbers, born, section, frozenset(rows[lost].tolist()))
