"""URLs per second whose importance is told by the model that ships.

    python bench/qrank.py --data ../shared/data/graph
    python bench/qrank.py --quick                           5,000 URLs

Processor time, one thread, the best of five rounds over the URLs of the data in a random order. How well it tells them
is measured by `python -m studies qrank`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from _data import GRAPHS
from _figures import Figure, add_usual, conclude
from gossamer.errors import GossamerError
from gossamer.priority.qrank.features import features
from gossamer.priority.qrank.model import default_model
from studies.qrank.importance import read_sites

GOAL = 300_000


def speeds(urls: Sequence[str]) -> dict[str, float]:
    """URLs per second of both steps and of the whole, printed as well."""
    model = default_model()
    rows = features(urls)
    steps: dict[str, Callable[[], object]] = {
        "features": lambda: features(urls),
        "network": lambda: model.network.predict(rows),
        "both": lambda: model.place(urls),
    }
    print(f"{len(urls)} URLs of {sum(map(len, urls)) / len(urls):.0f} characters; URLs per second of one core")
    found = {name: len(urls) / min(_seconds(step) for _ in range(5)) for name, step in steps.items()}
    for name, rate in found.items():
        print(f"{name:22}{rate:10.0f}")
    return found


def _seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "5,000 URLs")
    parser.add_argument("--data", type=Path, default=GRAPHS)
    args = parser.parse_args()
    try:
        urls = [url for site in read_sites([args.data]) for url in site.urls]
    except (OSError, GossamerError) as error:
        raise SystemExit(f"no URLs: {error}; name a folder of *.pages.tsv.gz with --data") from None
    random.Random(1).shuffle(urls)
    found = speeds(urls[: 5_000 if args.quick else None])
    steps = {name: rate for name, rate in found.items() if name != "both"}
    conclude(args, [Figure("URLs ranked per second and core", found["both"], "URLs/s", GOAL, beside=steps, least=1)])


if __name__ == "__main__":
    main()
