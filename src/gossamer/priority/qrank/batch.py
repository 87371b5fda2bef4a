"""Many URLs as one array of characters, and where their parts begin.

All that is counted about URLs is counted for a whole batch by a few operations on one array. A
character is one byte of it: percent escapes are undone, and of a character beyond ASCII only the
first UTF-8 byte is kept, which says no more than that a letter stood there. So `/%D0%B0` and `/а`
are the same URL, as they are to a browser.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

LONGEST = 1024
"""Characters of a URL that are looked at."""
_PADDING = b"\0\0\0"
_HEX = np.full(256, 255, np.uint8)
_HEX[np.frombuffer(b"0123456789", np.uint8)] = np.arange(10)
_HEX[np.frombuffer(b"abcdef", np.uint8)] = np.arange(10, 16)
_HEX[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_ESCAPED = np.arange(256, dtype=np.uint8)
"""What an escaped byte counts as: what would look like the border of a part, as a space."""
_ESCAPED[:128] = [byte if chr(byte).isalnum() else 32 for byte in range(128)]


class Batch:
    """The characters of URLs, one URL after the other, and the places where parts begin and end.

    A URL without `scheme://` is all path. `edges` has a row for each border: URL, host, path, query,
    end of query; what stands between is `://` or `?`, and the fragment is in no part.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self.chars, starts = _characters(urls)
        self.starts, self.ends = starts[:-1], starts[1:]
        self._cut_into_parts()

    def _cut_into_parts(self) -> None:
        chars, starts, ends = self.chars, self.starts, self.ends
        self.slashes = _with_end(chars == ord("/"))
        colon = np.minimum(first_from(_with_end(chars == ord(":")), starts), ends)
        absolute = (chars[colon + 1] == ord("/")) & (chars[colon + 2] == ord("/")) & (colon + 3 <= ends)
        self.scheme_end = np.where(absolute, colon, starts)
        self.host = np.where(absolute, colon + 3, starts)
        self.query_end = np.minimum(first_from(_with_end(chars == ord("#")), self.host), ends)
        self.path_end = np.minimum(first_from(_with_end(chars == ord("?")), self.host), self.query_end)
        self.query = np.minimum(self.path_end + 1, self.query_end)
        first_slash = np.minimum(first_from(self.slashes, self.host), self.path_end)
        self.path = np.where(absolute, first_slash, starts)
        before = np.searchsorted(self.slashes, self.path_end)
        self.segment = np.maximum(np.where(before > 0, self.slashes[before - 1] + 1, 0), self.path)
        """Where the last segment of the path begins."""


def first_from(places: Places, borders: Places) -> Places:
    """The first of some places (the last of which is behind everything) at or after each border."""
    return places[np.searchsorted(places, borders)]


def _with_end(hits: NDArray[np.bool_]) -> Places:
    """The places of hits, and one behind everything."""
    return np.append(np.flatnonzero(hits), len(hits) + 1)


def _characters(urls: Sequence[str]) -> tuple[Bytes, Places]:
    """One byte for each character, and where each URL starts, ending with where all end."""
    lengths = np.fromiter(map(len, urls), np.int64, len(urls))
    if len(lengths) and lengths.max() > LONGEST:
        urls = [url[:LONGEST] for url in urls]
        lengths = np.minimum(lengths, LONGEST)
    text = "".join(urls)
    chars = np.frombuffer(text.encode("utf-8", "surrogatepass") + _PADDING, np.uint8)
    if len(chars) > len(text) + len(_PADDING):
        chars = chars[(chars & 0xC0) != 0x80]
    starts = np.zeros(len(urls) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return _unescaped(chars, starts) if "%" in text else (chars, starts)


def _unescaped(chars: Bytes, starts: Places) -> tuple[Bytes, Places]:
    percent = np.flatnonzero(chars[: -len(_PADDING)] == ord("%"))
    high, low = _HEX[chars[percent + 1]], _HEX[chars[percent + 2]]
    owner_end = starts[np.searchsorted(starts, percent, "right")]
    real = (high < 16) & (low < 16) & (percent + 2 < owner_end)
    percent, values = percent[real], high[real] << 4 | low[real]
    chars = chars.copy()
    chars[percent] = _ESCAPED[values]
    kept = np.ones(len(chars), bool)
    kept[percent + 1] = kept[percent + 2] = False
    kept[percent[(values & 0xC0) == 0x80]] = False
    removed = np.concatenate([[0], np.cumsum(~kept)])
    return chars[kept], starts - removed[starts]
