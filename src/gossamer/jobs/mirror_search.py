"""Finds mirrors among all sites: those with the same pages at the same paths.

The crawl counts signs as pages come and compares a sample; here all pages that were read meet by path. First, pairs of
sites with enough equal pages are found; then those pairs are compared at every path that both have been read at, by the
likeness and the verdict of the crawl (`frontier.copies.mirror_compare`, `dedup.mirrors`). Nothing is changed: the
report
lists what was found, and where the crawl has decided otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
import pyarrow as pa

from gossamer.database.database import Database
from gossamer.dedup.mirrors import MIN_SAME, Evidence, SiteFacts, declare, follow
from gossamer.frontier.copies.mirror_table import active, is_rejected, scheme_of
from gossamer.frontier.views.seed_list import is_seed_site
from gossamer.frontier.views.sites import added_at, documents_kept
from gossamer.jobs.context import JobContext, numbered, put_table, run_stage
from gossamer.jobs.mirror_signs import MirrorTask, Pair, Signs, compare_paths, count_pairs, pages_by_path
from gossamer.jobs.url_table import export_urls

MIRRORS = pa.schema(
    [
        ("site", pa.string()),
        ("main", pa.string()),
        ("verdict", pa.string()),
        ("live", pa.string()),
        ("reason", pa.string()),
        ("same", pa.int64()),
        ("compared", pa.int64()),
        ("equal", pa.int64()),
        ("exact", pa.int64()),
    ]
)
ORDER = ("site", "main")
MIRROR, UNDECIDED = "mirror", "undecided"
_ROWS_OF_A_PART = 200_000


class MirrorPair(msgspec.Struct, frozen=True):
    """Two sites with many equal pages."""

    site: str
    main: str
    verdict: str
    """mirror, or undecided if the evidence is not enough."""
    live: str
    """The crawl's decision about the two: mirror, rejected (by the operator), or nothing."""
    reason: str
    same: int
    compared: int
    equal: int
    exact: int


class MirrorReport(msgspec.Struct, frozen=True):
    """What was found."""

    pages: int
    """Pages compared: those that were read and have something to compare."""
    mirrors: int
    pairs: list[MirrorPair]
    only_live: list[Pair]
    """Mirrors of the crawl that are none by the stored pages."""


def mirror_search(context: JobContext) -> tuple[MirrorReport, list[str]]:
    """Look for mirrors among all sites; returns the report and the name of its Parquet file."""
    urls = export_urls(context)
    parts = context.parts_for(urls.rows, _ROWS_OF_A_PART)
    pages = [numbered("paths", number) for number in range(len(urls.names))]
    tasks = [MirrorTask(context.work, [file], 0, parts, name) for file, name in zip(urls.names, pages, strict=True)]
    count = sum(run_stage(context, "pages by path", pages_by_path, tasks))
    likely = _paired(context, pages, parts, "signs", [])
    pairs = sorted(pair for pair, signs in likely.items() if signs.same >= MIN_SAME)
    signs = _paired(context, pages, parts, "pairs", pairs) if pairs else {}
    found = list(_verdicts(context.db, signs))
    known = {tuple(sorted((one.site, one.main))) for one in found if one.verdict == MIRROR}
    missing = [pair for pair in sorted(active(context.db).items()) if tuple(sorted(pair)) not in known]
    put_table(context.place, "mirrors.parquet", pa.Table.from_pylist(msgspec.to_builtins(found), MIRRORS))
    return MirrorReport(count, len(known), found, missing), ["mirrors.parquet"]


def _paired(context: JobContext, pages: list[str], parts: int, stage: str, pairs: list[Pair]) -> dict[Pair, Signs]:
    """Signs by pair of sites: of likely pairs, or of these pairs and of all their paths."""
    signs = [numbered(stage, part) for part in range(parts)]
    tasks = [MirrorTask(context.work, pages, part, parts, name, pairs) for part, name in enumerate(signs)]
    run_stage(context, "equal pages" if not pairs else "comparing sites", compare_paths, tasks)
    tasks = [MirrorTask(context.work, signs, part, parts, "", pairs) for part in range(parts)]
    found = run_stage(context, "counting pairs", count_pairs, tasks)
    return {pair: signs for part in found for pair, signs in part}


def _verdicts(db: Database, signs: Mapping[Pair, Signs]) -> Iterator[MirrorPair]:
    mains = active(db)
    for (one, other), found in sorted(signs.items()):
        facts = _facts(db, one, found.one_named), _facts(db, other, found.other_named)
        evidence = Evidence(*facts, found.same, found.compared, found.same, found.exact)
        declared = declare(evidence)
        live = "mirror" if follow(mains, one) == follow(mains, other) else ""
        if is_rejected(db, one, other):
            live = "rejected"
        yield MirrorPair(
            declared.site if declared else one,
            declared.main if declared else other,
            MIRROR if declared else UNDECIDED,
            live,
            declared.reason if declared else "too many of their pages differ, even if only a little",
            found.same,
            found.compared,
            found.same,
            found.exact,
        )


def _facts(db: Database, site: str, named: int) -> SiteFacts:
    is_secure = scheme_of(db, site) == "https"
    return SiteFacts(site, added_at(db, site), named, is_seed_site(db, site), is_secure, documents_kept(db, site))
