"""What of a page is compared with other pages, to find near-duplicates.

A post that is one link, beside fifty buttons and a sidebar, has hardly a word of its own: nine tenths of its runs of
words are those of every other page of the site. So the title counts on a page whose text is mostly links. It stands
for `SHARE` of the words, which is enough that two such pages with different titles are never near-duplicates, and two
with the same title are so as before. Lists are compared by what they list: 500 tags that name the same article are one
result.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from gossamer.model.page_types import LISTS

SHARE = 0.2
"""With a share of *s*, two pages that differ in nothing but their titles overlap by 1 / (1 + 2 *s*): .71."""


def own_text(title: str, text: str, page_type: str, anchors: Iterable[str], is_rest: bool = False) -> str:
    """The text to compare; on a page of links that is no list, after words that stand for its title. `is_rest`: the
    text is the little that is left without what the site repeats, and the title counts, too."""
    if page_type in LISTS:
        return text
    links = set(anchors)
    linked = sum(len(line) for line in text.split("\n") if line in links)
    if 2 * linked <= len(text) and not is_rest:
        return text
    name = blake2b(" ".join(title.lower().split()).encode("utf-8", "replace"), digest_size=6).hexdigest()
    marks = " ".join(f"{name}{number}" for number in range(int(SHARE * len(text.split())) + 4))
    return f"{marks}\n{text}"


def own_title(title: str, page_type: str) -> str:
    """The title by which short texts are compared; none of lists, which what they list tells apart."""
    return "" if page_type in LISTS else title
