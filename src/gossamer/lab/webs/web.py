"""A recorded web: what its servers would answer at each moment of the recording; one Parquet file.

A row per URL, fetched or only linked to; rows refer to each other by number. It records what servers *said*, not what
the
crawl made of it: a copy is a page with the hash of another page, and the simulated crawl decides again whether to fetch
it,
refuse it or call it a duplicate.

Time: a URL exists from `born` on (before, it answers 404 and no page links to it), and its text changes at the times in
`changes`. A page's links are those of its last version, less those to URLs that do not exist yet.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.errors import UsageError
from gossamer.lab.webs.ragged import Ragged, nothing
from gossamer.parse.rules import DocumentRule

FORMAT = 1
"""Raised when files of earlier versions can no longer be read."""
NOWHERE = -1
"""No URL."""
NO_RULES = -1
"""Value of `fit` if the URL's domain has no document rules."""
SUFFIX = ".web.parquet"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Facts(msgspec.Struct, frozen=True):
    """Facts about the whole recording."""

    name: str
    started_at: float
    """When the recording begins; seconds since 1970."""
    ended_at: float
    """Until when `born` and `changes` are known."""
    seeds: list[int]
    robots: dict[str, bytes] = {}
    """Origin → body of its robots.txt, where it has one."""
    addresses: dict[str, str] = {}
    """Site → its address; sites that are not named have one of their own each."""
    rules: list[DocumentRule] = []
    """The document rules that `fit` comes from: a simulated crawl uses them, as a live one would."""
    feed_entries: int = 0
    """Newest entries that a feed shows at once; 0: all."""
    source: str = ""
    """One sentence: where it comes from."""
    format: int = FORMAT


class RecordedWeb:
    """See the module's text. All columns have one entry per URL, in the order of `urls`."""

    def __init__(
        self,
        facts: Facts,
        urls: list[str],
        *,
        answer: list[str],
        links: Ragged,
        kind: npt.NDArray[np.int8] | None = None,
        status: npt.NDArray[np.int16] | None = None,
        size: npt.NDArray[np.int64] | None = None,
        duration: Floats | None = None,
        media_type: list[str] | None = None,
        fit: npt.NDArray[np.int8] | None = None,
        noindex: npt.NDArray[np.bool_] | None = None,
        validates: npt.NDArray[np.bool_] | None = None,
        redirect: Ints | None = None,
        canonical: Ints | None = None,
        text_hash: list[str] | None = None,
        fingerprint: list[bytes] | None = None,
        page_type: list[str] | None = None,
        feeds: Ragged | None = None,
        born: Floats | None = None,
        changes: Ragged | None = None,
    ) -> None:
        n = len(urls)
        self.facts = facts
        self.urls = urls
        self.answer = answer
        """Outcome of a request, as far as the server determines it: `document` for every page that can be read,
        `resource` for feeds and sitemaps, `redirect`, `gone`, …; `""` if it was never requested."""
        self.links = links
        """Followed links, in the order of the page, each target once; entries of feeds and sitemaps, newest first."""
        self.kind = kind if kind is not None else np.zeros(n, np.int8)
        """0 page, 1 sitemap, 2 feed."""
        self.status = (
            status if status is not None else np.where(np.array(answer, object) == "", 0, 200).astype(np.int16)
        )
        self.size = size if size is not None else np.zeros(n, np.int64)
        """Bytes of the body."""
        self.duration = duration if duration is not None else np.full(n, 0.05)
        """Seconds from the request to the end of the response."""
        self.media_type = media_type if media_type is not None else ["text/html"] * n
        self.fit = fit if fit is not None else np.full(n, NO_RULES, np.int8)
        """Whether the URL fits a document rule (1, 0); `NO_RULES` if its domain has none."""
        self.noindex = noindex if noindex is not None else np.zeros(n, bool)
        self.validates = validates if validates is not None else np.zeros(n, bool)
        """Whether the server answers 304 if nothing changed."""
        self.redirect = redirect if redirect is not None else np.full(n, NOWHERE, np.int64)
        self.canonical = canonical if canonical is not None else np.full(n, NOWHERE, np.int64)
        self.text_hash = text_hash if text_hash is not None else [""] * n
        """Hash of the text of the last version; `""` if there is no text to compare."""
        self.fingerprint = fingerprint if fingerprint is not None else [b""] * n
        """By the default near-duplicate method; `b""`: too short."""
        self.page_type = page_type if page_type is not None else [""] * n
        self.feeds = feeds if feeds is not None else nothing(n, np.int64)
        """Feeds that the page names."""
        self.born = born if born is not None else np.full(n, -np.inf)
        self.changes = changes if changes is not None else nothing(n, np.float64)
        """Times of changes after `born`, rising."""

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def name(self) -> str:
        """What the recording is called."""
        return self.facts.name

    @cached_property
    def number(self) -> dict[str, int]:
        """URL → its row."""
        return {url: row for row, url in enumerate(self.urls)}

    @cached_property
    def fetched(self) -> npt.NDArray[np.bool_]:
        """Which URLs have an answer."""
        return np.array([bool(answer) for answer in self.answer], bool)

    @cached_property
    def pages(self) -> npt.NDArray[np.bool_]:
        """Which URLs are pages that can be read."""
        return np.array([answer == "document" for answer in self.answer], bool)

    @cached_property
    def useful(self) -> npt.NDArray[np.bool_]:
        """Which URLs fit a document rule and bring a page of their own text: no error, no copy of an earlier row."""
        first: dict[str, int] = {}
        own = np.zeros(len(self), bool)
        for row in np.flatnonzero(self.pages & ~self.noindex & (self.fit == 1)).tolist():
            text = self.text_hash[row]
            own[row] = not text or first.setdefault(text, row) == row
        return own

    def version(self, row: int, at: float) -> int:
        """How often a page had changed by then."""
        changes = self.changes.of(row)
        return int(np.searchsorted(changes, at, side="right")) if len(changes) else 0


_LISTS = {"links": pa.int32(), "feeds": pa.int32(), "changes": pa.float64()}
_TEXTS = ("urls", "answer", "media_type", "text_hash", "page_type")
_NUMBERS = ("kind", "status", "size", "duration", "fit", "noindex", "validates", "redirect", "canonical", "born")


def save_web(web: RecordedWeb, path: Path) -> None:
    """Write a recorded web; the file appears when it is complete."""
    columns: dict[str, pa.Array] = {name: pa.array(getattr(web, name), pa.string()) for name in _TEXTS}
    columns["fingerprint"] = pa.array(web.fingerprint, pa.binary())
    for name in _NUMBERS:
        columns[name] = pa.array(getattr(web, name))
    for name, kind in _LISTS.items():
        rows: Ragged = getattr(web, name)
        columns[name] = pa.LargeListArray.from_arrays(pa.array(rows.starts), pa.array(rows.values).cast(kind))
    table = pa.table(columns).replace_schema_metadata({"gossamer.web": msgspec.json.encode(web.facts)})
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.part")
    pq.write_table(table, scratch, compression="zstd")
    scratch.replace(path)


def load_web(path: Path) -> RecordedWeb:
    """Read a recorded web; raises a `UsageError` for other files."""
    try:
        table = pq.read_table(path)
        facts = msgspec.json.decode((table.schema.metadata or {})[b"gossamer.web"], type=Facts)
    except KeyError as error:
        raise UsageError(f"{path} is not a recorded web: make one with `gossamer lab record`") from error
    except (OSError, pa.ArrowException, msgspec.MsgspecError) as error:
        raise UsageError(f"{path} is not a recorded web: {error}") from error
    if facts.format != FORMAT:
        raise UsageError(f"{path} was recorded by another version of Gossamer (format {facts.format}): record it again")
    columns: dict[str, Any] = {name: table.column(name).to_pylist() for name in (*_TEXTS, "fingerprint")}
    columns |= {name: table.column(name).to_numpy() for name in _NUMBERS}
    for name in _LISTS:
        rows = table.column(name).combine_chunks()
        kind = np.float64 if name == "changes" else np.int64
        columns[name] = Ragged(rows.offsets.to_numpy(), rows.values.to_numpy(zero_copy_only=False).astype(kind))
    return RecordedWeb(facts, **columns)
