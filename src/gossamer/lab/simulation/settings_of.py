"""The sites that a simulated crawl may visit."""

from __future__ import annotations

import numpy as np

from gossamer.lab.webs.web import RecordedWeb
from gossamer.model.site import site_of


def sites_of(web: RecordedWeb) -> tuple[str, ...]:
    """The sites of a recording: those of the seeds, and all that got a request."""
    rows = [*web.facts.seeds, *np.flatnonzero(web.fetched).tolist()]
    return tuple(sorted({site_of(web.urls[row]) for row in rows}))
