"""What a front end and a shard say to each other: values only, written as MessagePack.

`PROTOCOL` is raised by every change to the structs below that an older node would misunderstand. A query travels as it
was typed, so a new operator is such a change, unless it comes with a new version of the index, which is compared, too.
"""

from __future__ import annotations

import msgspec

from gossamer.search.corpus import Frequencies, Place, Summary, Whole
from gossamer.search.counting import Counted, Joined
from gossamer.search.crowd import Crowd
from gossamer.search.desk.effects import Effects
from gossamer.search.query.language import Query, parse
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Hit, Request

PROTOCOL = 3


class Identity(msgspec.Struct, frozen=True):
    """Whose answer it is."""

    protocol: int
    schema: int
    """Version of the index."""
    shard: int
    shards: int
    crawl: str


class Envelope(msgspec.Struct, frozen=True):
    """An answer with its sender."""

    sender: Identity
    body: msgspec.Raw


class StatisticsAsk(msgspec.Struct, frozen=True):
    """Numbers wanted: always those of all documents, and of some terms."""

    places: tuple[Place, ...] = ()


class Statistics(msgspec.Struct, frozen=True):
    """Numbers of one shard."""

    summary: Summary
    frequencies: Frequencies


class Question(msgspec.Struct, frozen=True):
    """A request with all that makes its answer the same everywhere."""

    request: Request
    config: RankingConfig
    now: float
    whole: Whole
    effects: Effects | None = None
    """What the rules of the search desk make of it, where the front end has some."""

    @property
    def query(self) -> Query:
        """The query as it is asked."""
        return self.effects.query if self.effects is not None else parse(self.request.query, self.whole.fields)


class FindAsk(msgspec.Struct, frozen=True):
    """The best pages of a shard are wanted."""

    question: Question
    needed: int
    """Results up to the last that will be shown."""
    depth: int
    """Hits wanted."""
    ahead: int = 0
    """Results that are wanted as readers see them, since they are likely to be shown."""
    facets: bool = False
    """Whether counts are wanted with those."""


class Sighting(msgspec.Struct, frozen=True, array_like=True):
    """A page that matches."""

    order: float
    """What decides whether it is among the best: the score without priors, or the date."""
    score: float
    """What decides its place among the best."""
    key: int
    cluster: int
    owner: int = 0
    section: int = 0


class Finding(msgspec.Struct, frozen=True):
    """The pages that match a query."""

    pages: int = 0
    sightings: tuple[Sighting, ...] = ()
    """The best of them."""
    joined: Joined = Joined()


class Shown(msgspec.Struct, frozen=True):
    """Results for a reader."""

    hits: dict[int, Hit]
    """By key; a page that left meanwhile is missing."""
    counted: Counted


class Found(msgspec.Struct, frozen=True):
    """What a shard found."""

    position: int
    """Last change of the crawl that its index holds."""
    strict: Finding
    loose: Finding | None = None
    """Pages with some of the words; told where few have them all."""
    ahead: Shown | None = None
    """The best results as readers see them, if they were wanted."""
    is_loose: bool = False
    """Which of the two queries those are of."""


class MeaningAsk(msgspec.Struct, frozen=True):
    """What a shard's vectors say is wanted."""

    question: Question
    loose: bool
    """Which of the two queries."""
    keys: tuple[int, ...] = ()
    """The best pages of all shards by words."""


class Meant(msgspec.Struct, frozen=True):
    """What a shard's vectors say."""

    near: dict[int, float] = {}
    """How near pages are, by key: those of the best by words that are here, and those that only meaning finds."""
    found: tuple[Sighting, ...] = ()
    """Pages that only meaning finds, with their scores by words."""
    matching: tuple[int, ...] = ()
    """Those of them that have the words, too, but not enough to be among the best."""


class Showing(msgspec.Struct, frozen=True, array_like=True):
    """A page to be shown, with what only the front end knows."""

    key: int
    score: float
    similar: int


class ShowAsk(msgspec.Struct, frozen=True):
    """Results for a reader, and counts, are wanted."""

    question: Question
    loose: bool
    """Which of the two queries."""
    showings: tuple[Showing, ...] = ()
    clusters: tuple[int, ...] = ()
    """Clusters whose pages are to be counted."""
    facets: bool = False
    crowd: Crowd = Crowd()
    """Groups whose pages are to be counted."""


class ExplainAsk(msgspec.Struct, frozen=True):
    """An explanation is wanted."""

    question: Question
    url: str
    is_found: bool = False
    """Whether the page is among the results even without the words."""


class SuggestAsk(msgspec.Struct, frozen=True):
    """How a query may go on."""

    prefix: str
    limit: int
    sites: tuple[str, ...] = ()
    """Only what stands on pages of these sites, and with this filter: a collection."""
    filter: str = ""


class Suggested(msgspec.Struct, frozen=True):
    """Words and titles of a shard."""

    terms: tuple[tuple[str, int], ...] = ()
    """With the pages that have each."""
    titles: tuple[tuple[float, str], ...] = ()
    """With their scores."""


class SpellingAsk(msgspec.Struct, frozen=True):
    """Words that may be mistakes."""

    words: tuple[str, ...]
    """Their neighbours are wanted."""
    counted: tuple[str, ...]
    """Their frequencies are wanted."""


class Spellings(msgspec.Struct, frozen=True):
    """What a shard's vocabulary says."""

    frequencies: dict[str, int]
    """Of those asked for and of all neighbours."""
    neighbours: dict[str, tuple[tuple[int, str], ...]]
    completions: dict[str, tuple[str, ...]] = {}
    """Word → the most frequent longer ones that begin so; an older shard tells none."""


class UrlAsk(msgspec.Struct, frozen=True):
    """Something about one page is wanted."""

    url: str


class LikeAsk(msgspec.Struct, frozen=True):
    """The words of a page are wanted that others shall be like."""

    value: str
    """Of `like:`, as typed."""


class LeadersAsk(msgspec.Struct, frozen=True):
    """The representatives of clusters are wanted."""

    clusters: tuple[int, ...]


class HeldAsk(msgspec.Struct, frozen=True):
    """Which of some pages a shard holds is wanted."""

    keys: tuple[int, ...]


class OverviewAsk(msgspec.Struct, frozen=True):
    """What a shard holds is wanted."""
