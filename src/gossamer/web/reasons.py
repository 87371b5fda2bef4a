"""Why search is not available, in a sentence that anybody may read.

What an error says is for the operator: it names files, folders, hosts and databases. Readers get a sentence without
them; the log has the whole.
"""

from __future__ import annotations

import logging

from gossamer.errors import CorruptError, DatabaseError, GossamerError

_WHERE = "The operator can find the cause in the log or with `gossamer doctor`."

log = logging.getLogger(__name__)


def public_reason(error: Exception) -> str:
    """What readers may know of an error: all that it says, where that names no place."""
    if isinstance(error, DatabaseError):  # a server's own words may name it without a slash
        sentence = f"The database of the crawl is not available. {_WHERE}"
    elif isinstance(error, GossamerError) and "/" not in str(error):
        return str(error)
    else:
        what = "The index is damaged" if isinstance(error, CorruptError) else "Search is not available"
        sentence = f"{what}. {_WHERE}"
    log.warning("a request was answered with 503: %s", error)
    return sentence
