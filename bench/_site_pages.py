"""The documents of a data folder, as `gossamer export` gives them: the newest version of each."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pyarrow.parquet as pq

_COLUMNS = ("url", "title", "text", "page_type", "cluster")


class Stored(msgspec.Struct, frozen=True):
    """A document as it was stored."""

    url: str
    title: str
    text: str
    page_type: str = ""
    """Empty: none is shown."""
    cluster: int | None = None
    """Documents with the same number are near duplicates; None: too short to compare."""

    @property
    def path(self) -> str:
        """The URL without its host; queries name copies of a file in an archive."""
        return urlsplit(self.url).path or "/"

    @property
    def host(self) -> str:
        """The host's name."""
        return urlsplit(self.url).hostname or ""


def read_pages(gossamer: list[str], data: Path) -> list[Stored]:
    """The documents of a crawl, in the order of their URLs."""
    with tempfile.TemporaryDirectory(prefix="bench-sites-") as scratch:
        file = Path(scratch) / "pages.parquet"
        subprocess.run([*gossamer, "export", "pages", "--data", str(data), "-o", str(file)], check=True)
        table = pq.read_table(file, columns=list(_COLUMNS))
    rows = zip(*(table.column(name).to_pylist() for name in _COLUMNS), strict=True)
    pages = (Stored(url, title or "", text or "", kind or "", cluster) for url, title, text, kind, cluster in rows)
    return sorted(pages, key=lambda page: page.url)
