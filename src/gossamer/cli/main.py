"""The entry point: verbs, errors and exit codes (0 done, 1 failed, 2 wrong usage)."""

from __future__ import annotations

import sys

import structlog
from cyclopts import App, CycloptsError

from gossamer import __version__
from gossamer.cli import crawl, demo, explain, export, history, init, inject, recrawl, remove, status, work
from gossamer.cli.common import err
from gossamer.errors import GossamerError

app = App(
    name="gossamer",
    help="A web crawler whose quality is assured, and the search engine it feeds.",
    version=__version__,
    version_flags=["--version"],
)
for verb in (init, crawl, work, status, explain, history, inject, recrawl, remove, export, demo):
    app.command(verb.command, name=verb.__name__.rpartition(".")[2])


def run() -> None:
    """What the `gossamer` script calls."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command; errors for people are one line, tracebacks only with --debug."""
    _configure_logging()
    debug = "--debug" in arguments
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        err.print(f"[red]gossamer:[/red] {_one_line(str(error))}")
        err.print("Try `gossamer --help`.", style="dim")
        return 2
    except GossamerError as error:
        if debug:
            raise
        err.print("[red]gossamer:[/red]", end=" ")
        err.print(str(error), markup=False)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("[", r"\[")


def _configure_logging() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
