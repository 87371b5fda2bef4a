"""The map: what happens to a URL, step by step, and where the code of each step is.

A URL goes down this list once for every visit; a page that is kept goes on to the index, where readers find it. Three
things hold state: the frontier database, the segments, and the operator's settings. Everything between them is a
function or a process that you can kill.

The numbered list in ARCHITECTURE.md and the picture in README.md are made from this file:
`python -m reference.flow README.md ARCHITECTURE.md` writes them. A test checks that both are up to date, and that every
module of the core rooms belongs to a step.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CORE = (
    "categories", "crawl", "database", "dedup", "discover", "engine", "fetch", "frontier", "graph", "index", "indexer",
    "jobs", "parse", "partition", "priority", "revisit", "robots", "scope", "search", "site", "store", "supervise",
    "upkeep", "web",
)  # fmt: skip
"""The rooms that a URL passes through."""


class Step(NamedTuple):
    """One step of the way."""

    name: str
    text: str
    """What happens, for ARCHITECTURE.md."""
    code: tuple[str, ...]
    """Modules, and folders that end in a slash, below `src/gossamer`."""
    drawn: str = ""
    """Its word in the picture; empty: it is not drawn."""


FLOW: tuple[Step, ...] = (
    Step(
        "start",
        "`gossamer crawl` starts a **supervisor**. It recovers what a killed crawl left behind, adds your seeds, "
        "applies changed settings to what the old ones decided, starts workers and an indexer, and restarts whatever "
        "dies. All these processes are forks of a **nursery**, which has loaded what they need.",
        ("supervise/",),
    ),
    Step(
        "discover",
        "URLs come from **seeds** (arguments, files, standard input), from the links of pages, from **sitemaps** and "
        "**feeds**, and from hubs that **push** news to the server.",
        ("discover/", "frontier/subscriptions.py"),
        "discover",
    ),
    Step(
        "canonical form",
        "Every link is rewritten into its **canonical form**. Equal strings then mean the same page.",
        ("model/url.py",),
        "canonical",
    ),
    Step(
        "scope",
        "The **scope** decides: hosts first, then filters, then guards against traps, then filters that the crawler "
        "made itself. The first refusal is final and is stored with its reason. The scope is asked when a URL is found "
        "and again before it is fetched, because you may have changed the rules in between.",
        ("scope/", "crawl/scope.py", "crawl/live_rules.py"),
        "scope",
    ),
    Step(
        "level",
        "**Strategies** score the URL. The product of the scores picks one of 32 levels; each level is first in, first "
        "out. Links that are found later may raise a URL.",
        ("priority/", "frontier/standing.py", "frontier/depths.py"),
        "level",
    ),
    Step(
        "intake",
        "The **frontier** stores the URL once, within the budgets: URLs per site, sites, URLs of one shape. A bounded "
        "memory of known keys saves most links a query. The contract names what every frontier promises.",
        ("frontier/contract.py", "frontier/guidance.py", "frontier/intake.py", "frontier/seen.py",
         "frontier/queueing.py", "frontier/sql.py", "frontier/steering/", "database/"),
        "FRONTIER",
    ),
    Step(
        "lease",
        "A **worker** leases sites, not URLs, and gets the best due URLs of each. Only the owner of a lease talks to "
        "the site. A worker that gives no sign of life loses its leases. A large site can be split into **parts** that "
        "are leased separately.",
        ("frontier/leases.py", "frontier/handing_out.py", "frontier/partitions.py", "partition/", "crawl/worker.py",
         "crawl/worker_process.py", "crawl/session.py", "crawl/bound_frontier.py", "crawl/held_site.py",
         "crawl/life.py", "crawl/alive/heartbeat.py", "crawl/alive/signs.py", "crawl/thread.py", "crawl/seams.py"),
    ),
    Step(
        "wait",
        "For each leased site a **runner** takes URL after URL. The site's **channel** waits until the site and its IP "
        "address may be asked again. The rules of politeness are pure; only the channel waits.",
        ("crawl/runner.py", "crawl/channel.py", "crawl/addresses.py", "crawl/borrowing.py", "frontier/politeness.py"),
    ),
    Step(
        "robots.txt",
        "**robots.txt** says allow, deny or come back later. No answer never counts as permission.",
        ("robots/", "crawl/robots.py"),
        "robots",
    ),
    Step(
        "fetch",
        "**Fetch** makes one request, one hop, to an address that was checked and pinned. Whatever the server does "
        "becomes an outcome. A redirect is an outcome, too: its target goes back to step 3. `gossamer import` takes "
        "responses from archives of other programs instead, without a request.",
        ("fetch/", "crawl/archived/"),
        "fetch",
    ),
    Step(
        "parse",
        "A **parser process** decodes the body and reads title, links, dates and other metadata. The main text is "
        "what a document rule cuts out; without a rule, it is what the block model finds, or what the structured data "
        "states if the page shows less. Language, category and fingerprints follow. A parser may crash or hang without "
        "harm. A page that is empty without its scripts is **rendered** by a Chromium that has no network of its own, "
        "and parsed again.",
        ("parse/", "categories/", "dedup/", "crawl/parsers.py", "crawl/parser_config.py", "crawl/parser_process.py",
         "crawl/parser_fork.py", "crawl/reading.py", "crawl/page_parsing.py", "crawl/render/"),
        "parse",
    ),
    Step(
        "result",
        "The response and what the parser found become a **result**: outcome, page row, links, new URLs. Results are "
        "collected for half a second at most. Then the worker writes and syncs the **segment**: raw responses and "
        "links. Runners wait while more is fetched than the worker commits in a second.",
        ("store/", "crawl/understand.py", "crawl/pending.py", "crawl/commit_queue.py", "crawl/lookahead.py"),
        "SEGMENTS",
    ),
    Step(
        "commit",
        "**One transaction** checks the leases, decides which pages are duplicates, puts documents into clusters of "
        "near-duplicates, has the page rows written and synced, and records outcomes, new URLs, politeness clocks and "
        "the segment under the next **change** number. A URL leaves the queue only in this transaction.",
        ("frontier/recording.py", "frontier/copies/", "frontier/changes.py", "frontier/extraction.py",
         "frontier/prefixes.py"),
    ),
    Step(
        "know the site",
        "The same transaction **learns the site**: it keeps a sample of the site's documents, and from time to time "
        "works out which lines, elements and parts of titles they share. Parsers leave these out of the next pages. "
        "Pages that were read before are judged again from their stored responses, without a request.",
        ("site/", "frontier/knowledge.py", "frontier/rereading.py", "crawl/again/"),
    ),
    Step(
        "next visit",
        "The same transaction plans the **next visit**: of a page by how often it changes and by your budget, of a "
        "feed, sitemap or start page by how often it has news.",
        ("revisit/", "frontier/revisits.py", "frontier/freshness.py", "frontier/sources.py"),
    ),
    Step(
        "chores",
        "Now and then a process of its own does a **chore**: it merges small segments, deletes superseded visits, "
        "forgets old changes, splits large sites, looks for URL groups that never led to a useful page, or ranks pages "
        "and hosts by their links. Views read the tables for status and console.",
        ("upkeep/", "graph/", "frontier/views/"),
    ),
    Step(
        "jobs",
        "**Jobs** compute over all segments at once: the link graph, near-duplicate clusters, mirrors, statistics, "
        "whole indexes. They are pure tasks, files in and files out, and run on the **engine** that the settings name.",
        ("jobs/", "engine/"),
    ),
    Step(
        "follow",
        "The **indexer**, a process of its own, looks for new changes several times a second. It reads their segments "
        "and asks the database which pages are documents now, and which are gone.",
        ("indexer/",),
        "indexer",
    ),
    Step(
        "index",
        "Each page is **analysed** twice: as it is written, and as stems, character pairs and dictionary words. It is "
        "indexed together with the texts of links that point to it. One rename commits pages, deletions and the number "
        "of the last change.",
        ("index/",),
        "INDEX",
    ),
    Step(
        "search",
        "A **search** parses what a reader typed, asks the index, adds priors to the best hits, shows one page of each "
        "cluster and cuts excerpts. Totals, pages and facets count clusters. If nothing matches, it tries the query "
        "another way and says so. The next search after a commit sees it.",
        ("search/",),
        "search",
    ),
    Step(
        "server",
        "The **server** shows the results as pages, JSON and feeds. It answers on few threads, within limits.",
        ("web/",),
        "web",
    ),
)  # fmt: skip


def step_of(module: str) -> Step | None:
    """The step that names a module (`crawl/runner.py`) or its folder."""
    return next((step for step in FLOW for code in step.code if module == code or _within(module, code)), None)


def _within(module: str, code: str) -> bool:
    return code.endswith("/") and module.startswith(code)


def numbered() -> str:
    """The list for ARCHITECTURE.md."""
    lines: list[str] = []
    for number, step in enumerate(FLOW, 1):
        code = ", ".join(f"`{code}`" for code in step.code)
        lines += textwrap.wrap(
            f"{number}. {step.text} — {code}", 120, subsequent_indent="   ", break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def picture() -> str:
    """The picture for README.md: the way down to the segments with the links going back up, then on to the readers."""
    drawn = [step for step in FLOW if step.drawn]
    turn = next(place for place, step in enumerate(drawn) if step.drawn == "SEGMENTS") + 1
    words, code = _lines(drawn[:turn])
    back, links = words.index("canonical"), words.index("parse")
    up = " " * back + "▲" + " " * (links - back - 1) + "│"
    along = " " * back + "└" + " links ".center(links - back - 1, "─") + "┘"
    end, below = _lines(drawn[turn:])
    return "\n".join([words, code, up, along, "", f"SEGMENTS ─▶ {end} ─▶ readers", " " * 12 + below])


def _lines(steps: Sequence[Step]) -> tuple[str, str]:
    words, code = [], []
    for step in steps:
        room = step.code[0].partition("/")[0]
        where = f"{room}/" if room in CORE else step.code[0]
        width = max(len(step.drawn), len(where))
        words.append(step.drawn + " " + "─" * (width - len(step.drawn)) + "─▶ ")
        code.append(where.ljust(width) + "    ")
    return "".join(words).rstrip(" ─▶"), "".join(code).rstrip()


def rewritten(text: str) -> str:
    """A page with its `<!-- flow -->` or `<!-- picture -->` blocks made anew."""
    for name, made in (("flow", numbered()), ("picture", f"```text\n{picture()}\n```")):
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        if begin in text:
            head, _, rest = text.partition(begin)
            text = f"{head}{begin}{made}{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(rewritten(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
