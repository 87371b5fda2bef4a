"""Where a crawl stands, for whoever shows it."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """What a crawl is doing, for whoever watches it."""

    CRAWLING = "crawling"
    STOPPING = "stopping"
    """It was told to stop, and finishes what is under way."""
    INDEXING = "indexing"
    """The workers have ended; the index takes in what is left."""
