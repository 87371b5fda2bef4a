"""The guidance of the frontier, made of the settings and the document rules in force."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from gossamer.errors import UsageError
from gossamer.frontier.guidance import Guidance
from gossamer.model.site import key64
from gossamer.model.url import Canonicalizer
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.plugins import STRATEGIES
from gossamer.priority.earlier import KeyedRanks
from gossamer.priority.product import build
from gossamer.priority.strategy import Context
from gossamer.settings import Settings
from gossamer.site.templates import SiteDocuments
from gossamer.store.place import open_place

_REMEMBERED = 8192
"""URLs for which the answer is cached: more than the new ones of a batch."""


def guidance_of(settings: Settings, rules: Sequence[DocumentRule]) -> Guidance:
    """Strategy, fit, revisits and reach of a crawl; raises a `UsageError` if a file that the settings name cannot be
    read."""
    # Statistics and strategy ask about the same new URLs; the patterns are tried once.
    fits = lru_cache(maxsize=_REMEMBERED)(RuleBook(rules).fits)
    documents = SiteDocuments(settings.site.learn and settings.site.order)

    def looks_useful(url: str) -> bool | None:
        ruled = fits(url)
        return documents.fits(url) if ruled is None else ruled

    config = settings.priority
    context = Context(
        config, looks_useful,
        ranks=_read_ranks(config.ranks) if config.ranks else {},
        model=_read_model(config.model) if config.model else b"",
    )  # fmt: skip
    strategy = build(settings.crawl.strategy, lambda name: STRATEGIES.get(name)(context))
    return Guidance(strategy, fits, settings.revisit, settings.feeds, settings.reach, documents)


def _read_model(path: str) -> bytes:
    try:
        model = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"priority.model: cannot read {path}: {error.strerror}") from error
    if not model:  # an empty file would silently replace the model that comes with Gossamer
        raise UsageError(f"priority.model: {path} is empty")
    return model


def _read_ranks(path: str) -> Mapping[int, float]:
    """The ranks of a file, or the current ones of `gossamer rank`."""
    return _stored_ranks(path) if "://" in path or Path(path).is_dir() else _ranks_of_file(path)


def _stored_ranks(path: str) -> KeyedRanks:
    from gossamer.jobs.graph_files import read_current  # Arrow: only the strategy `earlier` reads ranks

    found = read_current(open_place(path))
    if found is None:
        raise UsageError(f"priority.ranks: there are no ranks in {path}: run `gossamer rank`")
    return KeyedRanks(found.keys(), found.ranks())


@lru_cache(maxsize=1)
def _ranks_of_file(path: str) -> Mapping[int, float]:
    """URL → rank, by the URL's key; lines of URL, tab, rank, compressed if the name says so."""
    canonicalizer = Canonicalizer()
    ranks: dict[int, float] = {}
    try:
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                url, _, rank = line.rstrip("\n").partition("\t")
                canonical = canonicalizer.parse(url)
                if not isinstance(canonical, str) or not _is_rank(rank):
                    raise UsageError(f"priority.ranks: {path}, line {number} is not a URL, a tab and a rank")
                ranks[key64(canonical)] = float(rank)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"priority.ranks: cannot read {path}: {error}") from error
    return ranks


def _is_rank(text: str) -> bool:
    try:
        return 0.0 <= float(text) < math.inf
    except ValueError:
        return False
