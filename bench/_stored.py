"""What each crawler has stored, read back in one form.

A record that a kill has left half written is no document.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import msgspec

from _sites import Served


class Document(msgspec.Struct, frozen=True):
    """A stored page."""

    url: str
    title: str
    text: str
    recorded: bool = False
    """Only recorded: the crawler decided that the page is a copy or no document, and keeps no text of it."""

    @property
    def place(self) -> tuple[str, str]:
        """Host and file, so that `/` and `/index.html` are the same."""
        parts = urlsplit(self.url)
        return parts.hostname or "", as_file(unquote(parts.path))


def as_file(path: str) -> str:
    """The file that a server answers a path with."""
    return path + "index.html" if path.endswith("/") or not path else path


def json_lines(file: Path) -> list[Document]:
    """Documents, one a line."""
    return _documents(file.read_bytes().splitlines()) if file.exists() else []


def crawlee_items(dataset: Path, exported: Path) -> list[Document]:
    """A data set of Crawlee: exported at the end, or a file an item."""
    if exported.exists():
        return [msgspec.convert(item, Document, strict=False) for item in json.loads(exported.read_bytes())]
    return _documents(file.read_bytes() for file in sorted(dataset.glob("[0-9]*.json")))


def gossamer_pages(program: str, data: Path) -> list[Document]:
    """The newest version of each document in a data folder, and the pages recorded as something else."""
    documents = _documents(_exported(program, "pages", data))
    for line in _exported(program, "urls", data):
        url = json.loads(line)
        if url["state"] == "done" and url["status"] == HTTPStatus.OK and url["outcome"] != "document":
            documents.append(Document(url["url"], "", "", recorded=True))
    return documents


def _exported(program: str, what: str, data: Path) -> list[bytes]:
    command = [program, "export", what, "--data", str(data), "--format", "jsonl"]
    return subprocess.run(command, capture_output=True, check=False).stdout.splitlines()


def mirrored_files(sites: list[Served], mirror: Path) -> list[Document]:
    """The HTML files of a mirror that are as long as the server's."""
    found = []
    for site in sites:
        for path in site.cut.paths:
            name = as_file(path).lstrip("/")
            served = Path(site.cut.folder, name)
            # The server's port is part of the folder's name in some versions.
            copies = (mirror / host / name for host in (site.host, f"{site.host}:{site.port}"))
            copy = next((c for c in copies if c.is_file() and c.stat().st_size == served.stat().st_size), None)
            if copy:
                url = f"http://{site.host}:{site.port}{quote(path)}"
                found.append(Document(url, "", copy.read_text(errors="replace")))
    return found


def _documents(records: Iterable[bytes]) -> list[Document]:
    found = []
    for record in records:
        try:
            fields: dict[str, Any] = json.loads(record)
        except ValueError:
            continue
        found.append(Document(fields["url"], fields.get("title") or "", fields.get("text") or ""))
    return found
