"""How long patterns of rules and filters take in Python's engine and in RE2, on real URLs, in one run.

python bench/pattern_engines.py                     the news addresses beside the checkout
python bench/pattern_engines.py URLS.txt[.gz]
python bench/pattern_engines.py --quick             3,000 of them
"""

from __future__ import annotations

import argparse
import gzip
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from _data import URLS
from _figures import Figure, add_usual, conclude
from gossamer.model.expressions import Expressions
from gossamer.site.patterns import _expression, path_and_query

RULES = {
    "template with date": ["/news/{year}/{month}/{id}-{slug}.html"],
    "template with {any}": ["/{any}/{id}"],
    "expression": [r"^/(news|blog|article)/\d+"],
    "rule of six patterns": [f"/{name}/{{year}}/{{slug}}" for name in ("news", "blog", "a", "story", "post", "text")],
}
FILTERS = {
    "plain word": ["/tag/"],
    "parameter": [r"[?&](sort|order|replytocom)="],
    "any case": [r"(?i)\.(jpe?g|png|gif)$"],
    "twenty filters": [rf"/{name}\d*/" for name in "tag page feed login print amp rss cart search draft".split() * 2],
}
ROUNDS = 5


def nanoseconds(ask: Callable[[str], object], texts: list[str]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for text in texts:
            ask(text)
        best = min(best, time.process_time() - began)
    return best / len(texts) * 1e9


def compare(name: str, patterns: list[str], texts: list[str], from_start: bool) -> tuple[float, float]:
    engine = [re.compile(pattern) for pattern in patterns]
    gate = engine[0] if len(engine) == 1 else re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    python = (lambda text: any(one.match(text) for one in engine)) if from_start else gate.search
    before = nanoseconds(python, texts)
    after = nanoseconds(Expressions(patterns, from_start).match, texts)
    print(f"{name:22} {before:6.0f} ns {after:6.0f} ns  {after / before:.1f} times")
    return before, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "3,000 URLs")
    parser.add_argument("urls", type=Path, nargs="?", default=URLS)
    options = parser.parse_args()
    path = options.urls
    if not path.exists():
        raise SystemExit(f"{path} is not there: name a list of URLs")
    packed = path.read_bytes()
    lines = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode().splitlines()
    urls = [line for line in lines if len(line) < 2000][: 3_000 if options.quick else 30_000]
    paths = [path_and_query(url) for url in urls]
    print(f"{len(urls)} URLs: Python's engine, RE2, ratio")
    rules = [compare(name, [*map(_expression, patterns)], paths, True) for name, patterns in RULES.items()]
    filters = [compare(name, patterns, urls, False) for name, patterns in FILTERS.items()]
    conclude(options, [
        Figure(f"a URL against {kind}, mean", statistics.fmean(after for _, after in times), "ns",
               beside={"Python's engine": statistics.fmean(before for before, _ in times)}, least=1)
        for kind, times in (("document rules", rules), ("filters", filters))
    ])  # fmt: skip


if __name__ == "__main__":
    main()
