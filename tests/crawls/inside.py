"""The verbs, run inside the test's own process: a fraction of the time of a process each.

Only for verbs that end by themselves; whole crawls are started by `crawl_kit`.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from gossamer.cli.main import main


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def gossamer(*arguments: str, data: Path | None = None, stdin: str = "") -> Done:
    """Run one command; `data` becomes `--data`."""
    return done_by(main, [*arguments, *(["--data", str(data)] if data is not None else [])], stdin)


def done_by(program: Callable[[list[str]], int], arguments: list[str], stdin: str = "") -> Done:
    """How a program ended that was given these words."""
    kept = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in kept)
    typed = mock.patch.object(sys, "stdin", io.StringIO(stdin))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), typed:
        code = program(arguments)
    return Done(code, *(stream.getvalue().decode() for stream in kept))


def fails(done: Any, code: int, *phrases: str) -> None:
    """A failure for people: the right exit code, one line that says all of this, no traceback."""
    assert done.code == code, done
    assert done.err.startswith("gossamer: "), done.err
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for phrase in phrases:
        assert phrase in done.err, done.err
