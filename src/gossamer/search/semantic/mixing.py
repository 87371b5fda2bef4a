"""Words and meaning together: pages that either of them finds, ordered by both.

The best pages by words and the best by meaning (the vectors nearest to the query's) are the candidates, a hundred each
at most. Each candidate gets both values, however it was found: its score as it would be without meaning, priors
included, and how near its vector is. `fusing.py` makes one of them.

**Which queries.** Quotation marks, `title:`, `url:` and OR say that the words themselves are meant, and so does a
single identifier (`std::move`, `camelCase`, `3.11`): there words stay alone. So they do if most of the pages that the
words find have no vector: they are in another language than the model's, or their vectors are not made yet.

**Filters** hold for pages found by meaning as for all others: the index is asked which of them fit. If few of the
nearest do, the search looks among all pages that fit, as long as these are not too many.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import itemgetter
from threading import Lock

import msgspec
import numpy as np
import tantivy

from gossamer.errors import CorruptError, OperationError
from gossamer.index import schema
from gossamer.index.folder import IndexFolder
from gossamer.index.vectors.nearest import VectorView, VectorViews
from gossamer.index.vectors.parts import Floats
from gossamer.index.vectors.store import VectorFolder
from gossamer.parse.language import detect_language, script_of
from gossamer.search.ordering import Candidate
from gossamer.search.query.building import Built
from gossamer.search.query.language import Query
from gossamer.search.results import Request, ScoreExplanation
from gossamer.search.semantic import fusing
from gossamer.search.semantic.encoder import RUNTIME, Encoder, OnnxEncoder, check_installed, find_prepared
from gossamer.search.semantic.fusing import CANDIDATES, FIRST, FLOOR, can_tell, explained, fused
from gossamer.search.view import View, any_of, count_of

log = logging.getLogger(__name__)

LANGUAGES = ("en",)
"""Languages that the model knows."""
_LOOKED_AT = 300
"""Nearest pages of which the index says whether they fit the filters."""
_UNFILTERED = 130
"""The same without filters: only pages that left do not fit."""
_FITTING = 20_000
"""Pages that fit the filters up to which the search looks among all of them."""
_REMEMBERED = 1_000
"""Queries whose vectors are remembered."""
_MOST_CHARS = 1_000
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
Q = tantivy.Query


class Mixture(msgspec.Struct, frozen=True):
    """The results of a search by words and meaning."""

    hits: list[Candidate]
    query: tantivy.Query
    """Finds all that match, by words or by meaning."""
    added: int
    """Pages that match by meaning only."""
    kept: float
    """What a score by words is multiplied by."""
    meanings: dict[int, fusing.Meaning]
    """What meaning adds to the score of a candidate, by key."""

    def explained(self, why: ScoreExplanation, key: int) -> ScoreExplanation:
        """The factors of a page's score, given those by words alone."""
        return explained(why, self.meanings.get(key), self.kept)


class Looked(msgspec.Struct, frozen=True):
    """What the vectors of an index say to a query."""

    near: dict[int, float]
    """How near pages are, by key: the best by words, as far as they have vectors, and those that only meaning finds."""
    found: dict[int, Candidate]
    """Pages that only meaning finds, by key, with their scores by words."""


class Meaning:
    """What searches by meaning; safe to share between threads."""

    candidates = CANDIDATES

    def __init__(self, folder: IndexFolder, weight: float, encoder: Encoder | None = None) -> None:
        """`encoder`: by default the one that the vectors were made with, opened when it is needed first."""
        self._views = VectorViews(VectorFolder(folder.root))
        self._weight = weight
        self._given, self._encoder = encoder, encoder
        if encoder is None:
            check_installed(RUNTIME)
        self._lock = Lock()
        self._vectors: OrderedDict[str, Floats] = OrderedDict()
        self._complained = ""

    def stamp(self) -> tuple[int, int]:
        """What is another when there are other vectors."""
        return self._views.folder.stamp()

    def mixed(
        self, view: View, built: Built, query: Query, request: Request, asked: tantivy.Query, hits: Sequence[Candidate],
        priors: Callable[[list[Candidate]], list[Candidate]],
    ) -> Mixture | None:  # fmt: skip
        """The pages that words found, with those that meaning finds; None where words stay alone. `priors` adds to
        scores what does not depend on the query."""
        first = [hit for hit in hits if hit[0] >= FIRST]
        best, rest = hits[len(first) : len(first) + CANDIDATES], hits[len(first) + CANDIDATES :]
        above, keys = (view.numbers(schema.KEY, [address for _, address in some]) for some in (first, best))
        looked = self.looked(view, built, query, request, keys, above, have_all=True)
        if looked is None:
            return None
        new = priors(list(looked.found.values()))
        candidates = [*best, *new]
        keys += view.numbers(schema.KEY, [address for _, address in new])
        meanings = fused([score for score, _ in candidates], [looked.near.get(key) for key in keys], self._weight)
        kept = 1 - self._weight
        mixed = [(kept * hit[0] + one.value, hit[1]) for hit, one in zip(candidates, meanings, strict=True)]
        mixed.sort(key=itemgetter(0), reverse=True)
        later = [(kept * score, address) for score, address in rest]
        if later and looked.found:
            numbers = view.numbers(schema.KEY, [address for _, address in later])
            later = [hit for hit, key in zip(later, numbers, strict=True) if key not in looked.found]
        everything, added = _with(view, asked, list(looked.found))
        by_key = dict(zip(keys, meanings, strict=True))
        return Mixture([*first, *mixed, *later], everything, added, kept, by_key)

    def looked(
        self, view: View, built: Built, query: Query, request: Request, keys: Sequence[int], above: Sequence[int] = (),
        have_all: bool = False,
    ) -> Looked | None:  # fmt: skip
        """What the vectors say to a query, given the best pages by words; None where the words themselves are meant.
        `above`: pages that are not to be found again; `have_all`: all pages are in this index, so that it can judge
        whether enough of them have vectors."""
        text = asked_for(query, request) if built.given is not None else ""
        try:
            vectors = self._views.current() if text else None
            if vectors is None or not len(vectors):
                return None
            vector = self._vector(text, vectors)
        except OperationError as error:  # the words are there all the same
            self._complain(str(error))
            return None
        known = zip(keys, vectors.alike(vector, keys).tolist(), strict=True)
        near = {key: one for key, one in known if not math.isnan(one)}
        if have_all and not can_tell([near.get(key) for key in keys]):
            return None
        found = self._found(view, built, vectors, vector, frozenset([*above, *keys]))
        near |= zip(found, vectors.alike(vector, list(found)).tolist(), strict=True)
        return Looked(near, found)

    def matching(self, view: View, asked: tantivy.Query, keys: Sequence[int]) -> list[int]:
        """Those of some pages that a query finds."""
        if not keys:
            return []
        both = Q.const_score_query(Q.boolean_query([(_MUST, asked), (_MUST, _pages(view, keys))]), 0.0)
        hits = view.searcher.search(both, len(keys), count=False).hits
        return view.numbers(schema.KEY, [address for _, address in hits])

    def _found(
        self, view: View, built: Built, vectors: VectorView, vector: Floats, known: frozenset[int]
    ) -> dict[int, Candidate]:
        """Pages that meaning finds and words did not, by key, with their scores by words."""
        looked_at = _LOOKED_AT if built.filtered else _UNFILTERED
        keys, near = vectors.nearest(vector, looked_at)
        wanted = keys[near >= FLOOR].tolist()
        fitting = _fitting(view, built, [key for key in wanted if key not in known])
        if built.filtered and len(fitting) < CANDIDATES and len(wanted) == looked_at:
            among = _all_fitting(view, built)
            if among is not None:
                keys, near = vectors.nearest(vector, CANDIDATES, np.array(among, np.int64))
                wanted = keys[near >= FLOOR].tolist()
                fitting = _fitting(view, built, [key for key in wanted if key not in known])
        taken = [key for key in wanted if key in fitting or key in known][:CANDIDATES]
        return {key: fitting[key] for key in taken if key in fitting}

    def _complain(self, what: str) -> None:
        if what != self._complained:
            self._complained = what
            log.error("%s", what)

    def _vector(self, text: str, vectors: VectorView) -> Floats:
        name = f"{vectors.model} {text}"
        with self._lock:
            known = self._vectors.get(name)
            if known is not None:
                self._vectors.move_to_end(name)
                return known
        found: Floats = self._opened(vectors).encode([text])[0]
        with self._lock:
            self._vectors[name] = found
            if len(self._vectors) > _REMEMBERED:
                self._vectors.popitem(last=False)
        return found

    def _opened(self, vectors: VectorView) -> Encoder:
        if self._given is not None:
            return self._given
        with self._lock:
            if self._encoder is None or self._encoder.name != vectors.model:
                place = find_prepared(self._views.folder.root, vectors.model)
                if place is None:
                    raise CorruptError(
                        f"the model of the vectors in {self._views.folder.root} is missing: "
                        "run `gossamer index --vectors`"
                    )
                self._encoder = OnnxEncoder(place)
            return self._encoder


def asked_for(query: Query, request: Request) -> str:
    """The text whose meaning is asked for; empty where the words themselves are meant."""
    terms = [term for group in query.groups for term in group]
    has_or = any(len(group) > 1 for group in query.groups) and not query.typed.isupper()
    literal = has_or or any(term.phrase or term.field != "any" for term in terms)
    if literal or not terms or (len(terms) == 1 and _is_identifier(terms[0].text)):
        return ""
    languages = {*query.values("lang"), *filter(None, (request.lang,))}
    text = " ".join(term.text for term in terms)[:_MOST_CHARS]
    if (languages and languages.isdisjoint(LANGUAGES)) or script_of(text) != "latin":
        return ""
    # In lower case: CLD2 takes capitals for a language of their own.
    return text if detect_language(text.lower()) in ("", *LANGUAGES) else ""


def _is_identifier(word: str) -> bool:
    """Whether a word is a name of a thing in a program, or a number: `std::move`, `camelCase`, `HTTP`, `3.11`."""
    return not word.isalpha() or word[1:] != word[1:].lower()


def _fitting(view: View, built: Built, keys: Sequence[int]) -> dict[int, Candidate]:
    """Those of some pages that are in the index and fit the filters, with their scores by words."""
    if not keys:
        return {}
    assert built.given is not None
    these = _pages(view, keys)
    hits = view.searcher.search(Q.boolean_query([(_MUST, these), *built.given]), len(keys), count=False).hits
    return dict(zip(view.numbers(schema.KEY, [address for _, address in hits]), hits, strict=True))


def _all_fitting(view: View, built: Built) -> list[int] | None:
    """All pages that fit the filters; None if they are too many."""
    assert built.filtered is not None
    found = view.searcher.search(built.filtered, _FITTING)
    if count_of(found) > _FITTING:
        return None
    return view.numbers(schema.KEY, [address for _, address in found.hits])


def _pages(view: View, keys: Sequence[int]) -> tantivy.Query:
    """Finds some pages."""
    return any_of(view.schema, schema.KEY, keys)


def _with(view: View, asked: tantivy.Query, keys: Sequence[int]) -> tuple[tantivy.Query, int]:
    """A query that finds some pages besides, and how many those are that it did not find before."""
    if not keys:
        return asked, 0
    these = _pages(view, keys)
    both = view.searcher.search(Q.boolean_query([(_MUST, asked), (_MUST, these)]), 1)
    return Q.boolean_query([(_SHOULD, asked), (_SHOULD, these)]), len(keys) - count_of(both)
