"""Whether a stored page would be read otherwise by what is known of its site now: told without parsing it.

Three things of a page depend on its site: which of its blocks are no text (`site.judgement`), what belongs to its title
and what to the site's name, and the language of a page that says too little. All that decides them is stored with it.
A page is read again, too, if its fields were taken out by other settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gossamer.crawl.render.choice import RENDERED
from gossamer.model.site import host_of, site_of
from gossamer.parse.language import page_language
from gossamer.parse.title import title_again
from gossamer.site.judgement import Judgement, KnownSite
from gossamer.store.segments import TableFile

_COLUMNS = (
    *("url", "title", "description", "text", "method", "lang", "claimed_lang", "warc_offset", "judged"),
)  # fmt: skip
_judgements = msgspec.msgpack.Decoder(Judgement)


def doubtful_rows(file: TableFile, rows: Mapping[int, str], site: KnownSite, fields: int = 0) -> Iterator[int]:
    """Those of some rows that must be parsed again; `rows`: the URL of each; `fields`: which fields are taken now."""
    for row, page in file.values(rows.keys(), _COLUMNS):
        if page["url"] == rows[row] and _can_be_parsed(page) and _may_differ(page, site, fields):
            yield row


def _can_be_parsed(page: Mapping[str, Any]) -> bool:
    return page["warc_offset"] is not None and not (page["method"] or "").startswith(RENDERED)


def _may_differ(page: Mapping[str, Any], site: KnownSite, fields: int) -> bool:
    if page["judged"] is None:
        return True  # an older version read it
    judged = _judgements.decode(page["judged"])
    if judged.fields != fields:
        return True
    return not judged.is_still_right(site) or _title(page, judged, site) != page["title"] or _speaks(page, site)


def _title(page: Mapping[str, Any], judged: Judgement, site: KnownSite) -> str:
    host = host_of(site_of(page["url"])).removeprefix("www.")
    return title_again(judged.called, host, site.names) if judged.called else page["title"]


def _speaks(page: Mapping[str, Any], site: KnownSite) -> bool:
    """Whether its language is another one now."""
    others = f"{page['title']}\n{page['description'] or ''}"
    claim = page["claimed_lang"] or ""
    return page_language(page["text"] or "", claim, others, site.facts.languages) != (page["lang"] or "")
