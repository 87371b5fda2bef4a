"""Saved queries, matched against documents on their way into the index.

The documents of a step are an index of their own before they are added to the real one. Each saved query is built and
asked there as the search page would: by the numbers of all documents (which words are common, which languages there
are), with its filters and under the rules of the search desk (hidden pages, synonyms, stop words, collections). What it
finds is what the search page finds among these documents; only the looser answer to a query that finds little is left
out, since nobody wants to be told of pages that have some of the words.

When a page is told:

- It came after the query was made, or resumed (`Alert.since`): a new index made of old segments tells nothing, and
  neither does a page that is written anew because of links to it, which is no change.
- It was not in the index before, and the query did not find it earlier. One that wants changes (`Alert.again`) is
  told of every stored version that matches.

Hits, messages and the number of the change (`alerts.matched`) are written in one transaction, *before* the index is
committed. A kill between the two means that the index takes the step again, and finds it matched: nothing is lost,
and nothing told twice. So a page may be told some moments before it can be searched; the message gathers for a minute
anyway.

The hole that remains: in an index that is made from nothing, every page is new. A page that was stored before the
query was made, and again before that index reached it, is told although it is not.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import tantivy

from gossamer.alerts.desk import PublishedDesk, for_alerts
from gossamer.alerts.gathering import Gatherer
from gossamer.clock import Clock
from gossamer.database.database import Database
from gossamer.frontier.steering.removals import covered
from gossamer.index import commits, schema
from gossamer.notify.message import Item, item
from gossamer.search.corpus import usual_languages
from gossamer.search.desk.acting import Rules
from gossamer.search.excerpt import Highlighter
from gossamer.search.hits import make_hit
from gossamer.search.like.asking import Likenesses
from gossamer.search.query.language import parse
from gossamer.search.query.widening import build
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Hit, Request
from gossamer.search.view import View
from gossamer.tables import alerts
from gossamer.tables.alerts import Alert, AlertHit

log = logging.getLogger(__name__)

_decode = msgspec.json.Decoder(Request).decode


class _Found(NamedTuple):
    """A page that a query found."""

    key: int
    item: Item


class Alerting:
    """Matches what an indexer brings; one per index."""

    def __init__(self, db: Database, folder: Path, part: str, clock: Clock, config: RankingConfig) -> None:
        """`folder`: the index (Tantivy's folder), `part`: which part of the documents it holds, `config`: how the
        search page asks."""
        self._db, self._folder, self._part, self._clock, self._config = db, folder, part, clock, config
        self._index: tantivy.Index | None = None
        self._desk, self._likes = PublishedDesk(db), Likenesses()

    def match(self, index: tantivy.Index, brought_by: Mapping[int, int], until: int) -> int:
        """Tell of the documents of a step, before they count; returns how many hits there are.

        `index` holds these documents alone, `brought_by` says by key which change brought each, `until` is the last
        change of the step."""
        active = alerts.active(self._db)
        done = alerts.matched(self._db, self._part) if active else 0
        if not active or max(brought_by.values(), default=0) <= done:
            return 0
        with commits.checking(self._folder):
            found = self._found(active, index, brought_by, done)
        return self._db.patiently(lambda: self._write(found, until))

    def _found(
        self, active: Sequence[Alert], index: tantivy.Index, brought_by: Mapping[int, int], done: int
    ) -> list[tuple[Alert, list[_Found]]]:
        """What each query finds, told before or not."""
        view = self._view()
        index.reload()
        here = View(index, self._folder, "", view.commit)
        both, rules = _Both(view, here), self._desk.current()
        is_new = cache(lambda key: view.find(key) is None)

        def is_told(alert: Alert, key: int) -> bool:
            return brought_by.get(key, 0) > max(done, alert.since) and (alert.again or is_new(key))

        found = [(alert, self._ask(here, both, alert, rules, is_told)) for alert in active if _is_readable(alert)]
        return [(alert, pages) for alert, pages in found if pages]

    def _ask(
        self, here: View, both: _Both, alert: Alert, rules: Rules, is_told: Callable[[Alert, int], bool]
    ) -> list[_Found]:
        request, now = _decode(alert.request), self._clock.now()
        effects = for_alerts(rules.effects(parse(request.query, here.fields), request, both.languages, now))
        effects = self._likes.into(effects, request, both.whole)
        built = build(here, self._config, both, effects, request, now)
        hits = here.searcher.search(built.strict, here.documents, count=False).hits
        keys = here.numbers(schema.KEY, [address for _, address in hits])
        wanted = [(key, hit) for key, hit in zip(keys, hits, strict=True) if is_told(alert, key)]
        if not wanted:
            return []
        highlighter = Highlighter(built.needles)
        return [_Found(key, _item(make_hit(here, hit, 0, highlighter), now)) for key, hit in wanted]

    def _write(self, found: Sequence[tuple[Alert, list[_Found]]], until: int) -> int:
        """Keep the hits that were not told before, and put messages about them into the outbox."""
        count = 0
        with self._db.transaction():
            gatherer, out = Gatherer(self._db, self._clock.now()), covered(self._db)
            active = {alert.id for alert in alerts.active(self._db)} if found else set()
            for alert, pages in found:
                if alert.id not in active:  # removed or paused while it was asked
                    continue
                told = set() if alert.again else alerts.told(self._db, alert.id, [one.key for one in pages])
                new = [one for one in pages if one.key not in told and not out(one.item.url)]
                alerts.note_hits(self._db, [_hit(alert, one) for one in new])
                gatherer.tell(alert, [one.item for one in new])
                count += len(new)
            alerts.note_matched(self._db, self._part, until)
        return count

    def _view(self) -> View:
        """The index as it was last committed."""
        if self._index is None:
            self._index = schema.prepare(tantivy.Index.open(str(self._folder)))
            self._index.config_reader(reload_policy="manual")
        self._index.reload()
        return View(self._index, self._folder, "", commits.read(self._folder))


class _Both:
    """The numbers of the index and of what comes into it, by which queries are built (`search.corpus.Corpus`)."""

    def __init__(self, view: View, here: View) -> None:
        self.whole = view
        """The index as it was last committed."""
        self._views = (view, here)
        self.documents = view.documents + here.documents
        counted = _languages(view) + _languages(here)
        self.languages = usual_languages(counted, self.documents, view.extras)

    def pages(self, field: str, term: str) -> int:
        """How many pages have a term."""
        return sum(view.pages(field, term) for view in self._views)

    def boost(self, field: str, terms: Sequence[str]) -> float:
        """Nobody looks at the scores."""
        return 1.0


def _is_readable(alert: Alert) -> bool:
    """Whether a saved query can be asked; one that cannot must not keep pages out of the index."""
    try:
        _decode(alert.request)
    except msgspec.MsgspecError as error:
        log.warning("cannot run the query of the alert %s, remove it: %s", alert.name, error)
        return False
    return True


def _languages(view: View) -> Counter[str]:
    wanted = {"langs": {"terms": {"field": schema.LANG, "size": 30}}}
    buckets = view.searcher.aggregate(tantivy.Query.all_query(), wanted)["langs"]["buckets"]
    return Counter({bucket["key"]: bucket["doc_count"] for bucket in buckets})


def _item(hit: Hit, now: float) -> Item:
    return item(hit.url, hit.title.text, hit.excerpt.text, hit.date or "", now)


def _hit(alert: Alert, found: _Found) -> AlertHit:
    one = found.item
    return AlertHit(alert.id, found.key, one.at, one.url, one.title, one.excerpt, one.published)
