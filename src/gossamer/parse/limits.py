"""How pages are read and what one may cost: apart from the parsers, so that the settings need not load them."""

from __future__ import annotations

from typing import Literal

import msgspec


class ParseLimits(msgspec.Struct, frozen=True):
    """How pages are read, and what one may cost."""

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
    text: Literal["model", "furniture", "token-range"] = "model"
    """How the main text is found where no document rule cuts it out: a trained model, rules for furniture (three times
    as fast), or the stretch with many words and few tags."""
