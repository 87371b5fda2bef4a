"""In which order a crawl fetched its pages, which of them were useful, and what order a simulation gets.

Everything is read from the segments of a finished crawl: each request for a page is a row there, with its time,
and so are the links of the pages. A fetch is *useful* when its URL fits a document rule and brought a document.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

from gossamer.parse.rules import RuleBook
from gossamer.parse.rules.toml import read_rules

Links = list[list[int]]
"""By the number of a fetch: the numbers of the URLs that its page leads to."""


class Fetch(msgspec.Struct, frozen=True):
    """One request for a page."""

    at: float
    url: str
    outcome: str
    fit: bool

    @property
    def useful(self) -> bool:
        """Whether it was worth the request."""
        return self.fit and self.outcome == "document"


class Reasons(msgspec.Struct, frozen=True):
    """Why fetches before the last useful one were not useful."""

    no_document: int
    """The URL fitted a rule and brought an error, a redirect or a copy."""
    waiting: int
    """A useful URL stood on a page that was downloaded already, and was not asked for yet."""
    unknown: int
    """No downloaded page named a useful URL that was still to be fetched."""


def read_fetches(data: Path, rules: Path) -> list[Fetch]:
    """The requests for pages in the order in which they were made; `rules`: the file that says which are useful."""
    fits = RuleBook(read_rules(rules.read_text("utf-8"), str(rules))).fits
    rows = _rows(data, "pages", ("fetched_at", "url", "outcome"))
    return sorted(
        (Fetch(at.timestamp(), url, outcome, bool(fits(url))) for at, url, outcome in rows), key=lambda one: one.at
    )


def read_links(data: Path, fetches: Sequence[Fetch]) -> Links:
    """Which fetch could have led to which, by links, redirects and canonical addresses."""
    number = {one.url: place for place, one in reversed(list(enumerate(fetches)))}
    found: Links = [[] for _ in fetches]
    pairs = [*_rows(data, "links", ("source", "target"))]
    for url, target, canonical in _rows(data, "pages", ("url", "target", "canonical")):
        pairs += [(url, target), (url, canonical)]
    for source, target in pairs:
        if source in number and target in number and source != target:
            found[number[source]].append(number[target])
    return found


def _rows(data: Path, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for path in sorted((data / "segments").glob(f"*/{table}.parquet")):
        read = pq.read_table(path, columns=list(columns)).to_pydict()
        yield from zip(*(read[column] for column in columns), strict=True)


def share(useful: Sequence[bool], start: float, end: float) -> float:
    """Part of the fetches between two points of the crawl that was useful."""
    first, last = round(start * len(useful)), round(end * len(useful))
    return sum(useful[first:last]) / (last - first) if last > first else 0.0


def found_at(useful: Sequence[bool], part: float) -> float:
    """The point of the crawl at which this part of the useful pages had been fetched."""
    wanted, got = part * sum(useful), 0
    for place, one in enumerate(useful, 1):
        got += one
        if one and got >= wanted:
            return place / len(useful)
    return 1.0


def reasons(fetches: Sequence[Fetch], links: Links) -> Reasons:
    """What the useless fetches before the last useful one had for an excuse."""
    named = [len(fetches)] * len(fetches)
    for place, targets in enumerate(links):
        for target in targets:
            named[target] = min(named[target], place)
    change = [0] * (len(fetches) + 1)
    for place, one in enumerate(fetches):
        if one.useful and named[place] < place:
            change[named[place] + 1] += 1
            change[place] -= 1
    last = max((place for place, one in enumerate(fetches) if one.useful), default=0)
    waiting = no_document = behind = unknown = 0
    for place, one in enumerate(fetches[:last]):
        waiting += change[place]
        if one.fit:
            no_document += not one.useful
        elif waiting:
            behind += 1
        else:
            unknown += 1
    return Reasons(no_document, behind, unknown)


def without_delay(fetches: Sequence[Fetch], links: Links) -> list[int]:
    """The order of a crawl that knows the links of a page before its next request and always takes the URL that fits,
    then the shallowest, then the oldest; it begins with what no page leads to."""
    known = _entries(links)
    queue = [(not fetches[place].fit, 0, place, place) for place in sorted(known)]
    order = []
    while queue:
        _, depth, _, place = heapq.heappop(queue)
        order.append(place)
        for target in links[place]:
            if target not in known:
                known.add(target)
                heapq.heappush(queue, (not fetches[target].fit, depth + 1, len(fetches) + len(known), target))
    return order


def with_foresight(fetches: Sequence[Fetch], links: Links) -> list[int]:
    """The order of a crawl that also knows what pages link to before they are fetched: of those that do not fit, it
    takes the one that names most fitting URLs nobody knew; where none does, one that leads to such a page."""
    known = _entries(links)
    news = [{target for target in targets if fetches[target].fit} for targets in links]
    fitting, others, order = deque[int](), set(known), list[int]()
    while fitting or others:
        place = fitting.popleft() if fitting else _most_promising(others, news, links, known)
        others.discard(place)
        order.append(place)
        for target in links[place]:
            if target not in known:
                known.add(target)
                if fetches[target].fit:
                    fitting.append(target)
                else:
                    others.add(target)
    return order


def _most_promising(places: set[int], news: list[set[int]], links: Links, known: set[int]) -> int:
    if all(one <= known for one in news):
        return min(places)
    gain = {place: len(news[place] - known) for place in places}
    if not any(gain.values()):
        gain = {place: sum(len(news[one] - known) for one in set(links[place]) - known) for place in places}
    return max(places, key=lambda place: (gain[place], -place))


def _entries(links: Links) -> set[int]:
    """What no page leads to: the seed and what robots.txt names."""
    led = {target for targets in links for target in targets}
    return {0, *(place for place in range(len(links)) if place not in led)}
