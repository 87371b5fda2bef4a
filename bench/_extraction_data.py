"""WCXB's development pages, their fixed split by domain, and its word F1.

A page belongs to the held-out part by a hash of its registrable domain, so that pages of
one site never stand on both sides. `training/main_text.py` never sees the held-out part;
`extraction.py` measures on it alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import zstandard

from gossamer.model.site import registrable_domain

DATA = Path(__file__).resolve().parents[2] / "shared/data/extraction/wcxb-dev.tar.zst"
HELD_OUT_PERCENT = 28
_WORD = re.compile(r"\w+")


class Sample(msgspec.Struct, frozen=True):
    """A page and what was cut out of it by hand."""

    name: str
    url: str
    domain: str
    page_type: str
    html: bytes
    truth: str

    @property
    def held_out(self) -> bool:
        """Whether it must not be looked at in training."""
        return bucket(self.domain, 100) < HELD_OUT_PERCENT


def bucket(domain: str, buckets: int) -> int:
    """A number below `buckets`, always the same for a domain."""
    return int(hashlib.sha256(domain.encode()).hexdigest()[:8], 16) % buckets


def read_samples(archive: Path) -> Iterator[Sample]:
    """All pages of the archive, by name."""
    data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(archive.read_bytes())).read()
    pages: dict[str, bytes] = {}
    truths: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            path = Path(member.name)
            if path.suffix in (".html", ".json") and (file := tar.extractfile(member)) is not None:
                (pages if path.suffix == ".html" else truths)[path.stem] = file.read()
    for name in sorted(pages.keys() & truths.keys()):
        yield _sample(name, pages[name], json.loads(truths[name]))


def _sample(name: str, html: bytes, record: dict) -> Sample:
    truth = record["ground_truth"]
    url = record.get("url") or truth.get("url") or ""
    kind = record["_internal"]["page_type"]
    kind = kind["primary"] if isinstance(kind, dict) else kind
    domain = registrable_domain(urlsplit(url).hostname or "")
    kind = {"category": "collection"}.get(kind, kind)
    return Sample(name, url, domain, kind, html, truth.get("main_content") or "")


def words(text: str) -> list[str]:
    """The words that count, as WCXB's own script splits them."""
    return _WORD.findall(text.lower())


def word_scores(found: str, truth: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of the words, each counted as often as it occurs.

    Where nothing should be found, finding nothing is perfect and anything else worthless.
    """
    ours, theirs = words(found), words(truth)
    if not theirs or not ours:
        perfect = float(not theirs and not ours)
        return perfect, perfect, perfect
    common = (Counter(ours) & Counter(theirs)).total()
    precision, recall = common / len(ours), common / len(theirs)
    return precision, recall, 2 * common / (len(ours) + len(theirs))
