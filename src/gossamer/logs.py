"""What every process writes on standard error: lines for people, or a JSON object a line for programs.

One line is one event, whatever is in it: what a page, a server or a reader sent may stand in a message, and must not be
able to begin a line of its own or to move a terminal's cursor. In JSON a traceback is one field; for people it follows
the line, indented, so that nothing in it can be taken for another event.

`configure` is called once by each process. `GOSSAMER_LOG_FORMAT` and `GOSSAMER_LOG_LEVEL` win over the settings. What
was chosen is handed on in the environment, to processes that are given no settings (`inherit`).
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

FORMATS = ("plain", "json")
LEVELS = ("debug", "info", "warning", "error")
FORMAT_VARIABLE, LEVEL_VARIABLE = "GOSSAMER_LOG_FORMAT", "GOSSAMER_LOG_LEVEL"

_INHERITED = "GOSSAMER_LOG_INHERITED"
_OWN = "gossamer"
"""The logger above all of ours; others are heard from warnings on, or the log would be theirs."""
_USUAL = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
"""Attributes that every record has; all others are fields of the event."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that end a line, command a terminal, or turn the direction of a text."""

log = logging.getLogger(__name__)


def configure(format: str = "plain", level: str = "warning", role: str = "", stream: TextIO | None = None) -> None:
    """Write logs in this form, from this level on, as the process with this role (`crawl`, `worker w1`, `indexer`, …).

    Calling it again replaces what was configured before; handlers that others added stay.
    """
    wishes = {name: os.environ.get(name, "").strip().lower() for name in (FORMAT_VARIABLE, LEVEL_VARIABLE)}
    format = wishes[FORMAT_VARIABLE] if wishes[FORMAT_VARIABLE] in FORMATS else format
    level = wishes[LEVEL_VARIABLE] if wishes[LEVEL_VARIABLE] in LEVELS else level
    _install(format, level, role, stream)
    for name, wish in wishes.items():
        known = FORMATS if name == FORMAT_VARIABLE else LEVELS
        if wish and wish not in known:
            log.warning("%s is %r and has no effect: write %s", name, wish, " or ".join(known))


def inherit(role: str) -> None:
    """Write logs as the process does that started this one."""
    format, _, level = os.environ.get(_INHERITED, "").partition(" ")
    configure(format if format in FORMATS else "plain", level if level in LEVELS else "warning", role)


def is_json() -> bool:
    """Whether this process writes JSON."""
    return any(isinstance(handler.formatter, JsonLines) for handler in _handlers())


def _install(format: str, level: str, role: str, stream: TextIO | None) -> None:
    root = logging.getLogger()
    for handler in _handlers():
        root.removeHandler(handler)
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(JsonLines(role) if format == "json" else PlainLines(role))
    root.addHandler(handler)
    number = logging.getLevelNamesMapping()[level.upper()]
    root.setLevel(max(number, logging.WARNING))
    logging.getLogger(_OWN).setLevel(number if number < logging.WARNING else logging.NOTSET)
    os.environ[_INHERITED] = f"{format} {level}"


class _Handler(logging.StreamHandler[TextIO]):
    """Ours, to be told from those of others."""


def _handlers() -> list[_Handler]:
    return [handler for handler in logging.getLogger().handlers if isinstance(handler, _Handler)]


class PlainLines(logging.Formatter):
    """Time, level, role and message, for people, with the fields that the message does not mention."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self._role = f"{one_line(role)}: " if role else ""

    def format(self, record: logging.LogRecord) -> str:
        """One event."""
        said = one_line(_message(record))
        shown = ((one_line(name), _short(value)) for name, value in _fields(record).items())
        fields = " ".join(f"{name}={value}" for name, value in shown if value not in said)
        line = f"{_time(record)} {record.levelname} {self._role}{said}{f' ({fields})' if fields else ''}"
        trace = _trace(record)
        return line + "".join(f"\n    {one_line(part)}" for part in trace.splitlines())


class JsonLines(logging.Formatter):
    """The same as a JSON object."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        """One event."""
        event: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": self._role,
            "pid": record.process,
            "message": _message(record),
        }
        for name, value in _fields(record).items():
            event[name if name not in event else f"{name}_"] = _plain(value)
        if trace := _trace(record):
            event["traceback"] = trace
        return json.dumps(event, ensure_ascii=True, default=str)


def one_line(text: str) -> str:
    """A text without what ends a line or commands a terminal: such characters are shown as escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "backslashreplace").decode("ascii"), text)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a wrong log call must not take the event with it
        return f"{record.msg} {record.args}"


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in record.__dict__.items() if name not in _USUAL and not name.startswith("_")}


def _trace(record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info:
        parts.append(logging.Formatter().formatException(record.exc_info))
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = one_line(str(value))
    return text if text and not re.search(r'[\s"=()]', text) else json.dumps(text, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value that JSON has: numbers that are none there, and objects, become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value
