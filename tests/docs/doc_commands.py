"""The commands of a page of the documentation.

They stand in fenced blocks of the language `console`, after a `$`; a line that ends in a backslash goes on in the
next one, a here-document until its end, other lines are what is printed. A comment of the page may say more:

    <!-- run: COMMAND -->        is run as well, unseen: what a reader has done before
    <!-- file: NAME -->          before a block of any language: a file that a reader writes, or adds to
    <!-- stop -->                the reader ends with Ctrl-C what runs until it is stopped
    <!-- not run: REASON -->     before a block: it needs what a test cannot have
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PIECE = re.compile(
    r"<!-- run: (?P<hidden>.+?) -->|<!-- not run: (?P<reason>.+?) -->|<!-- file: (?P<file>\S+) -->"
    r"|(?P<stop><!-- stop -->)|^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_HERE = re.compile(r"<<'(\w+)'")
_LASTING = re.compile(r"^gossamer (serve|run|work|index .*--follow|crawl .*--(watch|serve))\b")
STOP = "stop"
"""The command that ends what lasts."""


class Step(NamedTuple):
    """One command of a page."""

    command: str
    reason: str = ""
    """Why it is not run; empty where it is."""

    @property
    def is_lasting(self) -> bool:
        """Whether it runs until it is stopped."""
        return bool(_LASTING.match(self.command))


def steps_of(page: Path) -> list[Step]:
    """The commands of a page, in order."""
    steps, reason, file = [], "", ""
    for piece in _PIECE.finditer(page.read_text(encoding="utf-8")):
        if piece["hidden"]:
            steps.append(Step(piece["hidden"]))
        elif piece["stop"]:
            steps.append(Step(STOP))
        elif piece["file"]:
            file = piece["file"]
            continue
        elif file:
            steps.append(Step(f"cat >> {file} <<'WRITTEN'\n{piece['body'] or ''}WRITTEN"))
        elif piece["reason"]:
            reason = piece["reason"]
            continue
        elif piece["language"] == "console":
            steps += [Step(command, reason) for command in commands_of(piece["body"])]
        reason = file = ""
    return steps


def commands_of(block: str) -> Iterator[str]:
    """The commands of a block, each with its here-document."""
    lines = iter(block.splitlines())
    for line in lines:
        if not line.lstrip().startswith("$ "):
            continue
        command = line.lstrip()[2:]
        while command.endswith("\\"):
            command = command[:-1].rstrip() + " " + next(lines).strip()
        if here := _HERE.search(command):
            body = itertools.takewhile(lambda one: one != here[1], lines)
            yield "\n".join([command, *body, here[1]])
        else:
            yield re.sub(r"\s{2,}# .*$", "", command).strip()
