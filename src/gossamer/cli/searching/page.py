"""`gossamer page URL`: the stored text of a page, as text or Markdown."""

from __future__ import annotations

import sys
from typing import Literal

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, print_json
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.page_markdown import document_markdown
from gossamer.errors import UsageError
from gossamer.frontier.steering.removals import removal_of
from gossamer.operate.canonical import canonical_or_error


def command(
    url: str,
    *,
    format: Literal["markdown", "text"] = "markdown",
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the main text of the stored page URL.

    Parameters
    ----------
    format
        markdown: with headings, lists, tables, code and links, as far as the raw response is stored; text: as it is in
        the index.
    """
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    db, address = folder.read(), canonical_or_error(url, settings)
    if (removal := removal_of(db, address)) is not None:
        raise UsageError(f"{address} was taken down ({removal.reason}): Gossamer does not show its stored pages")
    found = document_markdown(folder, settings, lambda question: question(db), address)
    if found is None:
        raise UsageError(f"{address} is not a document of this crawl: `gossamer explain {address}` tells why")
    page, markdown = found
    text = markdown.text if format == "markdown" else page.text or ""
    if json:
        facts = {name: getattr(page, name) for name in ("url", "title", "date", "lang", "fetched_at")}
        print_json({**facts, "format": format, "is_structured": markdown.is_structured, "text": text})
    else:
        sys.stdout.write(f"{text}\n")
