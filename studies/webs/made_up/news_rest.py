"""What else a made-up news site has: copies, comments, redirects, logins, a forum and a calendar without end.

All of it is work without use for a crawler that wants articles. Seed 000 found that nine of ten pages which its
crawler downloaded from 40 news sites were of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.lab.webs.web import NOWHERE, Floats
from studies.webs.made_up.draft import ALWAYS, BROKEN, DAY, LISTING, MISSING, MOVED, SERVICE, Answer, Draft
from studies.webs.made_up.news_site import Articles, Habits, Period

_PRINT = Answer(page_type="article", size=9_000)
_COMMENTS = Answer(page_type="forum", size=15_000)
_LOGIN = Answer(page_type="service", noindex=True, size=5_000)
_TOPIC = Answer(page_type="forum", size=25_000)
_CALENDAR = Answer(page_type="listing", size=8_000)
_COMMENT_COUNT, _COMMENT_DELAY = 2.0, 4 * 3600.0
"""Comments on an article in the mean, and the median of their delays; assumed."""
_POSTS_A_DAY = 1 / 20
"""New posts of a topic; assumed."""
_TOPICS_SHOWN, _TOPICS_ON_HOME, _PLACES_ON_HOME = 30, 15, 40
_CALENDAR_MONTHS = 120
"""Pages of a calendar without articles: so many hops from its first page, then it ends."""
_CALENDAR_FROM = 2020


class Extras:
    """Adds pages without use to one site; `around` are the links that every page has."""

    def __init__(
        self, draft: Draft, site: Habits, period: Period, around: Sequence[int], rng: np.random.Generator
    ) -> None:
        self._draft, self._site, self._period, self._around, self._rng = draft, site, period, around, rng
        self.comments: dict[int, int] = {}
        """The comments of each article, by row."""

    def add_satellites(self, articles: Articles, sites: int) -> list[list[int]]:
        """Pages that belong to one article each; which they are, by article."""
        partners = (self._rng.random(len(articles)) * sites).astype(int).tolist()
        found: list[list[int]] = []
        for i, row in enumerate(articles.rows.tolist()):
            found.append([])
            if row in articles.gone:
                continue
            born, number = float(articles.born[i]), articles.numbers[i]
            if self._site.prints:
                found[-1].append(self._add_print(row, number, born))
            if self._site.comments:
                self.comments[row] = self._add_comments(row, number, born)
                found[-1].append(self.comments[row])
            if self._site.exits:
                found[-1].append(self._add(f"/go/{number}", MOVED, born=born, redirect=partners[i]))
            if self._site.logins:
                text = f"login {self._site.number}"
                found[-1].append(self._add(f"/login?back={number}", _LOGIN, born=born, text=text, links=self._around))
        return found

    def add_forum(self) -> list[int]:
        """Topics and the pages that list them, all from before the recording; what the home page shows of them."""
        index = self._add("/forum/", LISTING)
        posts = self._rng.poisson(_POSTS_A_DAY * (self._period.ended - self._period.started) / DAY, self._site.forum)
        topics = []
        for number, count in enumerate(posts.tolist()):
            times = self._rng.uniform(self._period.started, self._period.ended, count)
            topics.append(self._add(f"/forum/topic/{number}/", _TOPIC, changes=times, links=[index, *self._around]))
        following = range(1, -(-len(topics) // _TOPICS_SHOWN))
        pages = [index, *(self._add(f"/forum/?page={number + 1}", LISTING) for number in following)]
        for number, page in enumerate(pages):
            shown = topics[number * _TOPICS_SHOWN : (number + 1) * _TOPICS_SHOWN]
            self._draft.link(page, self._around, shown, pages[max(number - 1, 0) : number + 2])
        return [index, *topics[:_TOPICS_ON_HOME]]

    def add_guide(self) -> list[int]:
        """A directory of things that are no news; what the home page shows of it."""
        index = self._add("/guide/", LISTING)
        places = [
            self._add(f"/guide/{number}.html", SERVICE, links=[index, *self._around])
            for number in range(self._site.guide)
        ]
        self._draft.link(index, self._around, places)
        return [index, *places[:_PLACES_ON_HOME]]

    def add_calendar(self) -> int:
        """A page for every month, with and without articles, all of one text; the first of them."""
        text = f"calendar {self._site.number}"
        months = [
            self._add(f"/calendar/{_CALENDAR_FROM + number // 12}-{number % 12 + 1:02d}/", _CALENDAR, text=text)
            for number in range(_CALENDAR_MONTHS)
        ]
        for number, row in enumerate(months):
            self._draft.link(row, self._around, months[max(number - 1, 0) : number + 2])
        return months[0]

    def add_errors(self) -> list[int]:
        """Broken links of the home page."""
        broken = [self._add(f"/special/{number}.html", MISSING) for number in range(int(self._rng.integers(1, 5)))]
        return [*broken, self._add("/weather/", BROKEN)] if self._rng.random() < 0.2 else broken

    def _add(
        self,
        path: str,
        answer: Answer,
        *,
        links: Sequence[int] = (),
        text: str | None = None,
        born: float = ALWAYS,
        changes: Floats | None = None,
        redirect: int = NOWHERE,
        canonical: int = NOWHERE,
    ) -> int:
        times = None if changes is None else self._period.recorded(np.unique(np.ceil(changes)))
        url = self._site.origin + path
        row = self._draft.add(
            self._site.number, url, answer,
            text=text, born=born, changes=times, redirect=redirect, canonical=canonical,
        )  # fmt: skip
        self._draft.link(row, links)
        return row

    def _add_print(self, row: int, number: int, born: float) -> int:
        return self._add(
            f"/print/{number}/",
            _PRINT,
            links=[self._around[0], row],
            text=self._draft.text_of(row),
            born=born,
            changes=self._draft.changes_of(row),
            canonical=row if self._site.names_canonical else NOWHERE,
        )

    def _add_comments(self, row: int, number: int, born: float) -> int:
        count = int(self._rng.poisson(_COMMENT_COUNT))
        times = born + self._rng.lognormal(np.log(_COMMENT_DELAY), 1.0, count)
        return self._add(f"/comments/{number}/", _COMMENTS, born=born, changes=times, links=[row, *self._around])
