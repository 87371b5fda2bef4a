"""How pages are read and what one may cost: apart from the parsers, so that the settings need not load them."""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.errors import UsageError
from gossamer.parse.document_types import TYPES


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
    max_unpacked: int = 64 * 1024 * 1024
    """Most bytes that the parts of a document (DOCX, EPUB …) may unpack to; the outcome of a larger one is bomb."""
    skip_types: tuple[str, ...] = ()
    """Types of document not to fetch and not to read, as `filetype:` calls them: pdf, docx, xlsx … Web pages and plain
    text are always read."""
    max_refused: int = 100
    """Most refused link targets to keep per page."""
    text: Literal["model", "furniture", "token-range"] = "model"
    """How to find the main text if no document rule cuts it out. model: a trained model; furniture: rules for
    navigation and the like, three times as fast; token-range: the stretch with many words and few tags."""
    hooks: tuple[str, ...] = ()
    """Names of hooks from plug-ins, which may change what was read of a page before it is kept."""

    def check(self) -> None:
        """Raise a `UsageError` for a type that there is not."""
        known = [one.name for one in TYPES if one.is_own]
        for name in self.skip_types:
            if name not in known:
                raise UsageError(f"parse.skip_types names {name!r}: choose from {', '.join(known)}")
