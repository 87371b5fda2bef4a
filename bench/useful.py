"""Useful pages first (S0.3): what share of the downloads is useful, how soon all useful pages are there, what it costs.

    python bench/useful.py                      three sites, five strategies; about twenty minutes
    python bench/useful.py --quick              one small site, three strategies, once; a minute
    python bench/useful.py --sites learning --strategies "fit * breadth" --rounds 1 --set crawl.hold_bytes=4000000

Each site is served whole by nginx on loopback and crawled to its end by `gossamer crawl` with each strategy and the
same document rules; filters are off. `learned` has no rules: the crawl works out by itself which URLs look like
documents, and the rules only judge it. A download is useful when its URL fits a rule and it brought a document.
The share cannot stay high when no useful page is left, so three figures are told apart: the plain cumulative
share; the share from 5 % of the crawl to the point where a part of the useful pages had been found; and two
simulated crawls on the same links, to compare with (greedy, so no strict bounds). *No delay*: a crawl by
`fit * breadth` that knows what a page links to before it makes its next request. *Foresight*: one that also knows what
the other pages link to before it chooses one of them.

`fit * breadth` and `breadth` are run several times in turn, and the medians of CPU seconds per page compared.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from _crawlers import CONTACT, Job, become_reaper, end_cleanly_when_told, measure
from _data import ARCHIVES
from _fetch_order import Fetch, read_fetches, read_links, reasons, share, with_foresight, without_delay
from _figures import Figure, add_usual, conclude, leave_out
from _nginx import Nginx
from _ruled_sites import RULES, serve_whole, write_rules
from _sites import SOURCES, Served, cache_folder
from _useful_report import FITTED, FROM, GOAL, LEARNED, PLAIN, Crawl, course_of, print_report

STRATEGIES = (FITTED, PLAIN, LEARNED, "fit * opic", "opic")
LONGEST = 1800.0


def main() -> None:
    """Runs what was asked for and prints it."""
    options = _options()
    become_reaper()
    end_cleanly_when_told()
    scratch = Path(options.work or tempfile.mkdtemp(prefix="bench-useful-")).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        served = [
            serve_whole(name, number, scratch, options.port, options.archives, options.cache)
            for number, name in enumerate(options.sites, 1)
        ]
        with Nginx(served):
            crawls = [crawl for site in served for crawl in _rounds(site, scratch, options)]
    finally:
        if not options.work:
            shutil.rmtree(scratch, ignore_errors=True)
    print_report(crawls)
    details = [{k: v for k, v in msgspec.structs.asdict(c).items() if not isinstance(v, set)} for c in crawls]
    problems = [f"{one.site}, {one.strategy}: no useful page was found" for one in crawls if not one.course.useful]
    conclude(options, _figures(crawls), details, problems)


def _figures(crawls: Sequence[Crawl]) -> list[Figure]:
    """Of each site: how useful the downloads were until nine tenths of the useful pages had been found."""
    figures = []
    for site in dict.fromkeys(crawl.site for crawl in crawls):
        shares, costs = {}, {}
        for strategy in dict.fromkeys(crawl.strategy for crawl in crawls):
            group = [one for one in crawls if (one.site, one.strategy) == (site, strategy) and one.course.useful]
            if group:
                shares[strategy] = statistics.median(one.course.steady[1] for one in group)
                costs[strategy] = statistics.median(1000 * one.cpu / one.course.fetched for one in group)
        if FITTED not in shares:
            continue
        others = [{name: value for name, value in of.items() if name != FITTED} for of in (shares, costs)]
        title = f"{site}: useful share of the downloads, from {FROM:.0%} until nine tenths were found"
        figures += [
            Figure(title, shares[FITTED], "", GOAL, False, others[0], 0, 1),
            Figure(f"{site}: CPU of a page", costs[FITTED], "ms", beside=others[1], most=10_000),
        ]
    return figures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "the first of mircsgo and itw66 that is there, three strategies, one round")
    add("--sites", type=lambda text: text.split(","), help=f"of {','.join(RULES)} (learning,mircsgo,itw66)")
    add("--strategies", type=lambda text: text.split(","), help=f"by comma ({','.join(STRATEGIES)})")
    add("--rounds", type=int, help="crawls with each of the first two strategies (3); the others run once")
    add("--delay", default="0", help="seconds between two requests")
    add("--set", action="append", default=[], metavar="SECTION.NAME=VALUE", help="a setting of the crawls, as TOML")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--work", default="", help="folder to keep what is served and crawled in; else a temporary one")
    add("--gossamer", default=f"{sys.executable} -m gossamer.cli", help="the command")
    add("--port", type=int, default=8189)
    options = parser.parse_args()
    wanted = options.sites or (["mircsgo", "itw66"] if options.quick else ["learning", "mircsgo", "itw66"])
    there = [name for name in wanted if name not in RULES or _is_there(name, options)]
    if not there:
        raise SystemExit("none of the archived sites is there: see --archives")
    options.sites = there[:1] if options.quick and not options.sites else there
    options.strategies = options.strategies or list(STRATEGIES[:3] if options.quick else STRATEGIES)
    options.rounds = options.rounds or (1 if options.quick else 3)
    if unknown := set(options.sites) - set(RULES):
        parser.error(f"no site is called {', '.join(sorted(unknown))}")
    return options


def _is_there(name: str, options: argparse.Namespace) -> bool:
    archive = next(source.archive for source in SOURCES if source.name == name)
    places = (options.archives / f"{archive}.tar.zst", cache_folder(options.cache) / "unpacked" / archive)
    if not any(place.exists() for place in places):
        leave_out(name, f"its archive is not in {options.archives}")
    return any(place.exists() for place in places)


def _rounds(site: Served, scratch: Path, options: argparse.Namespace) -> Iterator[Crawl]:
    """The crawls of a site; who goes first changes from round to round."""
    rules = write_rules(site.name, scratch)
    for number in range(options.rounds):
        order = options.strategies if number == 0 else options.strategies[:2]
        for strategy in order if number % 2 == 0 else reversed(order):
            yield _crawl(site, strategy, rules, scratch, options)


def _crawl(site: Served, strategy: str, rules: Path, scratch: Path, options: argparse.Namespace) -> Crawl:
    data = scratch / f"{site.name}-{strategy.replace(' * ', '-')}"
    shutil.rmtree(data, ignore_errors=True)
    gossamer = options.gossamer.split()
    if strategy == LEARNED:
        data.mkdir(parents=True)
    else:
        _run([*gossamer, "rules", "import", str(rules), "--data", str(data)], scratch)
    (data / "gossamer.toml").write_text(_settings(['filters.mode="off"', *options.set]))
    command = [*gossamer, "crawl", site.seed, "--data", str(data), "--contact", CONTACT, "--quiet", "--no-index"]
    command += ["--scope", "host", "--delay", options.delay, "--workers", "1", "--allow-network", "127.0.0.0/8"]
    command += ["--no-archive", "--resolve", f"{site.host}={site.address}"]
    command += ["--strategy", FITTED if strategy == LEARNED else strategy]
    cpu, wall = _run(command, scratch)
    fetches = read_fetches(data, rules)
    links = read_links(data, fetches)
    useful = [one.useful for one in fetches]
    simulated = {"no delay": without_delay, "foresight": with_foresight} if strategy == FITTED else {}
    course = course_of(useful)
    crawl = Crawl(
        site=site.name,
        strategy=strategy,
        course=course,
        simulated={name: course_of([useful[n] for n in order(fetches, links)]) for name, order in simulated.items()},
        fit_share=share([one.fit for one in fetches], FROM, course.found[-1]),
        reasons=reasons(fetches, links),
        cpu=cpu,
        wall=wall,
        documents=_urls(one for one in fetches if one.useful),
        copies=_urls(one for one in fetches if one.fit and one.outcome == "duplicate"),
    )
    print(
        f"{site.name}, {strategy}: {len(fetches)} fetched, {course.useful} useful, {wall:.0f} s, {cpu:.0f} CPU s, "
        f"from {FROM:.0%} to the last useful {course.steady[-1]:.1%}",
        file=sys.stderr,
    )
    return crawl


def _settings(pairs: Sequence[str]) -> str:
    """`section.name=value` as TOML; dotted keys need no tables."""
    return "".join(f"{pair}\n" for pair in pairs)


def _run(command: list[str], folder: Path) -> tuple[float, float]:
    """CPU and wall seconds of a command that must succeed."""
    usage = measure(Job(command), folder, LONGEST)
    if usage.code:
        raise SystemExit(f"{' '.join(command)}: {usage.said}")
    return usage.cpu, usage.wall


def _urls(fetches: Iterator[Fetch]) -> set[str]:
    return {one.url for one in fetches}


if __name__ == "__main__":
    main()
