"""The verbs of the command line, in the order of `gossamer --help`, and the module of each."""

from __future__ import annotations

_FOLDERS = {
    "crawling": "init crawl demo import inject recrawl run schedules work",
    "searching": "clusters evaluate export history index jobs mcp mirrors page rank search serve sync",
    "operating": "accounts alerts audit backup categories completion config desk doctor explain feeds filters limit "
    "partition pause qrank remove restore resume rules stats status",
}
_FOLDER = {verb: folder for folder, verbs in _FOLDERS.items() for verb in verbs.split()}

VERBS = (
    "init", "crawl", "search", "serve", "index", "work", "status", "explain", "history", "page", "clusters",
    "inject", "import", "recrawl", "remove", "pause", "resume", "limit", "rules", "mirrors", "feeds", "stats",
    "filters", "partition", "rank", "qrank", "export", "sync", "jobs", "categories", "evaluate", "doctor", "lab",
    "demo", "run", "schedules", "backup", "restore", "config", "accounts", "audit", "alerts",
    "desk", "mcp", "completion",
)  # fmt: skip


def module_of(verb: str) -> str:
    """The module of a verb; it has a function, or an app of several, called `command`."""
    name = "import_archives" if verb == "import" else verb  # a word of Python names no module
    return "gossamer.cli.lab" if verb == "lab" else f"gossamer.cli.{_FOLDER[verb]}.{name}"
