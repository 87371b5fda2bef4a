"""WCXB's development pages and news of many countries, their fixed splits, and word F1.

A page belongs to the held-out part by a hash of its registrable domain, or of its publisher, so that pages
of one site never stand on both sides. `training/main_text.py` never sees the held-out parts; `extraction.py`
measures on them alone.
"""

from __future__ import annotations

import gzip
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

HELD_OUT_PERCENT = 28
NEWS_PARTS = 3
"""One of so many parts of the publishers is held out."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters."""
_FOREIGN = re.compile(rf"[\u0370-\u1fff{_UNSPACED}\uac00-\ud7a3]")
"""Letters of scripts other than the Latin one."""
_SHORT_CHARS = 1_500
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Sample(msgspec.Struct, frozen=True):
    """A page and what was cut out of it by hand."""

    name: str
    url: str
    domain: str
    page_type: str
    html: bytes
    truth: str
    title: str = ""
    publisher: str = ""
    """Of news: country and name."""

    @property
    def held_out(self) -> bool:
        """Whether it must not be looked at in training."""
        if self.publisher:
            return bucket(self.publisher, NEWS_PARTS) == 0
        return bucket(self.domain, 100) < HELD_OUT_PERCENT


def groups_of(sample: Sample) -> tuple[str, ...]:
    """The groups of pages that a page is counted in."""
    groups = ["all"]
    if sample.publisher:
        foreign = len(_FOREIGN.findall(sample.truth)) > len(sample.truth) / 4
        groups.append("non-Latin" if foreign else "Latin")
    else:
        groups.append(sample.page_type)
    if len(sample.truth) < _SHORT_CHARS:
        groups.append("short")
    return tuple(groups)


def bucket(domain: str, buckets: int) -> int:
    """A number below `buckets`, always the same for a domain."""
    return int(hashlib.sha256(domain.encode()).hexdigest()[:8], 16) % buckets


def read_samples(archive: Path) -> Iterator[Sample]:
    """All pages of WCXB's archive, by name."""
    files = _files(archive)
    pages = {Path(name).stem: data for name, data in files.items() if name.endswith(".html")}
    truths = {Path(name).stem: data for name, data in files.items() if name.endswith(".json")}
    for name in sorted(pages.keys() & truths.keys()):
        yield _sample(name, pages[name], json.loads(truths[name]))


def read_news(archive: Path) -> Iterator[Sample]:
    """All pages of the archive of news, by name; two truths of one page are taken as one page each."""
    files = {Path(name).name: data for name, data in _files(archive).items()}
    for line in sorted(files["truth.jsonl"].splitlines()):
        record = json.loads(line)
        name, url = record["file"], record["url"]
        domain = registrable_domain(urlsplit(url).hostname or "")
        html = gzip.decompress(files[name])
        publisher = name.partition("_")[0]
        yield Sample(name, url, domain, "article", html, record["text"], record["title"], publisher)


def _files(archive: Path) -> dict[str, bytes]:
    data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(archive.read_bytes())).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        found = ((member.name, tar.extractfile(member)) for member in tar)
        return {name: file.read() for name, file in found if file is not None}


def _sample(name: str, html: bytes, record: dict) -> Sample:
    truth = record["ground_truth"]
    url = record.get("url") or truth.get("url") or ""
    kind = record["_internal"]["page_type"]
    kind = kind["primary"] if isinstance(kind, dict) else kind
    domain = registrable_domain(urlsplit(url).hostname or "")
    kind = {"category": "collection"}.get(kind, kind)
    return Sample(name, url, domain, kind, html, truth.get("main_content") or "", truth.get("title") or "")


def words(text: str) -> list[str]:
    """The words that count, as WCXB's own script splits them; the characters of scripts without spaces."""
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
