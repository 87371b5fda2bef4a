"""Automatic filters: what they match, and the scope rule that applies them.

A filter belongs to a site and is one of three kinds:

- `prefix`: the URLs that count under a prefix or below it (`scope.statistics`), such as `/tag/` or `/list/?page&sort`;
- `shape`: the URLs of one shape (`scope.shape`), such as the daily archive `/<n>/<n>/<n>/`; a `*` matches any one
  segment: `/<n>/<n>/*/feed/`;
- `parameter`: the URLs whose query has a parameter of this name.

Two promises hold whatever a filter says: a URL that fits a document rule is never refused, and one in `probe` URLs
passes, so that a filter that has become wrong shows. `scope.proposals` makes filters; `frontier.steering.filters`
stores
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec

from gossamer.model.counts import counted, noun
from gossamer.model.decision import Decision, refuse
from gossamer.model.site import key64, site_of
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts, ancestors, prefix_of

FilterKind = Literal["prefix", "shape", "parameter"]
Fits = Callable[[str], bool | None]
"""Whether a URL fits a document rule; None if its domain has no rules."""

RULE = "automatic"
ANY = "*"
"""Matches one segment in a shape."""


class FilterConfig(msgspec.Struct, frozen=True):
    """When the crawl makes automatic filters, and how sure it must be."""

    mode: Literal["off", "shadow", "on"] = "on"
    """off: make no filters; shadow: make filters and count what they would refuse, but refuse nothing; on: let them
    refuse URLs."""
    useful: int = 20
    """Useful URLs that a site must have before the crawl makes filters for it."""
    known: int = 20
    """Fewest URLs that a filter may cover."""
    chance: float = 0.001
    """A group of URLs without a useful one counts as useless if a random sample of the site of that size would contain
    no useful URL with less than this probability."""
    dry: float = 0.05
    """The crawl must have visited this share of the URLs of a filter, and at least `known` of them, since the last one
    that led to a new useful URL."""
    detour: float = 3.0
    """How many times as long the paths of links to useful pages may become on average."""
    shadow_urls: int = 20
    """URLs that a filter in the shadow must be right about before it becomes active."""
    shadow: float = 86_400.0
    """Seconds after which a filter with fewer such URLs, but no wrong one, becomes active."""
    probe: int = 50
    """The crawl fetches one in this many URLs that an active filter matches, to check that the filter is still right;
    0: none."""
    groups: int = 10
    """Pages that the crawl must have seen with and without a parameter, or with two of its values, to judge it."""
    links: int = 20_000_000
    """Most links of a site to hold in memory during the check that useful pages stay reachable; if a site has more, the
    check is stricter."""
    every: float = 600.0
    """Seconds between two searches for filters."""
    share: float = 0.01
    """Share of the elapsed time that searches for filters may take; sites that grew most come first."""


class AutomaticFilter(msgspec.Struct, frozen=True, order=True):
    """One filter."""

    site: str
    kind: FilterKind
    pattern: str
    reason: str = ""
    """Why it exists: the sentence that goes with each URL it refuses."""


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The evidence for a filter, stored with it."""

    counts: Counts = Counts()
    """Of the URLs it matches, when it was proposed."""
    site: Counts = Counts()
    """Of the whole site, then."""
    ruled: bool = True
    """Whether useful means: fits a document rule; else: a document that is no near-duplicate."""
    chance: float = 0.0
    """Probability that as many URLs of the site have no useful one among them by mere chance."""
    same: int = 0
    """For a parameter: pages that were the same with it and without it."""
    dry: int = 0
    """Visits to its URLs since the last one that led to a new useful URL."""
    reachable: int = 0
    """Useful pages to which paths around the filter were found: all that were reachable."""
    links: int = 0
    """Links that were walked for this."""
    steps: tuple[float, float] = (0.0, 0.0)
    """Mean number of links from the crawl's starts to a useful page, before and after."""
    since: Counts = Counts()
    """Of the URLs it would have refused since it was proposed."""
    note: str = ""
    """Why it is in its present state."""
    kept: bool = False
    """The operator switched it on: nothing else withdraws it."""

    def sentence(self) -> str:
        """For a person."""
        if self.same:
            return (
                f"{counted(self.same, 'page')} {noun(self.same, 'was')} the same with it and without it, none differed"
            )
        tried = (
            f"{counted(self.counts.known, 'URL')} known"
            if self.ruled
            else f"{counted(self.counts.visited, 'page')} visited"
        )
        useful = self.site.fit if self.ruled else self.site.documents - self.site.near
        of = self.site.known if self.ruled else self.site.visited
        return f"{tried}, none useful, while {useful} of the site's {of} are"


class SiteFilters:
    """The filters of one site, ready to match shapes."""

    def __init__(self, filters: Iterable[AutomaticFilter]) -> None:
        self._of: dict[str, dict[str, AutomaticFilter]] = {"prefix": {}, "shape": {}, "parameter": {}}
        for one in filters:
            self._of[one.kind][one.pattern] = one
        paths = [pattern.partition("?")[0].split("/") for pattern in self._of["shape"]]
        # All of them: a segment of the URL itself may be a star.
        self._stars = sorted({place for path in paths for place, segment in enumerate(path) if segment == ANY})
        first = {_first_segment(pattern) for kind in ("prefix", "shape") for pattern in self._of[kind]}
        open_ended = "" in map(_first_segment, self._of["prefix"])  # `/?page` matches `/any?page`
        self._first = None if open_ended or any("<" in one or one == ANY for one in first) else first
        """Prefixes of paths that any filter could match; None: unknown."""

    def may_match(self, url: str) -> bool:
        """Whether the shape of a URL is worth computing: false for most, at a fifth of the cost."""
        if self._first is None or ("?" in url and self._of["parameter"]):
            return True
        return _first_segment(url[url.find("/", 8) :]) in self._first

    def match(self, shape: str) -> AutomaticFilter | None:
        """The filter that refuses URLs of a shape."""
        prefixes, shapes, parameters = self._of.values()
        if prefixes:
            for prefix in ancestors(prefix_of(shape)):
                if prefix in prefixes:
                    return prefixes[prefix]
        if shapes:
            if shape in shapes:
                return shapes[shape]
            for place in self._stars:
                if (found := shapes.get(with_any(shape, place))) is not None:
                    return found
        if parameters:
            for name in parameter_names(shape):
                if name in parameters:
                    return parameters[name]
        return None


def _first_segment(path: str) -> str:
    parts = path.partition("?")[0].split("/", 2)
    return parts[1] if len(parts) > 1 else ""


def with_any(shape: str, place: int) -> str:
    """A shape with one segment of its path open; `""` if there is no word to open."""
    path, mark, names = shape.partition("?")
    parts = path.split("/")
    if place >= len(parts) or parts[place] in ("", "<n>", ANY):
        return ""
    parts[place] = ANY
    return f"{'/'.join(parts)}{mark}{names}"


def parameter_names(shape: str) -> list[str]:
    """The names of the query's parameters."""
    _, mark, names = shape.partition("?")
    return names.split("&") if mark else []


def groups_of(shape: str) -> Iterator[tuple[FilterKind, str]]:
    """Every filter that would refuse URLs of a shape; the whole site is none."""
    for prefix in ancestors(prefix_of(shape)):
        if prefix != "/":
            yield "prefix", prefix
    yield "shape", shape
    for place in range(1, shape.partition("?")[0].count("/") + 1):
        if pattern := with_any(shape, place):
            yield "shape", pattern
    for name in parameter_names(shape):
        yield "parameter", name


def is_probe(url: str, probe: int) -> bool:
    """Whether a URL is fetched although a filter matches it: the same answer each time."""
    return probe > 0 and key64(url) % probe == 0


class AutomaticRule:
    """The scope rule. Its cost depends on the filters of one site, not on how many sites have some."""

    name = RULE

    def __init__(self, filters: Iterable[AutomaticFilter], fits: Fits, probe: int = 0) -> None:
        by_site: dict[str, list[AutomaticFilter]] = defaultdict(list)
        for one in filters:
            by_site[one.site].append(one)
        self._by_site = {site: SiteFilters(ones) for site, ones in by_site.items()}
        self._fits, self._probe = fits, probe

    def decide(self, url: str, now: float) -> Decision | None:
        """A refusal, or None."""
        filters = self._by_site.get(site_of(url))
        if filters is None or not filters.may_match(url):
            return None
        found = filters.match(path_shape(url))
        if found is None or self._fits(url) or is_probe(url, self._probe):
            return None
        return refuse(f"{RULE}.{found.kind}", found.reason or reason_of(found.kind, found.pattern))


def reason_of(kind: FilterKind, pattern: str, evidence: str = "") -> str:
    """The sentence that goes with each URL a filter refuses; its beginning names the filter."""
    return f"an automatic filter refuses the {kind} {pattern}" + (f": {evidence}" if evidence else "")
