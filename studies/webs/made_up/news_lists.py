"""Lists of a made-up news site: sections, tags, days, feed and sitemap.

A list shows the newest articles. Its row holds all that it ever shows, newest first, because a recorded page has the
links of its last version less those to URLs that are not yet born: lists forget nothing while the recording runs, but
for feeds, of which a reader sees the first `Facts.feed_entries` that exist. Older articles are on numbered pages,
counted from the oldest one, so that a full page never changes again; each page is born with its first article.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

import msgspec
import numpy as np

from gossamer.lab.webs.web import Floats, Ints
from gossamer.model.outcome import Outcome
from studies.webs.made_up.draft import LISTING, Answer, Draft
from studies.webs.made_up.news_site import Articles, Habits, Period

SHOWN = 20
"""Articles that a list, a page of it, or a feed shows at once."""
_FEED = Answer(outcome=Outcome.RESOURCE, kind=2, media_type="application/rss+xml", size=30_000)
_SITEMAP = Answer(outcome=Outcome.RESOURCE, kind=1, media_type="application/xml", size=40_000)
_SITEMAP_DAYS = 2
"""A news sitemap names the articles of the last two days, as its format asks."""
_TAGS = 2
"""Tags of an article."""
_SORTED = ("?sort=popular", "?sort=comments", "?period=month")


class Rows(msgspec.Struct, frozen=True):
    """Articles by row, oldest first."""

    rows: Ints
    born: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def since(self, before: int, period: Period) -> Rows:
        """Those born in the recording and so many from before it."""
        start = max(int(np.searchsorted(self.born, period.started, side="right")) - before, 0)
        return Rows(self.rows[start:], self.born[start:])


def chosen(articles: Articles, mask: np.ndarray[tuple[int], np.dtype[np.bool_]] | slice = slice(None)) -> Rows:
    """Some articles."""
    return Rows(articles.rows[mask], articles.born[mask])


class ListMaker:
    """Adds lists to one site; `around` are the links that every page has, `comments` those beside an article."""

    def __init__(
        self, draft: Draft, site: Habits, period: Period, around: Sequence[int], comments: Mapping[int, int]
    ) -> None:
        self._draft, self._site, self._period, self._around, self._comments = draft, site, period, around, comments

    def entries(self, oldest_first: Ints) -> Iterator[int]:
        """What a list shows of articles: the newest first, each followed by its comments."""
        for row in oldest_first[::-1].tolist():
            yield row
            if row in self._comments:
                yield self._comments[row]

    def fill(self, head: int, path: str, listed: Rows) -> None:
        """Links and changes of a list, and its numbered pages where it has more articles than it shows."""
        shown = listed.since(SHOWN, self._period)
        pages = self._pages(path, listed) if len(listed) > SHOWN else []
        page_born = [listed.born[number * SHOWN] for number in range(len(pages))]
        # The list links to its newest page: to the one that was the newest at the start, and to all that follow.
        older = max(sum(at <= self._period.started for at in page_born) - 1, 0)
        self._draft.link(head, self._around, self.entries(shown.rows), reversed(pages[older:]))
        self._draft.change(head, self._period.recorded(shown.born))

    def _pages(self, path: str, listed: Rows) -> list[int]:
        count = -(-len(listed) // SHOWN)
        pages = []
        for number in range(count):
            born = listed.born[number * SHOWN : (number + 1) * SHOWN]
            following = listed.born[(number + 1) * SHOWN : (number + 1) * SHOWN + 1]
            changes = self._period.recorded(np.concatenate((born[1:], following)))
            url = f"{self._site.origin}{path}page/{number + 1}/"
            pages.append(self._draft.add(self._site.number, url, LISTING, born=float(born[0]), changes=changes))
        for number, page in enumerate(pages):
            rows = listed.rows[number * SHOWN : (number + 1) * SHOWN]
            beside = [*pages[max(number - 1, 0) : number], *pages[number + 1 : number + 2]]
            self._draft.link(page, self._around, self.entries(rows), beside)
        return pages

    def add_sorted(self, head: int, path: str) -> None:
        """The same list in another order: other URL, other text, no other articles."""
        for order in _SORTED:
            url = f"{self._site.origin}{path}{order}"
            row = self._draft.add(self._site.number, url, LISTING, changes=self._draft.changes_of(head))
            self._draft.link(row, self._around, reversed(self._draft.links[head]))
            self._draft.links[head].append(row)

    def add_tags(self, articles: Articles, rng: np.random.Generator) -> list[list[int]]:
        """Lists of the articles by tag; the tags of each article. Few tags are on many articles (Zipf)."""
        vocabulary = 8 + len(articles) // 3
        weights = 1.0 / np.arange(1, vocabulary + 1)
        drawn = rng.choice(vocabulary, (len(articles), _TAGS), p=weights / weights.sum())
        tags: list[list[int]] = [[] for _ in range(len(articles))]
        there = np.array([row not in articles.gone for row in articles.rows.tolist()], bool)
        for tag in np.unique(drawn[there]).tolist():
            tagged = there & (drawn == tag).any(axis=1)
            listed = chosen(articles, tagged)
            path = f"/tag/t{tag}/"
            head = self._draft.add(self._site.number, self._site.origin + path, LISTING, born=float(listed.born[0]))
            self.fill(head, path, listed)
            for i in np.flatnonzero(tagged).tolist():
                tags[i].append(head)
        return tags

    def fill_archive(self, root: int, articles: Articles) -> None:
        """Root → months → days → articles."""
        born = articles.born.tolist()
        days = groupby(range(len(articles)), key=lambda i: datetime.fromtimestamp(born[i], UTC).strftime("%Y/%m/%d"))
        day_rows: list[tuple[str, int, float]] = []
        for day, group in days:
            numbers = list(group)
            at = born[numbers[0]]
            changes = self._period.recorded(articles.born[numbers[1:]])
            url = f"{self._site.origin}/archive/{day}/"
            row = self._draft.add(self._site.number, url, LISTING, born=at, changes=changes)
            self._draft.link(row, self._around, self.entries(articles.rows[numbers]))
            day_rows.append((day, row, at))
        months = []
        for month, month_days in groupby(day_rows, key=lambda one: one[0][:7]):
            listed = list(month_days)
            months.append((self._add_month(month, listed), listed[0][2]))
        self._draft.link(root, self._around, (row for row, _ in reversed(months)))
        self._draft.change(root, self._period.recorded(np.array([at for _, at in months])))

    def _add_month(self, month: str, days: list[tuple[str, int, float]]) -> int:
        changes = self._period.recorded(np.array([at for _, _, at in days[1:]]))
        url = f"{self._site.origin}/archive/{month}/"
        row = self._draft.add(self._site.number, url, LISTING, born=days[0][2], changes=changes)
        self._draft.link(row, self._around, (day for _, day, _ in reversed(days)))
        return row

    def add_feed(self, listed: Rows) -> int:
        """The feed of the newest articles."""
        return self._add_resource("/rss.xml", _FEED, listed.since(SHOWN, self._period))

    def add_sitemap(self, listed: Rows) -> int:
        """The sitemap of the news of the last days."""
        recent = np.searchsorted(listed.born, self._period.started - _SITEMAP_DAYS * 86_400)
        return self._add_resource("/sitemap-news.xml", _SITEMAP, Rows(listed.rows[recent:], listed.born[recent:]))

    def _add_resource(self, path: str, answer: Answer, listed: Rows) -> int:
        changes = self._period.recorded(listed.born)
        row = self._draft.add(self._site.number, self._site.origin + path, answer, changes=changes)
        self._draft.link(row, listed.rows[::-1].tolist())
        return row
