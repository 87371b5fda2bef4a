"""URLs per second whose importance is told by the model that ships.

    python bench/qrank.py --data ../shared/data/graph

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

from gossamer.priority.qrank.features import features
from gossamer.priority.qrank.model import default_model
from studies.qrank.importance import read_sites


def print_speed(urls: Sequence[str]) -> None:
    """Prints the speed of both steps and of the whole."""
    model = default_model()
    rows = features(urls)
    steps: dict[str, Callable[[], object]] = {
        "features": lambda: features(urls),
        "network": lambda: model.network.predict(rows),
        "both": lambda: model.place(urls),
    }
    print(f"{len(urls)} URLs of {sum(map(len, urls)) / len(urls):.0f} characters; URLs per second of one core")
    for name, step in steps.items():
        best = min(_seconds(step) for _ in range(5))
        print(f"{name:22}{len(urls) / best:10.0f}")


def _seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/graph"))
    args = parser.parse_args()
    urls = [url for site in read_sites([args.data]) for url in site.urls]
    random.Random(1).shuffle(urls)
    print_speed(urls)


if __name__ == "__main__":
    main()
