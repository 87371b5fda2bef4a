"""`gossamer config`: what is in force, whether it is right, and all of it as one file."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Debug,
    Json,
    operator_name,
    out,
    print_json,
)
from gossamer.cli.crawling.run import check_commands
from gossamer.clock import SystemClock
from gossamer.console.origins import in_force, sources
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import StorageError, UsageError
from gossamer.model.counts import counted
from gossamer.operate.configuration import contents as configuration
from gossamer.operate.configuration.applying import bring, check
from gossamer.operate.configuration.contents import Configuration
from gossamer.supervise.schedule_runs import plan_of
from gossamer.tables.audit import note

command = App(name="config", help="Show and check the settings; export and import the whole configuration.")

Format = Literal["toml", "json"]


@command.command
def show(
    words: str = "",
    *,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the settings in force that differ from the defaults, and where each comes from.

    Parameters
    ----------
    words
        Only settings with this text in their name, such as `politeness` or `crawl.workers`.
    everything
        Show the defaults, too.
    """
    sections = in_force(settings_of_crawl(data), sources(DataFolder(data)))
    found = [
        (f"{section.name}.{one.name}", one)
        for section in sections
        for one in section.settings
        if (everything or words or not one.is_default) and words.lower() in f"{section.name}.{one.name}".lower()
    ]
    if json:
        print_json([{"name": name, "value": one.value, "origin": one.origin} for name, one in found])
        return
    for name, one in found:
        out.print(f"{name} = {one.value}  # {one.origin}", markup=False)
    if not found:
        out.print("All settings have their defaults." if not words else f"No setting has {words!r} in its name.")


@command.command(name="check")
def check_(*, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Check the settings and the commands of the plan, without running anything."""
    if not data.exists():
        raise UsageError(f"there is no folder {data}: check the name, or create it with `gossamer init {data}`")
    settings = settings_of_crawl(data)
    plan = plan_of(settings.schedules)
    check_commands(plan)
    out.print(f"The settings of {data} are valid. The plan has {counted(plan, 'entry')}.", markup=False)


@command.command
def export(
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    format: Format | None = None,
    secrets: Annotated[bool, Parameter(negative="")] = False,
    data: Data = DEFAULT_DATA,
    debug: Debug = False,
) -> None:
    """Export settings, seeds, rules, filters, mirrors, limits, pauses, removals and alerts as one file.

    Parameters
    ----------
    output
        The file to write; default: standard output.
    format
        Default: by the suffix of the file, otherwise toml.
    secrets
        Include passwords, webhooks and the addresses of feeds. Keep such a file secret.
    """
    folder = DataFolder(data)
    with closing(folder.read()) as db:
        found = configuration.read(folder, db, secrets)
    text = configuration.as_text(found, toml=(format or _format_of(output)) == "toml")
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.touch(0o600 if secrets else 0o644)
        if secrets:
            output.chmod(0o600)  # it may have been there before
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {output}: {error.strerror}: choose another file") from error
    out.print(f"Wrote {output}.", markup=False)


@command.command(name="import")
def import_(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    replace: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Import a file that `export` wrote, and keep everything that the data folder already has.

    Parameters
    ----------
    file
        A TOML or JSON file; `-` reads standard input.
    replace
        Remove everything that the file does not contain, except secrets.
    dry_run
        Show the changes without making them.
    """
    given = configuration.from_text(_read(file), "standard input" if file == "-" else file)
    folder = DataFolder(data)
    present = _present(folder)
    wanted = configuration.with_secrets_of(given, present)
    wanted = wanted if replace else configuration.merged(present, wanted)
    lines = configuration.differences(present, wanted)
    if dry_run:
        check(wanted)
    else:
        now = SystemClock().now()
        bring(folder, present, wanted, now)
        with closing(DataFolder(data).open_database()) as db:
            note(db, now, operator_name(), "import configuration", file, f"{len(lines)} changes")
    if json:
        print_json({"changes": lines, "done": not dry_run})
        return
    for line in lines:
        out.print(line, markup=False)
    out.print(f"{counted(lines, 'change')}{' to make' if dry_run else ' made'}.")


def _present(folder: DataFolder) -> Configuration:
    """What the folder has; nothing where there is no crawl yet."""
    if not folder.has_crawl():
        return Configuration(settings=configuration.read_tables(folder.root))
    with closing(folder.read()) as db:
        return configuration.read(folder, db, secrets=True)


def _format_of(output: Path | None) -> Format:
    return "json" if output is not None and output.suffix == ".json" else "toml"


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text: {error}") from error
