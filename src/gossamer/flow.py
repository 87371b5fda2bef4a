"""THE MAP: the stages in order, what each reads and writes, and where its code lies.

A URL goes round this list once for every visit; a page that is kept goes on to the index,
where readers find it. Three things hold state — the frontier database, the segments, the
files of the operator — and everything between them is a function; the index is a view of
the first two. `ARCHITECTURE.md` tells the same in prose; a test keeps both in step with
the folders.
"""

from __future__ import annotations

from typing import NamedTuple


class Stage(NamedTuple):
    """One step of the flow."""

    name: str
    code: str
    """The module or folder of `gossamer` that does it."""
    reads: str
    writes: str
    promise: str


FLOW: tuple[Stage, ...] = (
    Stage("discover", "discover", "seeds, sitemaps, feeds, push", "Discovered", "a wrong seed is an error at once"),
    Stage("canonical form", "model/url.py", "links", "canonical URLs", "equal strings mean the same page"),
    Stage("scope", "scope", "canonical URLs", "Decision", "who refused a URL, and why, is known"),
    Stage("priority", "priority", "Discovered, links", "a level of 0…31", "first in, first out inside a level"),
    Stage("revisit", "revisit", "visits, changes", "the next visit", "the budget is kept; no page is forgotten"),
    Stage("frontier", "frontier", "Discovered", "Lease, Task", "one owner per site; nothing leaves the queue undone"),
    Stage("parts", "partition", "the links of a large site", "Assignment", "each URL has one part"),
    Stage("worker", "crawl", "Lease", "Result", "at most one request at a time per site and address"),
    Stage("robots", "robots", "robots.txt", "Decision or a time", "no answer is never a permission"),
    Stage("fetch", "fetch", "Task", "Response", "whatever a server does becomes an Outcome"),
    Stage("parse", "parse", "ParseJob", "Parsed", "bounded time and memory, in a process of its own"),
    Stage("categories", "categories", "title, text", "a category, or none", "unsure is an answer"),
    Stage("fingerprint", "dedup", "text", "content hash, fingerprint", "equal texts have equal hashes"),
    Stage("store", "store", "Result", "segments", "synced before they count"),
    Stage("clusters", "frontier/copies/clusters.py", "fingerprints", "clusters", "a document is in one"),
    Stage("report", "frontier/recording.py", "Batch", "the frontier database", "one transaction decides and records"),
    Stage("jobs", "jobs", "all segments", "graph, clusters, shards", "a task may run any number of times, anywhere"),
    Stage("engine", "engine", "tasks", "their results", "the same on one core and on a cluster"),
    Stage("ranks", "graph", "the link graph", "ranks of pages and hosts", "the same from any start"),
    Stage("index", "index", "changes, segments", "the index", "a commit and its position in the crawl are one rename"),
    Stage("search", "search", "queries, the index", "Results", "nothing typed is an error; every score is explained"),
    Stage("web", "web", "Results", "pages, JSON, feeds", "what a crawled page says is text, never markup"),
)  # fmt: skip
