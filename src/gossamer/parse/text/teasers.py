"""Which blocks of a page look like teasers of other pages of its site: what one page alone can say about it.

A teaser is one of several elements side by side that look the same and begin with a link to another page of the site,
as long as a headline. An excerpt below the headline belongs to it. Some of what looks so is text: a paragraph may begin
with a link, and a list of chapters is the text of its page. The site decides (`site.view`).
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from gossamer.parse.text.measures import LEVELS, Measures

Booleans = npt.NDArray[np.bool_]

_HEADLINE = 15
"""Letters of a link from which it may be a headline: "Read more" is shorter, and so are most names of people."""
_BLOCKS = 8
"""Blocks of one teaser at most: picture, date, headline, excerpt, author, tags."""
_LINKS, _LINKED = 3, 0.8
"""Links of a block, and the share of it that they make, from which the block is a list of links by itself."""
_TARGET = re.compile(r"\s*(?:(?:https?:)?//(?:www\.)?([^/?#]*))?([^#]*)", re.I)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def teasers(measures: Measures, url: str) -> Booleans:
    """Which blocks look like teasers of other pages."""
    inward, others = _links(measures, url)
    headlines = (inward > 0) & (others == 0) & (measures.linked >= _HEADLINE * inward)
    lists = (inward >= _LINKS) & (others == 0) & (measures.density > _LINKED)
    last = measures.count - 1
    begins = headlines[np.minimum(measures.first, last)]
    begins |= headlines[np.minimum(measures.first + 1, last)] & (measures.end - measures.first > 1)
    entries = begins & (measures.twins > 1) & (measures.end - measures.first <= _BLOCKS)
    found: Booleans = lists | entries[measures.around[:LEVELS]].any(axis=0)
    return found


def _links(measures: Measures, url: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each block to how many other pages of the site its links lead, and to how many of other sites."""
    counts = np.zeros((2, measures.count + 1), np.int64)
    _, _, rest = url.partition("://")
    host, slash, path = rest.removeprefix("www.").partition("/")
    own = (slash + path, path.rpartition("/")[2], "")
    for block, target in set(measures.page.targets):
        found = _TARGET.match(target)
        if found is None or found[2] in own or (not found[1] and _OTHER_SCHEME.match(found[2])):
            continue
        counts[int(bool(found[1]) and found[1] != host), block] += 1
    return counts[0, :-1], counts[1, :-1]
