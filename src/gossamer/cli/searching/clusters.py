"""`gossamer clusters`: pages that are near-duplicates of each other, and who had the text first."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.views.stories import Story, StoryPage, largest_clusters, story_of
from gossamer.model.counts import counted, noun
from gossamer.operate.canonical import canonical_or_error

_MAX = 10_000


def command(
    url: str = "",
    *,
    limit: int = 20,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the largest clusters of near-duplicates, or the pages of the cluster of URL in order of time.

    Parameters
    ----------
    limit
        List at most this many clusters or pages.
    """
    if not 1 <= limit <= _MAX:
        raise UsageError(f"--limit must be from 1 to {_MAX}")
    with closing(DataFolder(data).read()) as db:
        if url:
            _one(db, url, data, limit, json)
        else:
            _largest(db, limit, json)


def _largest(db: Database, limit: int, json: bool) -> None:
    found = largest_clusters(db, limit)
    if json:
        print_json(found)
        return
    for cluster in found:
        out.print(
            f"{cluster.pages:6} {noun(cluster.pages, 'page ', 'pages')}  {cluster.representative}  ({cluster.reason})",
            markup=False,
        )
    if not found:
        out.print("No two pages are near-duplicates.")


def _one(db: Database, url: str, data: Path, limit: int, json: bool) -> None:
    address = canonical_or_error(url, settings_of_crawl(data))
    story = story_of(db, address, limit)
    if story is None:
        raise UsageError(f"{address} is in no cluster: it is not a document, or too short: see `gossamer explain`")
    if json:
        print_json(story)
        return
    cluster = story.cluster
    pages = counted(cluster.pages, "page")
    out.print(f"cluster {cluster.number}, {pages}", style="bold")
    for place, page in enumerate(story.pages):
        out.print(f"  {_when(page):21} {page.url}{_notes(story, page, place == 0)}", markup=False)
    if cluster.pages > len(story.pages):
        out.print(f"  and {cluster.pages - len(story.pages)} more")


def _when(page: StoryPage) -> str:
    return page.published[:10] if page.published else f"seen {datetime.fromtimestamp(page.seen_at, UTC):%Y-%m-%d %H:%M}"


def _notes(story: Story, page: StoryPage, is_first: bool) -> str:
    if story.cluster.pages == 1:
        return ""
    notes = ["published first" if page.published else "seen first"] if is_first else []
    if page.is_representative:
        notes.append(f"shown in results: {story.cluster.reason}")
    return f"  ({'; '.join(notes)})" if notes else ""
