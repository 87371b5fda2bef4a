"""The entry point: verbs, errors and exit codes (0 done, 1 failed, 2 wrong usage)."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from cyclopts import App, CycloptsError

from gossamer import __version__, logs
from gossamer.cli.common import DEFAULT_DATA, err, out
from gossamer.cli.usage import sentence_of
from gossamer.cli.verbs import VERBS, module_of
from gossamer.data.logged import configure_logs
from gossamer.errors import GossamerError, UsageError

WHAT_IT_IS = "A polite, crash-safe web crawler with a search engine built in"

FIRST = f"""Gossamer {__version__}: {WHAT_IT_IS[0].lower()}{WHAT_IT_IS[1:]}

Get started:

  gossamer demo                  crawl a small bundled web and search it, without a network
  gossamer crawl https://example.org/ --contact you@example.org
                                 crawl a site into the folder {DEFAULT_DATA}
  gossamer search WORDS          search the crawled pages
  gossamer serve                 open the search page and the console in your browser

  gossamer --help                list all commands
  gossamer COMMAND --help        show the options of one of them"""
"""What somebody sees who types nothing but the name."""

log = logging.getLogger(__name__)


def run() -> None:
    """What the `gossamer` script calls."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command."""
    _configure_logging(arguments)

    def command() -> None:
        _check_folder(_data_folder(arguments))
        command_line(all_verbs=arguments[0] in ("--help", "-h"))(arguments, exit_on_error=False, print_error=False)

    if not arguments:
        out.print(FIRST, markup=False)
        return 0
    if arguments == ["--version"]:
        from gossamer.cli.versions import versions

        print(versions())
        return 0
    return guarded(command, debug="--debug" in arguments)


def guarded(command: Callable[[], object], debug: bool) -> int:
    """Run a command; its exit code. Errors for people are one line, tracebacks only with --debug."""
    try:
        command()
        sys.stdout.flush()
    except CycloptsError as error:
        return _failed(sentence_of(error), 2, debug)
    except GossamerError as error:
        return _failed(str(error), error.exit_code, debug)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _forget_output()
        return 0
    except SystemExit as done:
        return int(done.code or 0)
    except Exception as error:
        text = f"{type(error).__name__}: {error}: this is a bug; please report the output of --debug"
        return _failed(text, 1, debug)
    return 0


def command_line(all_verbs: bool) -> App:
    """The command line. Only the verb that is asked for is imported, which saves half a second; the overview shows
    a sentence of each, so it imports all of them."""
    app = App(
        name="gossamer",
        help=f"{WHAT_IT_IS}.",
        version=__version__,
        version_flags=["--version"],
    )
    for verb in VERBS:
        module = module_of(verb)
        app.command(import_module(module).command if all_verbs else f"{module}:command", name=verb)
    return app


def _failed(text: str, code: int, debug: bool) -> int:
    """One line for a person; the traceback too where it was asked for."""
    if logs.is_json():
        log.error("%s", text, exc_info=debug)
        return code
    if debug:
        traceback.print_exc()
    err.print("[red]gossamer:[/red]", end=" ")
    err.print(" ".join(text.split()), markup=False)
    return code


def _forget_output() -> None:
    """The reader has left (`| head`): what is still buffered must not fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _configure_logging(arguments: list[str]) -> None:
    """By the data folder that the command line names; a settings file that is wrong is for the verb to complain of."""
    verb = next((word for word in arguments if word in VERBS), "")
    configure_logs(_data_folder(arguments), {"serve": "server", "jobs": "job"}.get(verb, verb))


def _check_folder(data: Path) -> None:
    """A file where a folder is wanted; one that is not there yet may be made."""
    with suppress(OSError):  # of a folder that may not be looked into, whoever opens it tells
        file = next((path for path in (data, *data.parents) if path.exists()), data)
        if file.exists() and not file.is_dir():
            raise UsageError(f"--data {data}: {file} is a file; name the folder of a crawl, or a new folder")


def _data_folder(arguments: list[str]) -> Path:
    for word, after in pairwise([*arguments, ""]):
        if word.startswith("--data="):
            return Path(word.removeprefix("--data="))
        if word == "--data" and after:
            return Path(after)
    return DEFAULT_DATA
