"""At most a few results of one group on a page of results, where others have pages that are nearly as good.

Nothing is left out: a result that would be one too many moves to a later page, so all pages together show every result
once, and counts are those of all results.

If the best results come from `GROUPS` sites at least, a group is a site: what one registers, so `news.example.org` and
`www.example.org` are one. If they come from fewer sites, but from as many parts of these (`example.org/docs`), a group
is a part. Else there is no limit. And a result stays if what would take its place scores less than `NEARLY` of it: who
asks for what one site knows best wants that site. Decision 39 has the figures.

Each page of results is made from the top of the same list, by rules that look no further ahead than every request for
it knows, however many hits it asks for. So turning the page shows no result twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gossamer.index import schema
from gossamer.model.site import key64, owner_of, section_of, site_of
from gossamer.search.crowd import Crowd
from gossamer.search.limits import DEPTH, WINDOW, Span, depth_for
from gossamer.search.query.language import Query
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Hit, MoreFrom, Request
from gossamer.search.semantic.fusing import FIRST

GROUPS = 5
"""Groups among the best results from which on there is a limit for each."""
NEARLY = 0.7
"""Share of a result's score that another needs to take its place."""

_UNFIT = re.compile(r'[|"()\s]')
"""What no value of `site:` can have."""


class Seen(msgspec.Struct, frozen=True):
    """A result in the line, with its near copies."""

    group: int
    """Its number, as the index has it; 0: none."""
    score: float
    place: int
    """Of its best hit among all hits, from 0."""


def limit(request: Request, query: Query, config: RankingConfig) -> int:
    """Results of one group that a page may have; 0: as many as there are."""
    is_one_list = request.sort != "relevance" or bool(query.order) or request.similar
    is_one_site = bool(request.site or query.values("site"))
    ranking = request.ranking or config.ranking
    return config.group if request.group and ranking == "web" and not (is_one_list or is_one_site) else 0


def groups(numbers: Callable[[str], Sequence[int]]) -> tuple[str, Sequence[int]]:
    """What the hits are grouped by, a field of the index, and the group of each; empty where there is no limit.
    `numbers`: the values of a field."""
    owners = numbers(schema.OWNER)
    if len(set(owners[:WINDOW]) - {0}) >= GROUPS:
        return schema.OWNER, owners
    # A page at the top of its site is a part of its own, which says nothing about others.
    sections = numbers(schema.SECTION)
    counts = Counter(sections[:WINDOW])
    several = [one for one, count in counts.items() if one and count > 1]
    return (schema.SECTION, sections) if len(several) >= GROUPS else ("", ())


def arranged(line: Sequence[Seen], span: Span, most: int) -> list[int]:
    """The results of a page, by their places in the line: in its order, at most so many of one group."""
    left = list(range(len(line)))
    taken: list[int] = []
    for number in range(span.first // span.size + 1):
        end = reach((number + 1) * span.size)
        taken, left = _page(line, left, span.size, end, most)
    return taken


def reach(needed: int) -> int:
    """Hits up to which a page may take its results: as many as everybody knows who asks for it."""
    return depth_for(needed) if depth_for(needed) <= WINDOW else min(max(WINDOW, 2 * needed), DEPTH)


def _page(line: Sequence[Seen], left: Sequence[int], size: int, end: int, most: int) -> tuple[list[int], list[int]]:
    """The next page, and what is left after it."""
    taken: list[int] = []
    waiting: list[int] = []
    counts: Counter[int] = Counter()
    at = 0
    while at < len(left) and len(taken) < size and line[left[at]].place < end:
        one = line[left[at]]
        is_one_too_many = one.group and one.score < FIRST and counts[one.group] >= most
        if waiting and not is_one_too_many and one.score < NEARLY * line[waiting[0]].score:
            taken.append(waiting.pop(0))
            continue
        at += 1
        if is_one_too_many:
            waiting.append(left[at - 1])
        else:
            taken.append(left[at - 1])
            counts[one.group] += 1
    rest = [*waiting, *left[at:]]
    missing = size - len(taken)
    return sorted([*taken, *rest[:missing]]), rest[missing:]


def crowd(field: str, numbers: Sequence[int], most: int) -> Crowd:
    """The groups that have as many results on a page as they may."""
    return Crowd(field, tuple(one for one, count in Counter(numbers).items() if one and most and count >= most))


def told(hits: Sequence[Hit], field: str, totals: Mapping[int, int]) -> tuple[Hit, ...]:
    """The hits of a page with their groups: which follow one of the same group, and where there is more. `totals`: how
    many results the groups have that have as many on this page as they may."""
    if not field:
        return tuple(hits)
    names = [owner_of(site_of(hit.url)) if field == schema.OWNER else section_of(hit.url) for hit in hits]
    shown = Counter(names)
    last = {name: number for number, name in enumerate(names)}
    found: list[Hit] = []
    for number, (hit, name) in enumerate(zip(hits, names, strict=True)):
        follows = number > 0 and names[number - 1] == name != ""
        more = totals.get(key64(name), 0) - shown[name] if last[name] == number and not _UNFIT.search(name) else 0
        from_it = MoreFrom(name, more) if more > 0 else None
        found.append(msgspec.structs.replace(hit, group=name, follows=follows, more_from=from_it))
    return tuple(found)
