"""Main text: word F1, precision and recall per page type, titles, and pages per second, beside other extractors.

    python bench/extraction.py                         the held-out parts of WCXB's development set and of the news
    python bench/extraction.py --quick                 every eighth page of them
    python bench/extraction.py --only gossamer,trafilatura --json results.json
    python bench/extraction.py --docs 100              documentation pages of Debian packages instead

The held-out pages are those of domains and publishers that `training/main_text.py` never saw
(`_extraction_data.py`). The score is WCXB's own: words are runs of letters and digits in lower case, each counted as
often as it occurs; mean over pages of each page's F1. Of scripts without spaces each character is a word. A page
whose annotated text is empty scores 1 for nothing and 0 for anything. *Short* pages are those whose annotated text
has fewer than 1,500 characters. A title is right if its letters and digits are those of the annotated one.

Every contestant reads every page from its bytes, parsing included, taking turns of 25 pages in one process,
so that whatever else the machine does hits all alike. *Pages per second* is by CPU time of the process.
A contestant that raises has found nothing. `gossamer` is what a crawl stores: the model, or the text that the
page's JSON-LD gives where the model finds too little.

`--docs N` takes N pages of each documentation package instead, whose text is known from their templates
(`_extraction_docs.py`); the line `everything` is the whole text with navigation, for comparison.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from _data import NEWS, WCXB
from _extraction_data import Sample, groups_of, read_news, read_samples, word_scores
from _extraction_docs import doc_samples
from _extractors import CONTESTANTS, MAX_CHARS, MAX_TAGS, Extractor, crawled, find_extractors, ours, versions
from _figures import Figure, add_usual, conclude, leave_out
from gossamer.parse.charset import decode
from gossamer.parse.html import Tree
from gossamer.parse.title import letters

_TURN = 25
"""Pages a contestant reads before it is the next one's turn."""
_QUICK = 8
GOALS = {"WCXB": 0.89, "News": 0.965, "Documentation": None}


class Result(msgspec.Struct, frozen=True):
    """What one contestant made of one page."""

    contestant: str
    name: str
    groups: tuple[str, ...]
    precision: float
    recall: float
    f1: float
    seconds: float
    raised: bool


def main() -> None:
    """Runs the contestants and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=WCXB, help="wcxb-dev.tar.zst")
    parser.add_argument("--news", type=Path, default=NEWS, help="news-dev.tar.zst")
    parser.add_argument("--only", default="", help="contestants, by the beginnings of their names")
    parser.add_argument("--docs", type=int, default=0, metavar="N", help="N pages of each documentation package")
    add_usual(parser, f"only every {_QUICK}th page")
    options = parser.parse_args()
    wanted = tuple(options.only.split(",")) if options.only else ("",)
    extractors = find_extractors([name for name in CONTESTANTS if name.startswith(wanted)])
    if options.docs:
        sets = {"Documentation": list(doc_samples(options.docs))}
        extractors["everything"] = everything
    else:
        sets = held_out(options.data, options.news)
    results: dict[str, list[Result]] = {}
    for name, samples in sets.items():
        chosen = samples[:: _QUICK if options.quick else 1]
        domains = len({sample.publisher or sample.domain for sample in chosen})
        print(f"{name}: {len(chosen)} pages of {domains} domains or publishers; {versions([*extractors])}\n")
        found = run(chosen, extractors)
        print_scores(found)
        print_speed(found, sum(len(sample.html) for sample in chosen))
        if not options.docs:
            print_types_and_titles(chosen)
        results[name] = found
    conclude(options, [one for name, found in results.items() for one in figures(name, found)], results)


def held_out(data: Path, news: Path) -> dict[str, list[Sample]]:
    """The pages that no training saw, of the sets that are there."""
    found = {}
    for name, path, read in (("WCXB", data, read_samples), ("News", news, read_news)):
        if path.exists():
            found[name] = [sample for sample in read(path) if sample.held_out]
        else:
            leave_out(name, f"{path} is not there")
    if not found:
        raise SystemExit("neither WCXB nor the news are there: name them with --data and --news")
    return found


def figures(name: str, results: list[Result]) -> list[Figure]:
    """F1 and speed of a set, ours beside the others."""
    contestants = list(dict.fromkeys(result.contestant for result in results))
    f1 = {one: _mean(r.f1 for r in results if r.contestant == one) for one in contestants}
    cpu = {one: 1000 * _mean(r.seconds for r in results if r.contestant == one) for one in contestants}
    ours = next((one for one in contestants if one.startswith("gossamer")), "")
    if not ours:
        return []
    others = [one for one in contestants if not one.startswith("gossamer")]
    return [
        Figure(f"{name}: word F1 of the main text", f1[ours], "", GOALS[name], False, {n: f1[n] for n in others}, 0, 1),
        Figure(f"{name}: CPU of a page", cpu[ours], "ms", beside={one: cpu[one] for one in others}, most=10_000),
    ]


def everything(html: bytes, url: str) -> str:
    """The whole text of a page, navigation included."""
    body = Tree(decode(html, "text/html", "").text, MAX_TAGS).silenced_body()
    return body.to_text()[:MAX_CHARS] if body is not None else ""


def run(samples: list[Sample], extractors: dict[str, Extractor]) -> list[Result]:
    """All contestants on all pages."""
    warm = b"<html><body><p>Some words to start with.</p></body></html>"
    results = []
    for extract in extractors.values():
        _guarded(extract, warm, "https://site.example/")
    for start in range(0, len(samples), _TURN):
        for name, extract in extractors.items():
            for sample in samples[start : start + _TURN]:
                began = time.process_time()
                text = _guarded(extract, sample.html, sample.url)
                seconds = time.process_time() - began
                scores = word_scores(text or "", sample.truth)
                results.append(Result(name, sample.name, groups_of(sample), *scores, seconds, text is None))
    return results


def _guarded(extract: Extractor, html: bytes, url: str) -> str | None:
    try:
        return extract(html, url)
    except Exception:  # what a library cannot read it has not found
        return None


def print_scores(results: list[Result]) -> None:
    """F1, precision and recall of each group of pages."""
    contestants = list(dict.fromkeys(result.contestant for result in results))
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        for group in result.groups:
            groups[result.contestant, group].append(result)
    names = ["all", *sorted({group for result in results for group in result.groups} - {"all"})]
    for title in ("f1", "precision", "recall"):
        print(f"{'mean ' + title:22}" + "".join(f"{name:>15}" for name in names))
        for contestant in contestants:
            means = (_mean(getattr(r, title) for r in groups[contestant, name]) for name in names)
            print(f"{contestant:22}" + "".join(f"{mean:15.3f}" for mean in means))
        print()
    counts = "".join(f"{len(groups[contestants[0], name]):15}" for name in names)
    print(f"{'pages':22}{counts}\n")


def print_speed(results: list[Result], size: int) -> None:
    """Pages per CPU second of each contestant, and how many times as many the first makes."""
    seconds: dict[str, float] = defaultdict(float)
    pages: dict[str, int] = defaultdict(int)
    raised: dict[str, int] = defaultdict(int)
    for result in results:
        raised[result.contestant] += result.raised
        seconds[result.contestant] += result.seconds
        pages[result.contestant] += 1
    first = next(iter(seconds))
    print(f"{'':22}{'pages/s':>15}{'ms/page':>15}{'MB/s':>15}{'raised':>15}{first + ' ÷':>20}")
    for name, taken in seconds.items():
        rate = pages[name] / taken
        ratio = pages[first] / seconds[first] / rate
        print(f"{name:22}{rate:15.1f}{1000 / rate:15.2f}{size / 1e6 / taken:15.1f}{raised[name]:15}{ratio:20.1f}")
    print()


def print_types_and_titles(samples: list[Sample]) -> None:
    """How often our type of the page, and our title of it, are right."""
    types: dict[str, list[float]] = defaultdict(list)
    titles: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        hit = float(ours(sample.html, sample.url, "model").page_type == sample.page_type)
        for group in groups_of(sample):
            types[group].append(hit)
            if sample.title:
                titles[group].append(float(letters(crawled(sample.html, sample.url).title) == letters(sample.title)))
    for what, hits in (("Type of the page", types), ("Title", titles)):
        print(f"{what} right: " + ", ".join(f"{name} {_mean(values):.3f}" for name, values in sorted(hits.items())))
    print()


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


if __name__ == "__main__":
    main()
