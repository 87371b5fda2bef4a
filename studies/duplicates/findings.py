"""What the seven near-duplicate methods do on the manuals a machine has, and on altered pages of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.words import tokens
from studies.duplicates.altered_pages import MIN_WORDS, Trial, judge_altered, try_altered
from studies.duplicates.methods import METHODS, method_of
from studies.duplicates.methods.statistics import gather
from studies.duplicates.near_duplicates import (
    Judgement,
    Texts,
    judge,
    repeated,
    texts_per_second,
    true_pairs,
)
from studies.duplicates.overlap_estimates import standard_errors
from studies.duplicates.page_texts import MANUALS, made_up_texts, page_texts, versions
from studies.study import Options

SPEED_WORDS = 400
"""Pages are cut to so many words where time is taken."""
_SPEED_PAGES = 300
_EXTENT = {True: (5, 50, 300), False: (1, 300, 600)}
"""By `quick`: every so-manyth page of a manual; pages that are altered; made-up pages where there is no manual."""


class Speed(msgspec.Struct, frozen=True):
    """What a method costs."""

    method: str
    per_second: float
    size: float
    """Mean bytes of a fingerprint."""


class Findings(msgspec.Struct, frozen=True):
    """All that was measured."""

    manuals: list[Texts]
    repeated: dict[str, float]
    altered: Texts
    judgements: list[Judgement]
    trials: list[Trial]
    speeds: list[Speed]
    errors: dict[str, float]

    def of(self, method: str) -> list[Judgement]:
        """A method's judgements, one per collection."""
        return [one for one in self.judgements if one.method == method]

    def speed(self, method: str) -> Speed:
        """What a method costs."""
        return next(one for one in self.speeds if one.method == method)


def measure(options: Options) -> Findings:
    """Read, compare, alter."""
    every, alter, made_up = _EXTENT[options.quick]
    manuals: list[Texts] = []
    shares: dict[str, float] = {}
    judgements: list[Judgement] = []
    for name in MANUALS:
        folders = versions(name, options.cache / "packages")
        if len(folders) < 2:
            continue
        options.tell(f"reading {' and '.join(folder.name for folder in folders)}")
        texts = Texts.of(name, page_texts(folders, every))
        truth, methods = true_pairs(texts), _methods(texts.texts)
        options.tell(f"{name}: {len(texts.texts):,} different texts, {len(truth):,} near duplicates")
        manuals.append(texts)
        shares[name] = repeated(texts, truth)
        judgements += [judge(method, texts, truth) for method in methods]
    everything = [text for texts in manuals for text in texts.texts] or made_up_texts(made_up, options.seed)
    long = [words for words in map(tokens, everything) if len(words) >= MIN_WORDS]
    pages = Random(options.seed).sample(long, min(alter, len(long)))
    methods = _methods(everything)
    options.tell(f"altering {len(pages)} pages")
    trials = try_altered(methods, pages, options.seed)
    altered = Texts.of("altered", map(" ".join, pages))
    judgements += [judge_altered(method, trials, altered) for method in methods]
    cut = [" ".join(words[:SPEED_WORDS]) for words in long if len(words) >= SPEED_WORDS][:_SPEED_PAGES]
    speeds = [_speed(method, cut) for method in methods]
    return Findings(manuals, shares, altered, judgements, trials, speeds, standard_errors(pages, options.seed))


def _methods(texts: Sequence[str]) -> list[NearMethod]:
    statistics = gather(texts)
    return [method_of(name, statistics) for name in METHODS]


def _speed(method: NearMethod, texts: Sequence[str]) -> Speed:
    sizes = [len(method.fingerprint(text)) for text in texts]
    return Speed(method.name, texts_per_second(method, texts), sum(sizes) / max(1, len(sizes)))
