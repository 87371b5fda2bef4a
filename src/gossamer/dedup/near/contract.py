"""What every method of finding near duplicates offers, so that one can stand in for another.

A text becomes a fingerprint once. Fingerprints are kept; keys find the few that may belong together among millions,
and `similarity` decides about those few. "Near duplicate" means one thing for all methods: at least nine tenths of
the runs of four words are the same (`OVERLAP`).
"""

from __future__ import annotations

from typing import Protocol

OVERLAP = 0.9
"""Jaccard overlap of the four-word runs from which on two texts are near duplicates."""
UNLIKE = 0.1
"""Overlap below which two texts are clearly not the same. On three sites a text with its lines in another order, cut to
its first fifth or followed by 1,500 foreign characters stayed above it; of pairs of different pages, 94 and 96 % lay
below it on two of them, and 7 % on the third, whose pages share a long sidebar."""
MIN_WORDS = 20
"""Words from which on a text is compared without its title: shorter ones are greetings, errors and forms, alike
everywhere."""


class NearMethod(Protocol):
    """One way to tell near duplicates. Instances keep no state between calls."""

    @property
    def name(self) -> str:
        """The name in settings and reports."""
        ...

    @property
    def threshold(self) -> float:
        """The similarity from which on two texts count as near duplicates."""
        ...

    @property
    def unlike(self) -> float:
        """The similarity below which two texts are clearly not the same; 0 where the method cannot tell."""
        ...

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """What is kept of a text; `b""` where it is too short to compare. A method may compare shorter texts that have
        a title."""
        ...

    def long_part(self, fingerprint: bytes) -> bytes:
        """What tells whether texts are unlike; `b""` where only a title makes the text comparable."""
        ...

    def keys(self, fingerprint: bytes) -> list[int]:
        """Signed 64-bit numbers of which near duplicates very likely share one; none for `b""`."""
        ...

    def similarity(self, left: bytes, right: bytes) -> float:
        """An estimate, 0 to 1, of how alike two texts are; 0 where one of them is `b""`."""
        ...


def same(method: NearMethod, left: bytes, right: bytes) -> bool:
    """Whether two fingerprints are of near duplicates."""
    return bool(left and right) and method.similarity(left, right) >= method.threshold


def unlike(method: NearMethod, left: bytes, right: bytes) -> bool:
    """Whether two fingerprints are of clearly different texts; not where they are of different methods."""
    left, right = method.long_part(left), method.long_part(right)
    return 0 < len(left) == len(right) and method.similarity(left, right) < method.unlike
