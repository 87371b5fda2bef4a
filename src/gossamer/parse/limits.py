"""What a page may cost: apart from the parsers, so that the settings need not load them."""

from __future__ import annotations

import msgspec


class ParseLimits(msgspec.Struct, frozen=True):
    """What one page may cost."""

    max_bytes: int = 16 * 1024 * 1024
    """Bytes of a body that are read; the rest is ignored."""
    max_tags: int = 300_000
    """Opening angle brackets after which the rest of a page is ignored; about 100 MB of tree."""
    max_links: int = 5_000
    """Links kept per page."""
    max_text_chars: int = 2_000_000
    """Characters of main text kept per page."""
    max_refused: int = 100
    """Refused targets remembered per page."""
