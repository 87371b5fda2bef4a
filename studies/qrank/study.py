"""Error of the importance that is told from a URL alone, each site held out in turn (docs/decisions/0011-qrank.md).

`importance` has the contestants and says what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.errors import UsageError
from gossamer.lab.tables import Cell, Table
from gossamer.priority.qrank.learning import Schooling
from studies.qrank.importance import (
    CONTESTANTS,
    MEAN,
    MEDIAN,
    NETWORKS,
    OURS,
    OWN,
    OWN_MEDIAN,
    SEED,
    Score,
    mean_score,
    prepare,
    read_sites,
    score,
)
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options

_QUICK_PAGES, _QUICK_BATCH = 1500, 256
_SEEDS_DEVIATION = 0.14
_DEVIATION_GOAL, _CORRELATION_GOAL = 0.10, 0.6
_CLEARLY = 0.2
_DRAWN = (MEAN, MEDIAN, SEED, OURS, OWN)
_FURTHER = "further"


class Findings(msgspec.Struct, frozen=True):
    """What was measured."""

    scores: Sequence[Score]
    further: int
    """Sites that were only learnt from."""
    sampled: bool

    @property
    def mean(self) -> Score:
        """Over all sites."""
        return mean_score(self.scores)


def run(options: Options) -> Report:
    """Measure on the sites in the folder `graph` of `options.webs`."""
    return report(measure(options))


def measure(options: Options) -> Findings:
    """Every site by models of the others, and by models of two thirds of itself."""
    if options.webs is None:
        raise UsageError(
            "the study qrank needs pages with known PageRank: put sites as NAME.pages.tsv.gz (path, links to the page, "
            "links from it, PageRank) into the folder graph/ of a folder, and name that with --webs"
        )
    graph = options.webs / "graph"
    sites = read_sites([graph])
    further = read_sites([graph / _FURTHER]) if _has_sites(graph / _FURTHER) else []
    if len(sites) + len(further) < 3:
        raise UsageError(f"{graph} has {len(sites)} site to test and {len(further)} more to learn from: too few")
    how = Schooling(seed=options.seed)
    if options.quick:
        how = msgspec.structs.replace(how, batch=_QUICK_BATCH)
        sites = [site.sample(_QUICK_PAGES, options.seed) for site in sites]
        further = [site.sample(_QUICK_PAGES, options.seed) for site in further]
    prepared, more = [prepare(site) for site in sites], [prepare(site) for site in further]
    scores = []
    for number, held in enumerate(prepared):
        options.tell(f"{held.site.name}: {len(held.site.urls):,} pages")
        others = [*prepared[:number], *prepared[number + 1 :], *more]
        scores.append(score(held, others, how, thirds=1 if options.quick else 3))
    return Findings(scores, len(further), options.quick)


def _has_sites(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def report(findings: Findings) -> Report:
    """What was measured, in tables, figures and sentences."""
    return Report(
        name="qrank",
        title="Importance told from the URL",
        question="How well does a network tell from a URL alone how important the page is, on sites it has never seen?",
        seed=(
            "A network of three layers, taught 50,000 URLs of the domain .ru with their Google PageRank (0 to 10), "
            "deviates by 14 % in the mean on 200,000 other URLs of .ru."
        ),
        ours=_ours(findings),
        data=_data(findings),
        differs=_differs(findings),
        tables=_tables(findings),
        figures=_figures(findings),
        goals=_goals(findings),
    )


def _ours(findings: Findings) -> str:
    mean = findings.mean
    deviation, correlation = mean.deviations, mean.correlations
    gain = 1 - deviation[OURS] / deviation[MEDIAN]
    wrong = sum(one.correlations[OURS] < 0 for one in findings.scores)
    return (
        f"On sites never seen our network, learnt from {len(findings.scores) - 1 + findings.further} other sites, "
        f"deviates by {_percent(deviation[OURS])}, the seed's network by {_percent(deviation[SEED])}. Who always says "
        f"the mean of the sites learnt from deviates by {_percent(deviation[MEAN])}, who says the median of their "
        f"pages by {_percent(deviation[MEDIAN])}: against that constant the network errs {_percent(abs(gain))} "
        f"{'less' if gain > 0 else 'more'}. Its order of a site's pages has a rank correlation of "
        f"{_signed(correlation[OURS])} with the true one (the seed's: {_signed(correlation[SEED])}); on {wrong} of "
        f"{len(findings.scores)} sites it is worse than none. Taught two thirds of the same site, as "
        f"`gossamer qrank train` does, it deviates by {_percent(deviation[OWN])} on the last third (the median of the "
        f"two thirds by {_percent(deviation[OWN_MEDIAN])}), with a correlation of {_signed(correlation[OWN])}."
    )


def _data(findings: Findings) -> str:
    more = f", and of {findings.further} further sites that are not tested" if findings.further else ""
    drawn = f", at most {_QUICK_PAGES:,} of a site, drawn by lot" if findings.sampled else ""
    return (
        f"{findings.mean.pages:,} pages of {len(findings.scores)} sites, with the PageRank that the links among them "
        f"give{drawn}; each site is told by models of the others{more}. Importance is the logarithm of PageRank, each "
        "site's least page 0, its greatest 1."
    )


def _differs(findings: Findings) -> str:
    deviation, correlation = findings.mean.deviations, findings.mean.correlations
    parts = [
        "The two figures are of different things: the seed drew pages for learning and for testing from the same "
        "domain, so that sites may occur in both, and took Google's PageRank in whole steps; our sites are strange to "
        "the model."
    ]
    if not findings.further:
        parts.append(
            "The model that ships has learnt from 38 sites more; decision 11 has the figures with them, a deviation of "
            "11.5 % and a correlation of .08."
        )
    worse = [one.site for one in findings.scores if one.deviations[OURS] > one.deviations[MEDIAN]]
    if worse:
        parts.append(f"Ours deviates more than the median of strange sites on {', '.join(worse)}.")
    if deviation[OURS] > deviation[SEED]:
        parts.append("In the mean it deviates more than the seed's: it is taught the order of pages, not importances.")
    if correlation[OWN] > correlation[OURS] + _CLEARLY:
        parts.append(
            f"What a URL tells is mostly the law of its own site ({_signed(correlation[OWN])} against "
            f"{_signed(correlation[OURS])}), so that a model of one's own crawl is worth far more than any default."
        )
    own = [one.site for one in findings.scores if one.deviations[OWN] > one.deviations[OWN_MEDIAN]]
    if own:
        parts.append(f"Taught its own site it deviates more than the site's median on {', '.join(own)}.")
    return " ".join(parts)


def _goals(findings: Findings) -> list[Goal]:
    deviations, correlation = findings.mean.deviations, findings.mean.correlations
    deviation = deviations[OURS]
    found = f"{_percent(deviation)}; a constant, the median of others, {_percent(deviations[MEDIAN])}"
    return [
        Goal("Deviation on unseen sites no more than the seed's 14 %", found, deviation <= _SEEDS_DEVIATION),
        Goal("Deviation on unseen sites at most 10 %", found, deviation <= _DEVIATION_GOAL),
        Goal(
            "Rank correlation on unseen sites at least .6",
            f"{_signed(correlation[OURS])}; trained on one's own crawl {_signed(correlation[OWN])}",
            correlation[OURS] >= _CORRELATION_GOAL,
        ),
    ]


def _tables(findings: Findings) -> list[Table]:
    lines = [*findings.scores, findings.mean]
    deviations: list[list[Cell]] = [
        [one.site, one.pages, *(100 * one.deviations[name] for name in CONTESTANTS)] for one in lines
    ]
    correlations: list[list[Cell]] = [
        [one.site, one.pages, *(one.correlations[name] for name in NETWORKS)] for one in lines
    ]
    return [
        Table("deviation", "Mean absolute deviation, %", ("site held out", "pages", *CONTESTANTS), deviations),
        Table("correlation", "Rank correlation", ("site held out", "pages", *NETWORKS), correlations),
    ]


def _figures(findings: Findings) -> list[Figure]:
    lines = [*findings.scores, findings.mean]
    names = [one.site for one in lines]
    deviations = [Series(who, names, [one.deviations[who] for one in lines], "bars") for who in _DRAWN]
    correlations = [Series(who, names, [one.correlations[who] for one in lines], "bars") for who in NETWORKS]
    return [
        Figure(
            "deviation",
            "Deviation from the true importance",
            [Panel("site", "mean deviation", deviations, percent=True)],
        ),
        Figure("correlation", "Order of the pages of a site", [Panel("site", "rank correlation", correlations)]),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1)
