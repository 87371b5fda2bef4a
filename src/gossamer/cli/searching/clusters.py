"""`gossamer clusters`: pages that are near duplicates of each other, and who had the text first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
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
    method: str = "",
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the largest clusters of near duplicates, or the pages of URL's cluster in order of time.

    Parameters
    ----------
    limit
        Clusters or pages at most.
    method
        Compare all stored pages again by this method, and with what the crawl decided: imatch, imatch-lexicons,
        topk, shingles, minhash, supershingles or simhash.
    """
    if not 1 <= limit <= _MAX:
        raise UsageError(f"--limit must be from 1 to {_MAX}")
    if method and url:
        raise UsageError("--method compares all pages: leave the URL out")
    db = DataFolder(data).read()
    try:
        if method:
            _compare(data, db, method, limit, json)
        elif url:
            _one(db, url, data, limit, json)
        else:
            _largest(db, limit, json)
    finally:
        db.close()


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
        out.print("No two pages are near duplicates.")


def _compare(data: Path, db: Database, method: str, limit: int, json: bool) -> None:
    from gossamer.dedup.near.registry import METHODS
    from gossamer.operate.clustering import compare

    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}: there are {', '.join(METHODS)}")
    with err.status(f"comparing all pages by {method}"):
        found = compare(DataFolder(data), db, method)
    if json:
        print_json(found)
        return
    for urls in found.clusters[:limit]:
        out.print(f"{len(urls):6} {noun(len(urls), 'page ', 'pages')}  {urls[0]}", markup=False)
    together = sum(map(len, found.clusters))
    out.print(
        f"{counted(found.pages, 'document')}, {found.compared} long enough; "
        f"{together} {noun(together, 'is a near duplicate', 'are near duplicates')} in "
        f"{counted(found.clusters, 'cluster')} by {method}. Only "
        f"{method} finds a like for {counted(found.only_here, 'page')}, "
        f"only the crawl for {found.only_there}."
    )


def _one(db: Database, url: str, data: Path, limit: int, json: bool) -> None:
    address = canonical_or_error(url, settings_of_crawl(data))
    story = story_of(db, address, limit)
    if story is None:
        raise UsageError(f"{address} is in no cluster: it is no document, or too short: see `gossamer explain`")
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
