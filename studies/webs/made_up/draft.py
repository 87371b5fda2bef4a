"""A web while it is being made: rows are added one by one, links follow when both their ends exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from gossamer.lab.webs.ragged import nothing, ragged
from gossamer.lab.webs.web import NO_RULES, NOWHERE, Facts, Floats, Ints, RecordedWeb
from gossamer.model.outcome import Outcome

DAY = 86_400.0
ALWAYS = -np.inf
"""Birth of pages that exist from the start."""
_SPREAD = 0.35
"""Deviation of the logarithms of page sizes within a site: .14 to .34 on three real ones (ex-animo, itw66, linuxcn),
whose pages are all of one kind."""
_JITTER = 0.4
"""Deviation of the logarithms of response times within a site; assumed."""


class Answer(msgspec.Struct, frozen=True):
    """What a server sends for a URL, as far as it does not depend on the URL."""

    outcome: Outcome = Outcome.DOCUMENT
    status: int = 200
    kind: int = 0
    media_type: str = "text/html"
    page_type: str = ""
    fit: int = 0
    noindex: bool = False
    size: int = 20_000
    """Median of the bytes."""


LISTING = Answer(page_type="listing", size=25_000)
SERVICE = Answer(page_type="service", size=12_000)
MISSING = Answer(outcome=Outcome.GONE, status=404, size=3_000)
BROKEN = Answer(outcome=Outcome.SERVER_ERROR, status=500, size=1_000)
MOVED = Answer(outcome=Outcome.REDIRECT, status=302, size=200)


class Host(msgspec.Struct, frozen=True):
    """What all pages of a host share."""

    validates: bool
    duration: float
    """Median response time in seconds."""
    scale: float = 1.0
    """Its pages are so many times as long as others'."""


class Draft:
    """Grows by `add` and `link`; `finish` makes the web."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.links: dict[int, list[int]] = {}
        self.feeds: dict[int, list[int]] = {}
        self._answers: dict[Answer, int] = {}
        self._rows: list[Answer] = []
        self._hosts: list[int] = []
        self._texts: list[str] = []
        self._born: list[float] = []
        self._changes: dict[int, Floats] = {}
        self._redirect: dict[int, int] = {}
        self._canonical: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.urls)

    def add(
        self,
        host: int,
        url: str,
        answer: Answer,
        *,
        text: str | None = None,
        born: float = ALWAYS,
        changes: Floats | None = None,
        redirect: int = NOWHERE,
        canonical: int = NOWHERE,
    ) -> int:
        """A new row; `text` names its text where another page has the same."""
        row = len(self.urls)
        self.urls.append(url)
        self._answers.setdefault(answer, len(self._answers))
        self._rows.append(answer)
        self._hosts.append(host)
        has_text = answer.outcome is Outcome.DOCUMENT
        self._texts.append((text or f"{row:x}") if has_text else "")
        self._born.append(born)
        if changes is not None and len(changes):
            self._changes[row] = changes
        if redirect != NOWHERE:
            self._redirect[row] = redirect
        if canonical != NOWHERE:
            self._canonical[row] = canonical
        return row

    def change(self, row: int, times: Floats) -> None:
        """The times at which a page changes, in place of those it had; its birth is none."""
        self._changes[row] = times[times > self._born[row]]

    def changes_of(self, row: int) -> Floats:
        """The times at which a page changes."""
        return self._changes.get(row, np.empty(0))

    def answer_of(self, row: int) -> Answer:
        """What the server sends for a row."""
        return self._rows[row]

    def text_of(self, row: int) -> str:
        """The name of a page's text."""
        return self._texts[row]

    def link(self, row: int, *groups: Iterable[int]) -> None:
        """Links of a page, in order; each target counts once, and no page links to itself."""
        self.links[row] = list(dict.fromkeys(target for group in groups for target in group if target != row))

    def finish(self, facts: Facts, hosts: Sequence[Host], rng: np.random.Generator, *, rules: bool) -> RecordedWeb:
        """The web; `rules`: whether its sites have document rules."""
        n = len(self)
        table, which = list(self._answers), np.array([self._answers[answer] for answer in self._rows])

        def column(values: Iterable[Any], dtype: Any) -> Any:
            return np.array(list(values), dtype)[which]

        host = np.array(self._hosts)
        scale = np.array([one.scale for one in hosts])[host] * np.exp(rng.normal(0.0, _SPREAD, n))
        pace = np.array([one.duration for one in hosts])[host] * np.exp(rng.normal(0.0, _JITTER, n))
        return RecordedWeb(
            facts,
            self.urls,
            answer=column((a.outcome.value for a in table), object).tolist(),
            links=ragged((self.links.get(row, ()) for row in range(n)), np.int64),
            kind=column((a.kind for a in table), np.int8),
            status=column((a.status for a in table), np.int16),
            size=np.maximum(column((a.size for a in table), np.int64) * scale, 100.0).astype(np.int64),
            duration=np.round(pace, 4),
            media_type=column((a.media_type for a in table), object).tolist(),
            fit=column((a.fit if rules else NO_RULES for a in table), np.int8),
            noindex=column((a.noindex for a in table), np.bool_),
            validates=np.array([one.validates for one in hosts])[host],
            redirect=_filled(self._redirect, n),
            canonical=_filled(self._canonical, n),
            text_hash=self._texts,
            page_type=column((a.page_type for a in table), object).tolist(),
            feeds=ragged((self.feeds.get(row, ()) for row in range(n)), np.int64) if self.feeds else nothing(n, int),
            born=np.array(self._born),
            changes=ragged((self.changes_of(row).tolist() for row in range(n)), np.float64),
        )


def _filled(values: dict[int, int], n: int) -> Ints:
    found = np.full(n, NOWHERE, np.int64)
    found[list(values)] = list(values.values())
    return found
