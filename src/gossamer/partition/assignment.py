"""Which part of its site does a URL belong to? One answer, the same on every machine, without asking anybody.

The plan is a small table of directories. A URL belongs to the deepest directory of the table that it lies in. A
directory is held by one part as a whole, or it is *opened*: then what is left of it is cut by the hash of the URL's
path into buckets, and each bucket is held by a part. The root is always opened, so that what nobody has seen yet has a
part, too, and a directory that nobody knew is shared by all parts, however large it turns out to be.

The parents of a directory of the table are in the table, too: a look-up goes down from the root and stops at the first
that is not. Host and scheme do not matter; a plan is of one site.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.model.site import key64

ROOT = "/"
MOST_PARTS = 1000
"""More than any site will ever be asked by; bounds what a damaged plan can say."""


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
        """The directory of the table and its bucket: what is moved as one piece."""
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
            raise ValueError("a plan needs an entry for /")
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
    """How much larger than its fair share the largest part is: 0 where all are equal, given the URLs of each."""
    total = sum(counts)
    return max(counts) * len(counts) / total - 1.0 if total else 0.0


def site_path(url: str) -> str:
    """What follows the host in a canonical URL."""
    slash = url.find("/", url.index("//") + 2)
    return ROOT if slash < 0 else url[slash:]


def parent_of(directory: str) -> str:
    """The directory that a directory lies in."""
    return directory[: directory.rindex("/", 0, -1) + 1]


def bucket_of(path: str, buckets: int) -> int:
    """The bucket of a path in an opened directory."""
    return key64(path) % buckets if buckets > 1 else 0
