"""What the verbs share: the data folder, output, errors."""

from __future__ import annotations

import getpass
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import orjson
from cyclopts import Parameter
from rich.console import Console

from gossamer.cli.usage import no_option
from gossamer.errors import UsageError

Data = Annotated[Path, Parameter(name="--data", help="Data folder: settings, database, segments and index.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]
Debug = Annotated[bool, Parameter(name="--debug", negative="", help="Show tracebacks.")]

Database = Annotated[
    str | None,
    Parameter(
        name="--database",
        help="Database server for many machines: postgresql://user@host/name. The data folder remembers it.",
    ),
]
Segments = Annotated[
    str | None,
    Parameter(
        name="--segments",
        help="Where to store segments: a shared folder or s3://bucket/prefix. The data folder remembers it.",
    ),
]

Seeds = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A seed; `-` is one, so unknown options end up here and must be told apart by `check_seeds`."""

DEFAULT_DATA = Path("gossamer-data")

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def check_seeds(seeds: Sequence[str], verb: str) -> None:
    """Refuse what looks like an option: one that the verb does not have."""
    for seed in seeds:
        if seed.startswith("-") and seed != "-":
            raise UsageError(no_option(seed, [verb]))


def operator_name() -> str:
    """Who gives commands, for the audit log: `cli:` and the name by which the operating system knows them."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name, as containers have
        return f"cli:{os.getuid()}"


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    data = orjson.dumps(msgspec.to_builtins(value), option=orjson.OPT_INDENT_2)
    sys.stdout.write(data.decode() + "\n")


def seconds(text: str) -> float:
    """A duration such as `90`, `90s`, `10m`, `2h` or `1d`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if not match:
        raise UsageError(f"{text!r} is not a duration: write 90s, 10m, 2h or 1d")
    return float(match[1]) * _UNITS[match[2]]


def size(count: float) -> str:
    """Bytes for a person."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def duration(count: float) -> str:
    """Seconds for a person."""
    count = max(0.0, count)
    if count < 100:
        return f"{count:.0f} s"
    if count < 6000:
        return f"{count / 60:.0f} min"
    if count < 100 * 3600:
        return f"{count / 3600:.1f} h"
    return f"{count / 86_400:.0f} days"
