"""How much a word counts in each field of the index."""

from __future__ import annotations

from gossamer.index import schema
from gossamer.search.ranking import RankingConfig


def field_weights(config: RankingConfig) -> dict[str, float]:
    """Weight of each field."""
    return {
        schema.TITLE: config.title,
        schema.TITLE_STEMS: config.title_stem,
        schema.BODY: config.text,
        schema.BODY_STEMS: config.text_stem,
        schema.HEADINGS: config.headings,
        schema.ANCHORS: config.anchors,
        schema.ADDRESS: config.address,
    }
