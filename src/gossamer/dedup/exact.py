"""The hash by which two pages count as the same text.

Two pages are the same when their texts differ in nothing a reader would see:
letter case, white space, and the ways Unicode has of writing one character are
taken out before hashing, and so are the dots of the Russian ё, which most people do
not write, and lines that change by themselves (`dedup.passing`). The hash is
cryptographic (BLAKE2b, 128 bits), since a page that could be made to collide with
another would push it out of the index.

A text shorter than `MIN_CHARS` has no hash. "Please log in", "Page not found" and
empty pages are the same everywhere and say nothing about whether the *pages* are
the same; 50 characters is about one sentence, or half a line of navigation. Such
pages are compared by more than their text (`dedup.short`).
"""

from __future__ import annotations

from hashlib import blake2b
from unicodedata import is_normalized, normalize

from gossamer.dedup.passing import steady
from gossamer.dedup.words import words

MIN_CHARS = 50
"""Characters, white space not counted, from which on texts are compared."""


def content_hash(text: str, min_chars: int = MIN_CHARS) -> str:
    """32 hex digits of the normalised text; `""` where it is too short to compare."""
    plain = "".join(words(steady(text)))
    if not plain.isascii():
        if not is_normalized("NFC", plain):
            plain = normalize("NFC", plain)
        plain = plain.replace("ё", "е")
    if len(plain) < min_chars:
        return ""
    return blake2b(plain.encode("utf-8", "replace"), digest_size=16).hexdigest()
