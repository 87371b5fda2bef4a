"""A made-up university: many hosts, one navigation, few changes.

Seed 002 crawled 31 hosts of one university: 198,649 pages, 1.2 GB, so 6 kB a page. In-degrees and out-degrees of pages
follow power laws with the exponents that Broder et al. (2000) found on 200 million pages, 2.1 and 2.7. All other
figures are assumptions.
"""

from __future__ import annotations

import msgspec
import numpy as np

from gossamer.lab.webs.web import Facts, Floats, Ints, RecordedWeb
from gossamer.model.outcome import Outcome
from studies.webs.made_up.draft import DAY, LISTING, SERVICE, Answer, Draft, Host

STARTED_AT = 1_780_272_000.0
DOMAIN = "uni.example"
MIRROR = f"mirror.{DOMAIN}"
_IN_EXPONENT, _OUT_EXPONENT = 2.1, 2.7
_MOST_LINKS = 100
_AT_HOME = 0.8
"""Share of the free links that stay on their host."""
_SHOWN = 30
"""Pages that one page of a list shows."""
_HTML = Answer(page_type="article", size=6_000)
_PDF = Answer(media_type="application/pdf", size=300_000)
_ZIP = Answer(outcome=Outcome.UNSUPPORTED_TYPE, media_type="application/zip", size=2_000_000)
_CHANGING, _LIST_PERIOD, _PAGE_PERIOD = 0.05, 7 * DAY, 30 * DAY
"""Share of the pages that ever change; mean times between two changes of a list, and of such a page."""


class _Part(msgspec.Struct, frozen=True):
    """One kind of pages of a department."""

    folder: str
    share: float
    ending: str
    answer: Answer


_PARTS = (
    _Part("people", 0.15, "/", msgspec.structs.replace(_HTML, page_type="service")),
    _Part("courses", 0.2, ".html", msgspec.structs.replace(_HTML, page_type="documentation")),
    _Part("info", 0.5, ".htm", _HTML),
    _Part("papers", 0.11, ".pdf", _PDF),
    _Part("files", 0.04, ".zip", _ZIP),
)


class _Plan(msgspec.Struct, frozen=True):
    """A host: its rows are the home page, then by part the pages of the list, then what is listed."""

    name: str
    counts: tuple[int, ...]


def university_web(
    hosts: int = 31, pages: int = 20_000, seed: int = 1, *, days: float = 30.0, started_at: float = STARTED_AT
) -> RecordedWeb:
    """The web of one university of about so many pages; the last of its hosts is a mirror of another one."""
    rng = np.random.default_rng([seed, hosts, pages])
    plans = _plans(hosts, pages)
    draft = Draft()
    places = [_add_host(draft, number, plan) for number, plan in enumerate(plans)]
    _link_freely(draft, places, rng)
    ended_at = started_at + days * DAY
    _change(draft, started_at, ended_at, rng)
    if hosts > 2:
        _add_mirror(draft, len(plans), places[_mirrored(hosts)])
    facts = Facts(
        name=f"university-{hosts}x{pages}-{seed}",
        started_at=started_at,
        ended_at=ended_at,
        seeds=[0],
        robots={f"http://{plans[0].name}": b"User-agent: *\nDisallow: /files/\n"},
        addresses={plan.name: "198.19.0.1" for plan in plans[len(plans) // 2 :]},
        source=f"Made up: a university with {hosts} hosts, seed {seed}.",
    )
    return draft.finish(facts, [_draw_host(rng) for _ in range(hosts)], rng, rules=False)


def _pages(count: int) -> int:
    """Pages of a list of so many entries."""
    return max(-(-count // _SHOWN), 1)


def _mirrored(hosts: int) -> int:
    """The host that is mirrored: neither the largest nor one of the smallest."""
    return min(3, hosts - 2)


def _plans(hosts: int, pages: int) -> list[_Plan]:
    """Hosts by size, which falls with their rank (Zipf); the mirror takes its share, but is no plan of its own."""
    own = hosts - 1 if hosts > 2 else hosts
    weights = 1.0 / np.arange(1, own + 1)
    weights /= weights.sum() + (weights[_mirrored(hosts)] if own < hosts else 0.0)
    names = [f"www.{DOMAIN}", f"news.{DOMAIN}", *(f"d{number:02d}.{DOMAIN}" for number in range(2, own))]
    return [
        _Plan(name, tuple(max(int(pages * weight * part.share / (1 + 1 / _SHOWN)), 1) for part in _PARTS))
        for name, weight in zip(names, weights, strict=False)
    ]


def _draw_host(rng: np.random.Generator) -> Host:
    return Host(validates=bool(rng.random() < 0.5), duration=float(rng.lognormal(np.log(0.15), 0.5)))


def _add_host(draft: Draft, number: int, plan: _Plan) -> range:
    """Home page, lists and what they list; the rows."""
    first = len(draft)
    origin = f"http://{plan.name}"
    home = draft.add(number, f"{origin}/", SERVICE)
    lists = []
    for part, count in zip(_PARTS, plan.counts, strict=True):
        heads = [draft.add(number, f"{origin}/{part.folder}/", LISTING)]
        heads += [draft.add(number, f"{origin}/{part.folder}/?page={n + 1}", LISTING) for n in range(1, _pages(count))]
        lists.append((heads, part, count))
    around = [0, home, *(heads[0] for heads, _, _ in lists)]
    draft.link(home, around)
    for heads, part, count in lists:
        entries = [draft.add(number, f"{origin}/{part.folder}/{n}{part.ending}", part.answer) for n in range(count)]
        for n, head in enumerate(heads):
            draft.link(head, around, entries[n * _SHOWN : (n + 1) * _SHOWN], heads[max(n - 1, 0) : n + 2])
        for row in entries:
            if part.answer.media_type == "text/html":
                draft.link(row, around)
    return range(first, len(draft))


def _link_freely(draft: Draft, places: list[range], rng: np.random.Generator) -> None:
    """Links of the texts: more to pages that have many, mostly on the same host; and all hosts from the first one."""
    n = len(draft)
    appeal = rng.pareto(_IN_EXPONENT - 1, n) + 1.0
    sources = np.array(sorted(draft.links), np.int64)
    counts = np.minimum(rng.pareto(_OUT_EXPONENT - 1, len(sources)) * 4, _MOST_LINKS).astype(np.int64)
    for place in places:
        mine = (sources >= place.start) & (sources < place.stop)
        rows = np.repeat(sources[mine], counts[mine])
        near = rng.random(len(rows)) < _AT_HOME
        targets = _drawn(appeal, 0, n, len(rows), rng)
        targets[near] = _drawn(appeal, place.start, place.stop, int(near.sum()), rng)
        for row, target in zip(rows.tolist(), targets.tolist(), strict=True):
            draft.links[row].append(target)
    for row in sources.tolist():
        draft.link(row, draft.links[row])
    draft.link(0, draft.links[0], (place.start for place in places))


def _drawn(appeal: Floats, start: int, stop: int, count: int, rng: np.random.Generator) -> Ints:
    """Rows of a range by chance, in the measure of their appeal."""
    sums = np.cumsum(appeal[start:stop])
    drawn: Ints = start + np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return drawn


def _change(draft: Draft, started_at: float, ended_at: float, rng: np.random.Generator) -> None:
    """Times of changes; links stay as they are."""
    for row in sorted(draft.links):
        is_list = draft.answer_of(row) is LISTING
        if is_list or rng.random() < _CHANGING:
            count = rng.poisson((ended_at - started_at) / (_LIST_PERIOD if is_list else _PAGE_PERIOD))
            draft.change(row, np.unique(np.ceil(rng.uniform(started_at, ended_at, count))))


def _add_mirror(draft: Draft, number: int, place: range) -> None:
    """The pages of a host once more under another name; links to that host lead to the mirror."""
    shift = len(draft) - place.start
    for row in place:
        _, _, path = draft.urls[row].removeprefix("http://").partition("/")
        copy = draft.add(
            number,
            f"http://{MIRROR}/{path}",
            draft.answer_of(row),
            text=draft.text_of(row),
            changes=draft.changes_of(row),
        )
        draft.link(copy, (target + shift if target in place else target for target in draft.links.get(row, ())))
    draft.links[0].append(place.start + shift)
