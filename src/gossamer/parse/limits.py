"""How pages are read and what one may cost: apart from the parsers, so that the settings need not load them."""

from __future__ import annotations

from typing import Literal

import msgspec


class ParseLimits(msgspec.Struct, frozen=True):
    """How parsers read pages, and their limits."""

    max_bytes: int = 16 * 1024 * 1024
    """Most bytes of a body to read; the parser ignores the rest."""
    max_tags: int = 300_000
    """Most opening angle brackets of a page; the parser ignores the rest. This many need about 100 MB of memory."""
    max_links: int = 5_000
    """Most links to keep per page."""
    max_text_chars: int = 2_000_000
    """Most characters of main text to keep per page."""
    max_refused: int = 100
    """Most refused link targets to keep per page."""
    text: Literal["model", "furniture", "token-range"] = "model"
    """How to find the main text if no document rule cuts it out. model: a trained model; furniture: rules for
    navigation and the like, three times as fast; token-range: the stretch with many words and few tags."""
    hooks: tuple[str, ...] = ()
    """Names of hooks from plug-ins, which may change what was read of a page before it is kept."""
