"""The page of the docs on the command line, from the verbs themselves: what `--help` knows, in one place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from cyclopts import App
from cyclopts.argument import Argument

from gossamer.cli.verbs import VERBS, module_of

_HEAD = """# Command line

`gossamer VERB --help` shows the same in the terminal. Words in capitals are arguments, in this order; you can repeat
one with `…`. Exit code 0 means done, 1 failed (a crawl also fails if [one of its seeds
failed](operate.md#how-a-crawl-ends)), 2 wrong usage, 130 interrupted. This page is generated from the code
(`make docs`).
"""
_WORDS = {str: "text", int: "whole number", float: "number", Path: "path", bool: "switch"}
_CODE_OR_TAG = re.compile(r"`[^`]*`|<")


def cli_page() -> str:
    """All verbs as a Markdown page."""
    apps = [(verb, _app(verb)) for verb in VERBS]
    lines = [_HEAD, "| verb | |", "|---|---|"]
    lines += [_row(f"[`{verb}`](#gossamer-{verb})", _description(app)[0]) for verb, app in apps]
    for verb, app in apps:
        lines += _part(app, f"gossamer {verb}", 2)
    return "\n".join(lines) + "\n"


def _app(verb: str) -> App:
    command = import_module(module_of(verb)).command
    if isinstance(command, App):
        return command
    app = App(name=verb)
    app.default(command)
    return app


def _part(app: App, name: str, level: int) -> Iterator[str]:
    """A verb, then each of its sub-commands."""
    yield from ("", f"{'#' * level} {name}", "", "\n\n".join(_description(app)))
    if app.default_command is not None and (arguments := _arguments(app)):
        yield from ("", "| argument | type | default | meaning |", "|---|---|---|---|")
        yield from (_row(_name(one), _type(one.hint), _default(one), _flat(one.parameter.help)) for one in arguments)
    for sub in app:
        if not sub.startswith("-"):
            yield from _part(app[sub], f"{name} {sub}", level + 1)


def _arguments(app: App) -> list[Argument]:
    return [one for one in app.assemble_argument_collection(parse_docstring=True) if one.show and one.names]


def _description(app: App) -> list[str]:
    """The paragraphs of its description; parameters have rows of their own."""
    text, _, _ = inspect.cleandoc(app.help or "").partition("\nParameters\n---")
    return [_flat(paragraph) for paragraph in text.strip().split("\n\n")]


def _name(one: Argument) -> str:
    kind, name = one.field_info.kind, one.names[0]
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return f"`{name}…`"
    if kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
        return f"`{name.lstrip('-').upper()}`"
    return ", ".join(f"`{name}`" for name in dict.fromkeys((*one.names, *one.negatives)))


def _type(hint: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(one) for one in inner if one is not NoneType))
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in inner if one != "")
    if origin in (list, tuple):
        return f"{_type(inner[0])}, several"
    return _WORDS.get(hint, str(getattr(hint, "__name__", hint)))


def _default(one: Argument) -> str:
    if one.required:
        return "required"
    default = one.field_info.default
    return "" if default in (None, "", False, (), inspect.Parameter.empty) else f"`{_shown(default)}`"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on"
    return f"{default:g}" if isinstance(default, float) else str(default)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _flat(text: str | None) -> str:
    """On one line, and nothing in it that Markdown would take for HTML; code it shows as it stands."""
    line = " ".join((text or "").split())
    return _CODE_OR_TAG.sub(lambda found: "&lt;" if found[0] == "<" else found[0], line)
