"""A folder of Markdown files, one a page: `SITE/NAME-ID.md`.

The name comes from the path of the URL, the id from the whole URL; so a page has the same file for ever. A file appears
whole, by a rename within the disk, and the mark is written when the files and their names have reached it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import orjson

from gossamer.api.changes import Change
from gossamer.api.pages import Page
from gossamer.errors import StorageError
from gossamer.sinks.contract import Mark, id_of
from gossamer.sinks.mark_file import MarkFile
from gossamer.store.durable import sync_file, sync_folder

_OWN = ".gossamer"
"""The folder in the folder for what is no page."""
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_LONGEST = 60
_HEAD = ("url", "title", "date", "updated", "author", "language", "description", "site", "fetched_at")


class MarkdownFolder:
    """The sink."""

    at_once = 50

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._marks = MarkFile(self._root / _OWN / "mark.json", str(root))
        self.to_start_over = f"delete {root}"

    def mark(self) -> Mark | None:
        """How far it is."""
        return self._marks.read()

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Write the files of new and changed pages, delete those of others."""
        try:
            touched = {self._take(change) for change in changes}
            for folder in touched:
                if folder.exists():
                    sync_folder(folder)
                    with suppress(OSError):  # there are pages in it
                        folder.rmdir()
            if touched:
                sync_folder(self._root)
        except OSError as error:
            raise StorageError(f"cannot write {error.filename}: {error.strerror}: make room for it") from error
        self._marks.write(mark)

    def close(self) -> None:
        """Let others write there."""
        self._marks.close()

    def _take(self, change: Change) -> Path:
        path = self._root / name_of(change.url)
        if change.page is None:
            path.unlink(missing_ok=True)
            return path.parent
        path.parent.mkdir(exist_ok=True)
        part = self._root / _OWN / "part"
        part.write_bytes(file_of(change.page))
        sync_file(part)
        part.replace(path)
        return path.parent


def name_of(url: str) -> Path:
    """Where the file of a page is: a folder for the site, and a name that no other page has."""
    parts = urlsplit(url)
    site = _NOT_IN_NAMES.sub("_", parts.netloc).strip(".")[:200] or "_"
    words = _NOT_IN_NAMES.sub("-", unquote(parts.path).removesuffix("/")).strip("-.")
    # A file system counts bytes, and some take names that differ in case for one: the id tells pages apart.
    short = words.encode()[-_LONGEST:].decode("utf-8", "ignore").strip("-.") or "index"
    return Path(site) / f"{short}-{id_of(url)}.md"


def file_of(page: Page) -> bytes:
    """The Markdown of a page behind a head of YAML."""
    known = page.as_dict()
    # A text in JSON is a text in YAML: nothing in it ends the head.
    head = [b"%s: %s" % (name.encode(), orjson.dumps(known[name])) for name in _HEAD if known[name]]
    return b"\n".join([b"---", *head, b"---", b"", page.markdown.encode(), b""])


def pages_in(root: Path) -> list[Path]:
    """The files of pages, in order."""
    return sorted(
        Path(folder) / name
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".md") and Path(folder).name != _OWN
    )
