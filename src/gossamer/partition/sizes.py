"""Counts the known URLs of a site by directory."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator

from gossamer.partition.assignment import site_path

_LAST = "\U0010ffff"


class Sizes:
    """The paths of a site's URLs in order, so that a directory is a range of them."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._paths = sorted(map(site_path, urls))

    def __len__(self) -> int:
        return len(self._paths)

    def below(self, directory: str) -> Counter[str]:
        """URLs by the next name after a directory: `name/` for a sub-directory, else the file with its query."""
        return Counter(_next_name(path, len(directory)) for path in self._members(directory))

    def inside(self, directory: str, apart: Container[str]) -> Iterator[str]:
        """The paths in a directory without those in sub-directories that are separate pieces."""
        for path in self._members(directory):
            name = _next_name(path, len(directory))
            if not name or directory + name not in apart:
                yield path

    def _members(self, directory: str) -> list[str]:
        start = bisect_left(self._paths, directory)
        return self._paths[start : bisect_left(self._paths, directory + _LAST, start)]


def _next_name(path: str, at: int) -> str:
    query = path.find("?", at)
    slash = path.find("/", at, query if query >= 0 else len(path))
    return path[at:] if slash < 0 else path[at : slash + 1]
