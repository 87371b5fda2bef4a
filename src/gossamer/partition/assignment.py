"""Which part of its site a URL belongs to: one answer, the same on every machine, without asking anybody.

The plan is a small table of directories. A URL belongs to the deepest directory of the table that contains it. One part
holds a directory as a whole, or the directory is *opened*: then the hash of a URL's path cuts the rest of it into
buckets, and a part holds each bucket. The root is always opened, so that unseen URLs have a part, too, and all parts
share an unknown directory, however large it turns out to be.

The parents of a directory of the table are in the table, too: a lookup goes down from the root and stops at the first
that is not. Host and scheme do not matter; a plan is for one site.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.model.site import key64

ROOT = "/"
MOST_PARTS = 1000
"""More than any site will ever need; bounds what a damaged plan can say."""


class Assignment(msgspec.Struct, frozen=True):
    """The parts of a site."""

    parts: int
    """How many there are: 0…parts-1."""
    table: dict[str, tuple[int, ...]]
    """Directories with the parts of their buckets; one number: the whole directory."""

    def part_of(self, url: str) -> int:
        """The part that a canonical URL of the site belongs to."""
        directory, bucket = self.unit_of(url)
        return self.table[directory][bucket]

    def unit_of(self, url: str) -> tuple[str, int]:
        """The directory of the table and its bucket: the unit of moves."""
        path = site_path(url)
        query = path.find("?")
        end = len(path) if query < 0 else query
        directory, at = ROOT, 1
        while True:
            slash = path.find("/", at, end)
            if slash < 0 or path[: slash + 1] not in self.table:
                break
            directory, at = path[: slash + 1], slash + 1
        return directory, bucket_of(path, len(self.table[directory]))

    def parts_of(self, urls: Iterable[str]) -> npt.NDArray[np.int32]:
        """The part of each URL."""
        return np.fromiter(map(self.part_of, urls), np.int32)

    def to_json(self) -> str:
        """What `from_json` reads."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def from_json(text: str | bytes) -> Assignment:
        """A stored plan; a `ValueError` says what is wrong with it."""
        found = msgspec.json.decode(text, type=Assignment)
        found.check()
        return found

    def check(self) -> None:
        """Raise a `ValueError` for a plan that would leave URLs without a part."""
        if not 1 <= self.parts <= MOST_PARTS:
            raise ValueError(f"a site cannot have {self.parts} parts")
        if ROOT not in self.table:
            raise ValueError("a plan must have an entry for /")
        for directory, buckets in self.table.items():
            if not directory.startswith("/") or not directory.endswith("/") or "?" in directory:
                raise ValueError(f"{directory!r} is not a directory")
            if directory != ROOT and parent_of(directory) not in self.table:
                raise ValueError(f"{directory} is in the plan and {parent_of(directory)} is not")
            if not buckets or not all(0 <= part < self.parts for part in buckets):
                raise ValueError(f"{directory} belongs to parts {buckets} of {self.parts}")


def one_part() -> Assignment:
    """The plan of a site that is not split."""
    return Assignment(1, {ROOT: (0,)})


def drift(counts: Sequence[int]) -> float:
    """How much larger than its fair share the largest part is, given the URLs of each: 0 if all are equal."""
    total = sum(counts)
    return max(counts) * len(counts) / total - 1.0 if total else 0.0


def site_path(url: str) -> str:
    """The part of a canonical URL after the host."""
    slash = url.find("/", url.index("//") + 2)
    return ROOT if slash < 0 else url[slash:]


def parent_of(directory: str) -> str:
    """The directory that a directory lies in."""
    return directory[: directory.rindex("/", 0, -1) + 1]


def bucket_of(path: str, buckets: int) -> int:
    """The bucket of a path in an opened directory."""
    return key64(path) % buckets if buckets > 1 else 0
